// SPDX-License-Identifier: GPL-2.0-only
/*
 * The consistent-hash ring: points, arcs, digest.
 *
 * Every backend throws points onto a circle of 2^64 positions, as many as its
 * weight asks for. The circle is cut into equal arcs; an arc belongs to the
 * backend of the first point at or after its start. Looking up a flow is then
 * one load, and a backend that comes or goes moves the arcs before its own
 * points and no others.
 *
 * Invariant: a ring is a function of its configuration and of the set of its
 * backends {identity, weight}, and of nothing else. A point depends on identity
 * and index alone; ties go by identity. So it does not matter in what order
 * backends were added, nor whether a ring was built afresh or from an older
 * one: the result is the same bit for bit, on every host and architecture.
 *
 * Random points are uneven: with p of them a share deviates by 1 / sqrt(p). With
 * a balance, arcs that would give a backend more than that much over its fair
 * share go on clockwise to the next one that has room. It is the bounded load
 * of Mirrokni et al., settled once a build for arcs instead of once a request.
 *
 * Cost, with n points, c of them changed, and s arcs: O(n + s) for a fresh
 * build, because positions are uniform and a radix sort leaves next to nothing
 * to do; from an older ring O(c) hashes, one O(n) merge and O(s). Two bytes an arc
 * and, of larger rings, ten bytes a point are kept; about as many again are needed
 * while building.
 *
 * Karger et al., "Consistent Hashing and Random Trees", STOC 1997.
 * Aumasson, Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012.
 * Mirrokni, Thorup, Zadimoghaddam, "Consistent Hashing with Bounded Loads",
 * 2016, arXiv:1608.01350.
 */

#include "ring.h"

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

/* Some tens of microseconds of work between two chances to reschedule. */
#define BATCH		4096U

/*
 * Two passes over eleven bits each sort by the top 22 bits: as many as there
 * can be points, so that a bucket holds about one at most, and few enough for
 * the 2,048 ends of a pass to stay in the second-level cache.
 */
#define RADIX_BITS	11
#define RADIX_SIZE	(1U << RADIX_BITS)

/* Arcs that one step of the digest takes in; slots are a multiple of it. */
#define DIGEST_BLOCK	64

/*
 * Fewer points are not kept for the next ring: hashing them anew takes no longer
 * than the rest of a build of as many arcs, and among thousands of small services
 * they would take as much memory as the arcs. A test may choose.
 */
#ifndef POINTS_KEPT
#define POINTS_KEPT	16384U
#endif

/* A list of points, in the end sorted by position, then owner. */
struct points {
	u64 *pos;
	u16 *own;
	u32 n;
};

/* How the points of a ring differ from those of an older one. */
struct diff {
	const struct chs_ring *prev;
	u16 *map;		/* old index to new, or CHS_RING_NONE */
	u32 *had;		/* points in the old ring, by new index */
	struct points add;
	struct points drop;	/* of backends that keep some points */
};

/* Scratch of arcs that are settled under a bound. */
struct balance {
	u32 *room;		/* arcs that a backend may still get */
	u32 *next;		/* a later point, none with room between */
};

static void breathe(u32 done)
{
	if (!(done % BATCH))
		cond_resched();
}

/**
 * chs_ring_key_set() - make a key of 16 bytes
 * @key: where to
 * @bytes: the key as SipHash's authors write it
 *
 * Context: any.
 */
void chs_ring_key_set(siphash_key_t *key, const u8 bytes[16])
{
	__le64 words[2];

	memcpy(words, bytes, sizeof(words));
	key->key[0] = le64_to_cpu(words[0]);
	key->key[1] = le64_to_cpu(words[1]);
}

/**
 * chs_ring_key_default() - the key of services that name no seed
 * @key: where to
 *
 * Context: any.
 */
void chs_ring_key_default(siphash_key_t *key)
{
	chs_ring_key_set(key, (const u8 *)CHS_RING_KEY_BYTES);
}

