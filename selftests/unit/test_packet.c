// SPDX-License-Identifier: GPL-2.0-only
/* Packets made by hand, cut and damaged: what the parser makes of them. */

#include "packet.h"
#include "plain.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <linux/skbuff.h>

#define MF	0x2000

enum {
	ICMP = 1, TCP = 6, UDP = 17, HOPOPTS = 0, ROUTING = 43, FRAGMENT = 44,
	AH = 51, ICMPV6 = 58, NONE = 59, DSTOPTS = 60, SCTP = 132,
};

enum { FIN = 1, SYN = 2, RST = 4, ACK = 16 };

/* A packet in the making. */
struct buf {
	u8 data[512];
	u32 len;
	bool v6;
};

static const u8 client4[4] = { 198, 51, 100, 7 };
static const u8 service4[4] = { 192, 0, 2, 10 };
static const u8 router4[4] = { 203, 0, 113, 1 };
static const u8 client6[16] = { 0x20, 1, 0xd, 0xb8, 0, 9, [15] = 7 };
static const u8 service6[16] = { 0x20, 1, 0xd, 0xb8, 0, 2, [15] = 0x10 };
static const u8 router6[16] = { 0x20, 1, 0xd, 0xb8, 0, 3, [15] = 1 };

#define CLIENT_PORT	40000
#define SERVICE_PORT	443

static void put(struct buf *b, const void *bytes, u32 n)
{
	memcpy(b->data + b->len, bytes, n);
	b->len += n;
}

static void put8(struct buf *b, u8 x)
{
	put(b, &x, 1);
}

static void put16(struct buf *b, u16 x)
{
	put8(b, x >> 8);
	put8(b, x);
}

static void put32(struct buf *b, u32 x)
{
	put16(b, x >> 16);
	put16(b, x);
}

static void put_zero(struct buf *b, u32 n)
{
	while (n--)
		put8(b, 0);
}

/* State the length of the network header at @at as all that follows. */
static void set_len(struct buf *b, u32 at, u32 len)
{
	const u32 x = b->v6 ? len - at - 40 : len - at;

	b->data[at + (b->v6 ? 4 : 2)] = x >> 8;
	b->data[at + (b->v6 ? 5 : 3)] = x;
}

static void v4(struct buf *b, u8 proto, const u8 *src, const u8 *dst,
	       u16 frag, u32 option_words)
{
	b->v6 = false;
	put8(b, 0x45 + option_words);
	put8(b, 0);
	put16(b, 0);
	put16(b, 0x1234);
	put16(b, frag);
	put8(b, 64);
	put8(b, proto);
	put16(b, 0);
	put(b, src, 4);
	put(b, dst, 4);
	put_zero(b, option_words * 4);
}

static void v6(struct buf *b, u8 proto, const u8 *src, const u8 *dst)
{
	b->v6 = true;
	put32(b, 0x60000000);
	put16(b, 0);
	put8(b, proto);
	put8(b, 64);
	put(b, src, 16);
	put(b, dst, 16);
}

static void ip(struct buf *b, bool six, u8 proto)
{
	if (six)
		v6(b, proto, client6, service6);
	else
		v4(b, proto, client4, service4, 0, 0);
}

static void tcp(struct buf *b, u8 flags)
{
	put16(b, CLIENT_PORT);
	put16(b, SERVICE_PORT);
	put32(b, 0xdeadbeef);
	put32(b, 0);
	put8(b, 0x50);
	put8(b, flags);
	put16(b, 1000);
	put32(b, 0);
}

static void udp(struct buf *b)
{
	put16(b, CLIENT_PORT);
	put16(b, SERVICE_PORT);
	put16(b, 8);
	put16(b, 0);
}

static void sctp(struct buf *b, u8 chunk)
{
	put16(b, CLIENT_PORT);
	put16(b, SERVICE_PORT);
	put32(b, 0x01020304);
	put32(b, 0);
	put8(b, chunk);
	put8(b, 0);
	put16(b, 4);
}

