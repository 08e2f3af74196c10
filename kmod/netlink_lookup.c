// SPDX-License-Identifier: GPL-2.0-only
/* Requests that ask what the ring does: lookup and ring-get. */
#include "netlink.h"

#include "nat.h"
#include "netlink_gen.h"
#include "netns.h"
#include "steer.h"
#include "transition.h"
#include "vrf.h"

#include <linux/in.h>
#include <linux/timekeeping.h>
#include <net/genetlink.h>
#include <net/netfilter/nf_conntrack.h>

/* Arcs in one reply: an attribute holds 64 KiB, and a page is more easily had. */
#define ARCS_MAX	1536U

static int need_seed_right(struct chs_request *req,
			   const struct chs_service *svc, const char *what)
{
	if (chs_nl_may_see_seed(req->skb, svc))
		return 0;
	return chs_msg_fail(&req->msg, -EPERM, NULL,
			    "%s of service '%s', which has a seed of its own, needs CAP_NET_ADMIN",
			    what, svc->name);
}

static int parse_addresses(struct chs_request *req, struct nlattr **tb,
			   struct chs_tuple *tuple)
{
	const struct nlattr *nest = req->info->attrs[CHS_A_FLOW];
	struct chs_msg *msg = &req->msg;
	int err;

	if (!tb[CHS_A_FLOW_SADDR])
		return chs_nl_missing(nest, "source address", msg);
	if (!tb[CHS_A_FLOW_DADDR])
		return chs_nl_missing(nest, "destination address", msg);

	err = chs_nl_address(tb[CHS_A_FLOW_SADDR], "source address",
			     &tuple->saddr, msg);
	if (err)
		return err;
	err = chs_nl_address(tb[CHS_A_FLOW_DADDR], "destination address",
			     &tuple->daddr, msg);
	if (err)
		return err;

	tuple->v6 = !chs_addr_is_v4(&tuple->saddr);
	if (chs_addr_is_v4(&tuple->daddr) == tuple->v6)
		return chs_msg_fail(msg, -EINVAL, tb[CHS_A_FLOW_DADDR],
				    "source address is IPv%c and destination address is not",
				    tuple->v6 ? '6' : '4');
	return 0;
}

static int parse_flow_vrf(struct chs_request *req, const struct nlattr *attr,
			  s32 *vrf)
{
	char name[IFNAMSIZ];
	s32 index;
	int err;

	*vrf = 0;
	if (!attr)
		return 0;
	err = chs_nl_label(attr, "vrf", true, name, sizeof(name), &req->msg);
	if (err)
		return err;
	index = chs_vrf_index(req->cn->net, name);
	if (index < 0)
		return chs_msg_fail(&req->msg, -ENODEV, attr,
				    "vrf '%s' is no VRF device", name);
	/* As for a packet that comes in by it. */
	*vrf = chs_vrf_of_index(req->cn, index);
	return 0;
}

/* @zone: NULL where a flow is not conntrack's */
static int parse_flow_zone(struct chs_request *req, const struct nlattr *attr,
			   s32 *zone)
{
	u32 value;
	int err;

	if (zone)
		*zone = -1;
	if (!attr)
		return 0;
	err = chs_nl_number(attr, "zone", 0, U16_MAX, &value, &req->msg);
	if (err)
		return err;
	if (!zone)
		return chs_msg_fail(&req->msg, -EINVAL, attr,
				    "zone %u: what is remembered of flows is not conntrack's",
				    value);
	*zone = value;
	return 0;
}

/**
 * chs_nl_flow() - flow that a request names
 * @req: request
 * @tuple: where it goes
 * @vrf: where the number of its VRF goes, 0 for outside of any
 * @zone: where its zone of conntrack goes, -1 for any; NULL refuses one
 *
 * Context: process; under RCU.
 * Return: 0, -EINVAL or -ENODEV.
 */
int chs_nl_flow(struct chs_request *req, struct chs_tuple *tuple, s32 *vrf,
		s32 *zone)
{
	const struct nlattr *nest = req->info->attrs[CHS_A_FLOW];
	struct nlattr *tb[CHS_A_FLOW_MAX + 1];
	struct chs_msg *msg = &req->msg;
	int err;

	if (!nest)
		return chs_nl_missing(NULL, "flow", msg);
	err = chs_nl_parse(tb, CHS_A_FLOW_MAX, nest, chsteer_flow_nl_policy,
			   msg);
	if (err)
		return err;

	memset(tuple, 0, sizeof(*tuple));
	if (!tb[CHS_A_FLOW_PROTO])
		return chs_nl_missing(nest, "protocol", msg);
	tuple->proto = nla_get_u8(tb[CHS_A_FLOW_PROTO]);
	if (tuple->proto != IPPROTO_TCP && tuple->proto != IPPROTO_UDP &&
	    tuple->proto != IPPROTO_SCTP)
		return chs_msg_fail(msg, -EINVAL, tb[CHS_A_FLOW_PROTO],
				    "protocol %u is not TCP, UDP or SCTP",
				    tuple->proto);

	if (!tb[CHS_A_FLOW_SPORT])
		return chs_nl_missing(nest, "source port", msg);
	if (!tb[CHS_A_FLOW_DPORT])
		return chs_nl_missing(nest, "destination port", msg);
	tuple->sport = nla_get_be16(tb[CHS_A_FLOW_SPORT]);
	tuple->dport = nla_get_be16(tb[CHS_A_FLOW_DPORT]);
	err = parse_flow_vrf(req, tb[CHS_A_FLOW_VRF], vrf);
	if (!err)
		err = parse_flow_zone(req, tb[CHS_A_FLOW_CT_ZONE], zone);
	return err ?: parse_addresses(req, tb, tuple);
}

