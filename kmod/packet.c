// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a packet's headers to the tuple of its flow.
 *
 * Everything is read through skb_header_pointer() and only up to the end that
 * the network header states, so that neither a short buffer nor padding can be
 * taken for a header. Nothing is changed or verified that the receiver will
 * verify anyway (checksums, options).
 *
 * An ICMP error is sent to whoever sent the packet that it quotes. One that
 * arrives at a service address thus quotes a packet from the service to a
 * client; turned around, that is the tuple which the client's packets have,
 * and hashing it leads to the backend that has the connection.
 */

#include "packet.h"

#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kernel.h>
#include <linux/sctp.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>

/*
 * Extension headers that are walked through. RFC 8200 knows of seven in a
 * packet; the stack itself has no bound, but a per-packet path needs one.
 */
#define EXT_HEADERS_MAX	8

/* ICMP and ICMPv6 errors alike quote from here on. */
#define ICMP_QUOTE_OFF	8

/* Both ports, first in TCP, UDP and SCTP alike. */
struct ports {
	__be16 source;
	__be16 dest;
};

/* A place in a packet. */
struct place {
	const struct sk_buff *skb;
	u32 off;
	u32 end;
	u8 proto;		/* of what is at @off */
	bool partial;		/* what is at @off is not all there */
	bool later;		/* and does not begin there either */
	bool routed;		/* its sender has it go elsewhere from there */
};

static const void *peek(const struct place *at, void *buf, u32 len)
{
	if (unlikely(at->off + len > at->end))
		return NULL;

	return skb_header_pointer(at->skb, at->off, len, buf);
}

static bool has_ports(u8 proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP ||
	       proto == IPPROTO_SCTP;
}

/* TCP, of which the first fragment may lack the flags. */
static enum chs_packet_kind parse_tcp(const struct place *at,
				      struct chs_packet *pkt)
{
	const struct tcphdr *tcp;
	struct tcphdr buf;

	tcp = peek(at, &buf, sizeof(buf));
	if (!tcp)
		return at->partial ? CHS_PACKET_FRAGMENT : CHS_PACKET_BAD;
	if (tcp->doff * 4 < sizeof(*tcp))
		return CHS_PACKET_BAD;
	if (at->off + tcp->doff * 4 > at->end && !at->partial)
		return CHS_PACKET_BAD;

	pkt->tuple.sport = tcp->source;
	pkt->tuple.dport = tcp->dest;
	pkt->seq = be32_to_cpu(tcp->seq);
	pkt->syn = tcp->syn && !tcp->ack;
	pkt->fin = tcp->fin;
	pkt->rst = tcp->rst;
	return CHS_PACKET_FLOW;
}

static enum chs_packet_kind parse_udp(const struct place *at,
				      struct chs_packet *pkt)
{
	const struct udphdr *udp;
	struct udphdr buf;

	/* Fragments are multiples of 8 bytes: a first one has the header. */
	udp = peek(at, &buf, sizeof(buf));
	if (!udp)
		return CHS_PACKET_BAD;

	pkt->tuple.sport = udp->source;
	pkt->tuple.dport = udp->dest;
	return CHS_PACKET_FLOW;
}

static enum chs_packet_kind parse_sctp(const struct place *at,
				       struct chs_packet *pkt)
{
	struct {
		struct sctphdr head;
		struct sctp_chunkhdr chunk;
	} buf;
	const typeof(buf) *sctp;

	sctp = peek(at, &buf, sizeof(buf));
	if (!sctp)
		return at->partial ? CHS_PACKET_FRAGMENT : CHS_PACKET_BAD;

	pkt->tuple.sport = sctp->head.source;
	pkt->tuple.dport = sctp->head.dest;
	pkt->syn = sctp->chunk.type == SCTP_CID_INIT;
	pkt->rst = sctp->chunk.type == SCTP_CID_ABORT;
	pkt->echo = sctp->chunk.type == SCTP_CID_COOKIE_ECHO;
	pkt->fin = sctp->chunk.type == SCTP_CID_SHUTDOWN ||
		   sctp->chunk.type == SCTP_CID_SHUTDOWN_ACK ||
		   sctp->chunk.type == SCTP_CID_SHUTDOWN_COMPLETE;
	return CHS_PACKET_FLOW;
}

/*
 * Step over the IPv4 header at @at, which becomes its payload. Of a @quote the
 * rest may be cut off, so that its stated length says nothing.
 */
