// SPDX-License-Identifier: GPL-2.0-only
/* Transactions: every change of a namespace's services is one. */
#include "txn.h"

#include "charge.h"
#include "deadline.h"
#include "msg.h"
#include "hook.h"
#include "move.h"
#include "netns.h"
#include "pin.h"
#include "settle.h"
#include "sweep.h"
#include "transition.h"

#include <linux/err.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/wait_bit.h>

/* Open transactions a namespace; each may hold a copy of its table. */
#define TXNS_MAX	64

/**
 * struct retired - what a transaction has put out of force
 * @work: frees it, after a grace period, where that may sleep
 * @cn: namespace
 * @table: old table
 * @n_svcs: number of @svcs
 * @svcs: old versions
 */
struct retired {
	struct rcu_work work;
	struct chs_net *cn;
	struct chs_table *table;
	u32 n_svcs;
	struct chs_service *svcs[];
};

static void retired_free(struct work_struct *work)
{
	struct retired *retired = container_of(to_rcu_work(work),
					       struct retired, work);
	u32 i;

	for (i = 0; i < retired->n_svcs; i++) {
		chs_service_free(retired->svcs[i]);
		cond_resched();
	}
	chs_table_free(retired->table);
	/* The end of its namespace waits for this, and for nothing later. */
	if (atomic_dec_and_test(&retired->cn->n_retired))
		wake_up_var(&retired->cn->n_retired);
	kvfree(retired);
}

/**
 * chs_txn_drain() - wait until all that was put out of force is freed
 * @cn: namespace that goes; an RCU barrier has been passed
 *
 * Context: process; sleeps.
 */
void chs_txn_drain(struct chs_net *cn)
{
	wait_var_event(&cn->n_retired, !atomic_read(&cn->n_retired));
}

/**
 * chs_txn_init() - begin a transaction
 * @cn: namespace
 * @txn: transaction
 *
 * Context: process; @cn's lock held.
 */
void chs_txn_init(struct chs_net *cn, struct chs_txn *txn)
{
	lockdep_assert_held(&cn->lock);

	memset(txn, 0, sizeof(*txn));
	INIT_LIST_HEAD(&txn->node);
	INIT_LIST_HEAD(&txn->edits);
	txn->base = chs_net_table(cn)->generation;
	txn->max_move = CHS_MOVE_ALL;
}

/**
 * chs_txn_fini() - end a transaction; what is not committed is forgotten
 * @txn: transaction; in no list
 *
 * Context: process; may sleep.
 */
void chs_txn_fini(struct chs_txn *txn)
{
	struct chs_edit *edit, *next;

	list_for_each_entry_safe(edit, next, &txn->edits, node) {
		chs_service_free(edit->new);
		kfree(edit);
		cond_resched();
	}
	INIT_LIST_HEAD(&txn->edits);
	chs_table_free(txn->table);
	txn->table = NULL;
	chs_charge_worker(NULL);
}

/**
 * chs_txn_open() - begin a transaction that spans requests
 * @cn: namespace
 * @portid: netlink port that it will belong to
 * @txn: where it goes
 * @msg: reason of a failure
 *
 * Context: process; may sleep; @cn's lock held.
 * Return: 0, -ENOSPC if too many are open, or -ENOMEM.
 */
int chs_txn_open(struct chs_net *cn, u32 portid, struct chs_txn **txn,
		 struct chs_msg *msg)
{
	struct chs_txn *other;
	u32 n = 0;

	spin_lock(&cn->txns_lock);
	list_for_each_entry(other, &cn->txns, node)
		n++;
	spin_unlock(&cn->txns_lock);
	if (n >= TXNS_MAX)
		return chs_msg_fail(msg, -ENOSPC, NULL,
				    "%u transactions are open already, the most there may be",
				    n);

	*txn = kzalloc(sizeof(**txn), GFP_KERNEL_ACCOUNT);
	if (!*txn)
		return -ENOMEM;

	chs_txn_init(cn, *txn);
	(*txn)->portid = portid;
	(*txn)->id = ++cn->next_txn ?: ++cn->next_txn;
	spin_lock(&cn->txns_lock);
	list_add_tail(&(*txn)->node, &cn->txns);
	spin_unlock(&cn->txns_lock);
	return 0;
}

