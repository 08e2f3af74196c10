// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sending a packet of a direct mode on its way.
 *
 * It does not pass through the stack's forwarding: no routing decision about
 * its destination, no FORWARD and POST_ROUTING hooks, no conntrack. What
 * forwarding checks is checked here, then the packet is handed to the neighbour
 * of its backend, as the kernel's flowtable does.
 *
 * Everything is judged before the first byte is changed, so that an ICMP error
 * quotes what the client has sent.
 */
#include "forward.h"

#include "endpoint.h"
#include "icmp.h"
#include "loop.h"
#include "netns.h"
#include "policy.h"
#include "reject.h"
#include "service.h"
#include "stats.h"
#include "steer.h"
#include "tunnel.h"

#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <linux/list.h>
#include <linux/local_lock.h>
#include <linux/netfilter.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <net/gso.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/neighbour.h>

/* No reason to drop a packet. */
#define KEEP	CHS_DROP_NR

/**
 * struct way - a packet on its way
 * @state: the hook's state
 * @svc: its service
 * @backend: its backend
 * @hop: the way to it; a copy, for what is sent may come back here and have it
 *	looked up again
 * @neigh: first neighbour on it
 * @hash: hash of the flow
 * @mtu: most that a packet may be long before it is encapsulated
 * @v6: it is IPv6, before it is encapsulated
 * @local: this host's own, so that its hop limit is kept
 * @fits: it need not be fragmented
 */
struct way {
	const struct nf_hook_state *state;
	const struct chs_service *svc;
	const struct chs_backend *backend;
	struct chs_hop hop;
	struct neighbour *neigh;
	u64 hash;
	u32 mtu;
	bool v6;
	bool local;
	bool fits;
};

/* LSRR and SSRR; what else an option asks for is no business of a director. */
static enum chs_event check_options(const struct iphdr *ip)
{
	const u8 *option = (const u8 *)(ip + 1);
	u32 left = ip->ihl * 4 - sizeof(*ip);
	u32 len;

	while (left && *option != IPOPT_END) {
		if (*option == IPOPT_NOOP) {
			len = 1;
		} else {
			if (left < 2 || option[1] < 2 || option[1] > left)
				return CHS_DROP_MALFORMED;
			if (*option == IPOPT_LSRR || *option == IPOPT_SSRR)
				return CHS_DROP_SOURCE_ROUTE;
			len = option[1];
		}
		option += len;
		left -= len;
	}
	return KEEP;
}

static enum chs_event check_v4(const struct way *way, struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (ipv4_is_zeronet(ip->saddr) || ipv4_is_loopback(ip->saddr) ||
	    ipv4_is_multicast(ip->saddr) || ipv4_is_lbcast(ip->saddr) ||
	    ip->saddr == ip->daddr)
		return CHS_DROP_MARTIAN;
	if (unlikely(ip->ihl > 5))
		return check_options(ip);
	return KEEP;
}

static enum chs_event check_v6(const struct way *way, struct sk_buff *skb)
{
	const struct ipv6hdr *ip = ipv6_hdr(skb);
	int type = ipv6_addr_type(&ip->saddr);

	if (!(type & IPV6_ADDR_UNICAST) || type & IPV6_ADDR_LOOPBACK ||
	    ipv6_addr_equal(&ip->saddr, &ip->daddr))
		return CHS_DROP_MARTIAN;
	return KEEP;
}

static u8 hop_limit(const struct way *way, const struct sk_buff *skb)
{
	return way->v6 ? ipv6_hdr(skb)->hop_limit : ip_hdr(skb)->ttl;
}

