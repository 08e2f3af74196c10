// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl simulate: schemes against figures that come from elsewhere, and what the
 * command makes of them. Times are never looked at.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Last: its types stand in for the kernel's. */
#include "measure.h"

#define KEYS	20000

static struct chs_ring_node nodes[CHS_RING_NODES_MAX];
static uint64_t keys[KEYS];
static uint16_t owners[KEYS], owners2[KEYS];

static struct chs_ring_conf conf_make(void)
{
	struct chs_ring_conf conf = {
		.points = 512, .unit = 100, .slots = 16384, .balance = 110,
	};

	chs_ring_key_default(&conf.key);
	return conf;
}

static void make_nodes(uint32_t n, uint32_t weight)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		chs_addr_set_v4(&nodes[i].id.addr, htonl(0x0a000001 + i));
		nodes[i].id.port = htons(443);
		nodes[i].weight = weight;
	}
}

/* "1,10,100"; returns their number. */
static uint32_t make_weights(const char *list)
{
	uint32_t n = 0;
	char *end;

	make_nodes(CHS_RING_NODES_MAX, 0);
	do {
		nodes[n++].weight = strtoul(list, &end, 10);
		list = end + 1;
	} while (*end == ',');
	return n;
}

static void *build(const struct ctl_scheme *scheme, const struct chs_ring_node *from, uint32_t n,
		   const void *prev)
{
	const struct chs_ring_conf conf = conf_make();
	void *state = calloc(1, scheme->size);

	if (scheme->build(state, &conf, from, n, prev))
		test_fail("%s: cannot be built", scheme->name);
	return state;
}

static void discard(const struct ctl_scheme *scheme, void *state)
{
	scheme->clear(state);
	free(state);
}

static uint16_t owner_of(const struct ctl_scheme *scheme, const void *state, uint64_t key)
{
	uint16_t owner;

	scheme->steer(state, &key, &owner, 1);
	return owner;
}

/* --- vectors/schemes.tsv, which scheme_model.py has made --- */

static void vector_maglev(const char *weights, const char *digest)
{
	const uint32_t n = make_weights(weights);
	void *state = build(&ctl_scheme_maglev, nodes, n, NULL);
	uint64_t hash = 0xcbf29ce484222325ULL;
	uint32_t i;

	for (i = 0; i < CTL_MAGLEV_SLOTS; i++)
		hash = (hash ^ owner_of(&ctl_scheme_maglev, state, i)) * 0x100000001b3ULL;
	if (hash != strtoull(digest, NULL, 16))
		test_fail("maglev %s: %016llx, expected %s", weights, (unsigned long long)hash,
			  digest);
	discard(&ctl_scheme_maglev, state);
}

static void vector_rendezvous(const char *weights, const char *key, const char *owner)
{
	const uint32_t n = make_weights(weights);
	void *state = build(&ctl_scheme_rendezvous, nodes, n, NULL);
	const unsigned int is = owner_of(&ctl_scheme_rendezvous, state, strtoull(key, NULL, 16));

	if (is != strtoul(owner, NULL, 10))
		test_fail("rendezvous %s %s: %u, expected %s", weights, key, is, owner);
	discard(&ctl_scheme_rendezvous, state);
}

static void check_jump(uint64_t key, uint32_t n, unsigned int expected)
{
	void *state = build(&ctl_scheme_jump, nodes, n, NULL);
	const unsigned int is = owner_of(&ctl_scheme_jump, state, key);

	if (is != expected)
		test_fail("jump %llx %u: %u, expected %u", (unsigned long long)key, n, is,
			  expected);
	discard(&ctl_scheme_jump, state);
}

static void test_vectors(void)
{
	char *text = read_file(TOP "/selftests/cli/vectors/schemes.tsv"), *rest = text, *line;
	char kind[16], a[64], b[32], c[32];
	unsigned int counts[3] = {};

	test_begin("schemes: as a second implementation has them");
	while (text && (line = strsep(&rest, "\n"))) {
		if (sscanf(line, "%15s %63s %31s %31s", kind, a, b, c) < 3)
			continue;
		if (!strcmp(kind, "maglev")) {
			vector_maglev(a, b);
			counts[0]++;
		} else if (!strcmp(kind, "rendezvous")) {
			vector_rendezvous(a, b, c);
			counts[1]++;
		} else if (!strcmp(kind, "jump")) {
			check_jump(strtoull(a, NULL, 16), strtoul(b, NULL, 10),
				   strtoul(c, NULL, 10));
			counts[2]++;
		}
	}
	if (counts[0] < 6 || counts[1] < 300 || counts[2] < 240)
		test_fail("vectors are missing");
	test_end();
	free(text);
}

