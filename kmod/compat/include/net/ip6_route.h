/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHS_COMPAT_NET_IP6_ROUTE_H
#define CHS_COMPAT_NET_IP6_ROUTE_H

#include_next <net/ip6_route.h>

/* While IPv6 could be a module, others reached its functions by pointers. */
#ifdef CHS_HAVE_IPV6_STUBS
#include <net/ipv6_stubs.h>
#define ip6_fragment(net, sk, skb, output) \
	ipv6_stub->ipv6_fragment(net, sk, skb, output)
#endif

#endif /* CHS_COMPAT_NET_IP6_ROUTE_H */
