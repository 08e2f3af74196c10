// SPDX-License-Identifier: GPL-2.0-only
/* Rings whose backends have a bound on what they own. */

#include "ring.h"
#include "ringset.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static struct ringset set;

struct place {
	u64 pos;
	u32 own;
};

/* All points of a set, and who of it owns each arc, the slow way. */
static struct place places[1 << 16];
static u16 owners[1 << 14];
static u32 n_places;

static int order(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->pos != y->pos)
		return x->pos < y->pos ? -1 : 1;
	return x->own < y->own ? -1 : x->own > y->own;
}

static void places_make(const struct ringops *ops,
			const struct chs_ring_conf *conf)
{
	u32 i, k;

	n_places = 0;
	for (i = 0; i < set.n; i++) {
		for (k = scan_points(conf, set.nodes[i].weight); k; k--) {
			places[n_places].pos =
				ops->point(conf, &set.nodes[i].id, k - 1);
			places[n_places++].own = i;
		}
	}
	qsort(places, n_places, sizeof(*places), order);
}

/* Most arcs that backend @i may own. */
static u32 most(const struct chs_ring_conf *conf, u32 i)
{
	u64 sum = 0, part, arcs = 0;
	u32 k;

	for (k = 0; k < set.n; k++)
		sum += set.nodes[k].weight;
	if (!set.nodes[i].weight)
		return 0;
	part = (u64)conf->slots * set.nodes[i].weight;
	/* Counted up instead of divided: what rounding means. */
	while (arcs * sum < part ||
	       (arcs + 1) * 100 * sum <= conf->balance * part)
		arcs++;
	return arcs;
}

static u32 reversed(u32 x, u32 slots)
{
	u32 y = 0;

	for (; slots > 1; slots /= 2) {
		y = 2 * y + (x & 1);
		x /= 2;
	}
	return y;
}

static void settle(const struct ringops *ops, const struct chs_ring_conf *conf)
{
	static u32 room[CHS_RING_NODES_MAX];
	u32 i, arc, at;

	places_make(ops, conf);
	for (i = 0; i < set.n; i++)
		room[i] = most(conf, i);
	for (i = 0; i < conf->slots; i++) {
		arc = reversed(i, conf->slots);
		owners[arc] = CHS_RING_NONE;
		if (!n_places)
			continue;
		for (at = 0; at < n_places; at++) {
			if (places[at].pos >=
			    (~0ULL / conf->slots + 1) * arc)
				break;
		}
		while (!room[places[at % n_places].own])
			at++;
		owners[arc] = places[at % n_places].own;
		room[owners[arc]]--;
	}
}

static struct chs_ring_conf conf_bounded(void)
{
	struct chs_ring_conf conf = conf_random();

	conf.balance = rnd_below(2) ? rnd_range(101, 110) :
				      rnd_range(101, 200);
	return conf;
}

static void scan(const struct ringops *ops, u32 rings)
{
	struct chs_ring ring;
	u32 i, arc;

	for (i = 0; i < rings && !unit_failed(); i++) {
		const struct chs_ring_conf conf = conf_bounded();

		set_random(&set, rnd_range(1, 30), rnd_range(1, 200));
		settle(ops, &conf);
		set_build(&ring, ops, &conf, &set, NULL);
		for (arc = 0; arc < conf.slots; arc++)
			CHECK_EQ(ring.arcs[arc], owners[arc]);
		chs_ring_clear(&ring);
	}
}

void test_balance_scan(void)
{
	scan(&ringops_plain, 600);
}

void test_balance_scan_equal(void)
{
	u32 bits;

	for (bits = 0; bits <= 10; bits += 2) {
		unit_point_mask = bits ? ~0ULL << (64 - bits) : 0;
		scan(&ringops_masked, 40);
	}
}

