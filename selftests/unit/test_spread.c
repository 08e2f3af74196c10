// SPDX-License-Identifier: GPL-2.0-only
/* Statistics over many rings: how even, and how much moves. */

#include "ring.h"
#include "ringset.h"
#include "tuple.h"
#include "unit.h"

#include <math.h>
#include <string.h>

static struct ringset set;

/* @n random backends that weigh the same. */
static void set_even(u32 n, const struct chs_ring_conf *conf)
{
	u32 i;

	set_random(&set, n, 0);
	for (i = 0; i < set.n; i++)
		set.nodes[i].weight = conf->unit;
}

/* Mean over many sets of what the busiest of five has over its share. */
static double busiest_of_five(u32 points, u32 rings)
{
	struct chs_ring_conf conf = conf_plain();
	struct chs_ring ring;
	u64 sum = 0;
	u32 i, k;

	conf.points = points;
	conf.slots = 16384;
	for (i = 0; i < rings; i++) {
		u32 most = 0;

		set_even(5, &conf);
		set_build(&ring, &ringops_plain, &conf, &set, NULL);
		for (k = 0; k < 5; k++)
			most = ring.shares[k] > most ? ring.shares[k] : most;
		sum += most;
		chs_ring_clear(&ring);
	}

	return 5.0 * sum / conf.slots / rings;
}

/*
 * With one point each the greatest of N gaps is H(N) / N of the circle: 2.28
 * times a fair share for five. With p points a share deviates by 1 / sqrt(p),
 * and the greatest of five deviations is 1.16 times that.
 */
void test_spread_points(void)
{
	static const struct {
		u32 points, rings;
		double lo, hi;
	} rows[] = {
		{ 1, 1500, 2.20, 2.36 },
		{ 10, 400, 1.30, 1.44 },
		{ 100, 200, 1.09, 1.14 },
		{ 160, 200, 1.07, 1.11 },
		{ 1000, 60, 1.025, 1.05 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const double x = busiest_of_five(rows[i].points,
						 rows[i].rings);

		unit_note("%4u points: the busiest of 5 has %.3f of its share",
			  rows[i].points, x);
		CHECK_BETWEEN(x, rows[i].lo, rows[i].hi);
	}
}

/*
 * Shares as multiples of the targets. One deviates as the sum of its points'
 * gaps does, 1 / sqrt(points), and as arcs that sample the circle do,
 * 1 / sqrt(arcs).
 */
static void check_weights(const u32 *weights, u32 n, u32 unit)
{
	struct chs_ring_conf conf = conf_plain();
	double mean[3] = { }, sum = 0;
	const u32 rings = 40;
	struct chs_ring ring;
	u32 i, k;

	conf.unit = unit;
	for (k = 0; k < n; k++)
		sum += weights[k];
	for (i = 0; i < rings; i++) {
		set_random(&set, n, 0);
		for (k = 0; k < n; k++)
			set.nodes[k].weight = weights[k];
		set_build(&ring, &ringops_plain, &conf, &set, NULL);
		for (k = 0; k < n; k++)
			mean[k] += ring.shares[k] * sum / weights[k] /
				   conf.slots / rings;
		chs_ring_clear(&ring);
	}
	for (k = 0; k < n; k++) {
		const double part = weights[k] / sum;
		const double deviation =
			sqrt((1 - part) / rings *
			     (1.0 / scan_points(&conf, weights[k]) +
			      1.0 / (part * conf.slots)));

		unit_note("weight %u of %g: %.3f of its share, +- %.3f",
			  weights[k], sum, mean[k], deviation);
		CHECK(deviation < 0.12);
		CHECK_BETWEEN(mean[k], 1 - 4 * deviation, 1 + 4 * deviation);
	}
}

void test_spread_weights(void)
{
	check_weights((u32[]){ 1, 10 }, 2, 1);
	check_weights((u32[]){ 1, 2, 3 }, 3, 1);
	check_weights((u32[]){ 10, 100 }, 2, 10);
	check_weights((u32[]){ 100, 7 }, 2, 7);
	check_weights((u32[]){ 50, 100, 100 }, 3, 50);
	check_weights((u32[]){ 100, 10000 }, 2, 100);
	/* Below half of the unit a ring gets coarse; the mean is right. */
	check_weights((u32[]){ 10, 100 }, 2, 100);
}

void test_spread_similar(void)
{
	const struct chs_ring_conf conf = conf_plain();
	struct chs_ring ring;
	u32 i;

	set.n = 0;
	for (i = 1; i <= 8; i++)
		set_put(&set, node_v4(0x0a000000 + i, 80, 100));
	set_build(&ring, &ringops_plain, &conf, &set, NULL);
	/* One deviation is 4.4 %. */
	for (i = 0; i < 8; i++)
		CHECK_BETWEEN(ring.shares[i] * 8.0 / conf.slots, 0.87, 1.13);
	chs_ring_clear(&ring);
}

/* Mean fraction that adding the last of @n + 1 moves, or removing it again. */
static double moves(u32 n, u32 rings, bool add)
{
	struct chs_ring_conf conf = conf_plain();
	struct chs_ring less, more;
	u64 sum = 0;
	u32 i, node;

	conf.points = 160;
	conf.slots = 4096;
	for (i = 0; i < rings; i++) {
		set_even(n + 1, &conf);
		set_build(&more, &ringops_plain, &conf, &set, NULL);
		node = rnd_below(set.n);
		set_del(&set, node);
		set_build(&less, &ringops_plain, &conf, &set, &more);
		/* Nothing but what it owned, ever. */
		CHECK_EQ(chs_ring_moved(&less, &more), more.shares[node]);
		CHECK_EQ(chs_ring_moved(&more, &less), more.shares[node]);
		sum += add ? chs_ring_moved(&less, &more) :
			     chs_ring_moved(&more, &less);
		chs_ring_clear(&more);
		chs_ring_clear(&less);
	}

	return (double)sum / conf.slots / rings;
}

static void check_moves(bool add)
{
	static const u32 sizes[] = { 1, 2, 4, 9, 49 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		const u32 n = sizes[i];
		const double x = moves(n, 150, add);

		unit_note("%u to %u backends: %.4f moved, ideal %.4f",
			  add ? n : n + 1, add ? n + 1 : n, x, 1.0 / (n + 1));
		/* Deviation of one ring 8 %, of the mean of 150 0.65 %. */
		CHECK_BETWEEN(x * (n + 1), 0.975, 1.025);
	}
}

void test_spread_move_add(void)
{
	check_moves(true);
}

void test_spread_move_remove(void)
{
	check_moves(false);
}

void test_spread_modulo(void)
{
	const struct chs_ring_conf conf = conf_plain();
	u32 i, n, moved;

	for (n = 2; n <= 10; n++) {
		for (i = 0, moved = 0; i < 20000; i++) {
			struct chs_tuple t = { .proto = 6, .sport = rnd() };
			u64 hash;

			chs_addr_set_v4(&t.saddr, rnd());
			hash = chs_tuple_hash(&t, CHS_FLOW_HASH_5TUPLE, &conf.key);
			moved += hash % n != hash % (n - 1);
		}
		CHECK_BETWEEN(moved / 20000.0, (n - 1.0) / n - 0.015,
			      (n - 1.0) / n + 0.015);
		if (n == 5)
			unit_note("5 to 4 by modulo: %.3f moved",
				  moved / 20000.0);
	}
}