static void transport(struct buf *b, u8 proto)
{
	if (proto == TCP)
		tcp(b, ACK);
	else if (proto == UDP)
		udp(b);
	else
		sctp(b, 0);
}

static void option(struct buf *b, u8 next, u8 eights)
{
	put8(b, next);
	put8(b, eights - 1);
	put_zero(b, eights * 8 - 2);
}

static void routing(struct buf *b, u8 next, u8 type, u8 segments)
{
	put8(b, next);
	put8(b, 2);
	put8(b, type);
	put8(b, segments);
	put_zero(b, 20);
}

static void fragment(struct buf *b, u8 next, u16 offset, bool more)
{
	put8(b, next);
	put8(b, 0);
	put16(b, offset | more);
	put32(b, 0x12345678);
}

static void ah(struct buf *b, u8 next)
{
	put8(b, next);
	put8(b, 4);
	put_zero(b, 22);
}

/* An error of a router about a packet from the service to the client. */
static void icmp_error(struct buf *b, bool six, u8 type, u8 proto)
{
	if (six)
		v6(b, ICMPV6, router6, service6);
	else
		v4(b, ICMP, router4, service4, 0, 0);
	put8(b, type);
	put_zero(b, 7);
	if (six)
		v6(b, proto, service6, client6);
	else
		v4(b, proto, service4, client4, 0, 0);
	put16(b, SERVICE_PORT);
	put16(b, CLIENT_PORT);
	put32(b, 0);
}

static void done(struct buf *b)
{
	set_len(b, 0, b->len);
}

/* Parse a copy in memory of its own, so that a byte too far is noticed. */
static void copy_out(const struct buf *b, u32 len, struct sk_buff *skb)
{
	const u32 head = rnd_below(2) * 16;
	u8 *copy;

	copy = malloc(head + len);
	if (head)
		memset(copy, 0x45, head);
	if (len)
		memcpy(copy + head, b->data, len);
	skb->data = copy;
	skb->len = head + len;
	skb->data_len = 0;
	skb->head = head;
}

/* Whether what was parsed last is plain. */
static bool plain;

static struct chs_packet parse(const struct buf *b, u32 len)
{
	struct chs_packet pkt;
	struct sk_buff skb;

	copy_out(b, len, &skb);
	memset(&pkt, 0xff, sizeof(pkt));
	chs_packet_parse(&skb, b->v6, &pkt);
	plain = plain_check(&skb, b->v6, &pkt);
	free((void *)skb.data);
	return pkt;
}

/* The same of a packet of which the rest may be cut off; @pkt: its tuple. */
static bool parse_quote(const struct buf *b, u32 len, struct chs_packet *pkt)
{
	struct sk_buff skb;
	bool flow;

	copy_out(b, len, &skb);
	memset(pkt, 0xff, sizeof(*pkt));
	flow = chs_packet_parse_quote(&skb, skb_network_offset(&skb), b->v6,
				      &pkt->tuple);
	free((void *)skb.data);
	return flow;
}

/* The tuple of the client's packets. */
static void check_tuple(const struct chs_packet *pkt, bool six, u8 proto)
{
	const struct chs_tuple *t = &pkt->tuple;
	union chs_addr client, service;

	memcpy(&client, client6, 16);
	memcpy(&service, service6, 16);
	if (!six) {
		memset(&client, 0, 10);
		memset(client.b + 10, 0xff, 2);
		memcpy(client.b + 12, client4, 4);
		service = client;
		memcpy(service.b + 12, service4, 4);
	}
	CHECK(!memcmp(&t->saddr, &client, 16));
	CHECK(!memcmp(&t->daddr, &service, 16));
	CHECK_EQ(ntohs(t->sport), CLIENT_PORT);
	CHECK_EQ(ntohs(t->dport), SERVICE_PORT);
	CHECK_EQ(t->proto, proto);
	CHECK_EQ(t->v6, six);
	CHECK(!t->zero[0] && !t->zero[1] && !t->zero[2]);
}

static const u8 protos[] = { TCP, UDP, SCTP };

