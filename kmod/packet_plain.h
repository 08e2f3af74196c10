/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parser of the fast path, for the kind that most packets are: a whole TCP segment
 * or UDP datagram behind an IP header without options, all of the headers in the
 * linear part.
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
static __always_inline bool chs_packet_plain_l4(const u8 *ip, u32 off, u32 head,
						u32 end, u8 proto)
{
	const struct tcphdr *tcp = (const struct tcphdr *)(ip + off);

	if (proto == IPPROTO_TCP)
		return likely(off + sizeof(*tcp) <= head && tcp->doff >= 5 &&
			      off + tcp->doff * 4 <= end);
	return likely(proto == IPPROTO_UDP &&
		      off + sizeof(struct udphdr) <= end);
}

static __always_inline bool chs_packet_plain_v4(const struct sk_buff *skb)
{
	const u8 *data = skb->data;
	const struct iphdr *ip = (const struct iphdr *)data;
	u32 head = skb_headlen(skb);
	u32 end;

	if (unlikely(head < sizeof(*ip) + sizeof(struct udphdr) ||
		     *data != 0x45 ||
		     ip->frag_off & cpu_to_be16(IP_MF | IP_OFFSET)))
		return false;
	/*
	 * tot_len is 0 in a merged (BIG TCP) packet, which the slow path reads.
	 */
	end = be16_to_cpu(ip->tot_len);
	if (unlikely(end > skb->len))
		return false;
	return chs_packet_plain_l4(data, sizeof(*ip), head, end, ip->protocol);
}

/* By halves, of which a copy is a move; one of 16 bytes needs memory. */
static __always_inline void
chs_packet_plain_addr_v6(union chs_addr *to, const struct in6_addr *from)
{
	memcpy(&to->q[0], from, sizeof(to->q[0]));
	memcpy(&to->q[1], (const u8 *)from + 8, sizeof(to->q[1]));
}

static __always_inline bool chs_packet_plain_mapped(const struct in6_addr *addr)
{
	union chs_addr copy;

	chs_packet_plain_addr_v6(&copy, addr);
	return chs_addr_is_v4(&copy);
}

static __always_inline bool chs_packet_plain_v6(const struct sk_buff *skb)
{
	const u8 *data = skb->data;
	const struct ipv6hdr *ip = (const struct ipv6hdr *)data;
	u32 head = skb_headlen(skb);
	u32 end;

	if (unlikely(head < sizeof(*ip) + sizeof(struct udphdr) ||
		     *data >> 4 != 6))
		return false;
	end = sizeof(*ip) + be16_to_cpu(ip->payload_len);
	if (unlikely(end > skb->len || chs_packet_plain_mapped(&ip->saddr) ||
		     chs_packet_plain_mapped(&ip->daddr)))
		return false;
	return chs_packet_plain_l4(data, sizeof(*ip), head, end, ip->nexthdr);
}

/**
 * chs_packet_plain() - whether a packet is plain
 * @skb: the packet, which begins with its network header
 * @v6: it is IPv6
 *
 * Context: any.
 * Return: false if chs_packet_parse() is to look at it.
 */
static __always_inline bool chs_packet_plain(const struct sk_buff *skb, bool v6)
{
	return v6 ? chs_packet_plain_v6(skb) : chs_packet_plain_v4(skb);
}

static __always_inline u8 chs_packet_plain_proto(const struct sk_buff *skb,
						 bool v6)
{
	const struct ipv6hdr *ipv6 = (const struct ipv6hdr *)skb->data;
	const struct iphdr *ip = (const struct iphdr *)skb->data;

	return v6 ? ipv6->nexthdr : ip->protocol;
}

/**
 * chs_packet_plain_tuple() - the flow of a plain packet
 * @skb: the packet
 * @v6: it is IPv6
 * @tuple: where to
 *
 * Context: any.
 */
static __always_inline void chs_packet_plain_tuple(const struct sk_buff *skb,
						   bool v6,
						   struct chs_tuple *tuple)
{
	const struct ipv6hdr *ipv6 = (const struct ipv6hdr *)skb->data;
	const struct iphdr *ip = (const struct iphdr *)skb->data;
	/* Its ports are where those of TCP are. */
	const struct udphdr *udp = v6 ? (const void *)(ipv6 + 1) :
					(const void *)(ip + 1);

	if (v6) {
		chs_packet_plain_addr_v6(&tuple->saddr, &ipv6->saddr);
		chs_packet_plain_addr_v6(&tuple->daddr, &ipv6->daddr);
	} else {
		chs_addr_set_v4(&tuple->saddr, ip->saddr);
		chs_addr_set_v4(&tuple->daddr, ip->daddr);
	}
	tuple->sport = udp->source;
	tuple->dport = udp->dest;
	tuple->proto = chs_packet_plain_proto(skb, v6);
	/* A call, as of memset(), would keep the tuple out of registers. */
	tuple->zero[0] = 0;
	tuple->zero[1] = 0;
	tuple->zero[2] = 0;
	tuple->v6 = v6;
}

static __always_inline const struct tcphdr *
chs_packet_plain_tcp(const struct sk_buff *skb, bool v6)
{
	return (const void *)(skb->data + (v6 ? sizeof(struct ipv6hdr) :
						sizeof(struct iphdr)));
}

/**
 * chs_packet_plain_opens() - whether a plain packet opens a connection
 * @skb: the packet
 * @v6: it is IPv6
 *
 * Context: any.
 * Return: true if so.
 */
static __always_inline bool chs_packet_plain_opens(const struct sk_buff *skb,
						   bool v6)
{
	const struct tcphdr *tcp = chs_packet_plain_tcp(skb, v6);

	return chs_packet_plain_proto(skb, v6) == IPPROTO_TCP && tcp->syn &&
	       !tcp->ack;
}

/**
 * chs_packet_plain_read() - chs_packet_parse() of a plain packet
 * @skb: the packet
 * @v6: it is IPv6
 * @pkt: where to
 *
 * Context: any.
 */
static __always_inline void chs_packet_plain_read(const struct sk_buff *skb,
						  bool v6,
						  struct chs_packet *pkt)
{
	const struct tcphdr *tcp = chs_packet_plain_tcp(skb, v6);

	chs_packet_plain_tuple(skb, v6, &pkt->tuple);
	pkt->kind = CHS_PACKET_FLOW;
	pkt->l4_off = v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	pkt->quote_off = 0;
	pkt->fragment = false;
	pkt->routed = false;
	pkt->echo = false;
	pkt->seq = 0;
	pkt->syn = false;
	pkt->fin = false;
	pkt->rst = false;
	if (pkt->tuple.proto == IPPROTO_TCP) {
		pkt->seq = be32_to_cpu(tcp->seq);
		pkt->syn = tcp->syn && !tcp->ack;
		pkt->fin = tcp->fin;
		pkt->rst = tcp->rst;
	}
}

#endif /* CHS_PACKET_PLAIN_H */
