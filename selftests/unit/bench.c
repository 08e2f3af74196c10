// SPDX-License-Identifier: GPL-2.0-only
/* How long building and looking up takes, and what a ring weighs. */

#include "packet.h"
#include "ring.h"
#include "tuple.h"

#include <linux/kernel.h>
#include <linux/skbuff.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPETITIONS_MAX	101
#define LOOKUPS		(1U << 20)

static struct chs_ring_node nodes[CHS_RING_NODES_MAX];
static struct chs_ring_node more[CHS_RING_NODES_MAX];
static struct chs_tuple tuples[4096];
/* Keeps results from being optimised away. */
static volatile u64 sink;

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, u32 n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

static void die(int err)
{
	if (!err)
		return;
	fprintf(stderr, "build: error %d\n", err);
	exit(1);
}

static struct chs_ring_conf conf_default(u32 balance)
{
	struct chs_ring_conf conf = {
		.points = CHS_RING_POINTS_DEFAULT,
		.unit = CHS_RING_UNIT_DEFAULT,
		.slots = CHS_RING_SLOTS_DEFAULT,
		.balance = balance,
	};

	chs_ring_key_default(&conf.key);
	return conf;
}

/* Median time to build @to, from @from if there is one, in microseconds. */
static double time_build(const struct chs_ring_conf *conf,
			 const struct chs_ring_node *to, u32 n,
			 const struct chs_ring *from)
{
	double us[REPETITIONS_MAX];
	struct chs_ring ring;
	u32 i, repetitions;

	repetitions = n > 100 ? 15 : REPETITIONS_MAX;
	for (i = 0; i < repetitions; i++) {
		const double start = now_us();

		die(chs_ring_build(&ring, conf, to, n, from));
		us[i] = now_us() - start;
		chs_ring_clear(&ring);
	}

	return median(us, repetitions);
}

static size_t bytes(const struct chs_ring *ring)
{
	const u32 kept = ring->pos ? ring->n_points : 0;

	return sizeof(*ring) + kept * (sizeof(*ring->pos) +
				       sizeof(*ring->own)) +
	       ring->n_nodes * (sizeof(*ring->nodes) + sizeof(*ring->shares)) +
	       ring->conf.slots * sizeof(*ring->arcs);
}

static void bench_build(u32 n, u32 balance)
{
	const struct chs_ring_conf conf = conf_default(balance);
	double fresh, add, remove, weigh;
	struct chs_ring ring, bigger;
	const u32 at = n / 2;
	u32 i;

	for (i = 0; i < n; i++) {
		chs_addr_set_v4(&nodes[i].id.addr, htonl(0x0a000000 + i));
		nodes[i].id.port = htons(80);
		nodes[i].weight = 100;
	}
	memcpy(more, nodes, n * sizeof(*nodes));
	memmove(more + at + 1, more + at, (n - at) * sizeof(*nodes));
	more[at].id.port = htons(79);

	fresh = time_build(&conf, nodes, n, NULL);
	die(chs_ring_build(&ring, &conf, nodes, n, NULL));
	die(chs_ring_build(&bigger, &conf, more, n + 1, NULL));
	add = time_build(&conf, more, n + 1, &ring);
	remove = time_build(&conf, nodes, n, &bigger);
	nodes[at].weight = 50;
	weigh = time_build(&conf, nodes, n, &ring);

	printf("%8u %7s %12.3f %9.3f %9.3f %9.3f %12zu\n", n,
	       balance ? "1.10" : "off", fresh / 1e3, add / 1e3, remove / 1e3,
	       weigh / 1e3, bytes(&ring));
	chs_ring_clear(&ring);
	chs_ring_clear(&bigger);
}

static void report(const char *what, double us, u32 n)
{
	printf("%-40s %7.2f ns\n", what, us * 1e3 / n);
}

