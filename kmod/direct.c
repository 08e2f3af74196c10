// SPDX-License-Identifier: GPL-2.0-only
/*
 * The direct modes, route, ipip and gue: one hook, after raw and before
 * conntrack, that takes a packet for one of their services and sends it on.
 *
 * A packet for an address of theirs but for no service is the host's.
 */
#include "direct.h"

#include "forward.h"
#include "forward_plain.h"
#include "fragment.h"
#include "netns.h"
#include "packet.h"
#include "packet_plain.h"
#include "reject.h"
#include "stats.h"
#include "steer.h"
#include "tunnel.h"
#include "vrf.h"

#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/ipv6.h>

/**
 * struct arrival - a packet at the hook
 * @skb: packet
 * @state: the hook's state
 * @table: services in force
 * @vrf: number of the VRF that it came in by, or 0
 * @v6: it is IPv6
 * @gathered: it was put together from fragments
 * @pkt: what it is
 */
struct arrival {
	struct sk_buff *skb;
	const struct nf_hook_state *state;
	const struct chs_table *table;
	s32 vrf;
	bool v6;
	bool gathered;
	struct chs_packet pkt;
};

/* It is in a VRF, or is a VRF's own. */
static __always_inline bool is_of_vrf(const struct net_device *dev)
{
	return unlikely(netif_is_l3_slave(dev) || netif_is_l3_master(dev));
}

static void daddr_of(const struct arrival *arrival, union chs_addr *addr)
{
	if (arrival->v6)
		memcpy(addr->b, &ipv6_hdr(arrival->skb)->daddr,
		       sizeof(addr->b));
	else
		chs_addr_set_v4(addr, ip_hdr(arrival->skb)->daddr);
}

/* A service in a direct mode at the address that the packet is sent to. */
static const struct chs_service *addressee(const struct arrival *arrival)
{
	union chs_addr addr;

	daddr_of(arrival, &addr);
	return chs_table_direct_at(arrival->table, &addr, arrival->vrf);
}

static const struct chs_service *service_of(const struct arrival *arrival)
{
	const struct chs_service *svc;

	svc = chs_steer_service(arrival->table, &arrival->pkt.tuple,
				arrival->vrf);
	return svc && chs_service_is_direct(svc) ? svc : NULL;
}

static __always_inline void count_flow(const struct chs_verdict *verdict,
				       bool syn)
{
	if (likely(!syn && !verdict->created) ||
	    verdict->reason != CHS_REASON_RING)
		return;
	chs_stats_flow(verdict->svc->counters);
	chs_stats_flow(verdict->backend->counters);
}

static unsigned int refuse_empty(struct sk_buff *skb,
				 const struct nf_hook_state *state,
				 const struct chs_service *svc,
				 enum chs_packet_kind kind)
{
	unsigned int result;

	/* An error is never answered, and may concern the host. */
	if (kind == CHS_PACKET_ICMP_ERROR) {
		chs_stats_event(svc->stats, CHS_EVENT_ICMP_UNMATCHED);
		return NF_ACCEPT;
	}
	result = chs_refuse_empty(skb, state, svc);
	if (result == NF_ACCEPT)
		chs_stats_event(svc->stats, CHS_EVENT_PASSED);
	return result;
}

/*
 * A service is nobody's client: its address is many hosts'. One that this host
 * sends is its own affair.
 */
static bool is_from_service(const struct arrival *arrival)
{
	return arrival->state->hook == NF_INET_PRE_ROUTING &&
	       arrival->pkt.kind == CHS_PACKET_FLOW &&
	       chs_table_direct_at(arrival->table, &arrival->pkt.tuple.saddr,
				   arrival->vrf);
}

