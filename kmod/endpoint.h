/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Endpoints of the direct modes: an address, the way to it, and what stands in
 * the way. Services that have the same backend share one, so that a route is
 * looked up once a CPU and address, not once a service.
 */
#ifndef CHS_ENDPOINT_H
#define CHS_ENDPOINT_H

#include <linux/build_bug.h>
#include <linux/chsteer.h>
#include <linux/local_lock.h>
#include <linux/preempt.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/net_debug.h>
#include <net/net_namespace.h>
#include <net/route.h>

#include "tuple.h"

struct chs_net;
struct chs_service;
struct chs_vrf;

/**
 * struct chs_endpoint_key - what makes an endpoint another one
 * @addr: address
 * @source: outer source address; all zero is by route
 * @vrf: number of the VRF in which it is resolved, or 0
 * @mode: enum chsteer_mode
 *
 * Hashed and compared byte by byte, so that there must be no padding.
 */
struct chs_endpoint_key {
	union chs_addr addr;
	union chs_addr source;
	s32 vrf;
	u32 mode;
};

static_assert(sizeof(struct chs_endpoint_key) ==
	      2 * sizeof(union chs_addr) + sizeof(s32) + sizeof(u32));

/**
 * struct chs_hop - the way to an endpoint, as one CPU has found it
 * @dst: route, with a reference; NULL if there is none
 * @cookie: by which it tells whether it is still valid
 * @epoch: struct chs_endpoint.epoch when it was looked up; 0 if there is none
 * @nexthop: neighbour on @dst's device
 * @source: address of this host that the route prefers, or the configured one
 *
 * What dst_cache does, but that a packet takes no reference: the route is freed
 * after a grace period, and who keeps a packet for longer takes one then
 * (skb_dst_force()).
 */
struct chs_hop {
	struct dst_entry *dst;
	u32 cookie;
	u32 epoch;
	union chs_addr nexthop;
	union chs_addr source;
};

/**
 * struct chs_hop_slot - the way to an endpoint, of one CPU
 * @bh_lock: guards @hop on PREEMPT_RT, where disabling bottom halves need not
 *	exclude another task on the same CPU; elsewhere it costs nothing
 * @hop: the way
 */
struct chs_hop_slot {
	local_lock_t bh_lock;
	struct chs_hop hop;
};

/**
 * struct chs_endpoint - an address that packets are sent to
 * @hops: the way to it, of every CPU; each is written by its own CPU only; only
 *	one without an obstacle
 * @epoch: ways of another one are looked up again; odd, so never 0
 * @refs: one a backend of a version of a service
 * @v6: its address is IPv6
 * @key: which
 * @vrf: the VRF of that number, which the services that hold this keep, or NULL
 * @node: in struct chs_net.endpoints
 */
struct chs_endpoint {
	struct chs_hop_slot __percpu *hops;
	u32 epoch;
	refcount_t refs;
	bool v6;
	struct chs_endpoint_key key;
	const struct chs_vrf *vrf;
	struct rhash_head node;
};

static inline bool chs_mode_is_tunnel(u8 mode)
{
	return mode == CHS_MODE_IPIP || mode == CHS_MODE_GUE;
}

int chs_endpoint_table_init(struct chs_net *cn);
void chs_endpoint_table_exit(struct chs_net *cn);
struct chs_endpoint *chs_endpoint_get(struct chs_net *cn,
				      const struct chs_endpoint_key *key,
				      const struct chs_vrf *vrf);
void chs_endpoint_hold(struct chs_endpoint *endpoint);
void chs_endpoint_put(struct chs_net *cn, struct chs_endpoint *endpoint);
void chs_endpoint_forget_routes(struct chs_net *cn);

enum chsteer_obstacle chs_endpoint_find(const struct chs_endpoint *endpoint,
					struct net *net, struct chs_hop *hop);
u32 chs_endpoint_mtu(const struct chs_endpoint *endpoint, struct net *net);
bool chs_endpoint_exists(struct chs_net *cn, const struct chs_endpoint_key *key);
struct neighbour *chs_endpoint_neighbour(const struct chs_hop *hop);
enum chsteer_obstacle chs_endpoint_judge(const struct chs_endpoint_key *key,
					 const struct chs_vrf *vrf,
					 struct net *net);

/*
 * dst_check() of an IPv4 route, without its two indirect calls for two comparisons;
 * those remain for a route through IPsec.
 */
