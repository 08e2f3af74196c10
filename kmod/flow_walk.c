// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks over the flows of a service, while packets add and remove some.
 *
 * A walk gives up the CPU between two buckets only, so that a removal cannot
 * make it pass over a neighbour. rhashtable_walk_stop() may stop anywhere, and
 * rhashtable_walk_start() then counts along a chain that has become shorter.
 *
 * While the table is resized, flows move from it to the next one: that one is
 * walked afterwards. Once they have, the walk begins again.
 */
#include "flow.h"

#include <linux/rhashtable.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/stddef.h>
#include <linux/string.h>

/* Buckets between two chances for those who wait for a grace period. */
#define BATCH	1024

static void place_begin(struct chs_flow_place *place,
			const struct bucket_table *table)
{
	*place = (struct chs_flow_place) {
		.seed = table->hash_rnd,
		.size = table->size,
	};
}

/* Each table is made with a seed of its own. */
static bool is_at(const struct chs_flow_place *place,
		  const struct bucket_table *table)
{
	return place->seed == table->hash_rnd && place->size == table->size;
}

/* The table that a walk goes on in, or NULL at the end. */
static const struct bucket_table *resume(struct chs_flows *flows,
					 struct chs_flow_place *place)
{
	const struct bucket_table *first, *table;

	first = rht_dereference_rcu(flows->table.tbl, &flows->table);
	for (table = first; table && !is_at(place, table);)
		table = rht_dereference_rcu(table->future_tbl, &flows->table);
	if (!table) {
		place_begin(place, first);
		return first;
	}
	if (place->bucket < table->size)
		return table;

	/* A flow leaves a bucket when it is in the next table. */
	smp_rmb();
	table = rht_dereference_rcu(table->future_tbl, &flows->table);
	if (table)
		place_begin(place, table);
	return table;
}

/**
 * chs_flows_each() - see every flow, and be free to forget it
 * @flows: table, or NULL
 * @func: called for each, under RCU; twice for one if the table is resized
 * @arg: passed to it
 *
 * Sees every flow that is there from the beginning to the end; one may be
 * replaced by another of the same key in between, or removed, when it is seen.
 *
 * Context: process; may sleep between two flows.
 */
void chs_flows_each(struct chs_flows *flows,
		    void (*func)(struct chs_flow *flow, void *arg), void *arg)
{
	struct chs_flow_place place = {};
	const struct bucket_table *table;
	struct rhash_head *pos;
	struct chs_flow *flow;

	if (!chs_flows_count(flows))
		return;

	rcu_read_lock();
	while ((table = resume(flows, &place))) {
		rht_for_each_entry_rcu(flow, pos, table, place.bucket, node)
			func(flow, arg);
		place.bucket++;
		if (need_resched() || !(place.bucket % BATCH)) {
			rcu_read_unlock();
			cond_resched();
			rcu_read_lock();
		}
	}
	rcu_read_unlock();
}

static void forget(struct chs_flow *flow, void *flows)
{
	chs_flow_forget(flows, flow);
}

/**
 * chs_flows_flush() - forget all flows
 * @flows: table, or NULL
 *
 * Context: process; sleeps until they are gone from all counters.
 */
void chs_flows_flush(struct chs_flows *flows)
{
	if (!chs_flows_count(flows))
		return;

	chs_flows_each(flows, forget, flows);
	rcu_barrier();
}

static int order(const struct chs_flow_key *a, const struct chs_flow_key *b)
{
	return memcmp(a, b, offsetofend(struct chs_flow_key, ports));
}

/* The next flow of a bucket, by key: a chain changes, so its places say nothing. */
static const struct chs_flow *next_of(const struct bucket_table *table,
				      const struct chs_flow_place *place)
{
	const struct chs_flow *flow, *next = NULL;
	const struct rhash_head *pos;

	rht_for_each_entry_rcu(flow, pos, table, place->bucket, node) {
		if (place->within && order(&flow->key, &place->last) <= 0)
			continue;
		if (!next || order(&flow->key, &next->key) < 0)
			next = flow;
	}
	return next;
}

/**
 * chs_flows_walk() - see every flow, in more than one go
 * @flows: table, or NULL
 * @place: where to begin, all zero at first; where it goes on, if @func stops
 *	it
 * @func: called for each flow; other than 0 stops the walk before that flow
 * @arg: passed to it
 *
 * Sees every flow that is there from the beginning to the end; twice, if the
 * table is resized.
 *
 * Context: under RCU, which may be left between two goes.
 * Return: 0 at the end, or what @func returned.
 */
int chs_flows_walk(struct chs_flows *flows, struct chs_flow_place *place,
		   int (*func)(const struct chs_flow *flow, void *arg),
		   void *arg)
{
	const struct bucket_table *table;
	const struct chs_flow *flow;
	int err;

	if (!flows)
		return 0;

	while ((table = resume(flows, place))) {
		while ((flow = next_of(table, place))) {
			err = func(flow, arg);
			if (err)
				return err;
			place->last = flow->key;
			place->within = true;
		}
		place->bucket++;
		place->within = false;
	}
	return 0;
}