/*
 * Published for the paper's C++ function, by those who ported it: HashingTest of
 * Google's Guava.
 */
static void test_jump_published(void)
{
	static const uint8_t of_100[] = {
		0, 55, 62, 8, 45, 59, 86, 97, 82, 59, 73, 37, 17, 56, 86, 21, 90, 37, 38, 83,
	};
	uint32_t i;

	test_begin("schemes: jump as published");
	for (i = 0; i < sizeof(of_100); i++)
		check_jump(i, 100, of_100[i]);
	check_jump(10863919174838991ULL, 11, 6);
	check_jump(2016238256797177309ULL, 11, 3);
	check_jump(1673758223894951030ULL, 11, 5);
	test_end();
}

/* --- properties --- */

static void count(const uint16_t *of, uint32_t n_keys, uint32_t *owned, uint32_t n)
{
	uint32_t i;

	memset(owned, 0, n * sizeof(*owned));
	for (i = 0; i < n_keys; i++)
		owned[of[i]]++;
}

static uint32_t load_keys(const struct ctl_scheme *scheme, const void *state)
{
	uint32_t i;

	for (i = 0; i < KEYS; i++)
		keys[i] = ctl_scheme_random(i);
	scheme->steer(state, keys, owners, KEYS);
	return KEYS;
}

/* The paper: "jump consistent hash ... moves exactly those that it must". */
static void test_jump_grows(void)
{
	uint32_t n, i, moved, elsewhere;
	void *state;

	test_begin("schemes: jump moves to the new bucket and nowhere else");
	for (n = 1; n < 40; n++) {
		state = build(&ctl_scheme_jump, nodes, n, NULL);
		load_keys(&ctl_scheme_jump, state);
		discard(&ctl_scheme_jump, state);
		state = build(&ctl_scheme_jump, nodes, n + 1, NULL);
		ctl_scheme_jump.steer(state, keys, owners2, KEYS);
		discard(&ctl_scheme_jump, state);
		for (i = 0, moved = 0, elsewhere = 0; i < KEYS; i++) {
			moved += owners[i] != owners2[i];
			elsewhere += owners[i] != owners2[i] && owners2[i] != n;
		}
		/* Five deviations. */
		if (elsewhere || fabs(moved - KEYS / (n + 1.0)) > 5 * sqrt(KEYS / (n + 1.0)))
			test_fail("%u to %u: %u moved, %u of them elsewhere", n, n + 1, moved,
				  elsewhere);
	}
	test_end();
}

/* Whoever is removed, its keys move, and no others. */
static void check_exact(const struct ctl_scheme *scheme, uint32_t n)
{
	static struct chs_ring_node less[CHS_RING_NODES_MAX];
	void *state = build(scheme, nodes, n, NULL), *after;
	uint32_t which, i, now, wrong = 0;

	load_keys(scheme, state);
	for (which = 0; which < n; which++) {
		memcpy(less, nodes, n * sizeof(*less));
		memmove(less + which, less + which + 1, (n - 1 - which) * sizeof(*less));
		after = build(scheme, less, n - 1, state);
		scheme->steer(after, keys, owners2, KEYS);
		discard(scheme, after);
		for (i = 0; i < KEYS; i++) {
			now = owners2[i] + (owners2[i] >= which);
			wrong += (owners[i] != now) != (owners[i] == which);
		}
	}
	if (wrong)
		test_fail("%s, %u backends: %u keys", scheme->name, n, wrong);
	discard(scheme, state);
}

static void test_exact(void)
{
	test_begin("schemes: rings, rendezvous and slots move what the one removed had");
	make_nodes(10, 100);
	check_exact(&ctl_scheme_ring1, 10);
	check_exact(&ctl_scheme_ring, 10);
	check_exact(&ctl_scheme_rendezvous, 10);
	check_exact(&ctl_scheme_slots, 10);
	check_exact(&ctl_scheme_rendezvous, make_weights("100,50,100,7,300,1"));
	check_exact(&ctl_scheme_ring, make_weights("100,50,100,7,300,1"));
	test_end();
}