/**
 * chs_ring_node_points() - number of points of a backend
 * @conf: the ring's configuration, in range
 * @weight: the backend's weight, in range
 *
 * Context: any.
 * Return: points * weight / unit, half rounded up, but one at least; none for
 *	weight 0.
 */
u32 chs_ring_node_points(const struct chs_ring_conf *conf, u32 weight)
{
	/* At most 2 * 4096 * 10000 + 10000: far from overflow. */
	const u32 n = (2 * conf->points * weight + conf->unit) /
		      (2 * conf->unit);

	return weight && !n ? 1 : n;
}

/**
 * chs_ring_point() - position of a point
 * @conf: the ring's configuration, of which only the key counts
 * @id: backend
 * @index: which of the backend's points
 *
 * SipHash-2-4 over 24 bytes: address(16), port(2), zero(2), index(4), integers
 * in network order. Written as the three words that SipHash reads, which are
 * little-endian everywhere.
 *
 * Context: any.
 * Return: a position on the circle.
 */
u64 chs_ring_point(const struct chs_ring_conf *conf,
		   const struct chs_ring_id *id, u32 index)
{
	const u32 i = le32_to_cpu((__force __le32)cpu_to_be32(index));

	return siphash_3u64(le64_to_cpu((__force __le64)id->addr.q[0]),
			    le64_to_cpu((__force __le64)id->addr.q[1]),
			    le16_to_cpu((__force __le16)id->port) |
			    (u64)i << 32, &conf->key);
}

static void points_free(struct points *points)
{
	kvfree(points->pos);
	kvfree(points->own);
}

/* Room for @n points. On failure there is nothing to free. */
static int points_alloc(struct points *points, u32 n)
{
	points->pos = kvmalloc_array(n, sizeof(*points->pos),
				     GFP_KERNEL_ACCOUNT);
	points->own = kvmalloc_array(n, sizeof(*points->own),
				     GFP_KERNEL_ACCOUNT);
	points->n = 0;
	if (points->pos && points->own)
		return 0;

	points_free(points);
	points->pos = NULL;
	points->own = NULL;
	return -ENOMEM;
}

static void points_push(struct points *points, u64 pos, u16 own)
{
	points->pos[points->n] = pos;
	points->own[points->n] = own;
	points->n++;
}

/* Append the points @from to @to - 1 of one backend, unsorted. */
static void points_make(struct points *points, const struct chs_ring_conf *conf,
			const struct chs_ring_node *node, u16 own,
			u32 from, u32 to)
{
	u32 i;

	for (i = from; i < to; i++) {
		breathe(points->n);
		points_push(points, chs_ring_point(conf, &node->id, i), own);
	}
}

/* One stable pass by the RADIX_BITS bits at @shift. */
static void points_pass(struct points *to, const struct points *from,
			u32 *ends, unsigned int shift)
{
	u32 i, sum = 0;

	memset(ends, 0, RADIX_SIZE * sizeof(*ends));
	for (i = 0; i < from->n; i++) {
		breathe(i);
		ends[from->pos[i] >> shift & (RADIX_SIZE - 1)]++;
	}
	for (i = 0; i < RADIX_SIZE; i++) {
		const u32 n = ends[i];

		ends[i] = sum;
		sum += n;
	}
	for (i = 0; i < from->n; i++) {
		const u32 at = ends[from->pos[i] >> shift & (RADIX_SIZE - 1)]++;

		breathe(i);
		to->pos[at] = from->pos[i];
		to->own[at] = from->own[i];
	}
	to->n = from->n;
}

/* Put in order what agrees in the bits that the passes looked at. Stable. */
static void points_settle(struct points *points)
{
	u32 i, j;

	for (i = 1; i < points->n; i++) {
		const u64 pos = points->pos[i];
		const u16 own = points->own[i];

		breathe(i);
		for (j = i; j && points->pos[j - 1] > pos; j--) {
			points->pos[j] = points->pos[j - 1];
			points->own[j] = points->own[j - 1];
		}
		points->pos[j] = pos;
		points->own[j] = own;
	}
}

