/* SPDX-License-Identifier: GPL-2.0-only */
/* The netlink family: requests are checked here and nowhere else. */
#ifndef CHS_NETLINK_H
#define CHS_NETLINK_H

#include <linux/chsteer.h>
#include <linux/netlink.h>
#include <linux/types.h>

#include "msg.h"
#include "ring.h"
#include "txn.h"

struct chs_backend;
struct chs_flow;
struct chs_net;
struct chs_service;
struct chs_table;
struct genl_info;

/**
 * struct chs_request - a request
 * @cn: namespace
 * @skb: buffer that it came in
 * @info: the request as genetlink has it
 * @flags: enum chsteer_flag bits
 * @service: attributes of CHS_A_SERVICE, all NULL if it is absent
 * @table: services that a request is about that asks
 * @txn: transaction of one that changes something: @own or an open one
 * @own: transaction of a request that stands alone
 * @ends_txn: an open transaction ends with it
 * @reply: message that goes back if it is granted, or NULL
 * @head: what genlmsg_end() wants for @reply
 * @msg: why it is refused, or warnings
 */
struct chs_request {
	struct chs_net *cn;
	struct sk_buff *skb;
	struct genl_info *info;
	u32 flags;
	struct nlattr *service[CHS_A_SERVICE_MAX + 1];
	const struct chs_table *table;
	struct chs_txn *txn;
	struct chs_txn own;
	bool ends_txn;
	struct sk_buff *reply;
	void *head;
	struct chs_msg msg;
};

/* Whether it is of a transaction that says what is to be, not what to change. */
static inline bool chs_nl_says_all(const struct chs_request *req)
{
	return req->txn != &req->own && (req->flags & CHS_FLAG_REPLACE);
}

int chs_netlink_init(void);
void chs_netlink_exit(void);
int chs_nl_reply(struct chs_request *req);
void chs_nl_dump_begin(struct netlink_callback *cb, u64 generation);
int chs_nl_dump_table_begin(struct chs_net *cn, struct netlink_callback *cb,
			    const struct chs_table **table)
	__acquires(RCU);
void chs_nl_dump_table_end(struct chs_net *cn, struct netlink_callback *cb)
	__releases(RCU);
int chs_nl_dump_filter(struct netlink_callback *cb,
		       const struct chs_table *table, int refused,
		       const char *why, const struct chs_service **svc);
void *chs_nl_dump_put(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);
bool chs_nl_may_see_seed(const struct sk_buff *skb,
			 const struct chs_service *svc);

/* netlink_request.c */
int chs_nl_change(struct sk_buff *skb, struct genl_info *info, u32 flags,
		  int (*change)(struct chs_request *req));
int chs_nl_answer(struct sk_buff *skb, struct genl_info *info, u32 flags,
		  int (*answer)(struct chs_request *req));
int chs_nl_table_begin(struct chs_net *cn, u32 portid,
		       const struct nlattr *attr,
		       const struct chs_table **table, const char **why)
	__acquires(RCU);
void chs_nl_table_end(struct chs_net *cn, const struct nlattr *attr)
	__releases(RCU);
struct nlattr *chs_nl_attr(const struct genl_info *info, int type);
int chs_nl_parse(struct nlattr **tb, int max, const struct nlattr *attr,
		 const struct nla_policy *policy, struct chs_msg *msg);
int chs_nl_number(const struct nlattr *attr, const char *what, u32 min,
		  u32 max, u32 *to, struct chs_msg *msg);
int chs_nl_address(const struct nlattr *attr, const char *what,
		   union chs_addr *addr, struct chs_msg *msg);
int chs_nl_host(const struct nlattr *attr, const char *what,
		union chs_addr *addr, struct chs_msg *msg);
int chs_nl_label(const struct nlattr *attr, const char *what, bool name,
		 char *to, size_t size, struct chs_msg *msg);
int chs_nl_missing(const struct nlattr *nest, const char *what,
		   struct chs_msg *msg);
int chs_nl_name(struct chs_request *req, char *name);
int chs_nl_service(struct chs_request *req, struct chs_service **svc);

/* netlink_service.c */
const char *chs_nl_mode_name(u8 mode);

/* netlink_lookup.c */
int chs_nl_flow(struct chs_request *req, struct chs_tuple *tuple, s32 *vrf,
		s32 *zone);

/* netlink_put.c */
int chs_nl_put_address(struct sk_buff *skb, int attr,
		       const union chs_addr *addr);
int chs_nl_put_name(struct sk_buff *skb, const char *name);
int chs_nl_put_flow(struct sk_buff *skb, const struct chs_service *svc,
		    const struct chs_flow *flow);
int chs_nl_put_service(struct sk_buff *skb, const struct chs_service *svc,
		       bool seed);
int chs_nl_put_service_status(struct sk_buff *skb,
			      const struct chs_service *svc);
int chs_nl_put_backend(struct sk_buff *skb, const struct chs_service *svc,
		       const struct chs_backend *backend);

#endif /* CHS_NETLINK_H */
