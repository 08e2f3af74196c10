// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rendezvous hashing, highest random weight: every backend has a score for every
 * key, and the highest one gets it.
 *
 * Thaler, Ravishankar, "Using Name-Based Mappings to Increase Hit Rates",
 * IEEE/ACM Transactions on Networking 6(1), 1998. With weights the score is
 * -weight / ln(u), where u is the hash as a fraction of 1: the logarithmic method
 * of Schindelhauer, Schomaker, "Weighted Distributed Hash Tables", SPAA 2005.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Last: its types stand in for the kernel's. */
#include "scheme.h"

/**
 * struct entry - a backend
 * @seed: hash of its identity
 * @weight: its weight
 * @owner: its index
 */
struct entry {
	uint64_t seed;
	uint32_t weight;
	uint16_t owner;
};

struct rendezvous {
	struct entry *entries;
	uint32_t n;
};

/* Equal weights beside each other, so that one logarithm does for all of them. */
static int by_weight(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	return (int)x->owner - (int)y->owner;
}

static int rendezvous_build(void *state, const struct chs_ring_conf *conf,
			    const struct chs_ring_node *nodes, uint32_t n, const void *prev)
{
	struct rendezvous *rendezvous = state;
	uint32_t i;

	(void)prev;
	rendezvous->n = n;
	rendezvous->entries = calloc(n ? n : 1, sizeof(*rendezvous->entries));
	if (!rendezvous->entries)
		return -ENOMEM;

	for (i = 0; i < n; i++) {
		rendezvous->entries[i] = (struct entry){
			.seed = chs_ring_point(conf, &nodes[i].id, 0),
			.weight = nodes[i].weight,
			.owner = i,
		};
	}
	qsort(rendezvous->entries, n, sizeof(*rendezvous->entries), by_weight);
	return 0;
}

static void rendezvous_clear(void *state)
{
	struct rendezvous *rendezvous = state;

	free(rendezvous->entries);
	rendezvous->entries = NULL;
}

/* The logarithm of a hash as a fraction of 1, which is neither 0 nor 1. */
static double log_hash(uint64_t hash)
{
	return log(((double)(hash >> 12) + 0.5) / (1ULL << 52));
}

static uint16_t find_highest(const struct rendezvous *rendezvous, uint64_t key)
{
	const struct entry *at = rendezvous->entries, *end = at + rendezvous->n;
	uint16_t owner = CHS_RING_NONE;
	double highest = 0, score;

	while (at < end) {
		const struct entry *best = at;
		const uint32_t weight = at->weight;
		uint64_t most = 0, hash;

		for (; at < end && at->weight == weight; at++) {
			hash = ctl_scheme_mix(key ^ at->seed);
			if (hash > most) {
				most = hash;
				best = at;
			}
		}
		if (at == end && owner == CHS_RING_NONE)
			return best->owner;
		score = -(double)weight / log_hash(most);
		if (score > highest) {
			highest = score;
			owner = best->owner;
		}
	}
	return owner;
}

static void rendezvous_steer(const void *state, const uint64_t *hashes, uint16_t *owners,
			     size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		owners[i] = find_highest(state, hashes[i]);
}

static uint64_t rendezvous_bytes(const void *state)
{
	const struct rendezvous *rendezvous = state;

	return sizeof(*rendezvous) + rendezvous->n * (sizeof(*rendezvous->entries) +
						      sizeof(struct chs_ring_id));
}

const struct ctl_scheme ctl_scheme_rendezvous = {
	.name = "rendezvous",
	.weighs = true,
	.any = true,
	.linear = true,
	.size = sizeof(struct rendezvous),
	.build = rendezvous_build,
	.clear = rendezvous_clear,
	.steer = rendezvous_steer,
	.n_keys = ctl_scheme_n_random,
	.key = ctl_scheme_key_random,
	.bytes = rendezvous_bytes,
};
