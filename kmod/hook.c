// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registration of the netfilter hooks of a namespace.
 *
 * Hooks of one namespace and family, while it has a service in mode nat:
 *
 * ============  ======================  =====================================
 * before        before conntrack        forgets a connection that has ended, for
 *                                       a SYN; has a reset believed after a
 *                                       flowtable; counts what has no room in
 *                                       the table
 * choose        NAT_DST - 1, nf_nat's   first packet of a flow: picks a
 *               own list                backend and hands it to nf_nat
 * masquerade    NAT_SRC - 1, nf_nat's   first packet: translates the source
 *               own list                too, where the service asks for it
 * guard         NAT_DST + 1             every packet: counts it, and refuses
 *                                       what nf_nat could not translate
 * demux         NAT_SRC + 1             replies to this host: takes away a
 *                                       socket that is not theirs
 * ============  ======================  =====================================
 *
 * and conntrack itself; and while it has a service in a direct mode:
 *
 * ============  ======================  =====================================
 * direct        after raw, before       every packet: takes it, if it is for
 *               conntrack               such a service
 * ============  ======================  =====================================
 *
 * Without such services nothing is registered, and a packet pays nothing.
 */
#include "hook.h"

#include "direct.h"
#include "msg.h"
#include "nat.h"
#include "netns.h"

#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/netfilter/nf_nat.h>

#define OPS(_pf, _hook, _hooknum, _priority) {				\
	.hook = _hook,							\
	.pf = _pf,							\
	.hooknum = _hooknum,						\
	.priority = _priority,						\
}

#define OPS_PLAIN(pf)							\
	OPS(pf, chs_nat_before, NF_INET_PRE_ROUTING,			\
	    NF_IP_PRI_CONNTRACK - 1),					\
	OPS(pf, chs_nat_before, NF_INET_LOCAL_OUT,			\
	    NF_IP_PRI_CONNTRACK - 1),					\
	OPS(pf, chs_nat_guard, NF_INET_PRE_ROUTING,			\
	    NF_IP_PRI_NAT_DST + 1),					\
	OPS(pf, chs_nat_guard, NF_INET_LOCAL_OUT,			\
	    NF_IP_PRI_NAT_DST + 1),					\
	OPS(pf, chs_nat_demux, NF_INET_LOCAL_IN,			\
	    NF_IP_PRI_NAT_SRC + 1)

#define OPS_DIRECT(pf, hook)						\
	OPS(pf, hook, NF_INET_PRE_ROUTING, NF_IP_PRI_CONNTRACK - 2),	\
	OPS(pf, hook, NF_INET_LOCAL_OUT, NF_IP_PRI_CONNTRACK - 2)

/* Ahead of nftables' and iptables' own translations of the same packet. */
#define OPS_NAT(pf)							\
	OPS(pf, chs_nat_choose, NF_INET_PRE_ROUTING,			\
	    NF_IP_PRI_NAT_DST - 1),					\
	OPS(pf, chs_nat_choose, NF_INET_LOCAL_OUT,			\
	    NF_IP_PRI_NAT_DST - 1),					\
	OPS(pf, chs_nat_masquerade, NF_INET_POST_ROUTING,		\
	    NF_IP_PRI_NAT_SRC - 1)

/**
 * struct family - the hooks of one family
 * @pf: NFPROTO_*
 * @add: nf_nat's function that adds to its list
 * @del: and that removes
 * @hooks: the hooks, but for the namespace
 *
 * The priorities of IPv4 and IPv6 are the same numbers.
 */
struct family {
	u8 pf;
	int (*add)(struct net *net, const struct nf_hook_ops *ops);
	void (*del)(struct net *net, const struct nf_hook_ops *ops);
	struct chs_hooks hooks;
};

static const struct family families[2] = {
	{
		.pf = NFPROTO_IPV4,
		.add = nf_nat_ipv4_register_fn,
		.del = nf_nat_ipv4_unregister_fn,
		.hooks.plain = { OPS_PLAIN(NFPROTO_IPV4) },
		.hooks.nat = { OPS_NAT(NFPROTO_IPV4) },
		.hooks.direct = { OPS_DIRECT(NFPROTO_IPV4, chs_direct_v4) },
	},
	{
		.pf = NFPROTO_IPV6,
		.add = nf_nat_ipv6_register_fn,
		.del = nf_nat_ipv6_unregister_fn,
		.hooks.plain = { OPS_PLAIN(NFPROTO_IPV6) },
		.hooks.nat = { OPS_NAT(NFPROTO_IPV6) },
		.hooks.direct = { OPS_DIRECT(NFPROTO_IPV6, chs_direct_v6) },
	},
};

static_assert((int)NF_IP_PRI_CONNTRACK == (int)NF_IP6_PRI_CONNTRACK &&
	      (int)NF_IP_PRI_NAT_DST == (int)NF_IP6_PRI_NAT_DST &&
	      (int)NF_IP_PRI_NAT_SRC == (int)NF_IP6_PRI_NAT_SRC);

/**
 * chs_hook_init() - have hooks, none of them registered
 * @cn: namespace
 *
 * Context: process.
 */
