// SPDX-License-Identifier: GPL-2.0-only
/* What a change does to a ring, and that the way to it leaves no trace. */

#include "alloc.h"
#include "ring.h"
#include "ringset.h"
#include "unit.h"

#include <string.h>

static struct ringset set;

/* Build on from *@ring, which is replaced. */
static void step(struct chs_ring *ring, const struct ringops *ops,
		 const struct chs_ring_conf *conf, const struct ringset *to)
{
	struct chs_ring next;

	set_build(&next, ops, conf, to, ring);
	chs_ring_clear(ring);
	*ring = next;
}

static void histories(const struct ringops *ops, u32 count)
{
	struct chs_ring ring, fresh;
	u32 i, k, edits;

	for (i = 0; i < count && !unit_failed(); i++) {
		const struct chs_ring_conf conf = conf_random();
		const u32 weight_max = rnd_range(0, 200);

		set_random(&set, rnd_below(20), weight_max);
		set_build(&ring, ops, &conf, &set, NULL);
		for (k = rnd_range(1, 8); k; k--) {
			for (edits = rnd_below(5); edits; edits--)
				set_change(&set, weight_max);
			unit_points_kept = rnd_below(2) * rnd_below(200);
			step(&ring, ops, &conf, &set);
			unit_points_kept = 0;
			set_build(&fresh, ops, &conf, &set, NULL);
			CHECK(ring_same(&ring, &fresh));
			chs_ring_clear(&fresh);
		}
		chs_ring_clear(&ring);
	}
}

void test_change_history(void)
{
	histories(&ringops_plain, 3000);
}

void test_change_history_equal(void)
{
	u32 bits;

	for (bits = 0; bits <= 12; bits += 2) {
		unit_point_mask = bits ? ~0ULL << (64 - bits) : 0;
		histories(&ringops_masked, 150);
	}
}

/* Put @to's backends in by a random order, some of them out and in again. */
static void wander(struct chs_ring *ring, const struct chs_ring_conf *conf,
		   const struct ringset *to)
{
	static struct ringset now;
	u32 order[64], i, k;

	for (i = 0; i < to->n; i++) {
		k = rnd_below(i + 1);
		order[i] = order[k];
		order[k] = i;
	}
	now.n = 0;
	set_build(ring, &ringops_plain, conf, &now, NULL);
	for (i = 0; i < to->n; i++) {
		set_put(&now, to->nodes[order[i]]);
		step(ring, &ringops_plain, conf, &now);
		if (rnd_below(4))
			continue;
		set_del(&now, rnd_below(now.n));
		step(ring, &ringops_plain, conf, &now);
		for (k = 0; k <= i; k++)
			set_put(&now, to->nodes[order[k]]);
		step(ring, &ringops_plain, conf, &now);
	}
}

void test_change_shuffles(void)
{
	struct chs_ring_conf conf = conf_plain();
	struct chs_ring fresh, ring;
	u32 i, mixed;

	conf.points = 40;
	conf.slots = 1024;
	for (mixed = 0; mixed < 2; mixed++) {
		conf.balance = 108 * mixed;
		set_random(&set, 16, 200);
		for (i = 0; !mixed && i < set.n; i++)
			set.nodes[i].weight = 100;
		set_build(&fresh, &ringops_plain, &conf, &set, NULL);
		for (i = 0; i < 50; i++) {
			wander(&ring, &conf, &set);
			CHECK(ring_same(&ring, &fresh));
			chs_ring_clear(&ring);
		}
		chs_ring_clear(&fresh);
	}
}

/* Arcs that differ must all come from, or go to, the backend @node. */
static void check_moves(const struct chs_ring *from, const struct chs_ring *to,
			u32 node, bool raised)
{
	u32 arc, moved = 0;

	for (arc = 0; arc < to->conf.slots; arc++) {
		if (from->arcs[arc] == to->arcs[arc])
			continue;
		moved++;
		CHECK_EQ((raised ? to : from)->arcs[arc], node);
	}
	CHECK_EQ(moved, chs_ring_moved(from, to));
	CHECK_EQ(moved, raised ? to->shares[node] - from->shares[node] :
				 from->shares[node] - to->shares[node]);
}

