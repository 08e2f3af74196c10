// SPDX-License-Identifier: GPL-2.0-only
/* Requests about services. */
#include "netlink.h"

#include "endpoint.h"
#include "flow.h"
#include "netlink_gen.h"
#include "netns.h"
#include "route.h"
#include "socket.h"
#include "vrf.h"

#include <linux/in.h>
#include <net/genetlink.h>
#include <net/sock.h>

#define SSH_PORT	22

static const char *const mode_names[] = {
	[CHS_MODE_NAT] = "nat",
	[CHS_MODE_ROUTE] = "route",
	[CHS_MODE_IPIP] = "ipip",
	[CHS_MODE_GUE] = "gue",
};

/**
 * chs_nl_mode_name() - name of a mode, for sentences
 * @mode: enum chsteer_mode
 *
 * Context: any.
 * Return: the name.
 */
const char *chs_nl_mode_name(u8 mode)
{
	return mode_names[mode];
}

#define MODES_DIRECT	(BIT(CHS_MODE_ROUTE) | MODES_TUNNEL)
#define MODES_TUNNEL	(BIT(CHS_MODE_IPIP) | BIT(CHS_MODE_GUE))

/**
 * struct option - an option that not every mode has
 * @attr: attribute
 * @name: for the user
 * @modes: bits of enum chsteer_mode
 * @why: why the others do not have it
 */
struct option {
	u8 attr;
	const char *name;
	u32 modes;
	const char *why;
};

static const struct option options[] = {
	{ CHS_A_SERVICE_AFFINITY, "affinity", MODES_DIRECT,
	  "conntrack is the flow table" },
	{ CHS_A_SERVICE_WINDOW, "window", MODES_DIRECT,
	  "conntrack is the flow table" },
	{ CHS_A_SERVICE_MAX_FLOWS, "max-flows", MODES_DIRECT,
	  "conntrack is the flow table" },
	{ CHS_A_SERVICE_TIMEOUT, "timeout", MODES_DIRECT,
	  "conntrack is the flow table" },
	{ CHS_A_SERVICE_GUE_PORT, "gue-port", BIT(CHS_MODE_GUE),
	  "it has no outer UDP header" },
	{ CHS_A_SERVICE_SOURCE, "source", MODES_TUNNEL,
	  "nothing is encapsulated" },
	{ CHS_A_SERVICE_VRF, "vrf", MODES_DIRECT,
	  "it is for packets outside any VRF" },
	{ CHS_A_SERVICE_MASQUERADE, "masquerade", BIT(CHS_MODE_NAT),
	  "nothing is translated" },
};

/* An option that the service's mode does not have is refused. */
static int check_options(struct chs_request *req,
			 const struct chs_service *svc)
{
	const struct nlattr *attr;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		attr = req->service[options[i].attr];
		if (!attr || options[i].modes & BIT(svc->mode))
			continue;
		/* Saying that nothing is translated is no option. */
		if (options[i].attr == CHS_A_SERVICE_MASQUERADE &&
		    !nla_get_u8(attr))
			continue;
		return chs_msg_fail(&req->msg, -EINVAL, attr,
				    "option %s is not for mode %s of service '%s': %s",
				    options[i].name, mode_names[svc->mode],
				    svc->name, options[i].why);
	}
	return 0;
}

static int parse_proto(struct chs_request *req, struct chs_service *svc)
{
	const struct nlattr *attr = req->service[CHS_A_SERVICE_PROTO];

	if (!attr)
		return chs_nl_missing(req->info->attrs[CHS_A_SERVICE],
				      "service protocol", &req->msg);

	svc->proto = nla_get_u8(attr);
	switch (svc->proto) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_SCTP:
		return 0;
	default:
		return chs_msg_fail(&req->msg, -EINVAL, attr,
				    "service protocol %u is not TCP, UDP or SCTP",
				    svc->proto);
	}
}

