// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests to the module and what comes back: acknowledgements with their
 * extended text, answers of one or many messages, bursts.
 *
 * libnl builds and parses attributes. It neither reads extended
 * acknowledgements nor tells a broken dump from a whole one as needed here,
 * so receiving is done by hand.
 */
#include "nl.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <netlink/genl/genl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "attr.h"
#include "err.h"
#include "module.h"
#include "sock.h"

/* The kernel's own messages end at 64 KiB but for what an attribute adds. */
#define RECV_BUFFER	(256 << 10)
/* Each time something has changed while it was read. */
#define READ_TRIES	20

/**
 * struct exchange - requests under way
 * @first: the first request's header
 * @seq: its sequence number
 * @count: number of requests
 * @pending: how many of them are not answered yet
 * @worst: lowest index of a refused one, @count if there is none
 * @status: what went wrong
 * @burst: NULL for a single request
 * @type: message type of the answers
 * @fn: takes them
 * @reply: what @fn hands on to, may be NULL
 * @arg: for @reply
 * @interrupted: something changed during a dump
 */
struct exchange {
	struct nlmsghdr *first;
	uint32_t seq;
	unsigned int count;
	unsigned int pending;
	unsigned int worst;
	int status;
	const struct ctl_burst *burst;
	uint16_t type;
	int (*fn)(struct nlmsghdr *nlh, struct exchange *x);
	ctl_reply_fn reply;
	void *arg;
	bool interrupted;
};

static char recv_buf[RECV_BUFFER] __attribute__((aligned(NLMSG_ALIGNTO)));
static uint32_t next_seq = 1;
static uint16_t family;

static const char *default_text(int code)
{
	switch (code) {
	case EPERM:
		return "CAP_NET_ADMIN over the network namespace is needed";
	case ENOMEM:
		return "the kernel is out of memory";
	case ENOENT:
		return "no such object";
	case EEXIST:
		return "it exists";
	case EOPNOTSUPP:
		return "the loaded module does not know this request";
	default:
		return "refused by the kernel";
	}
}

/* The request that @index counts, among those sent. */
static const struct nlmsghdr *request_at(const struct exchange *x, unsigned int index)
{
	const char *at = (const char *)x->first;

	while (index--)
		at += NLMSG_ALIGN(((const struct nlmsghdr *)at)->nlmsg_len);
	return (const struct nlmsghdr *)at;
}

/* Take the extended acknowledgement apart; both pointers may come back NULL. */
static void parse_ext_ack(struct nlmsghdr *nlh, size_t skip, struct nlattr **tb)
{
	memset(tb, 0, (NLMSGERR_ATTR_MAX + 1) * sizeof(*tb));
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) || nlmsg_datalen(nlh) < (int)skip)
		return;
	nla_parse(tb, NLMSGERR_ATTR_MAX, (struct nlattr *)((char *)nlmsg_data(nlh) + skip),
		  nlmsg_datalen(nlh) - skip, NULL);
}

static const char *ext_ack_text(struct nlattr **tb)
{
	const struct nlattr *text = tb[NLMSGERR_ATTR_MSG];
	int len = text ? nla_len(text) : 0;

	return len && !((char *)nla_data(text))[len - 1] ? nla_data(text) : NULL;
}

static int refuse(const struct exchange *x, unsigned int index, int code, struct nlattr **tb)
{
	const char *text = ext_ack_text(tb);
	char attr[128] = "";

	/*
	 * The netlink core names no attribute when a policy refuses it: name it
	 * by its offset.
	 */
	if (text && tb[NLMSGERR_ATTR_OFFS] && nla_len(tb[NLMSGERR_ATTR_OFFS]) >= 4 &&
	    ctl_attr_is_core_text(text))
		ctl_attr_describe(request_at(x, index), nla_get_u32(tb[NLMSGERR_ATTR_OFFS]),
				  tb[NLMSGERR_ATTR_POLICY], attr, sizeof(attr));

	return ctl_fail(code, "%s%s", attr, text ? text : default_text(code));
}

/* Several warnings come as one text, joined by "; ". */
static void warn(const char *text)
{
	const char *end;

	for (; (end = strstr(text, "; ")); text = end + 2)
		ctl_warn("%.*s", (int)(end - text), text);
	if (*text)
		ctl_warn("%s", text);
}

