// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl lookup
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "err.h"
#include "out.h"

#define FLOW_ROOM	128

static const char *const reasons[] = { "ring", "flow", "former-owner", "conntrack", NULL };

static int put_flow(struct nl_msg *msg, uint8_t proto, const struct ctl_endpoint *src,
		    const struct ctl_endpoint *dst)
{
	struct nlattr *nest = nla_nest_start(msg, CHS_A_FLOW | NLA_F_NESTED);

	if (!nest || nla_put_u8(msg, CHS_A_FLOW_PROTO, proto) ||
	    nla_put(msg, CHS_A_FLOW_SADDR, src->addr.len, src->addr.b) ||
	    nla_put(msg, CHS_A_FLOW_DADDR, dst->addr.len, dst->addr.b) ||
	    nla_put_u16(msg, CHS_A_FLOW_SPORT, htons(src->port)) ||
	    nla_put_u16(msg, CHS_A_FLOW_DPORT, htons(dst->port)))
		return ctl_fail(EMSGSIZE, "the request is too large");
	nla_nest_end(msg, nest);
	return CTL_OK;
}

static void show_verdict(const char *service, struct nlattr **tb)
{
	struct nlattr *reason = tb[CHS_A_VERDICT_REASON], *arc = tb[CHS_A_VERDICT_ARC];
	struct ctl_endpoint be, owner;

	ctl_get_endpoint(tb[CHS_A_VERDICT_ADDRESS], tb[CHS_A_VERDICT_PORT], &be);
	ctl_get_endpoint(tb[CHS_A_VERDICT_OWNER_ADDRESS], tb[CHS_A_VERDICT_OWNER_PORT], &owner);

	ctl_out_open(CTL_OUT_OBJECT, NULL);
	ctl_out_str(CTL_OUT_BARE, "service", service);
	ctl_out_str(CTL_OUT_TEXT, NULL, ctl_endpoint_text(&be));
	ctl_out_str(CTL_OUT_JSON, "address", ctl_addr_text(&be.addr));
	if (be.addr.len)
		ctl_out_u64(CTL_OUT_JSON, "port", be.port);
	else
		ctl_out_null(CTL_OUT_JSON, "port");
	ctl_out_str(CTL_OUT_ANY, "reason", be.addr.len && reason && nla_len(reason) >= 1 ?
		    ctl_choice_name(reasons, nla_get_u8(reason)) : NULL);
	if (arc && nla_len(arc) >= 4)
		ctl_out_u64(CTL_OUT_ANY, "arc", nla_get_u32(arc));
	else
		ctl_out_null(CTL_OUT_ANY, "arc");
	ctl_out_str(CTL_OUT_ANY, "owner", ctl_endpoint_text(&owner));
	ctl_out_null(CTL_OUT_JSON, "former");
	ctl_out_null(CTL_OUT_JSON, "open_for");
	ctl_out_close();
}

static int take_verdict(struct nlattr **tb, void *arg)
{
	struct nlattr *verdict[CHS_A_VERDICT_MAX + 1];
	const char *service = ctl_get_service_name(tb);
	bool *told = arg;

	if (!service || !tb[CHS_A_VERDICT] ||
	    nla_parse_nested(verdict, CHS_A_VERDICT_MAX, tb[CHS_A_VERDICT], NULL))
		return ctl_bad_reply();

	show_verdict(service, verdict);
	*told = true;
	return CTL_OK;
}

/**
 * ctl_lookup() - chctl lookup
 * @args: its arguments
 *
 * Return: exit status.
 */
int ctl_lookup(struct ctl_args *args)
{
	struct ctl_endpoint src, dst;
	bool told = false;
	struct nl_msg *msg;
	uint8_t proto;
	int ret;

	ret = ctl_parse_proto(args->argv[0], &proto);
	if (!ret)
		ret = ctl_parse_plain_endpoint("source", args->argv[1], true, &src);
	if (!ret)
		ret = ctl_parse_plain_endpoint("destination", args->argv[2], true, &dst);
	if (ret)
		return ret;
	if (args->argv[3] && strcmp(args->argv[3], "established"))
		return ctl_usage("'%s': not established", args->argv[3]);
	if (args->argv[3])
		args->flags |= CHS_FLAG_ESTABLISHED;

	msg = ctl_cmd_request(args, CHS_CMD_LOOKUP, FLOW_ROOM);
	if (!msg)
		return CTL_FAILED;
	ret = put_flow(msg, proto, &src, &dst);
	if (ret) {
		nlmsg_free(msg);
		return ret;
	}
	ret = ctl_nl_do(msg, take_verdict, &told);
	return ret || told ? ret : ctl_bad_reply();
}
