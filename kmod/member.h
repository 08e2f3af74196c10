/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Membership of a backend in a service: the state that outlives the versions of
 * the service, from when the backend is added until it is deleted and the last
 * flow that is on it is forgotten.
 */
#ifndef CHS_MEMBER_H
#define CHS_MEMBER_H

#include <linux/atomic.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include "ring.h"

struct chs_stats;

/**
 * struct chs_member - a backend through all versions of its service
 * @stats: its counters
 * @id: its identity
 * @index: where it is among the backends of the version in force; a hint
 * @freed: when it last stopped draining, seconds; its flows count as heard
 *	from then
 * @tracked: flows that are remembered as its
 * @refs: one a version of the service, one a flow
 */
struct chs_member {
	struct chs_stats *stats;
	struct chs_ring_id id;
	u32 index;
	u32 freed;
	atomic_t tracked;
	refcount_t refs;
};

struct chs_member *chs_member_alloc(const struct chs_ring_id *id);
struct chs_member *chs_member_get(struct chs_member *member);
void chs_member_put(struct chs_member *member);

#endif /* CHS_MEMBER_H */
