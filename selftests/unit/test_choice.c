// SPDX-License-Identifier: GPL-2.0-only
/* Every cell of the table in affinity.c, and the rules beside it. */

#include "affinity.h"
#include "unit.h"

/* Backends. */
enum { OWNER = 1, FORMER, PINNED, BEFORE, NONE = CHS_RING_NONE };

static const struct {
	const char *name;
	struct chs_arc arc;
} arcs[] = {
	{ "settled", { CHS_ARC_SETTLED, false, OWNER, NONE } },
	{ "open", { CHS_ARC_OPEN, true, OWNER, FORMER } },
	{ "drained", { CHS_ARC_OPEN, false, OWNER, FORMER } },
	{ "closing", { CHS_ARC_CLOSING, false, OWNER, NONE } },
	{ "orphan", { CHS_ARC_OPEN, true, NONE, FORMER } },
};

enum { SETTLED, OPEN, DRAINED, CLOSING, ORPHAN };

static const struct chs_pin firm = { PINNED, NONE, false, false, false },
	ended = { PINNED, NONE, false, true, false },
	idle = { PINNED, NONE, false, false, true },
	dead = { NONE, NONE, false, true, false },
	syn = { PINNED, BEFORE, true, false, false },
	syn_idle = { PINNED, BEFORE, true, false, true },
	syn_ended = { PINNED, BEFORE, true, true, false },
	syn_alone = { PINNED, NONE, true, false, false },
	syn_alone_ended = { PINNED, NONE, true, true, false },
	syn_alone_idle = { PINNED, NONE, true, true, true },
	syn_dead = { NONE, BEFORE, true, false, false },
	syn_dead_ended = { NONE, BEFORE, true, true, false },
	syn_void = { NONE, NONE, true, true, false };

#define RING	CHS_AFFINITY_RING
#define TRANSIT	CHS_AFFINITY_TRANSITION
#define FLOW	CHS_AFFINITY_FLOW
#define SYN	CHS_ROLE_SYN
#define DATA	CHS_ROLE_DATA
#define END	CHS_ROLE_END
#define ANY	CHS_ROLE_ANY
#define ERROR	CHS_ROLE_ERROR
#define BY_RING	CHS_REASON_RING
#define BY_FLOW	CHS_REASON_FLOW
#define BY_FORMER	CHS_REASON_FORMER_OWNER
#define DEAD	CHS_HEALTH_DEAD
#define DRAINS	CHS_HEALTH_DRAINING
#define UP	CHS_HEALTH_UP

/* What is expected of a packet; @fallback, @previous: of what is created. */
struct row {
	enum chsteer_affinity affinity;
	u32 arc;
	const struct chs_pin *pin;
	enum chs_role role;
	bool in_sequence;
	__u16 backend;
	enum chsteer_reason reason;
	enum chs_pin_action action;
	__u16 fallback;
	__u16 previous;
	bool ended;
};

static void check_rows(const struct row *rows, u32 n)
{
	struct chs_choice choice;
	u32 i;

	for (i = 0; i < n; i++) {
		const struct row *row = &rows[i];
		bool create = row->action == CHS_PIN_CREATE;

		chs_affinity_choose(row->affinity, &arcs[row->arc].arc,
				    row->pin, row->role, row->in_sequence,
				    &choice);
		CHECK_EQ(choice.backend, row->backend);
		CHECK_EQ(choice.reason, row->reason);
		CHECK_EQ(choice.action, row->action);
		if (create) {
			CHECK_EQ(choice.fallback, row->fallback);
			CHECK_EQ(choice.previous, row->previous);
			CHECK_EQ(choice.unconfirmed, row->previous != NONE);
		}
		if (row->action > CHS_PIN_FORGET)
			CHECK_EQ(choice.ended, row->ended);
		if (unit_failed()) {
			unit_note("row %u: arc %s", i, arcs[row->arc].name);
			return;
		}
	}
}

#define CHECK_ROWS(rows)	check_rows(rows, ARRAY_SIZE(rows))

