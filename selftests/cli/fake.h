/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages put together by hand. */
#ifndef FAKE_H
#define FAKE_H

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	size_t start;
	size_t len;
	char data[128 << 10];
};

void put_raw(struct buf *b, const void *data, size_t len);
void put_attr(struct buf *b, uint16_t type, const void *data, size_t len);
void put_u8(struct buf *b, uint16_t type, uint8_t value);
void put_u32(struct buf *b, uint16_t type, uint32_t value);
void put_u64(struct buf *b, uint16_t type, uint64_t value);
void put_port(struct buf *b, uint16_t type, uint16_t port);
void put_str(struct buf *b, uint16_t type, const char *s);
void put_addr(struct buf *b, uint16_t type, const char *s);
size_t nest_begin(struct buf *b, uint16_t type);
void nest_end(struct buf *b, size_t at);
void message_begin(struct buf *b, const struct nlmsghdr *request, uint16_t type, uint16_t flags,
		   uint8_t cmd);
void message_end(struct buf *b);
void deliver(struct buf *b);

/* fake_data.c */
void fake_dump(const struct nlmsghdr *request, uint16_t family, uint16_t flags, uint8_t cmd);
int fake_reply(const struct nlmsghdr *request, uint16_t family, uint8_t cmd);

#endif /* FAKE_H */
