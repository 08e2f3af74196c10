// SPDX-License-Identifier: GPL-2.0-only
/* Arcs of a service that are not settled. */
#include "transition.h"

#include "service.h"

#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>

/* Arcs between two chances to reschedule. */
#define BATCH		4096U

static struct chs_transition *transition_alloc(u32 slots)
{
	size_t head = ALIGN(sizeof(struct chs_transition) +
			    slots * sizeof(u16), sizeof(u32));
	struct chs_transition *transition;

	transition = kvzalloc(head + slots * sizeof(u32), GFP_KERNEL_ACCOUNT);
	if (transition)
		transition->since = (void *)transition + head;
	return transition;
}

/**
 * struct shift - what is the same for all arcs of one change
 * @svc: the new version
 * @prev: the old one
 * @before: arcs of @prev that were not settled, or NULL
 * @map: index of each backend of @prev in @svc, or CHS_RING_NONE
 * @now: seconds
 */
struct shift {
	struct chs_service *svc;
	const struct chs_service *prev;
	const struct chs_transition *before;
	u16 *map;
	u32 now;
};

static u16 *map_alloc(const struct chs_service *svc,
		      const struct chs_service *prev)
{
	u16 *map;
	u32 i;

	map = kvmalloc_array(max(prev->n_backends, 1U), sizeof(*map),
			     GFP_KERNEL_ACCOUNT);
	for (i = 0; map && i < prev->n_backends; i++)
		map[i] = chs_backend_index(svc, prev->backends[i].member);
	return map;
}

static enum chs_health health(const struct chs_service *svc, u16 at)
{
	return at == CHS_RING_NONE ? CHS_HEALTH_DEAD :
				     chs_backend_health(&svc->backends[at]);
}

static u16 mapped(const struct shift *shift, u16 at)
{
	return at == CHS_RING_NONE ? at : shift->map[at];
}

static u16 shift_arc(const struct shift *shift, u32 at, u32 *since)
{
	struct chs_heritage arc = { .former = CHS_RING_NONE };
	u16 from = mapped(shift, shift->prev->arcs[at]);
	u16 code = CHS_ARC_CODE_SETTLED;
	bool freed = false;

	if (shift->before)
		code = READ_ONCE(shift->before->former[at]);
	if (code < CHS_ARC_CODE_CLOSING) {
		freed = chs_backend_health(&shift->prev->backends[code]) ==
			CHS_HEALTH_DRAINING;
		arc.former = shift->map[code];
		arc.since = shift->before->since[at];
	}

	chs_affinity_shift(&arc, health(shift->svc, arc.former), freed, from,
			   health(shift->svc, from), shift->svc->arcs[at],
			   shift->now, shift->svc->window);
	*since = arc.since;
	if (arc.former != CHS_RING_NONE)
		return arc.former;
	/* Flows remembered in the arc may be alive: keep it closing. */
	return code == CHS_ARC_CODE_SETTLED ? code : CHS_ARC_CODE_CLOSING;
}

/* With affinity flow what is remembered is asked for in settled arcs, too. */
static u16 settled_code(const struct chs_service *svc,
			const struct chs_service *prev, u16 code)
{
	if (svc->affinity == CHS_AFFINITY_FLOW)
		return code == CHS_ARC_CODE_CLOSING ? CHS_ARC_CODE_SETTLED :
						      code;
	if (prev->affinity == CHS_AFFINITY_FLOW &&
	    code == CHS_ARC_CODE_SETTLED)
		return CHS_ARC_CODE_CLOSING;
	return code;
}

static void shift_all(const struct shift *shift,
		      struct chs_transition *transition)
{
	const struct chs_service *svc = shift->svc;
	u32 at;
	u16 code;

	for (at = 0; at < svc->conf.slots; at++) {
		code = shift_arc(shift, at, &transition->since[at]);
		code = settled_code(svc, shift->prev, code);
		transition->former[at] = code;
		transition->n_closing += code == CHS_ARC_CODE_CLOSING;
		transition->n_open += code < CHS_ARC_CODE_CLOSING;
		if (!(at % BATCH))
			cond_resched();
	}
}

