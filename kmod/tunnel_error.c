// SPDX-License-Identifier: GPL-2.0-only
/*
 * ICMP errors about outer packets of modes ipip and gue.
 *
 * A router on the way to a backend finds an outer packet too big. Without a
 * tunnel device nobody else would learn of it: the path's MTU is noted, and the
 * client told, so that it need not run into it once more. pmtu.c says which of
 * these errors are obeyed; the others are counted by reason.
 *
 * The stack must not obey what is not obeyed here: its tunnel devices, FOU's
 * handler and UDP sockets of the same port ask no more than that the quoted
 * addresses are theirs. So an error about a path's MTU is dropped if it is for
 * this host and quotes a packet of a service, or one that may be: to a backend, by
 * its mode, but too little of it to tell the flow. The eight bytes of RFC 792 are
 * too little; RFC 1812 and 4884 have routers quote enough. So is the first fragment
 * of an error, which the stack would put together: routers send none.
 */
#include "tunnel.h"

#include "addr.h"
#include "endpoint.h"
#include "icmp.h"
#include "netns.h"
#include "packet.h"
#include "pmtu.h"
#include "route.h"
#include "service.h"
#include "stats.h"
#include "steer.h"
#include "vrf.h"

#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/netfilter.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>

/**
 * struct quote - an error, and the outer packet that it quotes
 * @error: what is judged of it
 * @off: where the outer packet is, from the start of the buffer
 * @inner_off: where the inner packet is, from the start of the buffer
 * @proto: of what the outer packet carries: IPPROTO_IPIP, _IPV6 or _UDP
 * @mode: that encapsulates so: CHS_MODE_IPIP or CHS_MODE_GUE
 * @v6: the outer packet is IPv6
 * @inner_v6: the inner one is
 * @odd: the outer one has options or is a later fragment, and was not sent by a
 *	service, or tells of no flow
 * @partial: the error is a fragment
 * @hidden: so that its outer packet is not there
 */
struct quote {
	struct chs_pmtu_error error;
	u32 off;
	u32 inner_off;
	u8 proto;
	u8 mode;
	bool v6;
	bool inner_v6;
	bool odd;
	bool partial;
	bool hidden;
};

/* Whether the ICMP header at @off tells of a packet that was too big. */
static bool parse_icmp(const struct sk_buff *skb, u32 off, struct quote *quote)
{
	const struct icmp6hdr *icmp6;
	const struct icmphdr *icmp;
	struct icmp6hdr buf6;
	struct icmphdr buf;

	if (quote->v6) {
		icmp6 = skb_header_pointer(skb, off, sizeof(buf6), &buf6);
		if (!icmp6 || icmp6->icmp6_type != ICMPV6_PKT_TOOBIG)
			return false;
		memcpy(&quote->error.to, &ipv6_hdr(skb)->daddr,
		       sizeof(quote->error.to));
		quote->error.mtu = ntohl(icmp6->icmp6_mtu);
		return true;
	}
	icmp = skb_header_pointer(skb, off, sizeof(buf), &buf);
	if (!icmp || icmp->type != ICMP_DEST_UNREACH ||
	    icmp->code != ICMP_FRAG_NEEDED)
		return false;
	chs_addr_set_v4(&quote->error.to, ip_hdr(skb)->daddr);
	quote->error.mtu = ntohs(icmp->un.frag.mtu);
	return true;
}

static bool parse_outer_v4(const struct sk_buff *skb, struct quote *quote)
{
	const struct iphdr *ip;
	struct iphdr buf;

	ip = skb_header_pointer(skb, quote->off, sizeof(buf), &buf);
	if (!ip)
		return false;
	chs_addr_set_v4(&quote->error.saddr, ip->saddr);
	chs_addr_set_v4(&quote->error.daddr, ip->daddr);
	quote->odd = ip->ihl != 5 || ip->frag_off & htons(IP_OFFSET);
	quote->inner_off = quote->off + ip->ihl * 4;
	quote->proto = ip->protocol;
	return true;
}

static bool parse_outer_v6(const struct sk_buff *skb, struct quote *quote)
{
	const struct ipv6hdr *ip;
	struct ipv6hdr buf;
	__be16 frag_off;
	u8 proto;
	int off;

	ip = skb_header_pointer(skb, quote->off, sizeof(buf), &buf);
	if (!ip)
		return false;
	memcpy(&quote->error.saddr, &ip->saddr, sizeof(quote->error.saddr));
	memcpy(&quote->error.daddr, &ip->daddr, sizeof(quote->error.daddr));
	proto = ip->nexthdr;
	off = quote->off + sizeof(*ip);
	/* Its only extension header is that of a fragment. */
	quote->odd = ipv6_ext_hdr(proto) && proto != NEXTHDR_FRAGMENT;
	/* As the stack does; of a later fragment it finds no other protocol. */
	off = ipv6_skip_exthdr(skb, off, &proto, &frag_off);
	if (off < 0)
		return false;
	quote->inner_off = off;
	quote->proto = proto;
	return true;
}

