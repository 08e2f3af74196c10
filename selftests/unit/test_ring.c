// SPDX-License-Identifier: GPL-2.0-only
/* What a ring is: who owns which arc. */

#include "ring.h"
#include "ringset.h"
#include "unit.h"

#include <string.h>

static struct ringset set;

void test_reference(void)
{
	u64 digest = 0;

	CHECK_EQ(chs_ring_reference(&digest), 0);
	CHECK_EQ(digest, CHS_RING_REFERENCE_DIGEST);
}

/* Compare some arcs, the first and the last among them, with a scan. */
static void scan(const struct ringops *ops, u32 rings, u32 arcs)
{
	struct chs_ring ring;
	u32 i, k;

	for (i = 0; i < rings && !unit_failed(); i++) {
		const struct chs_ring_conf conf = conf_random();
		const u32 last = conf.slots - 1;

		set_random(&set, rnd_range(1, 64), rnd_range(1, 200));
		set_build(&ring, ops, &conf, &set, NULL);
		CHECK_EQ(ring.arcs[0], scan_owner(ops, &conf, &set, 0));
		CHECK_EQ(ring.arcs[last], scan_owner(ops, &conf, &set, last));
		for (k = 0; k < arcs; k++) {
			const u32 arc = rnd_below(conf.slots);

			CHECK_EQ(ring.arcs[arc],
				 scan_owner(ops, &conf, &set, arc));
		}
		chs_ring_clear(&ring);
	}
}

void test_ring_scan(void)
{
	scan(&ringops_plain, 20000, 6);
}

void test_ring_scan_equal(void)
{
	u32 bits;

	/* From all positions equal to hardly any. */
	for (bits = 0; bits <= 12; bits++) {
		unit_point_mask = bits ? ~0ULL << (64 - bits) : 0;
		scan(&ringops_masked, 100, 12);
	}
	/* Equal in the bits that a sort may look at first, and in the last. */
	unit_point_mask = 0xf;
	scan(&ringops_masked, 100, 12);
	unit_point_mask = 0xf00000000000000fULL;
	scan(&ringops_masked, 100, 12);
	unit_point_mask = 0x0000060000001000ULL;
	scan(&ringops_masked, 100, 12);
}

void test_ring_wrap(void)
{
	struct chs_ring_conf conf = conf_plain();
	u32 i, wrapped = 0, starts = 0;
	struct chs_ring ring;

	conf.points = 1;
	conf.slots = 1024;
	for (i = 0; i < 500; i++) {
		u32 arc;

		set_random(&set, rnd_range(2, 5), 0);
		for (arc = 0; arc < set.n; arc++)
			set.nodes[arc].weight = conf.unit;
		set_build(&ring, &ringops_plain, &conf, &set, NULL);
		for (arc = 0; arc < conf.slots; arc++) {
			if ((u64)arc << 54 <= ring.pos[ring.n_points - 1])
				continue;
			wrapped++;
			CHECK_EQ(ring.arcs[arc], ring.own[0]);
		}
		chs_ring_clear(&ring);
	}
	CHECK(wrapped > 10000);

	/* A point exactly on an arc's start is at it, not after it. */
	unit_point_mask = ~0ULL << 54;
	for (i = 0; i < 500; i++) {
		u32 arc;

		set_random(&set, 3, 0);
		for (arc = 0; arc < set.n; arc++)
			set.nodes[arc].weight = conf.unit;
		set_build(&ring, &ringops_masked, &conf, &set, NULL);
		arc = ring.pos[1] >> 54;
		CHECK_EQ(ring.nodes[ring.arcs[arc]].weight, conf.unit);
		if (ring.pos[0] != ring.pos[1]) {
			starts++;
			CHECK_EQ(ring.arcs[arc], ring.own[1]);
		}
		chs_ring_clear(&ring);
	}
	CHECK(starts > 400);
}

void test_ring_one(void)
{
	u32 slots, points;

	for (slots = CHS_RING_SLOTS_MIN; slots <= CHS_RING_SLOTS_MAX;
	     slots *= 8) {
		for (points = 1; points <= CHS_RING_POINTS_MAX; points *= 64) {
			struct chs_ring_conf conf = conf_plain();
			struct chs_ring ring;

			conf.slots = slots;
			conf.points = points;
			set_random(&set, 1, 0);
			set.nodes[0].weight = 1;
			set_build(&ring, &ringops_plain, &conf, &set, NULL);
			CHECK_EQ(ring.shares[0], slots);
			chs_ring_clear(&ring);
		}
	}
}

