// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fixed slots: a table says who owns each, and a change gives away as few of them
 * as will even it out. So it is done in Redis Cluster, and in resilient next-hop
 * groups.
 *
 * Best in both respects; but what a table looks like depends on all changes since
 * it was first dealt, so that hosts agree only if they hand it on to each other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Last: its types stand in for the kernel's. */
#include "scheme.h"

struct slots {
	struct chs_ring_node *nodes;
	uint32_t n;
	uint16_t *owners;
	uint32_t size;
};

/* Load of a backend that owns @a slots over that of another with @b; by sign. */
static int compare_load(uint64_t a, uint32_t weight_a, uint64_t b, uint32_t weight_b)
{
	const uint64_t x = a * weight_b, y = b * weight_a;

	return x < y ? -1 : x > y;
}

/* Backend with the lowest load after one more slot. */
static uint32_t receiver(const struct slots *slots, const uint32_t *owned)
{
	uint32_t i, best = 0;

	for (i = 1; i < slots->n; i++) {
		if (compare_load(owned[i] + 1, slots->nodes[i].weight,
				 owned[best] + 1, slots->nodes[best].weight) < 0)
			best = i;
	}
	return best;
}

/* Backend with the highest load. */
static uint32_t giver(const struct slots *slots, const uint32_t *owned)
{
	uint32_t i, most = 0;

	for (i = 1; i < slots->n; i++) {
		if (compare_load(owned[i], slots->nodes[i].weight,
				 owned[most], slots->nodes[most].weight) > 0)
			most = i;
	}
	return most;
}

/* How many slots each is to own: from what it has, by as few moves as can be. */
static void even_out(const struct slots *slots, uint32_t *owned, uint32_t orphans)
{
	uint32_t from, to;

	for (; orphans; orphans--)
		owned[receiver(slots, owned)]++;
	while (true) {
		from = giver(slots, owned);
		to = receiver(slots, owned);
		if (compare_load(owned[from], slots->nodes[from].weight,
				 owned[to] + 1, slots->nodes[to].weight) <= 0)
			return;
		owned[from]--;
		owned[to]++;
	}
}

/* Slots without an owner, and those of owners with too many, to those with too few. */
static void deal(struct slots *slots, const uint32_t *wanted, uint32_t *owned)
{
	uint32_t i, to = 0;
	uint16_t *owner;

	for (i = 0; i < slots->size; i++) {
		owner = &slots->owners[i];
		if (*owner != CHS_RING_NONE && owned[*owner] <= wanted[*owner])
			continue;
		while (owned[to] >= wanted[to])
			to++;
		if (*owner != CHS_RING_NONE)
			owned[*owner]--;
		*owner = to;
		owned[to]++;
	}
}

/* Take the slots over from @prev; backends of both are in order. */
static uint32_t inherit(struct slots *slots, const struct slots *prev, uint32_t *owned,
			uint16_t *map)
{
	uint32_t i, at = 0, orphans = 0;

	for (i = 0; i < prev->n; i++) {
		while (at < slots->n &&
		       chs_ring_id_cmp(&slots->nodes[at].id, &prev->nodes[i].id) < 0)
			at++;
		map[i] = at < slots->n && !chs_ring_id_cmp(&slots->nodes[at].id,
							   &prev->nodes[i].id) ?
			 at : CHS_RING_NONE;
	}
	for (i = 0; i < slots->size; i++) {
		const uint16_t was = prev->owners[i];

		slots->owners[i] = was == CHS_RING_NONE ? was : map[was];
		if (slots->owners[i] == CHS_RING_NONE)
			orphans++;
		else
			owned[slots->owners[i]]++;
	}
	return orphans;
}

/* As many as the weights ask for, rounded down; the rest is for even_out(). */
static uint32_t deal_whole(const struct slots *slots, uint32_t *wanted)
{
	uint32_t i, left = slots->size;
	uint64_t sum = 0;

	for (i = 0; i < slots->n; i++)
		sum += slots->nodes[i].weight;
	for (i = 0; i < slots->n; i++) {
		wanted[i] = (uint64_t)slots->size * slots->nodes[i].weight / sum;
		left -= wanted[i];
	}
	return left;
}

static int slots_fill(struct slots *slots, const struct slots *prev)
{
	const uint32_t had = prev ? prev->n : 0, n = had > slots->n ? had : slots->n;
	uint32_t *owned = calloc(n, sizeof(*owned));
	uint32_t *wanted = calloc(n, sizeof(*wanted));
	uint16_t *map = calloc(n, sizeof(*map));
	int err = -ENOMEM;
	uint32_t left;

	if (!owned || !wanted || !map)
		goto out;
	if (prev) {
		left = inherit(slots, prev, owned, map);
		memcpy(wanted, owned, n * sizeof(*wanted));
	} else {
		left = deal_whole(slots, wanted);
	}
	even_out(slots, wanted, left);
	deal(slots, wanted, owned);
	err = 0;
out:
	free(owned);
	free(wanted);
	free(map);
	return err;
}

static int slots_build(void *state, const struct chs_ring_conf *conf,
		       const struct chs_ring_node *nodes, uint32_t n, const void *prev)
{
	struct slots *slots = state;

	slots->n = n;
	slots->size = conf->slots;
	slots->nodes = calloc(n ? n : 1, sizeof(*nodes));
	slots->owners = malloc(slots->size * sizeof(*slots->owners));
	if (!slots->nodes || !slots->owners)
		return -ENOMEM;

	memset(slots->owners, 0xff, slots->size * sizeof(*slots->owners));
	if (!n)
		return 0;
	memcpy(slots->nodes, nodes, n * sizeof(*nodes));
	return slots_fill(slots, prev);
}

static void slots_clear(void *state)
{
	struct slots *slots = state;

	free(slots->nodes);
	free(slots->owners);
	memset(slots, 0, sizeof(*slots));
}

static void slots_steer(const void *state, const uint64_t *hashes, uint16_t *owners, size_t n)
{
	const struct slots *slots = state;
	size_t i;

	for (i = 0; i < n; i++)
		owners[i] = slots->owners[chs_ring_slot(hashes[i], slots->size)];
}

static uint32_t slots_n_keys(const void *state, uint32_t most)
{
	const struct slots *slots = state;

	(void)most;
	return slots->size;
}

static uint64_t slots_key(const void *state, uint32_t i)
{
	const struct slots *slots = state;

	return (((uint64_t)i << 32) / slots->size) << 32;
}

static uint64_t slots_bytes(const void *state)
{
	const struct slots *slots = state;

	return sizeof(*slots) + slots->n * sizeof(*slots->nodes) +
	       (uint64_t)slots->size * sizeof(*slots->owners);
}

const struct ctl_scheme ctl_scheme_slots = {
	.name = "slots",
	.weighs = true,
	.any = true,
	.size = sizeof(struct slots),
	.build = slots_build,
	.clear = slots_clear,
	.steer = slots_steer,
	.n_keys = slots_n_keys,
	.key = slots_key,
	.bytes = slots_bytes,
};