static void on_ack(struct exchange *x, struct nlmsghdr *nlh)
{
	const struct nlmsgerr *ack = nlmsg_data(nlh);
	const unsigned int index = nlh->nlmsg_seq - x->seq;
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];
	size_t skip = sizeof(*ack);
	const char *text;

	x->pending--;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += NLMSG_ALIGN(ack->msg.nlmsg_len) - NLMSG_HDRLEN;
	parse_ext_ack(nlh, skip, tb);

	if (x->burst && x->burst->file)
		ctl_err_where(x->burst->file, x->burst->lines[index]);
	if (ack->error && index < x->worst) {
		x->worst = index;
		x->status = refuse(x, index, -ack->error, tb);
	} else if (!ack->error) {
		text = ext_ack_text(tb);
		if (text)
			warn(text);
	}
}

/* A dump may fail at its very end. */
static void on_done(struct exchange *x, struct nlmsghdr *nlh)
{
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];
	int code = 0;

	x->pending = 0;
	if (nlmsg_datalen(nlh) >= (int)sizeof(code))
		memcpy(&code, nlmsg_data(nlh), sizeof(code));
	if (code < 0 && !x->status) {
		parse_ext_ack(nlh, sizeof(code), tb);
		x->status = refuse(x, 0, -code, tb);
	}
}

static void on_message(struct exchange *x, struct nlmsghdr *nlh)
{
	/* Late answers to an exchange that was given up. */
	if (nlh->nlmsg_seq - x->seq >= x->count)
		return;

	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		x->interrupted = true;
	if (nlh->nlmsg_type == NLMSG_ERROR && nlmsg_datalen(nlh) >= (int)sizeof(struct nlmsgerr))
		on_ack(x, nlh);
	else if (nlh->nlmsg_type == NLMSG_DONE)
		on_done(x, nlh);
	else if (nlh->nlmsg_type == x->type && !x->status)
		x->status = x->fn(nlh, x);
}

static int receive(struct exchange *x)
{
	struct nlmsghdr *nlh;
	size_t len;
	int left, ret;

	while (x->pending) {
		ret = ctl_sock_recv(recv_buf, sizeof(recv_buf), &len);
		if (ret)
			return ret;

		left = len;
		for (nlh = (struct nlmsghdr *)recv_buf; nlmsg_ok(nlh, left);
		     nlh = nlmsg_next(nlh, &left))
			on_message(x, nlh);
		if (left > 0)
			return ctl_fail(EBADMSG, "an answer of the kernel is malformed");
	}

	return x->status;
}

static int exchange(struct exchange *x, void *buf, size_t len)
{
	char *at = buf;
	unsigned int i;
	int ret;

	x->first = buf;
	x->pending = x->count;
	x->worst = x->count;
	x->seq = next_seq;
	next_seq += x->count;
	for (i = 0; i < x->count; i++) {
		struct nlmsghdr *nlh = (struct nlmsghdr *)at;

		nlh->nlmsg_seq = x->seq + i;
		nlh->nlmsg_type = x->type;
		at += NLMSG_ALIGN(nlh->nlmsg_len);
	}

	ret = ctl_sock_send(buf, len);
	return ret ? ret : receive(x);
}

static int take_family(struct nlmsghdr *nlh, struct exchange *x)
{
	struct nlattr *tb[CTRL_ATTR_MAX + 1];

	(void)x;
	if (genlmsg_parse(nlh, 0, tb, CTRL_ATTR_MAX, NULL) || !tb[CTRL_ATTR_FAMILY_ID] ||
	    nla_len(tb[CTRL_ATTR_FAMILY_ID]) < 2)
		return ctl_fail(EBADMSG, "an answer of the kernel is malformed");

	family = nla_get_u16(tb[CTRL_ATTR_FAMILY_ID]);
	return CTL_OK;
}

/**
 * ctl_nl_connect() - open the socket and find the module's family, once
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_nl_connect(void)
{
	struct exchange x = { .count = 1, .type = GENL_ID_CTRL, .fn = take_family };
	struct utsname kernel;
	static bool open;
	struct nl_msg *msg;
	int ret;

	if (family)
		return CTL_OK;
	if (!open) {
		ret = ctl_sock_open();
		if (ret)
			return ret;
		open = true;
	}

	msg = nlmsg_alloc_size(256);
	if (!msg || !genlmsg_put(msg, 0, 0, GENL_ID_CTRL, 0, NLM_F_REQUEST | NLM_F_ACK,
				 CTRL_CMD_GETFAMILY, 1) ||
	    nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, CHS_FAMILY_NAME)) {
		nlmsg_free(msg);
		return ctl_fail(ENOMEM, "out of memory");
	}
	ret = exchange(&x, nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
	nlmsg_free(msg);
	if (ret && ctl_err_code() == ENOENT)
		return uname(&kernel) ? ctl_fail(errno, "cannot tell the kernel's release") :
					ctl_module_missing("", kernel.release);
	return ret;
}

/**
 * ctl_nl_msg() - start a request
 * @cmd: command
 * @room: bytes that its attributes take at most
 *
 * Return: the message, NULL with an error recorded.
 */