/* Whether a packet of the mode may be quoted. */
static bool parse_mode(const struct sk_buff *skb, struct quote *quote)
{
	const struct udphdr *udp;
	struct udphdr buf;

	switch (quote->proto) {
	case IPPROTO_IPIP:
	case IPPROTO_IPV6:
		quote->mode = CHS_MODE_IPIP;
		return true;
	case IPPROTO_UDP:
		quote->mode = CHS_MODE_GUE;
		break;
	default:
		return false;
	}
	udp = skb_header_pointer(skb, quote->inner_off, sizeof(buf), &buf);
	/* Nobody heeds one that quotes less than that, unless more follows. */
	if (!udp) {
		quote->odd = true;
		return quote->partial;
	}
	quote->error.sport = udp->source;
	quote->error.dport = udp->dest;
	quote->inner_off += sizeof(*udp);
	return true;
}

/* Whether a packet of a service may be quoted, and be too big. */
static bool parse(const struct sk_buff *skb, const struct chs_packet *pkt,
		  struct quote *quote)
{
	u32 off = skb_network_offset(skb);

	quote->partial = pkt->fragment;
	quote->off = off + pkt->quote_off;
	if (!parse_icmp(skb, off + pkt->l4_off, quote))
		return false;
	if (!(quote->v6 ? parse_outer_v6(skb, quote) :
			  parse_outer_v4(skb, quote))) {
		quote->hidden = quote->partial;
		return quote->hidden;
	}
	return parse_mode(skb, quote);
}

/* Enough of the inner packet for an error about it. */
static bool parse_inner(const struct sk_buff *skb, struct quote *quote)
{
	const u8 *first;
	u8 buf;
	u32 size;

	first = skb_header_pointer(skb, quote->inner_off, sizeof(buf), &buf);
	if (!first || (*first >> 4 != 4 && *first >> 4 != 6))
		return false;
	quote->inner_v6 = *first >> 4 == 6;
	size = quote->inner_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	return skb->len >= quote->inner_off + size + 8;
}

/* The service whose packet is quoted, and where the flow goes; or NULL. */
static const struct chs_service *steer(const struct sk_buff *skb,
				       const struct chs_table *table, s32 vrf,
				       struct quote *quote,
				       struct chs_verdict *verdict)
{
	struct chs_packet inner = { .kind = CHS_PACKET_ICMP_ERROR };
	const struct chs_service *svc;

	if (quote->partial || quote->odd || !parse_inner(skb, quote) ||
	    !chs_packet_parse_quote(skb, quote->inner_off, quote->inner_v6,
				    &inner.tuple))
		return NULL;
	svc = chs_steer_service(table, &inner.tuple, vrf);
	if (!svc || svc->mode != quote->mode)
		return NULL;
	/* An error has no flow remembered. */
	chs_steer_packet(svc, &inner, verdict);
	return svc;
}

/* Fill in what an outer packet of the flow would have, sent by this host. */
static void expect(const struct nf_hook_state *state,
		   const struct chs_verdict *verdict, const struct quote *quote,
		   struct chs_pmtu_sent *sent)
{
	const struct chs_backend *backends[CHS_PMTU_BACKENDS] = {
		verdict->backend, verdict->owner, verdict->former,
	};
	int i;

	memset(sent, 0, sizeof(*sent));
	for (i = 0; i < CHS_PMTU_BACKENDS; i++) {
		if (backends[i])
			sent->backends[i] = &backends[i]->id.addr;
	}
	if (verdict->svc->mode == CHS_MODE_GUE) {
		sent->sport = chs_tunnel_sport(verdict->hash);
		sent->dport = verdict->svc->gue_port;
	}
	i = chs_pmtu_backend(&quote->error, sent);
	if (i >= 0)
		sent->mtu = chs_endpoint_mtu(backends[i]->endpoint, state->net);
}

static enum chs_event event_of(enum chs_pmtu_verdict verdict)
{
	/* In the same order. */
	BUILD_BUG_ON(CHS_ICMP_NOT_LOWER - CHS_ICMP_BAD_CHECKSUM !=
		     CHS_PMTU_NOT_LOWER - CHS_PMTU_BAD_CHECKSUM);

