// SPDX-License-Identifier: GPL-2.0-only
/*
 * Endpoints of the direct modes: an address, the way to it, and what stands in
 * the way.
 *
 * Addresses and routes come and go, so nothing about them is decided when a
 * backend is added: each packet asks the route, which is cached as long as the
 * stack finds it valid, and the neighbour, which is never cached.
 */
#include "endpoint.h"

#include "addr.h"
#include "netns.h"
#include "vrf.h"

#include <linux/cache.h>
#include <linux/percpu.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/arp.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ip_fib.h>
#include <net/l3mdev.h>
#include <net/ndisc.h>
#include <net/nexthop.h>
#include <net/route.h>

static const struct rhashtable_params params = {
	.head_offset = offsetof(struct chs_endpoint, node),
	.key_offset = offsetof(struct chs_endpoint, key),
	.key_len = sizeof(struct chs_endpoint_key),
	.automatic_shrinking = true,
};

/**
 * chs_endpoint_table_init() - begin with no endpoints
 * @cn: namespace
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int chs_endpoint_table_init(struct chs_net *cn)
{
	mutex_init(&cn->endpoint_lock);
	return rhashtable_init(&cn->endpoints, &params);
}

/**
 * chs_endpoint_table_exit() - end, when the last endpoint is gone
 * @cn: namespace
 *
 * Context: process; may sleep.
 */
void chs_endpoint_table_exit(struct chs_net *cn)
{
	rhashtable_destroy(&cn->endpoints);
	mutex_destroy(&cn->endpoint_lock);
}

static struct chs_endpoint *endpoint_alloc(const struct chs_endpoint_key *key,
					   const struct chs_vrf *vrf)
{
	struct chs_endpoint *endpoint;
	int cpu;

	endpoint = kzalloc(sizeof(*endpoint), GFP_KERNEL_ACCOUNT);
	if (!endpoint)
		return NULL;

	endpoint->key = *key;
	endpoint->v6 = !chs_addr_is_v4(&key->addr);
	endpoint->vrf = vrf;
	endpoint->epoch = 1;
	refcount_set(&endpoint->refs, 1);
	/* Each in a cache line of its own. */
	endpoint->hops = __alloc_percpu_gfp(sizeof(struct chs_hop_slot),
					    SMP_CACHE_BYTES,
					    GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!endpoint->hops) {
		kfree(endpoint);
		return NULL;
	}
	for_each_possible_cpu(cpu)
		local_lock_init(&per_cpu_ptr(endpoint->hops, cpu)->bh_lock);
	return endpoint;
}

static void release_hops(struct chs_endpoint *endpoint)
{
	int cpu;

	for_each_possible_cpu(cpu)
		dst_release(per_cpu_ptr(endpoint->hops, cpu)->hop.dst);
	free_percpu(endpoint->hops);
}

/**
 * chs_endpoint_get() - find or make an endpoint
 * @cn: namespace
 * @key: which
 * @vrf: the VRF of the number in @key, or NULL; must stay for as long as the caller
 *	has the endpoint
 *
 * Context: process; may sleep.
 * Return: the endpoint with a reference, or NULL if there is no memory.
 */
struct chs_endpoint *chs_endpoint_get(struct chs_net *cn,
				      const struct chs_endpoint_key *key,
				      const struct chs_vrf *vrf)
{
	struct chs_endpoint *endpoint;

	mutex_lock(&cn->endpoint_lock);
	endpoint = rhashtable_lookup_fast(&cn->endpoints, key, params);
	if (endpoint) {
		refcount_inc(&endpoint->refs);
		goto out;
	}

	endpoint = endpoint_alloc(key, vrf);
	if (endpoint && rhashtable_insert_fast(&cn->endpoints, &endpoint->node,
					       params)) {
		release_hops(endpoint);
		kfree(endpoint);
		endpoint = NULL;
	}
out:
	mutex_unlock(&cn->endpoint_lock);
	return endpoint;
}

/**
 * chs_endpoint_hold() - take one more reference
 * @endpoint: endpoint, or NULL
 *
 * Context: any, with a reference held.
 */
void chs_endpoint_hold(struct chs_endpoint *endpoint)
{
	if (endpoint)
		refcount_inc(&endpoint->refs);
}

/**
 * chs_endpoint_put() - drop a reference
 * @cn: namespace
 * @endpoint: endpoint, or NULL; no packet may still see who held it
 *
 * Releases the routes at once: one of IPv6 must not outlive its namespace.
 *
 * Context: process; may sleep.
 */
