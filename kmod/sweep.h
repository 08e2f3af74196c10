/* SPDX-License-Identifier: GPL-2.0-only */
/* Clearing conntrack entries that a change has made wrong. */
#ifndef CHS_SWEEP_H
#define CHS_SWEEP_H

#include <linux/list.h>
#include <linux/types.h>

struct chs_net;
struct chs_service;
struct chs_table;
struct work_struct;

/**
 * struct chs_sweep - what one transaction leaves to be cleared
 * @node: in struct chs_net.sweeps
 * @due: jiffies of the second time
 * @fresh: a service begins to steer: entries from before are untranslated
 * @graves: old versions of services of which flows lose their backend, owned
 *	from here; or NULL
 */
struct chs_sweep {
	struct list_head node;
	unsigned long due;
	bool fresh;
	struct chs_table *graves;
};

struct chs_sweep *chs_sweep_alloc(const struct list_head *edits);
void chs_sweep_free(struct chs_sweep *sweep);
bool chs_sweep_owns(const struct chs_sweep *sweep,
		    const struct chs_service *svc);
void chs_sweep_run(struct chs_net *cn, struct chs_sweep *sweep);
void chs_sweep_work(struct work_struct *work);
void chs_sweep_drop_all(struct chs_net *cn);

#endif /* CHS_SWEEP_H */
