// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the defaults were chosen by: for numbers of backends and kinds of weights,
 * the peak, what removing one moves as a multiple of the least, bytes, and the time
 * of a fresh build; beside them a Maglev table.
 *
 *	spread [POINTS SLOTS BALANCE]...	balance in hundredths, 0 is off
 *
 * Peak: the largest share over its target. Moved: mean over every backend removed in
 * turn, of over 100 those at a hundred even distances, by what these owned. Mean and
 * worst are of several draws, which differ in the addresses.
 */

#include "maglev.h"
#include "ring.h"

#include <linux/kernel.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REMOVALS_MAX	100
/* Draws, and from which number of backends on fewer do. */
#define DRAWS		20
#define DRAWS_MANY	3
#define MANY		1000

static const u32 sizes[] = { 2, 3, 5, 10, 30, 100, 300, 1000, 4000 };

static u32 weight_equal(u32 i, u32 n)
{
	(void)i;
	(void)n;
	return 100;
}

static u32 weight_decades(u32 i, u32 n)
{
	static const u32 weights[] = { 1, 10, 100 };

	(void)n;
	return weights[i % 3];
}

static u32 weight_one(u32 i, u32 n)
{
	return i == n / 2 ? 1 : 100;
}

static u32 weight_ramp(u32 i, u32 n)
{
	return 1 + 99 * i / (n - 1);
}

static const struct {
	const char *name;
	u32 (*weight)(u32 i, u32 n);
} kinds[] = {
	{ "equal", weight_equal },
	{ "1:10:100", weight_decades },
	{ "one at 1", weight_one },
	{ "1 to 100", weight_ramp },
};

struct figures {
	double peak, moved, ms;
	size_t bytes;
};

static struct chs_ring_node nodes[CHS_RING_NODES_MAX];
static struct chs_ring_node less[CHS_RING_NODES_MAX];

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static double peak(const u32 *shares, u32 n, u32 slots)
{
	double sum = 0, top = 0;
	u32 i;

	for (i = 0; i < n; i++)
		sum += nodes[i].weight;
	for (i = 0; i < n; i++) {
		const double x = shares[i] * sum / nodes[i].weight / slots;

		top = x > top ? x : top;
	}
	return top;
}

static void less_make(u32 n, u32 without)
{
	memcpy(less, nodes, without * sizeof(*nodes));
	memcpy(less + without, nodes + without + 1,
	       (n - without - 1) * sizeof(*nodes));
}

static void build(struct chs_ring *ring, const struct chs_ring_conf *conf,
		  const struct chs_ring_node *from, u32 n,
		  const struct chs_ring *prev)
{
	const int err = chs_ring_build(ring, conf, from, n, prev);

	if (err) {
		fprintf(stderr, "spread: a ring cannot be built: %d\n", err);
		exit(1);
	}
}

static size_t ring_bytes(const struct chs_ring *ring)
{
	const u32 kept = ring->pos ? ring->n_points : 0;

	return sizeof(*ring) + kept * (sizeof(*ring->pos) +
				       sizeof(*ring->own)) +
	       ring->n_nodes * (sizeof(*ring->nodes) + sizeof(*ring->shares)) +
	       ring->conf.slots * sizeof(*ring->arcs);
}

static struct figures measure_ring(const struct chs_ring_conf *conf, u32 n)
{
	const u32 removals = n < REMOVALS_MAX ? n : REMOVALS_MAX;
	struct chs_ring all, without;
	u64 moved = 0, least = 0;
	struct figures f = { };
	u32 i;

	f.ms = 1e9;
	for (i = 0; i < 5; i++) {
		const double start = now_ms();
		double took;

		build(&all, conf, nodes, n, NULL);
		took = now_ms() - start;
		f.ms = took < f.ms ? took : f.ms;
		if (i < 4)
			chs_ring_clear(&all);
	}
	for (i = 0; i < removals; i++) {
		const u32 at = (u64)i * n / removals;

		less_make(n, at);
		build(&without, conf, less, n - 1, &all);
		moved += chs_ring_moved(&all, &without);
		least += all.shares[at];
		chs_ring_clear(&without);
	}
	f.peak = peak(all.shares, n, conf->slots);
	f.moved = (double)moved / least;
	f.bytes = ring_bytes(&all);
	chs_ring_clear(&all);
	return f;
}

