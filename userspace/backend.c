// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl backend
 */
#include <string.h>
#include <time.h>

#include "cmd.h"
#include "err.h"
#include "out.h"
#include "show.h"

/* In the order of enum chsteer_obstacle. */
static const char *const obstacles[] = {
	"none",
	"no route",
	"off-link",
	"own address",
	"source not local",
	"no answer from neighbour",
	"shares a MAC address with clients",
	NULL
};

/* Endpoints end where the first option begins. */
static int count_endpoints(const struct ctl_args *args)
{
	int n = 1;

	while (n < args->argc && !ctl_keyword_find(ctl_backend_keywords, UINT32_MAX, args->argv[n]))
		n++;
	return n - 1;
}

/**
 * ctl_backend_endpoint() - one of the backends that a command is about
 * @args: its arguments
 * @i: which, from 1 on
 * @ep: its address, perhaps with a port
 *
 * Return: CTL_OK or CTL_USAGE.
 */
int ctl_backend_endpoint(const struct ctl_args *args, int i, struct ctl_endpoint *ep)
{
	/* More likely a mistyped option than an address. */
	if (i > 1 && !strpbrk(args->argv[i], "0123456789.:[]"))
		return ctl_usage("'%s': neither an address nor an option", args->argv[i]);
	return ctl_parse_plain_endpoint("backend", args->argv[i], false, ep);
}

static int put_backends(struct nl_msg *msg, const struct ctl_args *args, int n,
			const struct ctl_backend *be)
{
	struct ctl_endpoint ep;
	int i, ret;

	for (i = 1; i <= n; i++) {
		ret = ctl_backend_endpoint(args, i, &ep);
		if (!ret)
			ret = ctl_put_backend(msg, &ep, be);
		if (ret)
			return ret;
	}
	return CTL_OK;
}

static int no_endpoint(const struct ctl_args *args)
{
	return ctl_usage("'%s': ENDPOINT expected", args->argv[1]);
}

/* @any: service "*" stands for every service that has the backends. */
static int build(const struct ctl_args *args, uint8_t cmd, int n,
		 const struct ctl_backend *be, bool any, struct nl_msg **msg)
{
	const char *name = args->argv[0];
	const size_t room = CTL_BACKEND_ROOM + (be->zone ? strlen(be->zone) : 0);
	int ret = CTL_OK;

	if (!n)
		return no_endpoint(args);
	*msg = ctl_cmd_request(args, cmd, strlen(name) + n * room);
	if (!*msg)
		return CTL_FAILED;
	if (!any || strcmp(name, "*"))
		ret = ctl_put_service_name(*msg, name);
	if (!ret)
		ret = put_backends(*msg, args, n, be);
	if (ret) {
		nlmsg_free(*msg);
		*msg = NULL;
	}
	return ret;
}

static int parse_options(const struct ctl_args *args, int n, struct ctl_backend *be)
{
	return ctl_parse_keywords(ctl_backend_keywords, args->cmd->allowed,
				  args->argv + 1 + n, be, &be->present);
}

/**
 * ctl_backend_parse() - what is said of new backends
 * @args: arguments of backend add
 * @be: their options; its strings are among the arguments
 * @n: number of backends, for ctl_backend_endpoint()
 *
 * Return: CTL_OK, CTL_USAGE or CTL_FAILED.
 */
int ctl_backend_parse(const struct ctl_args *args, struct ctl_backend *be, int *n)
{
	memset(be, 0, sizeof(*be));
	*n = count_endpoints(args);
	return *n ? parse_options(args, *n, be) : no_endpoint(args);
}

/**
 * ctl_backend_add() - chctl backend add
 * @args: its arguments
 * @msg: the request that does it
 *
 * Return: CTL_OK, CTL_USAGE or CTL_FAILED.
 */
int ctl_backend_add(struct ctl_args *args, struct nl_msg **msg)
{
	struct ctl_backend be;
	int n, ret;

	ret = ctl_backend_parse(args, &be, &n);
	return ret ? ret : build(args, CHS_CMD_BACKEND_NEW, n, &be, false, msg);
}

/**
 * ctl_backend_replace() - chctl backend replace
 * @args: its arguments
 * @msg: the request that does it
 *
 * Return: CTL_OK, CTL_USAGE or CTL_FAILED.
 */
int ctl_backend_replace(struct ctl_args *args, struct nl_msg **msg)
{
	args->flags |= CHS_FLAG_REPLACE;
	return ctl_backend_add(args, msg);
}

/**
 * ctl_backend_set() - chctl backend set
 * @args: its arguments
 * @msg: the request that does it
 *
 * Return: CTL_OK, CTL_USAGE or CTL_FAILED.
 */