#define NOTHING		CHS_PIN_NONE, NONE, NONE, false
#define FORGET		CHS_PIN_FORGET, NONE, NONE, false
#define TOUCH		CHS_PIN_TOUCH, NONE, NONE, false
#define TOUCH_ENDED	CHS_PIN_TOUCH, NONE, NONE, true
#define CONFIRM		CHS_PIN_CONFIRM, NONE, NONE, false
#define CONFIRM_ENDED	CHS_PIN_CONFIRM, NONE, NONE, true
#define REVERT		CHS_PIN_REVERT, NONE, NONE, false
#define REVERT_ENDED	CHS_PIN_REVERT, NONE, NONE, true
#define CREATE(fallback)	CHS_PIN_CREATE, fallback, NONE, false
#define CREATE_ENDED(fallback)	CHS_PIN_CREATE, fallback, NONE, true
#define CREATE_SYN(fallback, previous)					\
	CHS_PIN_CREATE, fallback, previous, false
#define CREATE_SYN_ENDED(fallback, previous)				\
	CHS_PIN_CREATE, fallback, previous, true

/* No flow is remembered. */
void test_choice_unpinned(void)
{
	static const struct row rows[] = {
		{ TRANSIT, SETTLED, NULL, SYN, 0, OWNER, BY_RING, NOTHING },
		{ TRANSIT, SETTLED, NULL, DATA, 0, OWNER, BY_RING, NOTHING },
		{ TRANSIT, SETTLED, NULL, END, 0, OWNER, BY_RING, NOTHING },
		{ TRANSIT, SETTLED, NULL, ANY, 0, OWNER, BY_RING, NOTHING },
		{ TRANSIT, SETTLED, NULL, ERROR, 0, OWNER, BY_RING, NOTHING },

		{ TRANSIT, OPEN, NULL, SYN, 0, OWNER, BY_RING,
		  CREATE_SYN(FORMER, FORMER) },
		{ TRANSIT, OPEN, NULL, DATA, 0, FORMER, BY_FORMER,
		  CREATE(FORMER) },
		{ TRANSIT, OPEN, NULL, END, 0, FORMER, BY_FORMER,
		  CREATE_ENDED(FORMER) },
		{ TRANSIT, OPEN, NULL, ANY, 0, FORMER, BY_FORMER,
		  CREATE(FORMER) },
		{ TRANSIT, OPEN, NULL, ERROR, 0, FORMER, BY_FORMER, NOTHING },

		{ TRANSIT, DRAINED, NULL, SYN, 0, OWNER, BY_RING,
		  CREATE_SYN(FORMER, FORMER) },
		{ TRANSIT, DRAINED, NULL, DATA, 0, FORMER, BY_FORMER,
		  CREATE(FORMER) },
		{ TRANSIT, DRAINED, NULL, ANY, 0, OWNER, BY_RING,
		  CREATE(OWNER) },
		{ TRANSIT, DRAINED, NULL, ERROR, 0, FORMER, BY_FORMER,
		  NOTHING },

		{ TRANSIT, CLOSING, NULL, SYN, 0, OWNER, BY_RING, NOTHING },
		{ TRANSIT, CLOSING, NULL, DATA, 0, OWNER, BY_RING, NOTHING },
		{ TRANSIT, CLOSING, NULL, END, 0, OWNER, BY_RING, NOTHING },
		{ TRANSIT, CLOSING, NULL, ANY, 0, OWNER, BY_RING, NOTHING },
		{ TRANSIT, CLOSING, NULL, ERROR, 0, OWNER, BY_RING, NOTHING },

		/* What nobody can take is not remembered. */
		{ TRANSIT, ORPHAN, NULL, SYN, 0, NONE, BY_RING, NOTHING },
		{ TRANSIT, ORPHAN, NULL, DATA, 0, FORMER, BY_FORMER,
		  CREATE(FORMER) },
		{ FLOW, ORPHAN, NULL, ANY, 0, NONE, BY_RING, NOTHING },

		{ FLOW, SETTLED, NULL, SYN, 0, OWNER, BY_RING,
		  CREATE(OWNER) },
		{ FLOW, SETTLED, NULL, DATA, 0, OWNER, BY_RING,
		  CREATE(OWNER) },
		{ FLOW, SETTLED, NULL, END, 0, OWNER, BY_RING,
		  CREATE_ENDED(OWNER) },
		{ FLOW, SETTLED, NULL, ANY, 0, OWNER, BY_RING,
		  CREATE(OWNER) },
		{ FLOW, SETTLED, NULL, ERROR, 0, OWNER, BY_RING, NOTHING },
		{ FLOW, CLOSING, NULL, SYN, 0, OWNER, BY_RING,
		  CREATE(OWNER) },
		{ FLOW, CLOSING, NULL, ANY, 0, OWNER, BY_RING,
		  CREATE(OWNER) },
		{ FLOW, OPEN, NULL, SYN, 0, OWNER, BY_RING,
		  CREATE_SYN(FORMER, FORMER) },
		{ FLOW, OPEN, NULL, DATA, 0, FORMER, BY_FORMER,
		  CREATE(FORMER) },
		{ FLOW, DRAINED, NULL, DATA, 0, FORMER, BY_FORMER,
		  CREATE(FORMER) },
		/* One that is not remembered is new. */
		{ FLOW, OPEN, NULL, ANY, 0, OWNER, BY_RING, CREATE(OWNER) },
		{ FLOW, DRAINED, NULL, ANY, 0, OWNER, BY_RING,
		  CREATE(OWNER) },
		{ FLOW, OPEN, NULL, ERROR, 0, FORMER, BY_FORMER, NOTHING },
	};
	u32 arc, role;

	CHECK_ROWS(rows);
	for (arc = SETTLED; arc <= CLOSING; arc++) {
		for (role = SYN; role <= ERROR; role++) {
			const struct row ring = {
				RING, arc, &firm, role, true, OWNER, BY_RING,
				NOTHING
			};

			check_rows(&ring, 1);
		}
	}
}

