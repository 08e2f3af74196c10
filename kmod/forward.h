/* SPDX-License-Identifier: GPL-2.0-only */
/* Sending a packet of a direct mode on its way. */
#ifndef CHS_FORWARD_H
#define CHS_FORWARD_H

#include <linux/skbuff.h>
#include <net/dst.h>

struct chs_backend;
struct chs_service;
struct nf_hook_state;

unsigned int chs_forward(struct sk_buff *skb, const struct nf_hook_state *state,
			 const struct chs_service *svc,
			 const struct chs_backend *backend, u64 hash);

/**
 * chs_forward_forget() - have a packet let go of how it came here
 * @skb: packet that is to go on, its headers writable
 *
 * Context: any.
 */
static inline void chs_forward_forget(struct sk_buff *skb)
{
	skb_forward_csum(skb);
	skb_clear_tstamp(skb);
#if IS_ENABLED(CONFIG_BRIDGE_NETFILTER)
	skb_ext_del(skb, SKB_EXT_BRIDGE_NF);
#endif
	skb_dst_drop(skb);
}

#endif /* CHS_FORWARD_H */