static void check_plain(bool six)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(protos); i++) {
		struct buf b = { .len = 0 };
		struct chs_packet pkt;

		ip(&b, six, protos[i]);
		transport(&b, protos[i]);
		done(&b);
		pkt = parse(&b, b.len);
		CHECK_EQ(pkt.kind, CHS_PACKET_FLOW);
		check_tuple(&pkt, six, protos[i]);
		CHECK_EQ(pkt.l4_off, six ? 40 : 20);
		CHECK_EQ(plain, protos[i] != SCTP);
		CHECK_EQ(pkt.seq, protos[i] == TCP ? 0xdeadbeef : 0);
		CHECK(!pkt.fragment && !pkt.syn && !pkt.fin && !pkt.rst);

		/* A merged packet may be too long for the field. */
		set_len(&b, 0, six ? 40 : 0);
		pkt = parse(&b, b.len);
		CHECK_EQ(pkt.kind, CHS_PACKET_FLOW);
		check_tuple(&pkt, six, protos[i]);
	}
}

/* What is well-formed and none of this module's business. */
static void check_other(bool six)
{
	static const u8 others[] = { 0xff, 47, 50, 4, 41, 136, NONE };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		struct buf b = { .len = 0 };

		ip(&b, six, others[i]);
		put_zero(&b, 8);
		done(&b);
		CHECK_EQ(parse(&b, b.len).kind, CHS_PACKET_OTHER);
	}
}

void test_packet_v4(void)
{
	struct buf b = { .len = 0 };
	struct chs_packet pkt;

	check_plain(false);
	check_other(false);

	/* With options. */
	v4(&b, UDP, client4, service4, 0, 10);
	udp(&b);
	done(&b);
	pkt = parse(&b, b.len);
	CHECK_EQ(pkt.kind, CHS_PACKET_FLOW);
	CHECK_EQ(pkt.l4_off, 60);
	check_tuple(&pkt, false, UDP);

	/* IPv6's ICMP in IPv4 is no ICMP. */
	b.len = 0;
	icmp_error(&b, false, 3, UDP);
	b.data[9] = ICMPV6;
	done(&b);
	CHECK_EQ(parse(&b, b.len).kind, CHS_PACKET_OTHER);
}

void test_packet_v6(void)
{
	struct buf b = { .len = 0 };
	u8 mapped[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };

	check_plain(true);
	check_other(true);

	/* Nor is IPv4's in IPv6. */
	icmp_error(&b, true, 3, UDP);
	b.data[6] = ICMP;
	done(&b);
	CHECK_EQ(parse(&b, b.len).kind, CHS_PACKET_OTHER);

	/* An IPv4 address in IPv6 clothes must not reach an IPv4 service. */
	b.len = 0;
	v6(&b, UDP, client6, mapped);
	udp(&b);
	done(&b);
	CHECK_EQ(parse(&b, b.len).kind, CHS_PACKET_BAD);
	b.len = 0;
	v6(&b, UDP, mapped, service6);
	udp(&b);
	done(&b);
	CHECK_EQ(parse(&b, b.len).kind, CHS_PACKET_BAD);
}

void test_packet_ext(void)
{
	struct chs_packet pkt;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(protos); i++) {
		struct buf b = { .len = 0 };

		v6(&b, HOPOPTS, client6, service6);
		option(&b, DSTOPTS, 1);
		option(&b, ROUTING, 3);
		option(&b, FRAGMENT, 1);
		fragment(&b, AH, 0, false);
		ah(&b, DSTOPTS);
		option(&b, protos[i], 2);
		CHECK_EQ(b.len, 40 + 8 + 24 + 8 + 8 + 24 + 16);
		transport(&b, protos[i]);
		done(&b);
		pkt = parse(&b, b.len);
		CHECK_EQ(pkt.kind, CHS_PACKET_FLOW);
		check_tuple(&pkt, true, protos[i]);
		CHECK_EQ(pkt.l4_off, 128);
		/* Offset 0 and none to follow: not fragmented. */
		CHECK(!pkt.fragment);
	}

	/* A chain is followed for eight headers and no further. */
	for (i = 1; i < 20; i++) {
		struct buf b = { .len = 0 };
		u32 k;

		v6(&b, DSTOPTS, client6, service6);
		for (k = 1; k < i; k++)
			option(&b, DSTOPTS, 1);
		option(&b, UDP, 1);
		udp(&b);
		done(&b);
		CHECK_EQ(parse(&b, b.len).kind,
			 i <= 8 ? CHS_PACKET_FLOW : CHS_PACKET_OTHER);
	}
}

