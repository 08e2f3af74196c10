// SPDX-License-Identifier: GPL-2.0-only
/* Requests about backends. */
#include "netlink.h"

#include "endpoint.h"
#include "netlink_gen.h"
#include "netns.h"
#include "vrf.h"

#include <net/genetlink.h>
#include <net/sock.h>

/**
 * struct endpoint - one CHS_A_BACKEND of a request
 * @tb: its attributes
 * @attr: the nest
 * @addr: address
 * @port: port, if @has_port
 * @has_port: whether a port is given
 */
struct endpoint {
	struct nlattr *tb[CHS_A_BACKEND_MAX + 1];
	const struct nlattr *attr;
	union chs_addr addr;
	__be16 port;
	bool has_port;
};

/**
 * struct setting - what a request gives a backend
 * @weight: weight, if @has_weight
 * @state: enum chsteer_state, if @has_state
 * @deadline: seconds; 0 for none
 * @delete: whether the backend goes at the deadline
 * @has_weight: whether a weight is given
 * @has_state: whether a state is given
 * @has_zone: whether a zone is given
 * @zone: label
 */
struct setting {
	u32 weight;
	u32 state;
	u32 deadline;
	bool delete;
	bool has_weight;
	bool has_state;
	bool has_zone;
	char zone[CHS_ZONE_LEN];
};

static int parse_endpoint(struct chs_request *req, const struct nlattr *attr,
			  struct endpoint *end)
{
	struct nlattr **tb = end->tb;
	int err;

	end->attr = attr;
	err = chs_nl_parse(tb, CHS_A_BACKEND_MAX, attr,
			   chsteer_backend_nl_policy, &req->msg);
	if (err)
		return err;
	if (!tb[CHS_A_BACKEND_ADDRESS])
		return chs_nl_missing(attr, "backend address",
				      &req->msg);
	err = chs_nl_host(tb[CHS_A_BACKEND_ADDRESS], "backend address",
			  &end->addr, &req->msg);
	if (err)
		return err;

	end->has_port = tb[CHS_A_BACKEND_PORT];
	end->port = end->has_port ? nla_get_be16(tb[CHS_A_BACKEND_PORT]) : 0;
	if (end->has_port && !end->port)
		return chs_msg_fail(&req->msg, -EINVAL, tb[CHS_A_BACKEND_PORT],
				    "backend port 0 is none; leave it out for the service's");
	return 0;
}

static int parse_drain(struct chs_request *req, const struct endpoint *end,
		       struct setting *set)
{
	const struct nlattr *deadline = end->tb[CHS_A_BACKEND_DEADLINE];
	const struct nlattr *delete = end->tb[CHS_A_BACKEND_DELETE];

	set->delete = delete;
	if ((deadline || delete) &&
	    (!set->has_state || set->state != CHS_STATE_DRAIN))
		return chs_msg_fail(&req->msg, -EINVAL, deadline ?: delete,
				    "%s is only for state drain",
				    deadline ? "deadline" : "delete");
	if (delete && !deadline)
		return chs_msg_fail(&req->msg, -EINVAL, delete,
				    "delete needs a deadline after which to do it");
	return chs_nl_number(deadline, "deadline", 1, CHS_DEADLINE_MAX,
			     &set->deadline, &req->msg);
}

static int parse_setting(struct chs_request *req, const struct endpoint *end,
			 struct setting *set)
{
	struct nlattr *const *tb = end->tb;
	int err;

	memset(set, 0, sizeof(*set));
	set->has_weight = tb[CHS_A_BACKEND_WEIGHT];
	set->has_state = tb[CHS_A_BACKEND_STATE];
	set->has_zone = tb[CHS_A_BACKEND_ZONE];

	err = chs_nl_number(tb[CHS_A_BACKEND_WEIGHT], "weight", 0,
			    CHS_RING_WEIGHT_MAX, &set->weight, &req->msg);
	if (err)
		return err;
	err = chs_nl_number(tb[CHS_A_BACKEND_STATE], "state", CHS_STATE_UP,
			    CHS_STATE_DOWN, &set->state, &req->msg);
	if (err)
		return err;
	if (set->has_zone) {
		err = chs_nl_label(tb[CHS_A_BACKEND_ZONE], "zone", false,
				   set->zone, sizeof(set->zone), &req->msg);
		if (err)
			return err;
	}
	return parse_drain(req, end, set);
}

/*
 * Assign only values that differ: setting the state in force does not restart
 * its deadline.
 */
static void apply_setting(struct chs_backend *backend,
			  const struct setting *set)
{
	if (set->has_weight)
		backend->weight = set->weight;
	if (set->has_zone)
		strscpy(backend->zone, set->zone, sizeof(backend->zone));
	if (set->has_state)
		chs_backend_set_state(backend, set->state, set->deadline,
				      set->delete);
}