void chs_endpoint_put(struct chs_net *cn, struct chs_endpoint *endpoint)
{
	if (!endpoint || !refcount_dec_and_mutex_lock(&endpoint->refs,
						      &cn->endpoint_lock))
		return;

	rhashtable_remove_fast(&cn->endpoints, &endpoint->node, params);
	mutex_unlock(&cn->endpoint_lock);
	release_hops(endpoint);
	/* chs_endpoint_forget_routes() may be looking at it. */
	kfree_rcu_mightsleep(endpoint);
}

/**
 * chs_endpoint_forget_routes() - have every route looked up again
 * @cn: namespace
 *
 * Context: any.
 */
void chs_endpoint_forget_routes(struct chs_net *cn)
{
	struct rhashtable_iter iter;
	struct chs_endpoint *endpoint;

	rhashtable_walk_enter(&cn->endpoints, &iter);
	rhashtable_walk_start(&iter);
	while ((endpoint = rhashtable_walk_next(&iter))) {
		if (IS_ERR(endpoint))
			continue;
		/*
		 * Pairs with smp_load_acquire() of the epoch: a look-up begun
		 * afterwards sees the tables as they are now.
		 */
		smp_store_release(&endpoint->epoch,
				  READ_ONCE(endpoint->epoch) + 2);
	}
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
}

static u8 outer_proto(const struct chs_endpoint_key *key)
{
	switch (key->mode) {
	case CHS_MODE_IPIP:
		return IPPROTO_IPIP;
	case CHS_MODE_GUE:
		return IPPROTO_UDP;
	default:
		return 0;
	}
}

static bool by_route(const struct chs_endpoint_key *key)
{
	return !(key->source.q[0] | key->source.q[1]);
}

/*
 * Whether the FIB has a gateway before an address. The route does not say: one
 * made from an exception (a path MTU or a redirect that this host's own traffic
 * was told of) names the address itself as its gateway, or the redirect's. So
 * does one that could not be cached.
 */
static bool behind_gateway_v4(const struct chs_endpoint_key *key, s32 vrf,
			      struct net *net, const struct rtable *rt)
{
	struct flowi4 flow = {
		.daddr = key->addr.w[3],
		.flowi4_iif = LOOPBACK_IFINDEX,
		.flowi4_oif = vrf,
	};
	const struct fib_nh_common *nhc;
	struct fib_result result = {};
	unsigned int i;

	if (fib_lookup(net, &flow, &result, 0) || !result.fi)
		return true;
	/* A multipath route has several: the one that was chosen counts. */
	for (i = 0; i < fib_info_num_path(result.fi); i++) {
		nhc = fib_info_nhc(result.fi, i);
		if (nhc->nhc_dev == rt->dst.dev)
			return nhc->nhc_gw_family;
	}
	return true;
}

static enum chsteer_obstacle route_v4(const struct chs_endpoint_key *key,
				      s32 vrf, struct net *net,
				      struct chs_hop *hop)
{
	struct flowi4 flow = {
		.daddr = key->addr.w[3],
		.saddr = by_route(key) ? 0 : key->source.w[3],
		.flowi4_oif = vrf,
		.flowi4_proto = outer_proto(key),
	};
	struct rtable *rt;

	rt = ip_route_output_key(net, &flow);
	if (IS_ERR(rt)) {
		/* The stack says so if the source is not this host's. */
		if (PTR_ERR(rt) == -EINVAL && flow.saddr)
			return CHS_OBSTACLE_BAD_SOURCE;
		return CHS_OBSTACLE_NO_ROUTE;
	}

	hop->dst = &rt->dst;
	chs_addr_set_v4(&hop->source, flow.saddr);
	if (rt->rt_flags & RTCF_LOCAL)
		return CHS_OBSTACLE_OWN_ADDRESS;
	if (rt->rt_type != RTN_UNICAST)
		return CHS_OBSTACLE_NO_ROUTE;
	if (key->mode == CHS_MODE_ROUTE &&
	    ((rt->rt_gw_family && behind_gateway_v4(key, vrf, net, rt)) ||
	     rt->dst.lwtstate || dst_xfrm(&rt->dst)))
		return CHS_OBSTACLE_OFF_LINK;
	return CHS_OBSTACLE_NONE;
}

/*
 * The same for IPv6, where a path MTU leaves the gateway alone, but a redirect
 * brings a new one or takes it away.
 */
static bool behind_gateway_v6(const struct rt6_info *rt)
{
	struct fib6_info *from = rcu_dereference(rt->from);
	const struct fib6_nh *nh;

	if (!(rt->rt6i_flags & RTF_CACHE) || !from)
		return rt->rt6i_flags & RTF_GATEWAY;
	nh = from->nh ? nexthop_fib6_nh(from->nh) : from->fib6_nh;
	return nh && nh->fib_nh_gw_family;
}

