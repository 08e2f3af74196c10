/* SPDX-License-Identifier: GPL-2.0-only */
/* What is plain against what it is: packet_plain.h against packet.c. */
#ifndef PLAIN_H
#define PLAIN_H

#include "packet.h"

struct sk_buff;

/* Whether @skb, which is @pkt, is plain. All of it must be linear. */
bool plain_check(const struct sk_buff *skb, bool v6,
		 const struct chs_packet *pkt);

#endif /* PLAIN_H */