static int walk_endpoints(struct chs_request *req,
			  int (*func)(struct chs_request *req,
				      struct endpoint *end))
{
	const struct nlattr *attr;
	struct endpoint end;
	bool any = false;
	int rem, err;

	nlmsg_for_each_attr(attr, req->info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != CHS_A_BACKEND)
			continue;
		any = true;
		err = parse_endpoint(req, attr, &end);
		if (!err)
			err = func(req, &end);
		if (err)
			return err;
	}
	return any ? 0 : chs_nl_missing(NULL, "backend", &req->msg);
}

static void endpoint_id(const struct chs_service *svc,
			const struct endpoint *end, struct chs_ring_id *id)
{
	id->addr = end->addr;
	id->port = end->has_port ? end->port : chs_service_default_port(svc);
}

static int check_family(struct chs_request *req, const struct chs_service *svc,
			const struct endpoint *end)
{
	bool v4 = chs_addr_is_v4(&end->addr);
	char buf[CHS_ENDPOINT_STRLEN];

	if (!chs_mode_is_tunnel(svc->mode)) {
		if (v4 == chs_addr_is_v4(&svc->addr))
			return 0;
		return chs_msg_fail(&req->msg, -EINVAL,
				    end->tb[CHS_A_BACKEND_ADDRESS],
				    "backend address %s is not IPv%c like service '%s', which mode %s needs",
				    chs_addr_str(buf, &end->addr),
				    chs_service_is_v6(svc) ? '6' : '4',
				    svc->name, chs_nl_mode_name(svc->mode));
	}

	if (!chs_service_has_source(svc) || v4 == chs_addr_is_v4(&svc->source))
		return 0;
	return chs_msg_fail(&req->msg, -EINVAL, end->tb[CHS_A_BACKEND_ADDRESS],
			    "backend address %s is not IPv%c like the source of service '%s'",
			    chs_addr_str(buf, &end->addr),
			    chs_addr_is_v4(&svc->source) ? '4' : '6',
			    svc->name);
}

/* In a direct mode the packet's port stays what it is. */
static int check_port(struct chs_request *req, const struct chs_service *svc,
		      const struct endpoint *end, const struct chs_ring_id *id)
{
	if (!chs_service_is_direct(svc) ||
	    id->port == chs_service_default_port(svc))
		return 0;
	return chs_msg_fail(&req->msg, -EINVAL, end->tb[CHS_A_BACKEND_PORT],
			    "backend port %u of service '%s': mode %s cannot change ports",
			    ntohs(id->port), svc->name,
			    chs_nl_mode_name(svc->mode));
}

/* Routes and addresses may come later: no reason to refuse a backend. */
static void warn_of_obstacle(struct chs_request *req,
			     const struct chs_service *svc,
			     const struct chs_ring_id *id)
{
	struct chs_endpoint_key key = {
		.addr = id->addr,
		.source = svc->source,
		.vrf = svc->vrf,
		.mode = svc->mode,
	};
	char buf[CHS_ENDPOINT_STRLEN];
	const char *what;

	if (!chs_service_is_direct(svc))
		return;
	/* Its absence has been told with the service. */
	if (svc->vrf_ref && !chs_vrf_ifindex(svc->vrf_ref))
		return;
	switch (chs_endpoint_judge(&key, svc->vrf_ref, req->cn->net)) {
	case CHS_OBSTACLE_NO_ROUTE:
		what = "no route leads to it";
		break;
	case CHS_OBSTACLE_OFF_LINK:
		what = "it is behind a gateway, which mode route cannot reach";
		break;
	case CHS_OBSTACLE_OWN_ADDRESS:
		what = "the address is this host's own";
		break;
	default:
		return;
	}
	chs_msg_warn(&req->msg, "backend %s of service '%s': %s",
		     chs_endpoint_str(buf, &id->addr, id->port), svc->name,
		     what);
}

/*
 * In a transaction that replaces everything, backends not named yet will be
 * deleted: they do not count.
 */
static bool is_full(const struct chs_request *req,
		    const struct chs_service *svc)
{
	u32 i, n = 0;

	if (svc->n_backends < CHS_RING_NODES_MAX || !chs_nl_says_all(req))
		return svc->n_backends >= CHS_RING_NODES_MAX;

	for (i = 0; i < svc->n_backends; i++)
		n += svc->backends[i].named;
	return n >= CHS_RING_NODES_MAX;
}