static enum chsteer_obstacle route_v6(const struct chs_endpoint_key *key,
				      s32 vrf, struct net *net,
				      struct chs_hop *hop)
{
	struct flowi6 flow = {
		.flowi6_oif = vrf,
		.flowi6_proto = outer_proto(key),
	};
	const struct rt6_info *rt;
	struct dst_entry *dst;

	chs_addr_to_in6(&flow.daddr, &key->addr);
	if (!by_route(key)) {
		chs_addr_to_in6(&flow.saddr, &key->source);
		if (!ipv6_chk_addr(net, &flow.saddr, NULL, 0))
			return CHS_OBSTACLE_BAD_SOURCE;
	}

	/* No policy of IPsec's is asked about what this host does not send. */
	dst = chs_mode_is_tunnel(key->mode) ?
	      ip6_dst_lookup_flow(net, NULL, &flow, NULL) :
	      ip6_route_output(net, NULL, &flow);
	if (IS_ERR(dst))
		return CHS_OBSTACLE_NO_ROUTE;
	hop->dst = dst;
	if (dst->error)
		return CHS_OBSTACLE_NO_ROUTE;

	rt = dst_rt6_info(dst);
	hop->cookie = rt6_get_cookie(rt);
	memcpy(hop->source.b, &flow.saddr, sizeof(hop->source.b));
	if (rt->rt6i_flags & RTF_LOCAL)
		return CHS_OBSTACLE_OWN_ADDRESS;
	if (rt->rt6i_flags & RTF_REJECT)
		return CHS_OBSTACLE_NO_ROUTE;
	if (key->mode == CHS_MODE_ROUTE &&
	    (behind_gateway_v6(rt) || dst->lwtstate || dst_xfrm(dst)))
		return CHS_OBSTACLE_OFF_LINK;
	return CHS_OBSTACLE_NONE;
}

/* Look a route up. On an obstacle there is none. */
static enum chsteer_obstacle route(const struct chs_endpoint_key *key,
				   const struct chs_vrf *vrf, struct net *net,
				   struct chs_hop *hop)
{
	s32 ifindex = vrf ? chs_vrf_ifindex(vrf) : 0;
	enum chsteer_obstacle obstacle;

	memset(hop, 0, sizeof(*hop));
	/* Index 0 would ask the main table. */
	if (vrf && !ifindex)
		return CHS_OBSTACLE_NO_ROUTE;
	obstacle = chs_addr_is_v4(&key->addr) ?
		   route_v4(key, ifindex, net, hop) :
		   route_v6(key, ifindex, net, hop);
	/*
	 * The FIB falls back to the main table when a VRF's table has no route:
	 * such a route leaves the VRF.
	 */
	if (!obstacle && ifindex &&
	    l3mdev_master_ifindex_rcu(dst_dev_rcu(hop->dst)) != ifindex)
		obstacle = CHS_OBSTACLE_NO_ROUTE;
	if (obstacle) {
		dst_release(hop->dst);
		hop->dst = NULL;
	}
	return obstacle;
}

static void set_nexthop_v4(const struct chs_endpoint_key *key,
			   struct chs_hop *hop)
{
	const struct rtable *rt = container_of(hop->dst, struct rtable, dst);

	hop->nexthop = key->addr;
	if (rt->rt_gw_family == AF_INET)
		chs_addr_set_v4(&hop->nexthop, rt->rt_gw4);
	else if (rt->rt_gw_family == AF_INET6)
		memcpy(hop->nexthop.b, &rt->rt_gw6, sizeof(hop->nexthop.b));
}

static void set_nexthop_v6(const struct chs_endpoint_key *key,
			   struct chs_hop *hop)
{
	struct in6_addr daddr;

	chs_addr_to_in6(&daddr, &key->addr);
	memcpy(hop->nexthop.b, rt6_nexthop(dst_rt6_info(hop->dst), &daddr),
	       sizeof(hop->nexthop.b));
}

static void set_nexthop(const struct chs_endpoint_key *key, struct chs_hop *hop)
{
	/* On link, whatever gateway an exception names. */
	if (key->mode == CHS_MODE_ROUTE)
		hop->nexthop = key->addr;
	else if (chs_addr_is_v4(&key->addr))
		set_nexthop_v4(key, hop);
	else
		set_nexthop_v6(key, hop);
}

/**
 * chs_endpoint_find() - look for the way to an endpoint, for this CPU's packets
 * @endpoint: endpoint
 * @net: its namespace
 * @hop: where a copy goes; @hop->dst is good as long as RCU is held
 *
 * Context: bottom halves off, under RCU.
 * Return: CHS_OBSTACLE_NONE, and chs_endpoint_hop() has it; or why there is none.
 */