static int parse_ports(struct chs_request *req, struct chs_service *svc)
{
	const struct nlattr *any = req->service[CHS_A_SERVICE_ANY_PORT];
	const struct nlattr *end = req->service[CHS_A_SERVICE_PORT_END];
	const struct nlattr *lo = req->service[CHS_A_SERVICE_PORT];

	if (any) {
		if (lo || end)
			return chs_msg_fail(&req->msg, -EINVAL, lo ?: end,
					    "service port %u beside any-port",
					    ntohs(nla_get_be16(lo ?: end)));
		svc->lo = 0;
		svc->hi = U16_MAX;
		return 0;
	}

	if (!lo)
		return chs_nl_missing(req->info->attrs[CHS_A_SERVICE],
				      "service port", &req->msg);
	svc->lo = ntohs(nla_get_be16(lo));
	svc->hi = end ? ntohs(nla_get_be16(end)) : svc->lo;
	if (!svc->lo)
		return chs_msg_fail(&req->msg, -EINVAL, lo,
				    "service port 0 is none; any port is written *");
	if (svc->hi < svc->lo)
		return chs_msg_fail(&req->msg, -EINVAL, end,
				    "service port range %u-%u ends before it begins",
				    svc->lo, svc->hi);
	return 0;
}

static int parse_mode(struct chs_request *req, struct chs_service *svc)
{
	u32 mode = CHS_MODE_NAT;
	int err;

	err = chs_nl_number(req->service[CHS_A_SERVICE_MODE], "mode",
			    CHS_MODE_NAT, CHS_MODE_GUE, &mode, &req->msg);
	if (err)
		return err;
	svc->mode = mode;
	return check_options(req, svc);
}

static int parse_vrf(struct chs_request *req, struct chs_service *svc)
{
	const struct nlattr *attr = req->service[CHS_A_SERVICE_VRF];
	char name[IFNAMSIZ];
	int err;

	if (!attr)
		return 0;
	err = chs_nl_label(attr, "vrf", true, name, sizeof(name), &req->msg);
	if (err)
		return err;
	svc->vrf_ref = chs_vrf_get(req->cn, name);
	if (!svc->vrf_ref)
		return -ENOMEM;
	svc->vrf = svc->vrf_ref->id;
	return 0;
}

static int parse_gue_port(struct chs_request *req, struct chs_service *svc)
{
	const struct nlattr *attr = req->service[CHS_A_SERVICE_GUE_PORT];

	if (!attr)
		return 0;
	svc->gue_port = nla_get_be16(attr);
	if (!svc->gue_port)
		return chs_msg_fail(&req->msg, -EINVAL, attr,
				    "gue-port 0 is none");
	return 0;
}

static int parse_seed(struct chs_request *req, struct chs_service *svc)
{
	const struct nlattr *attr = req->service[CHS_A_SERVICE_SEED];

	if (!attr)
		return 0;
	if (nla_len(attr) != 16)
		return chs_msg_fail(&req->msg, -EINVAL, attr,
				    "seed has %d bytes, not 16", nla_len(attr));

	chs_ring_key_set(&svc->conf.key, nla_data(attr));
	svc->seed_default = false;
	return 0;
}

static int parse_ring(struct chs_request *req, struct chs_service *svc)
{
	struct nlattr **tb = req->service;
	u32 hash = svc->conf.hash;
	int err;

	err = chs_nl_number(tb[CHS_A_SERVICE_HASH], "hash", CHS_FLOW_HASH_5TUPLE,
			    CHS_FLOW_HASH_SRC, &hash, &req->msg);
	if (err)
		return err;
	svc->conf.hash = hash;

	err = chs_nl_number(tb[CHS_A_SERVICE_POINTS], "points",
			    CHS_RING_POINTS_MIN, CHS_RING_POINTS_MAX,
			    &svc->conf.points, &req->msg);
	if (err)
		return err;
	err = chs_nl_number(tb[CHS_A_SERVICE_UNIT], "unit", CHS_RING_UNIT_MIN,
			    CHS_RING_UNIT_MAX, &svc->conf.unit, &req->msg);
	if (err)
		return err;
	err = chs_nl_number(tb[CHS_A_SERVICE_SLOTS], "slots",
			    CHS_RING_SLOTS_MIN, CHS_RING_SLOTS_MAX,
			    &svc->conf.slots, &req->msg);
	if (err)
		return err;
	if (!is_power_of_2(svc->conf.slots))
		return chs_msg_fail(&req->msg, -EINVAL,
				    tb[CHS_A_SERVICE_SLOTS],
				    "slots %u is not a power of two",
				    svc->conf.slots);
	return parse_seed(req, svc);
}

