// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jump consistent hash: a key jumps from bucket to bucket as their number grows,
 * seldomer the more there are, and stays where it jumped last. Only the number of
 * buckets counts: the last one alone can go, and all weigh the same.
 *
 * Lamping, Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm", 2014,
 * arXiv:1406.2294.
 */
#include <errno.h>

/* Last: its types stand in for the kernel's. */
#include "scheme.h"

struct jump {
	uint32_t n;
};

static int jump_build(void *state, const struct chs_ring_conf *conf,
		      const struct chs_ring_node *nodes, uint32_t n, const void *prev)
{
	struct jump *jump = state;

	(void)conf;
	(void)nodes;
	(void)prev;
	jump->n = n;
	return 0;
}

static void jump_clear(void *state)
{
	(void)state;
}

static int64_t bucket(uint64_t key, uint32_t n)
{
	int64_t at = -1, next = 0;

	while (next < n) {
		at = next;
		key = key * 2862933555777941757ULL + 1;
		next = (double)(at + 1) * ((double)(1LL << 31) / (double)((key >> 33) + 1));
	}
	return at;
}

static void jump_steer(const void *state, const uint64_t *hashes, uint16_t *owners, size_t n)
{
	const struct jump *jump = state;
	size_t i;

	for (i = 0; i < n; i++)
		owners[i] = jump->n ? bucket(hashes[i], jump->n) : CHS_RING_NONE;
}

static uint64_t jump_bytes(const void *state)
{
	const struct jump *jump = state;

	return sizeof(*jump) + jump->n * sizeof(struct chs_ring_id);
}

const struct ctl_scheme ctl_scheme_jump = {
	.name = "jump",
	.size = sizeof(struct jump),
	.build = jump_build,
	.clear = jump_clear,
	.steer = jump_steer,
	.n_keys = ctl_scheme_n_random,
	.key = ctl_scheme_key_random,
	.bytes = jump_bytes,
};
