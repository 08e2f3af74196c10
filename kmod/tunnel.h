/* SPDX-License-Identifier: GPL-2.0-only */
/* Modes ipip and gue: outer headers, and errors about them. */
#ifndef CHS_TUNNEL_H
#define CHS_TUNNEL_H

#include <linux/ip.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/ip.h>

struct chs_backend;
struct chs_hop;
struct chs_packet;
struct chs_service;
struct chs_table;
struct nf_hook_state;

/* Source ports of GUE: 14 bits of the flow's hash, as RFC 7510 has it. */
#define CHS_TUNNEL_SPORT_BASE	0xc000
#define CHS_TUNNEL_SPORT_MASK	0x3fff

/**
 * chs_tunnel_sport() - outer UDP source port of mode gue
 * @hash: hash of the flow
 *
 * Context: any.
 * Return: the port.
 */
static inline __be16 chs_tunnel_sport(u64 hash)
{
	return htons(CHS_TUNNEL_SPORT_BASE | (hash & CHS_TUNNEL_SPORT_MASK));
}

/**
 * chs_tunnel_has_df() - whether nobody may fragment a packet on its way
 * @skb: packet at whose network header it is
 * @v6: it is IPv6, which is never fragmented on the way
 *
 * Context: any.
 * Return: true if so.
 */
static inline bool chs_tunnel_has_df(const struct sk_buff *skb, bool v6)
{
	return v6 || ip_hdr(skb)->frag_off & htons(IP_DF);
}

u32 chs_tunnel_overhead(u8 mode, bool outer_v6);
int chs_tunnel_push(struct sk_buff *skb, const struct chs_service *svc,
		    const struct chs_backend *backend,
		    const struct chs_hop *hop, u64 hash, bool fits);
bool chs_tunnel_error(struct sk_buff *skb, const struct nf_hook_state *state,
		      const struct chs_table *table, s32 vrf,
		      const struct chs_packet *pkt);

#endif /* CHS_TUNNEL_H */
