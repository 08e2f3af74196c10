// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring, by the very code that the module runs: with one point a backend, with
 * as many as configured, and balanced.
 */
#include <errno.h>

/* Last: its types stand in for the kernel's. */
#include "scheme.h"

static int ring_build(void *state, const struct chs_ring_conf *conf,
		      const struct chs_ring_node *nodes, uint32_t n, const void *prev)
{
	struct chs_ring_conf plain = *conf;

	plain.balance = 0;
	return chs_ring_build(state, &plain, nodes, n, prev);
}

static int ring1_build(void *state, const struct chs_ring_conf *conf,
		       const struct chs_ring_node *nodes, uint32_t n, const void *prev)
{
	struct chs_ring_conf one = *conf;

	one.points = 1;
	one.balance = 0;
	return chs_ring_build(state, &one, nodes, n, prev);
}

static int balanced_build(void *state, const struct chs_ring_conf *conf,
			  const struct chs_ring_node *nodes, uint32_t n, const void *prev)
{
	return chs_ring_build(state, conf, nodes, n, prev);
}

static void ring_clear(void *state)
{
	chs_ring_clear(state);
}

static void ring_steer(const void *state, const uint64_t *hashes, uint16_t *owners, size_t n)
{
	const struct chs_ring *ring = state;
	size_t i;

	for (i = 0; i < n; i++)
		owners[i] = ring->arcs[chs_ring_slot(hashes[i], ring->conf.slots)];
}

static uint32_t ring_n_keys(const void *state, uint32_t most)
{
	const struct chs_ring *ring = state;

	(void)most;
	return ring->conf.slots;
}

static uint64_t ring_key(const void *state, uint32_t i)
{
	const struct chs_ring *ring = state;

	return (((uint64_t)i << 32) / ring->conf.slots) << 32;
}

static uint64_t ring_bytes(const void *state)
{
	const struct chs_ring *ring = state;
	/* Few points are made again rather than kept. */
	const uint64_t n_points = ring->pos ? ring->n_points : 0;

	return sizeof(*ring) +
	       n_points * (sizeof(*ring->pos) + sizeof(*ring->own)) +
	       (uint64_t)ring->n_nodes * (sizeof(*ring->nodes) + sizeof(*ring->shares)) +
	       (uint64_t)ring->conf.slots * sizeof(*ring->arcs);
}

#define RING(_name, _build) {		\
	.name = _name,			\
	.weighs = true,			\
	.any = true,			\
	.size = sizeof(struct chs_ring),	\
	.build = _build,		\
	.clear = ring_clear,		\
	.steer = ring_steer,		\
	.n_keys = ring_n_keys,		\
	.key = ring_key,		\
	.bytes = ring_bytes,		\
}

const struct ctl_scheme ctl_scheme_ring1 = RING("ring1", ring1_build);
const struct ctl_scheme ctl_scheme_ring = RING("ring", ring_build);
const struct ctl_scheme ctl_scheme_balanced = RING("balanced", balanced_build);
