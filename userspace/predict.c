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
 * @arcs: service and snapshot; its arcs go there
 *
 * The module has built the same ring, also where it is only tried, and has told
 * its digest, in which every arc's owner is.
 *
 * Return: CTL_OK or CTL_FAILED; the arcs are the caller's to free.
 */
int ctl_predict_arcs(struct ctl_arcs *arcs)
{
	const struct ctl_service *svc = arcs->svc;
	struct chs_ring ring;
	int ret;

	ret = build(arcs, &ring);
	if (ret)
		return ret;

	if (ring.digest != svc->digest) {
		ret = ctl_fail(CTL_EMISMATCH,
			       "service %s: tool and module make different rings of it: do the versions match? (chctl -V)",
			       svc->name);
	} else {
		arcs->slots = ring.conf.slots;
		arcs->owners = malloc(arcs->slots * sizeof(*arcs->owners));
		if (arcs->owners)
			memcpy(arcs->owners, ring.arcs, arcs->slots * sizeof(*arcs->owners));
		else
			ret = ctl_fail(ENOMEM, "out of memory");
	}
	chs_ring_clear(&ring);
	return ret;
}
