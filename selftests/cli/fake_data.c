// SPDX-License-Identifier: GPL-2.0-only
/* What the made-up kernel has: services and backends of all sorts, some flows. */
#include <errno.h>
#include <linux/genetlink.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include <linux/chsteer.h>

#include "cli.h"
#include "fake.h"

static const struct fake_service services[] = {
	/* Not in the order of names: that is for the tool. */
	{
		.name = "web", .proto = IPPROTO_TCP, .addr = "192.0.2.10", .port = 443,
		.points = 512, .slots = 1024, .n = 4,
		.backends = {
			{ "10.0.0.1", 443, 100, CHS_STATE_UP, NULL, 0, 0, false, 530, true },
			{ "10.0.0.2", 443, 100, CHS_STATE_UP, "rack 1", 0, 0, false, 494, true },
			{ "10.0.0.10", 8443, 50, CHS_STATE_DRAIN, "#2\"\\", 300, 120, true, 0,
			  true },
			{ "10.0.0.11", 443, 0, CHS_STATE_UP, NULL, 0, 0, false, 0, false },
		},
	}, {
		.name = "dns6", .proto = IPPROTO_UDP, .addr = "2001:db8::53", .port = 53,
		.hash = CHS_FLOW_HASH_SRC, .points = 100, .slots = 256, .balance = 110,
		.on_empty = CHS_ON_EMPTY_DROP, .n = 2,
		.backends = {
			{ "2001:db8:b::1", 53, 100, CHS_STATE_UP, NULL, 0, 0, false, 256, true },
			{ "2001:db8:b::2", 53, 100, CHS_STATE_DOWN, NULL, 0, 0, false, 0, false },
		},
	}, {
		.name = "any", .proto = IPPROTO_SCTP, .addr = "192.0.2.11", .any = true,
		.forced = true, .points = 512, .slots = 256, .seed = true, .masquerade = 1,
		.on_empty = CHS_ON_EMPTY_PASS, .n = 1,
		.backends = {
			{ "10.0.1.1", 0, 7, CHS_STATE_UP, NULL, 0, 0, false, 256, true },
		},
	}, {
		.name = "range", .proto = IPPROTO_UDP, .addr = "192.0.2.12", .port = 5000,
		.port_end = 5999, .points = 512, .slots = 256, .n = 0,
	}, {
		/* Nothing is the default. */
		.name = "edge", .proto = IPPROTO_TCP, .addr = "192.0.2.20", .port = 80,
		.points = 512, .slots = 256, .mode = CHS_MODE_GUE,
		.affinity = CHS_AFFINITY_FLOW, .window = 60, .max_flows = 1000, .timeout = 120,
		.gue_port = 6081, .source = "192.0.2.1", .vrf = "red",
		.open = 64, .settles_in = 46, .tracked = 7, .n = 2,
		.backends = {
			{ "10.0.2.1", 80, 100, CHS_STATE_UP, NULL, 0, 0, false, 128, true, 7,
			  CHS_OBSTACLE_NONE },
			{ "2001:db8:b::9", 80, 100, CHS_STATE_UP, NULL, 0, 0, false, 128, false, 0,
			  CHS_OBSTACLE_NO_NEIGHBOUR },
		},
	}, {
		/* Open for as long as a former owner drains. */
		.name = "fast", .proto = IPPROTO_UDP, .addr = "192.0.2.21", .port = 53,
		.points = 512, .slots = 256, .mode = CHS_MODE_ROUTE,
		.affinity = CHS_AFFINITY_TRANSITION, .window = 900, .max_flows = 262144,
		.timeout = 900, .open = 1, .n = 3,
		.backends = {
			{ "10.0.3.1", 53, 100, CHS_STATE_UP, NULL, 0, 0, false, 256, true, 0,
			  CHS_OBSTACLE_OFF_LINK },
			{ "10.0.3.2", 53, 100, CHS_STATE_DRAIN, NULL, 0, 0, false, 0, true, 0,
			  CHS_OBSTACLE_OWN_ADDRESS },
			/* Of a module newer than the tool. */
			{ "10.0.3.3", 53, 0, CHS_STATE_UP, NULL, 0, 0, false, 0, false, 0, 99 },
		},
	}, {
		/* All is the default. */
		.name = "tun", .proto = IPPROTO_SCTP, .addr = "2001:db8::20", .port = 80,
		.points = 512, .slots = 256, .mode = CHS_MODE_IPIP,
		.affinity = CHS_AFFINITY_TRANSITION, .window = 900, .max_flows = 262144,
		.timeout = 900, .source = "::", .settles_in = 1, .n = 2,
		.backends = {
			{ "10.0.4.1", 80, 100, CHS_STATE_UP, NULL, 0, 0, false, 128, true, 0,
			  CHS_OBSTACLE_NO_ROUTE },
			{ "10.0.4.2", 80, 100, CHS_STATE_UP, NULL, 0, 0, false, 128, true, 0,
			  CHS_OBSTACLE_BAD_SOURCE },
		},
	},
};