static int add_backend(struct chs_request *req, struct chs_service *svc,
		       const struct endpoint *end,
		       const struct chs_ring_id *id,
		       struct chs_backend **backend)
{
	char buf[CHS_ENDPOINT_STRLEN];

	if (is_full(req, svc))
		return chs_msg_fail(&req->msg, -ENOSPC, end->attr,
				    "backend %s would be one more than the %u that service '%s' may have",
				    chs_endpoint_str(buf, &id->addr, id->port),
				    CHS_RING_NODES_MAX, svc->name);
	return chs_backend_add(svc, id, backend);
}

/* Make a backend that is there what the request says, defaults included. */
static int replace_backend(struct chs_request *req,
			   const struct chs_service *svc,
			   const struct endpoint *end,
			   struct chs_backend *backend, struct setting *set)
{
	char buf[CHS_ENDPOINT_STRLEN];

	if (backend->named || !(req->flags & CHS_FLAG_REPLACE))
		return chs_msg_fail(&req->msg, -EEXIST, end->attr,
				    "backend %s of service '%s' is %s",
				    chs_endpoint_str(buf, &backend->id.addr,
						     backend->id.port),
				    svc->name, backend->named ?
				    "named twice" : "there already");

	if (!set->has_weight)
		set->weight = svc->conf.unit;
	set->has_weight = true;
	set->has_zone = true;
	/* The same state for the same time: what has begun goes on. */
	set->has_state = backend->state != set->state ||
			 backend->deadline != set->deadline ||
			 backend->delete != set->delete;
	apply_setting(backend, set);
	return 0;
}

static int backend_new_one(struct chs_request *req, struct endpoint *end)
{
	struct chs_backend *backend;
	struct chs_service *svc;
	struct chs_ring_id id;
	struct setting set;
	int err;

	err = chs_nl_service(req, &svc);
	if (err)
		return err;
	endpoint_id(svc, end, &id);
	err = check_family(req, svc, end);
	if (err)
		return err;
	err = check_port(req, svc, end, &id);
	if (err)
		return err;
	err = parse_setting(req, end, &set);
	if (err)
		return err;

	svc = chs_txn_edit(req->cn, req->txn, svc);
	if (!svc)
		return -ENOMEM;

	backend = chs_backend_find(svc, &id);
	if (backend) {
		err = replace_backend(req, svc, end, backend, &set);
	} else {
		err = add_backend(req, svc, end, &id, &backend);
		if (err)
			return err;
		apply_setting(backend, &set);
		warn_of_obstacle(req, svc, &id);
	}
	if (!err)
		backend->named = true;
	return err;
}

static int backend_new(struct chs_request *req)
{
	return walk_endpoints(req, backend_new_one);
}

int chsteer_nl_backend_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_change(skb, info, CHS_FLAG_REPLACE, backend_new);
}

static bool matches(const struct chs_service *svc,
		    const struct chs_backend *backend,
		    const struct endpoint *end, bool every_service)
{
	struct chs_ring_id id;

	if (!chs_addr_equal(&backend->id.addr, &end->addr))
		return false;
	if (every_service && !end->has_port)
		return true;
	endpoint_id(svc, end, &id);
	return backend->id.port == id.port;
}

/* Apply @func to the backends of @svc that match; how many do, or an error. */
static int change_matches(struct chs_request *req, struct chs_service *svc,
			  const struct endpoint *end,
			  const struct setting *set)
{
	bool every_service = !req->info->attrs[CHS_A_SERVICE];
	int n = 0;
	u32 i = 0;

	while (i < svc->n_backends) {
		if (!matches(svc, &svc->backends[i], end, every_service)) {
			i++;
			continue;
		}
		svc = chs_txn_edit(req->cn, req->txn, svc);
		if (!svc)
			return -ENOMEM;
		n++;
		if (set)
			apply_setting(&svc->backends[i++], set);
		else
			chs_backend_del(svc, &svc->backends[i]);
	}
	return n;
}

static int no_match(struct chs_request *req, const struct endpoint *end,
		    const struct chs_service *svc)
{
	char buf[CHS_ENDPOINT_STRLEN];
	struct chs_ring_id id = { .addr = end->addr, .port = end->port };

	if (!svc)
		return chs_msg_fail(&req->msg, -ENOENT, end->attr,
				    "no service has backend %s",
				    chs_endpoint_str(buf, &id.addr, id.port));
	endpoint_id(svc, end, &id);
	return chs_msg_fail(&req->msg, -ENOENT, end->attr,
			    "service '%s' has no backend %s", svc->name,
			    chs_endpoint_str(buf, &id.addr, id.port));
}

