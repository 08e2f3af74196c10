// SPDX-License-Identifier: GPL-2.0-only
/*
 * Services and backends to and from netlink messages.
 *
 * Options go both ways through the tables of keywords that also parse the
 * command line and write the configuration file.
 */
#include "model.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"

const char *const ctl_modes[] = { "nat", "route", "ipip", "gue", NULL };
const char *const ctl_hashes[] = { "5tuple", "src", NULL };
const char *const ctl_on_empties[] = { "reject", "drop", "pass", NULL };
const char *const ctl_states[] = { "up", "drain", "down", NULL };
const char *const ctl_affinities[] = { "ring", "transition", "flow", NULL };
const char *const ctl_reasons[] = { "ring", "flow", "former-owner", "conntrack", NULL };
static const char *const off_on[] = { "off", "on", NULL };

/* Indexed by attribute. */
const char *const ctl_drop_reasons[CHS_A_DROPS_MAX + 1] = {
	[CHS_A_DROPS_NO_BACKEND] = "no_backend",
	[CHS_A_DROPS_UNTRACKED] = "untracked",
	[CHS_A_DROPS_INVALID] = "invalid",
	[CHS_A_DROPS_UNTRANSLATED] = "untranslated",
	[CHS_A_DROPS_CONNTRACK_FULL] = "conntrack_full",
	[CHS_A_DROPS_NAT_FAILED] = "nat_failed",
	[CHS_A_DROPS_MALFORMED] = "malformed",
	[CHS_A_DROPS_MARTIAN] = "martian",
	[CHS_A_DROPS_SOURCE_ROUTE] = "source_route",
	[CHS_A_DROPS_TTL] = "ttl",
	[CHS_A_DROPS_TOO_BIG] = "too_big",
	[CHS_A_DROPS_FRAGMENT] = "fragment",
	[CHS_A_DROPS_NO_ROUTE] = "no_route",
	[CHS_A_DROPS_OFF_LINK] = "off_link",
	[CHS_A_DROPS_OWN_ADDRESS] = "own_address",
	[CHS_A_DROPS_BAD_SOURCE] = "bad_source",
	[CHS_A_DROPS_SENT_BACK] = "sent_back",
	[CHS_A_DROPS_NO_MEMORY] = "no_memory",
	[CHS_A_DROPS_IPSEC_POLICY] = "ipsec_policy",
	[CHS_A_DROPS_SCOPE] = "scope",
	[CHS_A_DROPS_LOOPED] = "looped",
};

const char *const ctl_icmp_reasons[CHS_A_ICMP_IGNORED_MAX + 1] = {
	[CHS_A_ICMP_IGNORED_BAD_CHECKSUM] = "bad_checksum",
	[CHS_A_ICMP_IGNORED_NOT_LOCAL] = "not_local",
	[CHS_A_ICMP_IGNORED_BAD_SOURCE] = "bad_source",
	[CHS_A_ICMP_IGNORED_WRONG_BACKEND] = "wrong_backend",
	[CHS_A_ICMP_IGNORED_WRONG_PORT] = "wrong_port",
	[CHS_A_ICMP_IGNORED_TOO_LOW] = "too_low",
	[CHS_A_ICMP_IGNORED_NOT_LOWER] = "not_lower",
	[CHS_A_ICMP_IGNORED_NO_MEMORY] = "no_memory",
	[CHS_A_ICMP_IGNORED_NO_FLOW] = "no_flow",
};

#define SERVICE_KW(_name, _kind, _attr, _field, _values, _usage, _help) { \
	.name = _name, \
	.kind = CTL_KW_##_kind, \
	.attr = CHS_A_SERVICE_##_attr, \
	.offset = offsetof(struct ctl_service, _field), \
	.values = _values, \
	.usage = _usage, \
	.help = _help, \
}

