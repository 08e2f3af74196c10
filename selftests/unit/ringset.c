// SPDX-License-Identifier: GPL-2.0-only
/* Sets of backends, and a ring looked at the slow way. */

#include "alloc.h"
#include "ringset.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

const struct ringops ringops_plain = {
	.build = chs_ring_build,
	.point = chs_ring_point,
};

struct chs_ring_conf conf_plain(void)
{
	struct chs_ring_conf conf = {
		.points = 512,
		.unit = 100,
		.slots = 16384,
	};

	chs_ring_key_default(&conf.key);
	return conf;
}

struct chs_ring_conf conf_random(void)
{
	struct chs_ring_conf conf = {
		.key = { { rnd(), rnd() } },
		.hash = rnd_below(2),
		.points = rnd_range(1, 12),
		.slots = 1U << rnd_range(8, 10),
	};

	/* A unit about as large as the weights, or far from them. */
	conf.unit = rnd_below(4) ? rnd_range(50, 150) : rnd_range(1, 10000);
	return conf;
}

struct chs_ring_node node_v4(u32 ip, u16 port, u32 weight)
{
	struct chs_ring_node node = { .weight = weight };

	chs_addr_set_v4(&node.id.addr, htonl(ip));
	node.id.port = htons(port);
	return node;
}

struct chs_ring_node node_random(u32 weight_max)
{
	struct chs_ring_node node;

	/* Often the same address, so that the port decides. */
	node = node_v4(0x0a000000 + rnd_below(256), rnd_below(5) * 77,
		       rnd_below(weight_max + 1));
	if (!rnd_below(3)) {
		node.id.addr.q[0] = rnd();
		node.id.addr.q[1] = rnd();
	}
	return node;
}

/* Order of identities, byte by byte and on purpose not the code under test. */
static int order(const struct chs_ring_id *a, const struct chs_ring_id *b)
{
	u32 i;

	for (i = 0; i < 16; i++) {
		if (a->addr.b[i] != b->addr.b[i])
			return a->addr.b[i] < b->addr.b[i] ? -1 : 1;
	}
	for (i = 0; i < 2; i++) {
		const u8 x = ((const u8 *)&a->port)[i];
		const u8 y = ((const u8 *)&b->port)[i];

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

void set_put(struct ringset *set, struct chs_ring_node node)
{
	u32 i = 0;

	while (i < set->n && order(&set->nodes[i].id, &node.id) < 0)
		i++;
	if (i == set->n || order(&set->nodes[i].id, &node.id)) {
		memmove(&set->nodes[i + 1], &set->nodes[i],
			(set->n - i) * sizeof(node));
		set->n++;
	}
	set->nodes[i] = node;
}

void set_del(struct ringset *set, u32 index)
{
	set->n--;
	memmove(&set->nodes[index], &set->nodes[index + 1],
		(set->n - index) * sizeof(set->nodes[0]));
}

void set_random(struct ringset *set, u32 n, u32 weight_max)
{
	set->n = 0;
	while (set->n < n)
		set_put(set, node_random(weight_max));
}

void set_change(struct ringset *set, u32 weight_max)
{
	const u32 what = rnd_below(3);

	if (what == 0 || !set->n)
		set_put(set, node_random(weight_max));
	else if (what == 1)
		set_del(set, rnd_below(set->n));
	else
		set->nodes[rnd_below(set->n)].weight =
			rnd_below(weight_max + 1);
}

void set_build(struct chs_ring *ring, const struct ringops *ops,
	       const struct chs_ring_conf *conf, const struct ringset *set,
	       const struct chs_ring *prev)
{
	const int err = ops->build(ring, conf, set->nodes, set->n, prev);

	CHECK_EQ(err, 0);
	if (err)
		memset(ring, 0, sizeof(*ring));
	else
		ring_check(ring);
}

u32 scan_points(const struct chs_ring_conf *conf, u32 weight)
{
	const u64 whole = (u64)conf->points * weight / conf->unit;
	const u64 rest = (u64)conf->points * weight % conf->unit;
	const u64 n = whole + (2 * rest >= conf->unit);

	return !weight ? 0 : n ? n : 1;
}

u16 scan_owner(const struct ringops *ops, const struct chs_ring_conf *conf,
	       const struct ringset *set, u32 arc)
{
	const u64 start = (~0ULL / conf->slots + 1) * arc;
	u64 distance, best = 0;
	u16 own = CHS_RING_NONE;
	u32 node, i;

	for (node = 0; node < set->n; node++) {
		const u32 n = scan_points(conf, set->nodes[node].weight);

		for (i = 0; i < n; i++) {
			/* Clockwise, past the end by overflow. */
			distance = ops->point(conf, &set->nodes[node].id, i) -
				   start;
			if (own != CHS_RING_NONE && distance >= best)
				continue;
			best = distance;
			own = node;
		}
	}

	return own;
}

struct place {
	u64 pos;
	u32 own;
};

/* All points of a set. */
static struct place places[1 << 16];
static u32 n_places;

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->pos != y->pos)
		return x->pos < y->pos ? -1 : 1;
	return x->own < y->own ? -1 : x->own > y->own;
}

