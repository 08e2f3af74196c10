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
#include "show.h"

/* Last: its types stand in for the kernel's. */
#include "ring.h"

static void set_conf(const struct ctl_service *svc, struct chs_ring_conf *conf)
{
	*conf = (struct chs_ring_conf) {
		.hash = svc->hash,
		.points = svc->points,
		.unit = svc->unit,
		.slots = svc->slots,
		.balance = svc->balance,
	};
	if (svc->seed_default)
		chs_ring_key_default(&conf->key);
	else
		chs_ring_key_set(&conf->key, svc->seed);
}

static void set_node(const struct ctl_backend *be, struct chs_ring_node *node)
{
	static const uint8_t mapped[] = { [10] = 0xff, 0xff };
	const struct ctl_addr *addr = &be->ep.addr;

	memset(node, 0, sizeof(*node));
	if (addr->len == 4) {
		memcpy(node->id.addr.b, mapped, sizeof(mapped));
		memcpy(node->id.addr.b + 12, addr->b, 4);
	} else {
		memcpy(node->id.addr.b, addr->b, 16);
	}
	node->id.port = cpu_to_be16(be->ep.port);
	node->weight = ctl_target_weight(be);
}

static int build(const struct ctl_arcs *arcs, struct chs_ring *ring)
{
	const struct ctl_service *svc = arcs->svc;
	struct chs_ring_node *nodes;
	struct chs_ring_conf conf;
	uint32_t i;
	int err;

	nodes = calloc(svc->n ? svc->n : 1, sizeof(*nodes));
	if (!nodes)
		return ctl_fail(ENOMEM, "out of memory");
	set_conf(svc, &conf);
	for (i = 0; i < svc->n; i++)
		set_node(&arcs->snap->backends[svc->first + i], &nodes[i]);
	err = chs_ring_build(ring, &conf, nodes, svc->n, NULL);
	free(nodes);
	return err ? ctl_fail(-err, "service %s: cannot build its ring", svc->name) : CTL_OK;
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

	if (!svc->seed_default && !(svc->present & CTL_BIT(CHS_A_SERVICE_SEED)))
		return ctl_fail(EPERM, "service %s: its seed is told only with CAP_NET_ADMIN",
				svc->name);
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