/* Shares by weight: rendezvous within what keys deviate by, tables to the slot. */
static void test_weights(void)
{
	static const char *const lists[] = { "1,10,100", "100,100,100", "300,7,100,50", "1,9999" };
	uint32_t i, k, n, total, owned[8], slots;
	double part;
	void *state;

	test_begin("schemes: shares as weights ask for");
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		n = make_weights(lists[i]);
		for (k = 0, total = 0; k < n; k++)
			total += nodes[k].weight;

		state = build(&ctl_scheme_rendezvous, nodes, n, NULL);
		load_keys(&ctl_scheme_rendezvous, state);
		count(owners, KEYS, owned, n);
		for (k = 0; k < n; k++) {
			part = (double)KEYS * nodes[k].weight / total;
			if (fabs(owned[k] - part) > 5 * sqrt(part) + 1)
				test_fail("rendezvous %s: %u has %u, not %.0f", lists[i], k,
					  owned[k], part);
		}
		discard(&ctl_scheme_rendezvous, state);

		state = build(&ctl_scheme_maglev, nodes, n, NULL);
		memset(owned, 0, sizeof(owned));
		for (slots = 0; slots < CTL_MAGLEV_SLOTS; slots++)
			owned[owner_of(&ctl_scheme_maglev, state, slots)]++;
		for (k = 0; k < n; k++) {
			part = (double)CTL_MAGLEV_SLOTS * nodes[k].weight / total;
			if (fabs(owned[k] - part) > 1.001)
				test_fail("maglev %s: %u has %u, not %.1f", lists[i], k, owned[k],
					  part);
		}
		discard(&ctl_scheme_maglev, state);
	}
	test_end();
}

/* Through a history each owns its part to the slot, and no slot moves in vain. */
static void test_slots(void)
{
	uint32_t n = 1, i, step, owned[64], least, most, moved;
	struct slot_key { uint64_t key; uint16_t was; } *all = calloc(16384, sizeof(*all));
	void *state, *after;

	test_begin("schemes: slots stay even, and none moves in vain");
	make_nodes(64, 100);
	state = build(&ctl_scheme_slots, nodes, n, NULL);
	for (i = 0; i < 16384; i++)
		all[i].key = ctl_scheme_slots.key(state, i);
	for (step = 0; step < 60; step++) {
		n += step < 40 ? 1 : -1;
		for (i = 0; i < 16384; i++)
			all[i].was = owner_of(&ctl_scheme_slots, state, all[i].key);
		after = build(&ctl_scheme_slots, nodes, n, state);
		discard(&ctl_scheme_slots, state);
		state = after;

		memset(owned, 0, sizeof(owned));
		for (i = 0, moved = 0; i < 16384; i++) {
			const uint16_t now = owner_of(&ctl_scheme_slots, state, all[i].key);

			owned[now]++;
			moved += now != all[i].was && (step < 40 ? now != n - 1 : all[i].was != n);
		}
		for (i = 0, least = 16384, most = 0; i < n; i++) {
			least = owned[i] < least ? owned[i] : least;
			most = owned[i] > most ? owned[i] : most;
		}
		if (most - least > 1 || moved)
			test_fail("%u backends: %u to %u slots, %u moved in vain", n, least, most,
				  moved);
	}
	discard(&ctl_scheme_slots, state);
	free(all);
	test_end();
}

/* What is measured of a ring is what the ring's own functions say. */
static void test_measure_ring(void)
{
	struct ctl_nodes set = { .conf = conf_make(), .nodes = nodes, .n = 6 };
	struct chs_ring_node less[8];
	struct chs_ring ring, after;
	struct ctl_figures figures;
	uint64_t moved = 0, least = 0;
	uint32_t i;

	test_begin("schemes: balanced, measured, is what the ring does");
	make_weights("100,50,100,7,300,1");
	if (chs_ring_build(&ring, &set.conf, nodes, 6, NULL))
		test_fail("cannot be built");
	for (i = 0; i < 6; i++) {
		memcpy(less, nodes, 6 * sizeof(*less));
		memmove(less + i, less + i + 1, (5 - i) * sizeof(*less));
		if (chs_ring_build(&after, &set.conf, less, 5, NULL))
			test_fail("cannot be built");
		moved += chs_ring_moved(&ring, &after);
		least += ring.shares[i];
		chs_ring_clear(&after);
	}
	chs_ring_clear(&ring);
	if (ctl_measure(&ctl_scheme_balanced, &set, CTL_EVENT_REMOVE, &figures) ||
	    figures.moved != moved || figures.least != least || figures.of != 6 * 16384)
		test_fail("%llu moved, %llu least; expected %llu, %llu",
			  (unsigned long long)figures.moved, (unsigned long long)figures.least,
			  (unsigned long long)moved, (unsigned long long)least);
	test_end();
}

/* --- the command --- */