/* An outer packet has addresses of one family. */
static int check_source(struct chs_request *req, const struct chs_service *svc)
{
	bool v4 = chs_addr_is_v4(&svc->source);
	char buf[CHS_ENDPOINT_STRLEN];
	u32 i;

	for (i = 0; chs_service_has_source(svc) && i < svc->n_backends; i++) {
		if (chs_addr_is_v4(&svc->backends[i].id.addr) != v4)
			return chs_msg_fail(&req->msg, -EINVAL,
					    req->service[CHS_A_SERVICE_SOURCE],
					    "source of service '%s' is IPv%c and its backend %s is not",
					    svc->name, v4 ? '4' : '6',
					    chs_addr_str(buf, &svc->backends[i].id.addr));
	}
	return 0;
}

static int parse_source(struct chs_request *req, struct chs_service *svc)
{
	const struct nlattr *attr = req->service[CHS_A_SERVICE_SOURCE];
	union chs_addr source = {};
	char buf[CHS_ENDPOINT_STRLEN];
	static const u8 zero[16];
	int err;

	if (!attr)
		return 0;
	if ((nla_len(attr) != 4 && nla_len(attr) != sizeof(zero)) ||
	    memcmp(nla_data(attr), zero, nla_len(attr))) {
		err = chs_nl_host(attr, "source", &source, &req->msg);
		if (err)
			return err;
		if (!chs_route_local(req->cn->net, &source))
			chs_msg_warn(&req->msg,
				     "service '%s': source %s is not this host's",
				     svc->name, chs_addr_str(buf, &source));
	}
	svc->source = source;
	return check_source(req, svc);
}

/* Parse affinity, window and max-flows, which the direct modes have. */
static int parse_affinity(struct chs_request *req, struct chs_service *svc)
{
	struct nlattr **tb = req->service;
	u32 affinity = svc->affinity;
	u32 timeout = svc->timeout_set ? svc->timeout : 0;
	int err;

	err = chs_nl_number(tb[CHS_A_SERVICE_AFFINITY], "affinity",
			    CHS_AFFINITY_RING, CHS_AFFINITY_FLOW, &affinity,
			    &req->msg);
	if (err)
		return err;
	err = chs_nl_number(tb[CHS_A_SERVICE_WINDOW], "window", 1,
			    CHS_WINDOW_MAX, &svc->window, &req->msg);
	if (err)
		return err;
	err = chs_nl_number(tb[CHS_A_SERVICE_MAX_FLOWS], "max-flows", 0,
			    CHS_FLOWS_MAX, &svc->max_flows, &req->msg);
	if (err)
		return err;
	err = chs_nl_number(tb[CHS_A_SERVICE_TIMEOUT], "timeout", 0,
			    CHS_WINDOW_MAX, &timeout, &req->msg);
	if (err)
		return err;
	if (timeout && timeout < svc->window)
		return chs_msg_fail(&req->msg, -EINVAL,
				    tb[CHS_A_SERVICE_TIMEOUT] ?:
				    tb[CHS_A_SERVICE_WINDOW],
				    "timeout %u of service '%s' is below its window %u",
				    timeout, svc->name, svc->window);

	svc->affinity = affinity;
	/* Equal to the window it follows the window, as the default does. */
	svc->timeout_set = timeout > svc->window;
	svc->timeout = timeout ?: svc->window;
	return parse_source(req, svc);
}