/*
 * Sort by position. Every step is stable and points are made in the order of
 * their owners, so that equal positions end up in that order.
 */
static int points_sort(struct points *points)
{
	struct points other;
	u32 *ends;
	int err;

	if (points->n < 2)
		return 0;

	ends = kvmalloc_array(RADIX_SIZE, sizeof(*ends), GFP_KERNEL_ACCOUNT);
	if (!ends)
		return -ENOMEM;
	err = points_alloc(&other, points->n);
	if (err)
		goto err_ends;

	points_pass(&other, points, ends, 64 - 2 * RADIX_BITS);
	points_pass(points, &other, ends, 64 - RADIX_BITS);
	points_settle(points);

	points_free(&other);
err_ends:
	kvfree(ends);
	return err;
}

static int points_fresh(struct points *points, const struct chs_ring *ring)
{
	u32 i;

	for (i = 0; i < ring->n_nodes; i++) {
		const struct chs_ring_node *node = &ring->nodes[i];

		points_make(points, &ring->conf, node, i, 0,
			    chs_ring_node_points(&ring->conf, node->weight));
		if (fatal_signal_pending(current))
			return -EINTR;
	}

	return points_sort(points);
}

/*
 * Pair the backends of both rings: each list is sorted. A backend that ends up
 * without points is as good as removed, so that none need be looked for. Points
 * and unit of the rings may differ, that makes all weights raised or lowered.
 */
static void diff_pair(struct diff *diff, const struct chs_ring *ring)
{
	const struct chs_ring *prev = diff->prev;
	u32 i, old = 0;

	memset(diff->map, 0xff, prev->n_nodes * sizeof(*diff->map));
	for (i = 0; i < ring->n_nodes; i++) {
		const struct chs_ring_node *node = &ring->nodes[i];
		int cmp = -1;

		diff->had[i] = 0;
		for (; old < prev->n_nodes; old++) {
			cmp = chs_ring_id_cmp(&prev->nodes[old].id, &node->id);
			if (cmp >= 0)
				break;
		}
		if (cmp || !node->weight)
			continue;
		diff->map[old] = i;
		diff->had[i] = chs_ring_node_points(&prev->conf,
						    prev->nodes[old].weight);
	}
}

/* Room for, then make and sort, what is added and what is dropped. */
static int diff_points(struct diff *diff, const struct chs_ring *ring)
{
	u32 add = 0, drop = 0;
	u32 i, had, n;
	int err;

	for (i = 0; i < ring->n_nodes; i++) {
		n = chs_ring_node_points(&ring->conf, ring->nodes[i].weight);
		had = diff->had[i];
		if (n > had)
			add += n - had;
		else
			drop += had - n;
	}

	err = points_alloc(&diff->add, add);
	if (err)
		return err;
	err = points_alloc(&diff->drop, drop);
	if (err)
		return err;

	for (i = 0; i < ring->n_nodes; i++) {
		const struct chs_ring_node *node = &ring->nodes[i];

		n = chs_ring_node_points(&ring->conf, node->weight);
		had = diff->had[i];
		points_make(&diff->add, &ring->conf, node, i, had, n);
		points_make(&diff->drop, &ring->conf, node, i, n, had);
	}

	err = points_sort(&diff->add);
	return err ?: points_sort(&diff->drop);
}

static void diff_free(struct diff *diff)
{
	points_free(&diff->add);
	points_free(&diff->drop);
	kvfree(diff->map);
	kvfree(diff->had);
}

