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
 * where it went before. So a forged SYN moves nobody. A FIN or RST may be
 * forged as well, and a connection may be half closed for hours: it only makes
 * a later SYN a new flow, and the next ordinary packet takes it back.
 *
 * With affinity flow each flow is remembered, in whatever arc. It is for
 * protocols in which no packet says "new": one that is not remembered is.
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
	/* What cannot be remembered goes where its next packets will go. */
	remember(choice, choice->unconfirmed ? previous : arc->owner);
}

static void choose_pinned(const struct chs_arc *arc, const struct chs_pin *pin,
			  enum chs_role role, bool in_sequence,
			  struct chs_choice *choice)
{
	choice->backend = pin->backend;
	choice->reason = CHS_REASON_FLOW;

	switch (role) {
	case CHS_ROLE_SYN:
		/* Into a live connection it is that backend's to answer. */
		if (pin->ended)
			choose_syn(arc, pin->unconfirmed ? pin->previous :
						 pin->backend, choice);
		return;
	case CHS_ROLE_ERROR:
		/* About a flow that was there before the SYN, if any. */
		if (pin->unconfirmed && pin->previous != CHS_RING_NONE)
			choice->backend = pin->previous;
		return;
	default:
		break;
	}

	choice->ended = role == CHS_ROLE_END;
	if (!pin->unconfirmed) {
		choice->action = CHS_PIN_TOUCH;
	} else if (in_sequence) {
		choice->action = CHS_PIN_CONFIRM;
	} else if (pin->previous != CHS_RING_NONE) {
		choice->action = CHS_PIN_REVERT;
		choice->backend = pin->previous;
	} else {
		to_owner(arc, choice);
		remember(choice, arc->owner);
	}
}

static void choose_unpinned(enum chsteer_affinity affinity,
			    const struct chs_arc *arc, enum chs_role role,
			    bool dead, struct chs_choice *choice)
{
	bool open = arc->state == CHS_ARC_OPEN;
	bool all = affinity == CHS_AFFINITY_FLOW;

	to_owner(arc, choice);
	if (role == CHS_ROLE_SYN) {
		if (open || all)
			choose_syn(arc, open ? arc->former : CHS_RING_NONE,
				   choice);
		return;
	}

	/*
	 * The former owner may have it. Not a flow of a dead backend: it was
	 * on that one. Nor, once the window has passed, one that would be
	 * remembered if it had sent anything.
	 */
	if (open && !dead && (role == CHS_ROLE_ANY ? !all && arc->in_window :
						    !all || arc->in_window)) {
		choice->backend = arc->former;
		choice->reason = CHS_REASON_FORMER_OWNER;
	}
	if ((open || all) && role != CHS_ROLE_ERROR) {
		choice->ended = role == CHS_ROLE_END;
		remember(choice, choice->backend);
	}
}

/**
 * chs_affinity_choose() - where a packet goes
 * @affinity: of the service
 * @arc: the packet's arc
 * @pin: what is remembered of its flow, or NULL; not looked for if @arc is
 *	settled and @affinity is transition, nor with affinity ring
 * @role: what it is to its flow
 * @in_sequence: whether it fits the SYN of an unconfirmed flow
 * @choice: where the answer goes
 *
 * Context: any.
 */
void chs_affinity_choose(enum chsteer_affinity affinity,
			 const struct chs_arc *arc, const struct chs_pin *pin,
			 enum chs_role role, bool in_sequence,
			 struct chs_choice *choice)
{
	struct chs_pin reverted;
	bool forget = false, dead = false;

	*choice = (struct chs_choice) {
		.previous = CHS_RING_NONE,
		.fallback = CHS_RING_NONE,
	};
	if (affinity == CHS_AFFINITY_RING ||
	    (affinity == CHS_AFFINITY_TRANSITION &&
	     arc->state == CHS_ARC_SETTLED)) {
		to_owner(arc, choice);
		return;
	}

	if (pin && pin->expired) {
		forget = true;
		pin = NULL;
	} else if (pin && pin->backend == CHS_RING_NONE) {
		if (pin->unconfirmed && pin->previous != CHS_RING_NONE) {
			/* Where it was before lives. */
			reverted = *pin;
			reverted.backend = pin->previous;
			pin = &reverted;
			in_sequence = false;
		} else {
			forget = true;
			dead = true;
			pin = NULL;
		}
	}

	if (pin)
		choose_pinned(arc, pin, role, in_sequence, choice);
	else
		choose_unpinned(affinity, arc, role, dead, choice);

	if (choice->action != CHS_PIN_NONE || role == CHS_ROLE_ERROR)
		return;
	if (pin == &reverted)
		choice->action = CHS_PIN_REVERT;
	else if (forget)
		choice->action = CHS_PIN_FORGET;
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
	return former == CHS_HEALTH_UP && now - arc->since > window;
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