/* A scheme's number in JSON, NAN for null or where there is none. */
static double number(const char *json, const char *scheme, const char *key)
{
	const char *at, *value, *end;
	char word[64];

	snprintf(word, sizeof(word), "\"scheme\": \"%s\"", scheme);
	at = strstr(json, word);
	end = at ? strchr(at, '}') : NULL;
	snprintf(word, sizeof(word), "\"%s\": ", key);
	value = at ? strstr(at, word) : NULL;
	if (!value || !end || value > end || !strncmp(value + strlen(word), "null", 4))
		return NAN;
	return strtod(value + strlen(word), NULL);
}

static const char *const all[] = {
	"modulo", "ring1", "ring", "balanced", "maglev", "rendezvous", "jump", "slots", NULL
};

static void expect_between(const struct outcome *outcome, const char *scheme, const char *key,
			   double low, double high)
{
	const double x = number(outcome->out, scheme, key);

	if (!(x >= low && x <= high))
		test_fail("%s %s: %g, expected %g to %g", scheme, key, x, low, high);
}

static void expect_null(const struct outcome *outcome, const char *scheme, const char *key)
{
	if (!isnan(number(outcome->out, scheme, key)))
		test_fail("%s %s: not null", scheme, key);
}

/* Without a module, and without asking for one. */
static void begin(const char *what, const char *line, struct outcome *outcome)
{
	fake = (struct fake){ .no_module = true };
	test_begin("simulate: %s", what);
	run(line, "", outcome);
	expect_status(outcome, 0);
	expect_is("stderr", outcome->err, "");
	expect_is("requests", outcome->requests, "");
}

static void end(struct outcome *outcome)
{
	outcome_free(outcome);
	test_end();
	fake = (struct fake){};
}

static void test_textbook(void)
{
	struct outcome outcome;

	begin("four fifths move by modulo, one fifth on the ring",
	      "-j simulate backends 5 points 512 slots 16384", &outcome);
	expect_between(&outcome, "modulo", "moved", 0.795, 0.805);
	expect_between(&outcome, "ring", "moved", 0.199, 0.201);
	expect_between(&outcome, "rendezvous", "moved", 0.199, 0.201);
	expect_between(&outcome, "slots", "moved", 0.199, 0.201);
	end(&outcome);

	begin("100 points make five even", "-j simulate backends 5 points 100", &outcome);
	expect_between(&outcome, "ring1", "peak", 2.0, 5.0);
	expect_between(&outcome, "ring", "peak", 1.01, 1.12);
	end(&outcome);

	begin("similar names spread like any others",
	      "-j simulate backends 8 points 512 slots 16384", &outcome);
	expect_between(&outcome, "ring", "peak", 1.0, 1.13);
	end(&outcome);

	/* The paper's table, as the project measured it: 1.59 times the least. */
	begin("Maglev's table of 65,537 among a hundred", "-j simulate backends 100 slots 1024",
	      &outcome);
	expect_between(&outcome, "maglev", "peak", 1.0, 1.002);
	expect_between(&outcome, "maglev", "times", 1.4, 1.8);
	expect_between(&outcome, "maglev", "least", 0.00999, 0.01001);
	end(&outcome);
}

static void test_events(void)
{
	struct outcome outcome;
	int i;

	begin("remove", "-j simulate backends 7 slots 1024 event remove", &outcome);
	for (i = 0; all[i]; i++) {
		expect_between(&outcome, all[i], "lookup_ns", 0, 1e9);
		expect_between(&outcome, all[i], "build_ms", 0, 1e9);
		expect_between(&outcome, all[i], "bytes", 1, 1e9);
		if (!strcmp(all[i], "jump"))
			continue;
		/* Each in turn: together they had everything. */
		expect_between(&outcome, all[i], "least", 1 / 7.0 - 1e-9, 1 / 7.0 + 1e-9);
	}
	expect_null(&outcome, "jump", "moved");
	expect_between(&outcome, "modulo", "moved", 0.85, 0.865);
	/* 5376 points are not kept; of 30 backends they would be. */
	expect_between(&outcome, "balanced", "bytes", 2 * 1024, 2 * 1024 + 1000);
	end(&outcome);

	begin("add", "-j simulate backends 7 slots 1024 event add", &outcome);
	expect_between(&outcome, "modulo", "moved", 0.865, 0.885);
	for (i = 0; all[i]; i++) {
		if (strcmp(all[i], "ring1"))
			expect_between(&outcome, all[i], "least", 0.115, 0.135);
		if (strcmp(all[i], "modulo") && strcmp(all[i], "balanced") &&
		    strcmp(all[i], "maglev"))
			expect_between(&outcome, all[i], "times", 1, 1);
	}
	end(&outcome);

	begin("weight", "-j simulate backends 7 slots 1024 event weight", &outcome);
	expect_null(&outcome, "modulo", "moved");
	expect_null(&outcome, "jump", "moved");
	/* From 1/7 to 1/13. */
	expect_between(&outcome, "maglev", "least", 0.0655, 0.0665);
	expect_between(&outcome, "rendezvous", "least", 0.064, 0.068);
	expect_between(&outcome, "rendezvous", "times", 1, 1);
	expect_between(&outcome, "slots", "times", 1, 1);
	expect_between(&outcome, "ring", "times", 1, 1);
	end(&outcome);

	begin("one backend, and it goes", "-j simulate backends 1 slots 256", &outcome);
	for (i = 0; all[i]; i++) {
		if (strcmp(all[i], "jump"))
			expect_between(&outcome, all[i], "moved", 1, 1);
	}
	end(&outcome);
}

