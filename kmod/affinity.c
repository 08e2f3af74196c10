// SPDX-License-Identifier: GPL-2.0-only
/*
 * Affinity: which backend a packet goes to, and what is to be remembered.
 *
 * While an arc is settled its owner gets every packet and nothing is
 * remembered. When an arc changes owner, the flows in it are on the former one
 * and nobody knows which they are. So the arc stays open for a window: a SYN
 * goes to the new owner, everything else to the former one, and either is
 * remembered. A flow that sends once a window is thus remembered by the end of
 * it; and only flows in arcs that moved are.
 *
 * ========  ====================  ========================  ===================
 * arc       flow is remembered    SYN, not remembered       else, not remembered
 * ========  ====================  ========================  ===================
 * settled   (not looked for)      owner                     owner
 * open      its backend           owner; remember           former; remember
 * closing   its backend           owner                     owner
 * ========  ====================  ========================  ===================
 *
 * A SYN may be forged. One that is remembered is unconfirmed, and keeps where
 * the flow went before, until a packet follows that fits its sequence number;
 * one that does not fit was sent by somebody who did not see the SYN, and goes
 * where it went before. So a forged SYN moves nobody. While a handshake may be
 * going on, a second SYN of another number goes there as well: its next packet
 * will, and either may be the forged one.
 *
 * A FIN or RST may be forged as well, a connection may be half closed for
 * hours, and packets may come late: it only makes a later SYN a new flow. So
 * does silence, for what no SYN follows stays where it is.
 *
 * With affinity flow each flow is remembered, in whatever arc. It is for
 * protocols in which no packet says "new": one that is not remembered is.
 *
 * There may be no room. A connection that begins in an open arc and is not
 * remembered goes to the former owner, as its next packets will, and loses
 * nothing, but would if it was forgotten later: it does not give way, takes the
 * place of none that is established, and half of the room is all that there is
 * for its kind, or a flood of SYN and ACK from made-up sources would take the
 * whole. One that was running before its arc moved has until the end of the
 * window to be remembered, and loses nothing before, but its packets look like
 * those that a flood is made of: it takes the place of that one of its kind that
 * is silent for longest. So those that were heard from last are remembered, and
 * to have one of them forgotten, a sender has to fill their part of the table
 * between two of its packets. No rule can ask for more of a sender whose flows
 * send as often and differ in nothing that is seen here.
 *
 * selftests/unit/test_affinity.c tests these rules against an oracle.
 */
#include "affinity.h"

static void to_owner(const struct chs_arc *arc, struct chs_choice *choice)
{
	choice->backend = arc->owner;
	choice->reason = CHS_REASON_RING;
}

static void remember(struct chs_choice *choice, __u16 fallback)
{
	/* A flow that no backend can take is not remembered. */
	if (choice->backend == CHS_RING_NONE)
		return;

	choice->action = CHS_PIN_CREATE;
	choice->fallback = fallback;
}

/* A SYN, where a flow of the same tuple may be on @previous. */
static void choose_syn(const struct chs_arc *arc, __u16 previous,
		       struct chs_choice *choice)
{
	to_owner(arc, choice);
	choice->previous = previous;
	choice->unconfirmed = previous != CHS_RING_NONE;
	choice->ended &= choice->unconfirmed;
	/*
	 * No memory for the flow: send it where its later packets,
	 * unremembered, will go too.
	 */
	remember(choice, choice->unconfirmed ? previous : arc->owner);
}

/* Backend of the flow, on the assumption that an unconfirmed SYN was forged. */
static __u16 place(const struct chs_pin *pin)
{
	return pin->unconfirmed ? pin->previous : pin->backend;
}

static void choose_pinned_syn(const struct chs_arc *arc,
			      const struct chs_pin *pin, bool in_sequence,
			      struct chs_choice *choice)
{
	bool again = pin->unconfirmed && in_sequence &&
		     pin->backend != CHS_RING_NONE;

	if (pin->idle || pin->backend == CHS_RING_NONE ||
	    (pin->ended && !pin->unconfirmed)) {
		choose_syn(arc, place(pin), choice);
		if (again)
			choice->fallback = pin->backend;
	} else if (!pin->unconfirmed || again) {
		/* Into a live connection it is that backend's to answer. */
		choice->action = CHS_PIN_TOUCH;
	} else if (pin->previous != CHS_RING_NONE) {
		choice->backend = pin->previous;
	} else {
		choice->action = CHS_PIN_CONFIRM;
		choice->ended = false;
	}
}

/* A packet of an unconfirmed flow that is no SYN. */
static void choose_unconfirmed(const struct chs_arc *arc,
			       const struct chs_pin *pin, enum chs_role role,
			       bool in_sequence, struct chs_choice *choice)
{
	if (in_sequence && pin->backend != CHS_RING_NONE) {
		choice->action = CHS_PIN_CONFIRM;
		choice->ended = role == CHS_ROLE_END;
		return;
	}

	if (pin->previous != CHS_RING_NONE)
		choice->backend = pin->previous;
	else
		to_owner(arc, choice);

	if (pin->ended)
		/* It may just be late; the handshake goes on. */
		choice->action = CHS_PIN_TOUCH;
	else if (pin->previous != CHS_RING_NONE)
		choice->action = CHS_PIN_REVERT;
	else
		remember(choice, arc->owner);
}

