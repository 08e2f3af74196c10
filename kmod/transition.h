/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arcs of a service that are not settled.
 *
 * A version of a service has a struct chs_transition only while some arc is
 * not settled; a packet that finds none has nothing more to look at. It is made
 * with the version. After that only settle.c changes it, and only by taking
 * back what an arc remembers, one arc at a time, which a packet may see at any
 * moment.
 */
#ifndef CHS_TRANSITION_H
#define CHS_TRANSITION_H

#include <linux/types.h>

#include "affinity.h"

struct chs_service;

/* In place of a former owner. */
#define CHS_ARC_CODE_SETTLED	0xffff
#define CHS_ARC_CODE_CLOSING	0xfffe

/**
 * struct chs_transition - arcs that are not settled
 * @n_open: number of open arcs
 * @n_closing: number of closing ones
 * @built: when it was made, seconds
 * @held: a flow in a closing arc is on a backend that drains
 * @until: when the last of the others in closing arcs will have been idle for
 *	too long if nothing more is heard of it, seconds
 * @rcu: frees it
 * @since: of an open arc: when it was opened, seconds
 * @former: former owner of each arc, or CHS_ARC_CODE_*
 */
struct chs_transition {
	u32 n_open;
	u32 n_closing;
	u32 built;
	bool held;
	u32 until;
	struct rcu_head rcu;
	u32 *since;
	u16 former[];
};

int chs_transition_build(struct chs_service *svc,
			 const struct chs_service *prev, u32 now);
void chs_transition_begin(const struct chs_service *svc, u32 now);
void chs_transition_arc(const struct chs_service *svc, u32 at, u32 now,
			struct chs_arc *arc);
u32 chs_transition_open(const struct chs_service *svc);
s64 chs_transition_left(const struct chs_service *svc, u32 at, u32 now);

#endif /* CHS_TRANSITION_H */
