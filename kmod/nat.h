/* SPDX-License-Identifier: GPL-2.0-only */
/* Mode nat: destination translation by nf_nat, flows kept by nf_conntrack. */
#ifndef CHS_NAT_H
#define CHS_NAT_H

#include <linux/types.h>

#include "steer.h"

struct nf_conn;
struct nf_hook_state;
struct sk_buff;

int chs_nat_init(void);
void chs_nat_exit(void);

unsigned int chs_nat_before(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state);
unsigned int chs_nat_choose(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state);
unsigned int chs_nat_guard(void *priv, struct sk_buff *skb,
			   const struct nf_hook_state *state);
unsigned int chs_nat_demux(void *priv, struct sk_buff *skb,
			   const struct nf_hook_state *state);
unsigned int chs_nat_masquerade(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state);

bool chs_nat_tuple(const struct nf_conn *ct, struct chs_tuple *tuple);
const struct chs_backend *chs_nat_backend(const struct chs_service *svc,
					  const struct nf_conn *ct,
					  __be16 dport);
struct nf_conn *chs_nat_find(struct net *net, const struct chs_tuple *tuple,
			     s32 zone);
void chs_nat_lookup(const struct nf_conn *ct, const struct chs_tuple *tuple,
		    bool established, struct chs_verdict *verdict);

#endif /* CHS_NAT_H */