	if (verdict == CHS_PMTU_OBEY)
		return CHS_EVENT_ICMP_OBEYED;
	return CHS_ICMP_BAD_CHECKSUM + (verdict - CHS_PMTU_BAD_CHECKSUM);
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

static enum chs_event obey(struct sk_buff *skb,
			   const struct nf_hook_state *state,
			   const struct chs_service *svc,
			   const struct quote *quote)
{
	u32 overhead = chs_tunnel_overhead(svc->mode, quote->v6);
	u32 mtu = quote->error.mtu;
	/* Its headers are pulled off, and what is left is sent. */
	struct sk_buff *copy = skb_copy(skb, GFP_ATOMIC | __GFP_NOWARN);
	s32 oif = svc->vrf_ref ? chs_vrf_ifindex(svc->vrf_ref) : 0;

	if (!copy)
		return CHS_ICMP_NO_MEMORY;
	__skb_pull(copy, quote->off);
	if (quote->v6)
		ip6_update_pmtu(copy, state->net, htonl(mtu), oif, 0,
				sock_net_uid(state->net, NULL));
	else
		ipv4_update_pmtu(copy, state->net, mtu, oif, quote->proto);

	mtu -= min(mtu, overhead);
	__skb_pull(copy, quote->inner_off - quote->off);
	skb_reset_network_header(copy);
	/* Otherwise the outer packet will be fragmented from now on. */
	if (chs_tunnel_has_df(copy, quote->inner_v6) &&
	    (!quote->inner_v6 || mtu >= IPV6_MIN_MTU)) {
		restore_hop(copy, quote->inner_v6);
		if (!chs_icmp_relay_too_big(copy, state, quote->inner_v6, mtu))
			chs_stats_event(svc->stats, CHS_EVENT_ICMP_LIMITED);
	}
	kfree_skb(copy);
	return CHS_EVENT_ICMP_OBEYED;
}

/*
 * A service whose packet may be quoted, of those that send by this mode, although
 * the quote does not tell of a flow of theirs. The backend does not tell which of
 * them it was.
 */
static const struct chs_service *suspect(const struct nf_hook_state *state,
					 const struct chs_table *table, s32 vrf,
					 const struct quote *quote)
{
	const struct chs_tunnels *tunnels = &table->tunnels;
	struct chs_endpoint_key key = {
		.addr = quote->error.daddr,
		.vrf = vrf,
		.mode = quote->mode,
	};
	struct chs_net *cn = chs_net(state->net);

	if (quote->hidden)
		return tunnels->ipip ?: tunnels->gue;
	/* No ports are in a later fragment. */
	if (quote->mode == CHS_MODE_GUE && !quote->odd && tunnels->gue_port &&
	    tunnels->gue_port != quote->error.dport)
		return NULL;
	if (!chs_endpoint_exists(cn, &key)) {
		key.source = quote->error.saddr;
		if (!chs_endpoint_exists(cn, &key))
			return NULL;
	}
	return quote->mode == CHS_MODE_GUE ? tunnels->gue : tunnels->ipip;
}

static enum chs_event judge(struct sk_buff *skb,
			    const struct nf_hook_state *state,
			    const struct chs_packet *pkt,
			    const struct chs_verdict *verdict,
			    struct quote *quote)
{
	struct chs_pmtu_sent sent;

	quote->error.sum_good =
		!nf_checksum(skb, state->hook,
			     skb_network_offset(skb) + pkt->l4_off,
			     quote->v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP,
			     quote->v6 ? AF_INET6 : AF_INET);
	expect(state, verdict, quote, &sent);
	return event_of(chs_pmtu_judge(&quote->error, &sent));
}

/**
 * chs_tunnel_error() - heed an error about a packet that this host sent
 * @skb: ICMP or ICMPv6 error, or its first fragment; not changed, but for what is
 *	known of its checksum
 * @state: the hook's state
 * @table: services in force
 * @vrf: number of the VRF that it came in by, or 0
 * @pkt: what it is
 *
 * Context: netfilter hook at PRE_ROUTING, bottom halves off.
 * Return: true if it is to be dropped: the host is not to heed it again, nor at
 * all if it was not obeyed.
 */
bool chs_tunnel_error(struct sk_buff *skb, const struct nf_hook_state *state,
		      const struct chs_table *table, s32 vrf,
		      const struct chs_packet *pkt)
{
	struct quote quote = { .v6 = state->pf == NFPROTO_IPV6 };
	const struct chs_service *svc;
	struct chs_verdict verdict;
	enum chs_event event;

	if (!parse(skb, pkt, &quote))
		return false;
	quote.error.local = chs_route_local_by(state->net, state->in,
					       &quote.error.to);
	svc = steer(skb, table, vrf, &quote, &verdict);
	if (svc) {
		event = judge(skb, state, pkt, &verdict, &quote);
		if (event == CHS_EVENT_ICMP_OBEYED)
			event = obey(skb, state, svc, &quote);
	} else {
		svc = suspect(state, table, vrf, &quote);
		if (!svc)
			return false;
		event = quote.error.local ? CHS_ICMP_NO_FLOW : CHS_ICMP_NOT_LOCAL;
	}
	chs_stats_event(svc->stats, event);
	/* Another host's own is sent on to it. */
	return quote.error.local;
}
