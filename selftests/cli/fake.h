/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages put together by hand. */
#ifndef FAKE_H
#define FAKE_H

#include <linux/netlink.h>
#include <stdbool.h>
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

struct fake_backend {
	const char *addr;
	uint16_t port;
	uint32_t weight;
	uint8_t state;
	const char *zone;
	uint32_t deadline;
	uint32_t deadline_left;
	bool del;
	uint32_t slots;
	bool idle;
	uint32_t tracked;
	uint8_t obstacle;
};

#define FAKE_BACKENDS	6

struct fake_service {
	const char *name;
	uint8_t proto;
	const char *addr;
	uint16_t port;
	uint16_t port_end;
	bool any;
	bool forced;
	uint8_t hash;
	uint32_t points;
	uint32_t slots;
	uint32_t balance;
	bool seed;
	uint8_t on_empty;
	uint8_t masquerade;
	uint8_t mode;
	uint8_t affinity;
	uint32_t window;
	uint32_t max_flows;
	uint32_t timeout;
	uint16_t gue_port;
	const char *source;
	const char *vrf;
	uint32_t open;
	/* One more than what is told; 0 is not told. */
	uint32_t settles_in;
	uint32_t tracked;
	uint32_t n;
	/* 0: any */
	uint64_t digest;
	struct fake_backend backends[FAKE_BACKENDS];
};

/* fake_plan.c: the services in force, or those that a transaction would make. */
const struct fake_service *fake_planned(bool txn, size_t *n);

/* fake_ring.c: shares of the backends, and the digest. */
uint64_t fake_ring(struct fake_service *svc);

/* fake_data.c */
void fake_dump(const struct nlmsghdr *request, uint16_t family, uint16_t flags, uint8_t cmd);
int fake_reply(const struct nlmsghdr *request, uint16_t family, uint8_t cmd);

#endif /* FAKE_H */