/* One is, and in which arc makes no difference, unless it is settled. */
void test_choice_pinned(void)
{
	static const struct row rows[] = {
		{ 0, 0, &firm, SYN, 0, PINNED, BY_FLOW, TOUCH },
		{ 0, 0, &firm, DATA, 0, PINNED, BY_FLOW, TOUCH },
		{ 0, 0, &firm, END, 0, PINNED, BY_FLOW, TOUCH_ENDED },
		{ 0, 0, &firm, ANY, 0, PINNED, BY_FLOW, TOUCH },
		{ 0, 0, &firm, ERROR, 0, PINNED, BY_FLOW, NOTHING },

		{ 0, 0, &ended, SYN, 0, OWNER, BY_RING,
		  CREATE_SYN_ENDED(PINNED, PINNED) },
		{ 0, 0, &ended, DATA, 0, PINNED, BY_FLOW, TOUCH_ENDED },
		{ 0, 0, &ended, END, 0, PINNED, BY_FLOW, TOUCH_ENDED },
		{ 0, 0, &ended, ERROR, 0, PINNED, BY_FLOW, NOTHING },

		{ 0, 0, &idle, SYN, 0, OWNER, BY_RING,
		  CREATE_SYN(PINNED, PINNED) },
		{ 0, 0, &idle, DATA, 0, PINNED, BY_FLOW, TOUCH },
		{ 0, 0, &idle, END, 0, PINNED, BY_FLOW, TOUCH_ENDED },
		{ 0, 0, &idle, ANY, 0, PINNED, BY_FLOW, TOUCH },
		{ 0, 0, &idle, ERROR, 0, PINNED, BY_FLOW, NOTHING },

		/* Unconfirmed: the same SYN again, and another. */
		{ 0, 0, &syn, SYN, 1, PINNED, BY_FLOW, TOUCH },
		{ 0, 0, &syn, SYN, 0, BEFORE, BY_FLOW, NOTHING },
		{ 0, 0, &syn, DATA, 1, PINNED, BY_FLOW, CONFIRM },
		{ 0, 0, &syn, END, 1, PINNED, BY_FLOW, CONFIRM_ENDED },
		{ 0, 0, &syn, DATA, 0, BEFORE, BY_FLOW, REVERT },
		{ 0, 0, &syn, END, 0, BEFORE, BY_FLOW, REVERT_ENDED },
		{ 0, 0, &syn, ERROR, 0, BEFORE, BY_FLOW, NOTHING },

		{ 0, 0, &syn_idle, SYN, 1, OWNER, BY_RING,
		  CREATE_SYN(PINNED, BEFORE) },
		{ 0, 0, &syn_idle, SYN, 0, OWNER, BY_RING,
		  CREATE_SYN(BEFORE, BEFORE) },
		{ 0, 0, &syn_idle, DATA, 1, PINNED, BY_FLOW, CONFIRM },
		{ 0, 0, &syn_idle, DATA, 0, BEFORE, BY_FLOW, REVERT },

		{ 0, 0, &syn_ended, SYN, 1, PINNED, BY_FLOW, TOUCH_ENDED },
		{ 0, 0, &syn_ended, SYN, 0, BEFORE, BY_FLOW, NOTHING },
		{ 0, 0, &syn_ended, DATA, 1, PINNED, BY_FLOW, CONFIRM },
		{ 0, 0, &syn_ended, DATA, 0, BEFORE, BY_FLOW, TOUCH_ENDED },

		/* Where it was before has died. */
		{ 0, 0, &syn_alone, SYN, 1, PINNED, BY_FLOW, TOUCH },
		{ 0, 0, &syn_alone, SYN, 0, PINNED, BY_FLOW, CONFIRM },
		{ 0, 0, &syn_alone, DATA, 1, PINNED, BY_FLOW, CONFIRM },
		{ 0, 0, &syn_alone, DATA, 0, OWNER, BY_RING, CREATE(OWNER) },
		{ 0, 0, &syn_alone, END, 0, OWNER, BY_RING,
		  CREATE_ENDED(OWNER) },
		{ 0, 0, &syn_alone, ERROR, 0, PINNED, BY_FLOW, NOTHING },
		{ 0, 0, &syn_alone_ended, SYN, 0, PINNED, BY_FLOW, CONFIRM },
		{ 0, 0, &syn_alone_ended, DATA, 1, PINNED, BY_FLOW, CONFIRM },
		{ 0, 0, &syn_alone_ended, DATA, 0, OWNER, BY_RING,
		  TOUCH_ENDED },
		{ 0, 0, &syn_alone_idle, SYN, 0, OWNER, BY_RING,
		  CREATE(OWNER) },

		/* Where the SYN went has. */
		{ 0, 0, &syn_dead, SYN, 1, OWNER, BY_RING,
		  CREATE_SYN(BEFORE, BEFORE) },
		{ 0, 0, &syn_dead, SYN, 0, OWNER, BY_RING,
		  CREATE_SYN(BEFORE, BEFORE) },
		{ 0, 0, &syn_dead, DATA, 1, BEFORE, BY_FLOW, REVERT },
		{ 0, 0, &syn_dead, DATA, 0, BEFORE, BY_FLOW, REVERT },
		{ 0, 0, &syn_dead, ERROR, 0, BEFORE, BY_FLOW, NOTHING },
		{ 0, 0, &syn_dead_ended, DATA, 1, BEFORE, BY_FLOW,
		  TOUCH_ENDED },
	};
	static const struct { enum chsteer_affinity affinity; u32 arc; } in[] = {
		{ TRANSIT, OPEN }, { TRANSIT, DRAINED }, { TRANSIT, CLOSING },
		{ FLOW, SETTLED }, { FLOW, OPEN }, { FLOW, DRAINED },
		{ FLOW, CLOSING },
	};
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct row row = rows[i];

		for (k = 0; k < ARRAY_SIZE(in); k++) {
			row.affinity = in[k].affinity;
			row.arc = in[k].arc;
			check_rows(&row, 1);
		}
		row.affinity = TRANSIT;
		row.arc = SETTLED;
		row.backend = OWNER;
		row.reason = BY_RING;
		row.action = CHS_PIN_NONE;
		check_rows(&row, 1);
		if (unit_failed()) {
			unit_note("of the test's table: row %u", i);
			return;
		}
	}
}

