/* SPDX-License-Identifier: GPL-2.0-only */
/* Ports that sockets of this host have or may take; for warnings only. */
#ifndef CHS_SOCKET_H
#define CHS_SOCKET_H

#include <linux/types.h>

#include "tuple.h"

struct net;

u16 chs_socket_ephemeral(struct net *net, u16 lo, u16 hi);
u16 chs_socket_bound(struct net *net, u8 proto, const union chs_addr *addr,
		     u16 lo, u16 hi);

#endif /* CHS_SOCKET_H */
