// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl apply, and the other way to nothing: chctl flush
 *
 * The file is read whole and made into requests, one a line, before anything
 * is sent. They go out in bursts within one transaction, and the answers'
 * sequence numbers lead back to lines. What the file does not name goes at
 * commit.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "err.h"
#include "lines.h"
#include "out.h"

/* Each time somebody else has changed something since the transaction began. */
#define APPLY_TRIES	10
/*
 * A burst's answers must fit the receive buffer, where each of them counts for
 * about 1 KiB; an ordinary one has 208 KiB.
 */
#define BURST_MESSAGES	128
#define BURST_BYTES	(32 << 10)
/* Mistakes shown of one file. */
#define ERRORS_MAX	20

/**
 * struct name - name of a service
 * @next: the one before
 * @text: the name
 */
struct name {
	struct name *next;
	char text[];
};

/**
 * struct requests - a file made into requests
 * @buf: the requests, one behind the other
 * @len: length of all
 * @size: room in @buf
 * @lines: line of each
 * @n: number of them
 * @names: services that the file has named so far
 * @services: tree of them
 */
struct requests {
	char *buf;
	size_t len;
	size_t size;
	unsigned long *lines;
	size_t n;
	struct name *names;
	void *services;
};

static int no_memory(void)
{
	return ctl_fail(ENOMEM, "out of memory");
}

