// SPDX-License-Identifier: GPL-2.0-only
/*
 * The oracle knows what clients do, which a director does not, and what the
 * director has seen, but not what it remembers. What may be lost is said where
 * it is: for lack of room, by another host, by a client that sends two SYNs.
 */

#include "oracle.h"

#include <string.h>

/* Numbers of different connections are so far apart that none fits another. */
#define SEQ_APART	(1U << 20)

const char *const op_names[OP_NR] = {
	[OP_TIME] = "time",
	[OP_CLOSE] = "close",
	[OP_SWEEP] = "sweep",
	[OP_MOVE] = "move",
	[OP_UP] = "up",
	[OP_DRAIN] = "drain",
	[OP_DEADLINE] = "drain with deadline",
	[OP_DOWN] = "down",
	[OP_DELETE] = "delete",
	[OP_ADD] = "add",
	[OP_WINDOW] = "set window",
	[OP_ROOM] = "set max-flows",
	[OP_AFFINITY] = "set affinity",
	[OP_TAKEOVER] = "takeover",
	[OP_OPEN] = "open",
	[OP_RETRY] = "retry",
	[OP_SEND] = "send",
	[OP_END] = "end",
	[OP_LATE] = "late packet",
	[OP_FORGED_SYN] = "forged SYN",
	[OP_FORGED_DATA] = "forged data",
	[OP_FORGED_END] = "forged end",
	[OP_ERROR] = "ICMP error",
};

const char *const promise_names[PROMISE_NR] = {
	"a flow stays on its arc's owner",
	"a flow stays on its backend",
	"a handshake stays where its SYN went",
	"a new flow follows the ring",
	"a SYN into a live connection goes to its backend",
	"nothing is remembered where the ring is settled",
	"what is remembered is forgotten in the end",
	"a packet goes to a living backend, if there is one",
	"an ICMP error follows its flow and changes nothing",
	"a flow of a dead backend goes to the owner",
};

u64 oracle_tested[PROMISE_NR];

/* Where a flow is, and what its client and the oracle know. */
struct flow {
	bool live;
	bool handshake;
	/* Promise 2 holds for it. */
	bool held;
	/* Something was sent that the director has to remember. */
	bool known;
	/* Room or memory was lacking, or another host has taken over. */
	bool lost;
	/* A host that takes over has to know. */
	bool begun_settled;
	bool left;
	bool overdue;
	/* Two SYNs were on their way at a time. */
	bool odd;
	/* A packet of an older connection will be known for what it is. */
	bool clean;
	/* It was sent to its arc's owner, when that was owner number @stay. */
	bool on_owner;
	u32 stay;
	/* Packets of its tuple when its last was sent. */
	u32 packets;
	__u16 backend;
	u32 last;
	u32 left_at;
	u32 seq;
};

/* What a director has seen of a tuple, whosever packets they were. */
struct tuple {
	bool seen;
	bool ended;
	bool pending;
	u32 last;
	u32 late_seq;
	u32 generation;
	u32 packets;
};

struct run {
	const struct history *history;
	struct director dir;
	struct flow flows[DIRECTOR_TUPLES];
	struct tuple tuples[DIRECTOR_TUPLES];
	u32 owners[DIRECTOR_ARCS];
	u32 deadline[DIRECTOR_SLOTS];
	u32 lives[DIRECTOR_SLOTS];
	u32 freed;
	u32 seq;
	bool trace;
	struct verdict *verdict;
};

#define NEVER	0

static void expect(struct run *run, enum promise promise, u32 tuple,
		   __u16 expected, __u16 got)
{
	oracle_tested[promise]++;
	if (expected == got || run->verdict->broken >= 0)
		return;
	run->verdict->broken = promise;
	run->verdict->tuple = tuple;
	run->verdict->expected = expected;
	run->verdict->got = got;
}

static bool is_udp(const struct run *run)
{
	return run->history->protocol == UDP;
}

static u32 since(const struct run *run, u32 then)
{
	return run->dir.now - then;
}

static enum chs_health health(const struct run *run, __u16 backend)
{
	return version_health(&run->dir.version, backend);
}

static __u16 owner_of(const struct run *run, u32 tuple)
{
	return run->dir.version.arcs[director_arc(&run->dir, tuple)].owner;
}

/*
 * Whether a flow that nobody promised to remember is where it has to be anyway:
 * a packet that could not be remembered goes where the next ones will go.
 */
static bool anchored(const struct run *run, u32 i)
{
	const struct entry *entry = &run->dir.entries[i];
	const struct flow *flow = &run->flows[i];

	if (entry->used)
		return flow->backend == (entry->unconfirmed ? entry->previous :
							      entry->backend);
	return flow->backend == director_default(&run->dir,
						 director_arc(&run->dir, i));
}

