/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The affinity decision: the backend that a packet goes to, and the pin that its
 * flow is to have afterwards.
 *
 * Pure: shared, unchanged, by the module and the model test. Nothing here knows
 * of packets, locks, clocks or memory: the caller says how things stand, and is
 * told where the packet goes and what to remember.
 */
#ifndef CHS_AFFINITY_H
#define CHS_AFFINITY_H

#include <linux/chsteer.h>
#include <linux/types.h>

#include "ring.h"

/* A packet that confirms a TCP SYN is within so many bytes behind it. */
#define CHS_AFFINITY_SEQ	65536
/* Seconds within which a SYN is followed by another packet. */
#define CHS_AFFINITY_HANDSHAKE	3

/**
 * enum chs_arc_state - what an arc asks of a packet
 * @CHS_ARC_SETTLED: nothing; it goes to the owner
 * @CHS_ARC_OPEN: the arc has a living former owner
 * @CHS_ARC_CLOSING: it has none any more, but flows are remembered in it
 */
enum chs_arc_state {
	CHS_ARC_SETTLED,
	CHS_ARC_OPEN,
	CHS_ARC_CLOSING,
};

/**
 * enum chs_health - what may be expected of a backend
 * @CHS_HEALTH_DEAD: nothing: it is down, gone, or its drain deadline has passed
 * @CHS_HEALTH_DRAINING: it keeps its flows, but gets no new ones
 * @CHS_HEALTH_UP: both
 */
enum chs_health {
	CHS_HEALTH_DEAD,
	CHS_HEALTH_DRAINING,
	CHS_HEALTH_UP,
};

/**
 * struct chs_arc - how things stand with a packet's arc
 * @state: enum chs_arc_state
 * @in_window: the window of an open arc has not passed; if it has, @former is
 *	kept only because it drains
 * @owner: backend that owns it, or CHS_RING_NONE
 * @former: living backend that owned it, if open
 */
struct chs_arc {
	__u8 state;
	bool in_window;
	__u16 owner;
	__u16 former;
};

/**
 * struct chs_pin - what is remembered of a packet's flow
 * @backend: where it goes, or CHS_RING_NONE if that backend is dead
 * @previous: of an unconfirmed flow: where it went before; CHS_RING_NONE if
 *	nowhere, or if that backend is dead
 * @unconfirmed: only a SYN has been seen, which may be forged
 * @ended: a FIN or RST has been seen; of an unconfirmed flow: before the SYN
 * @idle: nothing has been seen for longer than the timeout; of an unconfirmed
 *	flow: than CHS_AFFINITY_HANDSHAKE. Whether a backend drains does not
 *	matter
 */
struct chs_pin {
	__u16 backend;
	__u16 previous;
	bool unconfirmed;
	bool ended;
	bool idle;
};

/**
 * enum chs_role - what a packet is to its flow
 * @CHS_ROLE_SYN: it asks for a new one: TCP SYN, SCTP INIT
 * @CHS_ROLE_DATA: it belongs to one already running
 * @CHS_ROLE_END: so it does, and ends it
 * @CHS_ROLE_ANY: it may be either: UDP
 * @CHS_ROLE_ERROR: an ICMP error about one, which is no sign of life
 */
enum chs_role {
	CHS_ROLE_SYN,
	CHS_ROLE_DATA,
	CHS_ROLE_END,
	CHS_ROLE_ANY,
	CHS_ROLE_ERROR,
};

/**
 * enum chs_pin_action - what becomes of the memory of a flow
 * @CHS_PIN_NONE: it stays as it is
 * @CHS_PIN_FORGET: there is none any more
 * @CHS_PIN_CREATE: a new one, in the place of any that there is; if it fails,
 *	that one stays
 * @CHS_PIN_TOUCH: a packet was seen
 * @CHS_PIN_CONFIRM: as TOUCH; the flow is confirmed
 * @CHS_PIN_REVERT: as TOUCH; the flow is confirmed, to its previous backend
 */
