/* SPDX-License-Identifier: GPL-2.0-only */
/* Mode nat: destination translation by nf_nat, flows kept by nf_conntrack. */
#ifndef CHS_NAT_H
#define CHS_NAT_H

#include <linux/types.h>

#include "steer.h"

struct chs_msg;
struct chs_net;
struct nf_conn;

int chs_nat_init(void);
void chs_nat_exit(void);

int chs_nat_require(struct chs_net *cn, const struct chs_table *table,
		    struct chs_msg *msg);
void chs_nat_relax(struct chs_net *cn);
void chs_nat_release(struct chs_net *cn);

bool chs_nat_tuple(const struct nf_conn *ct, struct chs_tuple *tuple);
const struct chs_backend *chs_nat_backend(const struct chs_service *svc,
					  const struct nf_conn *ct,
					  __be16 dport);
void chs_nat_lookup(struct net *net, const struct chs_tuple *tuple,
		    bool established, struct chs_verdict *verdict);

#endif /* CHS_NAT_H */
