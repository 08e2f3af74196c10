/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A packet: @len bytes at @data, of which the first @head lie before the
 * network header. All of it is linear, for skb_header_pointer(); the last
 * @data_len of them are not, for who asks skb_headlen().
 */
#ifndef CHS_SHIM_LINUX_SKBUFF_H
#define CHS_SHIM_LINUX_SKBUFF_H

#include <linux/types.h>

struct sk_buff {
	const u8 *data;
	unsigned int len;
	unsigned int data_len;
	int head;
};

static inline unsigned int skb_headlen(const struct sk_buff *skb)
{
	return skb->len - skb->data_len;
}

static inline int skb_network_offset(const struct sk_buff *skb)
{
	return skb->head;
}

static inline void *skb_header_pointer(const struct sk_buff *skb, int offset,
				       int len, void *buffer)
{
	(void)buffer;
	if ((int)skb->len - offset < len)
		return NULL;
	return (void *)(skb->data + offset);
}

#endif /* CHS_SHIM_LINUX_SKBUFF_H */