static int diff_init(struct diff *diff, const struct chs_ring *ring,
		     const struct chs_ring *prev)
{
	int err = -ENOMEM;

	memset(diff, 0, sizeof(*diff));
	diff->prev = prev;
	diff->map = kvmalloc_array(prev->n_nodes, sizeof(*diff->map),
				   GFP_KERNEL_ACCOUNT);
	diff->had = kvmalloc_array(ring->n_nodes, sizeof(*diff->had),
				   GFP_KERNEL_ACCOUNT);
	if (!diff->map || !diff->had)
		goto err_free;

	diff_pair(diff, ring);
	err = diff_points(diff, ring);
	if (err)
		goto err_free;
	return 0;

err_free:
	diff_free(diff);
	return err;
}

/*
 * The old points less those dropped, and the added ones between them. New
 * indices ascend with old ones, so what is kept stays sorted.
 */
static void diff_merge(const struct diff *diff, struct points *points)
{
	const struct chs_ring *prev = diff->prev;
	const struct points *add = &diff->add;
	const struct points *drop = &diff->drop;
	u32 i, a = 0, d = 0;

	for (i = 0; i < prev->n_points; i++) {
		const u64 pos = prev->pos[i];
		const u16 own = diff->map[prev->own[i]];

		breathe(i);
		if (own == CHS_RING_NONE)
			continue;
		if (d < drop->n && drop->pos[d] == pos && drop->own[d] == own) {
			d++;
			continue;
		}
		for (; a < add->n; a++) {
			if (add->pos[a] > pos ||
			    (add->pos[a] == pos && add->own[a] > own))
				break;
			points_push(points, add->pos[a], add->own[a]);
		}
		points_push(points, pos, own);
	}
	for (; a < add->n; a++) {
		breathe(a);
		points_push(points, add->pos[a], add->own[a]);
	}
}

static int points_from(struct points *points, const struct chs_ring *ring,
		       const struct chs_ring *prev)
{
	struct diff diff;
	int err;

	err = diff_init(&diff, ring, prev);
	if (err)
		return err;

	diff_merge(&diff, points);
	diff_free(&diff);
	return 0;
}

/*
 * First choices: the first point at or after an arc's start, wrapping. @first takes
 * the index of that point, by arc. Points are as many as arcs, give or take, and
 * where they lie is chance: whatever branched on it would be mispredicted.
 */
static void arcs_first(struct chs_ring *ring, u32 *first)
{
	const unsigned int shift = 64 - ilog2(ring->conf.slots);
	const u32 last = ring->conf.slots - 1;
	u32 i, at = 0;

	/* Behind the last point before its start, if one is in the arc before. */
	memset(first, 0, ring->conf.slots * sizeof(*first));
	for (i = 0; i < ring->n_points; i++) {
		const u32 arc = ring->pos[i] >> shift;

		breathe(i);
		if (arc < last)
			first[arc + 1] = i + 1;
	}
	for (i = 0; i < ring->conf.slots; i++) {
		breathe(i);
		at = first[i] > at ? first[i] : at;
		first[i] = at < ring->n_points ? at : 0;
		ring->arcs[i] = ring->own[first[i]];
	}
}

static void balance_free(struct balance *balance)
{
	kvfree(balance->room);
	kvfree(balance->next);
}

static int balance_alloc(struct balance *balance, const struct chs_ring *ring)
{
	balance->room = kvmalloc_array(ring->n_nodes, sizeof(u32),
				       GFP_KERNEL_ACCOUNT);
	balance->next = kvmalloc_array(ring->n_points, sizeof(u32),
				       GFP_KERNEL_ACCOUNT);
	if (balance->room && balance->next)
		return 0;

	balance_free(balance);
	return -ENOMEM;
}

/*
 * Bound of a backend: its fair share, slots * weight / all weights, times the
 * balance, rounded down so that the promise holds; but at least the share, rounded
 * up, so that there is room for every arc.
 */
