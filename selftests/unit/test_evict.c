// SPDX-License-Identifier: GPL-2.0-only
/*
 * A full table: which flow gives way to which, and what a sender of made-up
 * flows has to send to have a running connection forgotten.
 */

#include "affinity.h"
#include "unit.h"

#include <string.h>

enum { OWNER = 1, FORMER, NONE = CHS_RING_NONE };

/* As kmod/flow.c takes them out of its table. */
#define SAMPLE		16

#define MAX_FLOWS	5000
#define TIMEOUT		900
#define RUNNING		500
#define EVENTS_MAX	70000

/* How much flows are worth to a SYN, and to a packet of one that was running. */
static const struct {
	const char *name;
	struct chs_pin pin;
	struct chs_tenure tenure;
	enum chs_worth syn;
	enum chs_worth running;
} rows[] = {
	{ "active", { FORMER, NONE, false, false, false },
	  { true, false, false, 2 }, CHS_WORTH_KEPT, CHS_WORTH_KEPT },
	{ "silent", { FORMER, NONE, false, false, false },
	  { true, false, false, 3 }, CHS_WORTH_KEPT, CHS_WORTH_ESTABLISHED },
	{ "silent for long", { FORMER, NONE, false, false, false },
	  { true, false, false, TIMEOUT / 2 + 1 }, CHS_WORTH_ESTABLISHED,
	  CHS_WORTH_ESTABLISHED },
	{ "begun", { OWNER, NONE, false, false, false },
	  { true, true, false, TIMEOUT / 2 }, CHS_WORTH_KEPT, CHS_WORTH_KEPT },
	{ "begun, silent for long", { OWNER, NONE, false, false, false },
	  { true, true, false, TIMEOUT / 2 + 1 }, CHS_WORTH_ESTABLISHED,
	  CHS_WORTH_ESTABLISHED },
	{ "expired", { OWNER, NONE, false, false, true },
	  { true, true, true, TIMEOUT + 1 }, CHS_WORTH_ENDED,
	  CHS_WORTH_ENDED },
	{ "ended", { OWNER, NONE, false, true, false },
	  { true, true, false, 0 }, CHS_WORTH_ENDED, CHS_WORTH_ENDED },
	{ "handshake", { OWNER, FORMER, true, false, false },
	  { false, true, false, 2 }, CHS_WORTH_KEPT, CHS_WORTH_KEPT },
	{ "handshake on an ended one", { OWNER, FORMER, true, true, false },
	  { false, true, false, 2 }, CHS_WORTH_KEPT, CHS_WORTH_KEPT },
	{ "abandoned", { OWNER, FORMER, true, false, true },
	  { false, true, false, 3 }, CHS_WORTH_NEW, CHS_WORTH_NEW },
	{ "dead", { NONE, NONE, false, false, false },
	  { true, false, false, 0 }, CHS_WORTH_ENDED, CHS_WORTH_ENDED },
	{ "dead after a SYN", { NONE, NONE, true, false, false },
	  { true, true, false, 0 }, CHS_WORTH_ENDED, CHS_WORTH_ENDED },
	{ "dead after a SYN, not before", { NONE, FORMER, true, false, false },
	  { true, true, false, 3 }, CHS_WORTH_KEPT, CHS_WORTH_KEPT },
};

