/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHS_COMPAT_NET_INET6_HASHTABLES_H
#define CHS_COMPAT_NET_INET6_HASHTABLES_H

#include_next <net/inet6_hashtables.h>

#include <linux/version.h>

/* Since 6.18 the table is the namespace's own and not an argument. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
#define inet6_lookup_listener(net, ...)					\
	inet6_lookup_listener(net, (net)->ipv4.tcp_death_row.hashinfo,	\
			      __VA_ARGS__)
#endif

#endif /* CHS_COMPAT_NET_INET6_HASHTABLES_H */