static void balance_init(struct balance *balance, const struct chs_ring *ring)
{
	const struct chs_ring_conf *conf = &ring->conf;
	u64 sum = 0;
	u32 i;

	for (i = 0; i < ring->n_nodes; i++)
		sum += ring->nodes[i].weight;
	for (i = 0; i < ring->n_nodes; i++) {
		const u64 part = (u64)conf->slots * ring->nodes[i].weight;
		const u32 most = div64_u64(conf->balance * part, 100 * sum);
		const u32 share = div64_u64(part + sum - 1, sum);

		balance->room[i] = most > share ? most : share;
	}
	for (i = 0; i < ring->n_points; i++) {
		breathe(i);
		balance->next[i] = i + 1;
	}
	balance->next[ring->n_points - 1] = 0;
}

/*
 * The first point from @from on, clockwise, whose owner has room. A backend
 * that is full stays full, so whoever comes this way again may skip at once
 * what was walked over.
 */
static u32 balance_walk(const struct balance *balance,
			const struct chs_ring *ring, u32 from)
{
	u32 at, to = from;

	while (!balance->room[ring->own[to]])
		to = balance->next[to];

	for (at = from; at != to; ) {
		const u32 next = balance->next[at];

		balance->next[at] = to;
		at = next;
	}

	return to;
}

/*
 * Settle arcs in the order of their numbers' reversed bits: 0, 1/2, 1/4, 3/4,
 * 1/8 ... of the circle. So whose arcs are left when a backend gets full does
 * not depend on where on the circle it is.
 */
static int arcs_balance(struct chs_ring *ring, const u32 *first)
{
	const u32 slots = ring->conf.slots;
	struct balance balance;
	u32 i, arc = 0;
	int err;

	err = balance_alloc(&balance, ring);
	if (err)
		return err;
	balance_init(&balance, ring);

	for (i = 1; i <= slots; i++) {
		u16 own = ring->arcs[arc];

		breathe(i);
		if (!balance.room[own]) {
			own = ring->own[balance_walk(&balance, ring, first[arc])];
			ring->arcs[arc] = own;
		}
		balance.room[own]--;

		/* Going on to i flips its lowest 1 and the bits below. */
		arc ^= slots - (slots >> (ilog2(i & -i) + 1));
	}

	balance_free(&balance);
	return 0;
}

static int arcs_fill(struct chs_ring *ring)
{
	u32 *first;
	int err = 0;

	if (!ring->n_points) {
		memset(ring->arcs, 0xff,
		       ring->conf.slots * sizeof(*ring->arcs));
		return 0;
	}

	first = kvmalloc_array(ring->conf.slots, sizeof(*first),
			       GFP_KERNEL_ACCOUNT);
	if (!first)
		return -ENOMEM;
	arcs_first(ring, first);
	if (ring->conf.balance)
		err = arcs_balance(ring, first);

	kvfree(first);
	return err;
}

static void shares_count(struct chs_ring *ring)
{
	u32 arc;

	memset(ring->shares, 0, ring->n_nodes * sizeof(*ring->shares));
	if (!ring->n_points)
		return;
	for (arc = 0; arc < ring->conf.slots; arc++)
		ring->shares[ring->arcs[arc]]++;
}

/* An owner's word in the digest. */
static u64 digest_id(const struct chs_ring_conf *conf,
		     const struct chs_ring_id *id)
{
	u8 bytes[sizeof(id->addr) + sizeof(id->port)] __aligned(8);

	memcpy(bytes, &id->addr, sizeof(id->addr));
	memcpy(bytes + sizeof(id->addr), &id->port, sizeof(id->port));
	return siphash(bytes, sizeof(bytes), &conf->key);
}

/*
 * d = H(version(4), hash(4), slots(8)), then for each 64 arcs in turn
 * d = H(d(8), 64 words of 8), in network order. The word of an arc is
 * H(address, port) of its owner, or 0 if it has none.
 */
