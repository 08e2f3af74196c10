// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modes ipip and gue: outer headers, and errors about them.
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
#include "icmp.h"
#include "packet.h"
#include "service.h"
#include "steer.h"
#include "vrf.h"

#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/netfilter.h>
#include <net/inet_ecn.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ip_tunnels.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp.h>

/* Source ports of GUE: 14 bits of the flow's hash, as RFC 7510 has it. */
#define SPORT_BASE	0xc000
#define SPORT_MASK	0x3fff

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
	udp->source = htons(SPORT_BASE | (hash & SPORT_MASK));
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
	/* What is never fragmented needs none: RFC 6864, 4.1. */
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

/* IPv6 is never fragmented on the way. */
static bool has_df(const struct sk_buff *skb, bool v6)
{
	return v6 || ip_hdr(skb)->frag_off & htons(IP_DF);
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
	/* Who sends IPv6 need not hear of less than the least MTU: RFC 4213. */
	df = fits && has_df(skb, v6) && (!v6 || skb->len > IPV6_MIN_MTU);

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
	/* What may be fragmented was decided by the inner packet. */
	skb->ignore_df = 1;
	return 0;
}

/**
 * struct quote - an ICMP error about an outer packet of this host's
 * @inner_off: where the inner packet is, from the start of the quoted one
 * @mtu: of the path, in bytes
 * @outer: protocol of the outer packet
 * @v6: the inner packet is IPv6
 */
struct quote {
	u32 inner_off;
	u32 mtu;
	u8 outer;
	bool v6;
};

/* @skb: from the quoted packet on, @len bytes of it linear. */
static bool parse_outer_v4(const struct sk_buff *skb, struct quote *quote)
{
	const struct iphdr *ip = (const struct iphdr *)skb->data;

	quote->outer = ip->protocol;
	quote->inner_off = ip->ihl * 4;
	return ip->version == 4 && ip->ihl >= 5;
}

static bool parse_outer_v6(const struct sk_buff *skb, struct quote *quote)
{
	const struct ipv6hdr *ip = (const struct ipv6hdr *)skb->data;

	quote->outer = ip->nexthdr;
	quote->inner_off = sizeof(*ip);
	return ip->version == 6;
}

static bool parse_inner(struct sk_buff *skb, struct quote *quote)
{
	u32 need;
	u8 version;

	switch (quote->outer) {
	case IPPROTO_UDP:
		quote->inner_off += sizeof(struct udphdr);
		break;
	case IPPROTO_IPIP:
	case IPPROTO_IPV6:
		break;
	default:
		return false;
	}
	if (!pskb_may_pull(skb, quote->inner_off + 1))
		return false;
	version = skb->data[quote->inner_off] >> 4;
	if (version != 4 && version != 6)
		return false;
	quote->v6 = version == 6;
	need = quote->v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	return pskb_may_pull(skb, quote->inner_off + need + 8);
}

/* The path's MTU that the error at @skb's network header tells of, or 0. */
static u32 told_mtu(const struct sk_buff *skb, bool v6,
		    const struct chs_packet *pkt)
{
	u32 off = skb_network_offset(skb) + pkt->l4_off;
	const struct icmp6hdr *icmp6;
	const struct icmphdr *icmp;
	struct icmp6hdr buf6;
	struct icmphdr buf;

	if (v6) {
		icmp6 = skb_header_pointer(skb, off, sizeof(buf6), &buf6);
		return icmp6 && icmp6->icmp6_type == ICMPV6_PKT_TOOBIG ?
		       ntohl(icmp6->icmp6_mtu) : 0;
	}
	icmp = skb_header_pointer(skb, off, sizeof(buf), &buf);
	return icmp && icmp->type == ICMP_DEST_UNREACH &&
	       icmp->code == ICMP_FRAG_NEEDED ? ntohs(icmp->un.frag.mtu) : 0;
}

/* The service whose packet it is that is at @skb's network header. */
static const struct chs_service *quoted_service(struct sk_buff *skb,
						const struct chs_table *table,
						const struct quote *quote,
						s32 vrf)
{
	u8 mode = quote->outer == IPPROTO_UDP ? CHS_MODE_GUE : CHS_MODE_IPIP;
	const struct chs_service *svc;
	struct chs_tuple tuple;

	if (!chs_packet_parse_quote(skb, quote->v6, &tuple))
		return NULL;
	svc = chs_steer_service(table, &tuple, vrf);
	return svc && svc->mode == mode ? svc : NULL;
}

/* As the client sent it: forwarding has taken one hop off. */
static void restore_hop(struct sk_buff *skb, bool v6)
{
	if (v6) {
		ipv6_hdr(skb)->hop_limit++;
	} else {
		ip_hdr(skb)->ttl++;
		ip_send_check(ip_hdr(skb));
	}
}

/**
 * chs_tunnel_error() - heed an error about a packet that this host sent
 * @skb: ICMP or ICMPv6 error; not changed
 * @state: the hook's state
 * @table: services in force
 * @vrf: number of the VRF that it came in by, or 0
 * @pkt: what it is
 *
 * A router on the way to a backend found an outer packet too big. Without a
 * tunnel device nobody else would learn of it: the path's MTU is noted, and the
 * client told, so that it need not run into it once more.
 *
 * Context: netfilter hook at PRE_ROUTING, bottom halves off.
 */
void chs_tunnel_error(struct sk_buff *skb, const struct nf_hook_state *state,
		      const struct chs_table *table, s32 vrf,
		      const struct chs_packet *pkt)
{
	bool v6 = state->pf == NFPROTO_IPV6;
	const struct chs_service *svc;
	struct quote quote;
	struct sk_buff *copy;
	u32 overhead;
	s32 oif;

	quote.mtu = told_mtu(skb, v6, pkt);
	if (!quote.mtu)
		return;

	copy = skb_copy(skb, GFP_ATOMIC | __GFP_NOWARN);
	if (!copy)
		return;
	if (!__skb_pull(copy, skb_network_offset(copy) + pkt->quote_off) ||
	    !pskb_may_pull(copy, v6 ? sizeof(struct ipv6hdr) :
				      sizeof(struct iphdr)) ||
	    !(v6 ? parse_outer_v6(copy, &quote) :
		   parse_outer_v4(copy, &quote)) ||
	    !parse_inner(copy, &quote))
		goto out;

	skb_set_network_header(copy, quote.inner_off);
	svc = quoted_service(copy, table, &quote, vrf);
	if (!svc)
		goto out;
	oif = svc->vrf_ref ? chs_vrf_ifindex(svc->vrf_ref) : 0;

	if (v6)
		ip6_update_pmtu(copy, state->net, htonl(quote.mtu), oif, 0,
				sock_net_uid(state->net, NULL));
	else
		ipv4_update_pmtu(copy, state->net, quote.mtu, oif,
				 quote.outer);

	overhead = chs_tunnel_overhead(svc->mode, v6);
	quote.mtu -= min(quote.mtu, overhead);
	/* Otherwise the outer packet will be fragmented from now on. */
	if (has_df(copy, quote.v6) &&
	    (!quote.v6 || quote.mtu >= IPV6_MIN_MTU)) {
		__skb_pull(copy, quote.inner_off);
		restore_hop(copy, quote.v6);
		chs_icmp_relay_too_big(copy, state, quote.v6, quote.mtu);
	}
out:
	kfree_skb(copy);
}