static bool enter_v4(struct place *at, bool quote, struct chs_tuple *tuple)
{
	const struct iphdr *ip;
	struct iphdr buf;
	u32 len;

	ip = peek(at, &buf, sizeof(buf));
	if (!ip || ip->version != 4 || ip->ihl * 4 < sizeof(*ip))
		return false;

	/* A merged packet may be longer than the field can tell: 0. */
	len = be16_to_cpu(ip->tot_len);
	if (!quote && len) {
		if (len > at->end - at->off)
			return false;
		at->end = at->off + len;
	}
	if (at->off + ip->ihl * 4 > at->end)
		return false;

	chs_addr_set_v4(&tuple->saddr, ip->saddr);
	chs_addr_set_v4(&tuple->daddr, ip->daddr);
	at->off += ip->ihl * 4;
	at->proto = ip->protocol;
	at->partial = !!(ip->frag_off & cpu_to_be16(IP_MF | IP_OFFSET));
	at->later = !!(ip->frag_off & cpu_to_be16(IP_OFFSET));
	at->routed = false;
	return true;
}

/*
 * Step over one extension header, if all of it is there. The address that a
 * packet is sent to is not its last while segments of its way are left, whatever
 * the type of the routing header: RFC 8200, 4.4.
 */
static bool enter_option(struct place *at)
{
	const struct ipv6_rt_hdr *ext;
	struct ipv6_rt_hdr buf;

	/* None is shorter than that. */
	ext = peek(at, &buf, sizeof(buf));
	if (!ext)
		return false;

	if (at->proto == IPPROTO_ROUTING && ext->segments_left)
		at->routed = true;

	/* AH counts in words and less two, the others in eights less one. */
	at->off += at->proto == IPPROTO_AH ? (ext->hdrlen + 2) * 4 :
					     (ext->hdrlen + 1) * 8;
	at->proto = ext->nexthdr;
	return at->off <= at->end;
}

/* A fragment header that says "from the start, nothing follows" is no news. */
static bool enter_fragment(struct place *at)
{
	const struct frag_hdr *frag;
	struct frag_hdr buf;

	frag = peek(at, &buf, sizeof(buf));
	if (!frag)
		return false;

	at->off += sizeof(*frag);
	at->proto = frag->nexthdr;
	at->partial |= !!(frag->frag_off & cpu_to_be16(IP6_MF | IP6_OFFSET));
	at->later |= !!(frag->frag_off & cpu_to_be16(IP6_OFFSET));
	return true;
}

/*
 * Step over extension headers to what follows them. Beyond the bound, @at stays
 * at an extension header, which nothing knows how to steer.
 */
static bool enter_ext(struct place *at)
{
	unsigned int i;

	for (i = 0; i < EXT_HEADERS_MAX && !at->later; i++) {
		switch (at->proto) {
		case IPPROTO_FRAGMENT:
			if (!enter_fragment(at))
				return false;
			break;
		case IPPROTO_HOPOPTS:
		case IPPROTO_ROUTING:
		case IPPROTO_DSTOPTS:
		case IPPROTO_AH:
			if (!enter_option(at))
				return false;
			break;
		default:
			return true;
		}
	}

	return true;
}

/* As enter_v4(), extension headers included. */
static bool enter_v6(struct place *at, bool quote, struct chs_tuple *tuple)
{
	const struct ipv6hdr *ip;
	struct ipv6hdr buf;
	u32 len;

	ip = peek(at, &buf, sizeof(buf));
	if (!ip || ip->version != 6)
		return false;

	/* Jumbograms and merged packets state 0. */
	len = be16_to_cpu(ip->payload_len);
	if (!quote && len) {
		if (len > at->end - at->off - sizeof(*ip))
			return false;
		at->end = at->off + sizeof(*ip) + len;
	}

	memcpy(&tuple->saddr, &ip->saddr, sizeof(tuple->saddr));
	memcpy(&tuple->daddr, &ip->daddr, sizeof(tuple->daddr));
	/* In a tuple this form means IPv4; on the wire it is illegal. */
	if (chs_addr_is_v4(&tuple->saddr) || chs_addr_is_v4(&tuple->daddr))
		return false;

	at->off += sizeof(*ip);
	at->proto = ip->nexthdr;
	at->partial = false;
	at->later = false;
	at->routed = false;
	return enter_ext(at);
}

static bool enter_ip(struct place *at, bool v6, bool quote,
		     struct chs_tuple *tuple)
{
	return v6 ? enter_v6(at, quote, tuple) : enter_v4(at, quote, tuple);
}

static bool is_error(u8 type, bool v6)
{
	/* Redirects are about a host's own routes and not about a flow. */
	return v6 ? type >= ICMPV6_DEST_UNREACH && type <= ICMPV6_PARAMPROB :
		    type == ICMP_DEST_UNREACH || type == ICMP_SOURCE_QUENCH ||
		    type == ICMP_TIME_EXCEEDED || type == ICMP_PARAMETERPROB;
}

