// SPDX-License-Identifier: GPL-2.0-only
/* Rings as the module would make them. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "fake.h"

/* Last: its types stand in for the kernel's. */
#include "ring.h"

uint64_t fake_ring(struct fake_service *svc)
{
	struct chs_ring_node nodes[FAKE_BACKENDS] = {};
	struct chs_ring_conf conf = {
		.hash = svc->hash,
		.points = svc->points,
		.unit = 100,
		.slots = svc->slots,
		.balance = svc->balance,
	};
	struct chs_ring ring;
	uint64_t digest;
	uint32_t i;

	chs_ring_key_default(&conf.key);
	for (i = 0; i < svc->n; i++) {
		const struct fake_backend *be = &svc->backends[i];
		uint8_t *b = nodes[i].id.addr.b;

		if (inet_pton(AF_INET, be->addr, b + 12) == 1)
			memset(b + 10, 0xff, 2);
		else if (inet_pton(AF_INET6, be->addr, b) != 1)
			abort();
		nodes[i].id.port = cpu_to_be16(be->port);
		nodes[i].weight = be->state == CHS_STATE_UP ? be->weight : 0;
	}
	if (chs_ring_build(&ring, &conf, nodes, svc->n, NULL))
		abort();
	for (i = 0; i < svc->n; i++)
		svc->backends[i].slots = ring.shares[i];
	digest = ring.digest ^ fake.other_rings;
	chs_ring_clear(&ring);
	return digest;
}