static void check_flags(u8 proto, u8 value, bool syn, bool fin, bool rst)
{
	u32 six;

	for (six = 0; six < 2; six++) {
		struct buf b = { .len = 0 };
		struct chs_packet pkt;

		ip(&b, six, proto);
		if (proto == TCP)
			tcp(&b, value);
		else
			sctp(&b, value);
		done(&b);
		pkt = parse(&b, b.len);
		CHECK_EQ(pkt.kind, CHS_PACKET_FLOW);
		CHECK_EQ(pkt.syn, syn);
		CHECK_EQ(pkt.fin, fin);
		CHECK_EQ(pkt.rst, rst);
		CHECK_EQ(pkt.echo, proto == SCTP && value == 10);
	}
}

void test_packet_flags(void)
{
	u32 chunk;

	check_flags(TCP, 0, false, false, false);
	check_flags(TCP, ACK, false, false, false);
	check_flags(TCP, SYN, true, false, false);
	check_flags(TCP, SYN | 0xc0, true, false, false);
	check_flags(TCP, SYN | ACK, false, false, false);
	check_flags(TCP, FIN | ACK, false, true, false);
	check_flags(TCP, FIN, false, true, false);
	check_flags(TCP, RST, false, false, true);
	check_flags(TCP, RST | ACK, false, false, true);
	check_flags(TCP, SYN | FIN | RST, true, true, true);

	for (chunk = 0; chunk < 256; chunk++)
		check_flags(SCTP, chunk, chunk == 1,
			    chunk == 7 || chunk == 8 || chunk == 14,
			    chunk == 6);
}

static void check_later(const struct chs_packet *pkt, bool six, u8 proto)
{
	CHECK_EQ(pkt->kind, CHS_PACKET_FRAGMENT);
	CHECK(pkt->fragment);
	CHECK_EQ(pkt->tuple.sport, 0);
	CHECK_EQ(pkt->tuple.dport, 0);
	CHECK_EQ(pkt->tuple.proto, proto);
	CHECK_EQ(pkt->tuple.v6, six);
	CHECK_EQ(pkt->tuple.saddr.b[15], 7);
	CHECK_EQ(pkt->tuple.daddr.b[15], six ? 0x10 : 10);
	CHECK(!pkt->syn && !pkt->fin && !pkt->rst);
}

