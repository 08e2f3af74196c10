// SPDX-License-Identifier: GPL-2.0-only
/*
 * A service's ring, built in the tool by the module's own code, from what the
 * module tells of the service.
 */
#include "predict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"

/* Last: its types stand in for the kernel's. */
#include "nodes.h"

static int build(const struct ctl_arcs *arcs, struct chs_ring *ring)
{
	struct ctl_nodes nodes;
	int err, ret;

	ret = ctl_nodes_of(arcs->snap, arcs->svc, &nodes);
	if (!ret) {
		err = chs_ring_build(ring, &nodes.conf, nodes.nodes, nodes.n, NULL);
		if (err)
			ret = ctl_fail(-err, "service %s: cannot build its ring",
				       arcs->svc->name);
	}
	ctl_nodes_free(&nodes);
	return ret;
}

/**
 * ctl_predict_arcs() - build a service's ring
 * @arcs: service and snapshot; its ring goes there
 *
 * The module has built the same ring, also where it is only tried, and has told
 * its digest, in which every arc's owner is.
 *
 * Return: CTL_OK or CTL_FAILED; ctl_predict_free() in any case.
 */
int ctl_predict_arcs(struct ctl_arcs *arcs)
{
	const struct ctl_service *svc = arcs->svc;
	int ret;

	arcs->ring = calloc(1, sizeof(*arcs->ring));
	if (!arcs->ring)
		return ctl_fail(ENOMEM, "out of memory");
	ret = build(arcs, arcs->ring);
	if (ret)
		return ret;

	if (arcs->ring->digest != svc->digest)
		return ctl_fail(CTL_EMISMATCH,
				"service %s: tool and module make different rings of it: do the versions match? (chctl -V)",
				svc->name);
	arcs->slots = arcs->ring->conf.slots;
	arcs->owners = arcs->ring->arcs;
	return CTL_OK;
}

/**
 * ctl_predict_free() - free a ring
 * @arcs: whose, built or not
 */
void ctl_predict_free(struct ctl_arcs *arcs)
{
	if (arcs->ring)
		chs_ring_clear(arcs->ring);
	free(arcs->ring);
	arcs->ring = NULL;
	arcs->owners = NULL;
}

/**
 * ctl_predict_moved() - arcs that a change moves, as the module counts them
 * @change: its rings are built; there was a service before
 *
 * Return: number of arcs, of ctl_predict_moved_of().
 */
uint32_t ctl_predict_moved(const struct ctl_change *change)
{
	return chs_ring_moved(change->before.ring, change->after.ring);
}

/**
 * ctl_predict_moved_of() - number of arcs that ctl_predict_moved() is a part of
 * @change: its rings are built; there was a service before
 *
 * Return: arcs of the finer ring.
 */
uint32_t ctl_predict_moved_of(const struct ctl_change *change)
{
	return chs_ring_moved_of(change->before.ring, change->after.ring);
}
