// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parsing, transactions and answers that all requests of the netlink family
 * share.
 */
#include "netlink.h"

#include "netlink_gen.h"
#include "netns.h"

#include <linux/ctype.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/ipv6.h>

/**
 * chs_nl_attr() - attribute that only some requests have
 * @info: any request
 * @type: attribute
 *
 * The array in @info is as long as the policy of its own request.
 *
 * Context: any.
 * Return: the attribute, or NULL.
 */
struct nlattr *chs_nl_attr(const struct genl_info *info, int type)
{
	return nlmsg_find_attr(info->nlhdr, GENL_HDRLEN, type);
}

/**
 * chs_nl_parse() - take a nest apart
 * @tb: where its attributes go, all NULL if @attr is
 * @max: highest attribute
 * @attr: the nest, or NULL
 * @policy: what is allowed in it
 * @msg: reason of a failure
 *
 * Context: process.
 * Return: 0 or -EINVAL.
 */
int chs_nl_parse(struct nlattr **tb, int max, const struct nlattr *attr,
		 const struct nla_policy *policy, struct chs_msg *msg)
{
	struct netlink_ext_ack extack = {};
	int err;

	memset(tb, 0, (max + 1) * sizeof(*tb));
	if (!attr)
		return 0;

	err = nla_parse_nested(tb, max, attr, policy, &extack);
	if (err)
		return chs_msg_fail(msg, err, extack.bad_attr, "%s",
				    extack._msg ?: "malformed attribute");
	return 0;
}

/**
 * chs_nl_number() - a number within bounds
 * @attr: u8 or u32 attribute, or NULL
 * @what: its name
 * @min: least
 * @max: most
 * @to: where it goes; as it was if there is no attribute
 * @msg: reason of a failure
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int chs_nl_number(const struct nlattr *attr, const char *what, u32 min,
		  u32 max, u32 *to, struct chs_msg *msg)
{
	u32 value;

	if (!attr)
		return 0;

	value = nla_len(attr) == sizeof(u8) ? nla_get_u8(attr) :
					      nla_get_u32(attr);
	if (value < min || value > max)
		return chs_msg_fail(msg, -EINVAL, attr,
				    "%s %u is not between %u and %u", what,
				    value, min, max);
	*to = value;
	return 0;
}

/*
 * With ipv6.disable=1 the protocol is built in and has never begun: it has no
 * tables, and nothing that asks them may be reached. Every IPv6 address that the
 * module knows of is one that a request has named.
 */
static int check_v6(const struct nlattr *attr, const char *what,
		    const union chs_addr *addr, struct chs_msg *msg)
{
	char buf[CHS_ENDPOINT_STRLEN];

	if (ipv6_mod_enabled())
		return 0;
	return chs_msg_fail(msg, -EAFNOSUPPORT, attr,
			    "%s %s is IPv6, which this kernel has disabled (ipv6.disable=1)",
			    what, chs_addr_str(buf, addr));
}

/**
 * chs_nl_address() - any address
 * @attr: attribute of 4 or 16 bytes
 * @what: its name
 * @addr: where it goes
 * @msg: reason of a failure
 *
 * Context: any.
 * Return: 0, -EINVAL, or -EAFNOSUPPORT for IPv6 where the kernel has none.
 */
int chs_nl_address(const struct nlattr *attr, const char *what,
		   union chs_addr *addr, struct chs_msg *msg)
{
	char buf[CHS_ENDPOINT_STRLEN];

	switch (nla_len(attr)) {
	case 4:
		chs_addr_set_v4(addr, nla_get_in_addr(attr));
		return 0;
	case 16:
		memcpy(addr->b, nla_data(attr), sizeof(addr->b));
		if (!chs_addr_is_v4(addr))
			return check_v6(attr, what, addr, msg);
		return chs_msg_fail(msg, -EINVAL, attr,
				    "%s ::ffff:%s is a v4-mapped address: give the IPv4 address itself",
				    what, chs_addr_str(buf, addr));
	default:
		return chs_msg_fail(msg, -EINVAL, attr,
				    "%s has %d bytes, not 4 or 16", what,
				    nla_len(attr));
	}
}