/**
 * chs_txn_find() - transaction by its number
 * @cn: namespace
 * @portid: netlink port that asks
 * @id: number
 *
 * Context: process; @cn's lock held.
 * Return: the transaction, or NULL if that port has none of that number.
 */
struct chs_txn *chs_txn_find(struct chs_net *cn, u32 portid, u32 id)
{
	struct chs_txn *txn, *found = NULL;

	lockdep_assert_held(&cn->lock);

	spin_lock(&cn->txns_lock);
	list_for_each_entry(txn, &cn->txns, node) {
		if (txn->id == id && txn->portid == portid)
			found = txn;
	}
	spin_unlock(&cn->txns_lock);
	return found;
}

/**
 * chs_txn_close() - end and free a transaction that spans requests
 * @cn: namespace
 * @txn: transaction
 *
 * Context: process; may sleep.
 */
void chs_txn_close(struct chs_net *cn, struct chs_txn *txn)
{
	spin_lock(&cn->txns_lock);
	list_del(&txn->node);
	spin_unlock(&cn->txns_lock);
	chs_txn_fini(txn);
	kfree(txn);
}

/**
 * chs_txn_drop_port() - forget the transactions of a closed socket
 * @cn: namespace
 * @portid: the socket's port
 *
 * Nobody else has a request under way in them, so that this need not wait for
 * @cn's lock, under which others build rings.
 *
 * Context: process; may sleep.
 */
void chs_txn_drop_port(struct chs_net *cn, u32 portid)
{
	struct chs_txn *txn, *next;
	LIST_HEAD(gone);

	spin_lock(&cn->txns_lock);
	list_for_each_entry_safe(txn, next, &cn->txns, node) {
		if (txn->portid == portid)
			list_move(&txn->node, &gone);
	}
	spin_unlock(&cn->txns_lock);

	list_for_each_entry_safe(txn, next, &gone, node) {
		chs_txn_fini(txn);
		kfree(txn);
	}
}

/**
 * chs_txn_drop_all() - forget every transaction
 * @cn: namespace
 *
 * Context: process; @cn's lock held.
 */
void chs_txn_drop_all(struct chs_net *cn)
{
	struct chs_txn *txn, *next;

	list_for_each_entry_safe(txn, next, &cn->txns, node)
		chs_txn_close(cn, txn);
}

/**
 * chs_txn_table() - the services as a transaction sees them
 * @cn: namespace
 * @txn: transaction
 *
 * Context: process; @cn's lock held.
 * Return: its shadow, or the table in force while nothing is changed.
 */
const struct chs_table *chs_txn_table(const struct chs_net *cn,
				      const struct chs_txn *txn)
{
	return txn->table ?: chs_net_table(cn);
}

static int shadow(struct chs_net *cn, struct chs_txn *txn)
{
	if (!txn->table)
		txn->table = chs_table_clone(chs_net_table(cn));
	return txn->table ? 0 : -ENOMEM;
}

static struct chs_edit *note(struct chs_txn *txn, struct chs_service *old,
			     struct chs_service *new)
{
	struct chs_edit *edit = kzalloc(sizeof(*edit), GFP_KERNEL_ACCOUNT);

	if (!edit)
		return NULL;

	edit->old = old;
	edit->new = new;
	if (new)
		new->edit = edit;
	list_add_tail(&edit->node, &txn->edits);
	return edit;
}

static void forget(struct chs_edit *edit)
{
	list_del(&edit->node);
	kfree(edit);
}

/**
 * chs_txn_add() - add a service
 * @cn: namespace
 * @txn: transaction
 * @svc: service; no other in chs_txn_table() has its name or its key
 *
 * Context: process; may sleep; @cn's lock held.
 * Return: 0 and @svc is the transaction's, or -ENOMEM.
 */
int chs_txn_add(struct chs_net *cn, struct chs_txn *txn,
		struct chs_service *svc)
{
	struct chs_edit *edit;
	int err;

	err = shadow(cn, txn);
	if (err)
		return err;

	edit = note(txn, NULL, svc);
	if (!edit)
		return -ENOMEM;

	err = chs_table_insert(txn->table, svc);
	if (err) {
		svc->edit = NULL;
		forget(edit);
		return err;
	}
	edit->named = true;
	return 0;
}