/* Options that may change while the service is in force. */
static int parse_settable(struct chs_request *req, struct chs_service *svc)
{
	struct nlattr **tb = req->service;
	u32 on_empty = svc->on_empty, masquerade = svc->masquerade;
	u32 balance = svc->conf.balance;
	int err;

	err = chs_nl_number(tb[CHS_A_SERVICE_ON_EMPTY], "on-empty",
			    CHS_ON_EMPTY_REJECT, CHS_ON_EMPTY_PASS, &on_empty,
			    &req->msg);
	if (err)
		return err;
	err = chs_nl_number(tb[CHS_A_SERVICE_MASQUERADE], "masquerade", 0, 1,
			    &masquerade, &req->msg);
	if (err)
		return err;

	if (tb[CHS_A_SERVICE_BALANCE])
		balance = nla_get_u32(tb[CHS_A_SERVICE_BALANCE]);
	if (balance && (balance < CHS_RING_BALANCE_MIN ||
			balance > CHS_RING_BALANCE_MAX))
		return chs_msg_fail(&req->msg, -EINVAL,
				    tb[CHS_A_SERVICE_BALANCE],
				    "balance %u.%02u is not between 1.01 and 2.00, nor off",
				    balance / 100, balance % 100);

	svc->conf.balance = balance;
	svc->on_empty = on_empty;
	svc->masquerade = masquerade;
	return parse_affinity(req, svc);
}

static int parse_service(struct chs_request *req, struct chs_service *svc)
{
	const struct nlattr *address = req->service[CHS_A_SERVICE_ADDRESS];
	int err;

	err = chs_nl_name(req, svc->name);
	if (err)
		return err;
	err = parse_proto(req, svc);
	if (err)
		return err;

	if (!address)
		return chs_nl_missing(req->info->attrs[CHS_A_SERVICE],
				      "service address", &req->msg);
	err = chs_nl_host(address, "service address", &svc->addr, &req->msg);
	if (err)
		return err;

	err = parse_ports(req, svc);
	if (err)
		return err;
	err = parse_mode(req, svc);
	if (err)
		return err;
	err = parse_vrf(req, svc);
	if (err)
		return err;
	err = parse_gue_port(req, svc);
	if (err)
		return err;
	err = parse_ring(req, svc);
	if (err)
		return err;
	if (svc->proto == IPPROTO_UDP)
		svc->affinity = CHS_AFFINITY_FLOW;
	err = parse_settable(req, svc);
	if (err)
		return err;

	svc->name_hash = chs_service_hash_name(svc->name);
	svc->key_hash = chs_table_hash(&svc->addr, svc->vrf, svc->proto,
				       svc->lo);
	return 0;
}

/* A slip of the hand must not shut the administrator out. */
static int check_lockout(struct chs_request *req, struct chs_service *svc)
{
	char buf[CHS_ENDPOINT_STRLEN];

	svc->forced = req->flags & CHS_FLAG_FORCE;
	if (svc->forced || chs_service_one_port(svc) || svc->lo > SSH_PORT ||
	    svc->hi < SSH_PORT || !chs_route_local(req->cn->net, &svc->addr))
		return 0;
	return chs_msg_fail(&req->msg, -EINVAL,
			    req->service[CHS_A_SERVICE_ADDRESS],
			    "service address %s is this host's own and the ports hold %u: needs --force",
			    chs_addr_str(buf, &svc->addr), SSH_PORT);
}

/*
 * A service takes what is sent to its ports from this host's own sockets. In mode
 * nat conntrack knows what answers a connection that the host has made.
 */
static void warn_of_sockets(struct chs_request *req,
			    const struct chs_service *svc)
{
	struct net *net = req->cn->net;
	char buf[CHS_ENDPOINT_STRLEN];
	u16 port;

	if (svc->vrf_ref || !chs_route_local(net, &svc->addr))
		return;

	port = chs_service_is_direct(svc) ?
	       chs_socket_ephemeral(net, svc->lo, svc->hi) : 0;
	if (port)
		chs_msg_warn(&req->msg,
			     "service '%s': address %s is this host's own, and port %u in net.ipv4.ip_local_port_range: replies to connections that this host makes from there go to backends",
			     svc->name, chs_addr_str(buf, &svc->addr), port);

	/* Such a service leaves them to the host while it is empty. */
	if (svc->on_empty == CHS_ON_EMPTY_PASS)
		return;
	port = chs_socket_bound(net, svc->proto, &svc->addr, svc->lo, svc->hi);
	if (port)
		chs_msg_warn(&req->msg,
			     "service '%s': a socket of this host is bound to %s: what is sent there goes to backends",
			     svc->name,
			     chs_endpoint_str(buf, &svc->addr, htons(port)));
}

