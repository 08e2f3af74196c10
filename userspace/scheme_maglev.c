// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maglev hashing: each backend prefers the slots of a table in an order of its
 * own, and the backends take turns to claim the first one that is free.
 *
 * Eisenbud et al., "Maglev: A Fast and Reliable Software Network Load Balancer",
 * NSDI 2016, section 3.4. Weights are as suggested there, by how often a backend
 * has its turn: the heaviest in each round, one half as heavy in every second.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Last: its types stand in for the kernel's. */
#include "scheme.h"

struct maglev {
	uint16_t *owners;
	uint32_t n;
};

/**
 * struct turns - a backend while the table is filled
 * @next: the slot that it prefers next
 * @skip: from there to the one after it
 * @credit: part of a turn that it has earned
 */
struct turns {
	uint32_t next;
	uint32_t skip;
	uint32_t credit;
};

static uint32_t heaviest(const struct chs_ring_node *nodes, uint32_t n)
{
	uint32_t i, most = 0;

	for (i = 0; i < n; i++)
		most = nodes[i].weight > most ? nodes[i].weight : most;
	return most;
}

static void claim(struct maglev *maglev, struct turns *turn, uint16_t owner)
{
	while (maglev->owners[turn->next] != CHS_RING_NONE)
		turn->next = (turn->next + turn->skip) % CTL_MAGLEV_SLOTS;
	maglev->owners[turn->next] = owner;
}

static void fill(struct maglev *maglev, const struct chs_ring_node *nodes, struct turns *turns)
{
	const uint32_t most = heaviest(nodes, maglev->n);
	uint32_t i, filled = 0;

	while (true) {
		for (i = 0; i < maglev->n; i++) {
			turns[i].credit += nodes[i].weight;
			if (turns[i].credit < most)
				continue;
			turns[i].credit -= most;
			claim(maglev, &turns[i], i);
			if (++filled == CTL_MAGLEV_SLOTS)
				return;
		}
	}
}

static int maglev_build(void *state, const struct chs_ring_conf *conf,
			const struct chs_ring_node *nodes, uint32_t n, const void *prev)
{
	struct maglev *maglev = state;
	struct turns *turns;
	uint32_t i;

	(void)prev;
	maglev->n = n;
	maglev->owners = malloc(CTL_MAGLEV_SLOTS * sizeof(*maglev->owners));
	turns = calloc(n ? n : 1, sizeof(*turns));
	if (!maglev->owners || !turns) {
		free(turns);
		return -ENOMEM;
	}

	memset(maglev->owners, 0xff, CTL_MAGLEV_SLOTS * sizeof(*maglev->owners));
	/* Two hashes of a backend's name. */
	for (i = 0; i < n; i++) {
		turns[i].next = chs_ring_point(conf, &nodes[i].id, 0) % CTL_MAGLEV_SLOTS;
		turns[i].skip = chs_ring_point(conf, &nodes[i].id, 1) %
				(CTL_MAGLEV_SLOTS - 1) + 1;
	}
	if (n)
		fill(maglev, nodes, turns);
	free(turns);
	return 0;
}

static void maglev_clear(void *state)
{
	struct maglev *maglev = state;

	free(maglev->owners);
	maglev->owners = NULL;
}

static void maglev_steer(const void *state, const uint64_t *hashes, uint16_t *owners, size_t n)
{
	const struct maglev *maglev = state;
	size_t i;

	for (i = 0; i < n; i++)
		owners[i] = maglev->owners[hashes[i] % CTL_MAGLEV_SLOTS];
}

static uint32_t maglev_n_keys(const void *state, uint32_t most)
{
	(void)state;
	(void)most;
	return CTL_MAGLEV_SLOTS;
}

static uint64_t maglev_key(const void *state, uint32_t i)
{
	(void)state;
	return i;
}

static uint64_t maglev_bytes(const void *state)
{
	const struct maglev *maglev = state;

	return sizeof(*maglev) + CTL_MAGLEV_SLOTS * sizeof(*maglev->owners) +
	       maglev->n * sizeof(struct chs_ring_node);
}

const struct ctl_scheme ctl_scheme_maglev = {
	.name = "maglev",
	.weighs = true,
	.any = true,
	.size = sizeof(struct maglev),
	.build = maglev_build,
	.clear = maglev_clear,
	.steer = maglev_steer,
	.n_keys = maglev_n_keys,
	.key = maglev_key,
	.bytes = maglev_bytes,
};
