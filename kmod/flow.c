// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flows of a service that are remembered.
 *
 * Packets find, make and replace entries under RCU alone; an entry's backend
 * never changes but in one way, from an unconfirmed SYN's back to the previous
 * one. The table is bounded. When it is full, a few entries are looked at and
 * the least worth keeping goes, so that a packet never pays for an order among
 * all of them.
 */
#include "flow.h"

#include "charge.h"
#include "netns.h"
#include "service.h"
#include "stats.h"

#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/stddef.h>

/*
 * Bounds of one search for an entry to evict: buckets walked, flows compared.
 */
#define SAMPLE_BUCKETS	64
#define SAMPLE_FLOWS	16

static struct kmem_cache *cache;

/*
 * Hash one word of an IPv4 address: the other three are the same in all keys.
 */
static inline u32 key_hash(const void *data, u32 len, u32 seed)
{
	const struct chs_flow_key *key = data;

	if (chs_addr_is_v4(&key->saddr))
		return jhash_2words((__force u32)key->saddr.w[3], key->ports,
				    seed);
	return jhash2(data, len / sizeof(u32), seed);
}

/* Key comparison by words: rhashtable's default calls memcmp(). */
static inline int key_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct chs_flow *flow = obj;
	const struct chs_flow_key *key = arg->key;

	return !chs_addr_equal(&flow->key.saddr, &key->saddr) ||
	       flow->key.ports != key->ports;
}

static const struct rhashtable_params params = {
	.head_offset = offsetof(struct chs_flow, node),
	.key_offset = offsetof(struct chs_flow, key),
	.key_len = offsetofend(struct chs_flow_key, ports),
	.hashfn = key_hash,
	.obj_cmpfn = key_cmp,
	.nelem_hint = CHS_FLOWS_HINT,
	.automatic_shrinking = true,
};

/**
 * chs_flow_init() - once at load
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int chs_flow_init(void)
{
	cache = KMEM_CACHE(chs_flow, 0);
	return cache ? 0 : -ENOMEM;
}

/**
 * chs_flow_exit() - once at unload, when the last flow has been freed
 *
 * Context: process; may sleep.
 */
void chs_flow_exit(void)
{
	kmem_cache_destroy(cache);
}

/* Its state is final by now. */
static void free_rcu(struct rcu_head *rcu)
{
	struct chs_flow *flow = container_of(rcu, struct chs_flow, rcu);

	atomic_dec(&chs_flow_member(flow)->tracked);
	chs_member_put(flow->member);
	chs_member_put(flow->previous);
	kmem_cache_free(cache, flow);
}

/* Counted among those of the namespace, if there is room. */
static bool enter(struct chs_flows *flows)
{
	return !flows->n_all ||
	       atomic_add_unless(flows->n_all, 1, CHS_FLOWS_GUEST_MAX);
}

static void leave(struct chs_flows *flows)
{
	if (flows->n_all)
		atomic_dec(flows->n_all);
}

/* Before it is in the table, where others may forget it. */
static void count_begun(struct chs_flows *flows, const struct chs_flow *flow)
{
	if (flow->begun)
		atomic_inc(&flows->n_begun);
}

static void uncount_begun(struct chs_flows *flows, const struct chs_flow *flow)
{
	if (flow->begun)
		atomic_dec(&flows->n_begun);
}

/**
 * chs_flows_alloc() - make an empty table
 * @svc: service whose flows they are
 *
 * Context: process; may sleep.
 * Return: the table with one reference, or NULL.
 */
struct chs_flows *chs_flows_alloc(const struct chs_service *svc)
{
	struct chs_flows *flows;

	flows = kzalloc(sizeof(*flows), GFP_KERNEL_ACCOUNT);
	if (!flows)
		return NULL;

	if (rhashtable_init(&flows->table, &params)) {
		kfree(flows);
		return NULL;
	}
	flows->memcg = chs_charge_get(svc->memcg);
	if (svc->cn->flows_limited)
		flows->n_all = &svc->cn->n_flows;
	refcount_set(&flows->refs, 1);
	return flows;
}

