// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drain deadlines. Delayed work, not timers: what happens at a deadline is a
 * transaction, and transactions sleep.
 */
#include "deadline.h"

#include "msg.h"
#include "netns.h"
#include "txn.h"

#include <linux/ktime.h>
#include <linux/timekeeping.h>

/* Longest pause before a run that had no memory is tried again; it doubles. */
#define RETRY_SECONDS_MAX	64

/*
 * Arcs that one run builds, and one service at least: the lock is given up, and
 * the end of the namespace let pass, in between.
 */
#define RUN_ARCS	CHS_RING_SLOTS_MAX

static void arm(struct chs_net *cn, time64_t at)
{
	time64_t left = max_t(time64_t, at - ktime_get_seconds(), 0);

	cn->next_deadline = at;
	mod_delayed_work(chs_workqueue, &cn->deadline_work, left * HZ);
}

/**
 * chs_deadline_note() - take the deadlines of a new version into account
 * @cn: namespace
 * @svc: version just published
 *
 * Context: process; @cn's lock held.
 */
void chs_deadline_note(struct chs_net *cn, const struct chs_service *svc)
{
	time64_t expires;
	u32 i;

	for (i = 0; i < svc->n_backends; i++) {
		expires = svc->backends[i].expires;
		if (expires &&
		    (!cn->next_deadline || expires < cn->next_deadline))
			arm(cn, expires);
	}
}

static void expire_backends(struct chs_service *svc, time64_t now)
{
	struct chs_backend *backend;
	u32 i = 0;

	while (i < svc->n_backends) {
		backend = &svc->backends[i];
		if (!backend->expires || backend->expires > now) {
			i++;
		} else if (backend->delete) {
			chs_backend_del(svc, backend);
		} else {
			backend->expires = 0;
			backend->expired = true;
			i++;
		}
	}
}

static bool is_due(const struct chs_service *svc, time64_t now)
{
	u32 i;

	for (i = 0; i < svc->n_backends; i++) {
		if (svc->backends[i].expires &&
		    svc->backends[i].expires <= now)
			return true;
	}
	return false;
}

static int expire_services(struct chs_net *cn, struct chs_txn *txn,
			   time64_t now)
{
	struct chs_service *svc;
	struct chs_msg msg = {};
	u32 at = 0, arcs = 0;

	while (arcs < RUN_ARCS &&
	       (svc = chs_table_next(chs_net_table(cn), &at))) {
		if (!is_due(svc, now))
			continue;
		arcs += svc->conf.slots;
		svc = chs_txn_edit(cn, txn, svc);
		if (!svc)
			return -ENOMEM;
		expire_backends(svc, now);
	}
	return chs_txn_commit(cn, txn, false, NULL, &msg);
}

/**
 * chs_deadline_work() - void the flows of backends whose deadline has passed
 * @work: deadline_work of a namespace
 *
 * Context: process; may sleep.
 */
void chs_deadline_work(struct work_struct *work)
{
	struct chs_net *cn = container_of(to_delayed_work(work),
					  struct chs_net, deadline_work);
	struct chs_service *svc;
	struct chs_txn txn;
	time64_t now;
	u32 at = 0;
	int err;

	mutex_lock(&cn->lock);
	now = ktime_get_seconds();
	chs_txn_init(cn, &txn);
	err = expire_services(cn, &txn, now);
	chs_txn_fini(&txn);

	cn->next_deadline = 0;
	if (err) {
		cn->retry = clamp(cn->retry * 2, 1U, (u32)RETRY_SECONDS_MAX);
		arm(cn, now + cn->retry);
	} else {
		cn->retry = 0;
		while ((svc = chs_table_next(chs_net_table(cn), &at)))
			chs_deadline_note(cn, svc);
	}
	mutex_unlock(&cn->lock);
}