/* In the order of the configuration file. */
const struct ctl_keyword ctl_service_keywords[] = {
	SERVICE_KW("mode", CHOICE, MODE, mode, ctl_modes,
		   "nat | route | ipip | gue", "how packets reach a backend (nat)"),
	SERVICE_KW("hash", CHOICE, HASH, hash, ctl_hashes,
		   "5tuple | src", "what of a flow picks its backend (5tuple)"),
	SERVICE_KW("points", NUMBER, POINTS, points, NULL,
		   "1-4096", "points of a standard backend on the ring (768)"),
	SERVICE_KW("unit", NUMBER, UNIT, unit, NULL,
		   "1-10000", "weight of a standard backend (100)"),
	SERVICE_KW("slots", NUMBER, SLOTS, slots, NULL,
		   "256-1048576", "arcs of the ring, a power of two (65536)"),
	SERVICE_KW("balance", HUNDREDTHS, BALANCE, balance, NULL,
		   "off | 1.01-2.00", "most that a backend may own over its fair share (1.08)"),
	SERVICE_KW("seed", SEED, SEED, seed, NULL,
		   "default | HEX | @FILE", "key of every hash: 32 hex digits, or a file that holds them"),
	SERVICE_KW("affinity", CHOICE, AFFINITY, affinity, ctl_affinities,
		   "ring | transition | flow",
		   "what keeps a flow on its backend (transition; for udp flow)"),
	SERVICE_KW("window", NUMBER, WINDOW, window, NULL,
		   "1-86400", "seconds that a moved arc remembers its former owner (900)"),
	SERVICE_KW("max-flows", NUMBER, MAX_FLOWS, max_flows, NULL,
		   "0-16777216", "most flows that are remembered (262144)"),
	SERVICE_KW("timeout", NUMBER, TIMEOUT, timeout, NULL,
		   "SECONDS", "idleness after which a flow may be forgotten (the window)"),
	SERVICE_KW("on-empty", CHOICE, ON_EMPTY, on_empty, ctl_on_empties,
		   "reject | drop | pass", "new flows while no backend can take them (reject)"),
	SERVICE_KW("masquerade", CHOICE, MASQUERADE, masquerade, off_on,
		   "on | off", "replies return through this host whatever the routes (off)"),
	SERVICE_KW("gue-port", PORT, GUE_PORT, gue_port, NULL,
		   "PORT", "outer UDP port of mode gue (6080)"),
	SERVICE_KW("source", ADDRESS, SOURCE, source, NULL,
		   "default | ADDRESS", "outer source address of modes ipip and gue (by route)"),
	SERVICE_KW("vrf", STRING, VRF, vrf, NULL,
		   "NAME", "VRF device that packets must arrive in (none)"),
	{}
};

#define BACKEND_KW(_name, _kind, _attr, _field, _values, _usage, _help) { \
	.name = _name, \
	.kind = CTL_KW_##_kind, \
	.attr = CHS_A_BACKEND_##_attr, \
	.offset = offsetof(struct ctl_backend, _field), \
	.values = _values, \
	.usage = _usage, \
	.help = _help, \
}

const struct ctl_keyword ctl_backend_keywords[] = {
	BACKEND_KW("weight", NUMBER, WEIGHT, weight, NULL,
		   "0-10000", "share of new flows; 0 keeps only what it has (the service's unit)"),
	BACKEND_KW("state", CHOICE, STATE, state, ctl_states,
		   "up | drain | down", "all flows, only those it has, or none (up)"),
	BACKEND_KW("deadline", NUMBER, DEADLINE, deadline, NULL,
		   "SECONDS", "1-604800, after which a draining backend loses its flows"),
	BACKEND_KW("delete", FLAG, DELETE, present, NULL,
		   "", "the backend is removed when the deadline has passed"),
	BACKEND_KW("zone", STRING, ZONE, zone, NULL,
		   "LABEL", "up to 31 characters"),
	{}
};

/**
 * ctl_bad_reply() - record that an answer makes no sense
 *
 * Return: CTL_FAILED.
 */
int ctl_bad_reply(void)
{
	return ctl_fail(EBADMSG,
			"an answer of the module is malformed: do the versions match? (chctl -V)");
}

static int put_failed(void)
{
	return ctl_fail(EMSGSIZE, "the request is too large");
}