/* One is, of which nothing lives. */
void test_choice_dead(void)
{
	static const struct row rows[] = {
		{ TRANSIT, OPEN, &dead, SYN, 0, OWNER, BY_RING,
		  CREATE(OWNER) },
		{ TRANSIT, OPEN, &dead, DATA, 0, OWNER, BY_RING,
		  CREATE(OWNER) },
		{ TRANSIT, OPEN, &dead, END, 0, OWNER, BY_RING,
		  CREATE_ENDED(OWNER) },
		{ TRANSIT, OPEN, &dead, ANY, 0, OWNER, BY_RING,
		  CREATE(OWNER) },
		{ TRANSIT, OPEN, &dead, ERROR, 0, OWNER, BY_RING, NOTHING },
		{ TRANSIT, OPEN, &syn_void, DATA, 1, OWNER, BY_RING,
		  CREATE(OWNER) },
		{ TRANSIT, CLOSING, &dead, SYN, 0, OWNER, BY_RING, FORGET },
		{ TRANSIT, CLOSING, &dead, DATA, 0, OWNER, BY_RING, FORGET },
		{ TRANSIT, CLOSING, &dead, ERROR, 0, OWNER, BY_RING,
		  NOTHING },
		{ TRANSIT, CLOSING, &syn_void, DATA, 0, OWNER, BY_RING,
		  FORGET },
		{ TRANSIT, ORPHAN, &dead, DATA, 0, NONE, BY_RING, FORGET },
		{ FLOW, SETTLED, &dead, ANY, 0, OWNER, BY_RING,
		  CREATE(OWNER) },
		{ FLOW, OPEN, &dead, DATA, 0, OWNER, BY_RING, CREATE(OWNER) },
	};

	CHECK_ROWS(rows);
}