static void choose_pinned(const struct chs_arc *arc, const struct chs_pin *pin,
			  enum chs_role role, bool in_sequence,
			  struct chs_choice *choice)
{
	choice->backend = pin->backend;
	choice->reason = CHS_REASON_FLOW;
	choice->ended = pin->ended || role == CHS_ROLE_END;

	if (role == CHS_ROLE_SYN) {
		choose_pinned_syn(arc, pin, in_sequence, choice);
	} else if (role == CHS_ROLE_ERROR) {
		/* About a flow that was there before the SYN, if any. */
		if (place(pin) != CHS_RING_NONE)
			choice->backend = place(pin);
	} else if (pin->unconfirmed) {
		choose_unconfirmed(arc, pin, role, in_sequence, choice);
	} else {
		choice->action = CHS_PIN_TOUCH;
	}
}

/*
 * Whether a flow that is not remembered is taken to be on the former owner. One
 * whose packets do not say that they are new is only as long as it must have
 * sent something.
 */
static bool is_former(enum chsteer_affinity affinity, const struct chs_arc *arc,
		      enum chs_role role)
{
	if (arc->state != CHS_ARC_OPEN)
		return false;
	return role != CHS_ROLE_ANY ||
	       (affinity != CHS_AFFINITY_FLOW && arc->in_window);
}

static void choose_unpinned(enum chsteer_affinity affinity,
			    const struct chs_arc *arc, enum chs_role role,
			    bool dead, struct chs_choice *choice)
{
	/* A flow of a dead backend was on that one, not on the former owner. */
	bool former = !dead && is_former(affinity, arc, role);

	to_owner(arc, choice);
	if (arc->state != CHS_ARC_OPEN && affinity != CHS_AFFINITY_FLOW)
		return;

	if (role == CHS_ROLE_SYN) {
		choose_syn(arc, former ? arc->former : CHS_RING_NONE, choice);
		return;
	}

	if (former) {
		choice->backend = arc->former;
		choice->reason = CHS_REASON_FORMER_OWNER;
	}
	if (role != CHS_ROLE_ERROR) {
		choice->ended = role == CHS_ROLE_END;
		remember(choice, choice->backend);
	}
}

/*
 * Both the backend of the flow and the one before an unconfirmed SYN are dead.
 */
static bool is_void(const struct chs_pin *pin)
{
	return pin->backend == CHS_RING_NONE && place(pin) == CHS_RING_NONE;
}

/**
 * chs_affinity_choose() - where a packet goes
 * @affinity: of the service
 * @arc: the packet's arc
 * @pin: what is remembered of its flow, or NULL; not looked for if @arc is
 *	settled and @affinity is transition, nor with affinity ring
 * @role: what it is to its flow
 * @in_sequence: whether it fits the SYN of an unconfirmed flow. A TCP SYN fits
 *	if its number is the same, another packet if it is within
 *	CHS_AFFINITY_SEQ behind that; an SCTP INIT and a COOKIE ECHO always do,
 *	for nothing tells whose they are, other chunks never
 * @choice: where the answer goes
 *
 * Context: any.
 */
void chs_affinity_choose(enum chsteer_affinity affinity,
			 const struct chs_arc *arc, const struct chs_pin *pin,
			 enum chs_role role, bool in_sequence,
			 struct chs_choice *choice)
{
	bool dead = pin && is_void(pin);

	*choice = (struct chs_choice) {
		.previous = CHS_RING_NONE,
		.fallback = CHS_RING_NONE,
	};
	if (affinity == CHS_AFFINITY_RING ||
	    (affinity == CHS_AFFINITY_TRANSITION &&
	     arc->state == CHS_ARC_SETTLED))
		to_owner(arc, choice);
	else if (pin && !dead)
		choose_pinned(arc, pin, role, in_sequence, choice);
	else
		choose_unpinned(affinity, arc, role, dead, choice);

	if (dead && choice->action == CHS_PIN_NONE && role != CHS_ROLE_ERROR)
		choice->action = CHS_PIN_FORGET;
}

/**
 * chs_affinity_stale() - whether a flow need not be remembered any more
 * @affinity: of the service
 * @arc: the flow's arc; not one that a packet may still take to be open if it
 *	is not
 * @pin: what is remembered
 * @role: CHS_ROLE_ANY if that is what packets of the service are, or
 *	CHS_ROLE_DATA
 * @expired: nothing has been seen of it for longer than the timeout, and
 *	neither its backend nor, while it is unconfirmed, the previous one
 *	drains
 *
 * Context: any.
 * Return: true if it may be forgotten.
 */
bool chs_affinity_stale(enum chsteer_affinity affinity,
			const struct chs_arc *arc, const struct chs_pin *pin,
			enum chs_role role, bool expired)
{
	bool former = is_former(affinity, arc, role);