/**
 * chs_txn_edit() - get a version of a service that may be changed
 * @cn: namespace
 * @txn: transaction
 * @svc: service in chs_txn_table()
 *
 * Context: process; may sleep; @cn's lock held.
 * Return: @svc or its clone, or NULL if there is no memory.
 */
struct chs_service *chs_txn_edit(struct chs_net *cn, struct chs_txn *txn,
				 struct chs_service *svc)
{
	struct chs_service *clone;

	if (svc->edit)
		return svc;

	/* Until the end of the transaction, or the next service. */
	chs_charge_worker(svc->memcg);
	if (shadow(cn, txn))
		return NULL;

	clone = chs_service_clone(svc);
	if (!clone)
		return NULL;
	if (!note(txn, svc, clone)) {
		chs_service_free(clone);
		return NULL;
	}
	chs_table_replace(txn->table, svc, clone);
	return clone;
}

/**
 * chs_txn_del() - remove a service with its backends
 * @cn: namespace
 * @txn: transaction
 * @svc: service in chs_txn_table()
 *
 * Context: process; may sleep; @cn's lock held.
 * Return: 0 or -ENOMEM.
 */
int chs_txn_del(struct chs_net *cn, struct chs_txn *txn,
		struct chs_service *svc)
{
	struct chs_edit *edit = svc->edit;
	int err;

	err = shadow(cn, txn);
	if (err)
		return err;

	if (!edit) {
		if (!note(txn, svc, NULL))
			return -ENOMEM;
		chs_table_remove(txn->table, svc);
		return 0;
	}

	chs_table_remove(txn->table, svc);
	chs_service_free(svc);
	edit->new = NULL;
	if (!edit->old)
		forget(edit);
	return 0;
}

/*
 * A removal may bring another entry to the same place, which is why the walk
 * steps back; it never brings one to where the walk has been before.
 */
static int del_services(struct chs_net *cn, struct chs_txn *txn, bool all)
{
	struct chs_service *svc;
	u32 at = 0;
	int err;

	err = shadow(cn, txn);
	if (err)
		return err;

	while ((svc = chs_table_next(txn->table, &at))) {
		cond_resched();
		if (!all && svc->edit && svc->edit->named)
			continue;
		err = chs_txn_del(cn, txn, svc);
		if (err)
			return err;
		at--;
	}
	return 0;
}

/**
 * chs_txn_flush() - remove every service
 * @cn: namespace
 * @txn: transaction
 *
 * Context: process; may sleep; @cn's lock held.
 * Return: 0 or -ENOMEM.
 */
int chs_txn_flush(struct chs_net *cn, struct chs_txn *txn)
{
	return del_services(cn, txn, true);
}

static void prune_backends(struct chs_service *svc)
{
	u32 i = 0;

	while (i < svc->n_backends) {
		if (svc->backends[i].named)
			i++;
		else
			chs_backend_del(svc, &svc->backends[i]);
	}
}

static bool has_named(const struct chs_service *svc)
{
	u32 i;

	for (i = 0; i < svc->n_backends; i++) {
		if (svc->backends[i].named)
			return true;
	}
	return false;
}

/* Remove what no request of the transaction named. */
static int prune_unnamed(struct chs_net *cn, struct chs_txn *txn,
			 struct chs_msg *msg)
{
	struct chs_edit *edit;
	int err;

	list_for_each_entry(edit, &txn->edits, node) {
		if (edit->new && !edit->named && has_named(edit->new))
			return chs_msg_fail(msg, -ENOENT, NULL,
					    "backends of service '%s' are named, but not the service",
					    edit->new->name);
	}

	err = del_services(cn, txn, false);
	if (err)
		return err;

	list_for_each_entry(edit, &txn->edits, node) {
		if (edit->new)
			prune_backends(edit->new);
	}
	return 0;
}

static void count_backends(const struct chs_service *old,
			   const struct chs_service *new,
			   struct chs_result *result)
{
	u32 i = 0, j = 0;
	int cmp;

	while (i < old->n_backends || j < new->n_backends) {
		if (i == old->n_backends)
			cmp = 1;
		else if (j == new->n_backends)
			cmp = -1;
		else
			cmp = chs_ring_id_cmp(&old->backends[i].id,
					      &new->backends[j].id);

		if (cmp < 0)
			result->removed++;
		else if (cmp > 0)
			result->added++;
		else if (chs_backend_same(&old->backends[i], &new->backends[j]))
			result->unchanged++;
		else
			result->changed++;
		i += cmp <= 0;
		j += cmp >= 0;
	}
}