/* What may be forgotten, where a packet without memory goes elsewhere too. */
void test_choice_stale(void)
{
	static const struct chs_pin
		at_owner = { OWNER, NONE, false, false, false },
		at_owner_ended = { OWNER, NONE, false, true, false },
		at_former = { FORMER, NONE, false, false, false },
		from_owner = { PINNED, OWNER, true, false, false },
		from_former = { OWNER, FORMER, true, false, false };
	static const struct {
		enum chsteer_affinity affinity;
		u32 arc;
		const struct chs_pin *pin;
		enum chs_role role;
		bool fresh;
		bool expired;
	} rows[] = {
		{ RING, SETTLED, &firm, DATA, true, true },
		{ RING, SETTLED, &syn, DATA, true, true },

		{ TRANSIT, OPEN, &firm, DATA, false, true },
		{ TRANSIT, OPEN, &at_owner, DATA, false, false },
		{ TRANSIT, OPEN, &at_owner, ANY, false, true },
		{ TRANSIT, OPEN, &at_owner_ended, DATA, false, true },
		{ TRANSIT, OPEN, &at_former, DATA, false, true },
		{ TRANSIT, OPEN, &from_owner, DATA, false, false },
		{ TRANSIT, OPEN, &from_former, DATA, false, true },
		{ TRANSIT, OPEN, &dead, DATA, false, true },
		{ TRANSIT, OPEN, &dead, ANY, false, true },
		{ TRANSIT, OPEN, &syn_void, DATA, false, true },
		{ TRANSIT, OPEN, &syn_dead, DATA, false, true },
		{ TRANSIT, DRAINED, &at_owner, DATA, false, false },
		{ TRANSIT, DRAINED, &dead, DATA, false, true },
		{ TRANSIT, DRAINED, &dead, ANY, true, true },

		{ TRANSIT, CLOSING, &firm, DATA, false, true },
		{ TRANSIT, CLOSING, &at_owner, DATA, true, true },
		{ TRANSIT, CLOSING, &at_owner, ANY, true, true },
		{ TRANSIT, CLOSING, &from_owner, DATA, false, true },
		{ TRANSIT, CLOSING, &from_former, DATA, false, true },
		{ TRANSIT, CLOSING, &dead, DATA, true, true },
		{ TRANSIT, CLOSING, &syn_dead, DATA, false, true },
		{ TRANSIT, CLOSING, &syn_alone, DATA, false, true },

		{ FLOW, SETTLED, &firm, ANY, false, true },
		{ FLOW, SETTLED, &at_owner, ANY, false, true },
		{ FLOW, SETTLED, &at_owner, DATA, false, true },
		{ FLOW, SETTLED, &dead, ANY, true, true },
		{ FLOW, OPEN, &at_owner, DATA, false, false },
		{ FLOW, OPEN, &at_owner, ANY, false, true },
		{ FLOW, OPEN, &dead, ANY, true, true },
		{ FLOW, OPEN, &dead, DATA, false, true },
	};
	struct chs_arc back = arcs[OPEN].arc;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_EQ(chs_affinity_stale(rows[i].affinity,
					    &arcs[rows[i].arc].arc,
					    rows[i].pin, rows[i].role, false),
			 rows[i].fresh);
		CHECK_EQ(chs_affinity_stale(rows[i].affinity,
					    &arcs[rows[i].arc].arc,
					    rows[i].pin, rows[i].role, true),
			 rows[i].expired);
		if (unit_failed()) {
			unit_note("row %u", i);
			return;
		}
	}

	/* The arc has come back to its former owner. */
	back.owner = FORMER;
	CHECK(chs_affinity_stale(TRANSIT, &back, &at_former, DATA, true));
	CHECK(!chs_affinity_stale(TRANSIT, &back, &at_former, DATA, false));
	CHECK(!chs_affinity_stale(TRANSIT, &back, &dead, DATA, false));
}

