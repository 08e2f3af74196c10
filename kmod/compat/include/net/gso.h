/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHS_COMPAT_NET_GSO_H
#define CHS_COMPAT_NET_GSO_H

/* Before 6.5 segmentation was declared with network devices. */
#if __has_include_next(<net/gso.h>)
#include_next <net/gso.h>
#else
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#endif

#endif /* CHS_COMPAT_NET_GSO_H */