void test_packet_fragments(void)
{
	static const u16 offsets[] = { 1, 0x1fff, MF | 1, MF | 0x1fff };
	struct chs_packet pkt;
	u32 i, k, six;

	for (i = 0; i < ARRAY_SIZE(protos); i++) {
		struct buf b = { .len = 0 };

		/* The first one has the ports. */
		v4(&b, protos[i], client4, service4, MF, 0);
		transport(&b, protos[i]);
		put_zero(&b, 4);
		done(&b);
		pkt = parse(&b, b.len);
		CHECK_EQ(pkt.kind, CHS_PACKET_FLOW);
		CHECK(pkt.fragment);
		check_tuple(&pkt, false, protos[i]);

		for (k = 0; k < ARRAY_SIZE(offsets); k++) {
			b.len = 0;
			v4(&b, protos[i], client4, service4, offsets[k], 0);
			put32(&b, 0x11112222);
			put_zero(&b, 60);
			done(&b);
			pkt = parse(&b, b.len);
			check_later(&pkt, false, protos[i]);
		}

		b.len = 0;
		v6(&b, FRAGMENT, client6, service6);
		fragment(&b, protos[i], 0, true);
		transport(&b, protos[i]);
		done(&b);
		pkt = parse(&b, b.len);
		CHECK_EQ(pkt.kind, CHS_PACKET_FLOW);
		CHECK(pkt.fragment);
		check_tuple(&pkt, true, protos[i]);

		b.len = 0;
		v6(&b, HOPOPTS, client6, service6);
		option(&b, FRAGMENT, 1);
		fragment(&b, protos[i], 8, i & 1);
		put_zero(&b, 64);
		done(&b);
		pkt = parse(&b, b.len);
		check_later(&pkt, true, protos[i]);
	}

	/* "Do not fragment" and the reserved bit are no fragments. */
	for (i = 0; i < 2; i++) {
		struct buf b = { .len = 0 };

		v4(&b, UDP, client4, service4, 0x8000 >> i, 0);
		udp(&b);
		done(&b);
		CHECK(!parse(&b, b.len).fragment);
	}

	/* Nor are the reserved bits of IPv6, whatever they say. */
	for (i = 0; i < 2; i++) {
		struct buf b = { .len = 0 };

		v6(&b, FRAGMENT, client6, service6);
		fragment(&b, UDP, 2 << i, false);
		udp(&b);
		done(&b);
		CHECK(!parse(&b, b.len).fragment);
	}

	/* Eight bytes of TCP: legal, but the flags are in the next one. */
	for (six = 0; six < 2; six++) {
		struct buf b = { .len = 0 };

		if (six) {
			v6(&b, FRAGMENT, client6, service6);
			fragment(&b, TCP, 0, true);
		} else {
			v4(&b, TCP, client4, service4, MF, 0);
		}
		put_zero(&b, 8);
		done(&b);
		pkt = parse(&b, b.len);
		check_later(&pkt, six, TCP);
	}
}

static bool error_type(bool six, u32 type)
{
	return six ? type >= 1 && type <= 4 :
		     type == 3 || type == 4 || type == 11 || type == 12;
}

static void check_quote(bool six, u8 proto)
{
	struct buf b = { .len = 0 };
	const u32 at = six ? 48 : 28;
	struct chs_packet pkt;
	u32 type;

	icmp_error(&b, six, six ? 2 : 3, proto);
	/* The quoted packet was longer than what is quoted. */
	set_len(&b, at, 1500);
	done(&b);
	for (type = 0; type < 256; type++) {
		b.data[six ? 40 : 20] = type;
		pkt = parse(&b, b.len);
		if (!error_type(six, type)) {
			CHECK_EQ(pkt.kind, CHS_PACKET_OTHER);
			continue;
		}
		CHECK_EQ(pkt.kind, CHS_PACKET_ICMP_ERROR);
		check_tuple(&pkt, six, proto);
		CHECK_EQ(pkt.l4_off, six ? 40 : 20);
		CHECK_EQ(pkt.quote_off, at);
		CHECK(!pkt.syn && !pkt.fin && !pkt.rst);
	}
}

void test_packet_icmp(void)
{
	struct buf b = { .len = 0 };
	struct chs_packet pkt;
	u32 i, six;

	for (i = 0; i < ARRAY_SIZE(protos); i++) {
		check_quote(false, protos[i]);
		check_quote(true, protos[i]);
	}

	for (six = 0; six < 2; six++) {
		/* About what is not steered. */
		b.len = 0;
		icmp_error(&b, six, six ? 1 : 3, 47);
		done(&b);
		CHECK_EQ(parse(&b, b.len).kind, CHS_PACKET_OTHER);
		/* A quote that is of the other kind. */
		b.len = 0;
		icmp_error(&b, six, six ? 1 : 3, UDP);
		b.data[six ? 48 : 28] ^= 0x20;
		done(&b);
		CHECK_EQ(parse(&b, b.len).kind, CHS_PACKET_BAD);
	}

	/* A quote with options, and one of a later fragment. */
	for (i = 0; i < 2; i++) {
		b.len = 0;
		v4(&b, ICMP, router4, service4, 0, 0);
		put8(&b, 3);
		put_zero(&b, 7);
		v4(&b, TCP, service4, client4, i, 3);
		put16(&b, SERVICE_PORT);
		put16(&b, CLIENT_PORT);
		put32(&b, 0);
		done(&b);
		pkt = parse(&b, b.len);
		CHECK_EQ(pkt.kind, i ? CHS_PACKET_OTHER :
				       CHS_PACKET_ICMP_ERROR);
		if (!i)
			check_tuple(&pkt, false, TCP);
	}

	/* Extension headers outside and inside, the quote's first fragment. */
	b.len = 0;
	v6(&b, DSTOPTS, router6, service6);
	option(&b, ICMPV6, 1);
	put8(&b, 3);
	put_zero(&b, 7);
	v6(&b, FRAGMENT, service6, client6);
	fragment(&b, UDP, 0, true);
	put16(&b, SERVICE_PORT);
	put16(&b, CLIENT_PORT);
	put32(&b, 0);
	done(&b);
	pkt = parse(&b, b.len);
	CHECK_EQ(pkt.kind, CHS_PACKET_ICMP_ERROR);
	check_tuple(&pkt, true, UDP);
	CHECK_EQ(pkt.l4_off, 48);
	CHECK_EQ(pkt.quote_off, 56);
	CHECK(!pkt.fragment);
}

