// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long building and looking up takes, and what a ring weighs; beside a table of
 * Maglev in the same run, for other work on the machine slows both.
 */

#include "maglev.h"
#include "packet.h"
#include "ring.h"
#include "tuple.h"

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/skbuff.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPETITIONS_MAX	101
#define MAGLEV_REPETITIONS	15
#define LOOKUP_REPETITIONS	21
#define LOOKUPS		(1U << 20)
#define TUPLES		4096U
/* Tables of 128 KiB that no cache holds. */
#define COPIES		1024U

static struct chs_ring_node nodes[CHS_RING_NODES_MAX];
static struct chs_ring_node more[CHS_RING_NODES_MAX];
static struct chs_tuple tuples[TUPLES];
static u64 hashes[TUPLES];
static struct maglev maglev;
/* Keeps results from being optimised away. */
static volatile u64 sink;

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
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

static struct chs_ring_conf conf_default(void)
{
	struct chs_ring_conf conf = {
		.points = CHS_RING_POINTS_DEFAULT,
		.unit = CHS_RING_UNIT_DEFAULT,
		.slots = CHS_RING_SLOTS_DEFAULT,
		.balance = CHS_RING_BALANCE_DEFAULT,
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

static void nodes_make(u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		chs_addr_set_v4(&nodes[i].id.addr, htonl(0x0a000000 + i));
		nodes[i].id.port = htons(80);
		nodes[i].weight = 100;
	}
}

static double time_maglev(u32 n)
{
	double us[REPETITIONS_MAX];
	u32 i;

	for (i = 0; i < MAGLEV_REPETITIONS; i++) {
		const double start = now_us();

		maglev_build(&maglev, nodes, n);
		us[i] = now_us() - start;
	}

	return median(us, MAGLEV_REPETITIONS);
}

/* Ratios are to what Maglev takes for any change: building its table. */
static void bench_build(const struct chs_ring_conf *conf, u32 n)
{
	double fresh, add, remove, weigh, other;
	struct chs_ring ring, bigger;
	const u32 at = n / 2;

	nodes_make(n);
	memcpy(more, nodes, n * sizeof(*nodes));
	memmove(more + at + 1, more + at, (n - at) * sizeof(*nodes));
	more[at].id.port = htons(79);

	other = time_maglev(n);
	fresh = time_build(conf, nodes, n, NULL);
	die(chs_ring_build(&ring, conf, nodes, n, NULL));
	die(chs_ring_build(&bigger, conf, more, n + 1, NULL));
	add = time_build(conf, more, n + 1, &ring);
	remove = time_build(conf, nodes, n, &bigger);
	nodes[at].weight = 50;
	weigh = time_build(conf, nodes, n, &ring);

	printf("%8u %6u %7u %7s %8.3f %7.3f %7.3f %7.3f %9zu %8.2f %6.2f\n", n,
	       conf->points, conf->slots,
	       !conf->balance ? "off" : conf->balance == 108 ? "1.08" : "1.10",
	       fresh / 1e3, add / 1e3, remove / 1e3, weigh / 1e3, bytes(&ring),
	       fresh / other, add / other);
	chs_ring_clear(&ring);
	chs_ring_clear(&bigger);
}

static void bench_builds(void)
{
	static const u32 sizes[] = { 10, 100, 1000, 4000 };
	struct chs_ring_conf conf = conf_default();
	u32 i;

	printf("milliseconds, median; ratios to building a Maglev table of %u\n\n",
	       MAGLEV_SLOTS);
	printf("%8s %6s %7s %7s %8s %7s %7s %7s %9s %8s %6s\n", "backends",
	       "points", "slots", "balance", "fresh", "add one", "remove",
	       "weigh", "bytes", "fresh:M", "add:M");
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		bench_build(&conf, sizes[i]);
	conf.balance = 0;
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		bench_build(&conf, sizes[i]);
	conf.points = 1024;
	conf.slots = 1 << 18;
	conf.balance = 110;
	bench_build(&conf, 1000);
	printf("\n");
}

/* One way to look up: by one's own table, with or without making the hash. */
struct way {
	const char *name;
	const u16 *table;
	bool maglev;
	/* Copies of the table, one after another, that no cache holds. */
	u32 copies;
	size_t size;
	/* Hashes to make, or the ready ones. */
	bool make, v6;
};

/* Nanoseconds a look-up. With copies each waits for the one before it. */
static double way_once(const struct way *way, u32 slots, u32 lookups,
		       const siphash_key_t *key)
{
	const double start = now_us();
	u64 sum = 0;
	u32 i;

	for (i = 0; i < lookups; i++) {
		const u64 hash = way->make ?
			chs_tuple_hash(&tuples[i % TUPLES],
				       CHS_FLOW_HASH_5TUPLE, key) :
			hashes[i % TUPLES];
		const u32 slot = way->maglev ? maglev_slot(hash) :
					       chs_ring_slot(hash, slots);
		const u16 *table = way->table;

		if (way->copies)
			table += way->size * (((u32)hash + sum) % way->copies);
		sum += table[slot];
	}
	sink = sum;
	return (now_us() - start) * 1e3 / lookups;
}

static double way_median(const struct way *way, u32 slots,
			 const siphash_key_t *key)
{
	const u32 lookups = way->copies ? LOOKUPS / 16 : LOOKUPS;
	double ns[LOOKUP_REPETITIONS];
	u32 i;

	for (i = 0; i < LOOKUP_REPETITIONS; i++)
		ns[i] = way_once(way, slots, lookups, key);
	return median(ns, LOOKUP_REPETITIONS);
}

static void tuples_make(const siphash_key_t *key, bool v6)
{
	u32 i;

	for (i = 0; i < TUPLES; i++) {
		chs_addr_set_v4(&tuples[i].saddr, htonl(0xc6336400 + i * 7));
		chs_addr_set_v4(&tuples[i].daddr, htonl(0xc000020a));
		tuples[i].sport = htons(1024 + i);
		tuples[i].dport = htons(443);
		tuples[i].proto = 6;
		tuples[i].v6 = v6;
		hashes[i] = chs_tuple_hash(&tuples[i], CHS_FLOW_HASH_5TUPLE,
					   key);
	}
}

/* @from, @n numbers long, many times over. */
static u16 *copies_make(const u16 *from, size_t n)
{
	u16 *to = malloc(COPIES * n * sizeof(*to));
	u32 i;

	if (!to)
		die(-ENOMEM);
	for (i = 0; i < COPIES; i++)
		memcpy(to + i * n, from, n * sizeof(*to));
	return to;
}

static void bench_lookup(void)
{
	const struct chs_ring_conf conf = conf_default();
	u16 *cold_ring, *cold_maglev;
	struct chs_ring ring;
	u32 i;

	nodes_make(100);
	die(chs_ring_build(&ring, &conf, nodes, 100, NULL));
	maglev_build(&maglev, nodes, 100);
	cold_ring = copies_make(ring.arcs, conf.slots);
	cold_maglev = copies_make(maglev.slots, MAGLEV_SLOTS);

#define RING	.table = ring.arcs
#define MAGLEV	.table = maglev.slots, .maglev = true
	const struct way ways[][2] = {
		{ { .name = "look-up, hot", RING }, { MAGLEV } },
		{ { .name = "look-up, cold", .table = cold_ring,
		    .copies = COPIES, .size = conf.slots },
		  { .table = cold_maglev, .maglev = true,
		    .copies = COPIES, .size = MAGLEV_SLOTS } },
		{ { .name = "hash and look-up, IPv4", RING, .make = true },
		  { MAGLEV, .make = true } },
		{ { .name = "hash and look-up, IPv6", RING, .make = true,
		    .v6 = true },
		  { MAGLEV, .make = true } },
	};
#undef RING
#undef MAGLEV

	printf("%-24s %8s %8s %6s\n", "ns, median", "ring", "Maglev", "ratio");
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		double ns[2];

		tuples_make(&conf.key, ways[i][0].v6);
		ns[0] = way_median(&ways[i][0], conf.slots, &conf.key);
		ns[1] = way_median(&ways[i][1], conf.slots, &conf.key);
		printf("%-24s %8.2f %8.2f %6.2f\n", ways[i][0].name, ns[0],
		       ns[1], ns[0] / ns[1]);
	}
	free(cold_ring);
	free(cold_maglev);
	chs_ring_clear(&ring);
}

static void report(const char *what, double us, u32 n)
{
	printf("%-24s %8.2f\n", what, us * 1e3 / n);
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
	/* Measure the ring and not a process's page faults: keep memory. */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);

	bench_builds();
	bench_lookup();
	bench_parse();
	return 0;
}
