// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets: the first byte says whether it is IPv6 and what lies before it, the rest
 * is the packet. In memory of its own, so that a byte too far is noticed.
 */

#include "fuzz.h"
#include "packet.h"
#include "plain.h"
#include "unit.h"

#include <linux/skbuff.h>

#include <stdlib.h>
#include <string.h>

static void check(const u8 *packet, u32 len, bool v6,
		  const struct chs_packet *pkt)
{
	const struct chs_tuple *t = &pkt->tuple;
	const bool flow = pkt->kind == CHS_PACKET_FLOW;

	CHECK(pkt->kind <= CHS_PACKET_ICMP_ERROR);
	CHECK_EQ(t->v6, v6);
	CHECK(!t->zero[0] && !t->zero[1] && !t->zero[2]);
	if (pkt->kind == CHS_PACKET_BAD)
		return;

	CHECK(pkt->l4_off <= len);
	CHECK_EQ(chs_addr_is_v4(&t->saddr), !v6);
	CHECK_EQ(chs_addr_is_v4(&t->daddr), !v6);
	CHECK(v6 || !pkt->routed);
	if (!flow)
		CHECK(!pkt->syn && !pkt->fin && !pkt->rst);
	if (flow || pkt->kind == CHS_PACKET_ICMP_ERROR)
		CHECK(t->proto == 6 || t->proto == 17 || t->proto == 132);
	else
		CHECK(!t->sport && !t->dport);
	if (flow)
		CHECK(!memcmp(&t->sport, packet + pkt->l4_off, 2) &&
		      !memcmp(&t->dport, packet + pkt->l4_off + 2, 2));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const u32 head = size && data[0] & 2 ? 16 : 0;
	const bool v6 = size && data[0] & 1;
	const u32 len = size ? size - 1 : 0;
	struct chs_tuple quoted;
	struct chs_packet pkt;
	struct sk_buff skb;
	u8 *copy;

	copy = malloc(head + len);
	memset(copy, 0x45, head);
	if (len)
		memcpy(copy + head, data + 1, len);
	skb = (struct sk_buff){ .data = copy, .len = head + len, .head = head };

	memset(&pkt, 0xff, sizeof(pkt));
	chs_packet_parse(&skb, v6, &pkt);
	check(copy + head, len, v6, &pkt);
	fuzz_input(data, size);
	plain_check(&skb, v6, &pkt);

	memset(&quoted, 0xff, sizeof(quoted));
	if (chs_packet_parse_quote(&skb, head, v6, &quoted))
		CHECK(quoted.proto == 6 || quoted.proto == 17 ||
		      quoted.proto == 132);
	free(copy);
	return 0;
}
