/* SPDX-License-Identifier: GPL-2.0-only */
/* Refusing a packet so that its sender learns of it. */
#ifndef CHS_REJECT_H
#define CHS_REJECT_H

struct nf_hook_state;
struct sk_buff;

void chs_reject(struct sk_buff *skb, const struct nf_hook_state *state,
		unsigned char proto);

#endif /* CHS_REJECT_H */