/* Hash of what does not change of a packet on its way. */
static u32 signature(const struct way *way, const struct sk_buff *skb)
{
	u32 off = way->v6 ? sizeof(struct ipv6hdr) : ip_hdrlen(skb);
	u32 seed = lower_32_bits(way->hash) ^ upper_32_bits(way->hash);
	u32 size = min_t(u32, skb->len - off, sizeof(struct tcphdr));
	u8 buf[sizeof(struct tcphdr)];
	const u8 *head;

	head = skb_header_pointer(skb, skb_network_offset(skb) + off, size,
				  buf);
	if (!way->v6)
		seed += (__force u32)ip_hdr(skb)->id;
	/* Ports, sequence numbers, checksum; extension headers if there are. */
	return head ? jhash(head, size, seed) : seed;
}

static bool has_looped(const struct way *way, const struct sk_buff *skb)
{
	struct chs_net *cn = chs_net(way->state->net);
	u32 sig = signature(way, skb);
	u64 *place = &cn->loop_marks[sig % CHS_LOOP_MARKS];
	u64 mark = chs_loop_mark(sig, hop_limit(way, skb), jiffies);
	u64 old = READ_ONCE(*place);

	/* If several CPUs are at it, one packet is forgotten. */
	WRITE_ONCE(*place, mark);
	return chs_loop_seen(old, mark, HZ);
}

static enum chs_event check(const struct way *way, struct sk_buff *skb)
{
	enum chs_event reason;

	reason = way->v6 ? check_v6(way, skb) : check_v4(way, skb);
	if (unlikely(reason != KEEP))
		return reason;
	if (unlikely(chs_policy_any(way->state->net)) && !way->local &&
	    !chs_policy_allows(skb, way->state))
		return CHS_DROP_IPSEC_POLICY;
	/* Received as one, and no longer to be taken apart. */
	if (unlikely(skb_warn_if_lro(skb)))
		return CHS_DROP_TOO_BIG;
	if (!way->local && unlikely(hop_limit(way, skb) <= 1)) {
		chs_icmp_exceeded(skb, way->state);
		return CHS_DROP_TTL;
	}
	if (!way->local && unlikely(hop_limit(way, skb) <= CHS_LOOP_TTL) &&
	    has_looped(way, skb))
		return CHS_DROP_LOOPED;
	return KEEP;
}

static enum chs_event obstacle_reason(enum chsteer_obstacle obstacle)
{
	switch (obstacle) {
	case CHS_OBSTACLE_OFF_LINK:
		return CHS_DROP_OFF_LINK;
	case CHS_OBSTACLE_OWN_ADDRESS:
		return CHS_DROP_OWN_ADDRESS;
	case CHS_OBSTACLE_BAD_SOURCE:
		return CHS_DROP_BAD_SOURCE;
	default:
		return CHS_DROP_NO_ROUTE;
	}
}

/*
 * Two directors that are each other's backends would play with a packet. A client
 * that has its MAC address in common with a backend (ipvlan, proxy ARP) cannot be
 * told from that; the backend's counter and "why" show it. A packet that waits for
 * a neighbour is not known to be one: the other director will know.
 */
static bool came_from(const struct way *way, const struct sk_buff *skb)
{
	const struct net_device *in = way->state->in;
	u8 addr[MAX_ADDR_LEN];

	if (!in || in->type != ARPHRD_ETHER || !skb_mac_header_was_set(skb) ||
	    way->neigh->dev->type != ARPHRD_ETHER ||
	    !(READ_ONCE(way->neigh->nud_state) & NUD_VALID))
		return false;

	neigh_ha_snapshot(addr, way->neigh, way->neigh->dev);
	return ether_addr_equal_unaligned(addr, eth_hdr(skb)->h_source);
}

/* A link-local address means something on its link only: RFC 4007. */
static bool beyond_scope(const struct way *way, const struct sk_buff *skb)
{
	if (!way->v6 ||
	    !(ipv6_addr_type(&ipv6_hdr(skb)->saddr) & IPV6_ADDR_LINKLOCAL))
		return false;
	return way->svc->mode != CHS_MODE_ROUTE ||
	       dst_dev_rcu(way->hop.dst) != way->state->in;
}

