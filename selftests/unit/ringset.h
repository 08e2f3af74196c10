/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets of backends, and a ring looked at the slow way. */
#ifndef UNIT_RINGSET_H
#define UNIT_RINGSET_H

#include "ring.h"

/* A sorted set of backends. */
struct ringset {
	struct chs_ring_node nodes[CHS_RING_NODES_MAX + 1];
	u32 n;
};

/* The functions under test: as they are, or with many equal positions. */
struct ringops {
	int (*build)(struct chs_ring *ring, const struct chs_ring_conf *conf,
		     const struct chs_ring_node *nodes, u32 n_nodes,
		     const struct chs_ring *prev);
	u64 (*point)(const struct chs_ring_conf *conf,
		     const struct chs_ring_id *id, u32 index);
};

extern const struct ringops ringops_plain;
extern const struct ringops ringops_masked;

/* Bits of a position that ringops_masked lets differ. */
extern u64 unit_point_mask;

/* The default key, and a plain ring of moderate size. */
struct chs_ring_conf conf_plain(void);
/* A random one whose rings are small enough to be scanned. */
struct chs_ring_conf conf_random(void);

struct chs_ring_node node_v4(u32 ip, u16 port, u32 weight);
struct chs_ring_node node_random(u32 weight_max);

/* Add or replace. */
void set_put(struct ringset *set, struct chs_ring_node node);
void set_del(struct ringset *set, u32 index);
/* @n distinct random backends. */
void set_random(struct ringset *set, u32 n, u32 weight_max);
/* Add, remove or weigh one at random. */
void set_change(struct ringset *set, u32 weight_max);

/* As chs_ring_build(), of a set; a failure is a failed check. */
void set_build(struct chs_ring *ring, const struct ringops *ops,
	       const struct chs_ring_conf *conf, const struct ringset *set,
	       const struct chs_ring *prev);

/* Index of the owner of an arc by looking at all points of @set. */
u16 scan_owner(const struct ringops *ops, const struct chs_ring_conf *conf,
	       const struct ringset *set, u32 arc);
u32 scan_points(const struct chs_ring_conf *conf, u32 weight);
/* Most arcs that backend @i may own under a balance. */
u32 scan_most(const struct chs_ring_conf *conf, const struct ringset *set, u32 i);
/* Owners of all arcs, each looked for from the first of all points on. */
void scan_settle(const struct ringops *ops, const struct chs_ring_conf *conf,
		 const struct ringset *set, u16 *owners);

/* Everything that a ring holds is the same, bit for bit. */
bool ring_same(const struct chs_ring *a, const struct chs_ring *b);
/* A ring is sound in itself: sorted, complete, its shares add up. */
void ring_check(const struct chs_ring *ring);

#endif /* UNIT_RINGSET_H */
