/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHS_COMPAT_NET_GSO_H
#define CHS_COMPAT_NET_GSO_H

#include <linux/version.h>

/* Before 6.5 segmentation was declared with network devices. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#else
#include_next <net/gso.h>
#endif

#endif /* CHS_COMPAT_NET_GSO_H */