void test_ring_none(void)
{
	const struct chs_ring_conf conf = conf_plain();
	struct chs_ring none, idle;

	set.n = 0;
	set_build(&none, &ringops_plain, &conf, &set, NULL);
	CHECK_EQ(none.n_points, 0);

	set_random(&set, 20, 0);
	set_build(&idle, &ringops_plain, &conf, &set, NULL);
	CHECK_EQ(idle.n_points, 0);
	CHECK_EQ(idle.shares[19], 0);
	/* Nobody owns anything in either: the same to the outside. */
	CHECK_EQ(idle.digest, none.digest);
	CHECK_EQ(chs_ring_moved(&none, &idle), 0);
	chs_ring_clear(&idle);
	chs_ring_clear(&none);
	CHECK(!none.arcs && !none.nodes && !none.conf.slots);
}

void test_ring_order(void)
{
	static const struct {
		u32 ip;
		u16 port;
	} rising[] = {
		{ 0x0a000001, 65535 }, { 0x0a000002, 0 }, { 0x0a000002, 9 },
		{ 0x0a000002, 10 }, { 0x0a000002, 100 }, { 0x0a000002, 8080 },
		{ 0x0a00000a, 9 }, { 0x0a00000b, 9 }, { 0x0a000064, 1 },
		{ 0x64000000, 1 }, { 0xc0000201, 1 },
	};
	struct chs_ring_node v6 = { .id.addr.b = { 0x20, 0x01 } };
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(rising); i++) {
		const struct chs_ring_node a = node_v4(rising[i].ip,
						       rising[i].port, 1);

		for (k = 0; k < ARRAY_SIZE(rising); k++) {
			const struct chs_ring_node b =
				node_v4(rising[k].ip, rising[k].port, 2);
			const int cmp = chs_ring_id_cmp(&a.id, &b.id);

			CHECK_EQ(cmp < 0, i < k);
			CHECK_EQ(cmp > 0, i > k);
		}
		CHECK(chs_ring_id_cmp(&a.id, &v6.id) < 0);
		CHECK(chs_ring_id_cmp(&v6.id, &a.id) > 0);
	}
}

/* Twelve backends that differ in the last octet, and twelve in the port. */
void test_ring_names(void)
{
	struct chs_ring_conf conf = conf_plain();
	struct chs_ring ring;
	u32 by_port, i;

	for (by_port = 0; by_port < 2; by_port++) {
		const u32 values[] = { 2, 3, 9, 10, 11, 12, 19, 20, 21, 90,
				       99, 100 };

		set.n = 0;
		for (i = 0; i < ARRAY_SIZE(values); i++)
			set_put(&set, by_port ?
				node_v4(0x0a000001, values[i], 100) :
				node_v4(0x0a000000 + values[i], 80, 100));
		set_build(&ring, &ringops_plain, &conf, &set, NULL);
		for (i = 0; i < set.n; i++)
			CHECK_BETWEEN(ring.shares[i] * 12.0 / conf.slots,
				      0.85, 1.15);
		for (i = 0; i < conf.slots; i += 97)
			CHECK_EQ(ring.arcs[i],
				 scan_owner(&ringops_plain, &conf, &set, i));
		chs_ring_clear(&ring);
	}
}

void test_ring_weights_scaled(void)
{
	struct chs_ring a, b;
	u32 i, k;

	for (i = 0; i < 300; i++) {
		struct chs_ring_conf conf = conf_random();
		const u32 factor = rnd_range(2, 50);

		conf.unit = rnd_range(1, 200);
		set_random(&set, rnd_range(1, 20), 200);
		set_build(&a, &ringops_plain, &conf, &set, NULL);
		conf.unit *= factor;
		for (k = 0; k < set.n; k++)
			set.nodes[k].weight *= factor;
		set_build(&b, &ringops_plain, &conf, &set, NULL);
		CHECK_EQ(a.digest, b.digest);
		CHECK_EQ(chs_ring_moved(&a, &b), 0);
		chs_ring_clear(&a);
		chs_ring_clear(&b);
	}
}