/* End the protection of what has been silent for too long, or is lost. */
static void lapse(struct run *run, u32 i)
{
	const struct version *version = &run->dir.version;
	struct flow *flow = &run->flows[i];
	bool silent, drains;

	if (!flow->live)
		return;

	drains = health(run, flow->backend) == CHS_HEALTH_DRAINING;
	silent = since(run, flow->last) > version->window;
	if (flow->left && !drains && since(run, flow->left_at) > version->window)
		flow->overdue = true;
	if (health(run, flow->backend) == CHS_HEALTH_DEAD ||
	    (silent && !drains) ||
	    (version->affinity == CHS_AFFINITY_RING &&
	     flow->backend != owner_of(run, i)))
		flow->held = false;
	if (health(run, flow->backend) == CHS_HEALTH_DEAD)
		flow->begun_settled = false;
	if (since(run, flow->last) > version->timeout && !drains)
		flow->known = false;

	/* The entry is another SYN's. */
	if (flow->handshake && flow->odd &&
	    since(run, flow->last) > CHS_AFFINITY_HANDSHAKE)
		flow->held = false;

	/* It may have been forgotten, and then be taken to be elsewhere. */
	if (since(run, flow->last) > version->timeout &&
	    (is_udp(run) || run->tuples[i].ended))
		flow->on_owner = false;

	/* No packet of it says that it is not new. */
	if (is_udp(run) && !flow->known) {
		if (silent || flow->lost)
			flow->begun_settled = false;
		if (version->affinity == CHS_AFFINITY_FLOW) {
			flow->begun_settled = false;
			if (flow->backend != owner_of(run, i))
				flow->held = false;
		} else if (silent) {
			flow->held = false;
		}
	}
	if (flow->lost && !(flow->begun_settled && !flow->overdue) &&
	    !anchored(run, i))
		flow->held = false;
}

static void lapse_all(struct run *run)
{
	u32 i;

	for (i = 0; i < run->history->n_tuples; i++)
		lapse(run, i);
}

/* Changes -------------------------------------------------------------------- */

static __u16 some_up(const struct version *version, u32 random)
{
	__u16 up[DIRECTOR_SLOTS];
	u32 i, n = 0;

	for (i = 0; i < DIRECTOR_SLOTS; i++) {
		if (version->slots[i].health == CHS_HEALTH_UP)
			up[n++] = version->slots[i].id;
	}
	return n ? up[random % n] : CHS_RING_NONE;
}

/* An arc whose owner may not own it any more moves, others may. */
static void settle_owners(const struct run *run, struct version *next,
			  u32 random, bool move)
{
	u32 i;

	for (i = 0; i < run->dir.n_arcs; i++, random >>= 8) {
		__u16 owner = next->arcs[i].owner;

		if (version_health(next, owner) != CHS_HEALTH_UP || move ||
		    random & 1)
			next->arcs[i].owner = some_up(next, random >> 1 & 0x7f);
	}
}

static void note_owner_change(struct run *run, u32 arc, __u16 from)
{
	u32 i;

	run->owners[arc]++;
	for (i = arc; i < run->history->n_tuples; i += run->dir.n_arcs) {
		struct flow *flow = &run->flows[i];

		if (flow->live && !flow->left && flow->backend == from) {
			flow->left = true;
			flow->left_at = run->dir.now;
		}
	}
}

static void publish(struct run *run, const struct version *next)
{
	__u16 before[DIRECTOR_ARCS];
	u32 i;

	lapse_all(run);
	for (i = 0; i < run->dir.n_arcs; i++)
		before[i] = run->dir.version.arcs[i].owner;
	for (i = 0; i < run->history->n_tuples; i++) {
		struct flow *flow = &run->flows[i];

		if (!flow->live ||
		    health(run, flow->backend) != CHS_HEALTH_DRAINING ||
		    version_health(next, flow->backend) != CHS_HEALTH_UP)
			continue;
		/* The clock restarts when the drain ends. */
		flow->last = run->dir.now;
		flow->left_at = run->dir.now;
	}
	for (i = 0; i < DIRECTOR_SLOTS; i++) {
		if (run->dir.version.slots[i].health == CHS_HEALTH_DRAINING &&
		    next->slots[i].health == CHS_HEALTH_UP)
			run->freed = run->dir.now;
	}

	director_publish(&run->dir, next);
	for (i = 0; i < run->dir.n_arcs; i++) {
		if (before[i] != next->arcs[i].owner)
			note_owner_change(run, i, before[i]);
	}
	for (i = 0; next->affinity == CHS_AFFINITY_RING &&
		    i < run->history->n_tuples; i++)
		run->flows[i].known = false;
	lapse_all(run);
}

