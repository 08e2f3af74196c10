/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a packet's headers to the tuple of its flow.
 *
 * Pure: shared, unchanged, by the module and the unit tests.
 */
#ifndef CHS_PACKET_H
#define CHS_PACKET_H

#include <linux/types.h>

#include "tuple.h"

struct sk_buff;

/** enum chs_packet_kind - what a packet is to a load balancer */
enum chs_packet_kind {
	/** @CHS_PACKET_BAD: truncated, or its headers contradict themselves */
	CHS_PACKET_BAD,
	/** @CHS_PACKET_OTHER: well-formed as far as read; nothing to steer */
	CHS_PACKET_OTHER,
	/** @CHS_PACKET_FLOW: TCP, UDP or SCTP; the tuple is complete */
	CHS_PACKET_FLOW,
	/**
	 * @CHS_PACKET_FRAGMENT: a fragment whose ports, or flags, are in
	 * another one; the tuple has no ports
	 */
	CHS_PACKET_FRAGMENT,
	/**
	 * @CHS_PACKET_ICMP_ERROR: an error about a packet that the service
	 * sent; the tuple is that of the client's packets, complete
	 */
	CHS_PACKET_ICMP_ERROR,
};

/**
 * struct chs_packet - a packet as far as steering is concerned
 * @tuple: its flow; addresses are set unless @kind is CHS_PACKET_BAD, protocol
 *	and ports as @kind says
 * @kind: what it is
 * @seq: TCP sequence number
 * @l4_off: where the transport or ICMP header is, from the network header
 * @quote_off: where the packet that an ICMP error quotes is, from the network
 *	header
 * @fragment: part of a fragmented datagram, the first fragment included
 * @routed: an IPv6 routing header has it go elsewhere from the address that it
 *	is sent to, or so the packet that an ICMP error quotes
 * @syn: opens a connection: TCP SYN without ACK, SCTP INIT
 * @fin: ends one in order: TCP FIN; SCTP SHUTDOWN, its ACK and its COMPLETE
 * @rst: ends one at once: TCP RST, SCTP ABORT
 * @echo: SCTP COOKIE ECHO, which only who sent the INIT can send
 *
 * SCTP flags are those of the packet's first chunk.
 */
struct chs_packet {
	struct chs_tuple tuple;
	enum chs_packet_kind kind;
	__u32 seq;
	__u16 l4_off;
	__u16 quote_off;
	bool fragment;
	bool routed;
	bool syn;
	bool fin;
	bool rst;
	bool echo;
};

void chs_packet_parse(const struct sk_buff *skb, bool v6,
		      struct chs_packet *pkt);
bool chs_packet_parse_quote(const struct sk_buff *skb, __u32 off, bool v6,
			    struct chs_tuple *tuple);

#endif /* CHS_PACKET_H */
