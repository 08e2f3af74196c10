/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An oracle that knows, through the history of a service, where every flow
 * really is, and whether a director keeps what is promised.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include "director.h"
#include "unit.h"

#define OPS_MAX		32

enum op_kind {
	OP_TIME,
	OP_CLOSE,
	OP_SWEEP,
	OP_MOVE,
	OP_UP,
	OP_DRAIN,
	OP_DEADLINE,
	OP_DOWN,
	OP_DELETE,
	OP_ADD,
	OP_WINDOW,
	OP_ROOM,
	OP_AFFINITY,
	OP_TAKEOVER,
	OP_OPEN,
	OP_RETRY,
	OP_SEND,
	OP_END,
	OP_LATE,
	OP_FORGED_SYN,
	OP_FORGED_DATA,
	OP_FORGED_END,
	OP_ERROR,
	OP_NR
};

struct op {
	u8 kind;
	u8 what;
	u16 how;
	bool abandon;
	bool no_memory;
	bool half;
	u8 old;
};

struct history {
	enum protocol protocol;
	enum chsteer_affinity affinity;
	u32 n_arcs;
	u32 n_tuples;
	u32 n_slots;
	u32 window;
	u32 timeout;
	u32 max_flows;
	u32 start;
	u32 n_ops;
	struct op ops[OPS_MAX];
};

/* What is promised, and how often a history put it to the test. */
enum promise {
	PROMISE_KEEPS_OWNER,
	PROMISE_STAYS,
	PROMISE_HANDSHAKE,
	PROMISE_NEW_FOLLOWS_RING,
	PROMISE_SYN_TO_LIVE,
	PROMISE_SETTLED_FORGETS,
	PROMISE_FORGETS_ALL,
	PROMISE_ALWAYS_SOMEWHERE,
	PROMISE_ERROR_FOLLOWS,
	PROMISE_DEAD_TO_OWNER,
	PROMISE_NR
};

extern const char *const promise_names[PROMISE_NR];
extern const char *const op_names[OP_NR];

/* How a history went; @broken: enum promise, or -1. */
struct verdict {
	int broken;
	u32 tuple;
	__u16 expected;
	__u16 got;
};

/* How often each promise was put to the test. */
extern u64 oracle_tested[PROMISE_NR];

/* @trace: print what happens. */
void oracle_run(const struct history *history, bool trace,
		struct verdict *verdict);

/* As in a trace. */
void oracle_name(char *to, size_t size, __u16 backend);

#endif /* ORACLE_H */
