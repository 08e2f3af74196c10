/* SPDX-License-Identifier: GPL-2.0-only */
/* The sentence that goes back with an acknowledgment: an error or warnings. */
#ifndef CHS_MSG_H
#define CHS_MSG_H

#include <linux/types.h>

#include "tuple.h"

struct genl_info;
struct nlattr;
struct sk_buff;

/* Room for a name, two endpoints and the words between, several times over. */
#define CHS_MSG_LEN		768

/* "sctp [", 8 groups of 4 and 7 colons, "]:65534-65535", the terminator. */
#define CHS_ENDPOINT_STRLEN	64

/**
 * struct chs_msg - sentence about one request
 * @bad: attribute at fault, or NULL
 * @len: length of @text
 * @text: an error, or warnings joined by "; "
 *
 * The kernel's own extended-ack text is a pointer to a constant before 6.3 and
 * at most 80 characters since; neither holds a name and an IPv6 endpoint.
 */
struct chs_msg {
	const struct nlattr *bad;
	size_t len;
	char text[CHS_MSG_LEN];
};

__printf(4, 5)
int chs_msg_fail(struct chs_msg *msg, int err, const struct nlattr *bad,
		 const char *fmt, ...);
__printf(2, 3)
void chs_msg_warn(struct chs_msg *msg, const char *fmt, ...);
int chs_msg_ack(struct sk_buff *skb, struct genl_info *info, int err,
		const struct chs_msg *msg);

const char *chs_addr_str(char *buf, const union chs_addr *addr);
const char *chs_endpoint_str(char *buf, const union chs_addr *addr,
			     __be16 port);

#endif /* CHS_MSG_H */