static void op_health(struct run *run, const struct op *op,
		      enum chs_health to)
{
	struct version next = run->dir.version;
	u32 slot = op->what % run->history->n_slots;

	if (next.slots[slot].id == CHS_RING_NONE ||
	    next.slots[slot].health == to)
		return;

	next.slots[slot].health = to;
	run->deadline[slot] = NEVER;
	settle_owners(run, &next, op->how, false);
	publish(run, &next);
}

static void op_deadline(struct run *run, const struct op *op)
{
	u32 slot = op->what % run->history->n_slots;

	op_health(run, op, CHS_HEALTH_DRAINING);
	if (health(run, run->dir.version.slots[slot].id) ==
	    CHS_HEALTH_DRAINING)
		run->deadline[slot] = run->dir.now +
				      run->dir.version.window / 2 + op->what;
}

static void op_delete(struct run *run, const struct op *op)
{
	struct version next = run->dir.version;
	u32 slot = op->what % run->history->n_slots;

	if (next.slots[slot].id == CHS_RING_NONE)
		return;

	next.slots[slot].id = CHS_RING_NONE;
	next.slots[slot].health = CHS_HEALTH_DEAD;
	run->deadline[slot] = NEVER;
	settle_owners(run, &next, op->how, false);
	publish(run, &next);
}

static void op_add(struct run *run, const struct op *op)
{
	struct version next = run->dir.version;
	u32 slot = op->what % run->history->n_slots;

	if (next.slots[slot].id != CHS_RING_NONE)
		return;

	next.slots[slot].id = BACKEND(slot, ++run->lives[slot]);
	next.slots[slot].health = CHS_HEALTH_UP;
	settle_owners(run, &next, op->how, false);
	publish(run, &next);
}

static void op_move(struct run *run, const struct op *op)
{
	struct version next = run->dir.version;

	settle_owners(run, &next, op->how, op->what & 1);
	publish(run, &next);
}

static void op_window(struct run *run, const struct op *op)
{
	static const u32 windows[] = { 20, 100, 300, 1000 };
	struct version next = run->dir.version;

	next.window = windows[op->what % ARRAY_SIZE(windows)];
	next.timeout = next.window + (op->how & 1 ? op->how % 1000 : 0);
	publish(run, &next);
}

static void op_room(struct run *run, const struct op *op)
{
	struct version next = run->dir.version;

	next.max_flows = op->what % (DIRECTOR_TUPLES + 1);
	publish(run, &next);
}

static void op_affinity(struct run *run, const struct op *op)
{
	struct version next = run->dir.version;

	next.affinity = op->what % (CHS_AFFINITY_FLOW + 1);
	publish(run, &next);
}

static void check_deadlines(struct run *run)
{
	struct op op = { .kind = OP_DOWN };
	u32 i;

	for (i = 0; i < DIRECTOR_SLOTS; i++) {
		if (run->deadline[i] == NEVER ||
		    (s32)(run->dir.now - run->deadline[i]) < 0)
			continue;
		op.what = i;
		op.how = run->deadline[i];
		op_health(run, &op, CHS_HEALTH_DEAD);
	}
}

static void op_time(struct run *run, const struct op *op)
{
	const struct version *version = &run->dir.version;
	const u32 steps[] = {
		1, 2, CHS_AFFINITY_HANDSHAKE, CHS_AFFINITY_HANDSHAKE + 1,
		version->window / 3, version->window / 2, version->window - 2,
		version->window - 1, version->window, version->window + 1,
		version->timeout - 1, version->timeout, version->timeout + 1,
		version->timeout + version->window, 10, 3 * version->window,
	};

	run->dir.now += steps[op->what % ARRAY_SIZE(steps)];
	/* No packet takes that long. */
	run->dir.n_old = 0;
	check_deadlines(run);
	lapse_all(run);
}

static void op_sweep(struct run *run)
{
	const struct version *version = &run->dir.version;
	u32 i, arc;

	lapse_all(run);
	director_sweep(&run->dir);
	for (i = 0; i < run->history->n_tuples; i++) {
		arc = director_arc(&run->dir, i);
		if (version->arcs[arc].state == CHS_ARC_OPEN)
			continue;
		/* It is, or will be, where it would be anyway. */
		if (health(run, run->flows[i].backend) == CHS_HEALTH_DEAD ||
		    (version->affinity == CHS_AFFINITY_TRANSITION &&
		     run->flows[i].backend == version->arcs[arc].owner))
			run->flows[i].known = false;
	}
	lapse_all(run);
}