static void warn_of_surroundings(struct chs_request *req,
				 const struct chs_service *svc)
{
	struct net *net = req->cn->net;
	bool v6 = chs_service_is_v6(svc);
	char buf[CHS_ENDPOINT_STRLEN];

	if (svc->vrf_ref && !chs_vrf_ifindex(svc->vrf_ref))
		chs_msg_warn(&req->msg,
			     "service '%s': vrf '%s' is no VRF device: nothing matches until it is",
			     svc->name, svc->vrf_ref->name);
	if (!chs_service_is_direct(svc) && !chs_route_forwards(net, v6))
		chs_msg_warn(&req->msg,
			     "service '%s': mode nat, but forwarding of IPv%c is off: %s",
			     svc->name, v6 ? '6' : '4',
			     v6 ? "net.ipv6.conf.all.forwarding" :
				  "net.ipv4.ip_forward");
	if (chs_route_leads_away(net, &svc->addr))
		chs_msg_warn(&req->msg,
			     "service '%s': address %s is neither local nor routed to a dead end: what no service takes is forwarded and may loop",
			     svc->name, chs_addr_str(buf, &svc->addr));
	warn_of_sockets(req, svc);
}

/*
 * In a transaction that says what is to be, a service that nothing has named
 * stands in nobody's way: its key may be taken by another, as when a service
 * gets a new name.
 */
static bool gives_way(const struct chs_request *req,
		      const struct chs_service *holder)
{
	return chs_nl_says_all(req) && !(holder->edit && holder->edit->named);
}

static int take_key(struct chs_request *req, const struct chs_service *svc)
{
	struct chs_service *holder;
	char buf[CHS_ENDPOINT_STRLEN];
	int err;

	while ((holder = chs_table_holder(chs_txn_table(req->cn, req->txn),
					  svc))) {
		if (!gives_way(req, holder))
			return chs_msg_fail(&req->msg, -EEXIST,
					    req->service[CHS_A_SERVICE_ADDRESS],
					    "%s is held by service '%s'",
					    chs_service_str(buf, holder),
					    holder->name);
		err = chs_txn_del(req->cn, req->txn, holder);
		if (err)
			return err;
	}
	return 0;
}

/* Consumes @svc. */
static int insert_service(struct chs_request *req, struct chs_service *svc)
{
	int err;

	err = take_key(req, svc);
	if (err)
		goto err_svc;

	err = check_lockout(req, svc);
	if (err)
		goto err_svc;

	if (chs_txn_table(req->cn, req->txn)->n_services >= CHS_SERVICES_MAX) {
		err = chs_msg_fail(&req->msg, -ENOSPC,
				   req->service[CHS_A_SERVICE_NAME],
				   "service '%s' would be one more than the %u that a namespace may have",
				   svc->name, CHS_SERVICES_MAX);
		goto err_svc;
	}

	err = chs_txn_add(req->cn, req->txn, svc);
	if (err)
		goto err_svc;
	warn_of_surroundings(req, svc);
	return 0;

err_svc:
	chs_service_free(svc);
	return err;
}

/* Name of an option that differs though no live service can change it. */
static const char *fixed_difference(const struct chs_service *a,
				    const struct chs_service *b)
{
	if (a->proto != b->proto)
		return "protocol";
	if (!chs_addr_equal(&a->addr, &b->addr))
		return "address";
	if (a->lo != b->lo || a->hi != b->hi)
		return "port";
	if (a->vrf != b->vrf)
		return "vrf";
	if (a->mode != b->mode)
		return "mode";
	if (a->gue_port != b->gue_port)
		return "gue-port";
	if (a->conf.hash != b->conf.hash)
		return "hash";
	if (a->conf.points != b->conf.points)
		return "points";
	if (a->conf.unit != b->conf.unit)
		return "unit";
	if (a->conf.slots != b->conf.slots)
		return "slots";
	if (a->conf.key.key[0] != b->conf.key.key[0] ||
	    a->conf.key.key[1] != b->conf.key.key[1])
		return "seed";
	return NULL;
}

