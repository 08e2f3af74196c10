// SPDX-License-Identifier: GPL-2.0-only
/* Services: versions, their memory and their rings. */
#include "service.h"

#include "charge.h"
#include "endpoint.h"
#include "flow.h"
#include "msg.h"
#include "stats.h"
#include "transition.h"
#include "vrf.h"

#include <linux/in.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

/* Backends that a service has room for from the start. */
#define ROOM_MIN	4

/**
 * chs_service_hash_name() - hash of a service's name
 * @name: name
 *
 * Context: any.
 * Return: the hash.
 */
u32 chs_service_hash_name(const char *name)
{
	return jhash(name, strlen(name), 0);
}

/**
 * chs_service_alloc() - make a service with every option at its default
 * @cn: its namespace
 *
 * Context: process; may sleep.
 * Return: the service, or NULL.
 */
struct chs_service *chs_service_alloc(struct chs_net *cn)
{
	struct chs_service *svc;

	svc = kzalloc(sizeof(*svc), GFP_KERNEL_ACCOUNT);
	if (!svc)
		return NULL;

	svc->stats = chs_stats_alloc(true);
	if (!svc->stats) {
		kfree(svc);
		return NULL;
	}

	svc->counters = svc->stats->counters;
	svc->cn = cn;
	svc->memcg = chs_charge_current();
	svc->mode = CHS_MODE_NAT;
	svc->affinity = CHS_AFFINITY_TRANSITION;
	svc->window = CHS_WINDOW_DEFAULT;
	svc->timeout = CHS_WINDOW_DEFAULT;
	svc->max_flows = CHS_FLOWS_DEFAULT;
	svc->gue_port = htons(CHS_GUE_PORT_DEFAULT);
	svc->on_empty = CHS_ON_EMPTY_REJECT;
	svc->seed_default = true;
	svc->conf.hash = CHS_FLOW_HASH_5TUPLE;
	svc->conf.points = CHS_RING_POINTS_DEFAULT;
	svc->conf.unit = CHS_RING_UNIT_DEFAULT;
	svc->conf.slots = CHS_RING_SLOTS_DEFAULT;
	svc->conf.balance = CHS_RING_BALANCE_DEFAULT;
	chs_ring_key_default(&svc->conf.key);
	return svc;
}

/**
 * chs_service_clone() - make a version that may be changed
 * @from: published version
 *
 * Context: process; may sleep; @from is kept by the namespace's lock.
 * Return: the clone, without a ring, or NULL.
 */
struct chs_service *chs_service_clone(const struct chs_service *from)
{
	struct chs_service *svc;
	u32 i;

	svc = kmemdup(from, sizeof(*from), GFP_KERNEL_ACCOUNT);
	if (!svc)
		return NULL;

	svc->ring = NULL;
	svc->arcs = NULL;
	svc->backends = NULL;
	RCU_INIT_POINTER(svc->transition, NULL);
	chs_flows_get(svc->flows);
	svc->room = 0;
	svc->n_backends = 0;
	chs_stats_get(svc->stats);
	chs_charge_get(svc->memcg);
	chs_vrf_hold(svc->vrf_ref);
	if (chs_service_reserve(svc, from->n_backends)) {
		chs_service_free(svc);
		return NULL;
	}

	for (i = 0; i < from->n_backends; i++) {
		svc->backends[i] = from->backends[i];
		svc->backends[i].named = false;
		chs_member_get(svc->backends[i].member);
		chs_endpoint_hold(svc->backends[i].endpoint);
	}
	svc->n_backends = from->n_backends;
	return svc;
}

static void ring_put(struct chs_ring_ref *ref)
{
	if (!ref || !refcount_dec_and_test(&ref->refs))
		return;

	chs_ring_clear(&ref->ring);
	kfree(ref);
}

/**
 * chs_service_free() - free a version
 * @svc: a version that no packet sees, or NULL
 *
 * Context: process; may sleep.
 */
void chs_service_free(struct chs_service *svc)
{
	u32 i;

	if (!svc)
		return;

	for (i = 0; i < svc->n_backends; i++)
		chs_backend_release(svc, &svc->backends[i]);
	kvfree(svc->backends);
	kvfree(rcu_dereference_protected(svc->transition, true));
	chs_flows_put(svc->flows);
	ring_put(svc->ring);
	chs_stats_put(svc->stats);
	mem_cgroup_put(svc->memcg);
	/* Last, for endpoints read it. */
	chs_vrf_put(svc->cn, svc->vrf_ref);
	kfree(svc);
}

