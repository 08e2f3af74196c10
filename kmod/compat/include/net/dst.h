/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHS_COMPAT_NET_DST_H
#define CHS_COMPAT_NET_DST_H

#include_next <net/dst.h>

/* Since 6.18; stable releases of 6.1 and 6.12 took it over. */
#ifndef CHS_HAVE_DST_DEV_RCU
static inline struct net_device *dst_dev_rcu(const struct dst_entry *dst)
{
	return READ_ONCE(dst->dev);
}
#endif

#endif /* CHS_COMPAT_NET_DST_H */
