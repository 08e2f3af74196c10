// SPDX-License-Identifier: GPL-2.0-only
/*
 * Closing of arcs, and forgetting of flows, when their time has come.
 *
 * An arc whose window has passed is marked closing. Packets that saw it open
 * may go on remembering flows in it until a grace period has passed; after
 * that, the flows of the service are walked once: those that are dead, idle for
 * too long, or where they would be anyway, are forgotten, and closing arcs in
 * which none is left are settled. When all are, a packet is spared the look.
 */
#include "settle.h"

#include "charge.h"
#include "flow.h"
#include "netns.h"
#include "transition.h"

#include <linux/bitmap.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

/* Between two walks of one service's flows: an eighth of their timeout. */
#define INTERVAL_SHARE	8
#define INTERVAL_MAX	30

static struct chs_transition *transition_of(const struct chs_service *svc)
{
	return rcu_dereference_protected(svc->transition, true);
}

static u32 interval(const struct chs_service *svc)
{
	return clamp(svc->timeout / INTERVAL_SHARE, 1U, (u32)INTERVAL_MAX);
}

static void arm(struct chs_net *cn, u32 seconds)
{
	unsigned long at = jiffies + seconds * HZ;

	if (delayed_work_pending(&cn->settle_work) &&
	    time_before_eq(cn->settle_at, at))
		return;
	cn->settle_at = at;
	mod_delayed_work(chs_workqueue, &cn->settle_work, seconds * HZ);
}

/* Seconds until something is to be done about @svc, or -1. */
static s64 next_time(const struct chs_service *svc, u32 now)
{
	const struct chs_transition *transition = transition_of(svc);
	s64 next = -1, left;
	u32 at;

	if (chs_flows_count(svc->flows) ||
	    (transition && transition->n_closing))
		next = interval(svc);
	if (!transition || !transition->n_open)
		return next;

	for (at = 0; at < svc->conf.slots; at++) {
		if (transition->former[at] >= CHS_ARC_CODE_CLOSING)
			continue;
		left = chs_transition_left(svc, at, now);
		/* Over only when the second has passed. */
		if (left >= 0 && (next < 0 || left + 1 < next))
			next = left + 1;
	}
	return next;
}

/**
 * chs_settle_note() - take a new version into account
 * @cn: namespace
 * @old: version that it replaces, or NULL
 * @new: version just published
 *
 * Context: process; @cn's lock held.
 */
void chs_settle_note(struct chs_net *cn, const struct chs_service *old,
		     const struct chs_service *new)
{
	u32 now = ktime_get_seconds();
	s64 next;

	if (!chs_service_is_direct(new) || new->affinity == CHS_AFFINITY_RING)
		return;

	rcu_read_lock();
	next = next_time(new, now);
	rcu_read_unlock();
	/* Walk at once: the change may have made flows void; see walk(). */
	if (chs_flows_count(new->flows) && old)
		next = 0;
	/* No event fires when a flow table becomes non-empty, so poll. */
	if (next < 0 && new->affinity == CHS_AFFINITY_FLOW)
		next = interval(new);
	if (next >= 0)
		arm(cn, next);
}

static void close_arcs(const struct chs_service *svc, u32 now)
{
	struct chs_transition *transition = transition_of(svc);
	struct chs_heritage arc;
	enum chs_health health;
	u32 at;
	u16 code;

	if (!transition || !transition->n_open)
		return;

	for (at = 0; at < svc->conf.slots; at++) {
		code = transition->former[at];
		if (code >= CHS_ARC_CODE_CLOSING)
			continue;
		arc.former = code;
		arc.since = transition->since[at];
		health = chs_backend_health(&svc->backends[code]);
		if (!chs_affinity_over(&arc, health, now, svc->window))
			continue;
		WRITE_ONCE(transition->former[at], CHS_ARC_CODE_CLOSING);
		WRITE_ONCE(transition->n_open, transition->n_open - 1);
		WRITE_ONCE(transition->n_closing, transition->n_closing + 1);
	}
}

/**
 * struct walk - a walk over the flows of a service
 * @svc: service
 * @now: seconds
 * @alive: a bit an arc, set where a flow stays; or NULL
 * @until: when the last flow in a closing arc will have been idle for too long
 * @held: a flow in a closing arc is on a backend that drains
 */
struct walk {
	struct chs_service *svc;
	u32 now;
	unsigned long *alive;
	u32 until;
	bool held;
};

static bool drains(const struct chs_service *svc, u16 at)
{
	return at != CHS_RING_NONE && chs_backend_health(&svc->backends[at]) ==
					      CHS_HEALTH_DRAINING;
}

static void note_stay(struct walk *walk, const struct chs_flow *flow,
		      const struct chs_pin *pin)
{
	const struct chs_service *svc = walk->svc;
	u32 until = walk->now + svc->timeout - chs_flow_idle(flow, walk->now);

	__set_bit(flow->arc, walk->alive);
	if (drains(svc, pin->backend) || drains(svc, pin->previous))
		walk->held = true;
	else if ((s32)(until - walk->until) > 0)
		walk->until = until;
}

