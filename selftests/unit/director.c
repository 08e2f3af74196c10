// SPDX-License-Identifier: GPL-2.0-only
/* A director with one service, as the module acts around kmod/affinity.c. */

#include "director.h"
#include "unit.h"

#include <string.h>

enum chs_health version_health(const struct version *version, __u16 id)
{
	if (id == CHS_RING_NONE || version->slots[BACKEND_SLOT(id)].id != id)
		return CHS_HEALTH_DEAD;
	return version->slots[BACKEND_SLOT(id)].health;
}

static __u16 living(const struct version *version, __u16 id)
{
	return version_health(version, id) == CHS_HEALTH_DEAD ? CHS_RING_NONE :
								id;
}

static u32 later(u32 a, u32 b)
{
	return (s32)(a - b) > 0 ? a : b;
}

static void keep_old(struct director *dir)
{
	dir->old[1] = dir->old[0];
	dir->old[0] = dir->version;
	if (dir->n_old < DIRECTOR_OLD)
		dir->n_old++;
	dir->version.generation++;
}

static void shift_arc(struct director *dir, const struct version *from, u32 at)
{
	struct version *to = &dir->version;
	struct chs_heritage *arc = &to->arcs[at].heritage;
	bool unsettled = from->arcs[at].state != CHS_ARC_SETTLED;

	chs_affinity_shift(arc, version_health(to, arc->former),
			   version_health(from, arc->former) ==
			   CHS_HEALTH_DRAINING, from->arcs[at].owner,
			   version_health(to, from->arcs[at].owner),
			   to->arcs[at].owner, dir->now, to->window);
	/* What is remembered in settled arcs, too, may be off its owner. */
	if (to->affinity == CHS_AFFINITY_TRANSITION)
		unsettled |= from->affinity == CHS_AFFINITY_FLOW;
	else
		unsettled = false;
	to->arcs[at].state = arc->former != CHS_RING_NONE ? CHS_ARC_OPEN :
			     unsettled ? CHS_ARC_CLOSING : CHS_ARC_SETTLED;
}

void director_publish(struct director *dir, const struct version *next)
{
	const struct version *from = &dir->old[0];
	struct version *to = &dir->version;
	u32 i;

	/*
	 * With affinity ring nothing is forgotten until no packet can ask for
	 * it any more, which has to be by the time that somebody may again.
	 */
	if (to->affinity == CHS_AFFINITY_RING && next->affinity != to->affinity)
		director_sweep(dir);
	keep_old(dir);
	to->affinity = next->affinity;
	to->window = next->window;
	to->timeout = next->timeout;
	to->max_flows = next->max_flows;
	for (i = 0; i < DIRECTOR_SLOTS; i++) {
		if (version_health(from, from->slots[i].id) ==
		    CHS_HEALTH_DRAINING &&
		    next->slots[i].health == CHS_HEALTH_UP)
			dir->freed[i] = dir->now;
		to->slots[i] = next->slots[i];
	}

	for (i = 0; i < dir->n_arcs; i++) {
		to->arcs[i].owner = next->arcs[i].owner;
		if (to->affinity == CHS_AFFINITY_RING) {
			to->arcs[i].state = CHS_ARC_SETTLED;
			to->arcs[i].heritage.former = CHS_RING_NONE;
		} else {
			shift_arc(dir, from, i);
		}
	}
}

void director_flush(struct director *dir)
{
	memset(dir->entries, 0, sizeof(dir->entries));
}

static void arc_get(const struct director *dir, const struct version *version,
		    u32 at, struct chs_arc *arc)
{
	arc->state = version->arcs[at].state;
	arc->owner = version->arcs[at].owner;
	arc->former = arc->state == CHS_ARC_OPEN ?
		      version->arcs[at].heritage.former : CHS_RING_NONE;
	arc->in_window = arc->state == CHS_ARC_OPEN &&
			 chs_affinity_age(version->arcs[at].heritage.since,
					  dir->now) <= version->window;
}

