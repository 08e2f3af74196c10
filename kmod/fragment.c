// SPDX-License-Identifier: GPL-2.0-only
/*
 * Putting fragments together, so that they follow their datagram.
 *
 * Only fragments to an address of a direct service come here. The stack's own
 * defragmentation hook, once on, takes every fragment that passes the host.
 */
#include "fragment.h"

#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/ipv6_frag.h>
#include <net/netfilter/ipv6/nf_defrag_ipv6.h>

/**
 * chs_fragment_gather() - add a fragment to its datagram
 * @skb: fragment; becomes the datagram when it is complete
 * @state: the hook's state
 *
 * Datagrams that are never complete are given up by the stack, which counts
 * them (IpReasmFails, Ip6ReasmFails).
 *
 * Context: netfilter hook, bottom halves off.
 * Return: 0 if @skb is the datagram; -EINPROGRESS if it was consumed; another
 * negative errno if it cannot be used: of IPv4 it was consumed as well.
 */
int chs_fragment_gather(struct sk_buff *skb, const struct nf_hook_state *state)
{
	int err;

	if (state->pf == NFPROTO_IPV6)
		return nf_ct_frag6_gather(state->net, skb,
					  IP6_DEFRAG_CONNTRACK_IN);

	err = ip_defrag(state->net, skb, IP_DEFRAG_VS_IN);
	if (!err) {
		ip_send_check(ip_hdr(skb));
		skb->ignore_df = 1;
	}
	return err;
}
