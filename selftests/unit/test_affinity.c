// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random histories of a service with affinity: no flow is moved that the
 * contract protects. One that fails is made as short as it can be and printed.
 */

#include "oracle.h"

#include <string.h>

/* What may go wrong in a history; each can be had alone. */
enum hazard {
	HAZARD_DRAIN,
	HAZARD_DEATH,
	HAZARD_END,
	HAZARD_HALF_CLOSE,
	HAZARD_LATE_PACKET,
	HAZARD_ABANDON,
	HAZARD_FORGED_SYN,
	HAZARD_FORGED_DATA,
	HAZARD_FORGED_END,
	HAZARD_RETRY,
	HAZARD_NO_ROOM,
	HAZARD_NO_MEMORY,
	HAZARD_TAKEOVER,
	HAZARD_OPTION,
	HAZARD_AFFINITY,
	HAZARD_OLD_VERSION,
	HAZARD_NR
};

static const char *const hazard_names[] = {
	"drain", "death", "end", "half close", "late packet", "abandon",
	"forged SYN", "forged data", "forged end", "retry", "no room",
	"no memory", "takeover", "option", "affinity", "old version",
};

#define ALL_HAZARDS	((1U << HAZARD_NR) - 1)

/* How often each is drawn, and what has to be allowed for it. */
static const struct {
	u32 share;
	u32 hazards;
} op_info[OP_NR] = {
	[OP_TIME]	 = { 34, 0 },
	[OP_CLOSE]	 = { 10, 0 },
	[OP_SWEEP]	 = { 10, 0 },
	[OP_MOVE]	 = { 22, 0 },
	[OP_UP]		 = { 8, 0 },
	[OP_DRAIN]	 = { 10, 1 << HAZARD_DRAIN },
	[OP_DEADLINE]	 = { 3,
			     1 << HAZARD_DRAIN | 1 << HAZARD_DEATH },
	[OP_DOWN]	 = { 4, 1 << HAZARD_DEATH },
	[OP_DELETE]	 = { 4, 1 << HAZARD_DEATH },
	[OP_ADD]	 = { 6, 0 },
	[OP_WINDOW]	 = { 5, 1 << HAZARD_OPTION },
	[OP_ROOM]	 = { 4, 1 << HAZARD_NO_ROOM },
	[OP_AFFINITY]	 = { 6, 1 << HAZARD_AFFINITY },
	[OP_TAKEOVER]	 = { 3, 1 << HAZARD_TAKEOVER },
	[OP_OPEN]	 = { 40, 0 },
	[OP_RETRY]	 = { 6, 1 << HAZARD_RETRY },
	[OP_SEND]	 = { 56, 0 },
	[OP_END]	 = { 12, 1 << HAZARD_END },
	[OP_LATE]	 = { 6, 1 << HAZARD_LATE_PACKET },
	[OP_FORGED_SYN]	 = { 10, 1 << HAZARD_FORGED_SYN },
	[OP_FORGED_DATA] = { 5, 1 << HAZARD_FORGED_DATA },
	[OP_FORGED_END]	 = { 5, 1 << HAZARD_FORGED_END },
	[OP_ERROR]	 = { 6, 0 },
};

static enum op_kind draw_op(u32 hazards)
{
	static u32 table_for = ~0U, total;
	static u8 table[512];
	u32 kind, i;

	if (table_for != hazards) {
		for (total = 0, kind = 0; kind < OP_NR; kind++) {
			if (op_info[kind].hazards & ~hazards)
				continue;
			for (i = 0; i < op_info[kind].share; i++)
				table[total++] = kind;
		}
		table_for = hazards;
	}
	return table[rnd_below(total)];
}

static bool drawn(u32 hazards, enum hazard hazard, u64 random, u32 in)
{
	return hazards & 1U << hazard && random % in == 0;
}