static const char *unfit_v4(__be32 addr)
{
	if (ipv4_is_zeronet(addr))
		return "unspecified";
	if (ipv4_is_loopback(addr))
		return "a loopback";
	if (ipv4_is_multicast(addr))
		return "a multicast";
	if (ipv4_is_lbcast(addr))
		return "the broadcast";
	if (ipv4_is_linklocal_169(addr))
		return "a link-local";
	return NULL;
}

static const char *unfit_v6(const union chs_addr *addr)
{
	struct in6_addr in6;

	memcpy(&in6, addr->b, sizeof(in6));
	if (ipv6_addr_any(&in6))
		return "unspecified";
	if (ipv6_addr_loopback(&in6))
		return "a loopback";
	if (ipv6_addr_is_multicast(&in6))
		return "a multicast";
	if (ipv6_addr_type(&in6) & IPV6_ADDR_LINKLOCAL)
		return "a link-local";
	return NULL;
}

/**
 * chs_nl_host() - address that a service or a backend may have
 * @attr: attribute of 4 or 16 bytes
 * @what: its name
 * @addr: where it goes
 * @msg: reason of a failure
 *
 * Context: any.
 * Return: 0, -EINVAL, or -EAFNOSUPPORT for IPv6 where the kernel has none.
 */
int chs_nl_host(const struct nlattr *attr, const char *what,
		union chs_addr *addr, struct chs_msg *msg)
{
	char buf[CHS_ENDPOINT_STRLEN];
	const char *unfit;
	int err;

	err = chs_nl_address(attr, what, addr, msg);
	if (err)
		return err;

	unfit = chs_addr_is_v4(addr) ? unfit_v4(addr->w[3]) : unfit_v6(addr);
	if (unfit)
		return chs_msg_fail(msg, -EINVAL, attr, "%s %s is %s address",
				    what, chs_addr_str(buf, addr),
				    strcmp(unfit, "unspecified") ?
				    unfit : "an unspecified");
	return 0;
}

static bool is_label_char(char c, bool name)
{
	if (name)
		return isascii(c) && (isalnum(c) || strchr("._-", c));
	return isascii(c) && isgraph(c);
}

/**
 * chs_nl_label() - a short string
 * @attr: string attribute
 * @what: its name
 * @name: allow only what a service's name may hold
 * @to: where it goes
 * @size: of @to
 * @msg: reason of a failure
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int chs_nl_label(const struct nlattr *attr, const char *what, bool name,
		 char *to, size_t size, struct chs_msg *msg)
{
	const char *text = nla_data(attr);
	size_t len = strnlen(text, nla_len(attr));
	size_t i;

	if (len >= size)
		return chs_msg_fail(msg, -EINVAL, attr,
				    "%s '%.*s...' has %zu characters, more than %zu",
				    what, (int)min_t(size_t, len, 64), text,
				    len, size - 1);
	for (i = 0; i < len; i++) {
		if (!is_label_char(text[i], name))
			return chs_msg_fail(msg, -EINVAL, attr,
					    "%s '%*pE' may not hold character %#x",
					    what, (int)len, text, (u8)text[i]);
	}
	if (name && !len)
		return chs_msg_fail(msg, -EINVAL, attr, "%s is empty", what);
	if (name && !isalnum(text[0]))
		return chs_msg_fail(msg, -EINVAL, attr,
				    "%s '%.*s' does not begin with a letter or digit",
				    what, (int)len, text);

	memcpy(to, text, len);
	to[len] = '\0';
	return 0;
}

/**
 * chs_nl_missing() - refuse for want of an attribute
 * @nest: nest that ought to hold it, or NULL for the request itself
 * @what: its name
 * @msg: where the reason goes
 *
 * Context: any.
 * Return: -EINVAL.
 */
int chs_nl_missing(const struct nlattr *nest, const char *what,
		   struct chs_msg *msg)
{
	return chs_msg_fail(msg, -EINVAL, nest, "%s is missing", what);
}

