/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHS_COMPAT_NET_GENETLINK_H
#define CHS_COMPAT_NET_GENETLINK_H

#include_next <net/genetlink.h>

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "chsteer needs Linux 6.1 or later"
#endif

/* Before 6.6 the attributes of a dump are not reached through a genl_info. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define genl_dump_attrs(cb)	(genl_dumpit_info(cb)->attrs)
#else
#define genl_dump_attrs(cb)	(genl_info_dump(cb)->attrs)
#endif

#endif /* CHS_COMPAT_NET_GENETLINK_H */