/**
 * ctl_put_txn() - leave room for the id of a transaction
 * @msg: request without any attribute yet
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_put_txn(struct nl_msg *msg)
{
	return nla_put_u32(msg, CHS_A_TXN, 0) ? put_failed() : CTL_OK;
}

/**
 * ctl_put_flags() - add flags to a request
 * @msg: request
 * @flags: CHS_FLAG_...; nothing is added for 0
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_put_flags(struct nl_msg *msg, uint32_t flags)
{
	return flags && nla_put_u32(msg, CHS_A_FLAGS, flags) ? put_failed() : CTL_OK;
}

static int put_options(struct nl_msg *msg, const struct ctl_keyword *kw,
		       const void *obj, uint32_t present)
{
	const struct ctl_addr *addr;
	const void *from;
	int ret = 0;

	for (; kw->name; kw++) {
		if (!(present & CTL_BIT(kw->attr)))
			continue;
		from = (const char *)obj + kw->offset;
		switch (kw->kind) {
		case CTL_KW_NUMBER:
		case CTL_KW_HUNDREDTHS:
			ret |= nla_put_u32(msg, kw->attr, *(const uint32_t *)from);
			break;
		case CTL_KW_CHOICE:
			ret |= nla_put_u8(msg, kw->attr, *(const uint32_t *)from);
			break;
		case CTL_KW_SEED:
			ret |= nla_put(msg, kw->attr, CTL_SEED_BYTES, from);
			break;
		case CTL_KW_STRING:
			ret |= nla_put_string(msg, kw->attr, *(const char *const *)from);
			break;
		case CTL_KW_FLAG:
			ret |= nla_put_flag(msg, kw->attr);
			break;
		case CTL_KW_PORT:
			ret |= nla_put_u16(msg, kw->attr, htons(*(const uint32_t *)from));
			break;
		case CTL_KW_ADDRESS:
			addr = from;
			ret |= nla_put(msg, kw->attr, addr->len, addr->b);
			break;
		}
	}

	return ret;
}

/**
 * ctl_put_service_name() - add a service by its name alone
 * @msg: request
 * @name: the name
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_put_service_name(struct nl_msg *msg, const char *name)
{
	struct nlattr *nest = nla_nest_start(msg, CHS_A_SERVICE | NLA_F_NESTED);

	if (!nest || nla_put_string(msg, CHS_A_SERVICE_NAME, name))
		return put_failed();
	nla_nest_end(msg, nest);
	return CTL_OK;
}

static int put_key(struct nl_msg *msg, const struct ctl_service *svc)
{
	int ret;

	ret = nla_put_u8(msg, CHS_A_SERVICE_PROTO, svc->proto);
	ret |= nla_put(msg, CHS_A_SERVICE_ADDRESS, svc->ep.addr.len, svc->ep.addr.b);
	if (svc->ep.kind == CTL_PORT_ANY)
		ret |= nla_put_flag(msg, CHS_A_SERVICE_ANY_PORT);
	else
		ret |= nla_put_u16(msg, CHS_A_SERVICE_PORT, htons(svc->ep.port));
	if (svc->ep.kind == CTL_PORT_RANGE)
		ret |= nla_put_u16(msg, CHS_A_SERVICE_PORT_END, htons(svc->ep.port_end));
	return ret;
}

/**
 * ctl_put_service() - add a service to a request
 * @msg: request
 * @svc: service; of its options those that are present are sent
 * @key: send protocol, address and port too
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_put_service(struct nl_msg *msg, const struct ctl_service *svc, bool key)
{
	struct nlattr *nest = nla_nest_start(msg, CHS_A_SERVICE | NLA_F_NESTED);
	uint32_t present = svc->present;

	/* A new service has the default key by not being given one. */
	if (key && !memcmp(svc->seed, ctl_seed_default, CTL_SEED_BYTES))
		present &= ~CTL_BIT(CHS_A_SERVICE_SEED);
	if (!nest || nla_put_string(msg, CHS_A_SERVICE_NAME, svc->name) ||
	    (key && put_key(msg, svc)) ||
	    put_options(msg, ctl_service_keywords, svc, present))
		return put_failed();
	nla_nest_end(msg, nest);
	return CTL_OK;
}