static int digest_set(struct chs_ring *ring)
{
	const struct chs_ring_conf *conf = &ring->conf;
	__be64 block[1 + DIGEST_BLOCK];
	u32 arc, i;
	u64 *words;
	u64 digest;

	words = kvmalloc_array(ring->n_nodes, sizeof(*words),
			       GFP_KERNEL_ACCOUNT);
	if (!words)
		return -ENOMEM;
	for (i = 0; i < ring->n_nodes; i++)
		words[i] = digest_id(conf, &ring->nodes[i].id);

	block[0] = cpu_to_be64((u64)CHS_RING_VERSION << 32 | conf->hash);
	block[1] = cpu_to_be64(conf->slots);
	digest = siphash(block, 16, &conf->key);
	for (arc = 0; arc < conf->slots; arc += DIGEST_BLOCK) {
		breathe(arc);
		block[0] = cpu_to_be64(digest);
		for (i = 0; i < DIGEST_BLOCK; i++) {
			const u16 own = ring->arcs[arc + i];

			block[1 + i] = cpu_to_be64(own == CHS_RING_NONE ?
						   0 : words[own]);
		}
		digest = siphash(block, sizeof(block), &conf->key);
	}
	ring->digest = digest;

	kvfree(words);
	return 0;
}

static int conf_check(const struct chs_ring_conf *conf)
{
	if (conf->hash != CHS_FLOW_HASH_5TUPLE && conf->hash != CHS_FLOW_HASH_SRC)
		return -EINVAL;
	if (conf->points < CHS_RING_POINTS_MIN ||
	    conf->points > CHS_RING_POINTS_MAX)
		return -EINVAL;
	if (conf->unit < CHS_RING_UNIT_MIN || conf->unit > CHS_RING_UNIT_MAX)
		return -EINVAL;
	if (conf->slots < CHS_RING_SLOTS_MIN ||
	    conf->slots > CHS_RING_SLOTS_MAX || !is_power_of_2(conf->slots))
		return -EINVAL;
	if (conf->balance && (conf->balance < CHS_RING_BALANCE_MIN ||
			      conf->balance > CHS_RING_BALANCE_MAX))
		return -EINVAL;
	return 0;
}

/* Check the backends and count their points. */
static int nodes_check(const struct chs_ring_conf *conf,
		       const struct chs_ring_node *nodes, u32 n_nodes, u32 *n)
{
	u64 sum = 0;
	u32 i;

	if (n_nodes > CHS_RING_NODES_MAX)
		return -ENOSPC;
	for (i = 0; i < n_nodes; i++) {
		if (nodes[i].weight > CHS_RING_WEIGHT_MAX)
			return -EINVAL;
		if (i && chs_ring_id_cmp(&nodes[i - 1].id, &nodes[i].id) >= 0)
			return -EINVAL;
		sum += chs_ring_node_points(conf, nodes[i].weight);
	}
	if (sum > CHS_RING_POINTS_TOTAL_MAX)
		return -ENOSPC;

	*n = sum;
	return 0;
}

/* Whether points of @prev can be taken over: whether it has them, and the same. */
static bool prev_fits(const struct chs_ring *prev,
		      const struct chs_ring_conf *conf)
{
	return prev && prev->pos && prev->n_points &&
	       prev->conf.key.key[0] == conf->key.key[0] &&
	       prev->conf.key.key[1] == conf->key.key[1];
}

static void points_forget(struct chs_ring *ring)
{
	kvfree(ring->pos);
	kvfree(ring->own);
	ring->pos = NULL;
	ring->own = NULL;
}

