/* SPDX-License-Identifier: GPL-2.0-only */
/* When the hooks of a namespace are there. */
#ifndef CHS_HOOK_H
#define CHS_HOOK_H

struct chs_msg;
struct chs_net;
struct chs_table;

int chs_hook_require(struct chs_net *cn, const struct chs_table *table,
		     struct chs_msg *msg);
void chs_hook_relax(struct chs_net *cn);
void chs_hook_release(struct chs_net *cn);

#endif /* CHS_HOOK_H */