/* Neither in order nor each once. */
static const struct flow {
	const char *service;
	uint8_t proto;
	const char *src;
	uint16_t sport;
	const char *dst;
	uint16_t dport;
	const char *be;
	uint32_t idle;
	uint8_t reason;
	bool unconfirmed;
	bool ended;
} flows[] = {
	{ "tun", IPPROTO_SCTP, "2001:db8:c::2", 9, "2001:db8::20", 80, "10.0.4.1", 0,
	  CHS_REASON_FORMER_OWNER, false, true },
	{ "fast", IPPROTO_UDP, "198.51.100.10", 5, "192.0.2.21", 53, "10.0.3.2", 3,
	  CHS_REASON_FORMER_OWNER, false, false },
	{ "fast", IPPROTO_UDP, "198.51.100.2", 1000, "192.0.2.21", 53, "10.0.3.1", 0,
	  CHS_REASON_RING, false, false },
	{ "edge", IPPROTO_TCP, "198.51.100.3", 40000, "192.0.2.20", 80, "10.0.2.1", 12,
	  CHS_REASON_RING, true, false },
	{ "fast", IPPROTO_UDP, "198.51.100.2", 999, "192.0.2.21", 53, "10.0.3.1", 0,
	  CHS_REASON_RING, false, false },
	{ "edge", IPPROTO_TCP, "198.51.100.3", 40001, "192.0.2.20", 80, "2001:db8:b::9", 61,
	  CHS_REASON_FORMER_OWNER, false, true },
	{ "edge", IPPROTO_TCP, "198.51.100.3", 40000, "192.0.2.20", 80, "10.0.2.1", 12,
	  CHS_REASON_RING, true, false },
};

static unsigned int reads;

/* The attribute of a request, or NULL. */
static const struct nlattr *attr_of(const struct nlmsghdr *request, uint16_t type)
{
	const char *at = (const char *)request + NLMSG_HDRLEN + GENL_HDRLEN;
	const char *end = (const char *)request + request->nlmsg_len;

	while (at < end) {
		const struct nlattr *nla = (const struct nlattr *)at;

		if ((nla->nla_type & NLA_TYPE_MASK) == type)
			return nla;
		at += NLA_ALIGN(nla->nla_len);
	}
	return NULL;
}

/* The services that a request asks about. */
static const struct fake_service *all(const struct nlmsghdr *request, size_t *n)
{
	if (fake.plan)
		return fake_planned(attr_of(request, CHS_A_TXN), n);
	*n = sizeof(services) / sizeof(services[0]);
	return services;
}

/* What tells one from the others. */
static unsigned int number(const struct fake_service *svc)
{
	return fake.plan ? 0 : svc - services;
}

static void put_drops(struct buf *b, bool direct)
{
	const size_t nest = nest_begin(b, CHS_A_STATS_DROPS);
	uint16_t i;

	put_u64(b, CHS_A_DROPS_NO_BACKEND, 3);
	put_u64(b, CHS_A_DROPS_UNTRACKED, 4);
	put_u64(b, CHS_A_DROPS_INVALID, 5);
	put_u64(b, CHS_A_DROPS_UNTRANSLATED, 6);
	put_u64(b, CHS_A_DROPS_CONNTRACK_FULL, 7);
	put_u64(b, CHS_A_DROPS_NAT_FAILED, 8);
	for (i = CHS_A_DROPS_MALFORMED; direct && i < CHS_A_DROPS_PAD; i++)
		put_u64(b, i, 100 + i);
	/* Of a module newer than the tool. */
	put_u64(b, 77, 9);
	nest_end(b, nest);
}

