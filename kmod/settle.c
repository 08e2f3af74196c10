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

#include "flow.h"
#include "netns.h"
#include "transition.h"

#include <linux/bitmap.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/rhashtable.h>
#include <linux/sched.h>
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
	/* What a change has made void goes at once; see walk(). */
	if (chs_flows_count(new->flows) && old)
		next = 0;
	/* Nobody tells when the first flow of a table is remembered. */
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

/* Whether a flow need not be remembered any more. */
static bool is_idle(const struct chs_service *svc, const struct chs_flow *flow,
		    u32 now)
{
	struct chs_pin pin;
	struct chs_arc arc;

	chs_flow_pin(svc, flow, now, &pin);
	if (pin.expired || (pin.backend == CHS_RING_NONE &&
			    pin.previous == CHS_RING_NONE))
		return true;
	if (svc->affinity == CHS_AFFINITY_FLOW || pin.unconfirmed)
		return false;

	chs_transition_arc(svc, flow->arc, now, &arc);
	return arc.state != CHS_ARC_OPEN && pin.backend == arc.owner;
}

/* @alive: a bit an arc, set where a flow stays; or NULL. */
static void walk(const struct chs_service *svc, u32 now, unsigned long *alive)
{
	struct rhashtable_iter iter;
	struct chs_flow *flow;

	if (!chs_flows_count(svc->flows))
		return;

	rhashtable_walk_enter(&svc->flows->table, &iter);
	rhashtable_walk_start(&iter);
	while ((flow = rhashtable_walk_next(&iter))) {
		/* The table is being resized, and begun again. */
		if (IS_ERR(flow))
			continue;
		if (is_idle(svc, flow, now))
			chs_flow_forget(svc->flows, flow);
		else if (alive)
			__set_bit(flow->arc, alive);
		if (need_resched()) {
			rhashtable_walk_stop(&iter);
			cond_resched();
			rhashtable_walk_start(&iter);
		}
	}
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
}

static void settle_arcs(struct chs_service *svc, const unsigned long *alive)
{
	struct chs_transition *transition = transition_of(svc);
	bool flow = svc->affinity == CHS_AFFINITY_FLOW;
	u32 at;

	for (at = 0; at < svc->conf.slots; at++) {
		if (transition->former[at] != CHS_ARC_CODE_CLOSING ||
		    (!flow && test_bit(at, alive)))
			continue;
		WRITE_ONCE(transition->former[at], CHS_ARC_CODE_SETTLED);
		WRITE_ONCE(transition->n_closing, transition->n_closing - 1);
	}

	if (!transition->n_open && !transition->n_closing) {
		RCU_INIT_POINTER(svc->transition, NULL);
		kvfree_rcu(transition, rcu);
	}
}

/* A grace period has passed since close_arcs(). */
static void settle(struct chs_service *svc, u32 now)
{
	struct chs_transition *transition = transition_of(svc);
	unsigned long *alive = NULL;

	if (transition && transition->n_closing)
		alive = kvcalloc(BITS_TO_LONGS(svc->conf.slots), sizeof(long),
				 GFP_KERNEL_ACCOUNT);

	walk(svc, now, alive);
	/* Without memory arcs are settled another time. */
	if (alive)
		settle_arcs(svc, alive);
	kvfree(alive);
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
	u32 now = ktime_get_seconds(), at;
	struct chs_service *svc;
	bool any = false;

	mutex_lock(&cn->lock);
	for (at = 0; (svc = chs_table_next(chs_net_table(cn), &at));) {
		if (has_any(svc)) {
			close_arcs(svc, now);
			any = true;
		}
	}
	if (any)
		synchronize_rcu();
	for (at = 0; (svc = chs_table_next(chs_net_table(cn), &at));) {
		if (has_any(svc))
			settle(svc, now);
		chs_settle_note(cn, NULL, svc);
	}
	mutex_unlock(&cn->lock);
}

/**
 * chs_settle_left() - when all arcs of a service can be settled
 * @svc: service
 * @now: seconds
 *
 * Context: under RCU.
 * Return: seconds until the last window has passed, 0 if none is open, or -1
 * while a former owner drains.
 */
s64 chs_settle_left(const struct chs_service *svc, u32 now)
{
	const struct chs_transition *transition =
		rcu_dereference(svc->transition);
	s64 last = 0, left;
	u32 at;

	if (!transition || !READ_ONCE(transition->n_open))
		return 0;

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
