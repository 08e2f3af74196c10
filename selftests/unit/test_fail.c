// SPDX-License-Identifier: GPL-2.0-only
/* What is refused, and that a refusal leaves everything as it was. */

#include "ring.h"
#include "alloc.h"
#include "ringset.h"
#include "unit.h"

#include <linux/errno.h>

#include <string.h>

static struct ringset set;

/* Build, and see that a failure does not touch the result. */
static int try_build(const struct chs_ring_conf *conf,
		     const struct chs_ring *prev)
{
	struct chs_ring ring, untouched;
	int err;

	memset(&ring, 0x5a, sizeof(ring));
	untouched = ring;
	err = chs_ring_build(&ring, conf, set.nodes, set.n, prev);
	if (err)
		CHECK(!memcmp(&ring, &untouched, sizeof(ring)));
	else
		chs_ring_clear(&ring);
	return -err;
}

#define CHECK_CONF(field, value, error)					\
	do {								\
		struct chs_ring_conf conf_ = conf_plain();		\
									\
		conf_.field = value;					\
		CHECK_EQ(try_build(&conf_, NULL), error);		\
	} while (0)

void test_fail_invalid(void)
{
	const struct chs_ring_conf conf = conf_plain();

	set_random(&set, 3, 100);
	CHECK_CONF(hash, 2, EINVAL);
	CHECK_CONF(points, 0, EINVAL);
	CHECK_CONF(points, 1, 0);
	CHECK_CONF(points, 4096, 0);
	CHECK_CONF(points, 4097, EINVAL);
	CHECK_CONF(points, ~0U, EINVAL);
	CHECK_CONF(unit, 0, EINVAL);
	CHECK_CONF(unit, 1, 0);
	CHECK_CONF(unit, 10000, 0);
	CHECK_CONF(unit, 10001, EINVAL);
	CHECK_CONF(slots, 0, EINVAL);
	CHECK_CONF(slots, 1, EINVAL);
	CHECK_CONF(slots, 128, EINVAL);
	CHECK_CONF(slots, 255, EINVAL);
	CHECK_CONF(slots, 256, 0);
	CHECK_CONF(slots, 257, EINVAL);
	CHECK_CONF(slots, 1U << 20, 0);
	CHECK_CONF(slots, 1U << 21, EINVAL);
	CHECK_CONF(slots, 1U << 31, EINVAL);

	CHECK_CONF(balance, 1, EINVAL);
	CHECK_CONF(balance, 100, EINVAL);
	CHECK_CONF(balance, 101, 0);
	CHECK_CONF(balance, 200, 0);
	CHECK_CONF(balance, 201, EINVAL);

	set.nodes[1].weight = 10000;
	CHECK_EQ(try_build(&conf, NULL), 0);
	set.nodes[1].weight = 10001;
	CHECK_EQ(try_build(&conf, NULL), EINVAL);
	set.nodes[1].weight = ~0U;
	CHECK_EQ(try_build(&conf, NULL), EINVAL);

	set_random(&set, 3, 100);
	set.nodes[2].id = set.nodes[1].id;
	CHECK_EQ(try_build(&conf, NULL), EINVAL);
	set.nodes[1].id = set.nodes[0].id;
	CHECK_EQ(try_build(&conf, NULL), EINVAL);
	set_random(&set, 2, 100);
	set.nodes[2] = set.nodes[0];
	set.n = 3;
	CHECK_EQ(try_build(&conf, NULL), EINVAL);
}