/**
 * chs_transition_build() - what the arcs of a new version remember
 * @svc: a version that is not published, its ring built
 * @prev: the version that it is to replace
 * @now: seconds
 *
 * Context: process; may sleep; the namespace's lock held.
 * Return: 0 or -ENOMEM.
 */
int chs_transition_build(struct chs_service *svc,
			 const struct chs_service *prev, u32 now)
{
	struct shift shift = { .svc = svc, .prev = prev, .now = now };
	struct chs_transition *transition;

	shift.before = rcu_dereference_protected(prev->transition, true);
	if (svc->affinity == CHS_AFFINITY_RING ||
	    (!shift.before && svc->arcs == prev->arcs &&
	     svc->affinity == prev->affinity))
		return 0;

	shift.map = map_alloc(svc, prev);
	transition = transition_alloc(svc->conf.slots);
	if (!shift.map || !transition) {
		kvfree(shift.map);
		kvfree(transition);
		return -ENOMEM;
	}

	shift_all(&shift, transition);
	kvfree(shift.map);
	transition->built = now;
	transition->until = shift.before ? shift.before->until : now;
	transition->held = shift.before && shift.before->held;
	if (!transition->n_open && !transition->n_closing) {
		kvfree(transition);
		return 0;
	}
	RCU_INIT_POINTER(svc->transition, transition);
	return 0;
}

/**
 * chs_transition_begin() - have windows begin now
 * @svc: a version that is about to be published
 * @now: seconds
 *
 * Other rings of the same transaction may have taken long to build.
 *
 * Context: process; the namespace's lock held.
 */
void chs_transition_begin(const struct chs_service *svc, u32 now)
{
	struct chs_transition *transition =
		rcu_dereference_protected(svc->transition, true);
	u32 at;

	if (!transition || transition->built == now)
		return;

	for (at = 0; at < svc->conf.slots; at++) {
		if (transition->since[at] == transition->built)
			transition->since[at] = now;
		if (!(at % BATCH))
			cond_resched();
	}
}

/**
 * chs_transition_arc() - how things stand with an arc
 * @svc: service
 * @at: arc
 * @now: seconds
 * @arc: where the answer goes
 *
 * Context: under RCU.
 */
void chs_transition_arc(const struct chs_service *svc, u32 at, u32 now,
			struct chs_arc *arc)
{
	const struct chs_transition *transition;
	u16 code = CHS_ARC_CODE_SETTLED;

	*arc = (struct chs_arc) {
		.state = CHS_ARC_SETTLED,
		.owner = svc->arcs[at],
		.former = CHS_RING_NONE,
	};
	transition = rcu_dereference(svc->transition);
	if (transition)
		code = READ_ONCE(transition->former[at]);
	if (code == CHS_ARC_CODE_SETTLED)
		return;

	if (code == CHS_ARC_CODE_CLOSING) {
		arc->state = CHS_ARC_CLOSING;
		return;
	}
	arc->state = CHS_ARC_OPEN;
	arc->former = code;
	arc->in_window = chs_affinity_age(transition->since[at], now) <=
			 svc->window;
}

/**
 * chs_transition_open() - number of arcs that are not settled
 * @svc: service
 *
 * Context: under RCU.
 * Return: the number.
 */
u32 chs_transition_open(const struct chs_service *svc)
{
	const struct chs_transition *transition =
		rcu_dereference(svc->transition);

	return transition ? READ_ONCE(transition->n_open) +
			    READ_ONCE(transition->n_closing) : 0;
}

/**
 * chs_transition_left() - how long an arc's former owner is remembered
 * @svc: service
 * @at: an arc
 * @now: seconds
 *
 * Context: under RCU.
 * Return: seconds, -1 if without limit, because it drains, or 0 if not at all.
 */
s64 chs_transition_left(const struct chs_service *svc, u32 at, u32 now)
{
	const struct chs_transition *transition =
		rcu_dereference(svc->transition);
	u32 gone;
	u16 code;

	if (!transition)
		return 0;
	code = READ_ONCE(transition->former[at]);
	if (code >= CHS_ARC_CODE_CLOSING)
		return 0;
	if (chs_backend_health(&svc->backends[code]) == CHS_HEALTH_DRAINING)
		return -1;

	gone = chs_affinity_age(transition->since[at], now);
	return gone > svc->window ? 0 : svc->window - gone;
}
