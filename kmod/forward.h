/* SPDX-License-Identifier: GPL-2.0-only */
/* Sending a packet of a direct mode on its way. */
#ifndef CHS_FORWARD_H
#define CHS_FORWARD_H

struct chs_verdict;
struct nf_hook_state;
struct sk_buff;

unsigned int chs_forward(struct sk_buff *skb, const struct nf_hook_state *state,
			 const struct chs_verdict *verdict);

#endif /* CHS_FORWARD_H */
