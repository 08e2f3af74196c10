// SPDX-License-Identifier: GPL-2.0-only
/* The netlink family, and how its messages begin. */
#include "netlink.h"

#include "netlink_gen.h"
#include "netns.h"
#include "ring.h"
#include "version.h"

#include <linux/module.h>
#include <net/genetlink.h>

static const struct genl_multicast_group mcgrps[] = {
	{ .name = CHSTEER_MCGRP_EVENTS },
};

static struct genl_family family __ro_after_init = {
	.name = CHS_FAMILY_NAME,
	.version = CHS_FAMILY_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = chsteer_nl_ops,
	.n_ops = ARRAY_SIZE(chsteer_nl_ops),
	.mcgrps = mcgrps,
	.n_mcgrps = ARRAY_SIZE(mcgrps),
};

/**
 * chs_nl_reply() - begin the reply to a request
 * @req: request
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int chs_nl_reply(struct chs_request *req)
{
	const struct genl_info *info = req->info;

	req->reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!req->reply)
		return -ENOMEM;

	req->head = genlmsg_put(req->reply, info->snd_portid, info->snd_seq,
				&family, 0, info->genlhdr->cmd);
	return req->head ? 0 : -EMSGSIZE;
}

/* Once something is told, the core takes the request to have been consumed. */
static void set_bad_attr(struct netlink_callback *cb, const struct nlattr *attr)
{
	if (!cb->prev_seq)
		NL_SET_BAD_ATTR(cb->extack, attr);
}

/**
 * chs_nl_dump_begin() - begin the next message of a dump
 * @cb: the dump
 * @generation: of the table that its objects are from
 *
 * Even if there is nothing left to put: it may be gone since the last message,
 * and then the end of the dump has to tell.
 *
 * Context: any.
 */
void chs_nl_dump_begin(struct netlink_callback *cb, u64 generation)
{
	/* 0 stands for "not seen yet". */
	cb->seq = (u32)generation ?: U32_MAX;
}

/**
 * chs_nl_dump_table_begin() - begin the next message of a dump of services
 * @cn: namespace
 * @cb: the dump
 * @table: services that it is of: those in force, or of its transaction; they
 *	stay until chs_nl_dump_table_end(), which is due also after a failure
 *
 * Context: process; may sleep; leaves it in an RCU read section.
 * Return: 0, -ENOENT, -EBUSY or -EINVAL, with the reason in the dump's extended
 *	ack.
 */
int chs_nl_dump_table_begin(struct chs_net *cn, struct netlink_callback *cb,
			    const struct chs_table **table)
	__acquires(RCU)
{
	const struct nlattr *attr = genl_dump_attrs(cb)[CHS_A_TXN];
	const char *why;
	int err;

	err = chs_nl_table_begin(cn, NETLINK_CB(cb->skb).portid, attr, table,
				 &why);
	if (err) {
		cb->extack->_msg = why;
		set_bad_attr(cb, attr);
		return err;
	}
	chs_nl_dump_begin(cb, (*table)->generation);
	return 0;
}

/**
 * chs_nl_dump_table_end() - end a message of a dump of services
 * @cn: namespace
 * @cb: the dump
 *
 * Context: process.
 */
void chs_nl_dump_table_end(struct chs_net *cn, struct netlink_callback *cb)
	__releases(RCU)
{
	chs_nl_table_end(cn, genl_dump_attrs(cb)[CHS_A_TXN]);
}

/**
 * chs_nl_dump_put() - begin one object of a dump
 * @skb: message of the dump
 * @cb: the dump
 * @cmd: enum of the command
 *
 * Context: any.
 * Return: what genlmsg_end() wants, or NULL if the message is full.
 */
void *chs_nl_dump_put(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	void *head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				 cb->nlh->nlmsg_seq, &family, NLM_F_MULTI, cmd);

	if (head)
		genl_dump_check_consistent(cb, head);
	return head;
}

