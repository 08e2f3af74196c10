// SPDX-License-Identifier: GPL-2.0-only
/* Ports that sockets of this host have or may take; for warnings only. */
#include "socket.h"

#include "addr.h"

#include <linux/in.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/ip.h>
#include <net/sock.h>
#include <net/udp.h>

/**
 * chs_socket_ephemeral() - whether connections of this host may begin at ports
 * @net: network namespace
 * @lo: first of the ports
 * @hi: last of them
 *
 * Context: process.
 * Return: the first of them that the host may choose by itself, by
 * ip_local_port_range and ip_local_reserved_ports; 0 if there is none.
 */
u16 chs_socket_ephemeral(struct net *net, u16 lo, u16 hi)
{
	int first, last;
	u32 port;

	inet_get_local_port_range(net, &first, &last);
	for (port = max_t(u32, lo, first); port <= min_t(u32, hi, last); port++) {
		if (!inet_is_local_reserved_port(net, port))
			return port;
	}
	return 0;
}

static bool tcp_bound(struct net *net, const union chs_addr *addr, u16 port)
{
	struct in6_addr addr6, any = IN6ADDR_ANY_INIT;

	if (chs_addr_is_v4(addr))
		return inet_lookup_listener(net, NULL, 0, 0, 0, addr->w[3],
					    htons(port), 0, 0);
	if (!IS_ENABLED(CONFIG_IPV6))
		return false;
	chs_addr_to_in6(&addr6, addr);
	return inet6_lookup_listener(net, NULL, 0, &any, 0, &addr6, port, 0, 0);
}

static struct sock *udp_v4(struct net *net, __be32 addr, __be16 port)
{
	/* The kernel has the function for those two only. */
#if IS_ENABLED(CONFIG_NF_TPROXY_IPV4) || IS_ENABLED(CONFIG_NF_SOCKET_IPV4)
	return udp4_lib_lookup(net, 0, 0, addr, port, 0);
#else
	return NULL;
#endif
}

static struct sock *udp_v6(struct net *net, const union chs_addr *addr,
			   __be16 port)
{
#if IS_ENABLED(CONFIG_NF_TPROXY_IPV6) || IS_ENABLED(CONFIG_NF_SOCKET_IPV6)
	struct in6_addr addr6, any = IN6ADDR_ANY_INIT;

	chs_addr_to_in6(&addr6, addr);
	return udp6_lib_lookup(net, &any, 0, &addr6, port, 0);
#else
	return NULL;
#endif
}

static bool udp_bound(struct net *net, const union chs_addr *addr, u16 port)
{
	struct sock *sk;

	sk = chs_addr_is_v4(addr) ? udp_v4(net, addr->w[3], htons(port)) :
				    udp_v6(net, addr, htons(port));
	if (sk)
		sock_put(sk);
	return sk;
}

/**
 * chs_socket_bound() - whether a socket of this host gets what is sent to ports
 * @net: network namespace
 * @proto: IPPROTO_TCP or IPPROTO_UDP; of SCTP nothing is known
 * @addr: address that it is sent to
 * @lo: first of the ports
 * @hi: last of them
 *
 * Such a socket listens, or is not connected, at that address or at any.
 *
 * Context: process; may sleep.
 * Return: the first port with such a socket; 0 if there is none.
 */
u16 chs_socket_bound(struct net *net, u8 proto, const union chs_addr *addr,
		     u16 lo, u16 hi)
{
	bool bound = false;
	u32 port;

	if (proto != IPPROTO_TCP && proto != IPPROTO_UDP)
		return 0;

	for (port = max_t(u32, lo, 1); port <= hi; port++) {
		rcu_read_lock();
		bound = proto == IPPROTO_TCP ? tcp_bound(net, addr, port) :
					       udp_bound(net, addr, port);
		rcu_read_unlock();
		if (bound)
			return port;
		cond_resched();
	}
	return 0;
}
