/* SPDX-License-Identifier: GPL-2.0-only */
/* Look-up of an address in the routing tables, for checks and warnings only. */
#ifndef CHS_ROUTE_H
#define CHS_ROUTE_H

#include <linux/types.h>

#include "tuple.h"

struct net;
struct net_device;

bool chs_route_local(struct net *net, const union chs_addr *addr);
bool chs_route_local_by(struct net *net, const struct net_device *dev,
			const union chs_addr *addr);
bool chs_route_leads_away(struct net *net, const union chs_addr *addr);
bool chs_route_forwards(struct net *net, bool v6);

#endif /* CHS_ROUTE_H */
