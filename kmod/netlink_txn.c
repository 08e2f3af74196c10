// SPDX-License-Identifier: GPL-2.0-only
/* Requests about transactions, and flush, which is one. */
#include "netlink.h"

#include "move.h"
#include "netlink_gen.h"
#include "netns.h"

#include <net/genetlink.h>

static int txn_begin(struct chs_request *req)
{
	struct chs_txn *txn;
	int err;

	err = chs_nl_reply(req);
	if (err)
		return err;
	err = chs_txn_open(req->cn, req->info->snd_portid, &txn, &req->msg);
	if (err)
		return err;
	return nla_put_u32(req->reply, CHS_A_TXN, txn->id);
}

int chsteer_nl_txn_begin_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_change(skb, info, 0, txn_begin);
}

static int put_result(struct sk_buff *skb, const struct chs_result *result)
{
	struct nlattr *nest = nla_nest_start(skb, CHS_A_RESULT);

	if (!nest ||
	    nla_put_u32(skb, CHS_A_RESULT_ADDED, result->added) ||
	    nla_put_u32(skb, CHS_A_RESULT_CHANGED, result->changed) ||
	    nla_put_u32(skb, CHS_A_RESULT_REMOVED, result->removed) ||
	    nla_put_u32(skb, CHS_A_RESULT_UNCHANGED, result->unchanged) ||
	    nla_put_u64_64bit(skb, CHS_A_RESULT_MOVED, result->moved,
			      CHS_A_RESULT_PAD) ||
	    nla_put_u64_64bit(skb, CHS_A_RESULT_ARCS, result->arcs,
			      CHS_A_RESULT_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int need_txn(struct chs_request *req)
{
	return req->info->attrs[CHS_A_TXN] ? 0 :
	       chs_nl_missing(NULL, "transaction", &req->msg);
}

static int txn_commit(struct chs_request *req)
{
	struct chs_result result = {};
	int err;

	err = need_txn(req);
	if (err)
		return err;
	err = chs_nl_number(req->info->attrs[CHS_A_MAX_MOVE], "max-move", 0,
			    CHS_MOVE_ALL, &req->txn->max_move, &req->msg);
	if (err)
		return err;

	/* Nothing may fail for want of memory once it is in force. */
	err = chs_nl_reply(req);
	if (err)
		return err;

	if (req->flags & CHS_FLAG_DRY_RUN) {
		err = chs_txn_try(req->cn, req->txn,
				  req->flags & CHS_FLAG_PRUNE, &result,
				  &req->msg);
		return err ?: put_result(req->reply, &result);
	}

	req->ends_txn = true;
	err = chs_txn_commit(req->cn, req->txn, req->flags & CHS_FLAG_PRUNE,
			     &result, &req->msg);
	return err ?: put_result(req->reply, &result);
}

int chsteer_nl_txn_commit_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_change(skb, info, CHS_FLAG_PRUNE | CHS_FLAG_DRY_RUN,
			     txn_commit);
}

static int txn_abort(struct chs_request *req)
{
	int err = need_txn(req);

	req->ends_txn = !err;
	return err;
}

int chsteer_nl_txn_abort_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_change(skb, info, 0, txn_abort);
}

static int flush(struct chs_request *req)
{
	return chs_txn_flush(req->cn, req->txn);
}

int chsteer_nl_flush_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_change(skb, info, 0, flush);
}
