// SPDX-License-Identifier: GPL-2.0-only
/* Refusing a packet so that its sender learns of it. */
#include "reject.h"

#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/in.h>
#include <linux/netfilter.h>
#include <net/netfilter/ipv4/nf_reject.h>
#include <net/netfilter/ipv6/nf_reject.h>

/**
 * chs_reject() - answer a packet with a reset or an ICMP port unreachable
 * @skb: packet; still the caller's
 * @state: the hook's state
 * @proto: its transport protocol
 *
 * Context: netfilter hook at PRE_ROUTING or LOCAL_OUT, bottom halves off.
 */
void chs_reject(struct sk_buff *skb, const struct nf_hook_state *state,
		unsigned char proto)
{
	bool tcp = proto == IPPROTO_TCP;

	if (state->pf == NFPROTO_IPV4 && tcp)
		nf_send_reset(state->net, state->sk, skb, state->hook);
	else if (state->pf == NFPROTO_IPV4)
		nf_send_unreach(skb, ICMP_PORT_UNREACH, state->hook);
	else if (tcp)
		nf_send_reset6(state->net, state->sk, skb, state->hook);
	else
		nf_send_unreach6(state->net, skb, ICMPV6_PORT_UNREACH,
				 state->hook);
}
