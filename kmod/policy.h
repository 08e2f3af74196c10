/* SPDX-License-Identifier: GPL-2.0-only */
/* Policies of IPsec, which packets of the direct modes do not meet otherwise. */
#ifndef CHS_POLICY_H
#define CHS_POLICY_H

#include <linux/types.h>
#include <net/net_namespace.h>
#include <net/xfrm.h>

struct nf_hook_state;
struct sk_buff;

/**
 * chs_policy_any() - whether a packet that came in may meet a policy
 * @net: network namespace
 *
 * A namespace that blocks what is for itself by default, and allows nothing, is
 * not told: no packet gets that far.
 *
 * Context: any.
 * Return: false if there is none to ask.
 */
static __always_inline bool chs_policy_any(const struct net *net)
{
#ifdef CONFIG_XFRM
	/* As xfrm reads them: READ_ONCE() would cost an instruction each. */
	return data_race((net->xfrm.policy_count[XFRM_POLICY_IN] |
			  net->xfrm.policy_count[XFRM_POLICY_FWD]) ||
			 net->xfrm.policy_default[XFRM_POLICY_FWD] !=
			 XFRM_USERPOLICY_ACCEPT);
#else
	return false;
#endif
}

bool chs_policy_allows(struct sk_buff *skb, const struct nf_hook_state *state);

#endif /* CHS_POLICY_H */