static unsigned int steer(const struct arrival *arrival,
			  const struct chs_service *svc)
{
	const struct chs_packet *pkt = &arrival->pkt;
	struct chs_verdict verdict;

	if (unlikely(is_from_service(arrival)))
		return chs_refuse(arrival->skb, arrival->state, svc,
				  CHS_DROP_MARTIAN);

	if (unlikely(pkt->routed))
		return chs_refuse(arrival->skb, arrival->state, svc,
				  CHS_DROP_SOURCE_ROUTE);
	chs_steer_packet(svc, pkt, &verdict);
	if (unlikely(!verdict.backend))
		return refuse_empty(arrival->skb, arrival->state, svc,
				    pkt->kind);

	if (pkt->kind != CHS_PACKET_ICMP_ERROR)
		count_flow(&verdict, pkt->syn);
	return chs_forward(arrival->skb, arrival->state, svc, verdict.backend,
			   verdict.hash);
}

static unsigned int arrive(struct arrival *arrival);

static unsigned int gather(struct arrival *arrival)
{
	const struct chs_service *svc = addressee(arrival);
	int err;

	if (!svc)
		return NF_ACCEPT;
	if (arrival->pkt.routed)
		return chs_refuse(arrival->skb, arrival->state, svc,
				  CHS_DROP_SOURCE_ROUTE);
	/* The stack does not find the header that says so. */
	if (arrival->gathered)
		return chs_refuse(arrival->skb, arrival->state, svc,
				  CHS_DROP_FRAGMENT);

	arrival->gathered = true;
	err = chs_fragment_gather(arrival->skb, arrival->state);
	if (!err)
		return arrive(arrival);
	if (err == -EINPROGRESS)
		return NF_STOLEN;
	if (arrival->v6)
		return chs_refuse(arrival->skb, arrival->state, svc,
				  CHS_DROP_FRAGMENT);
	chs_stats_event(svc->stats, CHS_DROP_FRAGMENT);
	return NF_STOLEN;
}

/* An error about what this host sent to a backend, also if it says too little. */
static bool is_about_tunnel(const struct arrival *arrival)
{
	return arrival->table->n_tunnel && arrival->pkt.quote_off &&
	       arrival->state->hook == NF_INET_PRE_ROUTING &&
	       chs_tunnel_error(arrival->skb, arrival->state, arrival->table,
				arrival->vrf, &arrival->pkt);
}

static unsigned int refuse_bad(const struct arrival *arrival)
{
	const struct chs_service *svc = addressee(arrival);

	if (svc)
		return chs_refuse(arrival->skb, arrival->state, svc,
				  CHS_DROP_MALFORMED);
	return is_about_tunnel(arrival) ? NF_DROP : NF_ACCEPT;
}

/* An error about what a backend sent, or about what this host sent to one. */
static unsigned int arrive_error(const struct arrival *arrival)
{
	const struct chs_service *svc = NULL;
	union chs_addr addr;

	if (arrival->pkt.kind == CHS_PACKET_ICMP_ERROR) {
		/* Not what quotes a service's packet to another's address. */
		daddr_of(arrival, &addr);
		if (chs_addr_equal(&addr, &arrival->pkt.tuple.daddr))
			svc = service_of(arrival);
	}
	if (svc)
		return steer(arrival, svc);
	return is_about_tunnel(arrival) ? NF_DROP : NF_ACCEPT;
}

static unsigned int arrive(struct arrival *arrival)
{
	struct chs_packet *pkt = &arrival->pkt;
	const struct chs_service *svc;

	chs_packet_parse(arrival->skb, arrival->v6, pkt);
	switch (pkt->kind) {
	case CHS_PACKET_FLOW:
		if (unlikely(pkt->fragment))
			return gather(arrival);
		svc = service_of(arrival);
		return svc ? steer(arrival, svc) : NF_ACCEPT;
	case CHS_PACKET_FRAGMENT:
		return gather(arrival);
	case CHS_PACKET_BAD:
		return refuse_bad(arrival);
	default:
		return pkt->quote_off ? arrive_error(arrival) : NF_ACCEPT;
	}
}

static unsigned int take_odd(struct sk_buff *skb,
			     const struct nf_hook_state *state,
			     const struct chs_table *table, s32 vrf)
{
	struct arrival arrival = {
		.skb = skb,
		.state = state,
		.table = table,
		.vrf = vrf,
		.v6 = state->pf == NFPROTO_IPV6,
	};

	return arrive(&arrival);
}