/**
 * chs_nl_name() - name of the service that a request is about
 * @req: request
 * @name: CHS_NAME_LEN bytes
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int chs_nl_name(struct chs_request *req, char *name)
{
	const struct nlattr *attr = req->service[CHS_A_SERVICE_NAME];

	if (!attr)
		return chs_nl_missing(chs_nl_attr(req->info, CHS_A_SERVICE),
				      "service name", &req->msg);
	return chs_nl_label(attr, "service name", true, name, CHS_NAME_LEN,
			    &req->msg);
}

/**
 * chs_nl_service() - service that a request is about
 * @req: request
 * @svc: where it goes, as the request's transaction or the reader sees it
 *
 * Context: under RCU, or with the namespace's lock held.
 * Return: 0, -EINVAL or -ENOENT.
 */
int chs_nl_service(struct chs_request *req, struct chs_service **svc)
{
	char name[CHS_NAME_LEN];
	int err;

	err = chs_nl_name(req, name);
	if (err)
		return err;

	*svc = chs_table_find(req->txn ? chs_txn_table(req->cn, req->txn) :
					 req->table, name);
	if (!*svc)
		return chs_msg_fail(&req->msg, -ENOENT,
				    req->service[CHS_A_SERVICE_NAME],
				    "no service '%s'", name);
	return 0;
}

static int find_txn(struct chs_request *req)
{
	const struct nlattr *attr = chs_nl_attr(req->info, CHS_A_TXN);

	if (!attr) {
		chs_txn_init(req->cn, &req->own);
		req->txn = &req->own;
		return 0;
	}

	req->txn = chs_txn_find(req->cn, req->info->snd_portid,
				nla_get_u32(attr));
	if (!req->txn)
		return chs_msg_fail(&req->msg, -ENOENT, attr,
				    "this socket has no transaction %u",
				    nla_get_u32(attr));
	if (req->txn->base != chs_net_table(req->cn)->generation)
		return chs_msg_fail(&req->msg, -EBUSY, attr,
				    "the configuration has changed since transaction %u began",
				    nla_get_u32(attr));
	if (req->txn->tried && req->info->genlhdr->cmd != CHS_CMD_TXN_ABORT)
		return chs_msg_fail(&req->msg, -EINVAL, attr,
				    "transaction %u has had its dry run and takes no more changes",
				    nla_get_u32(attr));
	return 0;
}

/* A transaction that has been refused anything has lost its sense. */
static void end_txn(struct chs_request *req, int err)
{
	if (req->txn == &req->own)
		chs_txn_fini(req->txn);
	else if (req->txn && (err || req->ends_txn))
		chs_txn_close(req->cn, req->txn);
}

static int run_change(struct chs_request *req,
		      int (*change)(struct chs_request *req))
{
	int err;

	if (mutex_lock_killable(&req->cn->lock))
		return -EINTR;
	err = find_txn(req);
	if (!err)
		err = change(req);
	if (!err && req->txn == &req->own)
		err = chs_txn_commit(req->cn, req->txn, false, NULL,
				     &req->msg);
	end_txn(req, err);
	mutex_unlock(&req->cn->lock);
	return err;
}

/* Allocate the state of a request. */
static struct chs_request *request_alloc(struct sk_buff *skb,
					 struct genl_info *info)
{
	struct chs_request *req = kzalloc(sizeof(*req), GFP_KERNEL_ACCOUNT);

	if (!req)
		return NULL;

	req->cn = chs_net(genl_info_net(info));
	req->skb = skb;
	req->info = info;
	return req;
}

static int request_parse(struct chs_request *req, u32 flags)
{
	const struct nlattr *attr = chs_nl_attr(req->info, CHS_A_FLAGS);

	req->flags = attr ? nla_get_u32(attr) : 0;
	if (req->flags & ~flags)
		return chs_msg_fail(&req->msg, -EINVAL, attr,
				    "flags %#x mean nothing to this request",
				    req->flags & ~flags);

	return chs_nl_parse(req->service, CHS_A_SERVICE_MAX,
			    chs_nl_attr(req->info, CHS_A_SERVICE),
			    chsteer_service_nl_policy, &req->msg);
}

