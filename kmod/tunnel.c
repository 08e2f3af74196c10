// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modes ipip and gue: outer headers. Errors about them are tunnel_error.c's.
 *
 * ipip is RFC 2003, 2473 and 4213. gue is variant 1 of Generic UDP
 * Encapsulation (draft-ietf-intarea-gue): UDP directly around the IP packet,
 * which the first four bits tell from a GUE header. Linux takes either apart
 * (ip-link(8) type ipip, sit, ip6tnl; ip-fou(8) gue).
 *
 * iptunnel_xmit() and its like are not used: they count on skb->dev, which is
 * the device that the packet came in by and no tunnel.
 */
#include "tunnel.h"

#include "addr.h"
#include "endpoint.h"
#include "service.h"

#include <net/inet_ecn.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ip_tunnels.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp.h>

/**
 * chs_tunnel_overhead() - bytes that outer headers take
 * @mode: CHS_MODE_IPIP or CHS_MODE_GUE
 * @outer_v6: whether the outer packet is IPv6
 *
 * Context: any.
 * Return: number of bytes.
 */
u32 chs_tunnel_overhead(u8 mode, bool outer_v6)
{
	u32 ip = outer_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);

	return ip + (mode == CHS_MODE_GUE ? sizeof(struct udphdr) : 0);
}

static void push_udp(struct sk_buff *skb, const struct chs_service *svc,
		     const union chs_addr *daddr, const union chs_addr *saddr,
		     u64 hash)
{
	struct in6_addr saddr6, daddr6;
	struct udphdr *udp;

	skb_push(skb, sizeof(*udp));
	skb_reset_transport_header(skb);
	udp = udp_hdr(skb);
	udp->source = chs_tunnel_sport(hash);
	udp->dest = svc->gue_port;
	udp->len = htons(skb->len);
	udp->check = 0;

	if (chs_addr_is_v4(daddr)) {
		udp_set_csum(false, skb, saddr->w[3], daddr->w[3], skb->len);
	} else {
		chs_addr_to_in6(&saddr6, saddr);
		chs_addr_to_in6(&daddr6, daddr);
		udp6_set_csum(false, skb, &saddr6, &daddr6, skb->len);
	}
}

static void push_v4(struct sk_buff *skb, struct dst_entry *dst, __be32 daddr,
		    __be32 saddr, u8 proto, u8 tos, bool df)
{
	struct iphdr *ip;

	skb_push(skb, sizeof(*ip));
	skb_reset_network_header(skb);
	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	skb->protocol = htons(ETH_P_IP);

	ip = ip_hdr(skb);
	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->tos = tos;
	ip->tot_len = htons(skb->len);
	ip->frag_off = df ? htons(IP_DF) : 0;
	ip->ttl = ip4_dst_hoplimit(dst);
	ip->protocol = proto;
	ip->saddr = saddr;
	ip->daddr = daddr;
	/* An atomic datagram (DF) needs no identification: RFC 6864, 4.1. */
	if (df)
		ip->id = 0;
	else
		__ip_select_ident(dev_net(dst_dev_rcu(dst)), ip,
				  skb_shinfo(skb)->gso_segs ?: 1);
	ip_send_check(ip);
}

static void push_v6(struct sk_buff *skb, struct dst_entry *dst,
		    const union chs_addr *daddr, const union chs_addr *saddr,
		    u8 proto, u8 tos, u64 hash)
{
	struct ipv6hdr *ip;

	skb_push(skb, sizeof(*ip));
	skb_reset_network_header(skb);
	memset(IP6CB(skb), 0, sizeof(*IP6CB(skb)));
	skb->protocol = htons(ETH_P_IPV6);

	ip = ipv6_hdr(skb);
	/* A label of the flow's, so that it is spread over links: RFC 6438. */
	ip6_flow_hdr(ip, tos, htonl(hash) & IPV6_FLOWLABEL_MASK);
	ip->payload_len = htons(skb->len - sizeof(*ip));
	ip->nexthdr = proto;
	ip->hop_limit = ip6_dst_hoplimit(dst);
	chs_addr_to_in6(&ip->saddr, saddr);
	chs_addr_to_in6(&ip->daddr, daddr);
}

/**
 * chs_tunnel_push() - encapsulate a packet
 * @skb: packet with room before it, its headers writable
 * @svc: its service
 * @backend: its backend
 * @hop: the way to it
 * @hash: hash of the flow
 * @fits: the outer packet need not be fragmented
 *
 * DSCP and ECN are copied as RFC 2983 and 3168 say; the outer hop limit is this
 * host's own.
 *
 * Context: bottom halves off.
 * Return: 0 or -ENOMEM.
 */
int chs_tunnel_push(struct sk_buff *skb, const struct chs_service *svc,
		    const struct chs_backend *backend,
		    const struct chs_hop *hop, u64 hash, bool fits)
{
	const union chs_addr *daddr = &backend->id.addr;
	bool v6 = skb->protocol == htons(ETH_P_IPV6);
	u8 proto = v6 ? IPPROTO_IPV6 : IPPROTO_IPIP;
	bool outer_v4 = chs_addr_is_v4(daddr);
	int gso_type;
	bool df;
	u8 tos;

	tos = v6 ? ipv6_get_dsfield(ipv6_hdr(skb)) :
		   ipv4_get_dsfield(ip_hdr(skb));
	tos = INET_ECN_encapsulate(tos, tos);
	/*
	 * A sender of IPv6 need not obey an MTU below 1280: fragment the outer
	 * packet instead (RFC 4213, 3.2).
	 */
	df = fits && chs_tunnel_has_df(skb, v6) && (!v6 || skb->len > IPV6_MIN_MTU);

	gso_type = outer_v4 ? SKB_GSO_IPXIP4 : SKB_GSO_IPXIP6;
	if (svc->mode == CHS_MODE_GUE)
		gso_type |= SKB_GSO_UDP_TUNNEL_CSUM;
	if (iptunnel_handle_offloads(skb, gso_type))
		return -ENOMEM;
	skb->transport_header = skb->network_header;
	skb_set_inner_ipproto(skb, proto);
	skb_set_inner_mac_header(skb, skb_inner_network_offset(skb));

	if (svc->mode == CHS_MODE_GUE) {
		push_udp(skb, svc, daddr, &hop->source, hash);
		proto = IPPROTO_UDP;
	}
	if (outer_v4)
		push_v4(skb, hop->dst, daddr->w[3], hop->source.w[3], proto,
			tos, df);
	else
		push_v6(skb, hop->dst, daddr, &hop->source, proto, tos, hash);
	/*
	 * The DF bit was derived from the inner packet above; ip_fragment()
	 * must not judge again.
	 */
	skb->ignore_df = 1;
	return 0;
}