enum chs_pin_action {
	CHS_PIN_NONE,
	CHS_PIN_FORGET,
	CHS_PIN_CREATE,
	CHS_PIN_TOUCH,
	CHS_PIN_CONFIRM,
	CHS_PIN_REVERT,
};

/**
 * struct chs_choice - where a packet goes and what is to be remembered
 * @backend: where it goes, or CHS_RING_NONE if nowhere
 * @fallback: where it goes instead if CREATE fails
 * @previous: of what is created: see struct chs_pin
 * @reason: enum chsteer_reason
 * @action: enum chs_pin_action
 * @unconfirmed: of what is created: see struct chs_pin
 * @ended: of what is created or seen: see struct chs_pin
 */
struct chs_choice {
	__u16 backend;
	__u16 fallback;
	__u16 previous;
	__u8 reason;
	__u8 action;
	bool unconfirmed;
	bool ended;
};

/**
 * enum chs_worth - how much a flow is worth remembering when there is no room
 * @CHS_WORTH_ENDED: nothing: it has ended or expired, or its backend is dead
 * @CHS_WORTH_NEW: little: one packet was seen, and the next one is overdue
 * @CHS_WORTH_ESTABLISHED: it is running; the longer it is silent, the less
 * @CHS_WORTH_KEPT: it does not give way
 */
enum chs_worth {
	CHS_WORTH_ENDED,
	CHS_WORTH_NEW,
	CHS_WORTH_ESTABLISHED,
	CHS_WORTH_KEPT,
};

/**
 * struct chs_tenure - how long a flow has been remembered, and why
 * @established: more than one packet was seen, or it was running before
 * @begun: it began while its arc had a former owner, see chs_affinity_claim()
 * @expired: see chs_affinity_stale()
 * @idle: seconds since the last packet
 */
struct chs_tenure {
	bool established;
	bool begun;
	bool expired;
	__u32 idle;
};

/**
 * struct chs_claim - by what right a flow takes the place of another
 * @running: it has to be remembered to stay where it is
 * @crowded: of those that have begun there are as many as may be; it may take
 *	the place of one of them only
 * @timeout: of the service, seconds
 */
struct chs_claim {
	bool running;
	bool crowded;
	__u32 timeout;
};

void chs_affinity_choose(enum chsteer_affinity affinity,
			 const struct chs_arc *arc, const struct chs_pin *pin,
			 enum chs_role role, bool in_sequence,
			 struct chs_choice *choice);
bool chs_affinity_stale(enum chsteer_affinity affinity,
			const struct chs_arc *arc, const struct chs_pin *pin,
			enum chs_role role, bool expired);
bool chs_affinity_running(const struct chs_choice *choice);
void chs_affinity_claim(const struct chs_choice *choice, enum chs_role role,
			__u32 n_begun, __u32 max_flows, __u32 timeout,
			struct chs_claim *claim);
enum chs_worth chs_affinity_worth(const struct chs_pin *pin,
				  const struct chs_tenure *tenure,
				  const struct chs_claim *claim);

/**
 * chs_affinity_age() - how long ago something was
 * @since: when it was, seconds
 * @now: seconds; a clock read before something else was done, for which another
 *	CPU may have made @since later than this
 *
 * Context: any.
 * Return: seconds, 0 if it is still to be.
 */
static inline __u32 chs_affinity_age(__u32 since, __u32 now)
{
	return (__s32)(now - since) > 0 ? now - since : 0;
}

/**
 * struct chs_heritage - what an arc remembers
 * @former: living backend that owned it before, or CHS_RING_NONE
 * @since: when that backend last lost it, in seconds
 */
struct chs_heritage {
	__u16 former;
	__u32 since;
};

bool chs_affinity_over(const struct chs_heritage *arc, enum chs_health former,
		       __u32 now, __u32 window);
void chs_affinity_shift(struct chs_heritage *arc, enum chs_health former,
			bool freed, __u16 from, enum chs_health from_health,
			__u16 to, __u32 now, __u32 window);

#endif /* CHS_AFFINITY_H */