/*
 * From a process, which sends, or gives back what a queue of netfilter's had it
 * look at: bottom halves are on, and what is per CPU wants them off.
 */
static noinline unsigned int take_process(struct sk_buff *skb,
					  const struct nf_hook_state *state,
					  const struct chs_table *table)
{
	const struct net_device *dev = state->in ?: state->out;
	unsigned int verdict;
	s32 vrf = 0;

	local_bh_disable();
	if (dev && is_of_vrf(dev))
		vrf = chs_vrf_of_device(state->net, dev);
	verdict = take_odd(skb, state, table, vrf);
	local_bh_enable();
	return verdict;
}

static __always_inline unsigned int send_off(struct sk_buff *skb,
					     const struct nf_hook_state *state,
					     const struct chs_verdict *verdict,
					     bool v6)
{
	if (likely(chs_forward_plain(skb, state, verdict->svc, verdict->backend,
				     v6)))
		return NF_STOLEN;
	return chs_forward(skb, state, verdict->svc, verdict->backend,
			   verdict->hash);
}

/* A service whose ring alone does not say where a flow goes. */
static __always_inline unsigned int
take_unsettled(struct sk_buff *skb, const struct nf_hook_state *state,
	       const struct chs_service *svc, bool v6)
{
	struct chs_verdict verdict __uninitialized;
	struct chs_packet pkt __uninitialized;

	chs_packet_plain_read(skb, v6, &pkt);
	chs_steer_packet(svc, &pkt, &verdict);
	if (unlikely(!verdict.backend))
		return refuse_empty(skb, state, svc, CHS_PACKET_FLOW);
	count_flow(&verdict, pkt.syn);
	return send_off(skb, state, &verdict, v6);
}

static noinline unsigned int
take_unsettled_v4(struct sk_buff *skb, const struct nf_hook_state *state,
		  const struct chs_service *svc)
{
	return take_unsettled(skb, state, svc, false);
}

static noinline unsigned int
take_unsettled_v6(struct sk_buff *skb, const struct nf_hook_state *state,
		  const struct chs_service *svc)
{
	return take_unsettled(skb, state, svc, true);
}

/*
 * Read what is as nearly all are: nothing in its headers is to be judged. Its
 * source is no service's, by the filter that finds its destination.
 */
static __always_inline bool read_plain(const struct sk_buff *skb,
				       const struct chs_table *table,
				       struct chs_tuple *tuple, bool v6)
{
	const struct ipv6hdr *ipv6 = (const struct ipv6hdr *)skb->data;
	const struct iphdr *ip = (const struct iphdr *)skb->data;

	if (unlikely(!chs_packet_plain(skb, v6) ||
		     !(v6 ? chs_forward_plain_header_v6(ipv6) :
			    chs_forward_plain_header_v4(ip))))
		return false;
	chs_packet_plain_tuple(skb, v6, tuple);
	return v6 ? !chs_table_may_have_v6(table, &tuple->saddr) :
		    !chs_table_may_have_v4(table, chs_addr_v4(&tuple->saddr));
}

/* The usual way: a settled service, by the ring alone. */
static __always_inline unsigned int take_plain(struct sk_buff *skb,
					       const struct nf_hook_state *state,
					       const struct chs_table *table,
					       s32 vrf,
					       const struct chs_tuple *tuple,
					       bool v6)
{
	struct chs_verdict verdict __uninitialized;
	const struct chs_service *svc;
	u64 hash;

	svc = chs_steer_service(table, tuple, vrf);
	if (unlikely(!svc || !chs_service_is_direct(svc)))
		return NF_ACCEPT;
	if (!chs_steer_settled(svc))
		return v6 ? take_unsettled_v6(skb, state, svc) :
			    take_unsettled_v4(skb, state, svc);

	hash = v6 ? chs_tuple_hash_v6(tuple, svc->conf.hash, &svc->conf.key) :
		    chs_tuple_hash_v4(tuple, svc->conf.hash, &svc->conf.key);
	chs_steer_hash(svc, hash, &verdict);
	if (unlikely(!verdict.backend))
		return refuse_empty(skb, state, svc, CHS_PACKET_FLOW);
	count_flow(&verdict, chs_packet_plain_opens(skb, v6));
	return send_off(skb, state, &verdict, v6);
}