/* Another host saw the same changes, but no packet. */
static void op_takeover(struct run *run)
{
	u32 i;

	lapse_all(run);
	director_close(&run->dir);
	director_flush(&run->dir);
	director_sweep(&run->dir);
	for (i = 0; i < run->history->n_tuples; i++) {
		run->flows[i].lost = true;
		run->flows[i].known = false;
		run->flows[i].on_owner = false;
	}
	lapse_all(run);
}

/* Packets -------------------------------------------------------------------- */

void oracle_name(char *to, size_t size, __u16 backend)
{
	u32 life = backend >> 3;

	if (backend == CHS_RING_NONE)
		snprintf(to, size, "nowhere");
	else if (life)
		snprintf(to, size, "%c%u", 'A' + BACKEND_SLOT(backend), life);
	else
		snprintf(to, size, "%c", 'A' + BACKEND_SLOT(backend));
}

static void trace_packet(const struct arrival *packet,
			 const struct outcome *out)
{
	static const char *const actions[] = {
		"", ", forget", ", create", ", touch", ", confirm", ", revert",
	};
	char to[16], previous[16];

	oracle_name(to, sizeof(to), out->backend);
	oracle_name(previous, sizeof(previous), out->choice.previous);
	unit_note("    flow %u goes to %s%s%s%s%s%s%s", packet->tuple, to,
		  actions[out->choice.action],
		  out->choice.unconfirmed ? " unconfirmed from " : "",
		  out->choice.unconfirmed ? previous : "",
		  out->failed ? ", which fails" : "",
		  out->evicted >= 0 ? ", another is evicted" : "",
		  packet->old ? ", by an old version" : "");
}

/* What holds for every packet, whosever it is. */
static void check_any(struct run *run, const struct arrival *packet,
		      const struct outcome *out)
{
	const struct version *version = out->version;
	u32 arc = director_arc(&run->dir, packet->tuple);

	if (out->backend == CHS_RING_NONE)
		expect(run, PROMISE_ALWAYS_SOMEWHERE, packet->tuple,
		       version->arcs[arc].owner, CHS_RING_NONE);
	else
		expect(run, PROMISE_ALWAYS_SOMEWHERE, packet->tuple, true,
		       version_health(version, out->backend) !=
		       CHS_HEALTH_DEAD);
	if (version->affinity == CHS_AFFINITY_RING ||
	    (version->affinity == CHS_AFFINITY_TRANSITION &&
	     version->arcs[arc].state == CHS_ARC_SETTLED))
		expect(run, PROMISE_SETTLED_FORGETS, packet->tuple,
		       CHS_PIN_NONE, out->choice.action);
}

/* Whether the director must remember what it just saw. */
static bool has_to_know(const struct run *run, const struct outcome *out,
			u32 tuple)
{
	u32 arc = director_arc(&run->dir, tuple);

	return !out->failed && out->backend != CHS_RING_NONE &&
	       (out->version->affinity == CHS_AFFINITY_FLOW ||
		(out->version->affinity == CHS_AFFINITY_TRANSITION &&
		 out->version->arcs[arc].state == CHS_ARC_OPEN));
}

static void arrive(struct run *run, const struct op *op,
		   struct arrival *packet, struct outcome *out)
{
	struct tuple *tuple = &run->tuples[packet->tuple];

	/* Of two packets, the second does not see what was before the first. */
	packet->old = op->old < run->dir.n_old ? op->old : run->dir.n_old;
	while (packet->old &&
	       (s32)(run->dir.old[packet->old - 1].generation -
		     tuple->generation) < 0)
		packet->old--;
	packet->no_memory = op->no_memory;

	director_packet(&run->dir, packet, out);
	if (run->trace)
		trace_packet(packet, out);
	check_any(run, packet, out);
	tuple->generation = out->version->generation;
	if (out->evicted >= 0) {
		run->flows[out->evicted].lost = true;
		run->flows[out->evicted].known = false;
		lapse(run, out->evicted);
	}
	if (packet->role == CHS_ROLE_ERROR)
		return;

	tuple->seen = true;
	tuple->packets++;
	tuple->last = run->dir.now;
	if (packet->role == CHS_ROLE_SYN) {
		tuple->pending = true;
		if (out->choice.action == CHS_PIN_CONFIRM ||
		    (out->choice.action == CHS_PIN_CREATE &&
		     !out->choice.unconfirmed))
			tuple->ended = false;
	} else if (packet->role == CHS_ROLE_END) {
		tuple->ended = !out->failed;
	} else if (out->choice.action != CHS_PIN_TOUCH) {
		/* What it was is not remembered, and it may go on. */
		tuple->ended = false;
	}
}