	if (affinity == CHS_AFFINITY_RING)
		return true;
	/* Flows of dead backends are the owner's, not a former owner's. */
	if (is_void(pin))
		return expired || !former;
	if (affinity == CHS_AFFINITY_TRANSITION &&
	    arc->state != CHS_ARC_OPEN && !pin->unconfirmed &&
	    pin->backend == arc->owner)
		return true;

	/* Silence alone moves no flow from its arc's owner. */
	return expired && (!former || arc->former == arc->owner || pin->ended ||
			   role == CHS_ROLE_ANY || place(pin) != arc->owner);
}

/**
 * chs_affinity_running() - whether a flow was running before it is remembered
 * @choice: the choice to remember it
 *
 * Context: any.
 * Return: true if so. Its packets say that it is established, however few of
 * them have been seen.
 */
bool chs_affinity_running(const struct chs_choice *choice)
{
	return choice->reason == CHS_REASON_FORMER_OWNER;
}

/**
 * chs_affinity_claim() - by what right a flow is to be remembered
 * @choice: the choice to remember it; it has begun if that is unconfirmed
 * @role: CHS_ROLE_ANY if that is what packets of the service are, or
 *	CHS_ROLE_DATA
 * @n_begun: number of flows remembered that have begun
 * @max_flows: of the service
 * @timeout: of the service, seconds
 * @claim: where the answer goes
 *
 * Context: any.
 */
void chs_affinity_claim(const struct chs_choice *choice, enum chs_role role,
			__u32 n_begun, __u32 max_flows, __u32 timeout,
			struct chs_claim *claim)
{
	claim->running = chs_affinity_running(choice) || role == CHS_ROLE_ANY;
	claim->crowded = choice->unconfirmed &&
			 n_begun >= max_flows - max_flows / 2;
	claim->timeout = timeout;
}

/**
 * chs_affinity_worth() - how much a flow is worth remembering
 * @pin: what is remembered
 * @tenure: for how long, and why
 * @claim: that of the flow that is to take its place
 *
 * Context: any.
 * Return: the worth. Of two alike the one that is idle longer gives way.
 */
enum chs_worth chs_affinity_worth(const struct chs_pin *pin,
				  const struct chs_tenure *tenure,
				  const struct chs_claim *claim)
{
	__u32 spared = claim->timeout / 2 + 1;

	if (claim->crowded && !tenure->begun)
		return CHS_WORTH_KEPT;
	if ((pin->ended && !pin->unconfirmed) || tenure->expired ||
	    is_void(pin))
		return CHS_WORTH_ENDED;
	if (!tenure->established)
		return tenure->idle < CHS_AFFINITY_HANDSHAKE ?
			       CHS_WORTH_KEPT : CHS_WORTH_NEW;
	if (claim->running && !tenure->begun && spared > CHS_AFFINITY_HANDSHAKE)
		spared = CHS_AFFINITY_HANDSHAKE;
	return tenure->idle < spared ? CHS_WORTH_KEPT :
				       CHS_WORTH_ESTABLISHED;
}

/**
 * chs_affinity_over() - whether an arc has done with its former owner
 * @arc: what it remembers
 * @former: health of its former owner
 * @now: seconds
 * @window: seconds for which a former owner is remembered
 *
 * Context: any.
 * Return: true if it need not be remembered any more, or nothing is.
 */
bool chs_affinity_over(const struct chs_heritage *arc, enum chs_health former,
		       __u32 now, __u32 window)
{
	if (arc->former == CHS_RING_NONE || former == CHS_HEALTH_DEAD)
		return true;
	return former == CHS_HEALTH_UP &&
	       chs_affinity_age(arc->since, now) > window;
}

/**
 * chs_affinity_shift() - take a change of the service into account
 * @arc: what the arc remembers; brought up to date
 * @former: health that its former owner has now
 * @freed: its former owner drained until now
 * @from: owner before the change, or CHS_RING_NONE
 * @from_health: health that @from has now
 * @to: owner from now on, or CHS_RING_NONE
 * @now: seconds
 * @window: seconds for which a former owner is remembered
 *
 * The longest-standing former owner stays: who came after it has had only new
 * flows in this arc, and those are remembered.
 *
 * Context: any.
 */
void chs_affinity_shift(struct chs_heritage *arc, enum chs_health former,
			bool freed, __u16 from, enum chs_health from_health,
			__u16 to, __u32 now, __u32 window)
{
	if (arc->former != CHS_RING_NONE && freed &&
	    former == CHS_HEALTH_UP)
		arc->since = now;
	if (chs_affinity_over(arc, former, now, window))
		arc->former = CHS_RING_NONE;

	if (from == to)
		return;
	if (arc->former == CHS_RING_NONE) {
		if (from == CHS_RING_NONE || from_health == CHS_HEALTH_DEAD)
			return;
		arc->former = from;
		arc->since = now;
	} else if (arc->former == from) {
		arc->since = now;
	}
}