void test_change_weight(void)
{
	struct chs_ring before, raised, lowered, back;
	struct chs_ring_conf conf = conf_plain();
	u32 i, node, weight;

	for (i = 0; i < 200; i++) {
		conf.points = rnd_range(1, 100);
		conf.slots = 1U << rnd_range(8, 12);
		set_random(&set, 10, 100);
		node = rnd_below(10);
		weight = set.nodes[node].weight = rnd_range(1, 100);
		/* Nobody else is there, it seems: give one a weight. */
		set.nodes[(node + 1) % 10].weight = 10;
		set_build(&before, &ringops_plain, &conf, &set, NULL);

		set.nodes[node].weight = weight * rnd_range(2, 4);
		set_build(&raised, &ringops_plain, &conf, &set, &before);
		check_moves(&before, &raised, node, true);

		set.nodes[node].weight = weight / rnd_range(2, 4);
		set_build(&lowered, &ringops_plain, &conf, &set, &raised);
		check_moves(&before, &lowered, node, false);
		check_moves(&raised, &lowered, node, false);

		set.nodes[node].weight = weight;
		set_build(&back, &ringops_plain, &conf, &set, &lowered);
		CHECK(ring_same(&before, &back));

		chs_ring_clear(&before);
		chs_ring_clear(&raised);
		chs_ring_clear(&lowered);
		chs_ring_clear(&back);
	}
}

void test_change_fractions(void)
{
	struct chs_ring_conf conf = conf_plain();
	struct chs_ring two, three, fresh;
	u32 i;

	conf.unit = 3;
	set.n = 0;
	set_put(&set, node_v4(0x0a000001, 80, 3));
	set_put(&set, node_v4(0x0a000002, 80, 6));
	set_build(&two, &ringops_plain, &conf, &set, NULL);
	CHECK_BETWEEN(two.shares[0] * 9.0 / 3 / conf.slots, 0.9, 1.1);
	set_put(&set, node_v4(0x0a000003, 80, 4));
	set_build(&three, &ringops_plain, &conf, &set, &two);
	set_build(&fresh, &ringops_plain, &conf, &set, NULL);
	CHECK(ring_same(&three, &fresh));
	for (i = 0; i < 3; i++)
		CHECK_BETWEEN(three.shares[i] * 13.0 / set.nodes[i].weight /
			      conf.slots, 0.9, 1.1);
	chs_ring_clear(&two);
	chs_ring_clear(&three);
	chs_ring_clear(&fresh);
}

void test_change_prev(void)
{
	struct chs_ring_conf conf = conf_plain();
	struct chs_ring prev, with, without;
	u32 what;

	set_random(&set, 12, 200);
	conf.points = 30;
	conf.slots = 512;
	set_build(&prev, &ringops_plain, &conf, &set, NULL);
	for (what = 0; what < 7; what++) {
		struct chs_ring_conf other = conf;

		other.key.key[0] ^= what == 0;
		other.key.key[1] ^= (u64)(what == 1) << 63;
		other.points += what == 2;
		other.unit += what == 3;
		other.slots <<= what == 4;
		other.hash = what == 5 ? CHS_FLOW_HASH_SRC : CHS_FLOW_HASH_5TUPLE;
		set_change(&set, 200);
		set_build(&with, &ringops_plain, &other, &set, &prev);
		set_build(&without, &ringops_plain, &other, &set, NULL);
		CHECK(ring_same(&with, &without));
		/* Key, slots and hash have a part in the digest. */
		if (what != 2 && what != 3 && what != 6)
			CHECK(with.digest != prev.digest);
		chs_ring_clear(&with);
		chs_ring_clear(&without);
	}
	chs_ring_clear(&prev);
}