enum chsteer_obstacle chs_endpoint_find(const struct chs_endpoint *endpoint,
					struct net *net, struct chs_hop *hop)
{
	const struct chs_endpoint_key *key = &endpoint->key;
	enum chsteer_obstacle obstacle;
	struct chs_hop *known;
	struct dst_entry *old;
	u32 epoch;

	/* Before the tables are asked: what changes then is asked for again. */
	epoch = smp_load_acquire(&endpoint->epoch);
	obstacle = route(key, endpoint->vrf, net, hop);
	if (!obstacle) {
		set_nexthop(key, hop);
		hop->epoch = epoch;
	}

	chs_endpoint_lock(endpoint);
	known = &this_cpu_ptr(endpoint->hops)->hop;
	old = known->dst;
	*known = *hop;
	chs_endpoint_unlock(endpoint);
	dst_release(old);
	return obstacle;
}

/**
 * chs_endpoint_mtu() - MTU of the path to an endpoint, as far as it is known
 * @endpoint: endpoint
 * @net: its namespace
 *
 * Context: bottom halves off, under RCU.
 * Return: the MTU in bytes; 0 if there is no way.
 */
u32 chs_endpoint_mtu(const struct chs_endpoint *endpoint, struct net *net)
{
	const struct chs_hop *here;
	struct chs_hop hop = {};
	bool known;

	chs_endpoint_lock(endpoint);
	here = chs_endpoint_hop(endpoint);
	known = chs_endpoint_hop_valid(endpoint, here, net, false);
	if (known)
		hop = *here;
	chs_endpoint_unlock(endpoint);
	if (!known && chs_endpoint_find(endpoint, net, &hop))
		return 0;
	return dst_mtu(hop.dst);
}

/**
 * chs_endpoint_exists() - whether some backend is such an endpoint
 * @cn: namespace
 * @key: which
 *
 * Context: any.
 * Return: true if so, be it of a transaction that is not yet committed.
 */
bool chs_endpoint_exists(struct chs_net *cn, const struct chs_endpoint_key *key)
{
	bool found;

	rcu_read_lock();
	found = rhashtable_lookup(&cn->endpoints, key, params);
	rcu_read_unlock();
	return found;
}

/**
 * chs_endpoint_neighbour() - the neighbour on the way to an endpoint
 * @hop: the way
 *
 * Context: under RCU, bottom halves off.
 * Return: the neighbour without a reference, made if need be, or ERR_PTR().
 */
struct neighbour *chs_endpoint_neighbour(const struct chs_hop *hop)
{
	struct net_device *dev = dst_dev_rcu(hop->dst);
	struct neighbour *neigh;
	struct in6_addr addr6;

	if (chs_addr_is_v4(&hop->nexthop))
		return ip_neigh_gw4(dev, hop->nexthop.w[3]);

	chs_addr_to_in6(&addr6, &hop->nexthop);
	neigh = __ipv6_neigh_lookup_noref(dev, &addr6);
	return neigh ?: __neigh_create(&nd_tbl, &addr6, dev, false);
}

static bool answers(const struct chs_hop *hop)
{
	struct net_device *dev = dst_dev_rcu(hop->dst);
	struct neighbour *neigh;
	struct in6_addr addr6;

	/* A look only: a neighbour that nobody has asked for is no obstacle. */
	if (chs_addr_is_v4(&hop->nexthop)) {
		neigh = __ipv4_neigh_lookup_noref(dev, (__force u32)hop->nexthop.w[3]);
	} else {
		chs_addr_to_in6(&addr6, &hop->nexthop);
		neigh = __ipv6_neigh_lookup_noref(dev, &addr6);
	}
	return !neigh || !(READ_ONCE(neigh->nud_state) &
			   (NUD_FAILED | NUD_INCOMPLETE));
}

/**
 * chs_endpoint_judge() - what stands in the way to an endpoint now
 * @key: which
 * @vrf: the VRF of the number in @key, or NULL
 * @net: its namespace
 *
 * Context: process.
 * Return: the obstacle, or CHS_OBSTACLE_NONE.
 */
enum chsteer_obstacle chs_endpoint_judge(const struct chs_endpoint_key *key,
					 const struct chs_vrf *vrf,
					 struct net *net)
{
	enum chsteer_obstacle obstacle;
	struct chs_hop hop;

	local_bh_disable();
	rcu_read_lock();
	obstacle = route(key, vrf, net, &hop);
	if (!obstacle) {
		set_nexthop(key, &hop);
		if (!answers(&hop))
			obstacle = CHS_OBSTACLE_NO_NEIGHBOUR;
		dst_release(hop.dst);
	}
	rcu_read_unlock();
	local_bh_enable();
	return obstacle;
}