/* Fill in a ring that has its configuration; on failure it is to be cleared. */
static int ring_make(struct chs_ring *ring, const struct chs_ring_node *nodes,
		     u32 n_points, const struct chs_ring *prev)
{
	struct points points;
	int err;

	ring->nodes = kvmalloc_array(ring->n_nodes, sizeof(*nodes),
				     GFP_KERNEL_ACCOUNT);
	ring->shares = kvmalloc_array(ring->n_nodes, sizeof(*ring->shares),
				      GFP_KERNEL_ACCOUNT);
	ring->arcs = kvmalloc_array(ring->conf.slots, sizeof(*ring->arcs),
				    GFP_KERNEL_ACCOUNT);
	if (!ring->nodes || !ring->shares || !ring->arcs)
		return -ENOMEM;
	if (ring->n_nodes)
		memcpy(ring->nodes, nodes, ring->n_nodes * sizeof(*nodes));

	err = points_alloc(&points, n_points);
	if (err)
		return err;
	ring->pos = points.pos;
	ring->own = points.own;
	err = prev_fits(prev, &ring->conf) ? points_from(&points, ring, prev) :
					     points_fresh(&points, ring);
	if (err)
		return err;
	ring->n_points = points.n;
	if (fatal_signal_pending(current))
		return -EINTR;

	err = arcs_fill(ring);
	if (err)
		return err;
	if (fatal_signal_pending(current))
		return -EINTR;
	if (ring->n_points < POINTS_KEPT)
		points_forget(ring);
	shares_count(ring);
	return digest_set(ring);
}

/**
 * chs_ring_build() - compile a ring
 * @ring: where to; written on success only, and not read
 * @conf: configuration
 * @nodes: backends, strictly ascending by identity
 * @n_nodes: number of @nodes, may be 0
 * @prev: a ring to take points over from, or NULL; left as it is. The result
 *	does not depend on it
 *
 * Context: process, may sleep.
 * Return: 0, -EINVAL for a configuration or a weight out of range or backends
 *	out of order, -ENOSPC for too many backends or points, -EINTR if the
 *	process is being killed, or -ENOMEM.
 */
int chs_ring_build(struct chs_ring *ring, const struct chs_ring_conf *conf,
		   const struct chs_ring_node *nodes, u32 n_nodes,
		   const struct chs_ring *prev)
{
	struct chs_ring new = { .conf = *conf, .n_nodes = n_nodes };
	u32 n_points;
	int err;

	err = conf_check(conf);
	if (err)
		return err;
	err = nodes_check(conf, nodes, n_nodes, &n_points);
	if (err)
		return err;

	err = ring_make(&new, nodes, n_points, prev);
	if (err) {
		chs_ring_clear(&new);
		return err;
	}

	*ring = new;
	return 0;
}

/**
 * chs_ring_clear() - free what a ring holds
 * @ring: a ring that was built or is all zero; all zero afterwards
 *
 * Context: process, may sleep.
 */
void chs_ring_clear(struct chs_ring *ring)
{
	kvfree(ring->nodes);
	kvfree(ring->shares);
	kvfree(ring->arcs);
	points_forget(ring);
	memset(ring, 0, sizeof(*ring));
}

/* Arcs of a finer cut that are one of @ring's, as a shift. */
static u32 finer(const struct chs_ring *ring, u32 slots)
{
	return ring ? ilog2(slots) - ilog2(ring->conf.slots) : 0;
}

static const struct chs_ring_id *owner_id(const struct chs_ring *ring, u32 at)
{
	u16 owner = ring ? ring->arcs[at] : CHS_RING_NONE;

	return owner == CHS_RING_NONE ? NULL : &ring->nodes[owner].id;
}

static bool is_rehashed(const struct chs_ring *from, const struct chs_ring *to)
{
	return from && to &&
	       (from->conf.hash != to->conf.hash ||
		memcmp(&from->conf.key, &to->conf.key, sizeof(to->conf.key)));
}

/**
 * chs_ring_moved() - part of the hash space that a change of rings moves
 * @from: the ring before
 * @to: the ring after, or NULL if the service goes
 *
 * Context: any, but one step an arc.
 * Return: arcs, of chs_ring_moved_of(), whose owner's identity differs, or that
 *	have an owner in one of the rings only; all if flows are hashed by another
 *	key or other fields.
 */