static void places_make(const struct ringops *ops,
			const struct chs_ring_conf *conf,
			const struct ringset *set)
{
	u32 i, k;

	n_places = 0;
	for (i = 0; i < set->n; i++) {
		for (k = scan_points(conf, set->nodes[i].weight); k; k--) {
			places[n_places].pos =
				ops->point(conf, &set->nodes[i].id, k - 1);
			places[n_places++].own = i;
		}
	}
	qsort(places, n_places, sizeof(*places), by_place);
}

u32 scan_most(const struct chs_ring_conf *conf, const struct ringset *set, u32 i)
{
	u64 sum = 0, part, arcs = 0;
	u32 k;

	for (k = 0; k < set->n; k++)
		sum += set->nodes[k].weight;
	if (!set->nodes[i].weight)
		return 0;
	part = (u64)conf->slots * set->nodes[i].weight;
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

void scan_settle(const struct ringops *ops, const struct chs_ring_conf *conf,
		 const struct ringset *set, u16 *owners)
{
	static u32 room[CHS_RING_NODES_MAX];
	u32 i, arc, at;

	places_make(ops, conf, set);
	for (i = 0; i < set->n; i++)
		room[i] = conf->balance ? scan_most(conf, set, i) : conf->slots;
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

bool ring_same(const struct chs_ring *a, const struct chs_ring *b)
{
	u32 i;

	if (a->n_nodes != b->n_nodes || a->n_points != b->n_points ||
	    a->conf.slots != b->conf.slots || a->digest != b->digest)
		return false;
	for (i = 0; i < a->n_nodes; i++) {
		if (order(&a->nodes[i].id, &b->nodes[i].id) ||
		    a->nodes[i].weight != b->nodes[i].weight ||
		    a->shares[i] != b->shares[i])
			return false;
	}
	for (i = 0; a->pos && b->pos && i < a->n_points; i++) {
		if (a->pos[i] != b->pos[i] || a->own[i] != b->own[i])
			return false;
	}
	for (i = 0; i < a->conf.slots; i++) {
		if (a->arcs[i] != b->arcs[i])
			return false;
	}
	return true;
}

void ring_check(const struct chs_ring *ring)
{
	u32 i, points = 0, shares = 0;

	for (i = 0; i < ring->n_nodes; i++) {
		points += scan_points(&ring->conf, ring->nodes[i].weight);
		shares += ring->shares[i];
		if (!ring->nodes[i].weight)
			CHECK_EQ(ring->shares[i], 0);
	}
	CHECK_EQ(ring->n_points, points);
	CHECK_EQ(shares, points ? ring->conf.slots : 0);

	CHECK_EQ(!ring->pos, points < unit_points_kept);
	for (i = 1; ring->pos && i < ring->n_points; i++) {
		CHECK(ring->pos[i - 1] < ring->pos[i] ||
		      (ring->pos[i - 1] == ring->pos[i] &&
		       ring->own[i - 1] <= ring->own[i]));
	}
	for (i = 0; i < ring->conf.slots; i++)
		CHECK(points ? ring->arcs[i] < ring->n_nodes :
			       ring->arcs[i] == CHS_RING_NONE);
}