void test_change_moved(void)
{
	struct chs_ring_conf conf = conf_plain();
	struct chs_ring a, b, c, none;
	u32 arc, moved = 0;

	conf.slots = 1024;
	set_random(&set, 8, 200);
	set_build(&a, &ringops_plain, &conf, &set, NULL);
	/* One in front of all: every index is another, hardly an arc moves. */
	set_put(&set, node_v4(1, 1, 20));
	set.nodes[0].id.addr.q[0] = 0;
	set_build(&b, &ringops_plain, &conf, &set, NULL);
	for (arc = 0; arc < conf.slots; arc++)
		moved += b.arcs[arc] == 0;
	CHECK_EQ(moved, b.shares[0]);
	CHECK_EQ(chs_ring_moved(&a, &b), moved);
	CHECK_EQ(chs_ring_moved(&b, &a), moved);
	CHECK_EQ(chs_ring_moved(&a, &a), 0);
	CHECK_EQ(chs_ring_moved(&a, NULL), conf.slots);

	set.n = 0;
	set_build(&none, &ringops_plain, &conf, &set, NULL);
	CHECK_EQ(chs_ring_moved(&a, &none), conf.slots);
	CHECK_EQ(chs_ring_moved(&none, &a), conf.slots);
	CHECK_EQ(chs_ring_moved(&none, &none), 0);

	conf.slots = 2048;
	set_build(&c, &ringops_plain, &conf, &set, NULL);
	CHECK_EQ(chs_ring_moved(&a, &c), 2048);
	chs_ring_clear(&a);
	chs_ring_clear(&b);
	chs_ring_clear(&c);
	chs_ring_clear(&none);
}

/* Cut finer, every second arc starts where one did; hashed anew, all move. */
void test_change_moved_whole(void)
{
	struct chs_ring_conf conf = conf_plain();
	struct chs_ring a, fine, other;
	u32 arc, moved = 0;

	conf.slots = 1024;
	set_random(&set, 8, 200);
	set_build(&a, &ringops_plain, &conf, &set, NULL);
	conf.slots = 2048;
	set_build(&fine, &ringops_plain, &conf, &set, NULL);
	for (arc = 0; arc < conf.slots; arc++) {
		if (!(arc & 1))
			CHECK_EQ(fine.arcs[arc], a.arcs[arc / 2]);
		moved += fine.arcs[arc] != a.arcs[arc / 2];
	}
	CHECK_EQ(chs_ring_moved_of(&a, &fine), 2048);
	CHECK_EQ(chs_ring_moved_of(&fine, &a), 2048);
	CHECK_EQ(chs_ring_moved_of(&fine, NULL), 2048);
	CHECK_EQ(chs_ring_moved(&a, &fine), moved);
	CHECK_EQ(chs_ring_moved(&fine, &a), moved);

	conf = fine.conf;
	conf.hash = CHS_FLOW_HASH_SRC;
	set_build(&other, &ringops_plain, &conf, &set, NULL);
	CHECK_EQ(chs_ring_moved(&fine, &other), 2048);
	chs_ring_clear(&other);

	conf = fine.conf;
	conf.key.key[1] ^= 1;
	set_build(&other, &ringops_plain, &conf, &set, NULL);
	CHECK_EQ(chs_ring_moved(&fine, &other), 2048);
	chs_ring_clear(&other);
	chs_ring_clear(&a);
	chs_ring_clear(&fine);
}

void test_change_none(void)
{
	static struct ringset less;
	struct chs_ring_conf conf = conf_plain();
	struct chs_ring first, ring;
	u32 i;

	conf.slots = 1024;
	set_random(&set, 3, 100);
	set.nodes[0].weight = 100;
	set_build(&first, &ringops_plain, &conf, &set, NULL);
	set_build(&ring, &ringops_plain, &conf, &set, NULL);
	for (i = 0; i < 20; i++) {
		less.n = 0;
		step(&ring, &ringops_plain, &conf, &less);
		CHECK_EQ(ring.arcs[7], CHS_RING_NONE);
		set_put(&less, set.nodes[0]);
		step(&ring, &ringops_plain, &conf, &less);
		CHECK_EQ(ring.shares[0], conf.slots);
		step(&ring, &ringops_plain, &conf, &set);
		CHECK(ring_same(&ring, &first));
	}
	chs_ring_clear(&ring);
	chs_ring_clear(&first);
}
