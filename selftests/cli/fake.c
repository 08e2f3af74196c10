// SPDX-License-Identifier: GPL-2.0-only
/*
 * The made-up kernel: takes what the tool sends, writes it down as text, and
 * answers with messages put together by hand.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/chsteer.h>

#include "cli.h"
#include "fake.h"
#include "sock.h"
#include "err.h"

#define FAMILY_ID	0x21
#define PORT_ID		4711

struct fake fake;

static FILE *request_log;
static struct datagram {
	struct datagram *next;
	size_t len;
	char data[];
} *queue, **queue_end = &queue;
static unsigned int n_requests, n_dumps;

void fake_log_to(int fd)
{
	request_log = fdopen(fd, "w");
}

/* --- what is answered --- */

void put_raw(struct buf *b, const void *data, size_t len)
{
	const size_t padded = NLMSG_ALIGN(len);

	if (b->len + padded > sizeof(b->data))
		abort();
	memset(b->data + b->len, 0, padded);
	memcpy(b->data + b->len, data, len);
	b->len += padded;
}

void put_attr(struct buf *b, uint16_t type, const void *data, size_t len)
{
	const struct nlattr nla = { .nla_len = NLA_HDRLEN + len, .nla_type = type };

	put_raw(b, &nla, sizeof(nla));
	if (len)
		put_raw(b, data, len);
}

void put_u8(struct buf *b, uint16_t type, uint8_t value)
{
	put_attr(b, type, &value, sizeof(value));
}

void put_u32(struct buf *b, uint16_t type, uint32_t value)
{
	put_attr(b, type, &value, sizeof(value));
}

void put_u64(struct buf *b, uint16_t type, uint64_t value)
{
	put_attr(b, type, &value, sizeof(value));
}

void put_port(struct buf *b, uint16_t type, uint16_t port)
{
	const uint16_t be = htons(port);

	put_attr(b, type, &be, sizeof(be));
}

void put_str(struct buf *b, uint16_t type, const char *s)
{
	put_attr(b, type, s, strlen(s) + 1);
}

void put_addr(struct buf *b, uint16_t type, const char *s)
{
	uint8_t addr[16];
	const bool v6 = strchr(s, ':');

	if (inet_pton(v6 ? AF_INET6 : AF_INET, s, addr) != 1)
		abort();
	put_attr(b, type, addr, v6 ? 16 : 4);
}

size_t nest_begin(struct buf *b, uint16_t type)
{
	const size_t at = b->len;

	put_attr(b, type | NLA_F_NESTED, NULL, 0);
	return at;
}

void nest_end(struct buf *b, size_t at)
{
	struct nlattr *nla = (struct nlattr *)(b->data + at);

	nla->nla_len = b->len - at;
}

void message_begin(struct buf *b, const struct nlmsghdr *request, uint16_t type, uint16_t flags,
		   uint8_t cmd)
{
	const struct genlmsghdr genl = { .cmd = cmd, .version = 1 };
	const struct nlmsghdr nlh = {
		.nlmsg_type = type,
		.nlmsg_flags = flags,
		.nlmsg_seq = request->nlmsg_seq,
		.nlmsg_pid = PORT_ID,
	};

	b->start = b->len;
	put_raw(b, &nlh, sizeof(nlh));
	if (type >= NLMSG_MIN_TYPE)
		put_raw(b, &genl, sizeof(genl));
}

void message_end(struct buf *b)
{
	((struct nlmsghdr *)(b->data + b->start))->nlmsg_len = b->len - b->start;
}

void deliver(struct buf *b)
{
	struct datagram *d = malloc(sizeof(*d) + b->len);

	d->next = NULL;
	d->len = b->len;
	memcpy(d->data, b->data, b->len);
	*queue_end = d;
	queue_end = &d->next;
	b->len = 0;
}