int ctl_backend_set(struct ctl_args *args, struct nl_msg **msg)
{
	const int n = count_endpoints(args);
	struct ctl_backend be = {};
	int ret;

	ret = parse_options(args, n, &be);
	if (!ret && !be.present)
		ret = ctl_usage("nothing to set: chctl backend set %s", args->cmd->usage);
	return ret ? ret : build(args, CHS_CMD_BACKEND_SET, n, &be, true, msg);
}

/**
 * ctl_backend_drain() - chctl backend drain
 * @args: its arguments
 * @msg: the request that does it
 *
 * Return: CTL_OK, CTL_USAGE or CTL_FAILED.
 */
int ctl_backend_drain(struct ctl_args *args, struct nl_msg **msg)
{
	const int n = count_endpoints(args);
	struct ctl_backend be = {};
	int ret;

	ret = parse_options(args, n, &be);
	be.state = CHS_STATE_DRAIN;
	be.present |= CTL_BIT(CHS_A_BACKEND_STATE);
	return ret ? ret : build(args, CHS_CMD_BACKEND_SET, n, &be, true, msg);
}

/**
 * ctl_backend_del() - chctl backend del
 * @args: its arguments
 * @msg: the request that does it
 *
 * Return: CTL_OK, CTL_USAGE or CTL_FAILED.
 */
int ctl_backend_del(struct ctl_args *args, struct nl_msg **msg)
{
	const struct ctl_backend be = {};

	return build(args, CHS_CMD_BACKEND_DEL, args->argc - 1, &be, true, msg);
}

/**
 * ctl_target_weight() - what a backend's part of new flows is made of
 * @be: backend
 *
 * Return: its weight, or 0 if it takes no new flows.
 */
uint64_t ctl_target_weight(const struct ctl_backend *be)
{
	return be->state == CHS_STATE_UP ? be->weight : 0;
}

/**
 * ctl_total_weight() - what the parts of a service's backends are parts of
 * @snap: snapshot
 * @svc: service in it
 *
 * Return: sum of ctl_target_weight().
 */
uint64_t ctl_total_weight(const struct ctl_snap *snap, const struct ctl_service *svc)
{
	uint64_t total = 0;
	uint32_t i;

	for (i = 0; i < svc->n; i++)
		total += ctl_target_weight(&snap->backends[svc->first + i]);
	return total;
}

static void show_since(uint64_t since)
{
	const time_t when = since;
	char buf[32] = "-";
	struct tm tm;

	if (gmtime_r(&when, &tm))
		strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%SZ", &tm);
	ctl_out_str(CTL_OUT_ANY, "since", buf);
}

static void show_deadline(const struct ctl_backend *be)
{
	const bool set = be->present & CTL_BIT(CHS_A_BACKEND_DEADLINE);

	ctl_out_maybe(CTL_OUT_JSON, "deadline", set, be->deadline);
	ctl_out_maybe(CTL_OUT_ANY, "deadline_left",
		      be->status & CTL_BIT(CHS_A_BACKEND_STATUS_DEADLINE_LEFT),
		      be->deadline_left);
	ctl_out_bool(CTL_OUT_JSON, "delete", be->present & CTL_BIT(CHS_A_BACKEND_DELETE));
}

static void show_key(const struct ctl_backend *be)
{
	ctl_out_str(CTL_OUT_TEXT, NULL, ctl_endpoint_text(&be->ep));
	ctl_out_str(CTL_OUT_JSON, "address", ctl_addr_text(&be->ep.addr));
	ctl_out_u64(CTL_OUT_JSON, "port", be->ep.port);
	ctl_out_u64(CTL_OUT_ANY, "weight", be->weight);
	ctl_out_str(CTL_OUT_ANY, "state", ctl_choice_name(ctl_states, be->state));
}

static void show_traffic(const struct ctl_backend *be)
{
	ctl_out_u64(CTL_OUT_ANY, "packets", be->packets);
	ctl_out_u64(CTL_OUT_ANY, "bytes", be->bytes);
	ctl_out_maybe(CTL_OUT_ANY, "new_flows",
		      be->status & CTL_BIT(CHS_A_BACKEND_STATUS_NEW_FLOWS), be->new_flows);
	ctl_out_maybe(CTL_OUT_ANY, "tracked_flows",
		      be->status & CTL_BIT(CHS_A_BACKEND_STATUS_TRACKED_FLOWS),
		      be->tracked_flows);
	ctl_out_maybe(CTL_OUT_ANY, "idle", be->status & CTL_BIT(CHS_A_BACKEND_STATUS_IDLE),
		      be->idle);
}

/*
 * Name of the obstacle that keeps packets from a backend; NULL if none is
 * known.
 */
static const char *obstacle_text(const struct ctl_backend *be)
{
	return be->obstacle == CHS_OBSTACLE_NONE ? NULL : ctl_choice_name(obstacles, be->obstacle);
}

/* Clients that share its MAC address do not reach it, all others do. */
static bool is_reachable(const struct ctl_backend *be)
{
	return !obstacle_text(be) || be->obstacle == CHS_OBSTACLE_SENT_BACK;
}