/**
 * chs_service_reserve() - make room for backends
 * @svc: a version that is not published
 * @n_backends: how many must fit
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int chs_service_reserve(struct chs_service *svc, u32 n_backends)
{
	struct chs_backend *backends;
	u32 room;

	if (n_backends <= svc->room)
		return 0;

	room = max3(n_backends, svc->room * 2, (u32)ROOM_MIN);
	backends = kvmalloc_array(room, sizeof(*backends), GFP_KERNEL_ACCOUNT);
	if (!backends)
		return -ENOMEM;

	if (svc->n_backends)
		memcpy(backends, svc->backends,
		       svc->n_backends * sizeof(*backends));
	kvfree(svc->backends);
	svc->backends = backends;
	svc->room = room;
	return 0;
}

static bool same_ring(const struct chs_service *svc,
		      const struct chs_service *prev)
{
	u32 i;

	if (svc->n_backends != prev->n_backends ||
	    svc->conf.balance != prev->conf.balance)
		return false;

	for (i = 0; i < svc->n_backends; i++) {
		if (chs_ring_id_cmp(&svc->backends[i].id,
				    &prev->backends[i].id) ||
		    chs_backend_share(&svc->backends[i]) !=
		    chs_backend_share(&prev->backends[i]))
			return false;
	}
	return true;
}

static int build_ring(struct chs_service *svc, const struct chs_ring *prev)
{
	struct chs_ring_node *nodes;
	struct chs_ring_ref *ref;
	int err = -ENOMEM;
	u32 i;

	ref = kzalloc(sizeof(*ref), GFP_KERNEL_ACCOUNT);
	nodes = kvmalloc_array(max(svc->n_backends, 1U), sizeof(*nodes),
			       GFP_KERNEL_ACCOUNT);
	if (!ref || !nodes)
		goto out;

	for (i = 0; i < svc->n_backends; i++) {
		nodes[i].id = svc->backends[i].id;
		nodes[i].weight = chs_backend_share(&svc->backends[i]);
	}

	err = chs_ring_build(&ref->ring, &svc->conf, nodes, svc->n_backends,
			     prev);
	if (err)
		goto out;

	refcount_set(&ref->refs, 1);
	svc->ring = ref;
	ref = NULL;
out:
	kvfree(nodes);
	kfree(ref);
	return err;
}

/**
 * chs_service_points() - points that a version's ring has
 * @svc: service
 *
 * Context: any.
 * Return: the number; it may be more than a ring can have.
 */
u64 chs_service_points(const struct chs_service *svc)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < svc->n_backends; i++)
		sum += chs_ring_node_points(&svc->conf,
					    chs_backend_share(&svc->backends[i]));
	return sum;
}

static int build_endpoints(struct chs_service *svc)
{
	struct chs_endpoint_key key = {
		.source = svc->source,
		.vrf = svc->vrf,
		.mode = svc->mode,
	};
	struct chs_backend *backend;
	u32 i;

	for (i = 0; i < svc->n_backends; i++) {
		backend = &svc->backends[i];
		key.addr = backend->id.addr;
		if (backend->endpoint &&
		    !memcmp(&backend->endpoint->key, &key, sizeof(key)))
			continue;
		chs_endpoint_put(svc->cn, backend->endpoint);
		backend->endpoint = chs_endpoint_get(svc->cn, &key, svc->vrf_ref);
		if (!backend->endpoint)
			return -ENOMEM;
	}
	return 0;
}

/*
 * Build the parts of a version that only the direct modes have: next hops, flow
 * table, arc states.
 */
static int build_direct(struct chs_service *svc,
			const struct chs_service *prev)
{
	int err;

	err = build_endpoints(svc);
	if (err)
		return err;

	if (svc->affinity == CHS_AFFINITY_RING) {
		chs_flows_put(svc->flows);
		svc->flows = NULL;
		return 0;
	}
	if (!svc->flows) {
		svc->flows = chs_flows_alloc(svc);
		if (!svc->flows)
			return -ENOMEM;
	}
	return prev ? chs_transition_build(svc, prev, ktime_get_seconds()) : 0;
}

/**
 * chs_service_build() - give a clone its ring
 * @svc: a version that is not published
 * @prev: the version that it is to replace, or NULL
 *
 * Shares the ring of @prev if nothing that it is made by has changed.
 *
 * Context: process; may sleep.
 * Return: 0, -ENOSPC if there are too many points, or -ENOMEM.
 */
int chs_service_build(struct chs_service *svc, const struct chs_service *prev)
{
	int err;

	if (prev && same_ring(svc, prev)) {
		refcount_inc(&prev->ring->refs);
		svc->ring = prev->ring;
	} else {
		err = build_ring(svc, prev ? &prev->ring->ring : NULL);
		if (err)
			return err;
		svc->generation++;
	}

	svc->arcs = svc->ring->ring.arcs;
	svc->empty = svc->arcs[0] == CHS_RING_NONE;
	return chs_service_is_direct(svc) ? build_direct(svc, prev) : 0;
}

/**
 * chs_service_published() - what follows when a version is in force
 * @svc: the version
 * @prev: the version that it has replaced, or NULL
 *
 * Context: process; the namespace's lock held.
 */
