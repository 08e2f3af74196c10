/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The consistent-hash ring, version 1: weighted points on a 64-bit circle,
 * compiled into an array of equal arcs.
 *
 * Pure: shared, unchanged, by the module, the tool, the unit tests, the fuzzer
 * and the benchmark. Nothing here knows of packets, locks or namespaces.
 */
#ifndef CHS_RING_H
#define CHS_RING_H

#include <linux/siphash.h>
#include <linux/types.h>

#include "tuple.h"

#define CHS_RING_VERSION	1

/* The owner of an arc when nobody can own it. */
#define CHS_RING_NONE		0xffff

/* Owners are 16 bits wide and two bits of them are kept for affinity. */
#define CHS_RING_NODES_MAX	4096
/* A namespace's root must not be able to ask for gigabytes: 40 MiB of points. */
#define CHS_RING_POINTS_TOTAL_MAX	(1U << 22)

/* Defaults are chosen by what selftests/unit/spread.c measures: see chctl(8). */
#define CHS_RING_POINTS_MIN	1
#define CHS_RING_POINTS_MAX	4096
#define CHS_RING_POINTS_DEFAULT	768
#define CHS_RING_UNIT_MIN	1
#define CHS_RING_UNIT_MAX	10000
#define CHS_RING_UNIT_DEFAULT	100
#define CHS_RING_SLOTS_MIN	256
#define CHS_RING_SLOTS_MAX	(1U << 20)
#define CHS_RING_SLOTS_DEFAULT	65536
#define CHS_RING_WEIGHT_MAX	10000
/* In hundredths; 0 is off. */
#define CHS_RING_BALANCE_MIN	101
#define CHS_RING_BALANCE_MAX	200
#define CHS_RING_BALANCE_DEFAULT	108

/* Sixteen bytes "chsteer-ring-v1\0": the key when a service names no seed. */
#define CHS_RING_KEY_BYTES	"chsteer-ring-v1"

/*
 * Digest that chs_ring_reference() must give; computed by
 * selftests/unit/ring_model.py.
 */
#define CHS_RING_REFERENCE_DIGEST	0x8da42880bb448132ULL

/**
 * struct chs_ring_id - a backend's identity, of which its points are made
 * @addr: address; IPv4 is v4-mapped
 * @port: port, 0 where the packet's is kept
 *
 * Identities are ordered by their 18 bytes in network order.
 */
struct chs_ring_id {
	union chs_addr addr;
	__be16 port;
};

/**
 * struct chs_ring_node - a backend as the ring sees it
 * @id: identity
 * @weight: 0 takes no part
 */
struct chs_ring_node {
	struct chs_ring_id id;
	__u32 weight;
};

/**
 * struct chs_ring_conf - what a ring is made by, next to its backends
 * @key: key of every hash
 * @hash: what of a flow is hashed; part of the digest
 * @points: points of a backend that weighs @unit
 * @unit: weight of a standard backend
 * @slots: number of arcs, a power of two
 * @balance: most that a backend may own over its fair share, in hundredths
 *	(110 is 1.10), or 0 for off
 */
struct chs_ring_conf {
	siphash_key_t key;
	enum chsteer_flow_hash hash;
	__u32 points;
	__u32 unit;
	__u32 slots;
	__u32 balance;
};

/**
 * struct chs_ring - a compiled ring
 * @conf: what it was made by
 * @n_nodes: number of @nodes
 * @n_points: number of points
 * @nodes: the backends in the order of their identities; arcs and points name
 *	them by their index here
 * @pos: positions of the points, ascending; equal ones in the order of @own. NULL
 *	where they are so few that they are made again rather than kept
 * @own: owner of each point, or NULL likewise
 * @arcs: owner of each arc, or CHS_RING_NONE
 * @shares: number of arcs of each node
 * @digest: hash over version, @conf's hash and slots, and all owners, under
 *	the ring's key
 *
 * Never changed after it is built.
 */
struct chs_ring {
	struct chs_ring_conf conf;
	__u32 n_nodes;
	__u32 n_points;
	struct chs_ring_node *nodes;
	__u64 *pos;
	__u16 *own;
	__u16 *arcs;
	__u32 *shares;
	__u64 digest;
};

/**
 * chs_ring_id_cmp() - order of two identities
 * @a: one
 * @b: the other
 *
 * By value: 10.0.0.2 before 10.0.0.10, port 9 before port 10.
 *
 * Context: any.
 * Return: below, equal to or above zero, like memcmp().
 */
static inline int chs_ring_id_cmp(const struct chs_ring_id *a,
				  const struct chs_ring_id *b)
{
	unsigned int half = a->addr.q[0] == b->addr.q[0];
	const __u64 x = be64_to_cpu((__force __be64)a->addr.q[half]);
	const __u64 y = be64_to_cpu((__force __be64)b->addr.q[half]);

	if (x != y)
		return x < y ? -1 : 1;
	return (int)be16_to_cpu(a->port) - (int)be16_to_cpu(b->port);
}

/**
 * chs_ring_slot() - arc of a hash
 * @hash: a flow's hash
 * @slots: number of arcs, a power of two
 *
 * Context: any.
 * Return: the hash's top bits.
 */
static inline __u32 chs_ring_slot(__u64 hash, __u32 slots)
{
	/* One multiplication, where a shift would need the logarithm too. */
	return ((hash >> 32) * slots) >> 32;
}

void chs_ring_key_default(siphash_key_t *key);
void chs_ring_key_set(siphash_key_t *key, const __u8 bytes[16]);
__u32 chs_ring_node_points(const struct chs_ring_conf *conf, __u32 weight);
__u64 chs_ring_point(const struct chs_ring_conf *conf,
		     const struct chs_ring_id *id, __u32 index);

int chs_ring_build(struct chs_ring *ring, const struct chs_ring_conf *conf,
		   const struct chs_ring_node *nodes, __u32 n_nodes,
		   const struct chs_ring *prev);
void chs_ring_clear(struct chs_ring *ring);

/**
 * chs_ring_moved_of() - number of arcs that chs_ring_moved() is a part of
 * @from: the ring before
 * @to: the ring after, or NULL
 *
 * Both are powers of two, so the finer cut has every boundary of the other.
 *
 * Context: any.
 * Return: arcs of the finer cut of both.
 */
static inline __u32 chs_ring_moved_of(const struct chs_ring *from,
				      const struct chs_ring *to)
{
	return to && to->conf.slots > from->conf.slots ? to->conf.slots :
							 from->conf.slots;
}

__u32 chs_ring_moved(const struct chs_ring *from, const struct chs_ring *to);

int chs_ring_reference(__u64 *digest);

#endif /* CHS_RING_H */