static void test_weighted(void)
{
	struct outcome outcome;

	begin("weights, over again",
	      "-j simulate backends 6 weights 100,50,30 slots 4096 balance 1.05", &outcome);
	expect_in("stdout", outcome.out,
		  "{\"service\": null, \"backends\": 6, \"event\": \"remove\", \"turns\": 6, ");
	expect_in("stdout", outcome.out, "\"slots\": 4096, \"balance\": 1.05, \"schemes\": [");
	/* A sixth each, where a twelfth is asked for: 30 of 360. */
	expect_between(&outcome, "modulo", "peak", 1.99, 2.01);
	expect_between(&outcome, "jump", "peak", 1.97, 2.03);
	expect_between(&outcome, "balanced", "peak", 1.0, 1.06);
	expect_between(&outcome, "rendezvous", "peak", 1.0, 1.02);
	expect_between(&outcome, "slots", "peak", 1.0, 1.01);
	end(&outcome);

	begin("as many as weights", "-j simulate weights 100,100,100 slots 256 event weight",
	      &outcome);
	expect_in("stdout", outcome.out, "\"backends\": 3,");
	end(&outcome);

	begin("above a hundred a hundred have their turn",
	      "-j simulate backends 130 slots 256 points 8", &outcome);
	expect_in("stdout", outcome.out,
		  "\"backends\": 130, \"event\": \"remove\", \"turns\": 100,");
	end(&outcome);

	begin("text", "simulate backends 3 points 64 slots 256 event weight", &outcome);
	expect_in("stdout", outcome.out,
		  "backends 3 event weight turns 3 points 64 unit 100 slots 256 balance 1.08\n"
		  "    modulo     peak 1.000 spread 0.000 moved -");
	expect_in("stdout", outcome.out, "\n    rendezvous peak 1.0");
	end(&outcome);
}

#define FIVE(options) \
	"service add web tcp 192.0.2.1:443 " options "\n" \
	"backend add web 10.0.0.2 10.0.0.1 10.0.0.5:443\nbackend add web 10.0.0.4 10.0.0.3\n"
#define UNUSED \
	"backend add web 10.0.0.9 state drain\nbackend add web 10.0.0.8 weight 0\n" \
	"backend add web 10.0.0.7 state down\n"

static void test_file(void)
{
	static const char *const exact[] = { "peak", "spread", "moved", "least", "bytes", "keys" };
	struct outcome outcome, made_up;
	char line[256];
	int i;
	size_t k;

	test_begin("simulate: a file's backends, those that take part");
	run("-j simulate backends 5 points 64 slots 1024 balance 1.10", "", &made_up);
	scratch_write("five", FIVE("points 64 slots 1024 balance 1.10") UNUSED,
		      strlen(FIVE("points 64 slots 1024 balance 1.10") UNUSED));
	snprintf(line, sizeof(line), "-j simulate %s", scratch("five"));
	run(line, "", &outcome);
	expect_status(&outcome, 0);
	expect_in("stdout", outcome.out, "{\"service\": \"web\", \"backends\": 5, ");
	for (i = 0; all[i]; i++) {
		for (k = 0; k < sizeof(exact) / sizeof(exact[0]); k++) {
			const double a = number(outcome.out, all[i], exact[k]);
			const double b = number(made_up.out, all[i], exact[k]);

			if (a != b && !(isnan(a) && isnan(b)))
				test_fail("%s %s: %g, made up %g", all[i], exact[k], a, b);
		}
	}
	outcome_free(&outcome);
	test_end();

	test_begin("simulate: the command line before the file");
	snprintf(line, sizeof(line), "-j simulate %s points 9 balance 1.5 event add",
		 scratch("five"));
	run(line, "", &outcome);
	expect_status(&outcome, 0);
	expect_in("stdout", outcome.out, "\"event\": \"add\", \"turns\": 5, \"points\": 9, "
		  "\"unit\": 100, \"slots\": 1024, \"balance\": 1.50,");
	outcome_free(&outcome);
	test_end();

	test_begin("simulate: a file's seed");
	run("-j simulate -", FIVE("points 64 slots 1024 seed 00112233445566778899aabbccddeeff"),
	    &outcome);
	expect_status(&outcome, 0);
	if (number(outcome.out, "ring", "peak") == number(made_up.out, "ring", "peak"))
		test_fail("it makes no difference");
	outcome_free(&outcome);
	outcome_free(&made_up);
	test_end();
}