struct nl_msg *ctl_nl_msg(uint8_t cmd, size_t room)
{
	struct nl_msg *msg = nlmsg_alloc_size(NLMSG_HDRLEN + GENL_HDRLEN + room);

	/* The family is not known before the socket is open. */
	if (!msg || !genlmsg_put(msg, 0, 0, 0, 0, NLM_F_REQUEST | NLM_F_ACK, cmd,
				 CHS_FAMILY_VERSION)) {
		nlmsg_free(msg);
		ctl_fail(ENOMEM, "out of memory");
		return NULL;
	}
	return msg;
}

static int take_reply(struct nlmsghdr *nlh, struct exchange *x)
{
	struct nlattr *tb[CHS_A_MAX + 1];

	if (!x->reply)
		return CTL_OK;
	if (genlmsg_parse(nlh, 0, tb, CHS_A_MAX, NULL))
		return ctl_fail(EBADMSG, "an answer of the kernel is malformed");
	return x->reply(tb, x->arg);
}

/**
 * ctl_nl_do() - send a request and wait for its acknowledgement
 * @msg: the request, consumed
 * @fn: takes the answer, if there is to be one
 * @arg: for @fn
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_nl_do(struct nl_msg *msg, ctl_reply_fn fn, void *arg)
{
	struct exchange x = { .count = 1, .fn = take_reply, .reply = fn, .arg = arg };
	int ret;

	ret = ctl_nl_connect();
	if (!ret) {
		x.type = family;
		ret = exchange(&x, nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
	}
	nlmsg_free(msg);
	return ret;
}

/**
 * ctl_nl_dump() - ask for a list
 * @msg: the request, consumed
 * @fn: takes each message
 * @arg: for @fn
 *
 * Return: CTL_OK or CTL_FAILED; with EAGAIN if the list changed meanwhile and
 * what @fn has seen is worth nothing.
 */
int ctl_nl_dump(struct nl_msg *msg, ctl_reply_fn fn, void *arg)
{
	struct exchange x = { .count = 1, .fn = take_reply, .reply = fn, .arg = arg };
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	int ret;

	ret = ctl_nl_connect();
	if (!ret) {
		x.type = family;
		/* Its end is its acknowledgement. */
		nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
		ret = exchange(&x, nlh, nlh->nlmsg_len);
	}
	nlmsg_free(msg);
	if (!ret && x.interrupted)
		ret = ctl_fail(EAGAIN, "the list changed while it was read");
	return ret;
}

/**
 * ctl_nl_burst() - send many requests at once and wait for all answers
 * @burst: the requests
 *
 * Return: CTL_OK or CTL_FAILED; the error is that of the first one refused.
 */
int ctl_nl_burst(const struct ctl_burst *burst)
{
	struct exchange x = {
		.count = burst->count,
		.burst = burst,
		.fn = take_reply,
	};
	int ret;

	ret = ctl_nl_connect();
	if (ret)
		return ret;
	x.type = family;
	ret = exchange(&x, burst->buf, burst->len);
	if (burst->file)
		ctl_err_where(burst->file, 0);
	return ret;
}

/**
 * ctl_nl_pause() - let the other writer finish before another try
 * @try: number of tries so far
 */
void ctl_nl_pause(unsigned int try)
{
	const struct timespec pause = { .tv_nsec = (try < 10 ? try : 10) * 2000000L };

	nanosleep(&pause, NULL);
}

/**
 * ctl_nl_retry() - read until nothing changes meanwhile
 * @what: what is read
 * @once: reads it, and fails with EAGAIN if something has changed
 * @arg: for @once
 *
 * Return: what @once returns; CTL_FAILED with EBUSY if it does not come to rest.
 */
int ctl_nl_retry(const char *what, int (*once)(void *arg), void *arg)
{
	unsigned int try;
	int ret;

	for (try = 0; try < READ_TRIES; try++) {
		ctl_err_clear();
		ret = once(arg);
		if (!ret || ctl_err_code() != EAGAIN)
			return ret;
		ctl_nl_pause(try);
	}
	return ctl_fail(EBUSY, "the %s changed while it was read, %u times over", what,
			READ_TRIES);
}