u32 chs_ring_moved(const struct chs_ring *from, const struct chs_ring *to)
{
	const u32 slots = chs_ring_moved_of(from, to);
	const u32 from_shift = finer(from, slots), to_shift = finer(to, slots);
	const struct chs_ring_id *a, *b;
	u32 at, moved = 0;

	if (is_rehashed(from, to))
		return slots;

	for (at = 0; at < slots; at++) {
		a = owner_id(from, at >> from_shift);
		b = owner_id(to, at >> to_shift);
		moved += a && b ? !!chs_ring_id_cmp(a, b) : a != b;
	}

	return moved;
}

#define REFERENCE_V4(a1, a2, a3, a4, p, w) {				\
	.id = { .addr.b = { [10] = 0xff, 0xff, a1, a2, a3, a4 },	\
		.port = cpu_to_be16(p) },				\
	.weight = w }
#define REFERENCE_V6(last, p, w) {					\
	.id = { .addr.b = { 0x20, 0x01, 0x0d, 0xb8, [15] = last },	\
		.port = cpu_to_be16(p) },				\
	.weight = w }

static const struct chs_ring_node reference_nodes[] = {
	REFERENCE_V4(10, 0, 0, 2, 80, 100),
	REFERENCE_V4(10, 0, 0, 10, 9, 100),
	REFERENCE_V4(10, 0, 0, 10, 8080, 50),
	REFERENCE_V4(192, 0, 2, 1, 0, 1),
	REFERENCE_V4(192, 0, 2, 2, 65535, 0),
	REFERENCE_V6(1, 443, 7),
	REFERENCE_V6(0xff, 443, 133),
};

/* Flow hashes under the ring's key: v4, v6, each by 5-tuple and by source. */
static void reference_flows(const siphash_key_t *key, __be64 hashes[4])
{
	struct chs_tuple tuple = {
		.sport = cpu_to_be16(40000),
		.dport = cpu_to_be16(443),
		.proto = 6,
	};

	/* 198.51.100.7 to 192.0.2.10 */
	chs_addr_set_v4(&tuple.saddr, cpu_to_be32(0xc6336407));
	chs_addr_set_v4(&tuple.daddr, cpu_to_be32(0xc000020a));
	hashes[0] = cpu_to_be64(chs_tuple_hash(&tuple, CHS_FLOW_HASH_5TUPLE, key));
	hashes[1] = cpu_to_be64(chs_tuple_hash(&tuple, CHS_FLOW_HASH_SRC, key));

	tuple.v6 = true;
	tuple.saddr = reference_nodes[5].id.addr;
	tuple.daddr = reference_nodes[6].id.addr;
	hashes[2] = cpu_to_be64(chs_tuple_hash(&tuple, CHS_FLOW_HASH_5TUPLE, key));
	hashes[3] = cpu_to_be64(chs_tuple_hash(&tuple, CHS_FLOW_HASH_SRC, key));
}

/**
 * chs_ring_reference() - check that this build agrees with ring version 1
 * @digest: what came out
 *
 * One small fixed ring and four fixed flows: H(ring's digest, flow hashes).
 * Two directors, or a module and a tool, that report the same value steer
 * alike.
 *
 * Context: process, may sleep.
 * Return: 0, -EUCLEAN if the value is not CHS_RING_REFERENCE_DIGEST, or
 *	-ENOMEM, with @digest left alone.
 */
int chs_ring_reference(u64 *digest)
{
	struct chs_ring_conf conf = {
		.hash = CHS_FLOW_HASH_5TUPLE,
		.points = 40,
		.unit = 100,
		.slots = 1024,
		.balance = 110,
	};
	struct chs_ring ring;
	__be64 words[5];
	int err;

	chs_ring_key_default(&conf.key);
	err = chs_ring_build(&ring, &conf, reference_nodes,
			     ARRAY_SIZE(reference_nodes), NULL);
	if (err)
		return err;

	words[0] = cpu_to_be64(ring.digest);
	reference_flows(&conf.key, words + 1);
	*digest = siphash(words, sizeof(words), &conf.key);
	chs_ring_clear(&ring);

	return *digest == CHS_RING_REFERENCE_DIGEST ? 0 : -EUCLEAN;
}