/*
 * A packet that comes in by a VRF passes PRE_ROUTING twice; the first time,
 * with the enslaved device, is taken. One that was sent passes LOCAL_OUT with
 * the VRF's device first.
 */
static __always_inline unsigned int take(struct sk_buff *skb,
					 const struct nf_hook_state *state,
					 const struct chs_table *table, bool v6)
{
	/* Only its tuple is used: declared alone, that would align the frame to 16. */
	struct chs_packet pkt __uninitialized;
	s32 vrf = 0;

	if (chs_steer_bridged(skb))
		return NF_ACCEPT;
	if (unlikely(state->hook == NF_INET_LOCAL_OUT))
		return take_process(skb, state, table);
	if (unlikely(skb->pkt_type != PACKET_HOST))
		return NF_ACCEPT;
	if (is_of_vrf(state->in)) {
		if (netif_is_l3_master(state->in))
			return NF_ACCEPT;
		vrf = chs_vrf_of_device(state->net, state->in);
	}
	if (unlikely(!softirq_count()))
		return take_process(skb, state, table);

	if (likely(read_plain(skb, table, &pkt.tuple, v6)))
		return take_plain(skb, state, table, vrf, &pkt.tuple, v6);
	return take_odd(skb, state, table, vrf);
}

/* Not part of the hooks, so that packets for others do not pay for its frame. */
static noinline unsigned int take_v4(struct sk_buff *skb,
				     const struct nf_hook_state *state,
				     const struct chs_table *table)
{
	return take(skb, state, table, false);
}

static noinline unsigned int take_v6(struct sk_buff *skb,
				     const struct nf_hook_state *state,
				     const struct chs_table *table)
{
	return take(skb, state, table, true);
}

static const struct chs_table *table_of(void *priv)
{
	const struct chs_net *cn = priv;

	return rcu_dereference(cn->table);
}

/**
 * chs_direct_v4() - hook of the direct modes for IPv4
 * @priv: struct chs_net
 * @skb: packet
 * @state: the hook's state
 *
 * Context: netfilter hook at PRE_ROUTING or LOCAL_OUT; under RCU.
 * Return: verdict.
 */
unsigned int chs_direct_v4(void *priv, struct sk_buff *skb,
			   const struct nf_hook_state *state)
{
	const struct chs_table *table = table_of(priv);
	const struct iphdr *ip = ip_hdr(skb);

	/* An error about an outer packet is for this host, not for a service. */
	if (!chs_table_may_have_v4(table, ip->daddr) &&
	    (!table->n_tunnel || ip->protocol != IPPROTO_ICMP))
		return NF_ACCEPT;
	return take_v4(skb, state, table);
}

/**
 * chs_direct_v6() - hook of the direct modes for IPv6
 * @priv: struct chs_net
 * @skb: packet
 * @state: the hook's state
 *
 * Context: netfilter hook at PRE_ROUTING or LOCAL_OUT; under RCU.
 * Return: verdict.
 */
unsigned int chs_direct_v6(void *priv, struct sk_buff *skb,
			   const struct nf_hook_state *state)
{
	const struct chs_table *table = table_of(priv);
	const struct ipv6hdr *ip = ipv6_hdr(skb);

	/* As for IPv4; other headers may come before that of ICMPv6. */
	if (!chs_table_may_have_v6(table, &ip->daddr) &&
	    (!table->n_tunnel || ip->nexthdr == IPPROTO_TCP ||
	     ip->nexthdr == IPPROTO_UDP))
		return NF_ACCEPT;
	return take_v6(skb, state, table);
}