/**
 * ctl_put_backend() - add a backend to a request
 * @msg: request
 * @ep: its address, perhaps with a port
 * @be: its options; those that are present are sent
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_put_backend(struct nl_msg *msg, const struct ctl_endpoint *ep,
		    const struct ctl_backend *be)
{
	struct nlattr *nest = nla_nest_start(msg, CHS_A_BACKEND | NLA_F_NESTED);

	if (!nest || nla_put(msg, CHS_A_BACKEND_ADDRESS, ep->addr.len, ep->addr.b) ||
	    (ep->kind == CTL_PORT_ONE && nla_put_u16(msg, CHS_A_BACKEND_PORT, htons(ep->port))) ||
	    put_options(msg, ctl_backend_keywords, be, be->present))
		return put_failed();
	nla_nest_end(msg, nest);
	return CTL_OK;
}

/* Read what is there and long enough; the rest stays as it is. */
static uint8_t get_u8(const struct nlattr *nla, uint8_t otherwise)
{
	return nla && nla_len(nla) >= 1 ? nla_get_u8(nla) : otherwise;
}

static uint32_t get_u32(const struct nlattr *nla, uint32_t otherwise)
{
	return nla && nla_len(nla) >= 4 ? nla_get_u32(nla) : otherwise;
}

static uint64_t get_u64(const struct nlattr *nla)
{
	return nla && nla_len(nla) >= 8 ? nla_get_u64(nla) : 0;
}

static const char *get_string(const struct nlattr *nla)
{
	const int len = nla ? nla_len(nla) : 0;

	return len && !((const char *)nla_data(nla))[len - 1] ? nla_data(nla) : NULL;
}

static void get_options(struct nlattr **tb, const struct ctl_keyword *kw, void *obj,
			uint32_t *present)
{
	static const uint8_t unspecified[16];
	const struct nlattr *nla;
	struct ctl_endpoint ep;
	const char *string;
	void *to;

	for (; kw->name; kw++) {
		nla = tb[kw->attr];
		if (!nla)
			continue;
		to = (char *)obj + kw->offset;
		switch (kw->kind) {
		case CTL_KW_NUMBER:
		case CTL_KW_HUNDREDTHS:
			*(uint32_t *)to = get_u32(nla, 0);
			break;
		case CTL_KW_CHOICE:
			*(uint32_t *)to = get_u8(nla, 0);
			break;
		case CTL_KW_SEED:
			if (nla_len(nla) < CTL_SEED_BYTES)
				continue;
			memcpy(to, nla_data(nla), CTL_SEED_BYTES);
			break;
		case CTL_KW_STRING:
			string = get_string(nla);
			if (!string || !*string)
				continue;
			*(const char **)to = string;
			break;
		case CTL_KW_FLAG:
			break;
		case CTL_KW_PORT:
			ctl_get_endpoint(NULL, nla, &ep);
			*(uint32_t *)to = ep.port;
			break;
		case CTL_KW_ADDRESS:
			ctl_get_endpoint(nla, NULL, &ep);
			if (!memcmp(ep.addr.b, unspecified, sizeof(unspecified)))
				continue;
			*(struct ctl_addr *)to = ep.addr;
			break;
		}
		*present |= CTL_BIT(kw->attr);
	}
}

/**
 * ctl_get_endpoint() - read an address and a port
 * @addr: attribute of the address, NULL for none
 * @port: attribute of the port, NULL for none
 * @ep: where they go; port 0 means that the packet's is kept, and is none
 */
void ctl_get_endpoint(const struct nlattr *addr, const struct nlattr *port,
		      struct ctl_endpoint *ep)
{
	memset(ep, 0, sizeof(*ep));
	if (addr && (nla_len(addr) == 4 || nla_len(addr) == 16)) {
		ep->addr.len = nla_len(addr);
		memcpy(ep->addr.b, nla_data(addr), ep->addr.len);
	}
	if (port && nla_len(port) >= 2)
		ep->port = ntohs(nla_get_u16(port));
	if (ep->port)
		ep->kind = CTL_PORT_ONE;
}

