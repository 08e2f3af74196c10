/* SPDX-License-Identifier: GPL-2.0-only */
/* A process may be preempted anywhere. */
#ifndef CHS_SHIM_LINUX_SCHED_H
#define CHS_SHIM_LINUX_SCHED_H

static inline int cond_resched(void)
{
	return 0;
}

#endif /* CHS_SHIM_LINUX_SCHED_H */
