// SPDX-License-Identifier: GPL-2.0-only
/* Rings whose backends have a bound on what they own. */

#include "ring.h"
#include "ringset.h"
#include "unit.h"

#include <string.h>

static struct ringset set;
static u16 owners[1 << 14];

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
		scan_settle(ops, &conf, &set, owners);
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
			CHECK(ring.shares[k] <= scan_most(&conf, &set, k));
		conf.balance = 0;
		set_build(&off, &ringops_plain, &conf, &set, NULL);
		conf.balance = ring.conf.balance;
		for (arc = 0; arc < conf.slots; arc++) {
			if (off.arcs[arc] == ring.arcs[arc])
				continue;
			moved++;
			CHECK_EQ(ring.shares[off.arcs[arc]],
				 scan_most(&conf, &set, off.arcs[arc]));
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