/* Returns whether the entry has expired. */
static bool pin_get(const struct director *dir, const struct version *version,
		    const struct entry *entry, struct chs_pin *pin)
{
	u32 idle = later(entry->last, dir->freed[BACKEND_SLOT(entry->backend)]);
	bool drains = version_health(version, entry->backend) ==
		      CHS_HEALTH_DRAINING;

	pin->backend = living(version, entry->backend);
	pin->previous = CHS_RING_NONE;
	pin->unconfirmed = entry->unconfirmed;
	pin->ended = entry->ended;
	if (entry->unconfirmed) {
		pin->previous = living(version, entry->previous);
		idle = later(idle, dir->freed[BACKEND_SLOT(entry->previous)]);
		drains |= version_health(version, entry->previous) ==
			  CHS_HEALTH_DRAINING;
	}
	idle = dir->now - idle;
	pin->idle = idle > (entry->unconfirmed ? CHS_AFFINITY_HANDSHAKE :
						 version->timeout);
	return idle > version->timeout && !drains;
}

/* As chs_affinity_stale() and chs_affinity_claim() are told it. */
static enum chs_role role_of(const struct director *dir)
{
	return dir->protocol == UDP ? CHS_ROLE_ANY : CHS_ROLE_DATA;
}

void director_close(struct director *dir)
{
	struct version *version = &dir->version;
	bool kept = false;
	u32 i;

	for (i = 0; i < dir->n_arcs; i++) {
		struct chs_heritage *arc = &version->arcs[i].heritage;

		if (version->arcs[i].state != CHS_ARC_OPEN ||
		    !chs_affinity_over(arc, version_health(version, arc->former),
				       dir->now, version->window))
			continue;
		if (!kept)
			keep_old(dir);
		kept = true;
		arc->former = CHS_RING_NONE;
		version->arcs[i].state = CHS_ARC_CLOSING;
	}
}

void director_sweep(struct director *dir)
{
	struct version *version = &dir->version;
	bool alive[DIRECTOR_ARCS] = { false };
	struct chs_arc arc;
	struct chs_pin pin;
	bool expired;
	u32 i;

	dir->n_old = 0;
	for (i = 0; i < DIRECTOR_TUPLES; i++) {
		struct entry *entry = &dir->entries[i];

		if (!entry->used)
			continue;
		arc_get(dir, version, director_arc(dir, i), &arc);
		expired = pin_get(dir, version, entry, &pin);
		if (chs_affinity_stale(version->affinity, &arc, &pin,
				       role_of(dir), expired))
			entry->used = false;
		else
			alive[director_arc(dir, i)] = true;
	}
	for (i = 0; i < dir->n_arcs; i++) {
		if (version->arcs[i].state == CHS_ARC_CLOSING &&
		    (!alive[i] || version->affinity == CHS_AFFINITY_FLOW))
			version->arcs[i].state = CHS_ARC_SETTLED;
	}
}

/* The flow that gives way to one of this claim, or -1. */
static int victim_of(const struct director *dir, const struct version *version,
		     const struct chs_claim *claim)
{
	enum chs_worth least = CHS_WORTH_KEPT, this;
	struct chs_tenure tenure;
	u32 i, longest = 0;
	struct chs_pin pin;
	int victim = -1;

	for (i = 0; i < DIRECTOR_TUPLES; i++) {
		const struct entry *entry = &dir->entries[i];

		if (!entry->used)
			continue;
		tenure.established = entry->established;
		tenure.begun = entry->begun;
		tenure.idle = dir->now - entry->last;
		tenure.expired = pin_get(dir, version, entry, &pin);
		this = chs_affinity_worth(&pin, &tenure, claim);
		if (this < least || (this == least && victim >= 0 &&
				     tenure.idle > longest)) {
			least = this;
			longest = tenure.idle;
			victim = i;
		}
	}
	return victim;
}

static bool admit(struct director *dir, const struct entry *old,
		  struct outcome *out)
{
	const struct version *version = out->version;
	u32 i, n = 0, n_begun = 0;
	struct chs_claim claim;

