/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/chsteer.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_CHSTEER_GEN_H
#define _LINUX_CHSTEER_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/chsteer.h>

/* Common nested types */
extern const struct nla_policy chsteer_backend_nl_policy[CHS_A_BACKEND_DELETE + 1];
extern const struct nla_policy chsteer_flow_nl_policy[CHS_A_FLOW_CT_ZONE + 1];
extern const struct nla_policy chsteer_service_nl_policy[CHS_A_SERVICE_FORCED + 1];

extern const struct nla_policy chsteer_service_new_nl_policy[CHS_A_SERVICE + 1];

extern const struct nla_policy chsteer_service_set_nl_policy[CHS_A_SERVICE + 1];

extern const struct nla_policy chsteer_service_del_nl_policy[CHS_A_SERVICE + 1];

extern const struct nla_policy chsteer_service_get_nl_policy[CHS_A_SERVICE + 1];

extern const struct nla_policy chsteer_backend_new_nl_policy[CHS_A_BACKEND + 1];

extern const struct nla_policy chsteer_backend_set_nl_policy[CHS_A_BACKEND + 1];

extern const struct nla_policy chsteer_backend_del_nl_policy[CHS_A_BACKEND + 1];

extern const struct nla_policy chsteer_backend_get_nl_policy[CHS_A_BACKEND + 1];

extern const struct nla_policy chsteer_ring_get_nl_policy[CHS_A_ARC + 1];

extern const struct nla_policy chsteer_lookup_nl_policy[CHS_A_FLOW + 1];

extern const struct nla_policy chsteer_flow_get_nl_policy[CHS_A_FLOW + 1];

extern const struct nla_policy chsteer_flow_flush_nl_policy[CHS_A_SERVICE + 1];

extern const struct nla_policy chsteer_txn_begin_nl_policy[CHS_A_FLAGS + 1];

extern const struct nla_policy chsteer_txn_commit_nl_policy[CHS_A_MAX_MOVE + 1];

extern const struct nla_policy chsteer_txn_abort_nl_policy[CHS_A_TXN + 1];

extern const struct nla_policy chsteer_flush_nl_policy[CHS_A_TXN + 1];

extern const struct nla_policy chsteer_info_get_nl_policy[CHS_A_FLAGS + 1];

/* Ops table for chsteer */
extern const struct genl_ops chsteer_nl_ops[17];

int chsteer_nl_service_new_doit(struct sk_buff *skb, struct genl_info *info);
int chsteer_nl_service_set_doit(struct sk_buff *skb, struct genl_info *info);
int chsteer_nl_service_del_doit(struct sk_buff *skb, struct genl_info *info);
int chsteer_nl_service_get_doit(struct sk_buff *skb, struct genl_info *info);
int chsteer_nl_service_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb);
int chsteer_nl_backend_new_doit(struct sk_buff *skb, struct genl_info *info);
int chsteer_nl_backend_set_doit(struct sk_buff *skb, struct genl_info *info);
int chsteer_nl_backend_del_doit(struct sk_buff *skb, struct genl_info *info);
int chsteer_nl_backend_get_doit(struct sk_buff *skb, struct genl_info *info);
int chsteer_nl_backend_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb);
int chsteer_nl_ring_get_doit(struct sk_buff *skb, struct genl_info *info);
int chsteer_nl_lookup_doit(struct sk_buff *skb, struct genl_info *info);
int chsteer_nl_flow_get_doit(struct sk_buff *skb, struct genl_info *info);
int chsteer_nl_flow_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int chsteer_nl_flow_flush_doit(struct sk_buff *skb, struct genl_info *info);
int chsteer_nl_txn_begin_doit(struct sk_buff *skb, struct genl_info *info);
int chsteer_nl_txn_commit_doit(struct sk_buff *skb, struct genl_info *info);
int chsteer_nl_txn_abort_doit(struct sk_buff *skb, struct genl_info *info);
int chsteer_nl_flush_doit(struct sk_buff *skb, struct genl_info *info);
int chsteer_nl_info_get_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	CHSTEER_NLGRP_EVENTS,
};

#endif /* _LINUX_CHSTEER_GEN_H */