static void count_edit(const struct chs_edit *edit, struct chs_result *result)
{
	const struct chs_service *old = edit->old, *new = edit->new;

	if (!old) {
		result->added += 1 + new->n_backends;
	} else if (!new) {
		result->removed += 1 + old->n_backends;
	} else {
		if (chs_service_same(old, new))
			result->unchanged++;
		else
			result->changed++;
		count_backends(old, new, result);
	}
}

/* Take back what turned out to change nothing, so that nothing is disturbed. */
static void drop_unchanged(struct chs_txn *txn)
{
	struct chs_edit *edit, *next;

	list_for_each_entry_safe(edit, next, &txn->edits, node) {
		if (!edit->old || !edit->new ||
		    !chs_service_unchanged(edit->old, edit->new))
			continue;
		chs_table_replace(txn->table, edit->new, edit->old);
		chs_service_free(edit->new);
		forget(edit);
	}
}

/* A service that is made anew is one that goes and one that comes. */
static const struct chs_service *heir(const struct chs_txn *txn,
				      const struct chs_edit *edit)
{
	if (edit->new || !edit->old)
		return edit->new;
	return chs_table_find(txn->table, edit->old->name);
}

static int count_moves(const struct chs_txn *txn, struct chs_result *result,
		       struct chs_msg *msg)
{
	struct chs_move move, most = { .of = 1 };
	struct chs_edit *edit, *worst = NULL;

	list_for_each_entry(edit, &txn->edits, node) {
		chs_move_count(edit->old, heir(txn, edit), &move);
		result->moved += move.arcs;
		result->arcs += move.of;
		if ((u64)move.arcs * most.of > (u64)most.arcs * move.of) {
			most = move;
			worst = edit;
		}
		cond_resched();
	}
	if (!worst)
		return 0;
	return chs_move_check((worst->new ?: worst->old)->name, &most,
			      txn->max_move, msg);
}

/* Between two rings, of which one takes a second at most. */
static bool interrupted(void)
{
	return fatal_signal_pending(current) || READ_ONCE(chs_unloading);
}

static int build_rings(struct chs_txn *txn, struct chs_msg *msg)
{
	struct chs_edit *edit;
	int err;

	list_for_each_entry(edit, &txn->edits, node) {
		if (!edit->new)
			continue;

		if (interrupted())
			return -EINTR;
		chs_charge_worker(edit->new->memcg);
		if (edit->new->n_backends > CHS_RING_NODES_MAX)
			return chs_msg_fail(msg, -ENOSPC, NULL,
					    "service '%s' would have %u backends, more than %u",
					    edit->new->name,
					    edit->new->n_backends,
					    CHS_RING_NODES_MAX);

		err = chs_service_build(edit->new, edit->old);
		if (err == -ENOSPC)
			return chs_msg_fail(msg, err, NULL,
					    "service '%s' would have %llu points, more than %u",
					    edit->new->name,
					    chs_service_points(edit->new),
					    CHS_RING_POINTS_TOTAL_MAX);
		if (err)
			return err;
	}
	return 0;
}

static struct retired *retired_alloc(struct chs_net *cn,
				     const struct chs_txn *txn)
{
	struct retired *retired;
	struct chs_edit *edit;
	u32 n = 0;

	list_for_each_entry(edit, &txn->edits, node)
		n++;

	retired = kvzalloc(struct_size(retired, svcs, n), GFP_KERNEL_ACCOUNT);
	if (!retired)
		return NULL;
	INIT_RCU_WORK(&retired->work, retired_free);
	retired->cn = cn;
	return retired;
}

/* From here on nothing can fail. */
static void publish(struct chs_net *cn, struct chs_txn *txn,
		    struct retired *retired, struct chs_sweep *sweep,
		    struct chs_msg *msg)
{
	u32 now = ktime_get_seconds();
	struct chs_edit *edit, *next;

	retired->table = chs_net_table(cn);
	list_for_each_entry(edit, &txn->edits, node) {
		if (!edit->new)
			continue;
		edit->new->edit = NULL;
		chs_transition_begin(edit->new, now);
		cond_resched();
	}
	txn->table->generation++;
	chs_table_seal(txn->table);
	rcu_assign_pointer(cn->table, txn->table);
	txn->table = NULL;