/*
 * The packet that an ICMP error quotes, of which no more may be there than the
 * ports: CHS_PACKET_FLOW if it has any.
 */
static enum chs_packet_kind parse_quote(struct place *at, bool v6,
					struct chs_tuple *tuple)
{
	const struct ports *ports;
	struct ports buf;

	if (!enter_ip(at, v6, true, tuple))
		return CHS_PACKET_BAD;
	if (at->later || !has_ports(at->proto))
		return CHS_PACKET_OTHER;
	ports = peek(at, &buf, sizeof(buf));
	if (!ports)
		return CHS_PACKET_BAD;

	tuple->sport = ports->source;
	tuple->dport = ports->dest;
	tuple->proto = at->proto;
	return CHS_PACKET_FLOW;
}

/* @at: the ICMP or ICMPv6 header. */
static enum chs_packet_kind parse_icmp(struct place *at,
				       struct chs_packet *pkt)
{
	const bool v6 = pkt->tuple.v6;
	enum chs_packet_kind kind;
	struct chs_tuple quoted;
	const u8 *type;
	u8 type_buf;

	type = peek(at, &type_buf, sizeof(type_buf));
	if (!type)
		return CHS_PACKET_BAD;
	if (!is_error(*type, v6))
		return CHS_PACKET_OTHER;

	at->off += ICMP_QUOTE_OFF;
	pkt->quote_off = at->off - skb_network_offset(at->skb);
	kind = parse_quote(at, v6, &quoted);
	if (kind != CHS_PACKET_FLOW)
		return kind;

	pkt->routed |= at->routed;

	pkt->tuple.saddr = quoted.daddr;
	pkt->tuple.daddr = quoted.saddr;
	pkt->tuple.sport = quoted.dport;
	pkt->tuple.dport = quoted.sport;
	pkt->tuple.proto = quoted.proto;
	return CHS_PACKET_ICMP_ERROR;
}

static enum chs_packet_kind parse(struct place *at, bool v6,
				  struct chs_packet *pkt)
{
	if (!enter_ip(at, v6, false, &pkt->tuple))
		return CHS_PACKET_BAD;

	pkt->tuple.proto = at->proto;
	pkt->l4_off = at->off - skb_network_offset(at->skb);
	pkt->fragment = at->partial;
	pkt->routed = at->routed;
	if (unlikely(at->later))
		return CHS_PACKET_FRAGMENT;

	switch (at->proto) {
	case IPPROTO_TCP:
		return parse_tcp(at, pkt);
	case IPPROTO_UDP:
		return parse_udp(at, pkt);
	case IPPROTO_SCTP:
		return parse_sctp(at, pkt);
	case IPPROTO_ICMP:
		return v6 ? CHS_PACKET_OTHER : parse_icmp(at, pkt);
	case IPPROTO_ICMPV6:
		return v6 ? parse_icmp(at, pkt) : CHS_PACKET_OTHER;
	default:
		return CHS_PACKET_OTHER;
	}
}

/**
 * chs_packet_parse() - find out what a packet is and to which flow it belongs
 * @skb: the packet, its network header set
 * @v6: whether the network header is IPv6
 * @pkt: where to; overwritten as a whole
 *
 * Context: any. Reads @skb only, linear or not.
 */
void chs_packet_parse(const struct sk_buff *skb, bool v6,
		      struct chs_packet *pkt)
{
	struct place at = {
		.skb = skb,
		.off = skb_network_offset(skb),
		.end = skb->len,
	};

	memset(pkt, 0, sizeof(*pkt));
	pkt->tuple.v6 = v6;
	pkt->kind = parse(&at, v6, pkt);
}

/**
 * chs_packet_parse_quote() - flow of a packet that is there in part only
 * @skb: buffer that it is in
 * @off: where its network header is, from the start of the buffer
 * @v6: whether the network header is IPv6
 * @tuple: where its tuple goes
 *
 * Context: any. Reads @skb only, linear or not.
 * Return: false if it is of no protocol that can be steered, its ports are not
 * there, or its last destination is another one.
 */
bool chs_packet_parse_quote(const struct sk_buff *skb, __u32 off, bool v6,
			    struct chs_tuple *tuple)
{
	struct place at = {
		.skb = skb,
		.off = off,
		.end = skb->len,
	};

	memset(tuple, 0, sizeof(*tuple));
	tuple->v6 = v6;
	return parse_quote(&at, v6, tuple) == CHS_PACKET_FLOW && !at.routed;
}
