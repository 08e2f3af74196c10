// SPDX-License-Identifier: GPL-2.0-only
/* Requests about flows that are remembered. */
#include "netlink.h"

#include "flow.h"
#include "netlink_gen.h"
#include "netns.h"
#include "steer.h"

#include <net/genetlink.h>
#include <net/sock.h>

static int flow_get(struct chs_request *req)
{
	char buf[CHS_ENDPOINT_STRLEN];
	struct chs_flow *flow = NULL;
	struct chs_flow_key key;
	struct chs_service *svc;
	struct chs_tuple tuple;
	s32 vrf;
	int err;

	err = chs_nl_service(req, &svc);
	if (err)
		return err;
	err = chs_nl_flow(req, &tuple, &vrf, NULL);
	if (err)
		return err;

	chs_flow_key_set(&key, &tuple);
	if (svc->flows && chs_steer_service(req->table, &tuple, vrf) == svc)
		flow = chs_flow_find(svc->flows, &key);
	if (flow)
		return chs_nl_put_flow(req->reply, svc, flow);
	return chs_msg_fail(&req->msg, -ENOENT, req->info->attrs[CHS_A_FLOW],
			    "service '%s' remembers no flow from %s",
			    svc->name, chs_endpoint_str(buf, &tuple.saddr,
							tuple.sport));
}

int chsteer_nl_flow_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_answer(skb, info, 0, flow_get);
}

/**
 * struct dump_place - where a dump of flows goes on
 * @service: place in chs_table_next()
 * @flow: place in that service
 */
struct dump_place {
	u32 service;
	struct chs_flow_place flow;
};

static_assert(sizeof(struct dump_place) <=
	      sizeof_field(struct netlink_callback, ctx));

/**
 * struct dump - one message of a dump of flows
 * @skb: message
 * @cb: the dump
 * @svc: service whose flows are put
 */
struct dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	const struct chs_service *svc;
};

static int dump_flow(const struct chs_flow *flow, void *arg)
{
	const struct dump *dump = arg;
	void *head;

	head = chs_nl_dump_put(dump->skb, dump->cb, CHS_CMD_FLOW_GET);
	if (!head)
		return -EMSGSIZE;
	if (chs_nl_put_flow(dump->skb, dump->svc, flow)) {
		genlmsg_cancel(dump->skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(dump->skb, head);
	return 0;
}

static int dump_service(struct dump *dump, const struct chs_service *svc,
			struct dump_place *place)
{
	int err;

	dump->svc = svc;
	err = chs_flows_walk(svc->flows, &place->flow, dump_flow, dump);
	if (!err)
		memset(&place->flow, 0, sizeof(place->flow));
	return err;
}

static void dump_all(struct dump *dump, const struct chs_table *table,
		     struct dump_place *place)
{
	const struct chs_service *svc;
	u32 next = place->service;

	while ((svc = chs_table_next(table, &next))) {
		if (dump_service(dump, svc, place))
			return;
		place->service = next;
	}
}

int chsteer_nl_flow_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb)
{
	struct dump_place *place = (struct dump_place *)cb->ctx;
	struct chs_net *cn = chs_net(sock_net(skb->sk));
	struct dump dump = { .skb = skb, .cb = cb };
	const struct chs_table *table;
	const struct chs_service *svc;
	int err;

	rcu_read_lock();
	table = rcu_dereference(cn->table);
	chs_nl_dump_begin(cb, table->generation);
	err = chs_nl_dump_filter(cb, table, CHS_A_FLOW,
				 "a dump of flows takes no flow", &svc);
	if (!err && svc && !place->service) {
		/* Once through, the one service is not begun again. */
		if (!dump_service(&dump, svc, place))
			place->service = 1;
	} else if (!err && !svc) {
		dump_all(&dump, table, place);
	}
	rcu_read_unlock();
	return err ?: skb->len;
}

static int flow_flush(struct chs_request *req)
{
	const struct chs_table *table = chs_net_table(req->cn);
	struct chs_service *svc;
	u32 at = 0;
	int err;

	if (req->info->attrs[CHS_A_SERVICE]) {
		err = chs_nl_service(req, &svc);
		if (!err)
			chs_flows_flush(svc->flows);
		return err;
	}
	while ((svc = chs_table_next(table, &at)))
		chs_flows_flush(svc->flows);
	return 0;
}

int chsteer_nl_flow_flush_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_change(skb, info, 0, flow_flush);
}
