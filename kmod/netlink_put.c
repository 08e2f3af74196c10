// SPDX-License-Identifier: GPL-2.0-only
/* Objects as attributes of a message. */
#include "netlink.h"

#include "endpoint.h"
#include "flow.h"
#include "netlink_gen.h"
#include "netns.h"
#include "service.h"
#include "settle.h"
#include "stats.h"
#include "transition.h"
#include "vrf.h"

#include <linux/ktime.h>
#include <linux/timekeeping.h>
#include <net/genetlink.h>

static int put_ports(struct sk_buff *skb, const struct chs_service *svc)
{
	if (chs_service_any_port(svc))
		return nla_put_flag(skb, CHS_A_SERVICE_ANY_PORT);
	if (nla_put_be16(skb, CHS_A_SERVICE_PORT, htons(svc->lo)))
		return -EMSGSIZE;
	if (chs_service_one_port(svc))
		return 0;
	return nla_put_be16(skb, CHS_A_SERVICE_PORT_END, htons(svc->hi));
}

static int put_seed(struct sk_buff *skb, const struct chs_service *svc)
{
	__le64 seed[2] = {
		cpu_to_le64(svc->conf.key.key[0]),
		cpu_to_le64(svc->conf.key.key[1]),
	};

	return nla_put(skb, CHS_A_SERVICE_SEED, sizeof(seed), seed);
}

/**
 * chs_nl_put_address() - put an address of 4 or 16 bytes
 * @skb: message
 * @attr: attribute
 * @addr: address
 *
 * Context: any.
 * Return: 0 or -EMSGSIZE.
 */
int chs_nl_put_address(struct sk_buff *skb, int attr,
		       const union chs_addr *addr)
{
	return chs_addr_is_v4(addr) ?
	       nla_put_in_addr(skb, attr, addr->w[3]) :
	       nla_put(skb, attr, sizeof(addr->b), addr->b);
}

/**
 * chs_nl_put_name() - put a service of which only the name is told
 * @skb: message
 * @name: name
 *
 * Context: any.
 * Return: 0 or -EMSGSIZE.
 */