void test_evict_worth(void)
{
	const struct chs_choice syn = {
		.reason = CHS_REASON_RING, .unconfirmed = true,
	}, running = { .reason = CHS_REASON_FORMER_OWNER };
	struct chs_claim claims[2], crowded;
	bool was_failed;
	size_t i;

	chs_affinity_claim(&syn, CHS_ROLE_DATA, 49, 99, TIMEOUT, &claims[0]);
	chs_affinity_claim(&running, CHS_ROLE_DATA, 99, 99, TIMEOUT,
			   &claims[1]);
	CHECK(!claims[0].crowded && !claims[1].crowded);
	chs_affinity_claim(&syn, CHS_ROLE_DATA, 50, 99, TIMEOUT, &crowded);
	CHECK(crowded.crowded);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		was_failed = unit_failed();
		CHECK_EQ(chs_affinity_worth(&rows[i].pin, &rows[i].tenure,
					    &claims[0]), rows[i].syn);
		CHECK_EQ(chs_affinity_worth(&rows[i].pin, &rows[i].tenure,
					    &claims[1]), rows[i].running);
		/* Its own kind only. */
		CHECK_EQ(chs_affinity_worth(&rows[i].pin, &rows[i].tenure,
					    &crowded), rows[i].tenure.begun ?
			 rows[i].syn : CHS_WORTH_KEPT);
		if (unit_failed() && !was_failed)
			unit_note("%s", rows[i].name);
	}
	/* Nothing says that a datagram is of a new flow. */
	chs_affinity_claim(&(struct chs_choice) { .reason = CHS_REASON_RING },
			   CHS_ROLE_ANY, 99, 99, TIMEOUT, &crowded);
	CHECK(crowded.running && !crowded.crowded);
}

struct sender;

/* A flow that is remembered. */
struct memory {
	struct sender *whose;
	struct chs_pin pin;
	struct chs_tenure tenure;
	u32 last;
};

struct sender {
	struct memory *memory;
	/* Backend that it has to be on. */
	__u16 on;
};

/* Flow table of a service all of whose arcs are alike. */
struct table {
	enum chsteer_affinity affinity;
	enum chs_role role;
	struct chs_arc arc;
	u32 now;
	u32 n;
	u32 n_begun;
	struct memory flows[MAX_FLOWS];
};

static struct memory *make_room(struct table *table,
				const struct chs_claim *claim)
{
	enum chs_worth least = CHS_WORTH_KEPT, this;
	struct memory *flow, *victim = NULL;
	u32 i, longest = 0;

	if (!claim->crowded && table->n < MAX_FLOWS)
		return &table->flows[table->n++];

	for (i = 0; i < SAMPLE; i++) {
		flow = &table->flows[rnd_below(table->n)];
		flow->tenure.idle = table->now - flow->last;
		flow->tenure.expired = flow->tenure.idle > TIMEOUT;
		this = chs_affinity_worth(&flow->pin, &flow->tenure, claim);
		if (this < least || (this == least && victim &&
				     flow->tenure.idle > longest)) {
			least = this;
			longest = flow->tenure.idle;
			victim = flow;
		}
	}
	if (victim) {
		victim->whose->memory = NULL;
		table->n_begun -= victim->tenure.begun;
	}
	return victim;
}

static void remember(struct table *table, struct sender *sender,
		     struct chs_choice *choice)
{
	struct chs_claim claim;
	struct memory *flow;

	chs_affinity_claim(choice, table->role, table->n_begun, MAX_FLOWS,
			   TIMEOUT, &claim);
	flow = make_room(table, &claim);
	if (!flow) {
		choice->backend = choice->fallback;
		return;
	}
	*flow = (struct memory) {
		.whose = sender,
		.pin = {
			.backend = choice->backend,
			.previous = choice->previous,
			.unconfirmed = choice->unconfirmed,
		},
		.tenure = {
			.established = chs_affinity_running(choice),
			.begun = choice->unconfirmed,
		},
		.last = table->now,
	};
	sender->memory = flow;
	table->n_begun += choice->unconfirmed;
}

/* Returns the backend that the packet goes to. */
static __u16 arrive(struct table *table, struct sender *sender,
		    enum chs_role role)
{
	struct memory *flow = sender->memory;
	struct chs_choice choice;

	chs_affinity_choose(table->affinity, &table->arc,
			    flow ? &flow->pin : NULL, role, true, &choice);
	if (choice.action == CHS_PIN_CREATE) {
		remember(table, sender, &choice);
	} else if (flow) {
		flow->last = table->now;
		flow->tenure.established = true;
		if (choice.action == CHS_PIN_CONFIRM)
			flow->pin.unconfirmed = false;
	}
	return choice.backend;
}