/* Give @set to, or without it delete, what an endpoint of a request matches. */
static int change_endpoint(struct chs_request *req, const struct endpoint *end,
			   const struct setting *set)
{
	struct chs_service *svc = NULL;
	int n, found = 0;
	u32 at = 0;

	if (req->info->attrs[CHS_A_SERVICE]) {
		n = chs_nl_service(req, &svc);
		if (n)
			return n;
		found = change_matches(req, svc, end, set);
	} else {
		/* An edit puts a clone in the place of what is walked over. */
		while ((svc = chs_table_next(chs_txn_table(req->cn, req->txn),
					     &at))) {
			n = change_matches(req, svc, end, set);
			if (n < 0)
				return n;
			found += n;
		}
	}
	if (found < 0)
		return found;
	return found ? 0 : no_match(req, end, svc);
}

static int backend_set_one(struct chs_request *req, struct endpoint *end)
{
	char buf[CHS_ENDPOINT_STRLEN];
	struct setting set;
	int err;

	err = parse_setting(req, end, &set);
	if (err)
		return err;
	if (!set.has_weight && !set.has_state && !set.has_zone)
		return chs_msg_fail(&req->msg, -EINVAL, end->attr,
				    "nothing to set for backend %s",
				    chs_endpoint_str(buf, &end->addr,
						     end->port));
	return change_endpoint(req, end, &set);
}

static int backend_set(struct chs_request *req)
{
	return walk_endpoints(req, backend_set_one);
}

int chsteer_nl_backend_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_change(skb, info, 0, backend_set);
}

static int backend_del_one(struct chs_request *req, struct endpoint *end)
{
	int err = change_endpoint(req, end, NULL);

	if (err == -ENOENT && req->flags & CHS_FLAG_IF_EXISTS) {
		req->msg.len = 0;
		return 0;
	}
	return err;
}

static int backend_del(struct chs_request *req)
{
	return walk_endpoints(req, backend_del_one);
}

int chsteer_nl_backend_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_change(skb, info, CHS_FLAG_IF_EXISTS, backend_del);
}

static int backend_get(struct chs_request *req)
{
	const struct chs_backend *backend;
	struct chs_service *svc;
	struct chs_ring_id id;
	struct endpoint end;
	int err;

	if (!req->info->attrs[CHS_A_BACKEND])
		return chs_nl_missing(NULL, "backend", &req->msg);
	err = parse_endpoint(req, req->info->attrs[CHS_A_BACKEND], &end);
	if (err)
		return err;
	err = chs_nl_service(req, &svc);
	if (err)
		return err;

	endpoint_id(svc, &end, &id);
	backend = chs_backend_find(svc, &id);
	return backend ? chs_nl_put_backend(req->reply, svc, backend) :
			 no_match(req, &end, svc);
}

int chsteer_nl_backend_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return chs_nl_answer(skb, info, 0, backend_get);
}

/**
 * struct dump_place - where a dump of backends goes on
 * @service: place in chs_table_next()
 * @backend: index in that service
 */
struct dump_place {
	u32 service;
	u32 backend;
};

static int dump_service(struct sk_buff *skb, struct netlink_callback *cb,
			const struct chs_service *svc, u32 *at)
{
	void *head;

	for (; *at < svc->n_backends; (*at)++) {
		head = chs_nl_dump_put(skb, cb, CHS_CMD_BACKEND_GET);
		if (!head)
			return -EMSGSIZE;
		if (chs_nl_put_backend(skb, svc, &svc->backends[*at])) {
			genlmsg_cancel(skb, head);
			return -EMSGSIZE;
		}
		genlmsg_end(skb, head);
	}
	*at = 0;
	return 0;
}

static void dump_all(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct chs_table *table)
{
	struct dump_place *place = (struct dump_place *)cb->ctx;
	u32 next = place->service;
	const struct chs_service *svc;

	while ((svc = chs_table_next(table, &next))) {
		if (dump_service(skb, cb, svc, &place->backend))
			return;
		place->service = next;
	}
}

int chsteer_nl_backend_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb)
{
	struct dump_place *place = (struct dump_place *)cb->ctx;
	struct chs_net *cn = chs_net(sock_net(skb->sk));
	const struct chs_table *table;
	const struct chs_service *svc;
	int err;

	err = chs_nl_dump_table_begin(cn, cb, &table);
	if (!err)
		err = chs_nl_dump_filter(cb, table, CHS_A_BACKEND,
					 "a dump of backends takes no backend",
					 &svc);
	if (!err && svc && !place->service) {
		/* Once through, the one service is not begun again. */
		if (!dump_service(skb, cb, svc, &place->backend))
			place->service = 1;
	} else if (!err && !svc) {
		dump_all(skb, cb, table);
	}
	chs_nl_dump_table_end(cn, cb);
	return err ?: skb->len;
}