static int check_fixed(struct chs_request *req, const struct chs_service *old,
		       const struct chs_service *wanted)
{
	const char *option = fixed_difference(old, wanted);

	if (!option || req->flags & CHS_FLAG_RECREATE)
		return 0;
	return chs_msg_fail(&req->msg, -EINVAL,
			    req->service[CHS_A_SERVICE_NAME],
			    "%s of service '%s' differs and no live service can change it",
			    option, old->name);
}

/* A service that has given way to another is still no other than it was. */
static int check_former(struct chs_request *req,
			const struct chs_service *wanted)
{
	const struct chs_service *old;

	if (!(req->flags & CHS_FLAG_REPLACE))
		return 0;
	old = chs_table_find(chs_net_table(req->cn), wanted->name);
	return old ? check_fixed(req, old, wanted) : 0;
}

/* Make the service @old what @wanted says. Consumes @wanted. */
static int replace_service(struct chs_request *req, struct chs_service *old,
			   struct chs_service *wanted)
{
	bool differs = fixed_difference(old, wanted);
	int err;

	if (old->edit && old->edit->named) {
		err = chs_msg_fail(&req->msg, -EEXIST,
				   req->service[CHS_A_SERVICE_NAME],
				   "service '%s' is named twice", old->name);
		goto err_wanted;
	}

	err = check_fixed(req, old, wanted);
	if (err)
		goto err_wanted;
	if (differs) {
		err = chs_txn_del(req->cn, req->txn, old);
		if (err)
			goto err_wanted;
		return insert_service(req, wanted);
	}

	old = chs_txn_edit(req->cn, req->txn, old);
	if (!old) {
		err = -ENOMEM;
		goto err_wanted;
	}
	old->edit->named = true;
	old->on_empty = wanted->on_empty;
	old->masquerade = wanted->masquerade;
	old->conf.balance = wanted->conf.balance;
	old->affinity = wanted->affinity;
	old->window = wanted->window;
	old->timeout = wanted->timeout;
	old->timeout_set = wanted->timeout_set;
	old->max_flows = wanted->max_flows;
	old->source = wanted->source;
	err = 0;
err_wanted:
	chs_service_free(wanted);
	return err;
}

static int service_new(struct chs_request *req)
{
	struct chs_service *svc, *old;
	int err;

	svc = chs_service_alloc(req->cn);
	if (!svc)
		return -ENOMEM;

	err = parse_service(req, svc);
	if (err)
		goto err_svc;

	old = chs_table_find(chs_txn_table(req->cn, req->txn), svc->name);
	if (!old) {
		err = check_former(req, svc);
		if (err)
			goto err_svc;
		return insert_service(req, svc);
	}
	if (req->flags & CHS_FLAG_REPLACE)
		return replace_service(req, old, svc);

	err = chs_msg_fail(&req->msg, -EEXIST,
			   req->service[CHS_A_SERVICE_NAME],
			   "service '%s' is there already", svc->name);
err_svc:
	chs_service_free(svc);
	return err;
}

int chsteer_nl_service_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_change(skb, info,
			     CHS_FLAG_FORCE | CHS_FLAG_REPLACE |
			     CHS_FLAG_RECREATE, service_new);
}

static bool is_settable(int attr)
{
	switch (attr) {
	case CHS_A_SERVICE_NAME:
	case CHS_A_SERVICE_BALANCE:
	case CHS_A_SERVICE_ON_EMPTY:
	case CHS_A_SERVICE_MASQUERADE:
	case CHS_A_SERVICE_AFFINITY:
	case CHS_A_SERVICE_WINDOW:
	case CHS_A_SERVICE_MAX_FLOWS:
	case CHS_A_SERVICE_TIMEOUT:
	case CHS_A_SERVICE_SOURCE:
		return true;
	default:
		return false;
	}
}