static void begin(struct table *table, enum chsteer_affinity affinity,
		  enum chs_role role)
{
	memset(table, 0, sizeof(*table));
	table->affinity = affinity;
	table->role = role;
	table->now = 1000;
	table->arc = (struct chs_arc) {
		.state = affinity == CHS_AFFINITY_FLOW ? CHS_ARC_SETTLED :
							 CHS_ARC_OPEN,
		.in_window = true,
		.owner = OWNER,
		.former = affinity == CHS_AFFINITY_FLOW ? NONE : FORMER,
	};
}

/* Each of a made-up flow: */
enum forgery {
	/* one packet of a running flow, or datagram */
	ONE,
	/* two datagrams */
	TWO,
	/* a SYN and what follows it */
	PAIR,
};

static void forge(struct table *table, struct sender *sender,
		  enum forgery forgery)
{
	arrive(table, sender, forgery == PAIR ? CHS_ROLE_SYN : table->role);
	if (forgery != ONE)
		arrive(table, sender, table->role);
}

/*
 * A second: of @n real flows each has a packet every @interval of them, among
 * @n_forged made-up ones.
 */
static void second(struct table *table, struct sender *real, u32 n,
		   u32 interval, struct sender *forged, u32 n_forged,
		   enum forgery forgery)
{
	static struct sender *events[EVENTS_MAX];
	struct sender *event;
	u32 i, k, count = 0;

	for (i = 0; i < n; i++)
		if ((table->now + i) % interval == 0)
			events[count++] = &real[i];
	for (i = 0; i < n_forged; i++)
		events[count++] = &forged[i];
	for (i = 0; i < count; i++) {
		k = i + rnd_below(count - i);
		event = events[k];
		events[k] = events[i];
		if (event >= real && event < real + n)
			CHECK_EQ(arrive(table, event, table->role), event->on);
		else
			forge(table, event, forgery);
	}
}

static u32 forgotten(const struct sender *real, u32 n)
{
	u32 i, count = 0;

	for (i = 0; i < n; i++)
		count += !real[i].memory;
	return count;
}

/*
 * 10,500 times a SYN and an ACK from made-up sources: what has begun stays where
 * it is, and what was running is remembered by the end of the window.
 */
void test_evict_pairs(void)
{
	static struct sender running[RUNNING], begun[RUNNING], forged[10500];
	static struct table table;
	u32 i, until;

	begin(&table, CHS_AFFINITY_TRANSITION, CHS_ROLE_DATA);
	memset(running, 0, sizeof(running));
	memset(begun, 0, sizeof(begun));
	memset(forged, 0, sizeof(forged));
	for (i = 0; i < RUNNING; i++) {
		running[i].on = FORMER;
		begun[i].on = arrive(&table, &begun[i], CHS_ROLE_SYN);
		CHECK_EQ(begun[i].on, OWNER);
		arrive(&table, &begun[i], CHS_ROLE_DATA);
	}
	for (i = 0; i < ARRAY_SIZE(forged); i++)
		forge(&table, &forged[i], PAIR);
	CHECK_EQ(table.n, MAX_FLOWS);
	CHECK_EQ(table.n_begun, MAX_FLOWS / 2);

	for (until = table.now + 25; table.now < until; table.now++) {
		second(&table, running, RUNNING, 10, NULL, 0, ONE);
		second(&table, begun, RUNNING, 10, NULL, 0, ONE);
	}
	unit_note("forgotten: %u of %u that were running, %u of %u that have begun",
		  forgotten(running, RUNNING), RUNNING,
		  forgotten(begun, RUNNING), RUNNING);
	CHECK_EQ(forgotten(running, RUNNING), 0);
	CHECK_EQ(forgotten(begun, RUNNING), 0);

	/* A connection that begins, and finds no room, goes where its next packets will. */
	memset(&begun[0], 0, sizeof(begun[0]));
	CHECK_EQ(arrive(&table, &begun[0], CHS_ROLE_SYN), FORMER);
	CHECK_EQ(arrive(&table, &begun[0], CHS_ROLE_DATA), FORMER);
}