static void test_refused(void)
{
	static const char two[] = FIVE("") "service add dns udp 192.0.2.1:53\n"
				  "backend add dns 10.0.0.1 10.0.0.2\n";
	static const struct {
		const char *line;
		const char *input;
		int status;
		const char *message;
	} cases[] = {
		{ "simulate backends 0", "", 1, "backends '0': not 1 to 4096" },
		{ "simulate backends 4097", "", 1, "backends '4097': not 1 to 4096" },
		{ "simulate backends 4096 event add", "", 1, "not 1 to 4095" },
		{ "simulate backends 5 points 4097", "", 1, "points '4097': not 1 to 4096" },
		{ "simulate backends 5 unit 0", "", 1, "unit '0': not 1 to 10000" },
		{ "simulate backends 5 slots 1000", "", 1, "slots '1000': not a power of two" },
		{ "simulate backends 5 slots 128", "", 1, "slots '128': not 256 to 1048576" },
		{ "simulate backends 5 balance 1.00", "", 1, "balance '1.00': neither off nor" },
		{ "simulate backends 5 balance 2.01", "", 1, "balance '2.01': neither off nor" },
		{ "simulate backends 5 event drop", "", 1, "event 'drop': not remove, add or" },
		{ "simulate backends 2 weights 1,2,3", "", 1, "3 of them for 2 backends" },
		{ "simulate weights 1,,2", "", 1, "weights '': not a plain decimal number" },
		{ "simulate weights 5,0", "", 1, "weights '0': takes no part" },
		{ "simulate weights 10001", "", 1, "weights '10001': more than 10000" },
		{ "simulate backends 5 backends 5", "", 1, "backends: given twice" },
		{ "simulate backends 5 service web", "", 1, "service: only with a FILE" },
		{ "simulate backends 4096 points 4096", "", 2, "Error: ENOSPC: ring: " },
		{ "simulate - backends 5", two, 1, "backends: not with a FILE" },
		{ "simulate - weights 5", two, 1, "weights: not with a FILE" },
		{ "simulate -", two, 1, "2 services: which?" },
		{ "simulate - service tcp", two, 2, "Error: ENOENT: -: no service 'tcp'" },
		{ "simulate -", "", 2, "Error: ENOENT: -: no service in this file" },
		{ "simulate -", "service add web tcp 192.0.2.1:443\n", 2,
		  "service web: no backend that takes new flows" },
		{ "simulate -", "\nservice add web tcp 192.0.2.1:443 points 0\n", 1,
		  "stdin:2: points '0'" },
		{ "simulate -", FIVE("") "backend add web 10.0.0.3:443\n", 2,
		  "Error: EEXIST: stdin:4: backend 10.0.0.3:443 of service 'web' is named twice" },
		{ "simulate -", "service add web tcp 192.0.2.1:443\n"
		  "service add web tcp 192.0.2.1:80\n", 2, "EEXIST: stdin:2: service 'web'" },
		{ "simulate -", "backend add web 10.0.0.3\n", 2,
		  "ENOENT: stdin:1: no service 'web'" },
		{ "simulate -", "service add web tcp 192.0.2.1:443\n"
		  "backend add web 10.0.0.3 weight 10001\n", 1,
		  "stdin:2: weight '10001': more than" },
		{ "simulate -", FIVE("") "flush\n", 1, "stdin:4: 'flush': only service add" },
		{ "simulate /nowhere/file", "", 2, "Error: ENOENT: /nowhere/file: no such file" },
		{ "simulate 5", "", 2, "Error: ENOENT: 5: no such file" },
		{ "simulate failures", "", 1, "argument missing" },
		{ "simulate failures web", "", 2, "Error: ENOMODULE: " },
		{ "simulate failures -", two, 1, "2 services: which?" },
		{ "simulate failures - event add", two, 1, "'event': not an option here" },
		{ "simulate failures -", "service add web tcp 192.0.2.1:443\n"
		  "backend add web 10.0.0.1\n", 2, "one backend, which none would survive" },
	};
	struct outcome outcome;
	size_t i;

	fake = (struct fake){ .no_module = true };
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		test_begin("exit %d: chctl %s: %s", cases[i].status, cases[i].line,
			   cases[i].message);
		run(cases[i].line, cases[i].input, &outcome);
		expect_status(&outcome, cases[i].status);
		expect_is("stdout", outcome.out, "");
		expect_in("stderr", outcome.err, cases[i].message);
		outcome_free(&outcome);
		test_end();
	}
	fake = (struct fake){};
}

