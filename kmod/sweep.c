// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clearing conntrack entries that a change has made wrong.
 *
 * In mode nat conntrack is the flow table, so a backend that is gone must be
 * gone from there as well: otherwise a sender that never pauses keeps its entry
 * alive and its packets going to a dead address. Two kinds of entries go:
 *
 * - of a service or backend that was removed, or went down, in the transaction
 *   at hand, replied to or not;
 * - towards a service, but not translated: left from before it was there.
 *
 * Both are done after the new table is published and every packet that saw the
 * old one is through, and once more a second later for packets that were on
 * hold in between, as in a userspace queue.
 */
#include "sweep.h"

#include "nat.h"
#include "netns.h"
#include "txn.h"

#include <linux/err.h>
#include <linux/slab.h>
#include <net/netfilter/nf_conntrack.h>

#define AGAIN		HZ
#define FRESH_SWEEPS	2

/**
 * struct sweep_state - what one walk over the conntrack table looks for
 * @cn: namespace
 * @sweeps: list of struct chs_sweep
 * @fresh: look for untranslated entries as well
 */
struct sweep_state {
	struct chs_net *cn;
	struct list_head *sweeps;
	bool fresh;
};

static bool loses_flows(const struct chs_service *old,
			const struct chs_service *new)
{
	const struct chs_backend *backend;
	u32 i;

	for (i = 0; i < old->n_backends; i++) {
		if (!chs_backend_alive(&old->backends[i]))
			continue;
		backend = new ? chs_backend_find(new, &old->backends[i].id) :
				NULL;
		if (!backend || !chs_backend_alive(backend))
			return true;
	}
	return false;
}

/* Whether @edit has the service take flows that it left to the host so far. */
static bool steers_more(const struct chs_edit *edit)
{
	const struct chs_service *old = edit->old;
	const struct chs_service *new = edit->new;

	if (!new || new->mode != CHS_MODE_NAT)
		return false;
	if (!old || (old->empty && !new->empty))
		return true;
	return old->on_empty == CHS_ON_EMPTY_PASS &&
	       new->on_empty != CHS_ON_EMPTY_PASS;
}

static int bury(struct chs_sweep *sweep, struct chs_service *svc)
{
	if (!sweep->graves)
		sweep->graves = chs_table_clone(NULL);
	if (!sweep->graves)
		return -ENOMEM;
	return chs_table_insert(sweep->graves, svc);
}

/**
 * chs_sweep_alloc() - prepare for what a transaction will leave
 * @edits: its edits, with their rings built
 *
 * Context: process; may sleep.
 * Return: the sweep, NULL if nothing will be left, or ERR_PTR(-ENOMEM).
 */
struct chs_sweep *chs_sweep_alloc(const struct list_head *edits)
{
	struct chs_sweep *sweep;
	struct chs_edit *edit;

	sweep = kzalloc(sizeof(*sweep), GFP_KERNEL_ACCOUNT);
	if (!sweep)
		return ERR_PTR(-ENOMEM);

	list_for_each_entry(edit, edits, node) {
		if (steers_more(edit))
			sweep->fresh = true;
		if (edit->old && edit->old->mode == CHS_MODE_NAT &&
		    loses_flows(edit->old, edit->new) &&
		    bury(sweep, edit->old)) {
			chs_sweep_free(sweep);
			return ERR_PTR(-ENOMEM);
		}
	}

	if (!sweep->fresh && !sweep->graves) {
		kfree(sweep);
		return NULL;
	}
	return sweep;
}

/**
 * chs_sweep_free() - forget a sweep that is not run
 * @sweep: sweep, or NULL; it has not come to own anything
 *
 * Context: process; may sleep.
 */
void chs_sweep_free(struct chs_sweep *sweep)
{
	if (!sweep)
		return;

	chs_table_free(sweep->graves);
	kfree(sweep);
}

/**
 * chs_sweep_owns() - whether a sweep will free a version
 * @sweep: sweep, or NULL
 * @svc: version put out of force
 *
 * Context: process.
 * Return: true if so.
 */
bool chs_sweep_owns(const struct chs_sweep *sweep,
		    const struct chs_service *svc)
{
	return sweep && sweep->graves &&
	       chs_table_find(sweep->graves, svc->name) == svc;
}

static void finish(struct chs_sweep *sweep)
{
	struct chs_service *svc;
	u32 at = 0;

	while ((svc = chs_table_next(sweep->graves, &at)))
		chs_service_free(svc);
	list_del(&sweep->node);
	chs_sweep_free(sweep);
}

static unsigned int width(const struct chs_service *svc)
{
	return svc->hi - svc->lo;
}

/*
 * Whether @ct was steered by @old and has lost its backend. The service that
 * has the address now may be another one: one that was more exact than @old
 * had the flow before, if it has that backend; one that is less exact did not.
 */