/*
 * Whether the address that a packet is sent to is its last: as itself, as a later
 * fragment, and in a quote, which the error's own header has no part in.
 */
void test_packet_routing(void)
{
	static const u8 types[] = { 0, 2, 3, 4, 253, 255 };
	struct chs_packet pkt;
	u32 i, left;

	for (i = 0; i < 6 * ARRAY_SIZE(types); i++) {
		const u8 type = types[i / 6];
		struct buf b = { .len = 0 };

		left = i % 3 == 2 ? 255 : i % 3;
		v6(&b, i & 1 ? HOPOPTS : ROUTING, client6, service6);
		if (i & 1)
			option(&b, ROUTING, 1);
		routing(&b, UDP, type, left);
		udp(&b);
		done(&b);
		pkt = parse(&b, b.len);
		CHECK_EQ(pkt.kind, CHS_PACKET_FLOW);
		check_tuple(&pkt, true, UDP);
		CHECK_EQ(pkt.routed, left > 0);
		CHECK_EQ(parse_quote(&b, b.len, &pkt), !left);

		/* A header that is cut off within says nothing. */
		CHECK_EQ(parse(&b, (i & 1 ? 48 : 40) + 23).kind, CHS_PACKET_BAD);

		b.len = 0;
		v6(&b, ROUTING, client6, service6);
		routing(&b, FRAGMENT, type, left);
		fragment(&b, UDP, 8, i & 1);
		put_zero(&b, 16);
		done(&b);
		pkt = parse(&b, b.len);
		CHECK_EQ(pkt.kind, CHS_PACKET_FRAGMENT);
		CHECK_EQ(pkt.routed, left > 0);

		b.len = 0;
		v6(&b, ROUTING, router6, service6);
		routing(&b, ICMPV6, type, i & 1 ? left : 0);
		put8(&b, 3);
		put_zero(&b, 7);
		v6(&b, ROUTING, service6, client6);
		routing(&b, UDP, type, i & 1 ? 0 : left);
		put16(&b, SERVICE_PORT);
		put16(&b, CLIENT_PORT);
		done(&b);
		pkt = parse(&b, b.len);
		CHECK_EQ(pkt.kind, CHS_PACKET_ICMP_ERROR);
		check_tuple(&pkt, true, UDP);
		CHECK_EQ(pkt.routed, left > 0);
	}
}

/* Of a packet that is cut off, its ports are enough. */
void test_packet_quote(void)
{
	struct chs_packet pkt;
	u32 i, six, len, ports;

	for (i = 0; i < 2 * ARRAY_SIZE(protos); i++) {
		struct buf b = { .len = 0 };

		six = i & 1;
		ip(&b, six, protos[i / 2]);
		transport(&b, protos[i / 2]);
		done(&b);
		ports = (six ? 40 : 20) + 4;
		for (len = 0; len <= b.len; len++) {
			CHECK_EQ(parse_quote(&b, len, &pkt), len >= ports);
			if (len >= ports)
				check_tuple(&pkt, six, protos[i / 2]);
		}
	}

	for (six = 0; six < 2; six++) {
		struct buf b = { .len = 0 };

		ip(&b, six, 47);
		put_zero(&b, 20);
		done(&b);
		CHECK(!parse_quote(&b, b.len, &pkt));
	}
}