/* The flow was sent to @out->backend, and is there. */
static void land(struct run *run, u32 i, const struct outcome *out)
{
	const struct version *version = out->version;
	u32 arc = director_arc(&run->dir, i);
	struct flow *flow = &run->flows[i];
	bool current = version == &run->dir.version;

	flow->backend = out->backend;
	flow->last = run->dir.now;
	flow->packets = run->tuples[i].packets;
	flow->held = true;
	if (has_to_know(run, out, i)) {
		flow->known = true;
		flow->lost = false;
	} else if (out->failed) {
		flow->known = false;
		flow->lost = true;
		flow->begun_settled = false;
	} else if (!current && !out->remembered) {
		flow->lost = true;
		flow->begun_settled = false;
	} else if (out->backend == version->arcs[arc].owner ||
		   out->remembered) {
		flow->lost = false;
	}
	if (run->dir.version.affinity == CHS_AFFINITY_RING)
		flow->known = false;
	flow->on_owner = current && !flow->lost && !flow->handshake &&
			 out->backend == version->arcs[arc].owner;
	flow->stay = run->owners[arc];
	lapse(run, i);
}

/* A flow begins; where, the director has said. */
static void begin(struct run *run, u32 i, const struct outcome *out)
{
	u32 arc = director_arc(&run->dir, i);
	struct flow *flow = &run->flows[i];

	flow->live = out->backend != CHS_RING_NONE;
	flow->known = out->remembered &&
		      out->choice.action != CHS_PIN_FORGET;
	flow->lost = false;
	flow->left = false;
	flow->overdue = false;
	flow->begun_settled = out->version == &run->dir.version &&
			      out->version->arcs[arc].state ==
			      CHS_ARC_SETTLED &&
			      out->version->arcs[arc].owner == out->backend;
	land(run, i, out);
}

/*
 * Whether a version that has been replaced may send the flow elsewhere: nothing
 * is remembered of it, and it is where the new version sends such flows.
 */
static bool is_outdated(const struct run *run, u32 i,
			const struct outcome *out)
{
	const struct flow *flow = &run->flows[i];

	return out->version != &run->dir.version &&
	       (flow->lost ||
		version_health(out->version, flow->backend) ==
		CHS_HEALTH_DEAD || (is_udp(run) && !flow->known) ||
		out->version->affinity == CHS_AFFINITY_RING);
}

static void check_syn(struct run *run, const struct arrival *packet,
		      const struct outcome *out, const struct tuple *before)
{
	u32 arc = director_arc(&run->dir, packet->tuple);
	const struct flow *flow = &run->flows[packet->tuple];
	u32 silent = since(run, before->last), restarted = silent;
	bool another, fresh;

	/* The clock restarts when a drain ends. */
	if (restarted > since(run, run->freed))
		restarted = since(run, run->freed);
	another = before->pending && restarted <= CHS_AFFINITY_HANDSHAKE;
	fresh = !before->seen || before->ended ||
		restarted > out->version->timeout;

	if (fresh && !another && !out->failed)
		expect(run, PROMISE_NEW_FOLLOWS_RING, packet->tuple,
		       out->version->arcs[arc].owner, out->backend);
	if (!fresh && silent <= out->version->timeout && !before->pending &&
	    flow->live && flow->held && flow->known && !flow->handshake &&
	    !flow->odd && !flow->lost && !out->failed &&
	    !is_outdated(run, packet->tuple, out))
		expect(run, PROMISE_SYN_TO_LIVE, packet->tuple, flow->backend,
		       out->backend);
}

static bool is_held(const struct run *run, u32 i)
{
	return run->flows[i].live && run->flows[i].held;
}

static bool keeps_owner(const struct run *run, u32 i)
{
	const struct flow *flow = &run->flows[i];

	return flow->live && flow->on_owner && !flow->lost && !flow->odd &&
	       flow->stay == run->owners[director_arc(&run->dir, i)];
}

