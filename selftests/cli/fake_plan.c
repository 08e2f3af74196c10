// SPDX-License-Identifier: GPL-2.0-only
/* Services before and after a change of them that a transaction has tried. */
#include <netinet/in.h>

#include <linux/chsteer.h>

#include "cli.h"
#include "fake.h"

#define UP(address, weight)	{ address, 443, weight, CHS_STATE_UP }

/* By name, as the tool has them. */
static struct fake_service before[] = {
	{
		/* A backend fewer, a lighter one, a new one. */
		.name = "web", .proto = IPPROTO_TCP, .addr = "192.0.2.10", .port = 443,
		.points = 64, .slots = 256, .n = 4,
		.backends = {
			UP("10.0.0.1", 100), UP("10.0.0.2", 100), UP("10.0.0.3", 100),
			{ "10.0.0.10", 443, 100, CHS_STATE_DOWN },
		},
	}, {
		.name = "same", .proto = IPPROTO_TCP, .addr = "192.0.2.11", .port = 443,
		.points = 64, .slots = 256, .n = 2,
		.backends = { UP("10.0.0.1", 100), UP("10.0.0.2", 100) },
	}, {
		/* An option that moves nothing. */
		.name = "dns", .proto = IPPROTO_UDP, .addr = "2001:db8::53", .port = 53,
		.points = 64, .slots = 256, .balance = 110, .n = 1,
		.backends = { UP("2001:db8:b::1", 100) },
	}, {
		.name = "old", .proto = IPPROTO_TCP, .addr = "192.0.2.12", .port = 443,
		.points = 64, .slots = 256, .n = 2,
		.backends = { UP("10.0.0.1", 100), UP("10.0.0.2", 0) },
	}, {
		/* Cut into more arcs by apply --replace. */
		.name = "finer", .proto = IPPROTO_TCP, .addr = "192.0.2.13", .port = 443,
		.points = 64, .slots = 256, .n = 2,
		.backends = { UP("10.0.0.1", 100), UP("10.0.0.2", 100) },
	}, {
		.name = "rehashed", .proto = IPPROTO_TCP, .addr = "192.0.2.14", .port = 443,
		.points = 64, .slots = 256, .n = 1,
		.backends = { UP("10.0.0.1", 100) },
	}, {
		.name = "tunnel", .proto = IPPROTO_TCP, .addr = "192.0.2.16", .port = 443,
		.points = 64, .slots = 256, .mode = CHS_MODE_ROUTE, .n = 1,
		.backends = { UP("10.0.0.1", 100) },
	}, {
		/* Nobody owns anything, then one owns all. */
		.name = "empty", .proto = IPPROTO_TCP, .addr = "192.0.2.15", .port = 443,
		.points = 64, .slots = 256,
	},
};

static struct fake_service after[] = {
	{
		.name = "api", .proto = IPPROTO_TCP, .addr = "192.0.2.20", .port = 443,
		.points = 64, .slots = 256, .n = 1,
		.backends = { UP("10.0.0.1", 100) },
	}, {
		.name = "dns", .proto = IPPROTO_UDP, .addr = "2001:db8::53", .port = 53,
		.points = 64, .slots = 256, .balance = 110, .on_empty = CHS_ON_EMPTY_DROP, .n = 1,
		.backends = { UP("2001:db8:b::1", 100) },
	}, {
		.name = "same", .proto = IPPROTO_TCP, .addr = "192.0.2.11", .port = 443,
		.points = 64, .slots = 256, .n = 2,
		.backends = { UP("10.0.0.1", 100), UP("10.0.0.2", 100) },
	}, {
		.name = "web", .proto = IPPROTO_TCP, .addr = "192.0.2.10", .port = 443,
		.points = 64, .slots = 256, .n = 4,
		.backends = {
			UP("10.0.0.1", 100), UP("10.0.0.3", 50), UP("10.0.0.9", 100),
			{ "10.0.0.10", 443, 100, CHS_STATE_DOWN },
		},
	}, {
		.name = "finer", .proto = IPPROTO_TCP, .addr = "192.0.2.13", .port = 443,
		.points = 64, .slots = 512, .n = 2,
		.backends = { UP("10.0.0.1", 100), UP("10.0.0.2", 100) },
	}, {
		.name = "rehashed", .proto = IPPROTO_TCP, .addr = "192.0.2.14", .port = 443,
		.hash = CHS_FLOW_HASH_SRC, .points = 64, .slots = 256, .n = 1,
		.backends = { UP("10.0.0.1", 100) },
	}, {
		.name = "tunnel", .proto = IPPROTO_TCP, .addr = "192.0.2.16", .port = 443,
		.vrf = "red", .points = 64, .slots = 256, .mode = CHS_MODE_ROUTE, .n = 1,
		.backends = { UP("10.0.0.1", 100) },
	}, {
		.name = "empty", .proto = IPPROTO_TCP, .addr = "192.0.2.15", .port = 443,
		.points = 64, .slots = 256, .n = 1,
		.backends = { UP("10.0.0.1", 100) },
	},
};

static void build(struct fake_service *svc, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		svc[i].digest = fake_ring(&svc[i]);
}

const struct fake_service *fake_planned(bool txn, size_t *n)
{
	*n = txn ? sizeof(after) / sizeof(after[0]) : sizeof(before) / sizeof(before[0]);
	build(txn ? after : before, *n);
	return txn ? after : before;
}