/* Forget a flow that need not be remembered any more. */
static void see_flow(struct chs_flow *flow, void *arg)
{
	struct walk *walk = arg;
	const struct chs_service *svc = walk->svc;
	struct chs_pin pin;
	struct chs_arc arc;
	bool expired;

	expired = chs_flow_pin(svc, flow, walk->now, &pin);
	chs_transition_arc(svc, flow->arc, walk->now, &arc);
	/* A flow that was replaced meanwhile: the new one keeps the arc. */
	if (chs_affinity_stale(svc->affinity, &arc, &pin,
			       chs_flow_role(svc), expired) &&
	    chs_flow_forget(svc->flows, flow))
		return;
	if (svc->affinity != CHS_AFFINITY_FLOW && walk->alive &&
	    arc.state == CHS_ARC_CLOSING)
		note_stay(walk, flow, &pin);
}

static void settle_arcs(const struct walk *walk)
{
	struct chs_service *svc = walk->svc;
	struct chs_transition *transition = transition_of(svc);
	u32 at;

	for (at = 0; at < svc->conf.slots; at++) {
		if (transition->former[at] != CHS_ARC_CODE_CLOSING ||
		    test_bit(at, walk->alive))
			continue;
		WRITE_ONCE(transition->former[at], CHS_ARC_CODE_SETTLED);
		WRITE_ONCE(transition->n_closing, transition->n_closing - 1);
	}
	WRITE_ONCE(transition->until, walk->until);
	WRITE_ONCE(transition->held, walk->held);

	if (!transition->n_open && !transition->n_closing) {
		RCU_INIT_POINTER(svc->transition, NULL);
		kvfree_rcu(transition, rcu);
	}
}

/* A grace period has passed since close_arcs(). */
static void settle(struct chs_service *svc, u32 now)
{
	struct chs_transition *transition = transition_of(svc);
	struct walk walk = { .svc = svc, .now = now, .until = now };

	if (transition && transition->n_closing) {
		chs_charge_worker(svc->memcg);
		walk.alive = kvcalloc(BITS_TO_LONGS(svc->conf.slots),
				      sizeof(long), GFP_KERNEL_ACCOUNT);
		chs_charge_worker(NULL);
	}

	chs_flows_each(svc->flows, see_flow, &walk);
	/* Without memory arcs are settled another time. */
	if (walk.alive)
		settle_arcs(&walk);
	kvfree(walk.alive);
}

static bool has_any(const struct chs_service *svc)
{
	return svc->affinity != CHS_AFFINITY_RING && svc->flows &&
	       (chs_flows_count(svc->flows) || transition_of(svc));
}

/**
 * chs_settle_work() - close arcs and forget flows that are due
 * @work: settle_work of a namespace
 *
 * Context: process; sleeps.
 */
void chs_settle_work(struct work_struct *work)
{
	struct chs_net *cn = container_of(to_delayed_work(work),
					  struct chs_net, settle_work);
	struct chs_service *svc;
	bool any = false;
	u32 now, at;

	mutex_lock(&cn->lock);
	/* Not before: a change that held the lock has opened arcs since. */
	now = ktime_get_seconds();
	for (at = 0; (svc = chs_table_next(chs_net_table(cn), &at));) {
		if (has_any(svc)) {
			close_arcs(svc, now);
			any = true;
		}
		cond_resched();
	}
	if (any)
		synchronize_rcu();
	for (at = 0; (svc = chs_table_next(chs_net_table(cn), &at));) {
		/* The end of a namespace holds up others. */
		if (READ_ONCE(cn->dying))
			break;
		if (has_any(svc))
			settle(svc, now);
		chs_settle_note(cn, NULL, svc);
		cond_resched();
	}
	mutex_unlock(&cn->lock);
}

/**
 * chs_settle_left() - when all arcs of a service can be settled
 * @svc: service
 * @now: seconds
 *
 * Context: under RCU.
 * Return: seconds until the last window has passed and the last flow that keeps
 * an arc has been idle for too long, 0 if all are settled, or -1 while either
 * drains.
 */
s64 chs_settle_left(const struct chs_service *svc, u32 now)
{
	const struct chs_transition *transition =
		rcu_dereference(svc->transition);
	s64 last = 0, left;
	u32 at;

	if (!transition)
		return 0;
	if (READ_ONCE(transition->n_closing)) {
		if (READ_ONCE(transition->held))
			return -1;
		last = max_t(s32, READ_ONCE(transition->until) - now, 0);
	}
	if (!READ_ONCE(transition->n_open))
		return last;

	for (at = 0; at < svc->conf.slots; at++) {
		if (READ_ONCE(transition->former[at]) >= CHS_ARC_CODE_CLOSING)
			continue;
		left = chs_transition_left(svc, at, now);
		if (left < 0)
			return -1;
		last = max(last, left);
	}
	return last;
}