static void put_icmp_ignored(struct buf *b)
{
	const size_t nest = nest_begin(b, CHS_A_STATS_ICMP_IGNORED);
	uint16_t i;

	for (i = CHS_A_ICMP_IGNORED_BAD_CHECKSUM; i <= CHS_A_ICMP_IGNORED_NO_FLOW; i++)
		put_u64(b, i, 200 + i);
	nest_end(b, nest);
}

static void put_stats(struct buf *b, const struct fake_service *svc)
{
	const unsigned int i = number(svc);
	const bool direct = svc->mode != CHS_MODE_NAT;
	const size_t nest = nest_begin(b, CHS_A_SERVICE_STATUS_STATS);

	put_u64(b, CHS_A_STATS_PACKETS, 5000000000ULL + i);
	put_u64(b, CHS_A_STATS_BYTES, 700000000000ULL + i);
	if (!direct || svc->proto != IPPROTO_UDP)
		put_u64(b, CHS_A_STATS_NEW_FLOWS, 42 + i);
	put_u64(b, CHS_A_STATS_PASSED, 1);
	put_u64(b, CHS_A_STATS_ICMP_UNMATCHED, 2);
	put_drops(b, direct);
	if (direct) {
		put_u64(b, CHS_A_STATS_UNRESOLVED, 20);
		put_u64(b, CHS_A_STATS_NOT_REMEMBERED, 21);
		put_u64(b, CHS_A_STATS_EVICTED_ENDED, 22);
		put_u64(b, CHS_A_STATS_EVICTED_NEW, 23);
		put_u64(b, CHS_A_STATS_EVICTED_ESTABLISHED, 24);
		put_u64(b, CHS_A_STATS_ICMP_LIMITED, 25);
		put_u64(b, CHS_A_STATS_ICMP_OBEYED, 26);
		put_icmp_ignored(b);
	}
	nest_end(b, nest);
}

static void put_open(struct buf *b, const struct fake_service *svc)
{
	const bool settled = fake.settles && reads >= fake.settles;

	put_u32(b, CHS_A_SERVICE_STATUS_OPEN, settled ? 0 : svc->open);
	if (settled)
		put_u32(b, CHS_A_SERVICE_STATUS_SETTLES_IN, 0);
	else if (svc->settles_in)
		put_u32(b, CHS_A_SERVICE_STATUS_SETTLES_IN, svc->settles_in - 1);
	put_u32(b, CHS_A_SERVICE_STATUS_TRACKED_FLOWS, svc->tracked);
}

static void put_status(struct buf *b, const struct fake_service *svc)
{
	const size_t nest = nest_begin(b, CHS_A_SERVICE_STATUS);
	const unsigned int i = number(svc);

	put_u8(b, CHS_A_SERVICE_STATUS_SEED_DEFAULT, !svc->seed);
	put_u32(b, CHS_A_SERVICE_STATUS_BACKENDS, svc->n);
	/* Each look of a busy service shows another ring. */
	put_u64(b, CHS_A_SERVICE_STATUS_GENERATION,
		reads < 2 * fake.changes ? 100 + reads : 7 + i);
	put_u64(b, CHS_A_SERVICE_STATUS_DIGEST, svc->digest ? svc->digest :
		0x00123456789abcdeULL + i);
	put_stats(b, svc);
	if (svc->mode != CHS_MODE_NAT)
		put_open(b, svc);
	if (svc->vrf)
		put_u8(b, CHS_A_SERVICE_STATUS_VRF_PRESENT, 0);
	nest_end(b, nest);
}

static void put_direct(struct buf *b, const struct fake_service *svc)
{
	put_u8(b, CHS_A_SERVICE_AFFINITY, svc->affinity);
	put_u32(b, CHS_A_SERVICE_WINDOW, svc->window);
	put_u32(b, CHS_A_SERVICE_MAX_FLOWS, svc->max_flows);
	put_u32(b, CHS_A_SERVICE_TIMEOUT, svc->timeout);
	if (svc->gue_port)
		put_port(b, CHS_A_SERVICE_GUE_PORT, svc->gue_port);
	if (svc->source)
		put_addr(b, CHS_A_SERVICE_SOURCE, svc->source);
	if (svc->vrf)
		put_str(b, CHS_A_SERVICE_VRF, svc->vrf);
}