static inline bool chs_hop_valid_v4(const struct chs_hop *hop,
				    const struct net *net)
{
	const struct rtable *rt = container_of(hop->dst, struct rtable, dst);

	return READ_ONCE(rt->dst.obsolete) == DST_OBSOLETE_FORCE_CHK &&
	       rt->rt_genid == rt_genid_ipv4(net);
}

/**
 * chs_endpoint_lock() - keep this CPU's way to an endpoint as it is
 * @endpoint: endpoint
 *
 * Nothing is sent under it: a packet may come back here.
 *
 * Context: bottom halves off.
 */
static __always_inline void
chs_endpoint_lock(const struct chs_endpoint *endpoint)
{
	local_lock_nested_bh(&endpoint->hops->bh_lock);
}

/**
 * chs_endpoint_unlock() - let this CPU's way to an endpoint change
 * @endpoint: endpoint
 *
 * Context: bottom halves off. What was read of the way stays as long as RCU is
 * held.
 */
static __always_inline void
chs_endpoint_unlock(const struct chs_endpoint *endpoint)
{
	local_unlock_nested_bh(&endpoint->hops->bh_lock);
}

/**
 * chs_hop_link_mtu_v4() - longest IPv4 packet that a link to a backend takes
 * @dst: route to it, of mode route
 *
 * As the kernel's forwarding finds it, but that a path MTU is never looked at,
 * whatever ip_forward_use_pmtu says: on a link there is no path, and what this
 * host's own traffic was told of one does not concern other people's packets.
 *
 * Context: under RCU.
 * Return: the MTU of the route's configuration, or else of its device.
 */
static inline u32 chs_hop_link_mtu_v4(const struct dst_entry *dst)
{
	u32 mtu = dst_metric_raw(dst, RTAX_MTU) ?: READ_ONCE(dst_dev_rcu(dst)->mtu);

	return min_t(u32, mtu, IP_MAX_MTU);
}

/**
 * chs_hop_link_mtu_v6() - longest IPv6 packet that a link to a backend takes
 * @dst: route to it, of mode route
 *
 * As chs_hop_link_mtu_v4(). An exception has its path MTU where the route has
 * the configured one, which forwarding takes if it is locked.
 *
 * Context: under RCU.
 * Return: the MTU of the route's configuration, if locked, or of its device.
 */
static inline u32 chs_hop_link_mtu_v6(const struct dst_entry *dst)
{
	const struct rt6_info *rt = dst_rt6_info(dst);
	const struct fib6_info *from;

	if (likely(!dst_metric_locked(dst, RTAX_MTU)))
		return ip6_dst_mtu_maybe_forward(dst, true);
	from = rcu_dereference(rt->from);
	return from && from->fib6_pmtu ? from->fib6_pmtu :
					 dst_dev_rcu(dst)->mtu;
}

/**
 * chs_endpoint_hop() - this CPU's way to an endpoint
 * @endpoint: endpoint
 *
 * Context: bottom halves off, between chs_endpoint_lock() and
 * chs_endpoint_unlock().
 * Return: the way, good until then if chs_endpoint_hop_valid() says so.
 */
static __always_inline const struct chs_hop *
chs_endpoint_hop(const struct chs_endpoint *endpoint)
{
	DEBUG_NET_WARN_ON_ONCE(!in_softirq());
	return &this_cpu_ptr(endpoint->hops)->hop;
}

/**
 * chs_endpoint_hop_valid() - whether the way to an endpoint is known
 * @endpoint: endpoint
 * @hop: chs_endpoint_hop() of it
 * @net: its namespace
 * @on_link: it is of mode route, to which no route through IPsec leads
 *
 * Context: as of chs_endpoint_hop(), under RCU.
 * Return: false if chs_endpoint_find() is to look for it.
 */
static __always_inline bool
chs_endpoint_hop_valid(const struct chs_endpoint *endpoint,
		       const struct chs_hop *hop, const struct net *net,
		       bool on_link)
{
	if (unlikely(hop->epoch != READ_ONCE(endpoint->epoch)))
		return false;
	return likely(!endpoint->v6 && (on_link || !dst_xfrm(hop->dst)) ?
		      chs_hop_valid_v4(hop, net) :
		      !!dst_check(hop->dst, hop->cookie));
}

#endif /* CHS_ENDPOINT_H */
