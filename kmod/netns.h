/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of a network namespace.
 *
 * Packets read @table, under RCU, and nothing else that changes. Everything
 * else belongs to the control plane, under @lock. The lock sleeps: rings are
 * built and conntrack tables are walked under it, of this namespace only.
 */
#ifndef CHS_NETNS_H
#define CHS_NETNS_H

#include <linux/idr.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "hook.h"
#include "icmp.h"
#include "loop.h"
#include "table.h"

/**
 * struct chs_net - state of a network namespace
 * @table: the services in force; never NULL while the namespace lives
 * @net: the namespace
 * @lock: guards everything below and every change of @table
 * @txns_lock: guards @txns; taken inside of @lock, or alone
 * @txns: open transactions, by struct chs_txn.node
 * @n_retired: how much of what was put out of force is not freed yet
 * @dying: workers are to end soon
 * @pinned: it has a reference to the module, for it has services
 * @next_txn: id of the next one
 * @sweeps: conntrack entries still to be cleared, by struct chs_sweep.node
 * @fresh_sweeps: times that untranslated entries are still to be cleared
 * @sweep_work: does both
 * @deadline_work: runs at @next_deadline
 * @next_deadline: the earliest drain deadline, monotonic seconds, or 0
 * @retry: seconds until what failed is tried again, or 0
 * @settle_work: closes arcs and forgets flows
 * @settle_at: jiffies when @settle_work runs, while it is pending
 * @hooks: hooks, registered or not; IPv4, IPv6
 * @nat_hooked: whether the hooks of mode nat are registered; IPv4, IPv6
 * @direct_hooked: the same of the direct modes
 * @n_flows: flows that are remembered, in a namespace where they are limited
 * @flows_limited: they are: the initial user namespace does not own it
 * @vrf_lock: guards what follows; taken under RTNL, inside of @lock, or alone
 * @vrfs_by_name: struct chs_vrf, all that services name
 * @vrfs_by_index: those whose device is there; packets read it, under RCU
 * @vrf_ids: numbers of VRFs
 * @endpoint_lock: guards @endpoints; taken inside of @lock, or alone
 * @endpoints: where packets of the direct modes go
 * @loop_marks: packets that may be circling
 * @icmp_lock: guards @icmp_all and @icmp_buckets
 * @icmp_all: how often all clients have been told of a path's MTU
 * @icmp_buckets: how often some of them have
 */
struct chs_net {
	struct chs_table __rcu *table;
	struct net *net;

	struct mutex lock; /* protects what follows, and changes of @table */
	spinlock_t txns_lock; /* protects @txns */
	struct list_head txns;
	u32 next_txn;
	atomic_t n_retired;
	bool dying;
	bool pinned;
	struct list_head sweeps;
	u8 fresh_sweeps;
	struct delayed_work sweep_work;
	struct delayed_work deadline_work;
	time64_t next_deadline;
	u32 retry;
	struct delayed_work settle_work;
	unsigned long settle_at;
	struct chs_hooks hooks[2];
	bool nat_hooked[2];
	bool direct_hooked[2];

	atomic_t n_flows;
	bool flows_limited;

	struct mutex vrf_lock; /* protects the next 3 fields */
	struct rhashtable vrfs_by_name;
	struct rhashtable vrfs_by_index;
	struct ida vrf_ids;

	struct mutex endpoint_lock; /* protects @endpoints */
	struct rhashtable endpoints;

	u64 loop_marks[CHS_LOOP_MARKS];

	spinlock_t icmp_lock; /* protects the next two */
	struct chs_icmp_bucket icmp_all;
	struct chs_icmp_bucket icmp_buckets[CHS_ICMP_BUCKETS];
};

extern unsigned int chs_net_id;
extern bool chs_unloading;

/* Runs the namespaces' work items: one at a time of each, which has its lock. */
extern struct workqueue_struct *chs_workqueue;
/* Runs frees, which wait for nobody. */
extern struct workqueue_struct *chs_free_workqueue;

static inline struct chs_net *chs_net(const struct net *net)
{
	return net_generic(net, chs_net_id);
}

/**
 * chs_net_table() - the services in force, for the control plane
 * @cn: namespace
 *
 * Context: @cn's lock held.
 * Return: the table; it stays in force while the lock is held.
 */
static inline struct chs_table *chs_net_table(const struct chs_net *cn)
{
	return rcu_dereference_protected(cn->table, lockdep_is_held(&cn->lock));
}

#endif /* CHS_NETNS_H */
