/* SPDX-License-Identifier: GPL-2.0-only */
/* Refusing a packet. */
#ifndef CHS_REJECT_H
#define CHS_REJECT_H

#include "stats.h"

struct chs_service;
struct nf_hook_state;
struct sk_buff;

unsigned int chs_refuse(struct sk_buff *skb, const struct nf_hook_state *state,
			const struct chs_service *svc, enum chs_event reason);
unsigned int chs_refuse_empty(struct sk_buff *skb,
			      const struct nf_hook_state *state,
			      const struct chs_service *svc);

#endif /* CHS_REJECT_H */