void test_fail_limits(void)
{
	struct chs_ring_conf conf = conf_plain();
	u32 i;

	/* 4,096 backends of 1,024 points are exactly 2^22. */
	conf.points = 1024;
	conf.slots = 1U << 20;
	set.n = CHS_RING_NODES_MAX;
	for (i = 0; i <= CHS_RING_NODES_MAX; i++)
		set.nodes[i] = node_v4(0x0a000000 + i, 0, conf.unit);
	CHECK_EQ(try_build(&conf, NULL), 0);
	set.nodes[77].weight += 1;
	CHECK_EQ(try_build(&conf, NULL), ENOSPC);
	set.nodes[77].weight = 0;
	set.n = CHS_RING_NODES_MAX + 1;
	CHECK_EQ(try_build(&conf, NULL), ENOSPC);

	/* More points than 32 bits can count. */
	conf.points = CHS_RING_POINTS_MAX;
	conf.unit = 1;
	set.n = CHS_RING_NODES_MAX;
	for (i = 0; i < set.n; i++)
		set.nodes[i].weight = CHS_RING_WEIGHT_MAX;
	CHECK_EQ(try_build(&conf, NULL), ENOSPC);
	/* Exactly 2^32 of them: none, to whom counts in 32 bits. */
	for (i = 0; i < set.n; i++)
		set.nodes[i].weight = 256;
	CHECK_EQ(try_build(&conf, NULL), ENOSPC);
	set.n = 1;
	set.nodes[0].weight = CHS_RING_WEIGHT_MAX;
	CHECK_EQ(chs_ring_node_points(&conf, CHS_RING_WEIGHT_MAX), 40960000);
	CHECK_EQ(try_build(&conf, NULL), ENOSPC);
	CHECK_EQ(chs_ring_node_points(&conf, 0), 0);
	conf.points = 1;
	conf.unit = 10000;
	CHECK_EQ(chs_ring_node_points(&conf, 1), 1);
	CHECK_EQ(chs_ring_node_points(&conf, 10000), 1);
	conf.points = 3;
	CHECK_EQ(chs_ring_node_points(&conf, 4999), 1);
	CHECK_EQ(chs_ring_node_points(&conf, 5000), 2);
}

void test_fail_growth(void)
{
	struct chs_ring_conf conf = conf_plain();
	struct chs_ring ring, next;
	u32 i;

	conf.points = 4;
	conf.slots = 256;
	set.n = 0;
	CHECK_EQ(chs_ring_build(&ring, &conf, NULL, 0, NULL), 0);
	/* Multiplication by an odd number: all of them, out of order. */
	for (i = 0; i < CHS_RING_NODES_MAX; i++) {
		set_put(&set, node_v4(0x0a000000 + i * 1597 % 4096, 80, 100));
		CHECK_EQ(chs_ring_build(&next, &conf, set.nodes, set.n, &ring),
			 0);
		chs_ring_clear(&ring);
		ring = next;
	}
	CHECK_EQ(ring.n_points, 4 * CHS_RING_NODES_MAX);
	CHECK_EQ(chs_ring_build(&next, &conf, set.nodes, set.n, NULL), 0);
	CHECK(ring_same(&ring, &next));
	chs_ring_clear(&next);
	set_put(&set, node_v4(1, 1, 1));
	CHECK_EQ(-chs_ring_build(&next, &conf, set.nodes, set.n, &ring),
		 ENOSPC);
	chs_ring_clear(&ring);
}

/* Let the first, second ... allocation fail until the build gets through. */
static u32 fail_each(const struct chs_ring_conf *conf,
		     const struct chs_ring *prev)
{
	const int live = unit_alloc_live;
	u32 k;
	int err;

	for (k = 1; k < 100; k++) {
		unit_alloc_fail = k;
		err = try_build(conf, prev);
		CHECK_EQ(unit_alloc_live, live);
		if (unit_alloc_fail) {
			CHECK_EQ(err, 0);
			break;
		}
		CHECK_EQ(err, ENOMEM);
	}
	unit_alloc_fail = 0;
	return k - 1;
}

void test_fail_alloc(void)
{
	struct chs_ring_conf conf = conf_plain();
	struct chs_ring prev, copy;
	u32 fresh, merged;

	conf.slots = 1024;
	set_random(&set, 20, 200);
	set_build(&prev, &ringops_plain, &conf, &set, NULL);
	set_build(&copy, &ringops_plain, &conf, &set, NULL);

	/* One goes, one comes, one is raised, one is lowered. */
	set_del(&set, 5);
	set_put(&set, node_v4(0x01020304, 5, 50));
	set.nodes[10].weight += 100;
	set.nodes[11].weight = 1;
	fresh = fail_each(&conf, NULL);
	merged = fail_each(&conf, &prev);
	conf.balance = 120;
	CHECK_EQ(fail_each(&conf, &prev), merged + 2);
	unit_note("%u allocations fresh, %u from an older ring", fresh, merged);
	CHECK(fresh >= 8);
	CHECK(merged > fresh);
	CHECK(ring_same(&prev, &copy));
	chs_ring_clear(&prev);
	chs_ring_clear(&copy);

	unit_alloc_fail = 1;
	CHECK_EQ(-chs_ring_reference(&(u64){ 0 }), ENOMEM);
	unit_alloc_fail = 0;
}
