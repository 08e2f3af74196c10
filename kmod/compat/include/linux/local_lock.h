/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHS_COMPAT_LINUX_LOCAL_LOCK_H
#define CHS_COMPAT_LINUX_LOCAL_LOCK_H

#include_next <linux/local_lock.h>

/*
 * Before 6.11 disabling bottom halves excluded other tasks on the same CPU on
 * PREEMPT_RT as well.
 */
#ifndef local_lock_nested_bh
#include <linux/lockdep.h>

#define local_lock_nested_bh(lock) \
	do { \
		lockdep_assert_in_softirq(); \
		(void)(lock); \
	} while (0)
#define local_unlock_nested_bh(lock)	((void)(lock))
#endif

#endif /* CHS_COMPAT_LINUX_LOCAL_LOCK_H */