static int put_end(struct sk_buff *skb, int address, int port,
		   const struct chs_backend *backend)
{
	if (!backend)
		return 0;
	return chs_nl_put_address(skb, address, &backend->id.addr) ?:
	       nla_put_be16(skb, port, backend->id.port);
}

static int put_verdict(struct sk_buff *skb, const struct chs_tuple *tuple,
		       const struct chs_verdict *verdict)
{
	struct nlattr *nest = nla_nest_start(skb, CHS_A_VERDICT);
	const struct chs_backend *backend = verdict->backend;
	s64 left = -1;

	if (verdict->former)
		left = chs_transition_left(verdict->svc, verdict->arc,
					   ktime_get_seconds());

	if (!nest || nla_put_u32(skb, CHS_A_VERDICT_ARC, verdict->arc))
		return -EMSGSIZE;
	if (backend &&
	    (chs_nl_put_address(skb, CHS_A_VERDICT_ADDRESS,
				&backend->id.addr) ||
	     nla_put_be16(skb, CHS_A_VERDICT_PORT,
			  chs_steer_port(backend, tuple->dport)) ||
	     nla_put_u8(skb, CHS_A_VERDICT_REASON, verdict->reason)))
		return -EMSGSIZE;
	if (put_end(skb, CHS_A_VERDICT_OWNER_ADDRESS,
		    CHS_A_VERDICT_OWNER_PORT, verdict->owner) ||
	    put_end(skb, CHS_A_VERDICT_FORMER_ADDRESS,
		    CHS_A_VERDICT_FORMER_PORT, verdict->former) ||
	    (left >= 0 && nla_put_u32(skb, CHS_A_VERDICT_OPEN_FOR, left)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static const char *proto_name(u8 proto)
{
	return proto == IPPROTO_TCP ? "tcp" :
	       proto == IPPROTO_UDP ? "udp" : "sctp";
}

static int answer(struct chs_request *req, const struct chs_question *question)
{
	const struct chs_tuple *tuple = &question->tuple;
	char buf[CHS_ENDPOINT_STRLEN];
	struct chs_verdict verdict;
	int err;

	err = chs_steer_lookup(req->table, question, &verdict);
	if (err)
		return chs_msg_fail(&req->msg, err,
				    req->info->attrs[CHS_A_FLOW],
				    "no service takes %s to %s",
				    proto_name(tuple->proto),
				    chs_endpoint_str(buf, &tuple->daddr,
						     tuple->dport));

	err = need_seed_right(req, verdict.svc, "lookup");
	return err ?: chs_nl_put_name(req->reply, verdict.svc->name) ?:
		      put_verdict(req->reply, tuple, &verdict);
}

/*
 * Conntrack's table is walked outside of RCU, and the services in force may be
 * others afterwards.
 */
static struct nf_conn *find_connection(struct chs_request *req,
				       const struct chs_tuple *tuple, s32 zone)
{
	struct nf_conn *ct;

	rcu_read_unlock();
	ct = chs_nat_find(req->cn->net, tuple, zone);
	rcu_read_lock();
	req->table = rcu_dereference(req->cn->table);
	return ct;
}

static int lookup(struct chs_request *req)
{
	struct chs_question question = {
		.established = req->flags & CHS_FLAG_ESTABLISHED,
		.ring_only = !netlink_net_capable(req->skb, CAP_NET_ADMIN),
	};
	const struct chs_service *svc;
	s32 zone;
	int err;

	err = chs_nl_flow(req, &question.tuple, &question.vrf, &zone);
	if (err)
		return err;

	svc = chs_steer_service(req->table, &question.tuple, question.vrf);
	if (svc && zone >= 0 && chs_service_is_direct(svc))
		return chs_msg_fail(&req->msg, -EINVAL,
				    req->info->attrs[CHS_A_FLOW],
				    "zone %d: mode %s of service '%s' does not ask conntrack",
				    zone, chs_nl_mode_name(svc->mode),
				    svc->name);
	if (svc && !chs_service_is_direct(svc) && !question.ring_only)
		question.ct = find_connection(req, &question.tuple, zone);

	err = answer(req, &question);
	if (question.ct)
		nf_ct_put(question.ct);
	return err;
}

int chsteer_nl_lookup_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_answer(skb, info, CHS_FLAG_ESTABLISHED, lookup);
}

static int ring_get(struct chs_request *req)
{
	struct chs_service *svc;
	u32 first = 0, n;
	int err;

	err = chs_nl_service(req, &svc);
	if (err)
		return err;
	err = need_seed_right(req, svc, "ring");
	if (err)
		return err;
	err = chs_nl_number(req->info->attrs[CHS_A_ARC], "arc", 0,
			    svc->conf.slots - 1, &first, &req->msg);
	if (err)
		return err;

	n = min(svc->conf.slots - first, ARCS_MAX);
	return chs_nl_put_service_status(req->reply, svc) ?:
	       nla_put_u32(req->reply, CHS_A_ARC, first) ?:
	       nla_put(req->reply, CHS_A_OWNERS, n * sizeof(*svc->arcs),
		       svc->arcs + first);
}

int chsteer_nl_ring_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_answer(skb, info, 0, ring_get);
}
