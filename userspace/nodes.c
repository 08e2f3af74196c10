// SPDX-License-Identifier: GPL-2.0-only
/*
 * From services and backends to what a ring is built of, as the module does it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "show.h"

/* Last: its types stand in for the kernel's. */
#include "nodes.h"

static int check_range(const char *what, uint32_t value, uint32_t min, uint32_t max)
{
	if (value >= min && value <= max)
		return CTL_OK;
	return ctl_usage("%s '%u': not %u to %u", what, value, min, max);
}

/**
 * ctl_nodes_check() - check what a ring is to be made by
 * @conf: configuration
 *
 * Return: CTL_OK or CTL_USAGE.
 */
int ctl_nodes_check(const struct chs_ring_conf *conf)
{
	int ret;

	ret = check_range("points", conf->points, CHS_RING_POINTS_MIN, CHS_RING_POINTS_MAX);
	if (!ret)
		ret = check_range("unit", conf->unit, CHS_RING_UNIT_MIN, CHS_RING_UNIT_MAX);
	if (!ret)
		ret = check_range("slots", conf->slots, CHS_RING_SLOTS_MIN, CHS_RING_SLOTS_MAX);
	if (!ret && (conf->slots & (conf->slots - 1)))
		ret = ctl_usage("slots '%u': not a power of two", conf->slots);
	if (!ret && conf->balance && (conf->balance < CHS_RING_BALANCE_MIN ||
				      conf->balance > CHS_RING_BALANCE_MAX))
		ret = ctl_usage("balance '%u.%02u': neither off nor 1.01 to 2.00",
				conf->balance / 100, conf->balance % 100);
	return ret;
}

static void conf_of(const struct ctl_service *svc, struct chs_ring_conf *conf)
{
	memset(conf, 0, sizeof(*conf));
	chs_ring_key_set(&conf->key, svc->seed);
	conf->hash = svc->hash;
	conf->points = svc->points;
	conf->unit = svc->unit;
	conf->slots = svc->slots;
	conf->balance = svc->balance;
}

/**
 * ctl_nodes_defaults() - give a service the defaults that its ring is made by
 * @svc: service, with what was said of it
 *
 * Return: CTL_OK, or CTL_USAGE if what was said is out of range.
 */
int ctl_nodes_defaults(struct ctl_service *svc)
{
	struct chs_ring_conf conf;

	if (!(svc->present & CTL_BIT(CHS_A_SERVICE_POINTS)))
		svc->points = CHS_RING_POINTS_DEFAULT;
	if (!(svc->present & CTL_BIT(CHS_A_SERVICE_UNIT)))
		svc->unit = CHS_RING_UNIT_DEFAULT;
	if (!(svc->present & CTL_BIT(CHS_A_SERVICE_SLOTS)))
		svc->slots = CHS_RING_SLOTS_DEFAULT;
	if (!(svc->present & CTL_BIT(CHS_A_SERVICE_BALANCE)))
		svc->balance = CHS_RING_BALANCE_DEFAULT;
	if (!(svc->present & CTL_BIT(CHS_A_SERVICE_SEED)))
		memcpy(svc->seed, ctl_seed_default, CTL_SEED_BYTES);
	svc->seed_default = !memcmp(svc->seed, ctl_seed_default, CTL_SEED_BYTES);
	conf_of(svc, &conf);
	return ctl_nodes_check(&conf);
}

/**
 * ctl_node_id() - identity of a backend
 * @ep: its address and port
 * @id: where it goes
 */
void ctl_node_id(const struct ctl_endpoint *ep, struct chs_ring_id *id)
{
	__be32 ip;

	memset(id, 0, sizeof(*id));
	if (ep->addr.len == 4) {
		memcpy(&ip, ep->addr.b, sizeof(ip));
		chs_addr_set_v4(&id->addr, ip);
	} else {
		memcpy(id->addr.b, ep->addr.b, sizeof(id->addr.b));
	}
	id->port = htons(ep->kind == CTL_PORT_ONE ? ep->port : 0);
}