/* The bits of the attributes that are there. */
static uint32_t told(struct nlattr **tb, int max)
{
	uint32_t bits = 0;
	int i;

	for (i = 0; i <= max; i++)
		bits |= tb[i] ? CTL_BIT(i) : 0;
	return bits;
}

static void get_drops(struct nlattr *nest, struct ctl_stats *stats)
{
	struct nlattr *tb[CHS_A_DROPS_MAX + 1];
	int i;

	if (!nest || nla_parse_nested(tb, CHS_A_DROPS_MAX, nest, NULL))
		return;

	for (i = 0; i <= CHS_A_DROPS_MAX; i++)
		stats->drops[i] = get_u64(tb[i]);
}

static void get_icmp_ignored(struct nlattr *nest, struct ctl_stats *stats)
{
	struct nlattr *tb[CHS_A_ICMP_IGNORED_MAX + 1];
	int i;

	if (!nest || nla_parse_nested(tb, CHS_A_ICMP_IGNORED_MAX, nest, NULL))
		return;

	stats->icmp_told = told(tb, CHS_A_ICMP_IGNORED_MAX);
	for (i = 0; i <= CHS_A_ICMP_IGNORED_MAX; i++)
		stats->icmp_ignored[i] = get_u64(tb[i]);
}

static void get_stats(struct nlattr *nest, struct ctl_stats *stats)
{
	struct nlattr *tb[CHS_A_STATS_MAX + 1];
	int i;

	if (!nest || nla_parse_nested(tb, CHS_A_STATS_MAX, nest, NULL))
		return;

	stats->told = told(tb, CHS_A_STATS_MAX);
	for (i = 0; i <= CHS_A_STATS_MAX; i++)
		stats->counts[i] = get_u64(tb[i]);
	get_drops(tb[CHS_A_STATS_DROPS], stats);
	get_icmp_ignored(tb[CHS_A_STATS_ICMP_IGNORED], stats);
}

static void get_service_status(struct nlattr *nest, struct ctl_service *svc)
{
	struct nlattr *tb[CHS_A_SERVICE_STATUS_MAX + 1];

	if (!nest || nla_parse_nested(tb, CHS_A_SERVICE_STATUS_MAX, nest, NULL))
		return;

	svc->seed_default = get_u8(tb[CHS_A_SERVICE_STATUS_SEED_DEFAULT], 1);
	svc->n_backends = get_u32(tb[CHS_A_SERVICE_STATUS_BACKENDS], 0);
	svc->generation = get_u64(tb[CHS_A_SERVICE_STATUS_GENERATION]);
	svc->digest = get_u64(tb[CHS_A_SERVICE_STATUS_DIGEST]);
	svc->status = told(tb, CHS_A_SERVICE_STATUS_MAX);
	svc->vrf_present = get_u8(tb[CHS_A_SERVICE_STATUS_VRF_PRESENT], 1);
	svc->open = get_u32(tb[CHS_A_SERVICE_STATUS_OPEN], 0);
	svc->settles_in = get_u32(tb[CHS_A_SERVICE_STATUS_SETTLES_IN], 0);
	svc->tracked_flows = get_u32(tb[CHS_A_SERVICE_STATUS_TRACKED_FLOWS], 0);
	get_stats(tb[CHS_A_SERVICE_STATUS_STATS], &svc->stats);
}

