// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of schemes, and the plainest one: hash % n.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Last: its types stand in for the kernel's. */
#include "scheme.h"

const struct ctl_scheme *const ctl_schemes[] = {
	&ctl_scheme_modulo,
	&ctl_scheme_ring1,
	&ctl_scheme_ring,
	&ctl_scheme_balanced,
	&ctl_scheme_maglev,
	&ctl_scheme_rendezvous,
	&ctl_scheme_jump,
	&ctl_scheme_slots,
	NULL
};

/**
 * ctl_scheme_mix() - make a number that looks random of another
 * @x: the other one
 *
 * The finalizer of SplitMix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom
 * Number Generators", OOPSLA 2014, with the constants of Stafford's variant 13.
 * It is a bijection.
 *
 * Return: the number.
 */
uint64_t ctl_scheme_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/**
 * ctl_scheme_random() - a number that looks random, the same in every run
 * @i: which
 *
 * Return: the number.
 */
uint64_t ctl_scheme_random(uint32_t i)
{
	return ctl_scheme_mix((i + 1ULL) * 0x9e3779b97f4a7c15ULL);
}

/**
 * ctl_scheme_n_random() - number of keys of schemes without a table
 * @state: not used
 * @most: as many as are wanted
 *
 * Return: @most.
 */
uint32_t ctl_scheme_n_random(const void *state, uint32_t most)
{
	(void)state;
	return most;
}

/**
 * ctl_scheme_key_random() - key of schemes without a table
 * @state: not used
 * @i: which
 *
 * Return: its hash.
 */
uint64_t ctl_scheme_key_random(const void *state, uint32_t i)
{
	(void)state;
	return ctl_scheme_random(i);
}

/* The backends are a list, and a key's hash modulo its length is an index. */
struct modulo {
	uint32_t n;
};

static int modulo_build(void *state, const struct chs_ring_conf *conf,
			const struct chs_ring_node *nodes, uint32_t n, const void *prev)
{
	struct modulo *modulo = state;

	(void)conf;
	(void)nodes;
	(void)prev;
	modulo->n = n;
	return 0;
}

static void modulo_clear(void *state)
{
	(void)state;
}

static void modulo_steer(const void *state, const uint64_t *hashes, uint16_t *owners, size_t n)
{
	const struct modulo *modulo = state;
	size_t i;

	for (i = 0; i < n; i++)
		owners[i] = modulo->n ? hashes[i] % modulo->n : CHS_RING_NONE;
}

/* Use a multiple of the number of backends, so that each gets as many keys. */
static uint32_t modulo_n_keys(const void *state, uint32_t most)
{
	const struct modulo *modulo = state;

	return most - most % modulo->n;
}

static uint64_t modulo_key(const void *state, uint32_t i)
{
	const struct modulo *modulo = state;

	return (ctl_scheme_random(i) >> 16) * modulo->n + i % modulo->n;
}

static uint64_t modulo_bytes(const void *state)
{
	const struct modulo *modulo = state;

	return sizeof(*modulo) + modulo->n * sizeof(struct chs_ring_id);
}

const struct ctl_scheme ctl_scheme_modulo = {
	.name = "modulo",
	.any = true,
	.size = sizeof(struct modulo),
	.build = modulo_build,
	.clear = modulo_clear,
	.steer = modulo_steer,
	.n_keys = modulo_n_keys,
	.key = modulo_key,
	.bytes = modulo_bytes,
};