static void put_service(struct buf *b, const struct fake_service *svc)
{
	static const uint8_t seed[16] = { 0xde, 0xad, 0xbe, 0xef, [15] = 1 };
	const size_t nest = nest_begin(b, CHS_A_SERVICE);

	put_str(b, CHS_A_SERVICE_NAME, svc->name);
	put_u8(b, CHS_A_SERVICE_PROTO, svc->proto);
	put_addr(b, CHS_A_SERVICE_ADDRESS, svc->addr);
	if (svc->any)
		put_attr(b, CHS_A_SERVICE_ANY_PORT, NULL, 0);
	else
		put_port(b, CHS_A_SERVICE_PORT, svc->port);
	if (svc->port_end)
		put_port(b, CHS_A_SERVICE_PORT_END, svc->port_end);
	put_u8(b, CHS_A_SERVICE_MODE, svc->mode);
	put_u8(b, CHS_A_SERVICE_HASH, svc->hash);
	put_u32(b, CHS_A_SERVICE_POINTS, svc->points);
	put_u32(b, CHS_A_SERVICE_UNIT, 100);
	put_u32(b, CHS_A_SERVICE_SLOTS, svc->slots);
	put_u32(b, CHS_A_SERVICE_BALANCE, svc->balance);
	if (svc->seed && !fake.secret)
		put_attr(b, CHS_A_SERVICE_SEED, seed, sizeof(seed));
	put_u8(b, CHS_A_SERVICE_ON_EMPTY, svc->on_empty);
	put_u8(b, CHS_A_SERVICE_MASQUERADE, svc->masquerade);
	if (svc->mode != CHS_MODE_NAT)
		put_direct(b, svc);
	if (svc->forced)
		put_attr(b, CHS_A_SERVICE_FORCED, NULL, 0);
	nest_end(b, nest);
	put_status(b, svc);
}

static void put_backend(struct buf *b, const struct fake_service *svc, const struct fake_backend *be)
{
	size_t nest = nest_begin(b, CHS_A_SERVICE);

	put_str(b, CHS_A_SERVICE_NAME, svc->name);
	nest_end(b, nest);

	nest = nest_begin(b, CHS_A_BACKEND);
	put_addr(b, CHS_A_BACKEND_ADDRESS, be->addr);
	put_port(b, CHS_A_BACKEND_PORT, be->port);
	put_u32(b, CHS_A_BACKEND_WEIGHT, be->weight);
	put_u8(b, CHS_A_BACKEND_STATE, be->state);
	if (be->zone)
		put_str(b, CHS_A_BACKEND_ZONE, be->zone);
	if (be->deadline)
		put_u32(b, CHS_A_BACKEND_DEADLINE, be->deadline);
	if (be->del)
		put_attr(b, CHS_A_BACKEND_DELETE, NULL, 0);
	nest_end(b, nest);

	nest = nest_begin(b, CHS_A_BACKEND_STATUS);
	if (be->deadline)
		put_u32(b, CHS_A_BACKEND_STATUS_DEADLINE_LEFT, be->deadline_left);
	put_u32(b, CHS_A_BACKEND_STATUS_SLOTS, be->slots);
	put_u64(b, CHS_A_BACKEND_STATUS_SINCE, 1700000000);
	if (be->idle)
		put_u32(b, CHS_A_BACKEND_STATUS_IDLE, 3);
	put_u64(b, CHS_A_BACKEND_STATUS_PACKETS, 1000 * be->slots);
	put_u64(b, CHS_A_BACKEND_STATUS_BYTES, 64000 * be->slots);
	if (svc->mode == CHS_MODE_NAT || svc->proto != IPPROTO_UDP)
		put_u64(b, CHS_A_BACKEND_STATUS_NEW_FLOWS, be->slots);
	if (svc->mode != CHS_MODE_NAT) {
		put_u32(b, CHS_A_BACKEND_STATUS_TRACKED_FLOWS, be->tracked);
		put_u8(b, CHS_A_BACKEND_STATUS_OBSTACLE, be->obstacle);
		if (svc->mode == CHS_MODE_ROUTE)
			put_u64(b, CHS_A_BACKEND_STATUS_SENT_BACK, be->slots);
	}
	nest_end(b, nest);
}