static int add_request(struct requests *reqs, struct nl_msg *msg, unsigned long line)
{
	const struct nlmsghdr *nlh = nlmsg_hdr(msg);
	const size_t len = NLMSG_ALIGN(nlh->nlmsg_len);
	unsigned long *lines;
	char *buf;

	if (!reqs->buf || reqs->len + len > reqs->size) {
		buf = realloc(reqs->buf, 2 * (reqs->len + len));
		if (!buf)
			return no_memory();
		reqs->buf = buf;
		reqs->size = 2 * (reqs->len + len);
	}
	if (!(reqs->n & (reqs->n - 1))) {
		lines = reallocarray(reqs->lines, reqs->n ? 2 * reqs->n : 1, sizeof(*lines));
		if (!lines)
			return no_memory();
		reqs->lines = lines;
	}
	memset(reqs->buf + reqs->len, 0, len);
	memcpy(reqs->buf + reqs->len, nlh, nlh->nlmsg_len);
	reqs->len += len;
	reqs->lines[reqs->n++] = line;
	return CTL_OK;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int note_service(struct requests *reqs, const char *name)
{
	const size_t size = strlen(name) + 1;
	struct name *node = malloc(sizeof(*node) + size);

	if (!node)
		return no_memory();
	memcpy(node->text, name, size);
	node->next = reqs->names;
	reqs->names = node;
	return tsearch(node->text, &reqs->services, by_name) ? CTL_OK : no_memory();
}

/* What the file does not name will go, and its backends with it. */
static int need_service(const struct requests *reqs, const char *name)
{
	if (tfind(name, &reqs->services, by_name))
		return CTL_OK;
	return ctl_fail(ENOENT, "no service '%s' in this file before its backend", name);
}

/* @flags: what the line's request says beyond what its words say. */
static int parse_line(struct ctl_lines *lines, uint32_t flags, struct requests *reqs)
{
	struct ctl_args args = { .txn = true };
	struct nl_msg *msg;
	int ret;

	ret = ctl_cmd_parse(lines->words, &args);
	if (ret)
		return ret;
	if (args.cmd->build == ctl_service_add) {
		args.flags |= flags;
		ret = note_service(reqs, args.argv[0]);
	} else if (args.cmd->build == ctl_backend_add) {
		args.flags |= CHS_FLAG_REPLACE;
		ret = need_service(reqs, args.argv[0]);
	} else {
		return ctl_usage("'%s %s': only service add and backend add may be in this file",
				 args.cmd->object, args.cmd->verb ? args.cmd->verb : "");
	}
	if (ret)
		return ret;

	ret = args.cmd->build(&args, &msg);
	if (ret)
		return ret;
	ret = add_request(reqs, msg, lines->line);
	nlmsg_free(msg);
	return ret;
}

/*
 * Every mistake is shown at once, not one a run; but with JSON, where standard
 * error is one object, only the first.
 */
static int parse_lines(struct ctl_lines *lines, uint32_t flags, struct requests *reqs)
{
	int ret, worst = CTL_OK;
	unsigned int n = 0;
	bool end;

	while (n < ERRORS_MAX) {
		ret = ctl_lines_next(lines, &end);
		if (!ret && end)
			break;
		if (!ret)
			ret = parse_line(lines, flags, reqs);
		if (!ret)
			continue;
		if (ret == CTL_FAILED || ctl_out_is_json())
			return ret;
		ctl_err_print();
		worst = ret;
		n++;
	}

	return worst;
}

static int parse_file(const char *name, uint32_t flags, bool allow_empty, struct requests *reqs,
		      const char **shown)
{
	struct ctl_lines lines = {};
	int ret;

	ret = ctl_lines_open(&lines, name);
	if (!ret)
		ret = parse_lines(&lines, flags, reqs);
	*shown = lines.name;
	ctl_err_where(lines.name, 0);
	if (!ret && !reqs->n && !allow_empty)
		ret = ctl_fail(EINVAL, "%s (--allow-empty)",
			       "the file names nothing, which would remove everything");
	ctl_lines_close(&lines);
	return ret;
}

/* The names are not the tree's own. */
static void keep_name(void *name)
{
	(void)name;
}

static void free_requests(struct requests *reqs)
{
	struct name *next;

	tdestroy(reqs->services, keep_name);
	for (; reqs->names; reqs->names = next) {
		next = reqs->names->next;
		free(reqs->names);
	}
	free(reqs->buf);
	free(reqs->lines);
}

static int take_txn(struct nlattr **tb, void *arg)
{
	uint32_t *txn = arg;

	if (!tb[CHS_A_TXN] || nla_len(tb[CHS_A_TXN]) < 4)
		return ctl_bad_reply();
	*txn = nla_get_u32(tb[CHS_A_TXN]);
	return CTL_OK;
}

static int begin(uint32_t *txn)
{
	struct nl_msg *msg = ctl_nl_msg(CHS_CMD_TXN_BEGIN, 0);
	int ret;

	*txn = 0;
	ret = msg ? ctl_nl_do(msg, take_txn, txn) : CTL_FAILED;
	return ret || *txn ? ret : ctl_bad_reply();
}

static struct nl_msg *txn_msg(uint8_t cmd, uint32_t txn)
{
	struct nl_msg *msg = ctl_nl_msg(cmd, CTL_SERVICE_ROOM);

	if (msg && nla_put_u32(msg, CHS_A_TXN, txn)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

/* The socket lives on in a batch, and so would the transaction. */
static void abort_txn(uint32_t txn)
{
	struct nl_msg *msg = txn_msg(CHS_CMD_TXN_ABORT, txn);

	/* What matters is why it is aborted. */
	ctl_err_hold(true);
	if (msg)
		ctl_nl_do(msg, NULL, NULL);
	ctl_err_hold(false);
}

/* Write the transaction's id where each request has left room for it. */
static void stamp(struct requests *reqs, uint32_t txn)
{
	size_t at = 0;

	while (at < reqs->len) {
		struct nlmsghdr *nlh = (struct nlmsghdr *)(reqs->buf + at);
		struct nlattr *nla = (struct nlattr *)((char *)nlmsg_data(nlh) + GENL_HDRLEN);

		memcpy(nla_data(nla), &txn, sizeof(txn));
		at += NLMSG_ALIGN(nlh->nlmsg_len);
	}
}

static int send_all(struct requests *reqs, const char *file)
{
	size_t at = 0, done = 0, len;
	int ret;

	while (done < reqs->n) {
		struct ctl_burst burst = {
			.buf = reqs->buf + at,
			.file = file,
			.lines = reqs->lines + done,
		};

		while (done + burst.count < reqs->n && burst.count < BURST_MESSAGES) {
			const char *next = reqs->buf + at + burst.len;

			len = NLMSG_ALIGN(((const struct nlmsghdr *)next)->nlmsg_len);
			if (burst.count && burst.len + len > BURST_BYTES)
				break;
			burst.len += len;
			burst.count++;
		}

		ret = ctl_nl_burst(&burst);
		if (ret)
			return ret;
		at += burst.len;
		done += burst.count;
	}
	return CTL_OK;
}

/**
 * struct outcome - what the transaction did
 * @told: whether it was told
 * @added: services and backends that are new
 * @changed: those configured differently
 * @removed: those gone
 * @unchanged: those as they were
 * @moved: arcs that changed owner
 * @arcs: arcs of the rings built anew
 */
struct outcome {
	bool told;
	uint32_t added;
	uint32_t changed;
	uint32_t removed;
	uint32_t unchanged;
	uint64_t moved;
	uint64_t arcs;
};

static int take_outcome(struct nlattr **tb, void *arg)
{
	static struct nla_policy policy[CHS_A_RESULT_MAX + 1] = {
		[CHS_A_RESULT_ADDED] = { .type = NLA_U32 },
		[CHS_A_RESULT_CHANGED] = { .type = NLA_U32 },
		[CHS_A_RESULT_REMOVED] = { .type = NLA_U32 },
		[CHS_A_RESULT_UNCHANGED] = { .type = NLA_U32 },
		[CHS_A_RESULT_MOVED] = { .type = NLA_U64 },
		[CHS_A_RESULT_ARCS] = { .type = NLA_U64 },
	};
	struct nlattr *a[CHS_A_RESULT_MAX + 1];
	struct outcome *outcome = arg;
	int i;

	if (!tb[CHS_A_RESULT] ||
	    nla_parse_nested(a, CHS_A_RESULT_MAX, tb[CHS_A_RESULT], policy))
		return ctl_bad_reply();
	for (i = CHS_A_RESULT_ADDED; i <= CHS_A_RESULT_ARCS; i++) {
		if (!a[i])
			return ctl_bad_reply();
	}

	outcome->told = true;
	outcome->added = nla_get_u32(a[CHS_A_RESULT_ADDED]);
	outcome->changed = nla_get_u32(a[CHS_A_RESULT_CHANGED]);
	outcome->removed = nla_get_u32(a[CHS_A_RESULT_REMOVED]);
	outcome->unchanged = nla_get_u32(a[CHS_A_RESULT_UNCHANGED]);
	outcome->moved = nla_get_u64(a[CHS_A_RESULT_MOVED]);
	outcome->arcs = nla_get_u64(a[CHS_A_RESULT_ARCS]);
	return CTL_OK;
}

static int commit(uint32_t txn, struct outcome *outcome)
{
	struct nl_msg *msg = txn_msg(CHS_CMD_TXN_COMMIT, txn);
	int ret;

	if (!msg)
		return no_memory();
	if (ctl_put_flags(msg, CHS_FLAG_PRUNE)) {
		nlmsg_free(msg);
		return CTL_FAILED;
	}
	ret = ctl_nl_do(msg, take_outcome, outcome);
	return ret || outcome->told ? ret : ctl_bad_reply();
}

static int apply_once(struct requests *reqs, const char *file, struct outcome *outcome)
{
	uint32_t txn;
	int ret;

	ret = begin(&txn);
	if (ret)
		return ret;

	stamp(reqs, txn);
	ret = send_all(reqs, file);
	if (!ret)
		ret = commit(txn, outcome);
	if (ret)
		abort_txn(txn);
	return ret;
}

static int apply(struct requests *reqs, const char *file, struct outcome *outcome)
{
	unsigned int try;
	int ret = CTL_OK;

	ctl_err_where(file, 0);
	for (try = 0; try < APPLY_TRIES; try++) {
		ctl_err_clear();
		ctl_warn_clear();
		ret = apply_once(reqs, file, outcome);
		if (!ret || ctl_err_code() != EBUSY)
			break;
		ctl_nl_pause(try);
	}
	ctl_err_where(NULL, 0);
	return ret;
}

static void show_outcome(const struct outcome *outcome)
{
	if (!ctl_out_is_json() && !outcome->added && !outcome->changed && !outcome->removed)
		return;

	ctl_out_open(CTL_OUT_OBJECT, NULL);
	ctl_out_u64(CTL_OUT_ANY, "added", outcome->added);
	ctl_out_u64(CTL_OUT_ANY, "changed", outcome->changed);
	ctl_out_u64(CTL_OUT_ANY, "removed", outcome->removed);
	ctl_out_u64(CTL_OUT_ANY, "unchanged", outcome->unchanged);
	ctl_out_share(CTL_OUT_ANY, "moved", outcome->moved, outcome->arcs);
	ctl_out_close();
}

/**
 * ctl_apply() - chctl apply
 * @args: its arguments
 *
 * Return: exit status.
 */
int ctl_apply(struct ctl_args *args)
{
	const uint32_t flags = CHS_FLAG_REPLACE | (args->flags & CHS_FLAG_RECREATE);
	struct requests reqs = {};
	struct outcome outcome = {};
	const char *file;
	int ret;

	ret = parse_file(args->argv[0], flags, args->flags & CTL_FLAG_ALLOW_EMPTY, &reqs, &file);
	if (!ret)
		ret = apply(&reqs, file, &outcome);
	if (!ret)
		show_outcome(&outcome);
	free_requests(&reqs);
	return ret;
}

/**
 * ctl_flush() - chctl flush
 * @args: its arguments
 * @msg: the request that does it
 *
 * Return: CTL_OK, CTL_USAGE or CTL_FAILED.
 */
int ctl_flush(struct ctl_args *args, struct nl_msg **msg)
{
	*msg = ctl_cmd_request(args, CHS_CMD_FLUSH, 0);
	return *msg ? CTL_OK : CTL_FAILED;
}
