// SPDX-License-Identifier: GPL-2.0-only
/* What is plain against what it is: packet_plain.h against packet.c. */

#include "plain.h"

#include "packet_plain.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <linux/skbuff.h>

static bool is_plain(const struct sk_buff *skb, bool v6, struct chs_packet *pkt)
{
	struct sk_buff begun = *skb;

	begun.data += skb->head;
	begun.len -= skb->head;
	begun.head = 0;
	/* Nothing may be left as it was. */
	memset(pkt, 0xff, sizeof(*pkt));
	if (!chs_packet_plain(&begun, v6))
		return false;
	chs_packet_plain_read(&begun, v6, pkt);
	return true;
}

static void check_same(const struct chs_packet *a, const struct chs_packet *b)
{
	CHECK(chs_addr_equal(&a->tuple.saddr, &b->tuple.saddr));
	CHECK(chs_addr_equal(&a->tuple.daddr, &b->tuple.daddr));
	CHECK_EQ(a->tuple.sport, b->tuple.sport);
	CHECK_EQ(a->tuple.dport, b->tuple.dport);
	CHECK_EQ(a->tuple.proto, b->tuple.proto);
	CHECK(!memcmp(a->tuple.zero, b->tuple.zero, sizeof(a->tuple.zero)));
	CHECK_EQ(a->tuple.v6, b->tuple.v6);
	CHECK_EQ(a->kind, b->kind);
	CHECK_EQ(a->seq, b->seq);
	CHECK_EQ(a->l4_off, b->l4_off);
	CHECK_EQ(a->quote_off, b->quote_off);
	CHECK_EQ(a->fragment, b->fragment);
	CHECK_EQ(a->routed, b->routed);
	CHECK_EQ(a->syn, b->syn);
	CHECK_EQ(a->fin, b->fin);
	CHECK_EQ(a->rst, b->rst);
	CHECK_EQ(a->echo, b->echo);
}

/* The same with less of it linear: memory ends where the linear part does. */
static void check_short(const struct sk_buff *skb, bool v6,
			const struct chs_packet *pkt)
{
	const u32 need = pkt->l4_off + (pkt->tuple.proto == 6 ? 20 : 8);
	const u32 linear = rnd_below(skb->len - skb->head + 1);
	struct sk_buff part = *skb;
	struct chs_packet again;
	u8 *copy;

	copy = malloc(skb->head + linear);
	memcpy(copy, skb->data, skb->head + linear);
	part.data = copy;
	part.data_len = skb->len - skb->head - linear;
	CHECK_EQ(is_plain(&part, v6, &again), linear >= need);
	if (linear >= need)
		check_same(&again, pkt);
	free(copy);
}

bool plain_check(const struct sk_buff *skb, bool v6,
		 const struct chs_packet *pkt)
{
	struct chs_packet plain;

	if (!is_plain(skb, v6, &plain))
		return false;
	check_same(&plain, pkt);
	check_short(skb, v6, &plain);
	return true;
}