static void draw_history(struct history *history, u32 hazards)
{
	static const u32 windows[] = { 20, 100, 300, 1000 };
	u64 random = rnd();
	u32 i;

	history->protocol = random % 8 < 5 ? TCP : random % 8 < 7 ? UDP : SCTP;
	random >>= 3;
	history->affinity = random % 8 < 5 ? CHS_AFFINITY_TRANSITION :
			    random % 8 < 7 ? CHS_AFFINITY_FLOW :
					     CHS_AFFINITY_RING;
	random >>= 3;
	history->n_arcs = 1 + random % 2;
	random >>= 1;
	history->n_slots = 3 + random % 3;
	random >>= 8;
	history->n_tuples = 2 + random % 3;
	random >>= 8;
	history->window = windows[random % 4];
	random >>= 2;
	history->timeout = history->window;
	if (random % 2)
		history->timeout += random >> 1 & 0xff;
	random >>= 9;
	history->max_flows = DIRECTOR_TUPLES;
	if (drawn(hazards, HAZARD_NO_ROOM, random, 2))
		history->max_flows = random >> 1 & 3;
	random >>= 3;
	/* The clock's 32 bits may overflow. */
	history->start = random % 2 ? 1000000 : -(u32)(random >> 1 & 0xfff);
	history->n_ops = 4 + rnd_below(OPS_MAX - 3);
	for (i = 0; i < history->n_ops; i++) {
		struct op *op = &history->ops[i];

		random = rnd();
		op->kind = draw_op(hazards);
		op->what = random;
		op->how = random >> 8;
		op->abandon = drawn(hazards, HAZARD_ABANDON, random >> 24, 4);
		op->no_memory = drawn(hazards, HAZARD_NO_MEMORY, random >> 28,
				      16);
		op->half = drawn(hazards, HAZARD_HALF_CLOSE, random >> 36, 2);
		op->old = 0;
		if (drawn(hazards, HAZARD_OLD_VERSION, random >> 40, 4))
			op->old = 1 + (random >> 48) % DIRECTOR_OLD;
	}
}

/* Make it as short and as plain as it can be and break the same promise. */
static void shrink(struct history *history, int promise)
{
	struct verdict verdict;
	struct history less;
	bool shrunk;
	u32 i, k;

	do {
		shrunk = false;
		for (i = 0; i < history->n_ops; i++) {
			for (k = 0; k < 6; k++) {
				struct op *op = &less.ops[i];

				less = *history;
				if (k == 0) {
					less.n_ops--;
					memmove(op, op + 1, (less.n_ops - i) *
							    sizeof(*op));
				} else if (k == 1 && op->old) {
					op->old--;
				} else if (k == 2 && op->no_memory) {
					op->no_memory = false;
				} else if (k == 3 && op->kind == OP_TIME &&
					   op->what & 15) {
					op->what = (op->what & 15) - 1;
				} else if (k == 4 && op->how) {
					op->how = 0;
				} else if (k == 5 && op->abandon) {
					op->abandon = false;
				} else {
					continue;
				}
				oracle_run(&less, false, &verdict);
				if (verdict.broken != promise)
					continue;
				*history = less;
				shrunk = true;
				break;
			}
		}
	} while (shrunk);
}

static void report(struct history *history, u32 number, int promise)
{
	static const char *const protocols[] = { "TCP", "UDP", "SCTP" };
	static const char *const affinities[] = {
		"ring", "transition", "flow",
	};
	char expected[16], got[16];
	struct verdict verdict;

	shrink(history, promise);
	unit_note("history %u: %s, affinity %s, window %u, timeout %u, max-flows %u",
		  number, protocols[history->protocol],
		  affinities[history->affinity], history->window,
		  history->timeout, history->max_flows);
	oracle_run(history, true, &verdict);
	oracle_name(expected, sizeof(expected), verdict.expected);
	oracle_name(got, sizeof(got), verdict.got);
	unit_note("flow %u: not so: %s: %s (%u), not %s (%u)", verdict.tuple,
		  promise_names[promise], expected, verdict.expected, got,
		  verdict.got);
	unit_fail(__FILE__, __LINE__, promise_names[promise]);
}

static void histories(u32 count, u32 hazards)
{
	static struct history history;
	struct verdict verdict;
	u32 i;

	for (i = 0; i < count; i++) {
		draw_history(&history, hazards);
		oracle_run(&history, false, &verdict);
		if (verdict.broken >= 0) {
			report(&history, i, verdict.broken);
			return;
		}
	}
}

void test_affinity_histories(void)
{
	u32 i;

	memset(oracle_tested, 0, sizeof(oracle_tested));
	histories(1000000, ALL_HAZARDS);
	/* None was kept because nobody asked. */
	for (i = 0; i < PROMISE_NR && !unit_failed(); i++) {
		if (oracle_tested[i] < 1000)
			unit_note("%s: %llu", promise_names[i],
				  (unsigned long long)oracle_tested[i]);
		CHECK(oracle_tested[i] >= 1000);
	}
}

void test_affinity_hazards(void)
{
	u32 i;

	histories(20000, 0);
	for (i = 0; i < HAZARD_NR; i++) {
		histories(20000, 1U << i);
		histories(20000, ALL_HAZARDS & ~(1U << i));
		if (unit_failed()) {
			unit_note("hazard: %s", hazard_names[i]);
			return;
		}
	}
}