/**
 * chs_flows_get() - take a reference
 * @flows: table, or NULL
 *
 * Context: any, with a reference held.
 * Return: @flows.
 */
struct chs_flows *chs_flows_get(struct chs_flows *flows)
{
	if (flows)
		refcount_inc(&flows->refs);
	return flows;
}

static void free_flow(void *flow, void *flows)
{
	leave(flows);
	call_rcu(&((struct chs_flow *)flow)->rcu, free_rcu);
}

/**
 * chs_flows_put() - drop a reference
 * @flows: table, or NULL; no packet may still see who held it
 *
 * Context: process; may sleep.
 */
void chs_flows_put(struct chs_flows *flows)
{
	if (!flows || !refcount_dec_and_test(&flows->refs))
		return;

	rhashtable_free_and_destroy(&flows->table, free_flow, flows);
	mem_cgroup_put(flows->memcg);
	kfree(flows);
}

/**
 * chs_flow_find() - look for a flow
 * @flows: table
 * @key: which
 *
 * Context: under RCU.
 * Return: the flow, or NULL.
 */
struct chs_flow *chs_flow_find(struct chs_flows *flows,
			       const struct chs_flow_key *key)
{
	return rhashtable_lookup(&flows->table, key, params);
}

static u32 later(u32 a, u32 b)
{
	return (s32)(a - b) > 0 ? a : b;
}

/**
 * chs_flow_idle() - how long nothing has been heard of a flow
 * @flow: flow
 * @now: seconds
 *
 * Context: under RCU.
 * Return: seconds since its last packet, or since its backend stopped draining
 * if that was later.
 */
u32 chs_flow_idle(const struct chs_flow *flow, u32 now)
{
	u32 last = later(READ_ONCE(flow->last),
			 READ_ONCE(flow->member->freed));

	if (flow->previous)
		last = later(last, READ_ONCE(flow->previous->freed));
	return chs_affinity_age(last, now);
}

static u16 living(const struct chs_service *svc,
		  const struct chs_member *member, bool *drains)
{
	u16 at = chs_backend_index(svc, member);
	enum chs_health health;

	if (at == CHS_RING_NONE)
		return at;

	health = chs_backend_health(&svc->backends[at]);
	*drains |= health == CHS_HEALTH_DRAINING;
	return health == CHS_HEALTH_DEAD ? CHS_RING_NONE : at;
}

/**
 * chs_flow_pin() - how a flow stands with a version of its service
 * @svc: the version
 * @flow: flow
 * @now: seconds
 * @pin: where the answer goes
 *
 * Context: under RCU.
 * Return: true if nothing has been seen of it for longer than the timeout, and
 * no backend that it may be on drains.
 */
bool chs_flow_pin(const struct chs_service *svc, const struct chs_flow *flow,
		  u32 now, struct chs_pin *pin)
{
	u32 state = READ_ONCE(flow->state), idle = chs_flow_idle(flow, now);
	bool drains = false;

	pin->unconfirmed = state == CHS_FLOW_UNCONFIRMED;
	pin->previous = CHS_RING_NONE;
	pin->ended = READ_ONCE(flow->ended);
	pin->backend = living(svc, state == CHS_FLOW_REVERTED ?
				   flow->previous : flow->member, &drains);
	if (pin->unconfirmed && flow->previous)
		pin->previous = living(svc, flow->previous, &drains);
	pin->idle = idle > (pin->unconfirmed ? CHS_AFFINITY_HANDSHAKE :
					       svc->timeout);
	return !drains && idle > svc->timeout;
}

/**
 * chs_flow_touch() - a packet of a flow was seen
 * @flow: flow
 * @now: seconds
 * @ended: whether it, or one before, ends the flow
 * @syn: it was but a SYN, which may be as forged as the first one
 *
 * Writes only what differs: every CPU that has packets of the flow reads it.
 *
 * Context: under RCU.
 */
void chs_flow_touch(struct chs_flow *flow, u32 now, bool ended, bool syn)
{
	if (READ_ONCE(flow->last) != now)
		WRITE_ONCE(flow->last, now);
	if (READ_ONCE(flow->ended) != ended)
		WRITE_ONCE(flow->ended, ended);
	if (!syn && !READ_ONCE(flow->established))
		WRITE_ONCE(flow->established, true);
}