int chs_nl_put_name(struct sk_buff *skb, const char *name)
{
	struct nlattr *nest = nla_nest_start(skb, CHS_A_SERVICE);

	if (!nest || nla_put_string(skb, CHS_A_SERVICE_NAME, name))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_direct(struct sk_buff *skb, const struct chs_service *svc)
{
	if (!chs_service_is_direct(svc))
		return 0;
	if (nla_put_u8(skb, CHS_A_SERVICE_AFFINITY, svc->affinity) ||
	    nla_put_u32(skb, CHS_A_SERVICE_WINDOW, svc->window) ||
	    nla_put_u32(skb, CHS_A_SERVICE_MAX_FLOWS, svc->max_flows) ||
	    nla_put_u32(skb, CHS_A_SERVICE_TIMEOUT, svc->timeout) ||
	    (svc->mode == CHS_MODE_GUE &&
	     nla_put_be16(skb, CHS_A_SERVICE_GUE_PORT, svc->gue_port)) ||
	    (chs_service_has_source(svc) &&
	     chs_nl_put_address(skb, CHS_A_SERVICE_SOURCE, &svc->source)) ||
	    (svc->vrf_ref &&
	     nla_put_string(skb, CHS_A_SERVICE_VRF, svc->vrf_ref->name)))
		return -EMSGSIZE;
	return 0;
}

static int put_service(struct sk_buff *skb, const struct chs_service *svc,
		       bool seed)
{
	struct nlattr *nest = nla_nest_start(skb, CHS_A_SERVICE);

	if (!nest ||
	    nla_put_string(skb, CHS_A_SERVICE_NAME, svc->name) ||
	    nla_put_u8(skb, CHS_A_SERVICE_PROTO, svc->proto) ||
	    chs_nl_put_address(skb, CHS_A_SERVICE_ADDRESS, &svc->addr) ||
	    put_ports(skb, svc) ||
	    nla_put_u8(skb, CHS_A_SERVICE_MODE, svc->mode) ||
	    nla_put_u8(skb, CHS_A_SERVICE_HASH, svc->conf.hash) ||
	    nla_put_u32(skb, CHS_A_SERVICE_POINTS, svc->conf.points) ||
	    nla_put_u32(skb, CHS_A_SERVICE_UNIT, svc->conf.unit) ||
	    nla_put_u32(skb, CHS_A_SERVICE_SLOTS, svc->conf.slots) ||
	    nla_put_u32(skb, CHS_A_SERVICE_BALANCE, svc->conf.balance) ||
	    nla_put_u8(skb, CHS_A_SERVICE_ON_EMPTY, svc->on_empty) ||
	    nla_put_u8(skb, CHS_A_SERVICE_MASQUERADE, svc->masquerade) ||
	    put_direct(skb, svc) ||
	    (svc->forced && nla_put_flag(skb, CHS_A_SERVICE_FORCED)) ||
	    (seed && !svc->seed_default && put_seed(skb, svc)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_drops(struct sk_buff *skb, const struct chs_sums *sums)
{
	struct nlattr *nest = nla_nest_start(skb, CHS_A_STATS_DROPS);
	int i;

	BUILD_BUG_ON((int)CHS_DROP_NR != (int)CHS_A_DROPS_PAD - 1);

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < CHS_DROP_NR; i++) {
		if (nla_put_u64_64bit(skb, CHS_A_DROPS_NO_BACKEND + i,
				      sums->events[i], CHS_A_DROPS_PAD))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_icmp_ignored(struct sk_buff *skb, const struct chs_sums *sums)
{
	struct nlattr *nest = nla_nest_start(skb, CHS_A_STATS_ICMP_IGNORED);
	int i;

	BUILD_BUG_ON((int)CHS_EVENT_NR - (int)CHS_ICMP_BAD_CHECKSUM !=
		     (int)CHS_A_ICMP_IGNORED_PAD - 1);

	if (!nest)
		return -EMSGSIZE;
	for (i = CHS_ICMP_BAD_CHECKSUM; i < CHS_EVENT_NR; i++) {
		if (nla_put_u64_64bit(skb, CHS_A_ICMP_IGNORED_BAD_CHECKSUM +
					   i - CHS_ICMP_BAD_CHECKSUM,
				      sums->events[i], CHS_A_ICMP_IGNORED_PAD))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_stats(struct sk_buff *skb, const struct chs_service *svc)
{
	struct nlattr *nest;
	struct chs_sums sums;
	int i;

	/* In the order of their attributes. */
	BUILD_BUG_ON(CHS_ICMP_BAD_CHECKSUM - CHS_EVENT_UNRESOLVED !=
		     CHS_A_STATS_ICMP_IGNORED - CHS_A_STATS_UNRESOLVED);

	chs_stats_sum(svc->stats, &sums);
	nest = nla_nest_start(skb, CHS_A_SERVICE_STATUS_STATS);
	if (!nest ||
	    nla_put_u64_64bit(skb, CHS_A_STATS_PACKETS, sums.packets,
			      CHS_A_STATS_PAD) ||
	    nla_put_u64_64bit(skb, CHS_A_STATS_BYTES, sums.bytes,
			      CHS_A_STATS_PAD) ||
	    nla_put_u64_64bit(skb, CHS_A_STATS_NEW_FLOWS, sums.new_flows,
			      CHS_A_STATS_PAD) ||
	    nla_put_u64_64bit(skb, CHS_A_STATS_PASSED,
			      sums.events[CHS_EVENT_PASSED], CHS_A_STATS_PAD) ||
	    nla_put_u64_64bit(skb, CHS_A_STATS_ICMP_UNMATCHED,
			      sums.events[CHS_EVENT_ICMP_UNMATCHED],
			      CHS_A_STATS_PAD) ||
	    put_drops(skb, &sums) || put_icmp_ignored(skb, &sums))
		return -EMSGSIZE;
	for (i = CHS_EVENT_UNRESOLVED; i < CHS_ICMP_BAD_CHECKSUM; i++) {
		if (nla_put_u64_64bit(skb, CHS_A_STATS_UNRESOLVED +
					   i - CHS_EVENT_UNRESOLVED,
				      sums.events[i], CHS_A_STATS_PAD))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_affinity_status(struct sk_buff *skb,
			       const struct chs_service *svc)
{
	bool direct = chs_service_is_direct(svc);
	s64 left = 0;

	/* In mode nat a ring is always settled. */
	if (direct)
		left = chs_settle_left(svc, ktime_get_seconds());
	if (nla_put_u32(skb, CHS_A_SERVICE_STATUS_OPEN,
			chs_transition_open(svc)) ||
	    (left >= 0 &&
	     nla_put_u32(skb, CHS_A_SERVICE_STATUS_SETTLES_IN, left)) ||
	    (direct &&
	     nla_put_u32(skb, CHS_A_SERVICE_STATUS_TRACKED_FLOWS,
			 chs_flows_count(svc->flows))))
		return -EMSGSIZE;
	return 0;
}

/**
 * chs_nl_put_service_status() - put what is not configured
 * @skb: message
 * @svc: service
 *
 * Context: any; under RCU.
 * Return: 0 or -EMSGSIZE.
 */
int chs_nl_put_service_status(struct sk_buff *skb,
			      const struct chs_service *svc)
{
	struct nlattr *nest = nla_nest_start(skb, CHS_A_SERVICE_STATUS);

	if (!nest ||
	    nla_put_u8(skb, CHS_A_SERVICE_STATUS_SEED_DEFAULT,
		       svc->seed_default) ||
	    nla_put_u32(skb, CHS_A_SERVICE_STATUS_BACKENDS, svc->n_backends) ||
	    nla_put_u64_64bit(skb, CHS_A_SERVICE_STATUS_GENERATION,
			      svc->generation, CHS_A_SERVICE_STATUS_PAD) ||
	    nla_put_u64_64bit(skb, CHS_A_SERVICE_STATUS_DIGEST,
			      svc->ring->ring.digest,
			      CHS_A_SERVICE_STATUS_PAD) ||
	    (svc->vrf_ref &&
	     nla_put_u8(skb, CHS_A_SERVICE_STATUS_VRF_PRESENT,
			!!chs_vrf_ifindex(svc->vrf_ref))) ||
	    put_affinity_status(skb, svc) ||
	    put_stats(skb, svc))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * chs_nl_put_service() - put a service and its status
 * @skb: message
 * @svc: service
 * @seed: tell its seed too, unless it is the documented one
 *
 * Context: any; under RCU.
 * Return: 0 or -EMSGSIZE.
 */
int chs_nl_put_service(struct sk_buff *skb, const struct chs_service *svc,
		       bool seed)
{
	return put_service(skb, svc, seed) ?:
	       chs_nl_put_service_status(skb, svc);
}

static int put_backend(struct sk_buff *skb, const struct chs_backend *backend)
{
	struct nlattr *nest = nla_nest_start(skb, CHS_A_BACKEND);

	if (!nest ||
	    chs_nl_put_address(skb, CHS_A_BACKEND_ADDRESS,
			       &backend->id.addr) ||
	    nla_put_be16(skb, CHS_A_BACKEND_PORT, backend->id.port) ||
	    nla_put_u32(skb, CHS_A_BACKEND_WEIGHT, backend->weight) ||
	    nla_put_u8(skb, CHS_A_BACKEND_STATE, backend->state) ||
	    (*backend->zone &&
	     nla_put_string(skb, CHS_A_BACKEND_ZONE, backend->zone)) ||
	    (backend->deadline &&
	     nla_put_u32(skb, CHS_A_BACKEND_DEADLINE, backend->deadline)) ||
	    (backend->delete && nla_put_flag(skb, CHS_A_BACKEND_DELETE)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* 0 only when it has passed and the flows are void. */
static u32 deadline_left(const struct chs_backend *backend)
{
	if (!backend->expires)
		return 0;
	return max_t(time64_t, backend->expires - ktime_get_seconds(), 1);
}

/* Seconds for which a packet that a backend would have been sent back is news. */
#define BACK_RECENT	60

static u8 obstacle_of(const struct chs_service *svc,
		      const struct chs_backend *backend,
		      const struct chs_sums *sums)
{
	enum chsteer_obstacle obstacle;

	obstacle = chs_endpoint_judge(&backend->endpoint->key, svc->vrf_ref,
				      svc->cn->net);
	if (!obstacle && sums->back_idle >= 0 && sums->back_idle <= BACK_RECENT)
		obstacle = CHS_OBSTACLE_SENT_BACK;
	return obstacle;
}

static int put_direct_status(struct sk_buff *skb,
			     const struct chs_service *svc,
			     const struct chs_backend *backend,
			     const struct chs_sums *sums)
{
	if (!chs_service_is_direct(svc))
		return 0;
	if (svc->mode == CHS_MODE_ROUTE &&
	    nla_put_u64_64bit(skb, CHS_A_BACKEND_STATUS_SENT_BACK,
			      sums->sent_back, CHS_A_BACKEND_STATUS_PAD))
		return -EMSGSIZE;
	return nla_put_u32(skb, CHS_A_BACKEND_STATUS_TRACKED_FLOWS,
			   max(atomic_read(&backend->member->tracked), 0)) ?:
	       nla_put_u8(skb, CHS_A_BACKEND_STATUS_OBSTACLE,
			  obstacle_of(svc, backend, sums));
}

/* By the wall clock as it is set now. */
static u64 since_epoch(const struct chs_backend *backend)
{
	ktime_t real = ktime_mono_to_any(0, TK_OFFS_REAL);
	ktime_t boot = ktime_mono_to_any(0, TK_OFFS_BOOT);

	return ktime_divns(ktime_add(backend->since, ktime_sub(real, boot)),
			   NSEC_PER_SEC);
}

static int put_backend_status(struct sk_buff *skb,
			      const struct chs_service *svc,
			      const struct chs_backend *backend)
{
	u32 slots = svc->ring->ring.shares[backend - svc->backends];
	struct chs_sums sums;
	struct nlattr *nest;

	chs_stats_sum(backend->member->stats, &sums);
	nest = nla_nest_start(skb, CHS_A_BACKEND_STATUS);
	if (!nest ||
	    (backend->deadline &&
	     nla_put_u32(skb, CHS_A_BACKEND_STATUS_DEADLINE_LEFT,
			 deadline_left(backend))) ||
	    nla_put_u32(skb, CHS_A_BACKEND_STATUS_SLOTS, slots) ||
	    nla_put_u64_64bit(skb, CHS_A_BACKEND_STATUS_SINCE,
			      since_epoch(backend), CHS_A_BACKEND_STATUS_PAD) ||
	    (sums.idle >= 0 &&
	     nla_put_u32(skb, CHS_A_BACKEND_STATUS_IDLE, sums.idle)) ||
	    nla_put_u64_64bit(skb, CHS_A_BACKEND_STATUS_PACKETS, sums.packets,
			      CHS_A_BACKEND_STATUS_PAD) ||
	    nla_put_u64_64bit(skb, CHS_A_BACKEND_STATUS_BYTES, sums.bytes,
			      CHS_A_BACKEND_STATUS_PAD) ||
	    nla_put_u64_64bit(skb, CHS_A_BACKEND_STATUS_NEW_FLOWS,
			      sums.new_flows, CHS_A_BACKEND_STATUS_PAD) ||
	    put_direct_status(skb, svc, backend, &sums))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * chs_nl_put_backend() - put a backend, its status and its service's name
 * @skb: message
 * @svc: service
 * @backend: one of its entries
 *
 * Context: any; under RCU.
 * Return: 0 or -EMSGSIZE.
 */
int chs_nl_put_backend(struct sk_buff *skb, const struct chs_service *svc,
		       const struct chs_backend *backend)
{
	return chs_nl_put_name(skb, svc->name) ?: put_backend(skb, backend) ?:
	       put_backend_status(skb, svc, backend);
}

/**
 * chs_nl_put_flow() - put a flow that is remembered, and its service's name
 * @skb: message
 * @svc: service
 * @flow: flow
 *
 * Context: any; under RCU.
 * Return: 0 or -EMSGSIZE.
 */
int chs_nl_put_flow(struct sk_buff *skb, const struct chs_service *svc,
		    const struct chs_flow *flow)
{
	const struct chs_member *member = chs_flow_member(flow);
	u32 idle = chs_flow_idle(flow, ktime_get_seconds());
	struct nlattr *nest;

	if (chs_nl_put_name(skb, svc->name))
		return -EMSGSIZE;

	nest = nla_nest_start(skb, CHS_A_FLOW);
	if (!nest ||
	    nla_put_u8(skb, CHS_A_FLOW_PROTO, svc->proto) ||
	    chs_nl_put_address(skb, CHS_A_FLOW_SADDR, &flow->key.saddr) ||
	    chs_nl_put_address(skb, CHS_A_FLOW_DADDR, &svc->addr) ||
	    nla_put_be16(skb, CHS_A_FLOW_SPORT, flow->key.sport) ||
	    nla_put_be16(skb, CHS_A_FLOW_DPORT, flow->key.dport))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);

	nest = nla_nest_start(skb, CHS_A_FLOW_STATUS);
	if (!nest ||
	    chs_nl_put_address(skb, CHS_A_FLOW_STATUS_ADDRESS,
			       &member->id.addr) ||
	    nla_put_be16(skb, CHS_A_FLOW_STATUS_PORT,
			 member->id.port ?: flow->key.dport) ||
	    nla_put_u32(skb, CHS_A_FLOW_STATUS_IDLE, idle) ||
	    nla_put_u8(skb, CHS_A_FLOW_STATUS_REASON, flow->reason) ||
	    (READ_ONCE(flow->state) == CHS_FLOW_UNCONFIRMED &&
	     nla_put_flag(skb, CHS_A_FLOW_STATUS_UNCONFIRMED)) ||
	    (READ_ONCE(flow->ended) &&
	     nla_put_flag(skb, CHS_A_FLOW_STATUS_ENDED)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
