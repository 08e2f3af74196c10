// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of Maglev: every backend has a permutation of the slots, and in turns
 * each takes the next slot of its own that is free. One whose weight is less than
 * the largest takes part in so many of the turns.
 *
 * Eisenbud et al., "Maglev: A Fast and Reliable Software Network Load Balancer",
 * NSDI 2016.
 */

#include "maglev.h"

#include <stdlib.h>
#include <string.h>

struct turn {
	u32 at, skip;
	u32 credit;
};

static void turns_init(struct turn *turns, const struct chs_ring_node *nodes,
		       u32 n)
{
	siphash_key_t key;
	u32 i;

	chs_ring_key_default(&key);
	for (i = 0; i < n; i++) {
		const union chs_addr *addr = &nodes[i].id.addr;
		const u64 a = siphash_3u64(addr->q[0], addr->q[1],
					   nodes[i].id.port, &key);
		const u64 b = siphash_1u64(a, &key);

		turns[i].at = a % MAGLEV_SLOTS;
		turns[i].skip = b % (MAGLEV_SLOTS - 1) + 1;
		turns[i].credit = 0;
	}
}

static u32 turn_take(struct turn *turn, const u16 *slots)
{
	u32 slot;

	do {
		slot = turn->at;
		turn->at += turn->skip;
		if (turn->at >= MAGLEV_SLOTS)
			turn->at -= MAGLEV_SLOTS;
	} while (slots[slot] != CHS_RING_NONE);

	return slot;
}

void maglev_build(struct maglev *maglev, const struct chs_ring_node *nodes,
		  u32 n_nodes)
{
	static struct turn turns[CHS_RING_NODES_MAX];
	u32 i, done = 0, top = 0;

	memset(maglev->slots, 0xff, sizeof(maglev->slots));
	memset(maglev->shares, 0, sizeof(maglev->shares));
	turns_init(turns, nodes, n_nodes);
	for (i = 0; i < n_nodes; i++)
		top = nodes[i].weight > top ? nodes[i].weight : top;

	for (i = 0; done < MAGLEV_SLOTS; i = i + 1 < n_nodes ? i + 1 : 0) {
		turns[i].credit += nodes[i].weight;
		if (turns[i].credit < top || !nodes[i].weight)
			continue;
		turns[i].credit -= top;
		maglev->slots[turn_take(&turns[i], maglev->slots)] = i;
		maglev->shares[i]++;
		done++;
	}
}
