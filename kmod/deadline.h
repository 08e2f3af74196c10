/* SPDX-License-Identifier: GPL-2.0-only */
/* Drain deadlines. */
#ifndef CHS_DEADLINE_H
#define CHS_DEADLINE_H

struct chs_net;
struct chs_service;
struct work_struct;

void chs_deadline_note(struct chs_net *cn, const struct chs_service *svc);
void chs_deadline_work(struct work_struct *work);

#endif /* CHS_DEADLINE_H */
