// SPDX-License-Identifier: GPL-2.0-only
/*
 * Golden vectors, which another implementation computed: ring_model.py. They
 * never change while CHS_RING_VERSION is what it is.
 */

#include "ring.h"
#include "ringset.h"
#include "tuple.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX	10

/* The ring that lines speak of, and what was said of it. */
static struct {
	struct chs_ring_conf conf;
	struct ringset set;
	struct {
		struct chs_ring_id id;
		u32 points;
		u32 arcs;
	} claims[64];
	u32 n_claims;
	struct chs_ring ring;
} now;

static u32 points, hashes, rings, steered, references;

static u64 hex(const char *text)
{
	return strtoull(text, NULL, 16);
}

static u32 number(const char *text)
{
	return strtoul(text, NULL, 10);
}

static siphash_key_t key_of(const char *text)
{
	siphash_key_t key;
	u8 bytes[16];
	u32 i;

	for (i = 0; i < 16; i++) {
		const char digits[3] = { text[2 * i], text[2 * i + 1] };

		bytes[i] = hex(digits);
	}
	chs_ring_key_set(&key, bytes);
	return key;
}

static u8 proto_of(const char *text)
{
	return !strcmp(text, "tcp") ? 6 : !strcmp(text, "udp") ? 17 : 132;
}

static enum chsteer_flow_hash hash_of(const char *text)
{
	return strcmp(text, "src") ? CHS_FLOW_HASH_5TUPLE : CHS_FLOW_HASH_SRC;
}

/* Whether it is IPv6. */
static bool addr_of(union chs_addr *addr, const char *text)
{
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		chs_addr_set_v4(addr, v4.s_addr);
		return false;
	}
	CHECK_EQ(inet_pton(AF_INET6, text, addr), 1);
	return true;
}

static struct chs_ring_id id_of(char **addr_port)
{
	struct chs_ring_id id;

	addr_of(&id.addr, addr_port[0]);
	id.port = htons(number(addr_port[1]));
	return id;
}

/* From columns proto, saddr, sport, daddr, dport. */
static struct chs_tuple tuple_of(char **column)
{
	struct chs_tuple t = { .proto = proto_of(column[0]) };

	t.v6 = addr_of(&t.saddr, column[1]);
	t.sport = htons(number(column[2]));
	addr_of(&t.daddr, column[3]);
	t.dport = htons(number(column[4]));
	return t;
}

static void see_point(char **column)
{
	const struct chs_ring_conf conf = { .key = key_of(column[0]) };
	const struct chs_ring_id id = id_of(column + 1);

	points++;
	CHECK_EQ(chs_ring_point(&conf, &id, number(column[3])),
		 hex(column[4]));
}

static void see_hash(char **column)
{
	const siphash_key_t key = key_of(column[0]);
	const struct chs_tuple t = tuple_of(column + 2);

	hashes++;
	CHECK_EQ(chs_tuple_hash(&t, hash_of(column[1]), &key),
		 hex(column[7]));
}

static void see_ring(char **column)
{
	chs_ring_clear(&now.ring);
	memset(&now.conf, 0, sizeof(now.conf));
	now.conf.key = key_of(column[1]);
	now.conf.hash = hash_of(column[2]);
	now.conf.points = number(column[3]);
	now.conf.unit = number(column[4]);
	now.conf.slots = number(column[5]);
	now.conf.balance = number(column[6]);
	now.set.n = 0;
	now.n_claims = 0;
}

static void see_node(char **column)
{
	const struct chs_ring_node node = {
		.id = id_of(column),
		.weight = number(column[2]),
	};

	set_put(&now.set, node);
	now.claims[now.n_claims].id = node.id;
	now.claims[now.n_claims].points = number(column[3]);
	now.claims[now.n_claims].arcs = number(column[4]);
	now.n_claims++;
}

/* All backends are known: build, half of the rings in two steps. */
static void see_digest(char **column)
{
	struct chs_ring part = { };
	u32 i, k;

	if (rings++ & 1) {
		const u32 n = now.set.n;

		now.set.n = n / 2;
		set_build(&part, &ringops_plain, &now.conf, &now.set, NULL);
		now.set.n = n;
	}
	set_build(&now.ring, &ringops_plain, &now.conf, &now.set, &part);
	chs_ring_clear(&part);

	CHECK_EQ(now.ring.digest, hex(column[0]));
	for (i = 0; i < now.n_claims; i++) {
		for (k = 0; k < now.ring.n_nodes; k++) {
			if (!chs_ring_id_cmp(&now.ring.nodes[k].id,
					     &now.claims[i].id))
				break;
		}
		CHECK(k < now.ring.n_nodes);
		if (k == now.ring.n_nodes)
			continue;
		CHECK_EQ(now.ring.shares[k], now.claims[i].arcs);
		CHECK_EQ(chs_ring_node_points(&now.conf,
					      now.ring.nodes[k].weight),
			 now.claims[i].points);
	}
}

static void see_steer(char **column)
{
	const struct chs_tuple t = tuple_of(column);
	const struct chs_ring_id id = id_of(column + 5);
	const u64 hash = chs_tuple_hash(&t, now.conf.hash, &now.conf.key);
	const u16 own = now.ring.arcs[chs_ring_slot(hash, now.conf.slots)];

	steered++;
	CHECK(own < now.ring.n_nodes &&
	      !chs_ring_id_cmp(&now.ring.nodes[own].id, &id));
}

static void see_reference(char **column)
{
	references++;
	CHECK_EQ(hex(column[0]), CHS_RING_REFERENCE_DIGEST);
}

static const struct {
	const char *word;
	int columns;
	void (*see)(char **column);
} lines[] = {
	{ "point", 5, see_point },
	{ "hash", 8, see_hash },
	{ "ring", 7, see_ring },
	{ "node", 5, see_node },
	{ "digest", 1, see_digest },
	{ "steer", 7, see_steer },
	{ "reference", 1, see_reference },
};

static void see(char *line)
{
	char *column[COLUMNS_MAX + 1];
	int n = 0;
	size_t i;

	for (; n <= COLUMNS_MAX; n++) {
		column[n] = strtok(n ? NULL : line, "\t\n");
		if (!column[n])
			break;
	}
	for (i = 0; n && i < ARRAY_SIZE(lines); i++) {
		if (strcmp(column[0], lines[i].word))
			continue;
		CHECK_EQ(n - 1, lines[i].columns);
		if (n - 1 == lines[i].columns)
			lines[i].see(column + 1);
		return;
	}
	unit_fail(__FILE__, __LINE__, "a known line");
}

void test_vectors(void)
{
	FILE *file = fopen(VECTORS, "r");
	char line[512];

	CHECK(file);
	while (file && fgets(line, sizeof(line), file)) {
		if (line[0] != '#')
			see(line);
	}
	if (file)
		fclose(file);
	chs_ring_clear(&now.ring);

	unit_note("%u points, %u hashes, %u rings, %u flows", points, hashes,
		  rings, steered);
	CHECK(points >= 90);
	CHECK(hashes >= 90);
	CHECK(rings >= 16);
	CHECK_EQ(steered, 1000);
	CHECK_EQ(references, 1);
}