void chs_service_published(struct chs_service *svc,
			   const struct chs_service *prev)
{
	u32 now = ktime_get_seconds();
	u32 i, at;

	for (i = 0; i < svc->n_backends; i++)
		WRITE_ONCE(svc->backends[i].member->index, i);

	for (i = 0; prev && i < prev->n_backends; i++) {
		at = chs_backend_index(svc, prev->backends[i].member);
		if (at != CHS_RING_NONE &&
		    chs_backend_health(&prev->backends[i]) ==
			    CHS_HEALTH_DRAINING &&
		    chs_backend_health(&svc->backends[at]) == CHS_HEALTH_UP)
			WRITE_ONCE(svc->backends[at].member->freed, now);
	}
}

/**
 * chs_service_same() - whether two versions have the same options
 * @a: service
 * @b: service
 *
 * Context: any.
 * Return: true if so; backends are not looked at.
 */
bool chs_service_same(const struct chs_service *a, const struct chs_service *b)
{
	return a->on_empty == b->on_empty && a->masquerade == b->masquerade &&
	       a->conf.balance == b->conf.balance &&
	       a->affinity == b->affinity && a->window == b->window &&
	       a->timeout == b->timeout && a->timeout_set == b->timeout_set &&
	       a->max_flows == b->max_flows &&
	       chs_addr_equal(&a->source, &b->source);
}

static bool unchanged_backend(const struct chs_backend *a,
			      const struct chs_backend *b)
{
	return chs_backend_same(a, b) && a->expires == b->expires &&
	       a->expired == b->expired;
}

/**
 * chs_service_unchanged() - whether a clone need not be published
 * @old: version in force
 * @new: its clone
 *
 * Context: any.
 * Return: true if it is the same in all that can be changed.
 */
bool chs_service_unchanged(const struct chs_service *old,
			   const struct chs_service *new)
{
	u32 i;

	if (!chs_service_same(old, new) || old->n_backends != new->n_backends)
		return false;
	for (i = 0; i < old->n_backends; i++) {
		if (!unchanged_backend(&old->backends[i], &new->backends[i]))
			return false;
	}
	return true;
}

/* Off by more than a quarter of its target. */
static bool is_off_target(u32 slots, u32 all_slots, u32 weight, u64 sum)
{
	u64 got = slots * sum;
	u64 due = (u64)all_slots * weight;

	return (got > due ? got - due : due - got) * 4 > due;
}

/**
 * chs_service_warn() - warn of a ring that is not what was meant
 * @svc: a version with a ring
 * @msg: where to
 *
 * Context: any.
 */
void chs_service_warn(const struct chs_service *svc, struct chs_msg *msg)
{
	const u32 *slots = svc->ring->ring.shares;
	u32 i, weight, heaviest = 0, off = 0, first = 0;
	char buf[CHS_ENDPOINT_STRLEN];
	u64 sum = 0;

	for (i = 0; i < svc->n_backends; i++) {
		weight = chs_backend_share(&svc->backends[i]);
		heaviest = max(heaviest, weight);
		sum += weight;
	}
	if (!sum)
		return;

	if (heaviest * 2 < svc->conf.unit)
		chs_msg_warn(msg,
			     "service '%s': its largest weight is %u, under half of unit %u: the ring is coarse",
			     svc->name, heaviest, svc->conf.unit);

	for (i = 0; i < svc->n_backends; i++) {
		weight = chs_backend_share(&svc->backends[i]);
		if (!weight ||
		    !is_off_target(slots[i], svc->conf.slots, weight, sum))
			continue;
		if (!off++)
			first = i;
	}
	if (off)
		chs_msg_warn(msg,
			     "service '%s': %u of its backends are off their target share by over 25 %%, the first %s with %u of %u arcs: raise points or slots",
			     svc->name, off,
			     chs_endpoint_str(buf, &svc->backends[first].id.addr,
					      svc->backends[first].id.port),
			     slots[first], svc->conf.slots);
}

static const char *proto_str(u8 proto)
{
	switch (proto) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	default:
		return "sctp";
	}
}

/**
 * chs_service_str() - print protocol, address and ports of a service
 * @buf: CHS_ENDPOINT_STRLEN bytes
 * @svc: service
 *
 * Context: any.
 * Return: @buf.
 */
const char *chs_service_str(char *buf, const struct chs_service *svc)
{
	bool v6 = chs_service_is_v6(svc);
	char addr[CHS_ENDPOINT_STRLEN];
	char port[16];

	if (chs_service_any_port(svc))
		strscpy(port, "*", sizeof(port));
	else if (chs_service_one_port(svc))
		snprintf(port, sizeof(port), "%u", svc->lo);
	else
		snprintf(port, sizeof(port), "%u-%u", svc->lo, svc->hi);

	snprintf(buf, CHS_ENDPOINT_STRLEN, "%s %s%s%s:%s",
		 proto_str(svc->proto), v6 ? "[" : "",
		 chs_addr_str(addr, &svc->addr), v6 ? "]" : "", port);
	return buf;
}
