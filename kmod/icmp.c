// SPDX-License-Identifier: GPL-2.0-only
/*
 * ICMP and ICMPv6 errors that a director itself sends.
 *
 * The stack builds and routes them, limits most, and takes the service address as
 * their source if it is local. For that it wants the route by which the packet
 * came, which at PRE_ROUTING nobody has looked up yet.
 */
#include "icmp.h"

#include "netns.h"

#include <linux/hash.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/netfilter.h>
#include <net/dst_metadata.h>
#include <net/icmp.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/netns/hash.h>
#include <net/route.h>

/* Errors about a path's MTU to one client: so many a second, and at once. */
#define RATE		100
#define BURST		50

/* And to all of them, as many as the stack allows of other errors. */
#define RATE_ALL	1000
#define BURST_ALL	1000

/* Behind a device that takes packets out of tunnels the dst is no route. */
static bool has_route(struct sk_buff *skb)
{
	if (skb_valid_dst(skb))
		return true;
	skb_dst_drop(skb);
	return false;
}

/* Give @skb the route back to its sender, in the VRF that it came in by. */
static bool back_v4(struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct flowi4 flow = { .daddr = ip_hdr(skb)->saddr };
	struct rtable *rt;

	if (has_route(skb))
		return true;
	if (state->in)
		flow.flowi4_oif = l3mdev_master_ifindex_rcu((struct net_device *)state->in);
	rt = ip_route_output_key(state->net, &flow);
	if (IS_ERR(rt))
		return false;
	skb_dst_set(skb, &rt->dst);
	return true;
}

/* Give @skb a route, if only that back to its sender. */
static bool route_v4(struct sk_buff *skb, const struct nf_hook_state *state)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (has_route(skb))
		return true;
	if (state->in &&
	    !ip_route_input(skb, ip->daddr, ip->saddr, 0, skb->dev) &&
	    skb_rtable(skb)->rt_flags & RTCF_LOCAL)
		return true;
	skb_dst_drop(skb);
	return back_v4(skb, state);
}

static bool back_v6(struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct flowi6 flow = { .daddr = ipv6_hdr(skb)->saddr };
	struct dst_entry *dst;

	if (has_route(skb))
		return true;
	/* A link-local address means another host on each link. */
	if (state->in)
		flow.flowi6_oif = ipv6_addr_type(&flow.daddr) & IPV6_ADDR_LINKLOCAL ?
				  state->in->ifindex :
				  l3mdev_master_ifindex_rcu((struct net_device *)state->in);
	dst = ip6_route_output(state->net, NULL, &flow);
	if (dst->error) {
		dst_release(dst);
		return false;
	}
	skb_dst_set(skb, dst);
	return true;
}

/**
 * chs_icmp_route() - give a packet a route by which an error is sent about it
 * @skb: packet
 * @state: the hook's state
 *
 * With IPv4 it is the packet's own if its destination is local: the destination
 * becomes the source of the error.
 *
 * Context: netfilter hook, bottom halves off.
 * Return: false if there is none and the packet cannot be answered.
 */
bool chs_icmp_route(struct sk_buff *skb, const struct nf_hook_state *state)
{
	return state->pf == NFPROTO_IPV6 ? back_v6(skb, state) :
					   route_v4(skb, state);
}

/**
 * chs_icmp_route_back() - give a packet the route back to its sender
 * @skb: packet
 * @state: the hook's state
 *
 * The route's device is in the VRF that the packet came in by, if any. That of a
 * route to an address of the VRF device itself is the loopback device, which is in
 * none.
 *
 * Context: netfilter hook, bottom halves off.
 * Return: false if there is none and the packet cannot be answered.
 */
bool chs_icmp_route_back(struct sk_buff *skb, const struct nf_hook_state *state)
{
	return state->pf == NFPROTO_IPV6 ? back_v6(skb, state) :
					   back_v4(skb, state);
}

static void send_v4(struct sk_buff *skb, const struct nf_hook_state *state,
		    int type, int code, u32 info)
{
	if (route_v4(skb, state))
		icmp_send(skb, type, code, htonl(info));
}

static void send_v6(struct sk_buff *skb, const struct nf_hook_state *state,
		    u8 type, u8 code, u32 info)
{
	/*
	 * A locally generated packet has no device yet, which icmpv6_send()
	 * reads.
	 */
	if (!skb->dev)
		skb->dev = dst_dev_rcu(skb_dst(skb));
	icmpv6_send(skb, type, code, info);
}

