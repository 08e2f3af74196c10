// SPDX-License-Identifier: GPL-2.0-only
/*
 * Histories of rings: a configuration, then edits of the backends, of the balance,
 * of what is kept and of what memory there is. Whatever the way to it, a ring is the
 * one that is built afresh, and the one that a plain scan settles.
 */

#include "alloc.h"
#include "fuzz.h"
#include "ringset.h"
#include "unit.h"

#include <string.h>

#define WEIGHT_MAX	40
#define BACKENDS_MAX	12

static struct ringset set;
static u16 owners[1 << 10];

static struct chs_ring_conf conf_make(void)
{
	struct chs_ring_conf conf = {
		.hash = rnd_below(2),
		.points = rnd_range(1, 8),
		.unit = rnd_range(1, 2 * WEIGHT_MAX),
		.slots = 1U << rnd_range(8, 10),
	};

	chs_ring_key_default(&conf.key);
	conf.key.key[0] += rnd_below(4);
	/* From all positions equal to none. */
	unit_point_mask = ~0ULL << (64 - rnd_range(1, 64));
	return conf;
}

/* Build without memory at some moment: nothing is left, nothing is changed. */
static void starve(const struct chs_ring *ring, const struct chs_ring_conf *conf)
{
	const int live = unit_alloc_live;
	struct chs_ring next;
	int err;

	unit_alloc_fail = rnd_range(1, 30);
	err = ringops_masked.build(&next, conf, set.nodes, set.n, ring);
	if (!err)
		chs_ring_clear(&next);
	else
		CHECK_EQ(-err, 12);
	unit_alloc_fail = 0;
	CHECK_EQ(unit_alloc_live, live);
}

static void step(struct chs_ring *ring, struct chs_ring_conf *conf)
{
	struct chs_ring next, fresh;
	u32 i;

	switch (rnd_below(8)) {
	case 0:
		conf->balance = rnd_below(2) * rnd_range(101, 200);
		break;
	case 1:
		unit_points_kept = rnd_below(256);
		break;
	case 2:
		starve(ring, conf);
		break;
	default:
		if (set.n < BACKENDS_MAX)
			set_change(&set, WEIGHT_MAX);
		else
			set_del(&set, rnd_below(set.n));
	}

	set_build(&next, &ringops_masked, conf, &set, ring);
	set_build(&fresh, &ringops_masked, conf, &set, NULL);
	CHECK(ring_same(&next, &fresh));
	for (i = 0; conf->balance && i < set.n; i++)
		CHECK(next.shares[i] <= scan_most(conf, &set, i));
	chs_ring_clear(&fresh);
	chs_ring_clear(ring);
	*ring = next;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chs_ring ring = { };
	struct chs_ring_conf conf;

	fuzz_input(data, size);
	conf = conf_make();
	unit_points_kept = 0;
	set.n = 0;
	set_build(&ring, &ringops_masked, &conf, &set, NULL);
	while (fuzz_left())
		step(&ring, &conf);

	scan_settle(&ringops_masked, &conf, &set, owners);
	CHECK(!memcmp(ring.arcs, owners, conf.slots * sizeof(*owners)));
	chs_ring_clear(&ring);
	CHECK_EQ(unit_alloc_live, 0);
	return 0;
}
