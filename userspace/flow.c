// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl flow
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "err.h"
#include "out.h"
#include "snap.h"

/* As long as the kernel lets a name be. */
#define NAME_SIZE	32

/**
 * struct flow - what is remembered of a flow
 * @service: name of its service
 * @proto: IPPROTO_...
 * @src: the client's end
 * @dst: virtual address and port
 * @be: backend
 * @idle: seconds since its last packet
 * @reason: enum chsteer_reason, when it was first remembered
 * @unconfirmed: only a SYN has been seen
 * @ended: a FIN or RST was the last that was seen
 */
struct flow {
	char service[NAME_SIZE];
	uint8_t proto;
	struct ctl_endpoint src;
	struct ctl_endpoint dst;
	struct ctl_endpoint be;
	uint32_t idle;
	uint8_t reason;
	bool unconfirmed;
	bool ended;
};

/**
 * struct flows - flows as they come
 * @flows: the flows
 * @n: number of them
 */
struct flows {
	struct flow *flows;
	size_t n;
};

static int no_memory(void)
{
	return ctl_fail(ENOMEM, "out of memory");
}

static int get_flow(struct nlattr **tb, struct flow *flow)
{
	static struct nla_policy policy[CHS_A_FLOW_STATUS_MAX + 1] = {
		[CHS_A_FLOW_STATUS_IDLE] = { .type = NLA_U32 },
		[CHS_A_FLOW_STATUS_REASON] = { .type = NLA_U8 },
	};
	struct nlattr *key[CHS_A_FLOW_MAX + 1], *status[CHS_A_FLOW_STATUS_MAX + 1];
	const char *service = ctl_get_service_name(tb);

	if (!service || strlen(service) >= NAME_SIZE || !tb[CHS_A_FLOW] ||
	    !tb[CHS_A_FLOW_STATUS] ||
	    nla_parse_nested(key, CHS_A_FLOW_MAX, tb[CHS_A_FLOW], NULL) ||
	    nla_parse_nested(status, CHS_A_FLOW_STATUS_MAX, tb[CHS_A_FLOW_STATUS], policy) ||
	    !key[CHS_A_FLOW_PROTO] || nla_len(key[CHS_A_FLOW_PROTO]) < 1 ||
	    !status[CHS_A_FLOW_STATUS_IDLE] || !status[CHS_A_FLOW_STATUS_REASON])
		return ctl_bad_reply();

	strcpy(flow->service, service);
	flow->proto = nla_get_u8(key[CHS_A_FLOW_PROTO]);
	ctl_get_endpoint(key[CHS_A_FLOW_SADDR], key[CHS_A_FLOW_SPORT], &flow->src);
	ctl_get_endpoint(key[CHS_A_FLOW_DADDR], key[CHS_A_FLOW_DPORT], &flow->dst);
	ctl_get_endpoint(status[CHS_A_FLOW_STATUS_ADDRESS], status[CHS_A_FLOW_STATUS_PORT],
			 &flow->be);
	flow->idle = nla_get_u32(status[CHS_A_FLOW_STATUS_IDLE]);
	flow->reason = nla_get_u8(status[CHS_A_FLOW_STATUS_REASON]);
	flow->unconfirmed = status[CHS_A_FLOW_STATUS_UNCONFIRMED];
	flow->ended = status[CHS_A_FLOW_STATUS_ENDED];
	return CTL_OK;
}

static int take_flow(struct nlattr **tb, void *arg)
{
	struct flows *all = arg;
	struct flow *array;

	if (!(all->n & (all->n - 1))) {
		array = reallocarray(all->flows, all->n ? 2 * all->n : 1, sizeof(*array));
		if (!array)
			return no_memory();
		all->flows = array;
	}
	return get_flow(tb, &all->flows[all->n++]);
}

static int by_endpoint(const struct ctl_endpoint *a, const struct ctl_endpoint *b)
{
	int order = a->addr.len - b->addr.len;

	if (!order)
		order = memcmp(a->addr.b, b->addr.b, a->addr.len);
	return order ? order : a->port - b->port;
}

static int by_value(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;
	int order = strcmp(x->service, y->service);

	if (!order)
		order = x->proto - y->proto;
	if (!order)
		order = by_endpoint(&x->src, &y->src);
	return order ? order : by_endpoint(&x->dst, &y->dst);
}

