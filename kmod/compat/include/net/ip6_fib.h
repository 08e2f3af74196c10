/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHS_COMPAT_NET_IP6_FIB_H
#define CHS_COMPAT_NET_IP6_FIB_H

#include_next <net/ip6_fib.h>

/* Since 6.10; stable releases of 6.1 and 6.6 took it over. */
#ifndef dst_rt6_info
#define dst_rt6_info(ptr)	container_of((ptr), struct rt6_info, dst)
#endif

#endif /* CHS_COMPAT_NET_IP6_FIB_H */
