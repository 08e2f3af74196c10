// SPDX-License-Identifier: GPL-2.0-only
/* Look-up of an address in the routing tables, for checks and warnings only. */
#include "route.h"

#include "addr.h"

#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/ip6_route.h>
#include <net/route.h>

/**
 * chs_route_local() - whether an address is this host's own
 * @net: network namespace
 * @addr: address
 *
 * Context: process.
 * Return: true if so.
 */
bool chs_route_local(struct net *net, const union chs_addr *addr)
{
	struct in6_addr addr6;

	if (chs_addr_is_v4(addr))
		return inet_addr_type(net, addr->w[3]) == RTN_LOCAL;

	chs_addr_to_in6(&addr6, addr);
	return ipv6_chk_addr(net, &addr6, NULL, 0);
}

/**
 * chs_route_local_by() - whether an address is this host's for what comes by a device
 * @net: network namespace
 * @dev: device; if a VRF has it, an address is one of that VRF
 * @addr: address
 *
 * Context: under RCU.
 * Return: true if so.
 */
bool chs_route_local_by(struct net *net, const struct net_device *dev,
			const union chs_addr *addr)
{
	struct in6_addr addr6;

	if (chs_addr_is_v4(addr))
		return inet_addr_type_dev_table(net, dev, addr->w[3]) ==
		       RTN_LOCAL;

	chs_addr_to_in6(&addr6, addr);
	return ipv6_chk_addr_and_flags(net, &addr6, dev, true, 0,
				       IFA_F_TENTATIVE);
}

static bool leads_away_v4(struct net *net, __be32 addr)
{
	struct flowi4 flow = { .daddr = addr };
	struct rtable *rt;
	bool away;

	rt = ip_route_output_key(net, &flow);
	if (IS_ERR(rt))
		return false;

	away = rt->rt_type == RTN_UNICAST;
	ip_rt_put(rt);
	return away;
}

static bool leads_away_v6(struct net *net, const union chs_addr *addr)
{
	struct flowi6 flow = {};
	struct dst_entry *dst;
	bool away;

	chs_addr_to_in6(&flow.daddr, addr);
	dst = ip6_route_output(net, NULL, &flow);
	away = !dst->error &&
	       !(dst_rt6_info(dst)->rt6i_flags & (RTF_LOCAL | RTF_REJECT));
	dst_release(dst);
	return away;
}

/**
 * chs_route_leads_away() - whether packets for an address go to another host
 * @net: network namespace
 * @addr: address
 *
 * Context: process.
 * Return: false if it is local, has no route, or has one to a dead end.
 */
bool chs_route_leads_away(struct net *net, const union chs_addr *addr)
{
	return chs_addr_is_v4(addr) ? leads_away_v4(net, addr->w[3]) :
				      leads_away_v6(net, addr);
}

/**
 * chs_route_forwards() - whether this host forwards packets
 * @net: network namespace
 * @v6: of IPv6
 *
 * Context: any.
 * Return: true if so.
 */
bool chs_route_forwards(struct net *net, bool v6)
{
	return v6 ? READ_ONCE(net->ipv6.devconf_all->forwarding) :
		    IPV4_DEVCONF_ALL(net, FORWARDING);
}