static void put_range(struct buf *b)
{
	const size_t nest = nest_begin(b, NLMSGERR_ATTR_POLICY);

	put_u32(b, NL_POLICY_TYPE_ATTR_TYPE, NL_ATTR_TYPE_U32);
	put_u64(b, NL_POLICY_TYPE_ATTR_MIN_VALUE_U, 1);
	put_u64(b, NL_POLICY_TYPE_ATTR_MAX_VALUE_U, 4096);
	nest_end(b, nest);
}

/* Offset of the attribute that a refusal is to point to. */
static uint32_t find_offset(const struct nlmsghdr *nlh, uint16_t wanted)
{
	const char *start = (const char *)nlh, *end = start + nlh->nlmsg_len;
	const char *at = start + NLMSG_HDRLEN + GENL_HDRLEN;

	while (at < end) {
		const struct nlattr *nla = (const struct nlattr *)at;
		const bool nested = nla->nla_type & NLA_F_NESTED;

		if (!nested && nla->nla_type == wanted &&
		    at > start + NLMSG_HDRLEN + GENL_HDRLEN)
			return at - start;
		at += nested ? NLA_HDRLEN : NLA_ALIGN(nla->nla_len);
	}
	abort();
}

static void ack(const struct nlmsghdr *request, int code, const char *text)
{
	struct nlmsgerr error = { .error = -code, .msg = *request };
	static struct buf b;

	message_begin(&b, request, NLMSG_ERROR,
		      NLM_F_CAPPED | (text ? NLM_F_ACK_TLVS : 0), 0);
	put_raw(&b, &error, sizeof(error));
	if (text)
		put_str(&b, NLMSGERR_ATTR_MSG, text);
	if (code && fake.fail_attr)
		put_u32(&b, NLMSGERR_ATTR_OFFS, find_offset(request, fake.fail_attr));
	if (code && fake.fail_range)
		put_range(&b);
	message_end(&b);
	deliver(&b);
}

static void done(const struct nlmsghdr *request, int code)
{
	static struct buf b;
	const int32_t error = -code;

	message_begin(&b, request, NLMSG_DONE, NLM_F_MULTI, 0);
	put_raw(&b, &error, sizeof(error));
	message_end(&b);
	deliver(&b);
}

static void answer_family(const struct nlmsghdr *request)
{
	const uint16_t id = FAMILY_ID;
	static struct buf b;

	if (fake.no_module) {
		ack(request, ENOENT, NULL);
		return;
	}
	message_begin(&b, request, GENL_ID_CTRL, 0, CTRL_CMD_NEWFAMILY);
	put_str(&b, CTRL_ATTR_FAMILY_NAME, CHS_FAMILY_NAME);
	put_attr(&b, CTRL_ATTR_FAMILY_ID, &id, sizeof(id));
	message_end(&b);
	deliver(&b);
	ack(request, 0, NULL);
}

static void answer_dump(const struct nlmsghdr *request, uint8_t cmd)
{
	const uint16_t flags = NLM_F_MULTI | (n_dumps++ < fake.interrupts ? NLM_F_DUMP_INTR : 0);

	if (fake.data)
		fake_dump(request, FAMILY_ID, flags, cmd);
	done(request, fake.done_code);
}