/* The name of the service that a request is about, or NULL. */
static const char *asked_for(const struct nlmsghdr *request)
{
	const struct nlattr *nla = attr_of(request, CHS_A_SERVICE);

	return nla ? (const char *)nla + 2 * NLA_HDRLEN : NULL;
}

static const struct fake_service *find(const struct nlmsghdr *request)
{
	const char *name = asked_for(request);
	const struct fake_service *svc;
	size_t i, n;

	if (fake.goes && reads >= fake.goes)
		return NULL;
	svc = all(request, &n);
	for (i = 0; name && fake.data && i < n; i++) {
		if (!strcmp(svc[i].name, name))
			return &svc[i];
	}
	return NULL;
}

static void dump_backends(struct buf *b, const struct nlmsghdr *request, uint16_t family,
			  uint16_t flags, const struct fake_service *svc)
{
	uint32_t i;

	for (i = 0; i + fake.short_dump < svc->n; i++) {
		message_begin(b, request, family, flags, CHS_CMD_BACKEND_GET);
		put_backend(b, svc, &svc->backends[i]);
		message_end(b);
	}
}

static void put_flow(struct buf *b, const struct flow *flow)
{
	size_t nest = nest_begin(b, CHS_A_SERVICE);

	put_str(b, CHS_A_SERVICE_NAME, flow->service);
	nest_end(b, nest);

	nest = nest_begin(b, CHS_A_FLOW);
	put_u8(b, CHS_A_FLOW_PROTO, flow->proto);
	put_addr(b, CHS_A_FLOW_SADDR, flow->src);
	put_addr(b, CHS_A_FLOW_DADDR, flow->dst);
	put_port(b, CHS_A_FLOW_SPORT, flow->sport);
	put_port(b, CHS_A_FLOW_DPORT, flow->dport);
	nest_end(b, nest);

	if (fake.bare_flow)
		return;
	nest = nest_begin(b, CHS_A_FLOW_STATUS);
	put_addr(b, CHS_A_FLOW_STATUS_ADDRESS, flow->be);
	put_port(b, CHS_A_FLOW_STATUS_PORT, flow->dport);
	put_u32(b, CHS_A_FLOW_STATUS_IDLE, flow->idle);
	put_u8(b, CHS_A_FLOW_STATUS_REASON, flow->reason);
	if (flow->unconfirmed)
		put_attr(b, CHS_A_FLOW_STATUS_UNCONFIRMED, NULL, 0);
	if (flow->ended)
		put_attr(b, CHS_A_FLOW_STATUS_ENDED, NULL, 0);
	nest_end(b, nest);
}

static void dump_flows(struct buf *b, const struct nlmsghdr *request, uint16_t family,
		       uint16_t flags, const char *only)
{
	size_t i;

	for (i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
		if (only && strcmp(only, flows[i].service))
			continue;
		message_begin(b, request, family, flags, CHS_CMD_FLOW_GET);
		put_flow(b, &flows[i]);
		message_end(b);
	}
}

/* Two datagrams of several messages each. */
void fake_dump(const struct nlmsghdr *request, uint16_t family, uint16_t flags, uint8_t cmd)
{
	const char *only = asked_for(request);
	const struct fake_service *svc;
	static struct buf b;
	size_t i, n;

	if (cmd == CHS_CMD_FLOW_GET)
		dump_flows(&b, request, family, flags, only);
	svc = all(request, &n);
	for (i = 0; cmd != CHS_CMD_FLOW_GET && i < n; i++) {
		if (only && strcmp(only, svc[i].name))
			continue;
		if (cmd == CHS_CMD_BACKEND_GET) {
			dump_backends(&b, request, family, flags, &svc[i]);
		} else {
			message_begin(&b, request, family, flags, cmd);
			put_service(&b, &svc[i]);
			message_end(&b);
		}
		if (i == 1 && b.len)
			deliver(&b);
	}
	if (b.len)
		deliver(&b);
	if (cmd == CHS_CMD_SERVICE_GET)
		reads++;
}

