// SPDX-License-Identifier: GPL-2.0-only
/* What the manual page promises of the defaults, and of how little a change moves. */

#include "ring.h"
#include "ringset.h"
#include "unit.h"

static struct ringset set;

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

static void set_equal(u32 n)
{
	u32 i;

	set.n = 0;
	for (i = 0; i < n; i++)
		set_put(&set, node_v4(0x0a000001 + i, 80, 100));
}

static double peak(const struct chs_ring *ring)
{
	double sum = 0, top = 0;
	u32 i;

	for (i = 0; i < ring->n_nodes; i++)
		sum += ring->nodes[i].weight;
	for (i = 0; i < ring->n_nodes; i++) {
		const u32 weight = ring->nodes[i].weight;
		const double x = !weight ? 0 : ring->shares[i] * sum / weight /
					       ring->conf.slots;

		top = x > top ? x : top;
	}
	return top;
}

/* What @removals of the backends move, one at a time, by what they owned. */
static double removed(const struct chs_ring *all, u32 removals)
{
	const struct chs_ring_conf conf = all->conf;
	u64 moved = 0, least = 0;
	struct chs_ring less;
	u32 i;

	for (i = 0; i < removals; i++) {
		const u32 at = i * set.n / removals;
		const struct chs_ring_node gone = set.nodes[at];

		set_del(&set, at);
		set_build(&less, &ringops_plain, &conf, &set, all);
		moved += chs_ring_moved(all, &less);
		least += all->shares[at];
		chs_ring_clear(&less);
		set_put(&set, gone);
	}
	return (double)moved / least;
}

void test_default_removed(void)
{
	struct chs_ring_conf large = conf_default();
	struct chs_ring ring;
	u32 i;

	large.points = 1024;
	large.slots = 1 << 18;
	large.balance = 110;

	for (i = 0; i < 3; i++) {
		const u32 n = (const u32[]){ 10, 100, 1000 }[i];
		const struct chs_ring_conf conf = i < 2 ? conf_default() :
							  large;
		double top, moved;

		set_equal(n);
		set_build(&ring, &ringops_plain, &conf, &set, NULL);
		top = peak(&ring);
		moved = removed(&ring, i < 2 ? n : 5);
		unit_note("%4u backends: peak %.4f, moved %.4f of the least",
			  n, top, moved);
		CHECK_BETWEEN(top, 1, i ? 1.10 : 1.08);
		CHECK_BETWEEN(moved, 1, i < 2 ? 1.03 : 1.05);
		chs_ring_clear(&ring);
	}
}

void test_default_weight(void)
{
	const struct chs_ring_conf conf = conf_default();
	struct chs_ring before, after;
	double most = 0;
	u32 i;

	set_equal(100);
	set_build(&before, &ringops_plain, &conf, &set, NULL);
	for (i = 0; i < 100; i++) {
		double moved;

		set.nodes[i].weight = 99;
		set_build(&after, &ringops_plain, &conf, &set, &before);
		moved = (double)chs_ring_moved(&before, &after) / conf.slots;
		most = moved > most ? moved : most;
		chs_ring_clear(&after);
		set.nodes[i].weight = 100;
	}
	unit_note("weight 100 to 99 of one in 100: %.3f %% moved at most",
		  100 * most);
	CHECK(most < 0.002);
	chs_ring_clear(&before);
}

/* Arcs that must move for shares to become what they are: what others gain. */
static u32 least(const struct chs_ring *from, const struct chs_ring *to)
{
	u32 i, k, sum = 0;

	for (i = 0; i < to->n_nodes; i++) {
		u32 had = 0;

		for (k = 0; k < from->n_nodes; k++) {
			if (!chs_ring_id_cmp(&from->nodes[k].id,
					     &to->nodes[i].id))
				had = from->shares[k];
		}
		if (to->shares[i] > had)
			sum += to->shares[i] - had;
	}
	return sum;
}

/* What random histories move, one edit at a time, over the least. */
static double history(const struct chs_ring_conf *conf, u32 rings, u32 edits)
{
	u64 moved = 0, must = 0;
	u32 i, k;

	for (i = 0; i < rings; i++) {
		struct chs_ring ring, next;

		set_random(&set, rnd_range(2, 60), 200);
		set.nodes[0].weight = 100;
		set_build(&ring, &ringops_plain, conf, &set, NULL);
		for (k = 0; k < edits; k++) {
			set_change(&set, 200);
			set_build(&next, &ringops_plain, conf, &set, &ring);
			if (next.n_points && ring.n_points) {
				const u32 x = chs_ring_moved(&ring, &next);

				CHECK(x >= least(&ring, &next));
				if (!conf->balance)
					CHECK_EQ(x, least(&ring, &next));
				moved += x;
				must += least(&ring, &next);
			}
			chs_ring_clear(&ring);
			ring = next;
		}
		chs_ring_clear(&ring);
	}
	return must ? (double)moved / must : 1;
}

void test_default_plain(void)
{
	struct chs_ring_conf conf;
	u32 i;

	for (i = 0; i < 300 && !unit_failed(); i++) {
		conf = conf_random();
		history(&conf, 1, 10);
	}
	conf = conf_default();
	conf.balance = 0;
	history(&conf, 3, 10);
}

void test_default_surplus(void)
{
	const struct chs_ring_conf conf = conf_default();
	const double x = history(&conf, 8, 12);

	unit_note("random histories moved %.4f times what they had to", x);
	CHECK_BETWEEN(x, 1, 1.02);
}
