/* SPDX-License-Identifier: GPL-2.0-only */
/* Putting fragments together. */
#ifndef CHS_FRAGMENT_H
#define CHS_FRAGMENT_H

struct nf_hook_state;
struct sk_buff;

int chs_fragment_gather(struct sk_buff *skb, const struct nf_hook_state *state);

#endif /* CHS_FRAGMENT_H */