/* A sender of made-up flows, of which it sends some every second. */
struct attack {
	const char *name;
	enum chsteer_affinity affinity;
	enum chs_role role;
	enum forgery forgery;
	/* Room for those that have begun is filled first. */
	bool filled;
	/*
	 * Sent between two packets of a running connection, in per cent of
	 * max-flows, and per mille of those that are forgotten at any one time.
	 */
	u32 percent;
	u32 least;
	u32 most;
};

/* As chctl(8) says. */
static const struct attack attacks[] = {
	{ "running", CHS_AFFINITY_TRANSITION, CHS_ROLE_DATA, ONE, false,
	  50, 0, 0 },
	{ "running", CHS_AFFINITY_TRANSITION, CHS_ROLE_DATA, ONE, false,
	  100, 0, 150 },
	{ "running, after pairs", CHS_AFFINITY_TRANSITION, CHS_ROLE_DATA, ONE,
	  true, 25, 0, 20 },
	{ "running, after pairs", CHS_AFFINITY_TRANSITION, CHS_ROLE_DATA, ONE,
	  true, 50, 0, 250 },
	{ "running, after pairs", CHS_AFFINITY_TRANSITION, CHS_ROLE_DATA, ONE,
	  true, 100, 400, 600 },
	{ "pairs", CHS_AFFINITY_TRANSITION, CHS_ROLE_DATA, PAIR, false,
	  25, 0, 20 },
	{ "datagrams", CHS_AFFINITY_FLOW, CHS_ROLE_ANY, ONE, false, 100, 0, 0 },
	{ "two datagrams", CHS_AFFINITY_FLOW, CHS_ROLE_ANY, TWO, false,
	  50, 0, 10 },
	{ "two datagrams", CHS_AFFINITY_FLOW, CHS_ROLE_ANY, TWO, false,
	  100, 500, 1000 },
};

/* Per mille of running connections that are forgotten at any one time. */
static u32 share_forgotten(const struct attack *attack, u32 interval)
{
	static struct sender running[RUNNING], begun[MAX_FLOWS / 2],
		forged[EVENTS_MAX];
	u32 i, t, at = 0, sum = 0, rate;
	static struct table table;

	begin(&table, attack->affinity, attack->role);
	memset(running, 0, sizeof(running));
	memset(begun, 0, sizeof(begun));
	memset(forged, 0, sizeof(forged));
	for (i = 0; attack->filled && i < ARRAY_SIZE(begun); i++)
		forge(&table, &begun[i], PAIR);
	for (i = 0; i < RUNNING; i++) {
		running[i].on = table.arc.former == NONE ? OWNER : FORMER;
		/* One datagram alone is not established. */
		if (attack->role == CHS_ROLE_ANY)
			forge(&table, &running[i], TWO);
	}

	rate = attack->percent * MAX_FLOWS / (100 * interval);
	for (t = 0; t < 6 * interval; t++, table.now++) {
		CHECK(at + rate <= EVENTS_MAX);
		second(&table, running, RUNNING, interval, &forged[at], rate,
		       attack->forgery);
		at += rate;
		if (t >= 3 * interval)
			sum += forgotten(running, RUNNING);
	}
	return sum * 1000 / (3 * interval * RUNNING);
}

void test_evict_rate(void)
{
	static const u32 intervals[] = { 10, 20 };
	u32 i, k, share;

	for (i = 0; i < ARRAY_SIZE(attacks); i++) {
		for (k = 0; k < ARRAY_SIZE(intervals); k++) {
			share = share_forgotten(&attacks[i], intervals[k]);
			unit_note("%s: %u %% of max-flows in %u s: %u.%u %% forgotten",
				  attacks[i].name, attacks[i].percent,
				  intervals[k], share / 10, share % 10);
			CHECK_BETWEEN(share, attacks[i].least,
				      attacks[i].most);
		}
	}
}