#define CHECK_DAMAGE(six, proto, at, value)				\
	do {								\
		struct buf b_ = { .len = 0 };				\
									\
		ip(&b_, six, proto);					\
		transport(&b_, proto);					\
		done(&b_);						\
		b_.data[at] = value;					\
		CHECK_EQ(parse(&b_, b_.len).kind, CHS_PACKET_BAD);	\
	} while (0)

void test_packet_bad(void)
{
	struct buf b = { .len = 0 };

	CHECK_DAMAGE(false, TCP, 0, 0x65);	/* version */
	CHECK_DAMAGE(false, TCP, 0, 0x44);	/* header too short */
	CHECK_DAMAGE(false, TCP, 0, 0x4f);	/* header past the end */
	CHECK_DAMAGE(false, TCP, 3, 41);	/* longer than there is */
	CHECK_DAMAGE(false, TCP, 2, 0xff);
	CHECK_DAMAGE(false, TCP, 3, 19);	/* shorter than its header */
	CHECK_DAMAGE(false, TCP, 3, 39);	/* cuts the TCP header */
	CHECK_DAMAGE(false, UDP, 3, 27);
	CHECK_DAMAGE(false, SCTP, 3, 35);
	CHECK_DAMAGE(false, TCP, 32, 0x40);	/* TCP header too short */
	CHECK_DAMAGE(false, TCP, 32, 0x60);	/* TCP header past the end */
	CHECK_DAMAGE(true, TCP, 0, 0x40);
	CHECK_DAMAGE(true, TCP, 5, 21);
	CHECK_DAMAGE(true, TCP, 5, 19);
	CHECK_DAMAGE(true, UDP, 5, 7);
	CHECK_DAMAGE(true, SCTP, 5, 15);
	CHECK_DAMAGE(true, TCP, 52, 0x40);
	CHECK_DAMAGE(true, UDP, 6, DSTOPTS);	/* ports are an option */
	CHECK_DAMAGE(true, UDP, 6, AH);

	/* Padding after the stated end is no header. */
	ip(&b, false, UDP);
	put_zero(&b, 4);
	done(&b);
	put_zero(&b, 18);
	CHECK_EQ(parse(&b, b.len).kind, CHS_PACKET_BAD);
}

/* A packet of every kind, by number. False when there are no more. */
static bool corpus(u32 i, struct buf *b)
{
	const bool six = i & 1;
	const u8 proto = protos[(i >> 1) % 3];

	b->len = 0;
	switch ((i >> 1) / 3) {
	case 0:
		ip(b, six, proto);
		transport(b, proto);
		break;
	case 1:
		icmp_error(b, six, six ? 2 : 3, proto);
		break;
	case 2:
		if (six) {
			v6(b, FRAGMENT, client6, service6);
			fragment(b, proto, 0, true);
		} else {
			v4(b, proto, client4, service4, MF, 2);
		}
		transport(b, proto);
		break;
	case 3:
		if (six) {
			v6(b, HOPOPTS, client6, service6);
			option(b, ROUTING, 2);
			option(b, AH, 1);
			ah(b, proto);
		} else {
			v4(b, proto, client4, service4, 0, 10);
		}
		transport(b, proto);
		break;
	case 4:
		ip(b, six, six ? ICMPV6 : ICMP);
		put8(b, six ? 128 : 8);
		put_zero(b, 63);
		break;
	default:
		return false;
	}
	done(b);
	return true;
}