static enum chs_event find_way(struct way *way, struct sk_buff *skb)
{
	const struct chs_endpoint *endpoint = way->backend->endpoint;
	struct net *net = way->state->net;
	enum chsteer_obstacle obstacle;
	const struct chs_hop *hop;
	bool known;

	chs_endpoint_lock(endpoint);
	hop = chs_endpoint_hop(endpoint);
	known = chs_endpoint_hop_valid(endpoint, hop, net, false);
	if (likely(known))
		way->hop = *hop;
	chs_endpoint_unlock(endpoint);
	if (unlikely(!known)) {
		obstacle = chs_endpoint_find(endpoint, net, &way->hop);
		if (obstacle)
			return obstacle_reason(obstacle);
	}
	if (unlikely(beyond_scope(way, skb))) {
		chs_icmp_beyond_scope(skb, way->state);
		return CHS_DROP_SCOPE;
	}

	way->neigh = chs_endpoint_neighbour(&way->hop);
	if (IS_ERR(way->neigh))
		return CHS_DROP_NO_MEMORY;
	if (way->svc->mode == CHS_MODE_ROUTE && unlikely(came_from(way, skb))) {
		chs_stats_back(way->backend->counters);
		return CHS_DROP_SENT_BACK;
	}
	return KEEP;
}

static u32 overhead(const struct way *way)
{
	return chs_tunnel_overhead(way->svc->mode,
				   !chs_addr_is_v4(&way->backend->id.addr));
}

static u32 mtu_of(const struct way *way)
{
	const struct dst_entry *dst = way->hop.dst;
	u32 mtu;

	if (chs_mode_is_tunnel(way->svc->mode)) {
		mtu = dst_mtu(dst);
		mtu -= min(mtu, overhead(way));
		/* Below that the outer packet is fragmented: RFC 2473, 4213. */
		return way->v6 ? max_t(u32, mtu, IPV6_MIN_MTU) : mtu;
	}
	return way->v6 ? max_t(u32, chs_hop_link_mtu_v6(dst), IPV6_MIN_MTU) :
			 max_t(u32, chs_hop_link_mtu_v4(dst), IPV4_MIN_MTU);
}

static bool fits(const struct sk_buff *skb, u32 mtu)
{
	return skb->len <= mtu ||
	       (skb_is_gso(skb) && skb_gso_validate_network_len(skb, mtu));
}

/* Whether this host may fragment what does not fit. */
static bool may_fragment(const struct way *way, const struct sk_buff *skb)
{
	if (way->v6)
		return skb->ignore_df &&
		       IP6CB(skb)->frag_max_size <= way->mtu;
	if (!(ip_hdr(skb)->frag_off & htons(IP_DF)))
		return true;
	return skb->ignore_df && IPCB(skb)->frag_max_size <= way->mtu;
}

/* Longer than an outer header can tell, and not to be segmented. */
static bool overflows(const struct way *way, const struct sk_buff *skb)
{
	return chs_mode_is_tunnel(way->svc->mode) && !skb_is_gso(skb) &&
	       skb->len + overhead(way) > IP_MAX_MTU;
}

static enum chs_event check_size(struct way *way, struct sk_buff *skb)
{
	way->mtu = mtu_of(way);
	way->fits = fits(skb, way->mtu);
	if (likely(way->fits))
		return KEEP;
	/* Its sender cannot help it: it sent fragments. */
	if (unlikely(overflows(way, skb)))
		return CHS_DROP_TOO_BIG;
	if (may_fragment(way, skb))
		return KEEP;

	if (!chs_icmp_too_big(skb, way->state, way->mtu))
		chs_stats_event(way->svc->stats, CHS_EVENT_ICMP_LIMITED);
	return CHS_DROP_TOO_BIG;
}

static bool is_encapsulated(const struct way *way)
{
	return chs_mode_is_tunnel(way->svc->mode);
}