static int request_end(struct chs_request *req, int err)
{
	if (req->reply && err) {
		nlmsg_free(req->reply);
	} else if (req->reply) {
		genlmsg_end(req->reply, req->head);
		err = genlmsg_reply(req->reply, req->info);
	}
	err = chs_msg_ack(req->skb, req->info, err, &req->msg);
	kfree(req);
	return err;
}

/**
 * chs_nl_change() - carry out a request that changes something
 * @skb: its buffer
 * @info: the request
 * @flags: enum chsteer_flag bits that mean something to it
 * @change: stages it in its transaction; may make a reply
 *
 * Context: process; may sleep; @change is called with the namespace's lock
 *	held.
 * Return: what the handler of a request returns.
 */
int chs_nl_change(struct sk_buff *skb, struct genl_info *info, u32 flags,
		  int (*change)(struct chs_request *req))
{
	struct chs_request *req = request_alloc(skb, info);
	int err;

	if (!req)
		return -ENOMEM;

	err = request_parse(req, flags);
	if (!err)
		err = run_change(req, change);
	return request_end(req, err);
}

static int tried_table(struct chs_net *cn, u32 portid, u32 id,
		       const struct chs_table **table, const char **why)
{
	const struct chs_txn *txn = chs_txn_find(cn, portid, id);

	if (!txn) {
		*why = "this socket has no such transaction";
		return -ENOENT;
	}
	/* Its shadow shares what the table that it was made of holds. */
	if (txn->base != chs_net_table(cn)->generation) {
		*why = "the configuration has changed since the transaction began";
		return -EBUSY;
	}
	/* Rings of a transaction exist only after a dry run. */
	if (!txn->tried) {
		*why = "the transaction has had no dry run";
		return -EINVAL;
	}
	*table = chs_txn_table(cn, txn);
	return 0;
}

/**
 * chs_nl_table_begin() - have the services that a message asks about
 * @cn: namespace
 * @portid: netlink port that asks
 * @attr: CHS_A_TXN, or NULL for those in force
 * @table: where they go; they stay until chs_nl_table_end(), which is due also
 *	after a failure
 * @why: sentence for that
 *
 * Context: process; may sleep; leaves it in an RCU read section.
 * Return: 0, -ENOENT, -EBUSY or -EINVAL.
 */
int chs_nl_table_begin(struct chs_net *cn, u32 portid,
		       const struct nlattr *attr,
		       const struct chs_table **table, const char **why)
	__acquires(RCU)
{
	if (attr)
		mutex_lock(&cn->lock);
	rcu_read_lock();
	if (attr)
		return tried_table(cn, portid, nla_get_u32(attr), table, why);

	*table = rcu_dereference(cn->table);
	return 0;
}

/**
 * chs_nl_table_end() - be done with what chs_nl_table_begin() gave
 * @cn: namespace
 * @attr: as given there
 *
 * Context: process.
 */
void chs_nl_table_end(struct chs_net *cn, const struct nlattr *attr)
	__releases(RCU)
{
	rcu_read_unlock();
	if (attr)
		mutex_unlock(&cn->lock);
}

/**
 * chs_nl_answer() - carry out a request that asks something
 * @skb: its buffer
 * @info: the request
 * @flags: enum chsteer_flag bits that mean something to it
 * @answer: fills in the reply
 *
 * Context: process; may sleep; @answer is called under RCU.
 * Return: what the handler of a request returns.
 */
int chs_nl_answer(struct sk_buff *skb, struct genl_info *info, u32 flags,
		  int (*answer)(struct chs_request *req))
{
	const struct nlattr *txn = chs_nl_attr(info, CHS_A_TXN);
	struct chs_request *req = request_alloc(skb, info);
	const char *why;
	int err;

	if (!req)
		return -ENOMEM;

	err = request_parse(req, flags);
	if (!err)
		err = chs_nl_reply(req);
	if (!err) {
		err = chs_nl_table_begin(req->cn, info->snd_portid, txn,
					 &req->table, &why);
		if (err)
			chs_msg_fail(&req->msg, err, txn, "%s", why);
		else
			err = answer(req);
		chs_nl_table_end(req->cn, txn);
	}
	return request_end(req, err);
}