static const char *option_name(int attr)
{
	switch (attr) {
	case CHS_A_SERVICE_PROTO:
		return "protocol";
	case CHS_A_SERVICE_ADDRESS:
		return "address";
	case CHS_A_SERVICE_PORT:
	case CHS_A_SERVICE_PORT_END:
	case CHS_A_SERVICE_ANY_PORT:
		return "port";
	case CHS_A_SERVICE_MODE:
		return "mode";
	case CHS_A_SERVICE_HASH:
		return "hash";
	case CHS_A_SERVICE_POINTS:
		return "points";
	case CHS_A_SERVICE_UNIT:
		return "unit";
	case CHS_A_SERVICE_SLOTS:
		return "slots";
	case CHS_A_SERVICE_SEED:
		return "seed";
	case CHS_A_SERVICE_GUE_PORT:
		return "gue-port";
	case CHS_A_SERVICE_VRF:
		return "vrf";
	default:
		return "this option";
	}
}

static int refuse_fixed(struct chs_request *req, const struct chs_service *svc)
{
	bool any = false;
	int attr, err;

	err = check_options(req, svc);
	if (err)
		return err;
	for (attr = 1; attr <= CHS_A_SERVICE_MAX; attr++) {
		if (!req->service[attr] || attr == CHS_A_SERVICE_NAME)
			continue;
		any = true;
		if (!is_settable(attr))
			return chs_msg_fail(&req->msg, -EINVAL,
					    req->service[attr],
					    "%s of service '%s' cannot be set: delete it and add it anew",
					    option_name(attr), svc->name);
	}
	if (!any)
		return chs_msg_fail(&req->msg, -EINVAL, NULL,
				    "no option to set for service '%s'",
				    svc->name);
	return 0;
}

static int service_set(struct chs_request *req)
{
	struct chs_service *svc;
	int err;

	err = chs_nl_service(req, &svc);
	if (err)
		return err;
	err = refuse_fixed(req, svc);
	if (err)
		return err;

	svc = chs_txn_edit(req->cn, req->txn, svc);
	return svc ? parse_settable(req, svc) : -ENOMEM;
}

int chsteer_nl_service_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_change(skb, info, 0, service_set);
}

static int service_del(struct chs_request *req)
{
	struct chs_service *svc;
	int err;

	err = chs_nl_service(req, &svc);
	if (err == -ENOENT && req->flags & CHS_FLAG_IF_EXISTS) {
		req->msg.len = 0;
		return 0;
	}
	return err ?: chs_txn_del(req->cn, req->txn, svc);
}

int chsteer_nl_service_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_change(skb, info, CHS_FLAG_IF_EXISTS, service_del);
}

static int service_get(struct chs_request *req)
{
	struct chs_service *svc;
	int err;

	err = chs_nl_service(req, &svc);
	return err ?: chs_nl_put_service(req->reply, svc,
					 chs_nl_may_see_seed(req->skb, svc));
}

int chsteer_nl_service_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_answer(skb, info, 0, service_get);
}

static bool dump_service(struct sk_buff *skb, struct netlink_callback *cb,
			 const struct chs_service *svc)
{
	void *head = chs_nl_dump_put(skb, cb, CHS_CMD_SERVICE_GET);

	if (!head)
		return false;
	if (chs_nl_put_service(skb, svc, chs_nl_may_see_seed(cb->skb, svc))) {
		genlmsg_cancel(skb, head);
		return false;
	}
	genlmsg_end(skb, head);
	return true;
}

int chsteer_nl_service_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb)
{
	struct chs_net *cn = chs_net(sock_net(skb->sk));
	u32 *at = (u32 *)cb->ctx, next = *at;
	const struct chs_service *svc, *only;
	const struct chs_table *table;
	int err;

	err = chs_nl_dump_table_begin(cn, cb, &table);
	if (!err)
		err = chs_nl_dump_filter(cb, table, 0, NULL, &only);
	if (!err && only && !next && dump_service(skb, cb, only))
		*at = 1;
	while (!err && !only && (svc = chs_table_next(table, &next)) &&
	       dump_service(skb, cb, svc))
		*at = next;
	chs_nl_dump_table_end(cn, cb);
	return err ?: skb->len;
}