/* Nobody has too much, and who lost an arc by it could not have more. */
void test_balance_bound(void)
{
	struct chs_ring ring, off;
	u32 i, k, arc, moved = 0;

	for (i = 0; i < 500; i++) {
		struct chs_ring_conf conf = conf_bounded();

		set_random(&set, rnd_range(1, 64), 200);
		set_build(&ring, &ringops_plain, &conf, &set, NULL);
		for (k = 0; k < set.n; k++)
			CHECK(ring.shares[k] <= most(&conf, k));
		conf.balance = 0;
		set_build(&off, &ringops_plain, &conf, &set, NULL);
		conf.balance = ring.conf.balance;
		for (arc = 0; arc < conf.slots; arc++) {
			if (off.arcs[arc] == ring.arcs[arc])
				continue;
			moved++;
			CHECK_EQ(ring.shares[off.arcs[arc]],
				 most(&conf, off.arcs[arc]));
		}
		chs_ring_clear(&ring);
		chs_ring_clear(&off);
	}
	CHECK(moved > 1000);
}

void test_balance_change(void)
{
	struct chs_ring ring, next, fresh;
	u32 i, k;

	for (i = 0; i < 300 && !unit_failed(); i++) {
		struct chs_ring_conf conf = conf_bounded();

		set_random(&set, rnd_below(20), 200);
		set_build(&ring, &ringops_plain, &conf, &set, NULL);
		for (k = 0; k < 5; k++) {
			set_change(&set, 200);
			/* It can be changed with the ring in force. */
			if (!rnd_below(3))
				conf.balance = rnd_below(2) * 120;
			set_build(&next, &ringops_plain, &conf, &set, &ring);
			set_build(&fresh, &ringops_plain, &conf, &set, NULL);
			CHECK(ring_same(&next, &fresh));
			chs_ring_clear(&fresh);
			chs_ring_clear(&ring);
			ring = next;
		}
		chs_ring_clear(&ring);
	}
}

/* Peak, and what removals move as a multiple of what was owned. */
static void measure(u32 n, u32 slots, u32 balance, double *peak, double *moved)
{
	struct chs_ring_conf conf = conf_plain();
	struct chs_ring all, less;
	u32 i, node, top = 0;
	u64 sum = 0, least = 0;

	conf.slots = slots;
	conf.balance = balance;
	set.n = 0;
	for (i = 0; i < n; i++)
		set_put(&set, node_v4(0x0a000000 + i, 80, 100));
	set_build(&all, &ringops_plain, &conf, &set, NULL);
	for (i = 0; i < n; i++)
		top = all.shares[i] > top ? all.shares[i] : top;
	*peak = (double)top * n / slots;
	for (i = 0; i < 10; i++) {
		const struct chs_ring_node gone = set.nodes[i * n / 10];

		node = i * n / 10;
		set_del(&set, node);
		set_build(&less, &ringops_plain, &conf, &set, &all);
		sum += chs_ring_moved(&all, &less);
		least += all.shares[node];
		chs_ring_clear(&less);
		set_put(&set, gone);
	}
	*moved = (double)sum / least;
	chs_ring_clear(&all);
}

void test_balance_moves(void)
{
	static const struct {
		u32 n, slots, balance;
		double peak, moved;
	} rows[] = {
		{ 10, 16384, 0, 1.15, 1.0 },
		{ 10, 16384, 105, 1.052, 1.05 },
		{ 10, 16384, 110, 1.102, 1.02 },
		{ 100, 65536, 105, 1.052, 1.10 },
		{ 100, 65536, 110, 1.102, 1.03 },
		{ 100, 65536, 125, 1.25, 1.005 },
	};
	double peak, moved;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		measure(rows[i].n, rows[i].slots, rows[i].balance, &peak,
			&moved);
		unit_note("%3u backends, balance %3u: peak %.3f, moved %.3f",
			  rows[i].n, rows[i].balance, peak, moved);
		CHECK_BETWEEN(peak, 1, rows[i].peak);
		CHECK_BETWEEN(moved, 1, rows[i].moved);
	}
}

void test_balance_few(void)
{
	struct chs_ring_conf conf = conf_plain();
	struct chs_ring ring;
	u32 n;

	conf.slots = 256;
	conf.balance = 101;
	/* Fewer arcs than backends: still all arcs have an owner. */
	for (n = 0; n <= 600; n += n < 3 ? 1 : 199) {
		set_random(&set, n, 0);
		set_build(&ring, &ringops_plain, &conf, &set, NULL);
		CHECK_EQ(ring.n_points, 0);
		chs_ring_clear(&ring);
		set_random(&set, n, 3);
		if (n)
			set.nodes[n - 1].weight = 1;
		set_build(&ring, &ringops_plain, &conf, &set, NULL);
		chs_ring_clear(&ring);
	}
}
