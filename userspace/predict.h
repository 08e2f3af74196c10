/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arcs that a change of a service moves, computed by the module's own ring.
 */
#ifndef CHCTL_PREDICT_H
#define CHCTL_PREDICT_H

#include "snap.h"

struct chs_ring;

/* Owner of an arc that nobody owns. */
#define CTL_NOBODY	0xffff

/**
 * struct ctl_arcs - a service's arcs
 * @snap: what the service is in
 * @svc: the service
 * @ring: its ring
 * @owners: owner of each arc of the ring: index of the backend within the service
 * @slots: number of arcs
 */
struct ctl_arcs {
	const struct ctl_snap *snap;
	const struct ctl_service *svc;
	struct chs_ring *ring;
	const uint16_t *owners;
	uint32_t slots;
};

/**
 * struct ctl_move - arcs that go from one backend to another
 * @from: index among the backends before, or CTL_NOBODY
 * @to: index among the backends after, or CTL_NOBODY
 * @slots: number of arcs
 */
struct ctl_move {
	uint16_t from;
	uint16_t to;
	uint32_t slots;
};

/**
 * struct ctl_change - what becomes of a service
 * @name: its name
 * @before: as it is; without a service if it is new
 * @after: as it would be; without a service if it goes
 * @rehashed: flows are dealt anew, so that arcs cannot be compared
 * @slots: what the numbers of arcs below are parts of
 * @moved: arcs that change owner
 * @unavoidable: arcs that must, for the shares to become what they become
 * @moves: by the order of backends
 * @n_moves: number of them
 *
 * Both rings are cut into @slots arcs here, however they are cut themselves.
 */
struct ctl_change {
	const char *name;
	struct ctl_arcs before;
	struct ctl_arcs after;
	bool rehashed;
	uint32_t slots;
	uint32_t moved;
	uint32_t unavoidable;
	struct ctl_move *moves;
	uint32_t n_moves;
};

/* predict.c */
int ctl_predict_arcs(struct ctl_arcs *arcs);
void ctl_predict_free(struct ctl_arcs *arcs);
uint32_t ctl_predict_moved(const struct ctl_change *change);
uint32_t ctl_predict_moved_of(const struct ctl_change *change);

/* change.c */
int ctl_change_make(struct ctl_change *change);
void ctl_change_free(struct ctl_change *change);

#endif /* CHCTL_PREDICT_H */