void chs_hook_init(struct chs_net *cn)
{
	struct chs_hooks *hooks;
	unsigned int v6, i;

	for (v6 = 0; v6 < ARRAY_SIZE(families); v6++) {
		cn->hooks[v6] = families[v6].hooks;
		hooks = &cn->hooks[v6];
		for (i = 0; i < ARRAY_SIZE(hooks->plain); i++)
			hooks->plain[i].priv = cn;
		for (i = 0; i < ARRAY_SIZE(hooks->nat); i++)
			hooks->nat[i].priv = cn;
		for (i = 0; i < ARRAY_SIZE(hooks->direct); i++)
			hooks->direct[i].priv = cn;
	}
}

static void nat_unhook(struct chs_net *cn, unsigned int v6, unsigned int n_nat)
{
	while (n_nat)
		families[v6].del(cn->net, &cn->hooks[v6].nat[--n_nat]);
}

static int nat_hook(struct chs_net *cn, unsigned int v6)
{
	const struct family *family = &families[v6];
	const struct chs_hooks *hooks = &cn->hooks[v6];
	unsigned int i;
	int err;

	err = nf_ct_netns_get(cn->net, family->pf);
	if (err)
		return err;

	for (i = 0; i < ARRAY_SIZE(hooks->nat); i++) {
		err = family->add(cn->net, &hooks->nat[i]);
		if (err)
			goto err_nat;
	}

	err = nf_register_net_hooks(cn->net, hooks->plain,
				    ARRAY_SIZE(hooks->plain));
	if (err)
		goto err_nat;
	return 0;

err_nat:
	nat_unhook(cn, v6, i);
	nf_ct_netns_put(cn->net, family->pf);
	return err;
}

static void nat_release(struct chs_net *cn, unsigned int v6)
{
	const struct chs_hooks *hooks = &cn->hooks[v6];

	if (!cn->nat_hooked[v6])
		return;
	nf_unregister_net_hooks(cn->net, hooks->plain,
				ARRAY_SIZE(hooks->plain));
	nat_unhook(cn, v6, ARRAY_SIZE(hooks->nat));
	nf_ct_netns_put(cn->net, families[v6].pf);
	cn->nat_hooked[v6] = false;
}

static void direct_release(struct chs_net *cn, unsigned int v6)
{
	const struct chs_hooks *hooks = &cn->hooks[v6];

	if (!cn->direct_hooked[v6])
		return;
	nf_unregister_net_hooks(cn->net, hooks->direct,
				ARRAY_SIZE(hooks->direct));
	cn->direct_hooked[v6] = false;
}

static int require(struct chs_net *cn, const struct chs_table *table,
		   unsigned int v6, struct chs_msg *msg)
{
	const struct chs_hooks *hooks = &cn->hooks[v6];
	int err;

	if (table->n_nat[v6] && !cn->nat_hooked[v6]) {
		err = nat_hook(cn, v6);
		if (err)
			return chs_msg_fail(msg, err, NULL,
					    "mode nat: connection tracking or NAT of IPv%c cannot be had: error %d",
					    v6 ? '6' : '4', err);
		cn->nat_hooked[v6] = true;
	}
	if (table->n_direct[v6] && !cn->direct_hooked[v6]) {
		err = nf_register_net_hooks(cn->net, hooks->direct,
					    ARRAY_SIZE(hooks->direct));
		if (err)
			return chs_msg_fail(msg, err, NULL,
					    "hooks of IPv%c cannot be had: error %d",
					    v6 ? '6' : '4', err);
		cn->direct_hooked[v6] = true;
	}
	return 0;
}

/**
 * chs_hook_require() - have the hooks that a table will need
 * @cn: namespace
 * @table: table about to be published
 * @msg: reason of a failure
 *
 * Context: process; may sleep; @cn's lock held.
 * Return: 0 or what netfilter says, with the hooks as they were.
 */
int chs_hook_require(struct chs_net *cn, const struct chs_table *table,
		     struct chs_msg *msg)
{
	unsigned int v6;
	int err;

	for (v6 = 0; v6 < 2; v6++) {
		err = require(cn, table, v6, msg);
		if (err) {
			chs_hook_relax(cn);
			return err;
		}
	}
	return 0;
}

/**
 * chs_hook_relax() - give up the hooks that the table in force does not need
 * @cn: namespace
 *
 * Context: process; may sleep; @cn's lock held.
 */
void chs_hook_relax(struct chs_net *cn)
{
	const struct chs_table *table = chs_net_table(cn);
	unsigned int v6;

	for (v6 = 0; v6 < 2; v6++) {
		if (!table->n_nat[v6])
			nat_release(cn, v6);
		if (!table->n_direct[v6])
			direct_release(cn, v6);
	}
}

/**
 * chs_hook_release() - give up all hooks
 * @cn: namespace that goes
 *
 * Connections stay: they are conntrack's, and still good if the module is only
 * replaced.
 *
 * Context: process; may sleep; @cn's lock held.
 */
void chs_hook_release(struct chs_net *cn)
{
	unsigned int v6;

	for (v6 = 0; v6 < 2; v6++) {
		nat_release(cn, v6);
		direct_release(cn, v6);
	}
}
