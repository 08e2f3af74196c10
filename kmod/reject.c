// SPDX-License-Identifier: GPL-2.0-only
/* Refusing a packet. */
#include "reject.h"

#include "icmp.h"
#include "service.h"

#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/in.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <net/netfilter/ipv4/nf_reject.h>
#include <net/netfilter/ipv6/nf_reject.h>

/*
 * At PRE_ROUTING, when a packet has no route yet, the stack's helpers look for one
 * in the main table, whichever VRF the packet is in. A packet that has a route they
 * answer in a VRF: as at LOCAL_IN, when each has. Errors take the VRF from the
 * packet's device, resets from the route's device.
 */
static bool in_vrf(const struct nf_hook_state *state)
{
	return state->in && netif_is_l3_slave(state->in);
}

/* Answer it with a reset or an ICMP port unreachable. */
static void reject(struct sk_buff *skb, const struct nf_hook_state *state,
		   u8 proto)
{
	unsigned int hook = state->hook;
	bool tcp = proto == IPPROTO_TCP;

	if (in_vrf(state)) {
		if (tcp ? !chs_icmp_route_back(skb, state) :
			  !chs_icmp_route(skb, state))
			return;
		hook = NF_INET_LOCAL_IN;
	}

	if (state->pf == NFPROTO_IPV4 && tcp)
		nf_send_reset(state->net, state->sk, skb, hook);
	else if (state->pf == NFPROTO_IPV4)
		nf_send_unreach(skb, ICMP_PORT_UNREACH, hook);
	else if (tcp)
		nf_send_reset6(state->net, state->sk, skb, hook);
	else
		nf_send_unreach6(state->net, skb, ICMPV6_PORT_UNREACH, hook);
}

/**
 * chs_refuse() - drop a packet and count it
 * @skb: packet
 * @state: the hook's state
 * @svc: its service
 * @reason: why
 *
 * At LOCAL_OUT it is freed and reported stolen, because NF_DROP would come back
 * to the sender's sendto() as EPERM.
 *
 * Context: netfilter hook, bottom halves off.
 * Return: verdict for the hook.
 */
unsigned int chs_refuse(struct sk_buff *skb, const struct nf_hook_state *state,
			const struct chs_service *svc, enum chs_event reason)
{
	chs_stats_event(svc->stats, reason);
	if (state->hook != NF_INET_LOCAL_OUT)
		return NF_DROP;

	kfree_skb(skb);
	return NF_STOLEN;
}

/**
 * chs_refuse_empty() - do what a service says of flows that no backend can take
 * @skb: packet of such a flow
 * @state: the hook's state
 * @svc: its service
 *
 * Context: netfilter hook at PRE_ROUTING or LOCAL_OUT, bottom halves off.
 * Return: verdict for the hook; NF_ACCEPT leaves it to the host.
 */
unsigned int chs_refuse_empty(struct sk_buff *skb,
			      const struct nf_hook_state *state,
			      const struct chs_service *svc)
{
	switch (svc->on_empty) {
	case CHS_ON_EMPTY_PASS:
		return NF_ACCEPT;
	case CHS_ON_EMPTY_REJECT:
		reject(skb, state, svc->proto);
		fallthrough;
	default:
		return chs_refuse(skb, state, svc, CHS_DROP_NO_BACKEND);
	}
}