static void bench_lookup(void)
{
	const struct chs_ring_conf conf = conf_default(0);
	struct chs_ring ring;
	double start;
	u64 sum = 0;
	u32 i;

	die(chs_ring_build(&ring, &conf, nodes, 100, NULL));
	for (i = 0; i < ARRAY_SIZE(tuples); i++) {
		chs_addr_set_v4(&tuples[i].saddr, htonl(0xc6336400 + i * 7));
		chs_addr_set_v4(&tuples[i].daddr, htonl(0xc000020a));
		tuples[i].sport = htons(1024 + i);
		tuples[i].dport = htons(443);
		tuples[i].proto = 6;
	}

	start = now_us();
	for (i = 0; i < LOOKUPS; i++)
		sum += ring.arcs[chs_ring_slot(i * 0x9e3779b97f4a7c15ULL,
					       conf.slots)];
	report("look-up", now_us() - start, LOOKUPS);

	start = now_us();
	for (i = 0; i < LOOKUPS; i++) {
		const u64 hash = chs_tuple_hash(&tuples[i % 4096],
						CHS_FLOW_HASH_5TUPLE, &conf.key);

		sum += ring.arcs[chs_ring_slot(hash, conf.slots)];
	}
	report("hash and look-up, IPv4 5-tuple", now_us() - start, LOOKUPS);

	for (i = 0; i < ARRAY_SIZE(tuples); i++)
		tuples[i].v6 = true;
	start = now_us();
	for (i = 0; i < LOOKUPS; i++) {
		const u64 hash = chs_tuple_hash(&tuples[i % 4096],
						CHS_FLOW_HASH_5TUPLE, &conf.key);

		sum += ring.arcs[chs_ring_slot(hash, conf.slots)];
	}
	report("hash and look-up, IPv6 5-tuple", now_us() - start, LOOKUPS);
	sink = sum;
	chs_ring_clear(&ring);
}

static void bench_parse(void)
{
	/* Version 4, 40 bytes, TCP, 198.51.100.7:40000 to 192.0.2.10:443. */
	static u8 v4[40] = { 0x45, 0, 0, 40, [8] = 64, 6, 0, 0,
			     198, 51, 100, 7, 192, 0, 2, 10,
			     0x9c, 0x40, 0x01, 0xbb, [32] = 0x50, 0x10 };
	static u8 v6[60] = { 0x60, 0, 0, 0, 0, 20, 6, 64, 0x20, 1,
			     [24] = 0x20, 1, [40] = 0x9c, 0x40, 0x01, 0xbb,
			     [52] = 0x50, 0x10 };
	struct sk_buff skb = { .data = v4, .len = sizeof(v4) };
	struct chs_packet pkt;
	double start;
	u64 sum = 0;
	u32 i;

	start = now_us();
	for (i = 0; i < LOOKUPS; i++) {
		v4[15] = i;
		chs_packet_parse(&skb, false, &pkt);
		sum += pkt.kind + pkt.tuple.saddr.w[3];
	}
	report("parse, IPv4 TCP", now_us() - start, LOOKUPS);

	skb = (struct sk_buff){ .data = v6, .len = sizeof(v6) };
	start = now_us();
	for (i = 0; i < LOOKUPS; i++) {
		v6[23] = i;
		chs_packet_parse(&skb, true, &pkt);
		sum += pkt.kind + pkt.tuple.saddr.w[3];
	}
	report("parse, IPv6 TCP", now_us() - start, LOOKUPS);
	sink = sum;
}

int main(void)
{
	static const u32 sizes[] = { 10, 100, 1000, 4000 };
	u32 i;

	/* Measure the ring and not a process's page faults: keep memory. */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);

	printf("%u points a backend, %u arcs; milliseconds, median\n\n",
	       CHS_RING_POINTS_DEFAULT, CHS_RING_SLOTS_DEFAULT);
	printf("%8s %7s %12s %9s %9s %9s %12s\n", "backends", "balance",
	       "fresh build", "add one", "remove", "weigh", "bytes");
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		bench_build(sizes[i], 0);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		bench_build(sizes[i], 110);
	printf("\n");
	bench_lookup();
	bench_parse();
	return 0;
}
