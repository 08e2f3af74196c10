/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ways to spread keys over backends: the ring, and what others do instead.
 *
 * Pure: no netlink, no output. To be included last: ring.h has types that stand
 * in for the kernel's.
 */
#ifndef CHCTL_SCHEME_H
#define CHCTL_SCHEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring.h"

/**
 * struct ctl_scheme - a way to spread keys
 * @name: its name
 * @weighs: it knows weights
 * @any: any backend can go, not only the last
 * @linear: steering a key takes a step a backend
 * @size: bytes of its state, which is all zero before @build
 * @build: make the state of backends in the order of their identities; @prev is
 *	the state before one of them came, went or was weighed anew, or NULL.
 *	Returns 0 or a negative errno
 * @clear: free what @build has allocated, also after it has failed
 * @steer: owners of keys by their hashes, as indices of backends, or
 *	CHS_RING_NONE
 * @n_keys: number of keys that tell shares best: those that fall one into each
 *	slot of a table, or about as many as @most
 * @key: hash of such a key, @i below @n_keys
 * @bytes: memory that steering and the next change need
 */
struct ctl_scheme {
	const char *name;
	bool weighs;
	bool any;
	bool linear;
	size_t size;
	int (*build)(void *state, const struct chs_ring_conf *conf,
		     const struct chs_ring_node *nodes, uint32_t n, const void *prev);
	void (*clear)(void *state);
	void (*steer)(const void *state, const uint64_t *hashes, uint16_t *owners, size_t n);
	uint32_t (*n_keys)(const void *state, uint32_t most);
	uint64_t (*key)(const void *state, uint32_t i);
	uint64_t (*bytes)(const void *state);
};

/* Slots of Maglev's table. */
#define CTL_MAGLEV_SLOTS	65537

extern const struct ctl_scheme ctl_scheme_modulo;
extern const struct ctl_scheme ctl_scheme_ring1;
extern const struct ctl_scheme ctl_scheme_ring;
extern const struct ctl_scheme ctl_scheme_balanced;
extern const struct ctl_scheme ctl_scheme_maglev;
extern const struct ctl_scheme ctl_scheme_rendezvous;
extern const struct ctl_scheme ctl_scheme_jump;
extern const struct ctl_scheme ctl_scheme_slots;

/* All of them, NULL-ended. */
extern const struct ctl_scheme *const ctl_schemes[];

uint64_t ctl_scheme_mix(uint64_t x);
uint64_t ctl_scheme_random(uint32_t i);
uint32_t ctl_scheme_n_random(const void *state, uint32_t most);
uint64_t ctl_scheme_key_random(const void *state, uint32_t i);

#endif /* CHCTL_SCHEME_H */
