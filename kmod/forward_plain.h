/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sending most packets of mode route on their way.
 *
 * Everything that is not as nearly always, a route to be looked up, a neighbour
 * that has not answered yet, an odd source, policies of IPsec, a packet that is
 * too big, cloned or near the end of its hops, is left untouched to forward.c, which
 * judges and counts it. So nothing is refused here.
 *
 * A header, for it is compiled into the code before it, whose values it finds in
 * registers.
 */
#ifndef CHS_FORWARD_PLAIN_H
#define CHS_FORWARD_PLAIN_H

#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <net/arp.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/ndisc.h>
#include <net/neighbour.h>

#include "backend.h"
#include "endpoint.h"
#include "forward.h"
#include "loop.h"
#include "policy.h"
#include "service.h"
#include "stats.h"

/**
 * chs_forward_plain_header_v4() - whether forward.c finds no fault with a header
 * @ip: header of a packet that chs_packet_plain() knows
 *
 * Context: any.
 * Return: false if it may.
 */
static __always_inline bool chs_forward_plain_header_v4(const struct iphdr *ip)
{
	u32 saddr = ntohl(ip->saddr);

	/* Not 0/8, 127/8, nor 224/3. */
	return ip->ttl > CHS_LOOP_TTL && saddr >= 0x01000000 && saddr < 0xe0000000 &&
	       saddr >> 24 != 127 && ip->saddr != ip->daddr;
}

/**
 * chs_forward_plain_header_v6() - whether forward.c finds no fault with a header
 * @ip: header of a packet that chs_packet_plain() knows
 *
 * Context: any.
 * Return: false if it may.
 */
static __always_inline bool
chs_forward_plain_header_v6(const struct ipv6hdr *ip)
{
	u8 first = ip->saddr.s6_addr[0];

	/* Not near the end of its hops; from 2000::/3 or fc00::/7. */
	return ip->hop_limit > CHS_LOOP_TTL &&
	       (first >> 5 == 1 || first >> 1 == 0x7e) &&
	       !ipv6_addr_equal(&ip->saddr, &ip->daddr);
}

/* No less than the least, whatever a route says: RFC 791 and 8200. */
static __always_inline bool chs_forward_plain_fits(const struct sk_buff *skb,
						   const struct dst_entry *dst,
						   bool v6)
{
	if (v6)
		return skb->len <= IPV6_MIN_MTU ||
		       skb->len <= chs_hop_link_mtu_v6(dst);
	return skb->len <= IPV4_MIN_MTU ||
	       skb->len <= chs_hop_link_mtu_v4(dst);
}

static __always_inline struct neighbour *
chs_forward_plain_neighbour(const struct chs_hop *hop, struct net_device *dev,
			    bool v6)
{
	struct neighbour *neigh;

	neigh = v6 ? __ipv6_neigh_lookup_noref(dev, &hop->nexthop) :
		     __ipv4_neigh_lookup_noref(dev, (__force u32)hop->nexthop.w[3]);
	if (likely(neigh && READ_ONCE(neigh->nud_state) & NUD_CONNECTED))
		return neigh;
	return NULL;
}

/*
 * On devices that are not Ethernet the comparison is meaningless; a false match
 * only costs the slow path.
 */
static __always_inline bool
chs_forward_plain_came_from(const struct neighbour *neigh,
			    const struct sk_buff *skb)
{
	unsigned int seq;
	bool equal;

	if (unlikely(!skb_mac_header_was_set(skb)))
		return true;
	do {
		seq = read_seqbegin(&neigh->ha_lock);
		equal = ether_addr_equal(neigh->ha, eth_hdr(skb)->h_source);
	} while (read_seqretry(&neigh->ha_lock, seq));
	return equal;
}

/* The neighbour that a packet is sent to, if there is nothing to it. */
static __always_inline struct neighbour *
chs_forward_plain_way(const struct sk_buff *skb,
		      const struct chs_endpoint *endpoint,
		      const struct net *net, bool v6)
{
	const struct chs_hop *hop = chs_endpoint_hop(endpoint);
	struct neighbour *neigh;
	struct net_device *dev;

	if (unlikely(!chs_endpoint_hop_valid(endpoint, hop, net, true) ||
		     skb_cloned(skb) || skb_is_gso(skb) ||
		     !chs_forward_plain_fits(skb, hop->dst, v6)))
		return NULL;

	dev = dst_dev_rcu(hop->dst);
	neigh = chs_forward_plain_neighbour(hop, dev, v6);
	if (unlikely(!neigh || chs_forward_plain_came_from(neigh, skb) ||
		     skb_headroom(skb) < LL_RESERVED_SPACE(dev)))
		return NULL;
	return neigh;
}

/**
 * chs_forward_plain() - send a packet to its backend, if there is nothing to it
 * @skb: packet that chs_packet_plain() knows and chs_forward_plain_header_v4() or
 *	_v6() finds no fault with; consumed if sent
 * @state: the hook's state
 * @svc: its service
 * @backend: where it goes
 * @v6: it is IPv6
 *
 * Context: netfilter hook at PRE_ROUTING, bottom halves off.
 * Return: false if chs_forward() is to do it.
 */
static __always_inline bool
chs_forward_plain(struct sk_buff *skb, const struct nf_hook_state *state,
		  const struct chs_service *svc,
		  const struct chs_backend *backend, bool v6)
{
	unsigned int len = skb->len;
	struct neighbour *neigh;

	if (svc->mode != CHS_MODE_ROUTE ||
	    unlikely(chs_policy_any(state->net)))
		return false;
	/* A header cache, below, is for packets of its own family. */
	if (unlikely(backend->endpoint->v6 != v6))
		return false;
	chs_endpoint_lock(backend->endpoint);
	neigh = chs_forward_plain_way(skb, backend->endpoint, state->net, v6);
	chs_endpoint_unlock(backend->endpoint);
	if (unlikely(!neigh))
		return false;

	if (v6)
		((struct ipv6hdr *)skb->data)->hop_limit--;
	else
		ip_decrease_ttl((struct iphdr *)skb->data);
	skb_orphan(skb);
	chs_forward_forget(skb);
	skb->dev = neigh->dev;

	chs_stats_packet(svc->counters, len);
	chs_stats_packet(backend->counters, len);
	neigh_output(neigh, skb, false);
	return true;
}

#endif /* CHS_FORWARD_PLAIN_H */