/**
 * chs_flow_confirm() - a packet came that fits the SYN
 * @flow: flow
 *
 * Context: under RCU.
 */
void chs_flow_confirm(struct chs_flow *flow)
{
	cmpxchg(&flow->state, CHS_FLOW_UNCONFIRMED, CHS_FLOW_FIRM);
}

/**
 * chs_flow_revert() - a packet came that does not fit the SYN
 * @flow: flow that has a previous backend
 *
 * Context: under RCU.
 */
void chs_flow_revert(struct chs_flow *flow)
{
	if (cmpxchg(&flow->state, CHS_FLOW_UNCONFIRMED, CHS_FLOW_REVERTED) !=
	    CHS_FLOW_UNCONFIRMED)
		return;
	atomic_dec(&flow->member->tracked);
	atomic_inc(&flow->previous->tracked);
}

/**
 * chs_flow_forget() - take a flow out of the table
 * @flows: table
 * @flow: a flow found in it
 *
 * Context: under RCU.
 * Return: false if it was not there any more: it has been forgotten, or another
 * of the same key has taken its place.
 */
bool chs_flow_forget(struct chs_flows *flows, struct chs_flow *flow)
{
	if (rhashtable_remove_fast(&flows->table, &flow->node, params))
		return false;
	uncount_begun(flows, flow);
	leave(flows);
	call_rcu(&flow->rcu, free_rcu);
	return true;
}

static enum chs_worth worth(const struct chs_service *svc,
			    const struct chs_flow *flow, u32 now,
			    const struct chs_claim *claim, u32 *idle)
{
	struct chs_tenure tenure = {
		.established = READ_ONCE(flow->established),
		.begun = flow->begun,
		.idle = chs_flow_idle(flow, now),
	};
	struct chs_pin pin;

	tenure.expired = chs_flow_pin(svc, flow, now, &pin);
	*idle = tenure.idle;
	return chs_affinity_worth(&pin, &tenure, claim);
}

static void count_evicted(const struct chs_service *svc, enum chs_worth worth)
{
	static const u8 events[] = {
		[CHS_WORTH_ENDED] = CHS_EVENT_EVICTED_ENDED,
		[CHS_WORTH_NEW] = CHS_EVENT_EVICTED_NEW,
		[CHS_WORTH_ESTABLISHED] = CHS_EVENT_EVICTED_ESTABLISHED,
	};

	chs_stats_event(svc->stats, events[worth]);
}

static bool make_room(const struct chs_service *svc,
		      const struct chs_claim *claim, u32 now)
{
	enum chs_worth least = CHS_WORTH_KEPT, this;
	struct chs_flow *flow, *victim = NULL;
	u32 at, i, n, idle, longest = 0, seen = 0;
	const struct bucket_table *table;
	struct rhash_head *pos;

	table = rht_dereference_rcu(svc->flows->table.tbl, &svc->flows->table);
	at = get_random_u32();
	n = min_t(u32, table->size, SAMPLE_BUCKETS);
	for (i = 0; i < n && seen < SAMPLE_FLOWS; i++, at++) {
		rht_for_each_entry_rcu(flow, pos, table,
				       at & (table->size - 1), node) {
			seen++;
			this = worth(svc, flow, now, claim, &idle);
			if (this < least || (this == least && victim &&
					     idle > longest)) {
				least = this;
				longest = idle;
				victim = flow;
			}
		}
	}

	if (!victim)
		return false;
	/* Another CPU may have forgotten it. */
	if (chs_flow_forget(svc->flows, victim))
		count_evicted(svc, least);
	return true;
}

static bool has_room(const struct chs_service *svc,
		     const struct chs_claim *claim)
{
	const struct chs_flows *flows = svc->flows;

	return !claim->crowded && chs_flows_count(flows) < svc->max_flows &&
	       (!flows->n_all ||
		atomic_read(flows->n_all) < CHS_FLOWS_GUEST_MAX);
}

/**
 * chs_flow_role() - role of a remembered flow's packets, by its service alone
 * @svc: service
 *
 * Context: any.
 * Return: CHS_ROLE_ANY if no packet says that a flow begins, or CHS_ROLE_DATA.
 */
