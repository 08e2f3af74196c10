/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What most packets are, told at a glance: a whole TCP segment or UDP datagram
 * behind an IP header without options, all of the headers in the linear part.
 *
 * A second reading of the same bytes as packet.c's, which is for everything: what
 * is found plain here has the same struct chs_packet there. The unit tests and
 * the fuzzer hold them to that.
 *
 * Pure: shared, unchanged, by the module and the unit tests.
 */
#ifndef CHS_PACKET_PLAIN_H
#define CHS_PACKET_PLAIN_H

#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kernel.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "packet.h"

/* @head bytes from @ip on are linear, @end are there by the IP header. */
static __always_inline bool
chs_packet_plain_l4(const u8 *ip, u32 off, u32 head, u32 end, u8 proto,
		    struct chs_packet *pkt)
{
	const struct tcphdr *tcp = (const struct tcphdr *)(ip + off);
	const struct udphdr *udp = (const struct udphdr *)(ip + off);

	if (proto == IPPROTO_TCP) {
		if (unlikely(off + sizeof(*tcp) > head || tcp->doff < 5 ||
			     off + tcp->doff * 4 > end))
			return false;
		pkt->tuple.sport = tcp->source;
		pkt->tuple.dport = tcp->dest;
		pkt->seq = be32_to_cpu(tcp->seq);
		pkt->syn = tcp->syn && !tcp->ack;
		pkt->fin = tcp->fin;
		pkt->rst = tcp->rst;
	} else if (likely(proto == IPPROTO_UDP)) {
		if (unlikely(off + sizeof(*udp) > end))
			return false;
		pkt->tuple.sport = udp->source;
		pkt->tuple.dport = udp->dest;
		pkt->seq = 0;
		pkt->syn = false;
		pkt->fin = false;
		pkt->rst = false;
	} else {
		return false;
	}

	pkt->tuple.proto = proto;
	return true;
}

/**
 * chs_packet_plain_rest() - what is the same of all plain packets
 * @pkt: what chs_packet_plain_v4() or _v6() found
 * @v6: which of them
 *
 * The ring does not ask for it.
 *
 * Context: any.
 */
static inline void chs_packet_plain_rest(struct chs_packet *pkt, bool v6)
{
	if (!v6)
		chs_addr_set_v4(&pkt->tuple.saddr, pkt->tuple.saddr.w[3]);
	memset(pkt->tuple.zero, 0, sizeof(pkt->tuple.zero));
	pkt->tuple.v6 = v6;
	pkt->kind = CHS_PACKET_FLOW;
	pkt->l4_off = v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	pkt->quote_off = 0;
	pkt->fragment = false;
	pkt->routed = false;
	pkt->echo = false;
}

/**
 * chs_packet_plain_v4() - chs_packet_parse() of what is plain
 * @skb: the packet, which begins with its network header
 * @pkt: where to, but for what chs_packet_plain_rest() adds; means nothing if it
 *	is not plain
 *
 * Context: any. Reads @skb only.
 * Return: false if chs_packet_parse() is to look at it.
 */
static __always_inline bool chs_packet_plain_v4(const struct sk_buff *skb,
						struct chs_packet *pkt)
{
	const u8 *data = skb->data;
	const struct iphdr *ip = (const struct iphdr *)data;
	u32 head = skb_headlen(skb);
	u32 end;

	if (unlikely(head < sizeof(*ip) + sizeof(struct udphdr) ||
		     *data != 0x45 ||
		     ip->frag_off & cpu_to_be16(IP_MF | IP_OFFSET)))
		return false;
	/* Of a merged packet the length may be 0. */
	end = be16_to_cpu(ip->tot_len);
	if (unlikely(end > skb->len))
		return false;

	pkt->tuple.saddr.w[3] = ip->saddr;
	chs_addr_set_v4(&pkt->tuple.daddr, ip->daddr);
	return chs_packet_plain_l4(data, sizeof(*ip), head, end, ip->protocol,
				   pkt);
}

/**
 * chs_packet_plain_v6() - chs_packet_parse() of what is plain
 * @skb: the packet, which begins with its network header
 * @pkt: where to, but for what chs_packet_plain_rest() adds; means nothing if it
 *	is not plain
 *
 * Context: any. Reads @skb only.
 * Return: false if chs_packet_parse() is to look at it.
 */
static __always_inline bool chs_packet_plain_v6(const struct sk_buff *skb,
						struct chs_packet *pkt)
{
	const u8 *data = skb->data;
	const struct ipv6hdr *ip = (const struct ipv6hdr *)data;
	u32 head = skb_headlen(skb);
	u32 end;

	if (unlikely(head < sizeof(*ip) + sizeof(struct udphdr) ||
		     *data >> 4 != 6))
		return false;
	end = sizeof(*ip) + be16_to_cpu(ip->payload_len);
	if (unlikely(end > skb->len))
		return false;

	memcpy(&pkt->tuple.saddr, &ip->saddr, sizeof(pkt->tuple.saddr));
	memcpy(&pkt->tuple.daddr, &ip->daddr, sizeof(pkt->tuple.daddr));
	if (unlikely(chs_addr_is_v4(&pkt->tuple.saddr) ||
		     chs_addr_is_v4(&pkt->tuple.daddr)))
		return false;
	return chs_packet_plain_l4(data, sizeof(*ip), head, end, ip->nexthdr,
				   pkt);
}

#endif /* CHS_PACKET_PLAIN_H */