static int load_flows(const char *service, struct flows *all)
{
	struct nl_msg *msg;
	int ret = CTL_OK;

	msg = ctl_nl_msg(CHS_CMD_FLOW_GET, service ? CTL_SERVICE_ROOM + strlen(service) : 0);
	if (!msg)
		return CTL_FAILED;
	if (service)
		ret = ctl_put_service_name(msg, service);
	if (ret) {
		nlmsg_free(msg);
		return ret;
	}
	return ctl_nl_dump(msg, take_flow, all);
}

static void show_flow(const struct flow *flow)
{
	ctl_out_open(CTL_OUT_OBJECT, NULL);
	ctl_out_str(CTL_OUT_BARE, "service", flow->service);
	ctl_out_str(CTL_OUT_BARE, "proto", ctl_proto_name(flow->proto));
	ctl_out_str(CTL_OUT_TEXT, "src", ctl_endpoint_text(&flow->src));
	ctl_out_str(CTL_OUT_JSON, "src", ctl_addr_text(&flow->src.addr));
	ctl_out_u64(CTL_OUT_JSON, "sport", flow->src.port);
	ctl_out_str(CTL_OUT_TEXT, "dst", ctl_endpoint_text(&flow->dst));
	ctl_out_str(CTL_OUT_JSON, "dst", ctl_addr_text(&flow->dst.addr));
	ctl_out_u64(CTL_OUT_JSON, "dport", flow->dst.port);
	ctl_out_str(CTL_OUT_TEXT, "backend", ctl_endpoint_text(&flow->be));
	ctl_out_str(CTL_OUT_JSON, "address", ctl_addr_text(&flow->be.addr));
	ctl_out_maybe(CTL_OUT_JSON, "port", flow->be.addr.len, flow->be.port);
	ctl_out_u64(CTL_OUT_ANY, "idle", flow->idle);
	ctl_out_str(CTL_OUT_ANY, "reason", ctl_choice_name(ctl_reasons, flow->reason));
	ctl_out_bool(CTL_OUT_JSON, "unconfirmed", flow->unconfirmed);
	ctl_out_bool(CTL_OUT_JSON, "ended", flow->ended);
	if (flow->unconfirmed)
		ctl_out_str(CTL_OUT_TEXT, NULL, "unconfirmed");
	if (flow->ended)
		ctl_out_str(CTL_OUT_TEXT, NULL, "ended");
	ctl_out_close();
}

static void show_flows(struct flows *all)
{
	size_t i;

	if (all->n)
		qsort(all->flows, all->n, sizeof(*all->flows), by_value);
	ctl_out_open(CTL_OUT_LIST, NULL);
	for (i = 0; i < all->n; i++) {
		/* A table that grows while it is read may tell a flow twice. */
		if (!i || by_value(&all->flows[i - 1], &all->flows[i]))
			show_flow(&all->flows[i]);
	}
	ctl_out_close();
}

static int show_once(void *service)
{
	struct flows all = {};
	int ret;

	ret = load_flows(service, &all);
	if (!ret)
		show_flows(&all);
	free(all.flows);
	return ret;
}

/* An unknown name is to be an error that says so. */
static int check_service(const char *name)
{
	struct ctl_snap snap;
	int ret;

	ret = ctl_snap_services(&snap, name);
	if (!ret)
		ctl_snap_free(&snap);
	return ret;
}

/**
 * ctl_flow_show() - chctl flow show
 * @args: its arguments
 *
 * Return: exit status.
 */
int ctl_flow_show(struct ctl_args *args)
{
	int ret;

	ret = args->argv[0] ? check_service(args->argv[0]) : CTL_OK;
	return ret ? ret : ctl_nl_retry("list", show_once, args->argv[0]);
}

/**
 * ctl_flow_flush() - chctl flow flush
 * @args: its arguments
 * @msg: the request that does it
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_flow_flush(struct ctl_args *args, struct nl_msg **msg)
{
	const char *name = args->argv[0];

	*msg = ctl_cmd_request(args, CHS_CMD_FLOW_FLUSH, strlen(name));
	if (!*msg)
		return CTL_FAILED;
	if (strcmp(name, "all") && ctl_put_service_name(*msg, name)) {
		nlmsg_free(*msg);
		return CTL_FAILED;
	}
	return CTL_OK;
}