/**
 * chs_icmp_exceeded() - tell who sent a packet that its hop limit is exceeded
 * @skb: packet; may be given a route
 * @state: the hook's state
 *
 * Context: netfilter hook, bottom halves off.
 */
void chs_icmp_exceeded(struct sk_buff *skb, const struct nf_hook_state *state)
{
	if (state->pf == NFPROTO_IPV6)
		send_v6(skb, state, ICMPV6_TIME_EXCEED, ICMPV6_EXC_HOPLIMIT,
			0);
	else
		send_v4(skb, state, ICMP_TIME_EXCEEDED, ICMP_EXC_TTL, 0);
}

/**
 * chs_icmp_beyond_scope() - tell who sent a packet that its address leads nowhere
 * @skb: IPv6 packet from a link-local address
 * @state: the hook's state
 *
 * The stack limits how often: RFC 4443, 2.4 (f) and 3.1, code 2.
 *
 * Context: netfilter hook, bottom halves off.
 */
void chs_icmp_beyond_scope(struct sk_buff *skb,
			   const struct nf_hook_state *state)
{
	send_v6(skb, state, ICMPV6_DEST_UNREACH, ICMPV6_NOT_NEIGHBOUR, 0);
}

/* @rate tokens a jiffy, HZ for an error; @burst errors at most. */
static void refill(struct chs_icmp_bucket *bucket, unsigned long now,
		   unsigned long rate, unsigned long burst)
{
	unsigned long passed;

	passed = min_t(unsigned long, now - bucket->last, burst * HZ);
	bucket->tokens = min_t(unsigned long, bucket->tokens + passed * rate,
			       burst * HZ);
	bucket->last = now;
}

/*
 * The stack limits errors, but for this one. A client that does not heed it, or
 * whose address is forged, is told so often and no more; nor can many such have
 * this host send more than so many in all.
 */
static bool may_tell(const struct sk_buff *skb, struct net *net, bool v6)
{
	struct chs_net *cn = chs_net(net);
	struct chs_icmp_bucket *bucket, *all = &cn->icmp_all;
	unsigned long now;
	bool allowed;
	u32 client;

	client = v6 ? ipv6_addr_hash(&ipv6_hdr(skb)->saddr) :
		      (__force u32)ip_hdr(skb)->saddr;
	client ^= net_hash_mix(net);
	bucket = &cn->icmp_buckets[hash_32(client, ilog2(CHS_ICMP_BUCKETS))];

	spin_lock(&cn->icmp_lock);
	now = jiffies;
	refill(bucket, now, RATE, BURST);
	refill(all, now, RATE_ALL, BURST_ALL);
	allowed = bucket->tokens >= HZ && all->tokens >= HZ;
	if (allowed) {
		bucket->tokens -= HZ;
		all->tokens -= HZ;
	}
	spin_unlock(&cn->icmp_lock);
	return allowed;
}

static bool too_big(struct sk_buff *skb, const struct nf_hook_state *state,
		    bool v6, u32 mtu)
{
	if (!may_tell(skb, state->net, v6))
		return false;
	if (v6)
		send_v6(skb, state, ICMPV6_PKT_TOOBIG, 0, mtu);
	else
		send_v4(skb, state, ICMP_DEST_UNREACH, ICMP_FRAG_NEEDED, mtu);
	return true;
}

/**
 * chs_icmp_too_big() - tell who sent a packet how long it may be
 * @skb: packet; may be given a route
 * @state: the hook's state
 * @mtu: bytes
 *
 * Context: netfilter hook, bottom halves off.
 * Return: false if the client, or all of them, have been told too often.
 */
bool chs_icmp_too_big(struct sk_buff *skb, const struct nf_hook_state *state,
		      u32 mtu)
{
	return too_big(skb, state, state->pf == NFPROTO_IPV6, mtu);
}

/**
 * chs_icmp_relay_too_big() - the same, of a packet that another error quotes
 * @skb: the packet, as far as it is quoted, from its network header on
 * @state: the hook's state, of the other error
 * @v6: whether @skb is IPv6
 * @mtu: bytes
 *
 * Context: netfilter hook at PRE_ROUTING, bottom halves off.
 * Return: false if the client, or all of them, have been told too often.
 */
bool chs_icmp_relay_too_big(struct sk_buff *skb,
			    const struct nf_hook_state *state, bool v6,
			    u32 mtu)
{
	skb_dst_drop(skb);
	skb->protocol = v6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	if (v6)
		memset(IP6CB(skb), 0, sizeof(*IP6CB(skb)));
	else
		memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	return too_big(skb, state, v6, mtu);
}