/* --- failures --- */

static void vector_failure(const char *json, const char *line)
{
	unsigned int k, survivor, arcs, failed[2], n;
	const char *at, *stop;
	char word[128];

	n = sscanf(line, "failures 100,100,50,100,200 40 1024 %u %u %u %u,%u", &k, &survivor,
		   &arcs, &failed[0], &failed[1]);
	if (n != 3 + k) {
		test_fail("%s: not understood", line);
		return;
	}
	snprintf(word, sizeof(word), "{\"failures\": %u, ", k);
	at = strstr(json, word);
	at = at ? strstr(at, "\"survivors\": ") : NULL;
	snprintf(word, sizeof(word), "{\"address\": \"10.0.0.%u\", ", survivor + 1);
	at = at ? strstr(at, word) : NULL;
	stop = at ? strchr(at, '}') : NULL;
	if (!stop) {
		test_fail("%s: missing in\n%s", line, json);
		return;
	}
	snprintf(word, sizeof(word), "\"share\": %.10g, ", arcs / 1024.0);
	if (strstr(at, word) > stop || !strstr(at, word))
		test_fail("%s: not %s", line, word);
	n = snprintf(word, sizeof(word), "\"failed\": [\"10.0.0.%u:443\"", failed[0] + 1);
	if (k > 1)
		snprintf(word + n, sizeof(word) - n, ", \"10.0.0.%u:443\"", failed[1] + 1);
	strcat(word, "]}");
	if (strstr(at, word) != stop + 1 - strlen(word))
		test_fail("%s: not %s", line, word);
}

#define SKEWED(options) \
	"service add web tcp 192.0.2.1:443 points 40 slots 1024 " options "\n" \
	"backend add web 10.0.0.1 10.0.0.2 10.0.0.4\n" \
	"backend add web 10.0.0.3 weight 50\nbackend add web 10.0.0.5 weight 200\n"

static void test_failures_file(void)
{
	char *text = read_file(TOP "/selftests/cli/vectors/schemes.tsv"), *rest = text, *line;
	struct outcome outcome;
	unsigned int n = 0;

	fake = (struct fake){ .no_module = true };
	test_begin("simulate failures: as a second implementation has them");
	run("-j simulate failures -", SKEWED("balance off"), &outcome);
	expect_status(&outcome, 0);
	expect_is("requests", outcome.requests, "");
	while (text && (line = strsep(&rest, "\n"))) {
		if (strncmp(line, "failures", 8))
			continue;
		vector_failure(outcome.out, line);
		n++;
	}
	if (n != 10)
		test_fail("%u vectors, expected 10", n);
	free(text);
	expect_golden(outcome.out, "failures.json");
	outcome_free(&outcome);
	test_end();

	test_begin("simulate failures: text");
	run("simulate failures -", SKEWED("balance off"), &outcome);
	expect_status(&outcome, 0);
	expect_golden(outcome.out, "failures.txt");
	outcome_free(&outcome);
	test_end();
	fake = (struct fake){};
}

/* Under a bound no survivor gets over it, whoever fails. */
static void test_failures_balanced(void)
{
	struct outcome outcome;
	double over, fair;
	const char *at;
	int n = 0;

	test_begin("simulate failures: a balanced ring stays balanced");
	run("-j simulate failures -", SKEWED("balance 1.05"), &outcome);
	expect_status(&outcome, 0);
	for (at = outcome.out; (at = strstr(at, "\"overload\": ")); at++, n++) {
		over = strtod(at + strlen("\"overload\": "), NULL);
		at = strstr(at, "\"fair\": ");
		fair = strtod(at + strlen("\"fair\": "), NULL);
		/* And a slot of the 93 that the lightest is to have. */
		if (over > fair * 1.05 + 1 / 93.0 || over < 1)
			test_fail("overload %g of at least %g", over, fair);
	}
	if (n != 12)
		test_fail("%d figures", n);
	outcome_free(&outcome);
	test_end();
}