/**
 * ctl_get_service() - read a service
 * @tb: attributes of the answer
 * @svc: where it goes; its strings are within the answer
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_get_service(struct nlattr **tb, struct ctl_service *svc)
{
	struct nlattr *a[CHS_A_SERVICE_MAX + 1];

	memset(svc, 0, sizeof(*svc));
	if (!tb[CHS_A_SERVICE] || nla_parse_nested(a, CHS_A_SERVICE_MAX, tb[CHS_A_SERVICE], NULL))
		return ctl_bad_reply();

	svc->name = get_string(a[CHS_A_SERVICE_NAME]);
	svc->proto = get_u8(a[CHS_A_SERVICE_PROTO], 0);
	ctl_get_endpoint(a[CHS_A_SERVICE_ADDRESS], a[CHS_A_SERVICE_PORT], &svc->ep);
	if (a[CHS_A_SERVICE_ANY_PORT]) {
		svc->ep.kind = CTL_PORT_ANY;
	} else if (a[CHS_A_SERVICE_PORT_END] && nla_len(a[CHS_A_SERVICE_PORT_END]) >= 2) {
		svc->ep.kind = CTL_PORT_RANGE;
		svc->ep.port_end = ntohs(nla_get_u16(a[CHS_A_SERVICE_PORT_END]));
	}
	if (!svc->name || !svc->ep.addr.len)
		return ctl_bad_reply();

	svc->forced = a[CHS_A_SERVICE_FORCED];
	get_options(a, ctl_service_keywords, svc, &svc->present);
	get_service_status(tb[CHS_A_SERVICE_STATUS], svc);
	return CTL_OK;
}

/**
 * ctl_get_service_name() - read the name of the service that an answer is about
 * @tb: attributes of the answer
 *
 * Return: the name, within the answer, or NULL.
 */
const char *ctl_get_service_name(struct nlattr **tb)
{
	struct nlattr *a[CHS_A_SERVICE_MAX + 1];

	if (!tb[CHS_A_SERVICE] || nla_parse_nested(a, CHS_A_SERVICE_MAX, tb[CHS_A_SERVICE], NULL))
		return NULL;
	return get_string(a[CHS_A_SERVICE_NAME]);
}

static void get_backend_status(struct nlattr *nest, struct ctl_backend *be)
{
	struct nlattr *tb[CHS_A_BACKEND_STATUS_MAX + 1];

	if (!nest || nla_parse_nested(tb, CHS_A_BACKEND_STATUS_MAX, nest, NULL))
		return;

	be->status = told(tb, CHS_A_BACKEND_STATUS_MAX);
	be->deadline_left = get_u32(tb[CHS_A_BACKEND_STATUS_DEADLINE_LEFT], 0);
	be->slots = get_u32(tb[CHS_A_BACKEND_STATUS_SLOTS], 0);
	be->since = get_u64(tb[CHS_A_BACKEND_STATUS_SINCE]);
	be->idle = get_u32(tb[CHS_A_BACKEND_STATUS_IDLE], 0);
	be->packets = get_u64(tb[CHS_A_BACKEND_STATUS_PACKETS]);
	be->bytes = get_u64(tb[CHS_A_BACKEND_STATUS_BYTES]);
	be->new_flows = get_u64(tb[CHS_A_BACKEND_STATUS_NEW_FLOWS]);
	be->tracked_flows = get_u32(tb[CHS_A_BACKEND_STATUS_TRACKED_FLOWS], 0);
	be->sent_back = get_u64(tb[CHS_A_BACKEND_STATUS_SENT_BACK]);
	be->obstacle = get_u8(tb[CHS_A_BACKEND_STATUS_OBSTACLE], 0);
}

/**
 * ctl_get_backend() - read a backend
 * @tb: attributes of the answer
 * @be: where it goes; its strings are within the answer
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_get_backend(struct nlattr **tb, struct ctl_backend *be)
{
	struct nlattr *a[CHS_A_BACKEND_MAX + 1];

	memset(be, 0, sizeof(*be));
	if (!tb[CHS_A_BACKEND] || nla_parse_nested(a, CHS_A_BACKEND_MAX, tb[CHS_A_BACKEND], NULL))
		return ctl_bad_reply();

	ctl_get_endpoint(a[CHS_A_BACKEND_ADDRESS], a[CHS_A_BACKEND_PORT], &be->ep);
	if (!be->ep.addr.len)
		return ctl_bad_reply();

	get_options(a, ctl_backend_keywords, be, &be->present);
	get_backend_status(tb[CHS_A_BACKEND_STATUS], be);
	return CTL_OK;
}