/**
 * ctl_node_endpoint() - address and port of a backend
 * @id: its identity
 * @ep: where they go
 */
void ctl_node_endpoint(const struct chs_ring_id *id, struct ctl_endpoint *ep)
{
	const bool v4 = chs_addr_is_v4(&id->addr);

	memset(ep, 0, sizeof(*ep));
	ep->addr.len = v4 ? 4 : 16;
	memcpy(ep->addr.b, id->addr.b + (v4 ? 12 : 0), ep->addr.len);
	ep->port = ntohs(id->port);
	ep->kind = ep->port ? CTL_PORT_ONE : CTL_PORT_NONE;
}

/**
 * ctl_nodes_make() - have room for nodes
 * @nodes: its configuration is set, the rest is written
 * @n: number of them
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_nodes_make(struct ctl_nodes *nodes, uint32_t n)
{
	nodes->nodes = calloc(n ? n : 1, sizeof(*nodes->nodes));
	nodes->n = n;
	return nodes->nodes ? CTL_OK : ctl_fail(ENOMEM, "out of memory");
}

/**
 * ctl_nodes_of() - what a service's ring is built of
 * @snap: snapshot
 * @svc: service in it
 * @nodes: where it goes: all its backends in their order, of weight 0 those that
 *	take no new flows; to be freed with ctl_nodes_free() also on failure
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_nodes_of(const struct ctl_snap *snap, const struct ctl_service *svc,
		 struct ctl_nodes *nodes)
{
	const struct ctl_backend *be;
	uint32_t i;
	int ret;

	memset(nodes, 0, sizeof(*nodes));
	if (!svc->seed_default && !(svc->present & CTL_BIT(CHS_A_SERVICE_SEED)))
		return ctl_fail(EPERM, "service %s: its seed is told only with CAP_NET_ADMIN",
				svc->name);
	conf_of(svc, &nodes->conf);
	if (svc->seed_default)
		chs_ring_key_default(&nodes->conf.key);
	ret = ctl_nodes_make(nodes, svc->n);
	if (ret)
		return ret;

	for (i = 0; i < svc->n; i++) {
		be = &snap->backends[svc->first + i];
		ctl_node_id(&be->ep, &nodes->nodes[i].id);
		nodes->nodes[i].weight = ctl_target_weight(be);
	}
	return CTL_OK;
}

/**
 * ctl_nodes_active() - leave those only that take new flows
 * @nodes: from ctl_nodes_of()
 * @name: the service's, for the error
 *
 * Return: CTL_OK, or CTL_FAILED if there is none.
 */
int ctl_nodes_active(struct ctl_nodes *nodes, const char *name)
{
	uint32_t i, n = 0;

	for (i = 0; i < nodes->n; i++) {
		if (nodes->nodes[i].weight)
			nodes->nodes[n++] = nodes->nodes[i];
	}
	nodes->n = n;
	return n ? CTL_OK :
	       ctl_fail(EINVAL, "service %s: no backend that takes new flows", name);
}

/**
 * ctl_nodes_free() - free what a ring is built of
 * @nodes: all zero, or from ctl_nodes_of() or ctl_nodes_make()
 */
void ctl_nodes_free(struct ctl_nodes *nodes)
{
	free(nodes->nodes);
	nodes->nodes = NULL;
}

/**
 * ctl_ring_failed() - record that a ring could not be built
 * @err: what chs_ring_build() returned
 *
 * Return: CTL_FAILED, or CTL_OK for 0.
 */
int ctl_ring_failed(int err)
{
	if (!err)
		return CTL_OK;
	if (err == -ENOSPC)
		return ctl_fail(ENOSPC, "more than %d backends or %u points", CHS_RING_NODES_MAX,
				CHS_RING_POINTS_TOTAL_MAX);
	return ctl_fail(-err, "cannot build a ring%s", err == -ENOMEM ? ": out of memory" : "");
}