static void answer(const struct nlmsghdr *request)
{
	const struct genlmsghdr *genl = (const void *)((const char *)request + NLMSG_HDRLEN);

	if (request->nlmsg_type == GENL_ID_CTRL) {
		answer_family(request);
		return;
	}

	n_requests++;
	if (n_requests == fake.signal_at)
		raise(SIGINT);
	if (n_requests == fake.fail_at) {
		ack(request, fake.fail_code, fake.fail_text);
	} else if (genl->cmd == CHS_CMD_TXN_COMMIT && fake.busy) {
		fake.busy--;
		ack(request, EBUSY, "something else has changed");
	} else if ((request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP) {
		answer_dump(request, genl->cmd);
	} else {
		const int code = fake_reply(request, FAMILY_ID, genl->cmd);

		ack(request, code, code ? "no such service" : fake.warning);
	}
}

/* --- what is sent --- */

struct names {
	const char *name;
	const struct names *nest;
};

static const struct names service_names[] = {
	[CHS_A_SERVICE_NAME] = { "name" },
	[CHS_A_SERVICE_PROTO] = { "proto" },
	[CHS_A_SERVICE_ADDRESS] = { "address" },
	[CHS_A_SERVICE_PORT] = { "port" },
	[CHS_A_SERVICE_PORT_END] = { "port-end" },
	[CHS_A_SERVICE_ANY_PORT] = { "any-port" },
	[CHS_A_SERVICE_MODE] = { "mode" },
	[CHS_A_SERVICE_HASH] = { "hash" },
	[CHS_A_SERVICE_POINTS] = { "points" },
	[CHS_A_SERVICE_UNIT] = { "unit" },
	[CHS_A_SERVICE_SLOTS] = { "slots" },
	[CHS_A_SERVICE_BALANCE] = { "balance" },
	[CHS_A_SERVICE_SEED] = { "seed" },
	[CHS_A_SERVICE_ON_EMPTY] = { "on-empty" },
	[CHS_A_SERVICE_MASQUERADE] = { "masquerade" },
	[CHS_A_SERVICE_AFFINITY] = { "affinity" },
	[CHS_A_SERVICE_WINDOW] = { "window" },
	[CHS_A_SERVICE_MAX_FLOWS] = { "max-flows" },
	[CHS_A_SERVICE_TIMEOUT] = { "timeout" },
	[CHS_A_SERVICE_GUE_PORT] = { "gue-port" },
	[CHS_A_SERVICE_SOURCE] = { "source" },
	[CHS_A_SERVICE_VRF] = { "vrf" },
};

static const struct names backend_names[] = {
	[CHS_A_BACKEND_ADDRESS] = { "address" },
	[CHS_A_BACKEND_PORT] = { "port" },
	[CHS_A_BACKEND_WEIGHT] = { "weight" },
	[CHS_A_BACKEND_STATE] = { "state" },
	[CHS_A_BACKEND_ZONE] = { "zone" },
	[CHS_A_BACKEND_DEADLINE] = { "deadline" },
	[CHS_A_BACKEND_DELETE] = { "delete" },
};

static const struct names flow_names[] = {
	[CHS_A_FLOW_PROTO] = { "proto" },
	[CHS_A_FLOW_SADDR] = { "saddr" },
	[CHS_A_FLOW_DADDR] = { "daddr" },
	[CHS_A_FLOW_SPORT] = { "sport" },
	[CHS_A_FLOW_DPORT] = { "dport" },
	[CHS_A_FLOW_VRF] = { "vrf" },
	[CHS_A_FLOW_CT_ZONE] = { "ct-zone" },
};

static const struct names top_names[] = {
	[CHS_A_TXN] = { "txn" },
	[CHS_A_FLAGS] = { "flags" },
	[CHS_A_SERVICE] = { "service", service_names },
	[CHS_A_BACKEND] = { "backend", backend_names },
	[CHS_A_FLOW] = { "flow", flow_names },
	[CHS_A_ARC] = { "arc" },
	[CHS_A_MAX_MOVE] = { "max-move" },
};

static const char *const cmd_names[] = {
	[CHS_CMD_SERVICE_NEW] = "service-new",
	[CHS_CMD_SERVICE_SET] = "service-set",
	[CHS_CMD_SERVICE_DEL] = "service-del",
	[CHS_CMD_SERVICE_GET] = "service-get",
	[CHS_CMD_BACKEND_NEW] = "backend-new",
	[CHS_CMD_BACKEND_SET] = "backend-set",
	[CHS_CMD_BACKEND_DEL] = "backend-del",
	[CHS_CMD_BACKEND_GET] = "backend-get",
	[CHS_CMD_RING_GET] = "ring-get",
	[CHS_CMD_LOOKUP] = "lookup",
	[CHS_CMD_FLOW_GET] = "flow-get",
	[CHS_CMD_FLOW_FLUSH] = "flow-flush",
	[CHS_CMD_TXN_BEGIN] = "txn-begin",
	[CHS_CMD_TXN_COMMIT] = "txn-commit",
	[CHS_CMD_TXN_ABORT] = "txn-abort",
	[CHS_CMD_FLUSH] = "flush",
	[CHS_CMD_INFO_GET] = "info-get",
};

static void write_value(const char *name, const uint8_t *data, size_t len)
{
	const bool text = !strcmp(name, "name") || !strcmp(name, "zone") || !strcmp(name, "vrf");
	char addr[INET6_ADDRSTRLEN];
	uint32_t number;
	size_t i;

	if (text) {
		fprintf(request_log, "=%s", (const char *)data);
	} else if (strstr(name, "addr") || !strcmp(name, "source")) {
		inet_ntop(len == 4 ? AF_INET : AF_INET6, data, addr, sizeof(addr));
		fprintf(request_log, "=%s", addr);
	} else if (len == 1) {
		fprintf(request_log, "=%u", *data);
	} else if (len == 2) {
		fprintf(request_log, "=%u", data[0] << 8 | data[1]);
	} else if (len == 4) {
		memcpy(&number, data, sizeof(number));
		fprintf(request_log, "=%u", number);
	} else if (len) {
		fputc('=', request_log);
		for (i = 0; i < len; i++)
			fprintf(request_log, "%02x", data[i]);
	}
}

static void write_attrs(const struct names *names, const char *at, size_t len)
{
	const char *end = at + len;

	while (at < end) {
		const struct nlattr *nla = (const struct nlattr *)at;
		const struct names *n = &names[nla->nla_type & NLA_TYPE_MASK];
		const char *data = at + NLA_HDRLEN;

		fprintf(request_log, " %s", n->name);
		if (n->nest) {
			if (!(nla->nla_type & NLA_F_NESTED))
				abort();
			fputs("{", request_log);
			write_attrs(n->nest, data, nla->nla_len - NLA_HDRLEN);
			fputs(" }", request_log);
		} else {
			write_value(n->name, (const uint8_t *)data, nla->nla_len - NLA_HDRLEN);
		}
		at += NLA_ALIGN(nla->nla_len);
	}
}

static void write_request(const struct nlmsghdr *nlh)
{
	const size_t head = NLMSG_HDRLEN + GENL_HDRLEN;
	const struct genlmsghdr *genl = (const void *)((const char *)nlh + NLMSG_HDRLEN);

	if (nlh->nlmsg_type != FAMILY_ID || genl->version != 1)
		abort();
	fprintf(request_log, "%s%s", cmd_names[genl->cmd],
		(nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP ? " dump" : "");
	write_attrs(top_names, (const char *)nlh + head, nlh->nlmsg_len - head);
	fputc('\n', request_log);
	fflush(request_log);
}

/* --- instead of sock.c --- */

int ctl_sock_netns(const char *name)
{
	fprintf(request_log, "netns %s\n", name);
	fflush(request_log);
	return CTL_OK;
}

int ctl_sock_open(void)
{
	return CTL_OK;
}

int ctl_sock_send(const void *buf, size_t len)
{
	const char *at = buf, *end = at + len;

	while (at < end) {
		const struct nlmsghdr *nlh = (const struct nlmsghdr *)at;

		if (nlh->nlmsg_len < NLMSG_HDRLEN || nlh->nlmsg_len > (size_t)(end - at))
			abort();
		if (nlh->nlmsg_type != GENL_ID_CTRL)
			write_request(nlh);
		answer(nlh);
		at += NLMSG_ALIGN(nlh->nlmsg_len);
	}
	return CTL_OK;
}

/* In the place of the library's. */
int isatty(int fd)
{
	(void)fd;
	return fake.terminal;
}

int ctl_sock_recv(void *buf, size_t size, size_t *len)
{
	struct datagram *d = queue;

	/* A real socket would wait for ever. */
	if (!d || d->len > size)
		abort();
	if (fake.truncated && n_requests)
		return ctl_fail(EMSGSIZE, "an answer of the kernel was cut off");

	memcpy(buf, d->data, d->len);
	*len = d->len;
	queue = d->next;
	if (!queue)
		queue_end = &queue;
	free(d);
	return CTL_OK;
}
