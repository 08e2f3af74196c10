// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that take effect together, or are only tried.
 *
 * They go out in bursts within one transaction, and the answers' sequence
 * numbers lead back to lines.
 */
#include "txn.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "interrupt.h"
#include "model.h"
#include "progress.h"

/* Each time somebody else has changed something since the transaction began. */
#define TXN_TRIES	10
/*
 * A burst's answers must fit the receive buffer, where each of them counts for
 * about 1 KiB; an ordinary one has 208 KiB.
 */
#define BURST_MESSAGES	128
#define BURST_BYTES	(32 << 10)

static int no_memory(void)
{
	return ctl_fail(ENOMEM, "out of memory");
}

/**
 * ctl_txn_add() - add a request to a transaction
 * @txn: transaction
 * @msg: request that has room for an id in front, see ctl_put_txn()
 * @line: line that it comes from, 0 for none
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_txn_add(struct ctl_txn *txn, struct nl_msg *msg, unsigned long line)
{
	const struct nlmsghdr *nlh = nlmsg_hdr(msg);
	const size_t len = NLMSG_ALIGN(nlh->nlmsg_len);
	unsigned long *lines;
	char *buf;

	if (!txn->buf || txn->len + len > txn->size) {
		buf = realloc(txn->buf, 2 * (txn->len + len));
		if (!buf)
			return no_memory();
		txn->buf = buf;
		txn->size = 2 * (txn->len + len);
	}
	if (!(txn->n & (txn->n - 1))) {
		lines = reallocarray(txn->lines, txn->n ? 2 * txn->n : 1, sizeof(*lines));
		if (!lines)
			return no_memory();
		txn->lines = lines;
	}
	memset(txn->buf + txn->len, 0, len);
	memcpy(txn->buf + txn->len, nlh, nlh->nlmsg_len);
	txn->len += len;
	txn->lines[txn->n++] = line;
	return CTL_OK;
}

static int take_id(struct nlattr **tb, void *arg)
{
	uint32_t *id = arg;

	if (!tb[CHS_A_TXN] || nla_len(tb[CHS_A_TXN]) < 4)
		return ctl_bad_reply();
	*id = nla_get_u32(tb[CHS_A_TXN]);
	return CTL_OK;
}

static int begin(uint32_t *id)
{
	struct nl_msg *msg = ctl_nl_msg(CHS_CMD_TXN_BEGIN, 0);
	int ret;

	*id = 0;
	ret = msg ? ctl_nl_do(msg, take_id, id) : CTL_FAILED;
	return ret || *id ? ret : ctl_bad_reply();
}

static struct nl_msg *txn_msg(uint8_t cmd, uint32_t id)
{
	struct nl_msg *msg = ctl_nl_msg(cmd, CTL_SERVICE_ROOM);

	if (msg && nla_put_u32(msg, CHS_A_TXN, id)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

/* The socket lives on in a batch, and so would the transaction. */
static void abort_txn(uint32_t id)
{
	struct nl_msg *msg = txn_msg(CHS_CMD_TXN_ABORT, id);

	/*
	 * Keep the error that caused the abort; failing to abort adds nothing.
	 */
	ctl_err_hold(true);
	if (msg)
		ctl_nl_do(msg, NULL, NULL);
	ctl_err_hold(false);
}

/* Write the transaction's id where each request has left room for it. */
static void stamp(struct ctl_txn *txn, uint32_t id)
{
	size_t at = 0;

	while (at < txn->len) {
		struct nlmsghdr *nlh = (struct nlmsghdr *)(txn->buf + at);
		struct nlattr *nla = (struct nlattr *)((char *)nlmsg_data(nlh) + GENL_HDRLEN);

		memcpy(nla_data(nla), &id, sizeof(id));
		at += NLMSG_ALIGN(nlh->nlmsg_len);
	}
}

static int send_all(struct ctl_txn *txn)
{
	size_t at = 0, done = 0, len;
	int ret;

	while (done < txn->n) {
		struct ctl_burst burst = {
			.buf = txn->buf + at,
			.file = txn->file,
			.lines = txn->lines + done,
		};

		while (done + burst.count < txn->n && burst.count < BURST_MESSAGES) {
			const char *next = txn->buf + at + burst.len;

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
	struct ctl_outcome *outcome = arg;
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

static int commit(struct ctl_txn *txn, uint32_t id)
{
	struct nl_msg *msg = txn_msg(CHS_CMD_TXN_COMMIT, id);
	int ret;

	if (!msg)
		return no_memory();
	if (ctl_put_flags(msg, txn->flags) ||
	    (txn->guarded && nla_put_u32(msg, CHS_A_MAX_MOVE, txn->max_move))) {
		nlmsg_free(msg);
		return CTL_FAILED;
	}
	ret = ctl_nl_do(msg, take_outcome, &txn->outcome);
	if (ret && txn->guarded)
		ctl_err_recode(EDQUOT, CTL_EMOVED);
	return ret || txn->outcome.told ? ret : ctl_bad_reply();
}

static int run_once(struct ctl_txn *txn)
{
	uint32_t id;
	int ret;

	ret = begin(&id);
	if (ret)
		return ret;

	stamp(txn, id);
	ret = send_all(txn);
	if (!ret && ctl_interrupted())
		ret = ctl_fail(EINTR, "ended by a signal");
	if (!ret)
		ret = commit(txn, id);
	if (!ret && txn->look)
		ret = txn->look(id, txn->arg);
	if (ret || txn->flags & CHS_FLAG_DRY_RUN)
		abort_txn(id);
	return ret;
}

/**
 * ctl_txn_run() - put a transaction in force, or try it
 * @txn: transaction
 *
 * Begins anew, a bounded number of times, if something else has changed what
 * there is meanwhile.
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_txn_run(struct ctl_txn *txn)
{
	unsigned int try;
	int ret = CTL_OK;

	if (txn->file)
		ctl_err_where(txn->file, 0);
	if (!(txn->flags & CHS_FLAG_DRY_RUN))
		ctl_interrupt_hold();
	ctl_progress_begin("waiting for the kernel");
	for (try = 0; try < TXN_TRIES; try++) {
		ctl_err_clear();
		ctl_warn_clear();
		ret = run_once(txn);
		if (!ret || ctl_err_code() != EBUSY || ctl_interrupted())
			break;
		ctl_nl_pause(try);
	}
	ctl_progress_end();
	if (!(txn->flags & CHS_FLAG_DRY_RUN))
		ret = ctl_interrupt_release(ret);
	if (txn->file)
		ctl_err_where(NULL, 0);
	return ret;
}

/**
 * ctl_txn_free() - free the requests of a transaction
 * @txn: transaction
 */
void ctl_txn_free(struct ctl_txn *txn)
{
	free(txn->buf);
	free(txn->lines);
}
