/* SPDX-License-Identifier: GPL-2.0-only */
/* ICMP and ICMPv6 errors that a director itself sends. */
#ifndef CHS_ICMP_H
#define CHS_ICMP_H

#include <linux/types.h>

struct nf_hook_state;
struct sk_buff;

#define CHS_ICMP_BUCKETS	256

/**
 * struct chs_icmp_bucket - errors to the clients of one hash value, or to all
 * @last: jiffies when @tokens was right
 * @tokens: errors that may be sent at once, times HZ
 */
struct chs_icmp_bucket {
	unsigned long last;
	unsigned long tokens;
};

bool chs_icmp_route(struct sk_buff *skb, const struct nf_hook_state *state);
bool chs_icmp_route_back(struct sk_buff *skb, const struct nf_hook_state *state);
void chs_icmp_exceeded(struct sk_buff *skb, const struct nf_hook_state *state);
void chs_icmp_beyond_scope(struct sk_buff *skb,
			   const struct nf_hook_state *state);
bool chs_icmp_too_big(struct sk_buff *skb, const struct nf_hook_state *state,
		      u32 mtu);
bool chs_icmp_relay_too_big(struct sk_buff *skb,
			    const struct nf_hook_state *state, bool v6,
			    u32 mtu);

#endif /* CHS_ICMP_H */
