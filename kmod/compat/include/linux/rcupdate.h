/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHS_COMPAT_LINUX_RCUPDATE_H
#define CHS_COMPAT_LINUX_RCUPDATE_H

#include_next <linux/rcupdate.h>

/* Since 6.4; stable releases of 6.1 took it over. */
#ifndef kfree_rcu_mightsleep
#define kfree_rcu_mightsleep(ptr)	kvfree_rcu(ptr)
#endif

#endif /* CHS_COMPAT_LINUX_RCUPDATE_H */