/* With far more backends than the ring has room for some never get anything. */
static void test_failures_starved(void)
{
	struct outcome outcome;
	char text[8192];
	int i, len;

	len = snprintf(text, sizeof(text), "service add web tcp 192.0.2.1:80 slots 256 points 1 "
		       "balance off\nbackend add web 10.0.0.1 weight 119\n");
	for (i = 2; i <= 120; i++)
		len += snprintf(text + len, sizeof(text) - len,
				"backend add web 10.0.0.%d weight 1\n", i);

	test_begin("simulate failures: who gets nothing in any case");
	run("-j simulate failures -", text, &outcome);
	expect_status(&outcome, 0);
	expect_in("stdout", outcome.out, "\"before\": 0, \"share\": 0, \"overload\": 0, ");
	if (strstr(outcome.out, "inf") ||
	    strstr(outcome.out, "\"failed\": [\"10.0.0.1:80\", \"10.0.0.1:80\"]"))
		test_fail("one backend fails twice");
	outcome_free(&outcome);
	test_end();
}

static void test_failures_service(void)
{
	struct outcome outcome, file;

	fake = (struct fake){ .data = true };
	test_begin("simulate failures: a service of the kernel's");
	run("-j simulate failures edge", "", &outcome);
	expect_status(&outcome, 0);
	expect_in("requests", outcome.requests, "backend-get dump service{ name=edge }");
	run("-j simulate failures -",
	    "service add edge tcp 192.0.2.20:80 mode gue slots 256 points 512 balance off\n"
	    "backend add edge 10.0.2.1 2001:db8:b::9\n", &file);
	expect_is("stdout", outcome.out, file.out);
	expect_in("stdout", outcome.out,
		  "\"failures\": [{\"failures\": 1, \"cases\": 2, \"tried\": 2, ");
	expect_in("stdout", outcome.out, "\"overload\": 2, \"fair\": 2, ");
	outcome_free(&outcome);
	outcome_free(&file);
	test_end();

	test_begin("simulate failures: a file with the defaults");
	run("-j simulate failures -",
	    "service add edge tcp 192.0.2.20:80\nbackend add edge 10.0.2.1 10.0.2.2\n", &file);
	expect_in("stdout", file.out, "\"points\": 768, \"unit\": 100, \"slots\": 65536, "
		  "\"balance\": 1.08");
	outcome_free(&file);
	test_end();

	test_begin("simulate failures: no such service and no such file");
	run("simulate failures none", "", &outcome);
	expect_status(&outcome, 2);
	expect_in("stderr", outcome.err, "Error: ENOENT: ");
	outcome_free(&outcome);
	test_end();

	test_begin("simulate failures: without the right to see a seed");
	fake.secret = true;
	run("simulate failures any", "", &outcome);
	expect_status(&outcome, 2);
	expect_in("stderr", outcome.err, "Error: EPERM: service any: its seed");
	outcome_free(&outcome);
	test_end();
	fake = (struct fake){};
}

static void test_failures_many(void)
{
	struct outcome outcome;
	char text[8192];
	size_t len;
	int i;

	len = sprintf(text, "service add web tcp 192.0.2.1:443 points 4 slots 512\n");
	for (i = 1; i <= 110; i++)
		len += sprintf(text + len, "backend add web 10.0.0.%d\n", i);
	test_begin("simulate failures: of too many pairs some are tried");
	run("-j simulate failures -", text, &outcome);
	expect_status(&outcome, 0);
	expect_in("stdout", outcome.out, "{\"failures\": 1, \"cases\": 110, \"tried\": 110, ");
	expect_in("stdout", outcome.out, "{\"failures\": 2, \"cases\": 5995, \"tried\": 1000, ");
	outcome_free(&outcome);
	test_end();
}

void test_simulate(void)
{
	fake = (struct fake){};
	test_vectors();
	test_jump_published();
	test_jump_grows();
	test_exact();
	test_weights();
	test_slots();
	test_measure_ring();
	test_textbook();
	test_events();
	test_weighted();
	test_file();
	test_refused();
	test_failures_file();
	test_failures_balanced();
	test_failures_starved();
	test_failures_service();
	test_failures_many();
}
