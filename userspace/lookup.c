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

/**
 * struct options - what may follow the addresses
 * @vrf: VRF device that the packet arrives in, or NULL
 * @zone: zone of connection tracking that it is in, if one is given
 */
struct options {
	const char *vrf;
	uint32_t zone;
};

#define ESTABLISHED	0

const struct ctl_keyword ctl_lookup_keywords[] = {
	{
		/* Flag of the request, not an attribute. */
		.name = "established", .kind = CTL_KW_FLAG, .attr = ESTABLISHED,
		.usage = "", .help = "the packet belongs to a flow already running",
	}, {
		.name = "vrf", .kind = CTL_KW_STRING, .attr = CHS_A_FLOW_VRF,
		.offset = offsetof(struct options, vrf),
		.usage = "NAME", .help = "VRF device that the packet arrives in (none)",
	}, {
		.name = "zone", .kind = CTL_KW_NUMBER, .attr = CHS_A_FLOW_CT_ZONE,
		.offset = offsetof(struct options, zone),
		.usage = "N", .help = "zone of connection tracking that it is in (any)",
	},
	{}
};

static int put_flow(struct nl_msg *msg, uint8_t proto, const struct ctl_endpoint *src,
		    const struct ctl_endpoint *dst, const struct options *opts, bool has_zone)
{
	struct nlattr *nest = nla_nest_start(msg, CHS_A_FLOW | NLA_F_NESTED);

	if (!nest || nla_put_u8(msg, CHS_A_FLOW_PROTO, proto) ||
	    nla_put(msg, CHS_A_FLOW_SADDR, src->addr.len, src->addr.b) ||
	    nla_put(msg, CHS_A_FLOW_DADDR, dst->addr.len, dst->addr.b) ||
	    nla_put_u16(msg, CHS_A_FLOW_SPORT, htons(src->port)) ||
	    nla_put_u16(msg, CHS_A_FLOW_DPORT, htons(dst->port)) ||
	    (opts->vrf && nla_put_string(msg, CHS_A_FLOW_VRF, opts->vrf)) ||
	    (has_zone && nla_put_u32(msg, CHS_A_FLOW_CT_ZONE, opts->zone)))
		return ctl_fail(EMSGSIZE, "the request is too large");
	nla_nest_end(msg, nest);
	return CTL_OK;
}

static void show_u32(enum ctl_out_as as, const char *key, const struct nlattr *nla)
{
	const bool known = nla && nla_len(nla) >= 4;

	ctl_out_maybe(as, key, known, known ? nla_get_u32(nla) : 0);
}

/* In text only where there is one: an arc is settled as a rule. */
static void show_former(struct nlattr **tb)
{
	struct ctl_endpoint former;
	enum ctl_out_as as;

	ctl_get_endpoint(tb[CHS_A_VERDICT_FORMER_ADDRESS], tb[CHS_A_VERDICT_FORMER_PORT],
			 &former);
	as = former.addr.len ? CTL_OUT_ANY : CTL_OUT_JSON;
	ctl_out_str(as, "former", ctl_endpoint_text(&former));
	show_u32(as, "open_for", tb[CHS_A_VERDICT_OPEN_FOR]);
}

static void show_verdict(const char *service, struct nlattr **tb)
{
	struct nlattr *reason = tb[CHS_A_VERDICT_REASON];
	struct ctl_endpoint be, owner;

	ctl_get_endpoint(tb[CHS_A_VERDICT_ADDRESS], tb[CHS_A_VERDICT_PORT], &be);
	ctl_get_endpoint(tb[CHS_A_VERDICT_OWNER_ADDRESS], tb[CHS_A_VERDICT_OWNER_PORT], &owner);

	ctl_out_open(CTL_OUT_OBJECT, NULL);
	ctl_out_str(CTL_OUT_BARE, "service", service);
	ctl_out_str(CTL_OUT_TEXT, NULL, ctl_endpoint_text(&be));
	ctl_out_str(CTL_OUT_JSON, "address", ctl_addr_text(&be.addr));
	ctl_out_maybe(CTL_OUT_JSON, "port", be.addr.len, be.port);
	ctl_out_str(CTL_OUT_ANY, "reason", be.addr.len && reason && nla_len(reason) >= 1 ?
		    ctl_choice_name(ctl_reasons, nla_get_u8(reason)) : NULL);
	show_u32(CTL_OUT_ANY, "arc", tb[CHS_A_VERDICT_ARC]);
	ctl_out_str(CTL_OUT_ANY, "owner", ctl_endpoint_text(&owner));
	show_former(tb);
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
	struct options opts = {};
	uint32_t present;
	bool told = false;
	struct nl_msg *msg;
	uint8_t proto;
	int ret;

	ret = ctl_parse_proto(args->argv[0], &proto);
	if (!ret)
		ret = ctl_parse_plain_endpoint("source", args->argv[1], true, &src);
	if (!ret)
		ret = ctl_parse_plain_endpoint("destination", args->argv[2], true, &dst);
	if (!ret)
		ret = ctl_parse_keywords(ctl_lookup_keywords, args->cmd->allowed, args->argv + 3,
					 &opts, &present);
	if (ret)
		return ret;
	if (present & CTL_BIT(ESTABLISHED))
		args->flags |= CHS_FLAG_ESTABLISHED;

	msg = ctl_cmd_request(args, CHS_CMD_LOOKUP,
			      FLOW_ROOM + (opts.vrf ? strlen(opts.vrf) : 0));
	if (!msg)
		return CTL_FAILED;
	ret = put_flow(msg, proto, &src, &dst, &opts,
		       present & CTL_BIT(CHS_A_FLOW_CT_ZONE));
	if (ret) {
		nlmsg_free(msg);
		return ret;
	}
	ret = ctl_nl_do(msg, take_verdict, &told);
	return ret || told ? ret : ctl_bad_reply();
}