static void show_reachable(const struct ctl_backend *be)
{
	const char *why = obstacle_text(be);

	if (be->status & CTL_BIT(CHS_A_BACKEND_STATUS_OBSTACLE)) {
		ctl_out_str(CTL_OUT_TEXT, "reachable", is_reachable(be) ? "yes" : "no");
		ctl_out_bool(CTL_OUT_JSON, "reachable", is_reachable(be));
	} else {
		ctl_out_null(CTL_OUT_ANY, "reachable");
	}
	ctl_out_str(CTL_OUT_ANY, "why", why);
}

/**
 * ctl_show_backend() - a backend with all that is known of it
 * @snap: snapshot that it is in
 * @be: backend
 * @total: weight of all that take new flows
 * @named: name its service
 */
void ctl_show_backend(const struct ctl_snap *snap, const struct ctl_backend *be,
		      uint64_t total, bool named)
{
	const struct ctl_service *svc = &snap->services[be->service];

	ctl_out_open(CTL_OUT_OBJECT, NULL);
	if (named)
		ctl_out_str(CTL_OUT_BARE, "service", svc->name);
	show_key(be);
	ctl_out_str(CTL_OUT_ANY, "zone", be->zone);
	ctl_out_u64(CTL_OUT_ANY, "slots", be->slots);
	ctl_out_share(CTL_OUT_ANY, "share", be->slots, svc->slots);
	ctl_out_share(CTL_OUT_ANY, "target", ctl_target_weight(be), total);
	show_traffic(be);
	show_since(be->since);
	show_deadline(be);
	show_reachable(be);
	ctl_out_maybe(CTL_OUT_ANY, "sent_back",
		      be->status & CTL_BIT(CHS_A_BACKEND_STATUS_SENT_BACK), be->sent_back);
	ctl_out_close();
}

static double target_part(const struct ctl_backend *be, uint64_t total)
{
	return total ? (double)ctl_target_weight(be) / total : 0;
}

/* The largest share or target, to which bars are drawn. */
static double largest_part(const struct ctl_snap *snap, const struct ctl_service *svc)
{
	const uint64_t total = ctl_total_weight(snap, svc);
	double most = 0, share, target;
	uint32_t i;

	for (i = 0; i < svc->n && svc->slots; i++) {
		const struct ctl_backend *be = &snap->backends[svc->first + i];

		share = (double)be->slots / svc->slots;
		target = target_part(be, total);
		most = share > most ? share : most;
		most = target > most ? target : most;
	}
	return most;
}

/**
 * ctl_show_backends() - the backends beneath their service
 * @snap: snapshot
 * @svc: service in it
 * @ring_only: leave out what has nothing to do with shares
 */
void ctl_show_backends(const struct ctl_snap *snap, const struct ctl_service *svc,
		       bool ring_only)
{
	const uint64_t total = ctl_total_weight(snap, svc);
	const double full = largest_part(snap, svc);
	uint32_t i;

	ctl_out_open(CTL_OUT_LIST, "backends");
	for (i = 0; i < svc->n; i++) {
		const struct ctl_backend *be = &snap->backends[svc->first + i];

		if (!ring_only && ctl_out_is_json()) {
			ctl_show_backend(snap, be, total, true);
			continue;
		}
		ctl_out_open(CTL_OUT_OBJECT, NULL);
		show_key(be);
		if (ring_only)
			ctl_out_u64(CTL_OUT_ANY, "slots", be->slots);
		ctl_out_share(CTL_OUT_ANY, "share", be->slots, svc->slots);
		ctl_out_share(CTL_OUT_ANY, "target", ctl_target_weight(be), total);
		if (ring_only)
			ctl_out_bar((double)be->slots / svc->slots, target_part(be, total), full);
		if (!ring_only)
			ctl_out_u64(CTL_OUT_TEXT, "packets", be->packets);
		if (!ring_only && !is_reachable(be))
			ctl_out_str(CTL_OUT_TEXT, "unreachable", obstacle_text(be));
		ctl_out_close();
	}
	ctl_out_close();
}

/**
 * ctl_backend_show() - chctl backend show
 * @args: its arguments
 *
 * Return: exit status.
 */
int ctl_backend_show(struct ctl_args *args)
{
	struct ctl_snap snap;
	uint32_t i, j;
	int ret;

	ret = ctl_snap_all(&snap, args->argv[0]);
	if (ret)
		return ret;

	ctl_out_open(CTL_OUT_LIST, NULL);
	for (i = 0; i < snap.n_services; i++) {
		const struct ctl_service *svc = &snap.services[i];
		const uint64_t total = ctl_total_weight(&snap, svc);

		for (j = 0; j < svc->n; j++)
			ctl_show_backend(&snap, &snap.backends[svc->first + j], total, true);
	}
	ctl_out_close();
	ctl_snap_free(&snap);
	return CTL_OK;
}
