// SPDX-License-Identifier: GPL-2.0-only
/* The sentence that goes back with an acknowledgment: an error or warnings. */
#include "msg.h"

#include <linux/kernel.h>
#include <linux/netlink.h>
#include <net/genetlink.h>

/**
 * chs_msg_fail() - state why a request is refused
 * @msg: where; whatever it held is forgotten
 * @err: negative errno
 * @bad: attribute at fault, or NULL
 * @fmt: lower case, no full stop, with field and value
 *
 * Context: any.
 * Return: @err, so that a refusal is one statement.
 */
int chs_msg_fail(struct chs_msg *msg, int err, const struct nlattr *bad,
		 const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	msg->len = vscnprintf(msg->text, sizeof(msg->text), fmt, args);
	va_end(args);
	msg->bad = bad;
	return err;
}

/**
 * chs_msg_warn() - add a warning to a request that is granted
 * @msg: where
 * @fmt: lower case, no full stop
 *
 * A warning that does not fit is left out whole.
 *
 * Context: any.
 */
void chs_msg_warn(struct chs_msg *msg, const char *fmt, ...)
{
	size_t room = sizeof(msg->text) - msg->len;
	char *at = msg->text + msg->len;
	int sep = msg->len ? 2 : 0;
	va_list args;
	int len;

	if (room <= sep)
		return;

	va_start(args, fmt);
	len = vsnprintf(at + sep, room - sep, fmt, args);
	va_end(args);

	if (len + sep >= room) {
		*at = '\0';
		return;
	}
	memcpy(at, "; ", sep);
	msg->len += sep + len;
}

/**
 * chs_msg_ack() - acknowledge a request with its sentence
 * @skb: the request's buffer
 * @info: the request
 * @err: 0 or negative errno
 * @msg: the sentence
 *
 * The core would send the acknowledgment only after the handler is gone, and
 * with it the text; so it is sent here and the core is told not to.
 *
 * Context: process; may sleep.
 * Return: what the handler returns: @err, or -EINTR if nothing is left to do.
 */
int chs_msg_ack(struct sk_buff *skb, struct genl_info *info, int err,
		const struct chs_msg *msg)
{
	struct netlink_ext_ack extack = {};

	if (!msg->len)
		return err;
	if (!err && !(info->nlhdr->nlmsg_flags & NLM_F_ACK))
		return 0;

	extack._msg = msg->text;
	extack.bad_attr = msg->bad;
	netlink_ack(skb, nlmsg_hdr(skb), err, &extack);
	return -EINTR;
}

/**
 * chs_addr_str() - print an address
 * @buf: CHS_ENDPOINT_STRLEN bytes
 * @addr: address
 *
 * Context: any.
 * Return: @buf.
 */
const char *chs_addr_str(char *buf, const union chs_addr *addr)
{
	snprintf(buf, CHS_ENDPOINT_STRLEN,
		 chs_addr_is_v4(addr) ? "%pI4" : "%pI6c",
		 chs_addr_is_v4(addr) ? &addr->b[12] : addr->b);
	return buf;
}

/**
 * chs_endpoint_str() - print an address and a port
 * @buf: CHS_ENDPOINT_STRLEN bytes
 * @addr: address
 * @port: port; none is printed for 0
 *
 * Context: any.
 * Return: @buf.
 */
const char *chs_endpoint_str(char *buf, const union chs_addr *addr,
			     __be16 port)
{
	if (!port)
		return chs_addr_str(buf, addr);
	if (chs_addr_is_v4(addr))
		snprintf(buf, CHS_ENDPOINT_STRLEN, "%pI4:%u", &addr->b[12],
			 ntohs(port));
	else
		snprintf(buf, CHS_ENDPOINT_STRLEN, "[%pI6c]:%u", addr->b,
			 ntohs(port));
	return buf;
}
