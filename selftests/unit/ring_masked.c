// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring once more, with positions of which most bits are forced to 0: equal
 * ones, that nature would take ages to produce, are then the rule.
 */

#include "alloc.h"
#include "ringset.h"

#include <linux/siphash.h>

u64 unit_point_mask = ~0ULL;

static u64 masked_3u64(u64 a, u64 b, u64 c, const siphash_key_t *key)
{
	return siphash_3u64(a, b, c, key) & unit_point_mask;
}

#define siphash_3u64		masked_3u64
#define chs_ring_key_default	masked_key_default
#define chs_ring_key_set	masked_key_set
#define chs_ring_node_points	masked_node_points
#define chs_ring_point		masked_point
#define chs_ring_build		masked_build
#define chs_ring_clear		masked_clear
#define chs_ring_moved		masked_moved
#define chs_ring_reference	masked_reference

/* Declared by ring.h under their own names only. */
void masked_key_default(siphash_key_t *key);
void masked_key_set(siphash_key_t *key, const u8 bytes[16]);
int masked_id_cmp(const struct chs_ring_id *a, const struct chs_ring_id *b);
u32 masked_node_points(const struct chs_ring_conf *conf, u32 weight);
u64 masked_point(const struct chs_ring_conf *conf,
		 const struct chs_ring_id *id, u32 index);
int masked_build(struct chs_ring *ring, const struct chs_ring_conf *conf,
		 const struct chs_ring_node *nodes, u32 n_nodes,
		 const struct chs_ring *prev);
void masked_clear(struct chs_ring *ring);
u32 masked_moved(const struct chs_ring *from, const struct chs_ring *to);
int masked_reference(u64 *digest);

#include "../../kmod/ring.c"

const struct ringops ringops_masked = {
	.build = masked_build,
	.point = masked_point,
};