static void send_udp(struct run *run, const struct op *op, u32 i)
{
	struct arrival packet = { .tuple = i, .role = CHS_ROLE_ANY };
	u32 arc = director_arc(&run->dir, i);
	struct flow *flow = &run->flows[i];
	bool held, keeps, in_window;
	struct outcome out;

	lapse(run, i);
	held = is_held(run, i);
	keeps = keeps_owner(run, i);
	arrive(run, op, &packet, &out);
	if (is_outdated(run, i, &out))
		held = keeps = false;
	if (held)
		expect(run, PROMISE_STAYS, i, flow->backend, out.backend);
	else if (keeps)
		expect(run, PROMISE_KEEPS_OWNER, i, flow->backend,
		       out.backend);

	in_window = out.version->arcs[arc].state == CHS_ARC_OPEN &&
		    since(run, out.version->arcs[arc].heritage.since) <=
		    out.version->window;
	if (!out.remembered &&
	    (out.version->affinity == CHS_AFFINITY_FLOW || !in_window))
		expect(run, PROMISE_NEW_FOLLOWS_RING, i,
		       out.version->arcs[arc].owner, out.backend);

	if (flow->live && flow->backend == out.backend)
		land(run, i, &out);
	else
		begin(run, i, &out);
}

static void op_open(struct run *run, const struct op *op)
{
	u32 i = op->what % run->history->n_tuples;
	struct flow *flow = &run->flows[i];
	struct tuple *tuple = &run->tuples[i];
	const struct tuple before = *tuple;
	struct arrival packet = { .tuple = i, .role = CHS_ROLE_SYN };
	struct outcome out;
	bool odd;

	if (is_udp(run)) {
		send_udp(run, op, i);
		return;
	}
	if (flow->live && !op->abandon)
		return;

	lapse(run, i);
	packet.seq = run->seq += SEQ_APART;
	arrive(run, op, &packet, &out);
	check_syn(run, &packet, &out, &before);

	odd = before.pending || out.failed;
	tuple->late_seq = flow->seq;
	flow->seq = packet.seq;
	flow->handshake = true;
	flow->odd = odd;
	flow->clean = out.remembered && before.ended && !before.pending &&
		      out.choice.unconfirmed && !out.failed;
	begin(run, i, &out);
}

/* The client has had no answer. */
static void op_retry(struct run *run, const struct op *op)
{
	u32 i = op->what % run->history->n_tuples;
	struct flow *flow = &run->flows[i];
	struct arrival packet = { .tuple = i, .role = CHS_ROLE_SYN };
	u32 age = since(run, flow->last);
	__u16 before = flow->backend;
	struct outcome out;
	bool held;

	if (is_udp(run) || !flow->live || !flow->handshake)
		return;

	lapse(run, i);
	held = is_held(run, i) && flow->known && !flow->lost && !flow->odd &&
	       age <= CHS_AFFINITY_HANDSHAKE;
	packet.seq = flow->seq;
	arrive(run, op, &packet, &out);
	if (held)
		expect(run, PROMISE_HANDSHAKE, i, before, out.backend);
	if (out.backend == CHS_RING_NONE) {
		flow->live = false;
		return;
	}
	if (out.backend == before) {
		/* Nothing has come of it that was not there before. */
		held = flow->held;
		land(run, i, &out);
		flow->held &= held;
		return;
	}
	begin(run, i, &out);
	flow->held = false;
	flow->odd = true;
}

static void check_data(struct run *run, u32 i, const struct outcome *out,
		       bool held, bool keeps)
{
	const struct flow *flow = &run->flows[i];

	if (is_outdated(run, i, out))
		return;
	if (held)
		expect(run, flow->handshake ? PROMISE_HANDSHAKE :
					      PROMISE_STAYS,
		       i, flow->backend, out->backend);
	else if (keeps)
		expect(run, PROMISE_KEEPS_OWNER, i, flow->backend,
		       out->backend);
	if (out->version == &run->dir.version && flow->known &&
	    health(run, flow->backend) == CHS_HEALTH_DEAD &&
	    !flow->lost && !flow->handshake &&
	    run->tuples[i].packets == flow->packets + 1)
		expect(run, PROMISE_DEAD_TO_OWNER, i, owner_of(run, i),
		       out->backend);
}

static void send_data(struct run *run, const struct op *op, u32 i,
		      enum chs_role role)
{
	struct flow *flow = &run->flows[i];
	struct tuple *tuple = &run->tuples[i];
	struct arrival packet = {
		.tuple = i, .role = role, .seq = flow->seq + 1,
	};
	bool held, keeps, ack = flow->handshake;
	struct outcome out;

	if (!flow->live)
		return;

	/* Only the first packets are near the SYN. */
	if (!ack)
		packet.seq += SEQ_APART / 2;
	packet.cookie = ack;
	lapse(run, i);
	held = is_held(run, i);
	keeps = keeps_owner(run, i);
	arrive(run, op, &packet, &out);
	check_data(run, i, &out, held, keeps);
	if (ack) {
		tuple->pending &= flow->odd;
		tuple->ended = role == CHS_ROLE_END && !out.failed;
	}
	if (out.backend != flow->backend) {
		/* It is torn. */
		flow->live = false;
		return;
	}
	flow->handshake = false;
	land(run, i, &out);
}

