/* SPDX-License-Identifier: GPL-2.0-only */
/* Closing of arcs, and forgetting of flows, when their time has come. */
#ifndef CHS_SETTLE_H
#define CHS_SETTLE_H

#include <linux/types.h>

struct chs_net;
struct chs_service;
struct work_struct;

void chs_settle_note(struct chs_net *cn, const struct chs_service *old,
		     const struct chs_service *new);
void chs_settle_work(struct work_struct *work);
s64 chs_settle_left(const struct chs_service *svc, u32 now);

#endif /* CHS_SETTLE_H */