/**
 * chs_nl_dump_filter() - the one service that a dump is limited to
 * @cb: the dump
 * @table: services in force
 * @refused: attribute of a single object, which no dump takes; 0 if there is none
 * @why: sentence for that
 * @svc: where the service goes; NULL for all
 *
 * Context: process, under RCU.
 * Return: 0, -EINVAL or -ENOENT, with the reason in the dump's extended ack.
 */
int chs_nl_dump_filter(struct netlink_callback *cb,
		       const struct chs_table *table, int refused,
		       const char *why, const struct chs_service **svc)
{
	const struct nlattr *attr = genl_dump_attrs(cb)[CHS_A_SERVICE];
	struct nlattr *tb[CHS_A_SERVICE_MAX + 1];
	int err;

	*svc = NULL;
	if (genl_dump_attrs(cb)[refused]) {
		cb->extack->_msg = why;
		set_bad_attr(cb, genl_dump_attrs(cb)[refused]);
		return -EINVAL;
	}
	if (!attr)
		return 0;

	err = nla_parse_nested(tb, CHS_A_SERVICE_MAX, attr,
			       chsteer_service_nl_policy, cb->extack);
	if (err)
		return err;
	if (!tb[CHS_A_SERVICE_NAME]) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attr,
				    "service name is missing");
		return -EINVAL;
	}

	*svc = chs_table_find(table, nla_data(tb[CHS_A_SERVICE_NAME]));
	if (!*svc) {
		/* The dump's own scratch space outlives this call; it ends. */
		snprintf((char *)cb->ctx, sizeof(cb->ctx), "no service '%.*s'",
			 CHS_NAME_LEN - 1, (char *)nla_data(tb[CHS_A_SERVICE_NAME]));
		cb->extack->_msg = (char *)cb->ctx;
		set_bad_attr(cb, tb[CHS_A_SERVICE_NAME]);
		return -ENOENT;
	}
	return 0;
}

/**
 * chs_nl_may_see_seed() - whether a sender may learn what gives a seed away
 * @skb: its request
 * @svc: service with that seed
 *
 * Context: any.
 * Return: true if the seed is the documented one, or with CAP_NET_ADMIN over
 * the namespace.
 */
bool chs_nl_may_see_seed(const struct sk_buff *skb,
			 const struct chs_service *svc)
{
	return svc->seed_default ||
	       netlink_net_capable(skb, CAP_NET_ADMIN);
}

static int info_get(struct chs_request *req)
{
	struct nlattr *nest = nla_nest_start(req->reply, CHS_A_INFO);
	struct sk_buff *skb = req->reply;

	if (!nest ||
	    nla_put_string(skb, CHS_A_INFO_MODULE_VERSION, CHS_VERSION) ||
	    nla_put_u32(skb, CHS_A_INFO_RING_VERSION, CHS_RING_VERSION) ||
	    nla_put_u64_64bit(skb, CHS_A_INFO_RING_REFERENCE,
			      CHS_RING_REFERENCE_DIGEST, CHS_A_INFO_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int chsteer_nl_info_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_answer(skb, info, 0, info_get);
}

static int socket_closed(struct notifier_block *nb, unsigned long event,
			 void *data)
{
	const struct netlink_notify *notify = data;
	struct chs_net *cn;

	if (event != NETLINK_URELEASE || notify->protocol != NETLINK_GENERIC)
		return NOTIFY_DONE;

	cn = chs_net(notify->net);
	chs_txn_drop_port(cn, notify->portid);
	return NOTIFY_DONE;
}

static struct notifier_block netlink_notifier = {
	.notifier_call = socket_closed,
};

/**
 * chs_netlink_init() - once at load
 *
 * Context: process; may sleep.
 * Return: 0 or negative errno.
 */
int __init chs_netlink_init(void)
{
	int err;

	err = netlink_register_notifier(&netlink_notifier);
	if (err)
		return err;

	err = genl_register_family(&family);
	if (err)
		netlink_unregister_notifier(&netlink_notifier);
	return err;
}

/**
 * chs_netlink_exit() - once at unload
 *
 * Context: process; may sleep.
 */
void chs_netlink_exit(void)
{
	genl_unregister_family(&family);
	netlink_unregister_notifier(&netlink_notifier);
}