/* With the stated length left alone, and cut along. */
void test_packet_prefixes(void)
{
	struct buf b;
	u32 i, len;

	for (i = 0; corpus(i, &b); i++) {
		const struct chs_packet whole = parse(&b, b.len);
		const u32 shortest = b.v6 ? 41 : 21;
		bool reached = false;

		CHECK(whole.kind != CHS_PACKET_BAD);
		for (len = 0; len < b.len; len++)
			CHECK_EQ(parse(&b, len).kind, CHS_PACKET_BAD);

		for (len = shortest; len <= b.len; len++) {
			struct chs_packet pkt;
			struct buf cut = b;

			set_len(&cut, 0, len);
			pkt = parse(&cut, len);
			if (pkt.kind == whole.kind) {
				reached = true;
				CHECK(!memcmp(&pkt.tuple, &whole.tuple,
					      sizeof(pkt.tuple)));
				continue;
			}
			/* Never whole for a while and then not again. */
			CHECK(!reached);
			CHECK(pkt.kind == CHS_PACKET_BAD ||
			      (pkt.fragment &&
			       pkt.kind == CHS_PACKET_FRAGMENT));
		}
		CHECK(reached);
	}
	CHECK_EQ(i, 30);
}

/* What must hold whatever is thrown at the parser. */
static void check_sound(const struct buf *b, u32 len,
			const struct chs_packet *pkt)
{
	const struct chs_tuple *t = &pkt->tuple;
	const bool flow = pkt->kind == CHS_PACKET_FLOW;
	u16 ports[2];

	CHECK(pkt->kind <= CHS_PACKET_ICMP_ERROR);
	CHECK_EQ(t->v6, b->v6);
	CHECK(!t->zero[0] && !t->zero[1] && !t->zero[2]);
	if (pkt->kind == CHS_PACKET_BAD)
		return;

	CHECK(pkt->l4_off <= len);
	CHECK_EQ(chs_addr_is_v4(&t->saddr), !b->v6);
	CHECK_EQ(chs_addr_is_v4(&t->daddr), !b->v6);
	if (!flow)
		CHECK(!pkt->syn && !pkt->fin && !pkt->rst);
	if (flow || pkt->kind == CHS_PACKET_ICMP_ERROR)
		CHECK(t->proto == TCP || t->proto == UDP || t->proto == SCTP);
	else
		CHECK(!t->sport && !t->dport);
	if (pkt->kind == CHS_PACKET_FRAGMENT)
		CHECK(pkt->fragment);
	if (pkt->kind == CHS_PACKET_ICMP_ERROR)
		CHECK_EQ(pkt->quote_off, pkt->l4_off + 8);
	if (flow) {
		memcpy(ports, b->data + pkt->l4_off, 4);
		CHECK_EQ(t->sport, ports[0]);
		CHECK_EQ(t->dport, ports[1]);
	}
}

void test_packet_mutated(void)
{
	u32 seen[CHS_PACKET_ICMP_ERROR + 1] = { };
	u32 i, k, len, n_plain = 0;

	for (i = 0; i < 1000000; i++) {
		struct chs_packet pkt;
		struct buf b;

		corpus(rnd_below(30), &b);
		for (k = rnd_below(5); k; k--)
			b.data[rnd_below(b.len)] = rnd();
		len = rnd_below(2) ? b.len : rnd_below(b.len + 1);
		/* Often enough let the stated length agree. */
		if (rnd_below(2) && len > 40)
			set_len(&b, 0, len);
		if (!rnd_below(50)) {
			for (k = 1; k < b.len; k++)
				b.data[k] = rnd();
		}
		if (parse_quote(&b, len, &pkt))
			CHECK(pkt.tuple.proto == TCP ||
			      pkt.tuple.proto == UDP ||
			      pkt.tuple.proto == SCTP);
		pkt = parse(&b, len);
		n_plain += plain;
		check_sound(&b, len, &pkt);
		if (pkt.kind <= CHS_PACKET_ICMP_ERROR)
			seen[pkt.kind]++;
	}
	unit_note("bad %u, other %u, flow %u, fragment %u, error %u; plain %u",
		  seen[0], seen[1], seen[2], seen[3], seen[4], n_plain);
	CHECK(n_plain > 10000);
	for (k = 0; k < ARRAY_SIZE(seen); k++)
		CHECK(seen[k] > 10000);
}