	for (i = 0; i < DIRECTOR_TUPLES; i++) {
		n += dir->entries[i].used;
		n_begun += dir->entries[i].used && dir->entries[i].begun;
	}
	chs_affinity_claim(&out->choice, role_of(dir), n_begun,
			   version->max_flows, version->timeout, &claim);
	if (old->used)
		return !claim.crowded || old->begun;
	if (n < version->max_flows && !claim.crowded)
		return true;
	if (version->max_flows)
		out->evicted = victim_of(dir, version, &claim);
	if (out->evicted < 0)
		return false;
	dir->entries[out->evicted].used = false;
	return true;
}

static bool fits(const struct director *dir, const struct entry *entry,
		 const struct arrival *packet)
{
	bool syn = packet->role == CHS_ROLE_SYN;

	if (dir->protocol == SCTP)
		return syn || packet->cookie;
	if (syn)
		return packet->seq == entry->seq;
	return packet->seq - entry->seq <= CHS_AFFINITY_SEQ;
}

static void create(struct director *dir, const struct arrival *packet,
		   struct entry *entry, struct outcome *out)
{
	const struct chs_choice *choice = &out->choice;

	if (packet->no_memory || !admit(dir, entry, out)) {
		out->failed = true;
		out->backend = choice->fallback;
		return;
	}
	*entry = (struct entry) {
		.used = true,
		.unconfirmed = choice->unconfirmed,
		.ended = choice->ended,
		.established = chs_affinity_running(choice),
		.begun = choice->unconfirmed,
		.backend = choice->backend,
		.previous = choice->previous,
		.seq = packet->seq,
		.last = dir->now,
	};
}

static void apply(struct director *dir, const struct arrival *packet,
		  struct entry *entry, struct outcome *out)
{
	switch (out->choice.action) {
	case CHS_PIN_NONE:
		return;
	case CHS_PIN_FORGET:
		entry->used = false;
		return;
	case CHS_PIN_CREATE:
		create(dir, packet, entry, out);
		return;
	case CHS_PIN_REVERT:
		entry->backend = entry->previous;
		entry->unconfirmed = false;
		break;
	case CHS_PIN_CONFIRM:
		entry->unconfirmed = false;
		break;
	}
	entry->last = dir->now;
	entry->ended = out->choice.ended;
	/* A second SYN may be as forged as the first. */
	entry->established |= packet->role != CHS_ROLE_SYN;
}

void director_packet(struct director *dir, const struct arrival *packet,
		     struct outcome *out)
{
	struct entry *entry = &dir->entries[packet->tuple];
	const struct version *version = packet->old ?
		&dir->old[packet->old - 1] : &dir->version;
	u32 at = director_arc(dir, packet->tuple);
	bool in_sequence = false, look;
	struct chs_arc arc;
	struct chs_pin pin;

	arc_get(dir, version, at, &arc);
	look = entry->used && version->affinity != CHS_AFFINITY_RING &&
	       (version->affinity == CHS_AFFINITY_FLOW ||
		arc.state != CHS_ARC_SETTLED);
	if (look) {
		pin_get(dir, version, entry, &pin);
		in_sequence = fits(dir, entry, packet);
	}
	out->version = version;
	out->remembered = look;
	out->failed = false;
	out->evicted = -1;
	chs_affinity_choose(version->affinity, &arc, look ? &pin : NULL,
			    packet->role, in_sequence, &out->choice);
	out->backend = out->choice.backend;
	apply(dir, packet, entry, out);
}

__u16 director_default(const struct director *dir, u32 at)
{
	struct chs_arc arc;

	arc_get(dir, &dir->version, at, &arc);
	if (arc.state == CHS_ARC_OPEN &&
	    (dir->protocol != UDP ||
	     (dir->version.affinity == CHS_AFFINITY_TRANSITION &&
	      arc.in_window)))
		return arc.former;
	return arc.owner;
}