	list_for_each_entry_safe(edit, next, &txn->edits, node) {
		if (edit->new) {
			chs_service_published(edit->new, edit->old);
			chs_deadline_note(cn, edit->new);
			chs_settle_note(cn, edit->old, edit->new);
			if (!edit->old || edit->old->ring != edit->new->ring)
				chs_service_warn(edit->new, msg);
		}
		if (edit->old && !chs_sweep_owns(sweep, edit->old))
			retired->svcs[retired->n_svcs++] = edit->old;
		forget(edit);
		cond_resched();
	}

	chs_hook_relax(cn);
	atomic_inc(&cn->n_retired);
	queue_rcu_work(chs_free_workqueue, &retired->work);
	chs_sweep_run(cn, sweep);
}

/* All that can be refused, and all that takes long. */
static int prepare(struct chs_net *cn, struct chs_txn *txn, bool prune,
		   struct chs_result *result, struct chs_msg *msg)
{
	struct chs_edit *edit;
	int err;

	if (prune) {
		err = prune_unnamed(cn, txn, msg);
		if (err)
			return err;
	}

	memset(result, 0, sizeof(*result));
	list_for_each_entry(edit, &txn->edits, node)
		count_edit(edit, result);
	drop_unchanged(txn);
	err = build_rings(txn, msg);
	return err ?: count_moves(txn, result, msg);
}

/**
 * chs_txn_try() - have what a transaction would put in force
 * @cn: namespace
 * @txn: transaction; afterwards chs_txn_table() is what would be, and it is
 *	good for nothing else but chs_txn_fini()
 * @prune: remove what no request of the transaction named
 * @result: what it would do
 * @msg: reason of a failure, or warnings
 *
 * Packets see nothing of it: hooks are left as they are.
 *
 * Context: process; may sleep, for as long as rings are built; @cn's lock held.
 * Return: 0, -ENOENT, -ENOSPC, -EDQUOT, -EINTR if the process is being killed, or
 *	-ENOMEM.
 */
int chs_txn_try(struct chs_net *cn, struct chs_txn *txn, bool prune,
		struct chs_result *result, struct chs_msg *msg)
{
	struct chs_edit *edit;
	int err;

	err = prepare(cn, txn, prune, result, msg);
	if (err)
		return err;

	txn->tried = true;
	list_for_each_entry(edit, &txn->edits, node) {
		if (edit->new &&
		    (!edit->old || edit->old->ring != edit->new->ring))
			chs_service_warn(edit->new, msg);
	}
	return 0;
}

/**
 * chs_txn_commit() - put a transaction in force
 * @cn: namespace
 * @txn: transaction; good for nothing but chs_txn_fini() afterwards
 * @prune: remove what no request of the transaction named
 * @result: what it did, or NULL
 * @msg: reason of a failure, or warnings
 *
 * Context: process; may sleep, for as long as rings are built and, if flows
 *	lose their backend, conntrack tables are walked; @cn's lock held.
 * Return: 0, -ENOENT, -ENOSPC, -EDQUOT, -EINTR if the process is being killed,
 *	-EBUSY if the module is being unloaded, or -ENOMEM.
 */
int chs_txn_commit(struct chs_net *cn, struct chs_txn *txn, bool prune,
		   struct chs_result *result, struct chs_msg *msg)
{
	struct chs_result scratch = {};
	struct retired *retired;
	struct chs_sweep *sweep;
	int err;

	err = prepare(cn, txn, prune, result ?: &scratch, msg);
	if (err || list_empty(&txn->edits))
		return err;

	retired = retired_alloc(cn, txn);
	if (!retired)
		return -ENOMEM;

	sweep = chs_sweep_alloc(&txn->edits);
	if (IS_ERR(sweep)) {
		err = PTR_ERR(sweep);
		goto err_retired;
	}

	err = chs_pin_hold(cn, txn->table, msg);
	if (err)
		goto err_sweep;

	err = chs_hook_require(cn, txn->table, msg);
	if (err)
		goto err_pin;

	publish(cn, txn, retired, sweep, msg);
	chs_pin_relax(cn);
	return 0;

err_pin:
	chs_pin_relax(cn);
err_sweep:
	chs_sweep_free(sweep);
err_retired:
	kvfree(retired);
	return err;
}