static void op_send(struct run *run, const struct op *op)
{
	u32 i = op->what % run->history->n_tuples;

	if (is_udp(run)) {
		if (run->flows[i].live)
			send_udp(run, op, i);
		return;
	}
	send_data(run, op, i, CHS_ROLE_DATA);
}

static void op_end(struct run *run, const struct op *op)
{
	u32 i = op->what % run->history->n_tuples;

	if (is_udp(run))
		return;
	send_data(run, op, i, CHS_ROLE_END);
	if (op->half)
		return;
	/* The last acknowledgement of one that closes first. */
	if (op->how & 1)
		send_data(run, op, i, CHS_ROLE_DATA);
	run->flows[i].live = false;
}

/* A packet that the client of a new connection sent on its last one. */
static void op_late(struct run *run, const struct op *op)
{
	u32 i = op->what % run->history->n_tuples;
	struct flow *flow = &run->flows[i];
	struct arrival packet = { .tuple = i, .role = CHS_ROLE_DATA };
	struct outcome out;

	if (is_udp(run) || !run->tuples[i].seen ||
	    (flow->live && !flow->handshake))
		return;

	packet.seq = (flow->live ? run->tuples[i].late_seq : flow->seq) +
		     SEQ_APART / 2;
	arrive(run, op, &packet, &out);
	/* Nothing tells it from one of a flow that the SYN was forged for. */
	if (flow->live && !flow->clean) {
		flow->held = false;
		flow->odd = true;
	}
}

static void op_forged_syn(struct run *run, const struct op *op)
{
	u32 i = op->what % run->history->n_tuples;
	struct flow *flow = &run->flows[i];
	const struct tuple before = run->tuples[i];
	struct arrival packet = { .tuple = i, .role = CHS_ROLE_SYN };
	struct outcome out;

	if (is_udp(run))
		return;

	lapse(run, i);
	packet.seq = run->seq += SEQ_APART;
	arrive(run, op, &packet, &out);
	check_syn(run, &packet, &out, &before);
	if (!flow->live || !flow->handshake)
		return;
	/* Nothing tells which of two handshakes is the client's. */
	flow->odd = true;
	flow->clean = false;
	if (since(run, flow->last) > CHS_AFFINITY_HANDSHAKE ||
	    (run->history->protocol == SCTP && !flow->known))
		flow->held = false;
}

static void op_forged(struct run *run, const struct op *op,
		      enum chs_role role)
{
	u32 i = op->what % run->history->n_tuples;
	struct flow *flow = &run->flows[i];
	struct arrival packet = { .tuple = i, .role = role };
	struct outcome out;

	if (is_udp(run))
		return;

	packet.seq = run->seq += SEQ_APART;
	arrive(run, op, &packet, &out);
	if (flow->live && flow->handshake && !flow->clean) {
		flow->held = false;
		flow->odd = true;
	}
}

static void op_error(struct run *run, const struct op *op)
{
	u32 i = op->what % run->history->n_tuples;
	struct flow *flow = &run->flows[i];
	struct arrival packet = { .tuple = i, .role = CHS_ROLE_ERROR };
	struct outcome out;
	bool held;

	lapse(run, i);
	held = is_held(run, i) && !flow->handshake;
	/* It does not say whether its flow would have said that it is new. */
	if (is_udp(run) && !flow->known)
		held = false;
	arrive(run, op, &packet, &out);
	if (held && !is_outdated(run, i, &out))
		expect(run, PROMISE_ERROR_FOLLOWS, i, flow->backend,
		       out.backend);
	expect(run, PROMISE_ERROR_FOLLOWS, i, CHS_PIN_NONE,
	       out.choice.action);
}

/* Histories ------------------------------------------------------------------ */

static void run_op(struct run *run, const struct op *op)
{
	switch (op->kind) {
	case OP_TIME:
		return op_time(run, op);
	case OP_CLOSE:
		return director_close(&run->dir);
	case OP_SWEEP:
		return op_sweep(run);
	case OP_MOVE:
		return op_move(run, op);
	case OP_UP:
		return op_health(run, op, CHS_HEALTH_UP);
	case OP_DRAIN:
		return op_health(run, op, CHS_HEALTH_DRAINING);
	case OP_DEADLINE:
		return op_deadline(run, op);
	case OP_DOWN:
		return op_health(run, op, CHS_HEALTH_DEAD);
	case OP_DELETE:
		return op_delete(run, op);
	case OP_ADD:
		return op_add(run, op);
	case OP_WINDOW:
		return op_window(run, op);
	case OP_ROOM:
		return op_room(run, op);
	case OP_AFFINITY:
		return op_affinity(run, op);
	case OP_TAKEOVER:
		return op_takeover(run);
	case OP_OPEN:
		return op_open(run, op);
	case OP_RETRY:
		return op_retry(run, op);
	case OP_SEND:
		return op_send(run, op);
	case OP_END:
		return op_end(run, op);
	case OP_LATE:
		return op_late(run, op);
	case OP_FORGED_SYN:
		return op_forged_syn(run, op);
	case OP_FORGED_DATA:
		return op_forged(run, op, CHS_ROLE_DATA);
	case OP_FORGED_END:
		return op_forged(run, op, CHS_ROLE_END);
	case OP_ERROR:
		return op_error(run, op);
	}
}

