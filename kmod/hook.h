/* SPDX-License-Identifier: GPL-2.0-only */
/* When the hooks of a namespace are there. */
#ifndef CHS_HOOK_H
#define CHS_HOOK_H

#include <linux/netfilter.h>

struct chs_msg;
struct chs_net;
struct chs_table;

/**
 * struct chs_hooks - the hooks of a family in a namespace
 * @plain: mode nat: hooks of netfilter's own
 * @nat: mode nat: hooks in nf_nat's list
 * @direct: direct modes
 *
 * Each is called with the struct chs_net: to look that up would cost a packet
 * more than to find out that it is for nobody here.
 */
struct chs_hooks {
	struct nf_hook_ops plain[5];
	struct nf_hook_ops nat[3];
	struct nf_hook_ops direct[2];
};

void chs_hook_init(struct chs_net *cn);
int chs_hook_require(struct chs_net *cn, const struct chs_table *table,
		     struct chs_msg *msg);
void chs_hook_relax(struct chs_net *cn);
void chs_hook_release(struct chs_net *cn);

#endif /* CHS_HOOK_H */
