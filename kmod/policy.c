// SPDX-License-Identifier: GPL-2.0-only
/* Policies of IPsec, which packets of the direct modes do not meet otherwise. */
#include "policy.h"

#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <net/addrconf.h>
#include <net/route.h>

/* As the routing decision does that such a packet does not meet. */
static bool exempt_v4(const struct nf_hook_state *state)
{
	struct in_device *in_dev = __in_dev_get_rcu(state->in);

	return in_dev && IN_DEV_ORCONF(in_dev, NOPOLICY);
}

static bool allows_v4(struct sk_buff *skb, const struct nf_hook_state *state)
{
	if (exempt_v4(state))
		return true;
	if (!xfrm4_policy_check(NULL, XFRM_POLICY_FWD, skb))
		return false;
	return inet_addr_type_dev_table(state->net, state->in,
					ip_hdr(skb)->daddr) != RTN_LOCAL ||
	       xfrm4_policy_check(NULL, XFRM_POLICY_IN, skb);
}

static bool allows_v6(struct sk_buff *skb, const struct nf_hook_state *state)
{
	if (!xfrm6_policy_check(NULL, XFRM_POLICY_FWD, skb))
		return false;
	return !ipv6_chk_addr(state->net, &ipv6_hdr(skb)->daddr, NULL, 0) ||
	       xfrm6_policy_check(NULL, XFRM_POLICY_IN, skb);
}

/**
 * chs_policy_allows() - whether the policies of IPsec let a packet in
 * @skb: packet for a service in a direct mode, as it came
 * @state: the hook's state
 *
 * It is forwarded, so those of that direction are asked; those of what is for this
 * host as well, if the service's address is its own: without the service the
 * packet would meet them, and it is for whoever wrote them to say what may come in
 * unprotected.
 *
 * Context: netfilter hook at PRE_ROUTING, bottom halves off; under RCU.
 * Return: false if it is to be dropped.
 */
bool chs_policy_allows(struct sk_buff *skb, const struct nf_hook_state *state)
{
	return state->pf == NFPROTO_IPV6 ? allows_v6(skb, state) :
					   allows_v4(skb, state);
}