static bool is_orphan(const struct chs_table *table,
		      const struct chs_service *old, const struct nf_conn *ct,
		      const struct chs_tuple *tuple)
{
	const struct chs_backend *backend;
	const struct chs_service *svc;

	if (!chs_nat_backend(old, ct, tuple->dport))
		return false;

	svc = chs_steer_service(table, tuple, 0);
	if (!svc || (strcmp(svc->name, old->name) && width(svc) > width(old)))
		return true;

	backend = chs_nat_backend(svc, ct, tuple->dport);
	return !backend || !chs_backend_alive(backend);
}

/*
 * Whether @ct goes past the service that has its address. With on-empty pass
 * that is right for what a local server has answered.
 */
static bool is_stale(const struct chs_table *table, const struct nf_conn *ct,
		     const struct chs_tuple *tuple)
{
	const struct chs_service *svc = chs_steer_service(table, tuple, 0);

	if (!svc || svc->mode != CHS_MODE_NAT)
		return false;
	if (svc->on_empty != CHS_ON_EMPTY_PASS)
		return true;
	return !svc->empty && !test_bit(IPS_SEEN_REPLY_BIT, &ct->status);
}

/* Called under the lock of a hash bucket, with bottom halves off. */
static int is_wrong(struct nf_conn *ct, void *data)
{
	const struct sweep_state *state = data;
	const struct chs_service *old;
	const struct chs_table *table;
	struct chs_sweep *sweep;
	struct chs_tuple tuple;
	int wrong = 0;

	if (!chs_nat_tuple(ct, &tuple))
		return 0;

	rcu_read_lock();
	table = rcu_dereference(state->cn->table);
	if (!(ct->status & IPS_DST_NAT)) {
		wrong = state->fresh && is_stale(table, ct, &tuple);
		goto out;
	}
	list_for_each_entry(sweep, state->sweeps, node) {
		old = chs_steer_service(sweep->graves, &tuple, 0);
		if (old && is_orphan(table, old, ct, &tuple)) {
			wrong = 1;
			break;
		}
	}
out:
	rcu_read_unlock();
	return wrong;
}

static void walk(struct sweep_state *state)
{
	struct nf_ct_iter_data data = {
		.net = state->cn->net,
		.data = state,
	};

	/* Let through whatever was steered by an older table. */
	synchronize_rcu();
	nf_ct_iterate_cleanup_net(is_wrong, &data);
}

/**
 * chs_sweep_run() - clear what a transaction has left
 * @cn: namespace
 * @sweep: from chs_sweep_alloc(), or NULL; consumed
 *
 * Flows of what is gone are cleared before this returns, so that the command
 * that removed it has its effect when it ends. Untranslated entries are cleared
 * in the background: there may be one such command for each of many services.
 *
 * Context: process; sleeps; @cn's lock held.
 */
void chs_sweep_run(struct chs_net *cn, struct chs_sweep *sweep)
{
	struct sweep_state state = { .cn = cn };
	LIST_HEAD(one);

	if (!sweep)
		return;

	if (sweep->fresh) {
		cn->fresh_sweeps = FRESH_SWEEPS;
		mod_delayed_work(chs_workqueue, &cn->sweep_work, 0);
	}
	if (!sweep->graves) {
		chs_sweep_free(sweep);
		return;
	}

	list_add(&sweep->node, &one);
	state.sweeps = &one;
	walk(&state);
	list_move_tail(&sweep->node, &cn->sweeps);
	sweep->due = jiffies + AGAIN;
	queue_delayed_work(chs_workqueue, &cn->sweep_work, AGAIN);
}

/**
 * chs_sweep_work() - clear once more
 * @work: sweep_work of a namespace
 *
 * Context: process; sleeps.
 */
void chs_sweep_work(struct work_struct *work)
{
	struct chs_net *cn = container_of(to_delayed_work(work),
					  struct chs_net, sweep_work);
	struct chs_sweep *sweep, *next;
	struct sweep_state state;
	LIST_HEAD(due);

	mutex_lock(&cn->lock);
	list_for_each_entry_safe(sweep, next, &cn->sweeps, node) {
		if (time_after_eq(jiffies, sweep->due))
			list_move_tail(&sweep->node, &due);
	}

	state.cn = cn;
	state.sweeps = &due;
	state.fresh = cn->fresh_sweeps;
	if (cn->fresh_sweeps)
		cn->fresh_sweeps--;
	if (state.fresh || !list_empty(&due))
		walk(&state);

	list_for_each_entry_safe(sweep, next, &due, node)
		finish(sweep);
	if (cn->fresh_sweeps || !list_empty(&cn->sweeps))
		queue_delayed_work(chs_workqueue, &cn->sweep_work, AGAIN);
	mutex_unlock(&cn->lock);
}

/**
 * chs_sweep_drop_all() - forget what is still to be cleared
 * @cn: namespace
 *
 * Context: process; may sleep; @cn's lock held, sweep_work cancelled.
 */
void chs_sweep_drop_all(struct chs_net *cn)
{
	struct chs_sweep *sweep, *next;

	list_for_each_entry_safe(sweep, next, &cn->sweeps, node)
		finish(sweep);
}
