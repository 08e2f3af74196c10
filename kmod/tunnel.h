/* SPDX-License-Identifier: GPL-2.0-only */
/* Modes ipip and gue: outer headers, and errors about them. */
#ifndef CHS_TUNNEL_H
#define CHS_TUNNEL_H

#include <linux/types.h>

struct chs_backend;
struct chs_hop;
struct chs_packet;
struct chs_service;
struct chs_table;
struct nf_hook_state;
struct sk_buff;

u32 chs_tunnel_overhead(u8 mode, bool outer_v6);
int chs_tunnel_push(struct sk_buff *skb, const struct chs_service *svc,
		    const struct chs_backend *backend,
		    const struct chs_hop *hop, u64 hash, bool fits);
void chs_tunnel_error(struct sk_buff *skb, const struct nf_hook_state *state,
		      const struct chs_table *table, s32 vrf,
		      const struct chs_packet *pkt);

#endif /* CHS_TUNNEL_H */