void test_choice_over(void)
{
	static const struct {
		__u16 former;
		enum chs_health health;
		s32 age;
		bool over;
	} rows[] = {
		{ NONE, DEAD, 0, true },
		{ NONE, UP, 0, true },
		{ FORMER, DEAD, 0, true },
		{ FORMER, DRAINS, 0, false },
		{ FORMER, DRAINS, 1000000, false },
		{ FORMER, UP, 0, false },
		{ FORMER, UP, 100, false },
		{ FORMER, UP, 101, true },
		/* A change that came after the clock was read. */
		{ FORMER, UP, -1, false },
		{ FORMER, DRAINS, -1, false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		/* The clock has just overflown. */
		const struct chs_heritage arc = {
			rows[i].former, 5 - rows[i].age,
		};

		CHECK_EQ(chs_affinity_over(&arc, rows[i].health, 5, 100),
			 rows[i].over);
	}
}

void test_choice_shift(void)
{
	/* It is 1000, and the window is 100. */
	static const struct {
		__u16 former;
		u32 since;
		enum chs_health health;
		bool freed;
		__u16 from;
		enum chs_health from_health;
		__u16 to;
		__u16 former_then;
		u32 since_then;
	} rows[] = {
		/* Nothing is remembered: a living owner becomes the former. */
		{ NONE, 0, DEAD, false, 1, UP, 1, NONE, 0 },
		{ NONE, 0, DEAD, false, 1, UP, 2, 1, 1000 },
		{ NONE, 0, DEAD, false, 1, DRAINS, 2, 1, 1000 },
		{ NONE, 0, DEAD, false, 1, DRAINS, NONE, 1, 1000 },
		{ NONE, 0, DEAD, false, 1, DEAD, 2, NONE, 0 },
		{ NONE, 0, DEAD, false, NONE, DEAD, 2, NONE, 0 },

		/* The longest-standing one stays, and its clock runs on. */
		{ 1, 950, UP, false, 2, UP, 2, 1, 950 },
		{ 1, 950, UP, false, 2, UP, 3, 1, 950 },
		{ 1, 950, UP, false, 2, DEAD, 3, 1, 950 },
		{ 1, 950, UP, false, 2, UP, 1, 1, 950 },
		{ 1, 900, UP, false, 2, UP, 3, 1, 900 },
		{ 1, 950, UP, false, NONE, DEAD, 3, 1, 950 },
		{ 1, 100, DRAINS, false, 2, UP, 3, 1, 100 },
		/* It has owned the arc again, and loses it again. */
		{ 1, 950, UP, false, 1, UP, 2, 1, 1000 },
		{ 1, 950, UP, false, 1, UP, 1, 1, 950 },
		/* Its drain has ended. */
		{ 1, 100, UP, true, 2, UP, 2, 1, 1000 },
		{ 1, 100, UP, true, 2, UP, 3, 1, 1000 },
		{ 1, 950, DRAINS, true, 2, UP, 2, 1, 950 },
		{ 1, 100, DEAD, true, 2, UP, 2, NONE, 0 },

		/* It is over, and the next one's turn. */
		{ 1, 899, UP, false, 2, UP, 2, NONE, 0 },
		{ 1, 899, UP, false, 2, UP, 3, 2, 1000 },
		{ 1, 899, UP, false, 2, DEAD, 3, NONE, 0 },
		{ 1, 950, DEAD, false, 2, UP, 2, NONE, 0 },
		{ 1, 950, DEAD, false, 2, UP, 3, 2, 1000 },
		{ 1, 950, DEAD, false, 1, DEAD, 3, NONE, 0 },
		{ 1, 899, UP, false, 1, UP, 2, 1, 1000 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct chs_heritage arc = { rows[i].former, rows[i].since };

		chs_affinity_shift(&arc, rows[i].health, rows[i].freed,
				   rows[i].from, rows[i].from_health,
				   rows[i].to, 1000, 100);
		CHECK_EQ(arc.former, rows[i].former_then);
		if (arc.former != NONE)
			CHECK_EQ(arc.since, rows[i].since_then);
		if (unit_failed()) {
			unit_note("row %u", i);
			return;
		}
	}
}