static void run_init(struct run *run, const struct history *history)
{
	struct version *version = &run->dir.version;
	u32 i;

	memset(run, 0, sizeof(*run));
	run->history = history;
	run->dir.protocol = history->protocol;
	run->dir.n_arcs = history->n_arcs;
	run->dir.now = history->start;
	run->freed = history->start;
	version->affinity = history->affinity;
	version->window = history->window;
	version->timeout = history->timeout;
	version->max_flows = history->max_flows;
	for (i = 0; i < DIRECTOR_SLOTS; i++) {
		bool there = i < history->n_slots;

		version->slots[i].id = there ? BACKEND(i, 0) : CHS_RING_NONE;
		version->slots[i].health = there ? CHS_HEALTH_UP :
						   CHS_HEALTH_DEAD;
		run->dir.freed[i] = history->start;
	}
	for (i = 0; i < DIRECTOR_ARCS; i++) {
		version->arcs[i].owner = BACKEND(i, 0);
		version->arcs[i].heritage.former = CHS_RING_NONE;
	}
}

static void trace_state(const struct run *run, const struct op *op)
{
	static const char *const states[] = { "settled", "open", "closing" };
	static const char *const healths[] = { "dead", "drains", "up" };
	const struct version *version = &run->dir.version;
	char line[200], owner[16], former[16];
	u32 i, n = 0;

	if (op->kind >= OP_OPEN) {
		unit_note("  +%us: %s, flow %u", since(run, run->history->start),
			  op_names[op->kind],
			  op->what % run->history->n_tuples);
		return;
	}
	for (i = 0; i < run->dir.n_arcs; i++) {
		oracle_name(owner, sizeof(owner), version->arcs[i].owner);
		oracle_name(former, sizeof(former),
			     version->arcs[i].heritage.former);
		n += snprintf(line + n, sizeof(line) - n,
			      " arc %u %s's, %s (%s);", i, owner,
			      states[version->arcs[i].state], former);
	}
	for (i = 0; i < run->history->n_slots; i++) {
		oracle_name(owner, sizeof(owner), version->slots[i].id);
		n += snprintf(line + n, sizeof(line) - n, " %s %s", owner,
			      healths[version->slots[i].health]);
	}
	unit_note("  +%us: %s:%s, affinity %u window %u timeout %u",
		  since(run, run->history->start), op_names[op->kind],
		  line, version->affinity, version->window, version->timeout);
}

/* When nothing drains and time passes, nothing is left. */
static void run_out(struct run *run)
{
	struct version next = run->dir.version;
	u32 i, left = 0;

	for (i = 0; i < DIRECTOR_SLOTS; i++) {
		if (next.slots[i].health == CHS_HEALTH_DRAINING)
			next.slots[i].health = CHS_HEALTH_UP;
	}
	publish(run, &next);
	run->dir.now += next.window + 1;
	director_close(&run->dir);
	director_sweep(&run->dir);
	run->dir.now += next.timeout + 1;
	director_sweep(&run->dir);
	for (i = 0; i < DIRECTOR_TUPLES; i++)
		left += run->dir.entries[i].used;
	for (i = 0; i < run->dir.n_arcs; i++)
		left += run->dir.version.arcs[i].state != CHS_ARC_SETTLED;
	expect(run, PROMISE_FORGETS_ALL, 0, 0, left);
}

void oracle_run(const struct history *history, bool trace,
		struct verdict *verdict)
{
	static struct run run;
	u32 i;

	run_init(&run, history);
	run.trace = trace;
	run.verdict = verdict;
	verdict->broken = -1;
	for (i = 0; i < history->n_ops && verdict->broken < 0; i++) {
		run_op(&run, &history->ops[i]);
		if (trace)
			trace_state(&run, &history->ops[i]);
	}
	if (verdict->broken < 0)
		run_out(&run);
}
