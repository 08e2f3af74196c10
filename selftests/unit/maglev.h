/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of Maglev, to compare with. */
#ifndef UNIT_MAGLEV_H
#define UNIT_MAGLEV_H

#include "ring.h"

/* The prime that IPVS and Google's paper take for the smaller of their tables. */
#define MAGLEV_SLOTS	65537

struct maglev {
	u16 slots[MAGLEV_SLOTS];
	u32 shares[CHS_RING_NODES_MAX];
};

/* @nodes with weight 0 take no part; one at least must have another. */
void maglev_build(struct maglev *maglev, const struct chs_ring_node *nodes,
		  u32 n_nodes);

/* Slot of a hash, as near to chs_ring_slot() as a prime allows. */
static inline u32 maglev_slot(u64 hash)
{
	return ((hash >> 32) * MAGLEV_SLOTS) >> 32;
}

#endif /* UNIT_MAGLEV_H */