static struct figures measure_maglev(u32 n)
{
	const u32 removals = n < REMOVALS_MAX ? n : REMOVALS_MAX;
	static struct maglev all, without;
	u64 moved = 0, least = 0;
	struct figures f = { .bytes = sizeof(all.slots) };
	double start;
	u32 i, slot;

	start = now_ms();
	maglev_build(&all, nodes, n);
	f.ms = now_ms() - start;
	for (i = 0; i < removals; i++) {
		const u32 at = (u64)i * n / removals;

		less_make(n, at);
		maglev_build(&without, less, n - 1);
		for (slot = 0; slot < MAGLEV_SLOTS; slot++) {
			const u32 own = without.slots[slot];

			moved += all.slots[slot] != own + (own >= at);
		}
		least += all.shares[at];
	}
	f.peak = peak(all.shares, n, MAGLEV_SLOTS);
	f.moved = (double)moved / least;
	return f;
}

static void nodes_make(u32 kind, u32 n, u32 draw)
{
	u32 i;

	for (i = 0; i < n; i++) {
		chs_addr_set_v4(&nodes[i].id.addr, htonl(0x0a000001 + (draw << 16) + i));
		nodes[i].id.port = htons(80);
		nodes[i].weight = kinds[kind].weight(i, n);
	}
}

/* @conf NULL is Maglev. */
static void row(const struct chs_ring_conf *conf, u32 kind, u32 n)
{
	const u32 draws = n < MANY ? DRAWS : DRAWS_MANY;
	struct figures f = { }, worst = { }, sum = { };
	u32 draw;

	for (draw = 0; draw < draws; draw++) {
		nodes_make(kind, n, draw);
		f = conf ? measure_ring(conf, n) : measure_maglev(n);
		sum.peak += f.peak / draws;
		sum.moved += f.moved / draws;
		worst.peak = f.peak > worst.peak ? f.peak : worst.peak;
		worst.moved = f.moved > worst.moved ? f.moved : worst.moved;
		worst.ms = !draw || f.ms < worst.ms ? f.ms : worst.ms;
	}
	printf("%-9s %8u %6.3f %6.3f %6.3f %6.3f %9zu %7.2f\n",
	       kinds[kind].name, n, sum.peak, worst.peak, sum.moved,
	       worst.moved, f.bytes, worst.ms);
	fflush(stdout);
}

static void table(const struct chs_ring_conf *conf)
{
	u32 kind, i;

	if (conf)
		printf("\npoints %u slots %u balance %u.%02u\n", conf->points,
		       conf->slots, conf->balance / 100, conf->balance % 100);
	else
		printf("\nMaglev, %u slots\n", MAGLEV_SLOTS);
	printf("%-9s %8s %6s %6s %6s %6s %9s %7s\n", "weights", "backends",
	       "peak", "worst", "moved", "worst", "bytes", "ms");

	for (kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		for (i = 0; i < ARRAY_SIZE(sizes); i++)
			row(conf, kind, sizes[i]);
	}
}

static void table_of(u32 points, u32 slots, u32 balance)
{
	struct chs_ring_conf conf = {
		.points = points,
		.unit = CHS_RING_UNIT_DEFAULT,
		.slots = slots,
		.balance = balance,
	};

	chs_ring_key_default(&conf.key);
	table(&conf);
}

int main(int argc, char **argv)
{
	int i;

	/* Measure the ring and not a process's page faults: keep memory. */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);

	for (i = 1; i + 2 < argc; i += 3)
		table_of(atoi(argv[i]), atoi(argv[i + 1]), atoi(argv[i + 2]));
	if (argc == 1) {
		table_of(CHS_RING_POINTS_DEFAULT, CHS_RING_SLOTS_DEFAULT,
			 CHS_RING_BALANCE_DEFAULT);
		table_of(1024, 262144, 110);
		table(NULL);
	}
	return 0;
}
