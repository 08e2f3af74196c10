/* SPDX-License-Identifier: GPL-2.0-only */
/* The hook of the direct modes. */
#ifndef CHS_DIRECT_H
#define CHS_DIRECT_H

struct nf_hook_state;
struct sk_buff;

unsigned int chs_direct_v4(void *priv, struct sk_buff *skb,
			   const struct nf_hook_state *state);
unsigned int chs_direct_v6(void *priv, struct sk_buff *skb,
			   const struct nf_hook_state *state);

#endif /* CHS_DIRECT_H */
