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
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <net/dst_cache.h>

#include "tuple.h"

struct chs_net;
struct chs_service;

/**
 * struct chs_endpoint_key - what makes an endpoint another one
 * @addr: address
 * @source: outer source address; all zero is by route
 * @vrf: index of the VRF device in which it is resolved, or 0
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
 * struct chs_endpoint - an address that packets are sent to
 * @key: which
 * @cache: route to it, of every CPU; only one without an obstacle
 * @node: in struct chs_net.endpoints
 * @refs: one a backend of a version of a service
 */
struct chs_endpoint {
	struct chs_endpoint_key key;
	struct dst_cache cache;
	struct rhash_head node;
	refcount_t refs;
};

/**
 * struct chs_hop - the way to an endpoint
 * @dst: route, with a reference
 * @source: address of this host that the route prefers, or the configured one
 * @nexthop: neighbour on @dst's device
 */
struct chs_hop {
	struct dst_entry *dst;
	union chs_addr source;
	union chs_addr nexthop;
};

static inline bool chs_mode_is_tunnel(u8 mode)
{
	return mode == CHS_MODE_IPIP || mode == CHS_MODE_GUE;
}

int chs_endpoint_table_init(struct chs_net *cn);
void chs_endpoint_table_exit(struct chs_net *cn);
struct chs_endpoint *chs_endpoint_get(struct chs_net *cn,
				      const struct chs_endpoint_key *key);
void chs_endpoint_hold(struct chs_endpoint *endpoint);
void chs_endpoint_put(struct chs_net *cn, struct chs_endpoint *endpoint);
void chs_endpoint_forget_routes(struct chs_net *cn);

enum chsteer_obstacle chs_endpoint_hop(struct chs_endpoint *endpoint,
				       struct net *net, struct chs_hop *hop);
struct neighbour *chs_endpoint_neighbour(const struct chs_hop *hop);
enum chsteer_obstacle chs_endpoint_judge(const struct chs_endpoint_key *key,
					 struct net *net);

#endif /* CHS_ENDPOINT_H */