/* Make the headers writable, with room before them, and let go of the past. */
static enum chs_event prepare(struct way *way, struct sk_buff *skb)
{
	struct net_device *dev = way->neigh->dev;
	u32 room = LL_RESERVED_SPACE(dev) + way->hop.dst->header_len;

	if (is_encapsulated(way))
		room += overhead(way);
	if (skb_cow(skb, room))
		return CHS_DROP_NO_MEMORY;

	if (!way->local) {
		if (way->v6) {
			ipv6_hdr(skb)->hop_limit--;
			IP6CB(skb)->flags |= IP6SKB_FORWARDED;
		} else {
			ip_decrease_ttl(ip_hdr(skb));
			IPCB(skb)->flags |= IPSKB_FORWARDED;
		}
		skb_orphan(skb);
	}
	chs_forward_forget(skb);
	skb_dst_set_noref(skb, way->hop.dst);
	skb->dev = dev;
	skb->protocol = way->v6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	return KEEP;
}

static void to_neighbour(const struct way *way, struct sk_buff *skb)
{
	struct neighbour *neigh = way->neigh;
	/* Its header cache is for packets of its own family. */
	bool other = (neigh->tbl->family == AF_INET6) !=
		     (skb->protocol == htons(ETH_P_IPV6));

	/*
	 * A packet that waits for its neighbour is sent, in the end, to the
	 * one that its route leads to: by its address, which is the service's.
	 */
	if (!is_encapsulated(way))
		skb_dst_drop(skb);
	neigh_output(neigh, skb, other);
}

/**
 * struct fragmented - a packet that is being fragmented
 * @node: in struct fragmenting.packets, while its fragments are output
 * @task: that in which this happens, or that a softirq has interrupted
 * @way: where its fragments go
 */
struct fragmented {
	struct hlist_node node;
	const struct task_struct *task;
	const struct way *way;
};

/**
 * struct fragmenting - packets that are being fragmented on one CPU
 * @packets: struct fragmented; several if a fragment comes back here and is too
 *	big once more and, on PREEMPT_RT, if tasks take turns; a task's latest
 *	comes first
 * @bh_lock: guards @packets on PREEMPT_RT; not held while anything is sent
 */
struct fragmenting {
	struct hlist_head packets;
	local_lock_t bh_lock;
};

static DEFINE_PER_CPU(struct fragmenting, fragmenting) = {
	.bh_lock = INIT_LOCAL_LOCK(bh_lock),
};

static void fragment_begin(struct fragmented *packet, const struct way *way)
{
	packet->task = current;
	packet->way = way;
	local_lock_nested_bh(&fragmenting.bh_lock);
	hlist_add_head(&packet->node, &this_cpu_ptr(&fragmenting)->packets);
	local_unlock_nested_bh(&fragmenting.bh_lock);
}

static void fragment_end(struct fragmented *packet)
{
	local_lock_nested_bh(&fragmenting.bh_lock);
	hlist_del(&packet->node);
	local_unlock_nested_bh(&fragmenting.bh_lock);
}

/* Fragments are output one by one, by the task that fragments. */
static int output_fragment(struct net *net, struct sock *sk,
			   struct sk_buff *skb)
{
	const struct fragmented *packet;

	local_lock_nested_bh(&fragmenting.bh_lock);
	hlist_for_each_entry(packet, &this_cpu_ptr(&fragmenting)->packets, node)
		if (packet->task == current)
			break;
	local_unlock_nested_bh(&fragmenting.bh_lock);
	to_neighbour(packet->way, skb);
	return 0;
}

static void output_big(const struct way *way, struct sk_buff *skb)
{
	struct net *net = way->state->net;
	struct fragmented packet;

	fragment_begin(&packet, way);
	if (skb->protocol == htons(ETH_P_IPV6))
		ip6_fragment(net, skb->sk, skb, output_fragment);
	else
		ip_do_fragment(net, skb->sk, skb, output_fragment);
	fragment_end(&packet);
}