enum chs_role chs_flow_role(const struct chs_service *svc)
{
	return svc->proto == IPPROTO_UDP ? CHS_ROLE_ANY : CHS_ROLE_DATA;
}

/* Whether one more flow may be remembered, or @old as another one. */
static bool admit(const struct chs_service *svc, const struct chs_flow *old,
		  const struct chs_choice *choice, u32 now)
{
	struct chs_claim claim;

	chs_affinity_claim(choice, chs_flow_role(svc),
			   atomic_read(&svc->flows->n_begun), svc->max_flows,
			   svc->timeout, &claim);
	if (old)
		return !claim.crowded || old->begun;
	return (likely(has_room(svc, &claim)) ||
		make_room(svc, &claim, now)) && enter(svc->flows);
}

/*
 * Not GFP_ATOMIC, which goes beyond what a cgroup may have. With PREEMPT_RT a
 * packet may be preempted by another one's, and would leave its cgroup to that
 * one: there nobody is charged, and only numbers are limited.
 */
static struct chs_flow *flow_alloc(struct mem_cgroup *memcg)
{
	const gfp_t gfp = GFP_NOWAIT | __GFP_NOWARN;
	struct mem_cgroup *old;
	struct chs_flow *flow;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return kmem_cache_alloc(cache, gfp);

	old = set_active_memcg(memcg);
	flow = kmem_cache_alloc(cache, gfp | __GFP_ACCOUNT);
	set_active_memcg(old);
	return flow;
}

/**
 * chs_flow_create() - remember a flow
 * @svc: service
 * @key: which flow
 * @arc: arc that it hashes to
 * @seq: sequence number of the packet, of a SYN
 * @old: what is remembered of it already and is to be replaced, or NULL
 * @choice: what is to be remembered
 * @now: seconds
 *
 * Context: bottom halves off, under RCU.
 * Return: 0; -EAGAIN if another CPU was faster; -ENOSPC if there is no room,
 * -ENOMEM if there is no memory, both counted.
 */
int chs_flow_create(const struct chs_service *svc,
		    const struct chs_flow_key *key, u32 arc, u32 seq,
		    struct chs_flow *old, const struct chs_choice *choice,
		    u32 now)
{
	struct chs_flows *flows = svc->flows;
	struct chs_flow *flow;
	int err = -ENOSPC;

	if (!admit(svc, old, choice, now))
		goto err_count;

	err = -ENOMEM;
	flow = flow_alloc(flows->memcg);
	if (!flow)
		goto err_leave;

	flow->key = *key;
	flow->arc = arc;
	flow->seq = seq;
	flow->last = now;
	flow->state = choice->unconfirmed ? CHS_FLOW_UNCONFIRMED :
					    CHS_FLOW_FIRM;
	flow->reason = choice->reason;
	flow->ended = choice->ended;
	flow->begun = choice->unconfirmed;
	flow->established = chs_affinity_running(choice);
	flow->previous = NULL;
	flow->member = chs_member_get(svc->backends[choice->backend].member);
	if (choice->unconfirmed)
		flow->previous =
			chs_member_get(svc->backends[choice->previous].member);

	count_begun(flows, flow);
	err = old ? rhashtable_replace_fast(&flows->table, &old->node,
					    &flow->node, params) :
		    rhashtable_lookup_insert_fast(&flows->table, &flow->node,
						  params);
	if (err) {
		uncount_begun(flows, flow);
		chs_member_put(flow->member);
		chs_member_put(flow->previous);
		kmem_cache_free(cache, flow);
		if (err == -EEXIST || err == -ENOENT)
			err = -EAGAIN;
		goto err_leave;
	}

	atomic_inc(&flow->member->tracked);
	if (old) {
		uncount_begun(flows, old);
		call_rcu(&old->rcu, free_rcu);
	}
	return 0;

err_leave:
	if (!old)
		leave(flows);
	if (err == -EAGAIN)
		return err;
err_count:
	chs_stats_event(svc->stats, CHS_EVENT_NOT_REMEMBERED);
	return err;
}