/* Arcs go round over the backends that own some, one message at a time. */
static void put_ring(struct buf *b, const struct nlmsghdr *request, const struct fake_service *svc)
{
	const char *end = (const char *)request + request->nlmsg_len;
	uint16_t owners[100];
	uint32_t arc, n, i;

	/* The request's last attribute. */
	memcpy(&arc, end - 4, sizeof(arc));
	n = svc->slots - arc < 100 ? svc->slots - arc : 100;
	for (i = 0; i < n; i++)
		owners[i] = svc->n ? (arc + i) % 2 % svc->n : 0xffff;
	put_status(b, svc);
	put_u32(b, CHS_A_ARC, arc);
	put_attr(b, CHS_A_OWNERS, owners, n * sizeof(*owners));
}

static void put_verdict(struct buf *b, bool none)
{
	size_t nest = nest_begin(b, CHS_A_SERVICE);

	put_str(b, CHS_A_SERVICE_NAME, "web");
	nest_end(b, nest);
	nest = nest_begin(b, CHS_A_VERDICT);
	put_u32(b, CHS_A_VERDICT_ARC, 17);
	if (!none) {
		put_addr(b, CHS_A_VERDICT_ADDRESS, "2001:db8:b::2");
		put_port(b, CHS_A_VERDICT_PORT, 443);
		put_u8(b, CHS_A_VERDICT_REASON,
		       fake.former ? CHS_REASON_FORMER_OWNER : CHS_REASON_CONNTRACK);
		put_addr(b, CHS_A_VERDICT_OWNER_ADDRESS, "2001:db8:b::1");
		put_port(b, CHS_A_VERDICT_OWNER_PORT, 0);
	}
	if (fake.former) {
		put_addr(b, CHS_A_VERDICT_FORMER_ADDRESS, "10.0.0.2");
		put_port(b, CHS_A_VERDICT_FORMER_PORT, 443);
		if (fake.open_for)
			put_u32(b, CHS_A_VERDICT_OPEN_FOR, fake.open_for);
	}
	nest_end(b, nest);
}

static void put_result(struct buf *b)
{
	const size_t nest = nest_begin(b, CHS_A_RESULT);

	put_u32(b, CHS_A_RESULT_ADDED, fake.unchanged ? 0 : 3);
	put_u32(b, CHS_A_RESULT_CHANGED, fake.unchanged ? 0 : 1);
	put_u32(b, CHS_A_RESULT_REMOVED, 0);
	put_u32(b, CHS_A_RESULT_UNCHANGED, 12);
	put_u64(b, CHS_A_RESULT_MOVED, fake.unchanged ? 0 : 512);
	put_u64(b, CHS_A_RESULT_ARCS, fake.unchanged ? 0 : 16384);
	nest_end(b, nest);
}

static void put_info(struct buf *b)
{
	const size_t nest = nest_begin(b, CHS_A_INFO);

	put_str(b, CHS_A_INFO_MODULE_VERSION, "0.0.9");
	put_u32(b, CHS_A_INFO_RING_VERSION, 1);
	put_u64(b, CHS_A_INFO_RING_REFERENCE, fake.reference);
	nest_end(b, nest);
}

/* The answer's message, and the code of the acknowledgement. */
int fake_reply(const struct nlmsghdr *request, uint16_t family, uint8_t cmd)
{
	const struct fake_service *svc = find(request);
	static struct buf b;

	message_begin(&b, request, family, 0, cmd);
	switch (cmd) {
	case CHS_CMD_SERVICE_GET:
	case CHS_CMD_RING_GET:
		if (!svc) {
			b.len = 0;
			return ENOENT;
		}
		if (cmd == CHS_CMD_RING_GET)
			put_ring(&b, request, svc);
		else
			put_service(&b, svc);
		reads += cmd == CHS_CMD_SERVICE_GET;
		break;
	case CHS_CMD_LOOKUP:
		put_verdict(&b, !fake.data);
		break;
	case CHS_CMD_TXN_BEGIN:
		put_u32(&b, CHS_A_TXN, 99);
		break;
	case CHS_CMD_TXN_COMMIT:
		put_result(&b);
		break;
	case CHS_CMD_INFO_GET:
		put_info(&b);
		break;
	default:
		b.len = 0;
		return 0;
	}
	message_end(&b);
	deliver(&b);
	return 0;
}