static void output_segments(const struct way *way, struct sk_buff *skb,
			    void (*output)(const struct way *way,
					   struct sk_buff *skb))
{
	struct sk_buff *segs, *seg, *next;

	segs = skb_gso_segment(skb, 0);
	if (IS_ERR_OR_NULL(segs)) {
		chs_stats_event(way->svc->stats, CHS_DROP_NO_MEMORY);
		kfree_skb(skb);
		return;
	}
	consume_skb(skb);
	skb_list_walk_safe(segs, seg, next) {
		skb_mark_not_on_list(seg);
		output(way, seg);
	}
}

static void output(const struct way *way, struct sk_buff *skb)
{
	struct dst_entry *dst = skb_dst(skb);

	if (unlikely(dst->lwtstate || dst_xfrm(dst))) {
		/* A cipher may take longer than this packet's grace period. */
		if (skb_dst_force(skb)) {
			dst_output(way->state->net, skb->sk, skb);
			return;
		}
		chs_stats_event(way->svc->stats, CHS_DROP_NO_ROUTE);
		kfree_skb(skb);
	} else if (likely(way->fits)) {
		to_neighbour(way, skb);
	} else if (skb_is_gso(skb)) {
		output_segments(way, skb, output_big);
	} else {
		output_big(way, skb);
	}
}

static void output_encapsulated(const struct way *way, struct sk_buff *skb)
{
	if (chs_tunnel_push(skb, way->svc, way->backend, &way->hop, way->hash,
			    way->fits)) {
		chs_stats_event(way->svc->stats, CHS_DROP_NO_MEMORY);
		kfree_skb(skb);
		return;
	}
	output(way, skb);
}

/*
 * A GSO packet that cannot be segmented any more with another header before it, or
 * would be longer then than that header's length field holds. The stack does the
 * same before a tunnel device, by its gso_max_size.
 */
static bool must_segment(const struct way *way, const struct sk_buff *skb)
{
	return skb_is_gso(skb) &&
	       (skb->encapsulation || skb->len + overhead(way) > IP_MAX_MTU ||
		skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST);
}

static void transmit(const struct way *way, struct sk_buff *skb)
{
	if (!is_encapsulated(way))
		output(way, skb);
	else if (unlikely(must_segment(way, skb)))
		output_segments(way, skb, output_encapsulated);
	else
		output_encapsulated(way, skb);
}

/**
 * chs_forward() - send a packet to its backend
 * @skb: packet, as it came; consumed, unless the verdict is NF_DROP
 * @state: the hook's state
 * @svc: its service
 * @backend: where it goes
 * @hash: hash of its flow
 *
 * Counts what becomes of it.
 *
 * Context: netfilter hook at PRE_ROUTING or LOCAL_OUT, bottom halves off.
 * Return: NF_STOLEN, or NF_DROP.
 */
unsigned int chs_forward(struct sk_buff *skb, const struct nf_hook_state *state,
			 const struct chs_service *svc,
			 const struct chs_backend *backend, u64 hash)
{
	struct way way = {
		.state = state,
		.svc = svc,
		.backend = backend,
		.hash = hash,
		.v6 = state->pf == NFPROTO_IPV6,
		.local = state->hook == NF_INET_LOCAL_OUT,
	};
	unsigned int len = skb->len;
	enum chs_event reason;

	reason = check(&way, skb);
	if (likely(reason == KEEP))
		reason = find_way(&way, skb);
	if (likely(reason == KEEP))
		reason = check_size(&way, skb);
	if (likely(reason == KEEP))
		reason = prepare(&way, skb);
	if (unlikely(reason != KEEP))
		return chs_refuse(skb, state, way.svc, reason);

	chs_stats_packet(way.svc->counters, len);
	chs_stats_packet(way.backend->counters, len);
	if (!(READ_ONCE(way.neigh->nud_state) & NUD_VALID))
		chs_stats_event(way.svc->stats, CHS_EVENT_UNRESOLVED);
	transmit(&way, skb);
	return NF_STOLEN;
}
