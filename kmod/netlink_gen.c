// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/chsteer.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/chsteer.h>

/* Common nested types */
const struct nla_policy chsteer_backend_nl_policy[CHS_A_BACKEND_DELETE + 1] = {
	[CHS_A_BACKEND_ADDRESS] = { .type = NLA_BINARY, },
	[CHS_A_BACKEND_PORT] = { .type = NLA_U16, },
	[CHS_A_BACKEND_WEIGHT] = { .type = NLA_U32, },
	[CHS_A_BACKEND_STATE] = { .type = NLA_U8, },
	[CHS_A_BACKEND_ZONE] = { .type = NLA_NUL_STRING, },
	[CHS_A_BACKEND_DEADLINE] = { .type = NLA_U32, },
	[CHS_A_BACKEND_DELETE] = { .type = NLA_FLAG, },
};

const struct nla_policy chsteer_flow_nl_policy[CHS_A_FLOW_CT_ZONE + 1] = {
	[CHS_A_FLOW_PROTO] = { .type = NLA_U8, },
	[CHS_A_FLOW_SADDR] = { .type = NLA_BINARY, },
	[CHS_A_FLOW_DADDR] = { .type = NLA_BINARY, },
	[CHS_A_FLOW_SPORT] = { .type = NLA_U16, },
	[CHS_A_FLOW_DPORT] = { .type = NLA_U16, },
	[CHS_A_FLOW_VRF] = { .type = NLA_NUL_STRING, },
	[CHS_A_FLOW_CT_ZONE] = { .type = NLA_U32, },
};

const struct nla_policy chsteer_service_nl_policy[CHS_A_SERVICE_FORCED + 1] = {
	[CHS_A_SERVICE_NAME] = { .type = NLA_NUL_STRING, },
	[CHS_A_SERVICE_PROTO] = { .type = NLA_U8, },
	[CHS_A_SERVICE_ADDRESS] = { .type = NLA_BINARY, },
	[CHS_A_SERVICE_PORT] = { .type = NLA_U16, },
	[CHS_A_SERVICE_PORT_END] = { .type = NLA_U16, },
	[CHS_A_SERVICE_ANY_PORT] = { .type = NLA_FLAG, },
	[CHS_A_SERVICE_MODE] = { .type = NLA_U8, },
	[CHS_A_SERVICE_HASH] = { .type = NLA_U8, },
	[CHS_A_SERVICE_POINTS] = { .type = NLA_U32, },
	[CHS_A_SERVICE_UNIT] = { .type = NLA_U32, },
	[CHS_A_SERVICE_SLOTS] = { .type = NLA_U32, },
	[CHS_A_SERVICE_BALANCE] = { .type = NLA_U32, },
	[CHS_A_SERVICE_SEED] = { .type = NLA_BINARY, },
	[CHS_A_SERVICE_ON_EMPTY] = { .type = NLA_U8, },
	[CHS_A_SERVICE_MASQUERADE] = { .type = NLA_U8, },
	[CHS_A_SERVICE_AFFINITY] = { .type = NLA_U8, },
	[CHS_A_SERVICE_WINDOW] = { .type = NLA_U32, },
	[CHS_A_SERVICE_MAX_FLOWS] = { .type = NLA_U32, },
	[CHS_A_SERVICE_TIMEOUT] = { .type = NLA_U32, },
	[CHS_A_SERVICE_GUE_PORT] = { .type = NLA_U16, },
	[CHS_A_SERVICE_SOURCE] = { .type = NLA_BINARY, },
	[CHS_A_SERVICE_VRF] = { .type = NLA_NUL_STRING, },
	[CHS_A_SERVICE_FORCED] = { .type = NLA_FLAG, },
};

/* CHS_CMD_SERVICE_NEW - do */
const struct nla_policy chsteer_service_new_nl_policy[CHS_A_SERVICE + 1] = {
	[CHS_A_TXN] = { .type = NLA_U32, },
	[CHS_A_FLAGS] = { .type = NLA_U32, },
	[CHS_A_SERVICE] = NLA_POLICY_NESTED(chsteer_service_nl_policy),
};

/* CHS_CMD_SERVICE_SET - do */
const struct nla_policy chsteer_service_set_nl_policy[CHS_A_SERVICE + 1] = {
	[CHS_A_TXN] = { .type = NLA_U32, },
	[CHS_A_SERVICE] = NLA_POLICY_NESTED(chsteer_service_nl_policy),
};

/* CHS_CMD_SERVICE_DEL - do */
const struct nla_policy chsteer_service_del_nl_policy[CHS_A_SERVICE + 1] = {
	[CHS_A_TXN] = { .type = NLA_U32, },
	[CHS_A_FLAGS] = { .type = NLA_U32, },
	[CHS_A_SERVICE] = NLA_POLICY_NESTED(chsteer_service_nl_policy),
};

/* CHS_CMD_SERVICE_GET - do */
const struct nla_policy chsteer_service_get_nl_policy[CHS_A_SERVICE + 1] = {
	[CHS_A_TXN] = { .type = NLA_U32, },
	[CHS_A_SERVICE] = NLA_POLICY_NESTED(chsteer_service_nl_policy),
};

/* CHS_CMD_BACKEND_NEW - do */
const struct nla_policy chsteer_backend_new_nl_policy[CHS_A_BACKEND + 1] = {
	[CHS_A_TXN] = { .type = NLA_U32, },
	[CHS_A_FLAGS] = { .type = NLA_U32, },
	[CHS_A_SERVICE] = NLA_POLICY_NESTED(chsteer_service_nl_policy),
	[CHS_A_BACKEND] = NLA_POLICY_NESTED(chsteer_backend_nl_policy),
};

/* CHS_CMD_BACKEND_SET - do */
const struct nla_policy chsteer_backend_set_nl_policy[CHS_A_BACKEND + 1] = {
	[CHS_A_TXN] = { .type = NLA_U32, },
	[CHS_A_SERVICE] = NLA_POLICY_NESTED(chsteer_service_nl_policy),
	[CHS_A_BACKEND] = NLA_POLICY_NESTED(chsteer_backend_nl_policy),
};

/* CHS_CMD_BACKEND_DEL - do */
const struct nla_policy chsteer_backend_del_nl_policy[CHS_A_BACKEND + 1] = {
	[CHS_A_TXN] = { .type = NLA_U32, },
	[CHS_A_FLAGS] = { .type = NLA_U32, },
	[CHS_A_SERVICE] = NLA_POLICY_NESTED(chsteer_service_nl_policy),
	[CHS_A_BACKEND] = NLA_POLICY_NESTED(chsteer_backend_nl_policy),
};

/* CHS_CMD_BACKEND_GET - do */
const struct nla_policy chsteer_backend_get_nl_policy[CHS_A_BACKEND + 1] = {
	[CHS_A_TXN] = { .type = NLA_U32, },
	[CHS_A_SERVICE] = NLA_POLICY_NESTED(chsteer_service_nl_policy),
	[CHS_A_BACKEND] = NLA_POLICY_NESTED(chsteer_backend_nl_policy),
};

/* CHS_CMD_RING_GET - do */
const struct nla_policy chsteer_ring_get_nl_policy[CHS_A_ARC + 1] = {
	[CHS_A_SERVICE] = NLA_POLICY_NESTED(chsteer_service_nl_policy),
	[CHS_A_ARC] = { .type = NLA_U32, },
};

/* CHS_CMD_LOOKUP - do */
const struct nla_policy chsteer_lookup_nl_policy[CHS_A_FLOW + 1] = {
	[CHS_A_FLAGS] = { .type = NLA_U32, },
	[CHS_A_FLOW] = NLA_POLICY_NESTED(chsteer_flow_nl_policy),
};

/* CHS_CMD_FLOW_GET - do */
const struct nla_policy chsteer_flow_get_nl_policy[CHS_A_FLOW + 1] = {
	[CHS_A_SERVICE] = NLA_POLICY_NESTED(chsteer_service_nl_policy),
	[CHS_A_FLOW] = NLA_POLICY_NESTED(chsteer_flow_nl_policy),
};

/* CHS_CMD_FLOW_FLUSH - do */
const struct nla_policy chsteer_flow_flush_nl_policy[CHS_A_SERVICE + 1] = {
	[CHS_A_SERVICE] = NLA_POLICY_NESTED(chsteer_service_nl_policy),
};

/* CHS_CMD_TXN_BEGIN - do */
const struct nla_policy chsteer_txn_begin_nl_policy[CHS_A_FLAGS + 1] = {
	[CHS_A_FLAGS] = { .type = NLA_U32, },
};

/* CHS_CMD_TXN_COMMIT - do */
const struct nla_policy chsteer_txn_commit_nl_policy[CHS_A_MAX_MOVE + 1] = {
	[CHS_A_TXN] = { .type = NLA_U32, },
	[CHS_A_FLAGS] = { .type = NLA_U32, },
	[CHS_A_MAX_MOVE] = { .type = NLA_U32, },
};

/* CHS_CMD_TXN_ABORT - do */
const struct nla_policy chsteer_txn_abort_nl_policy[CHS_A_TXN + 1] = {
	[CHS_A_TXN] = { .type = NLA_U32, },
};

/* CHS_CMD_FLUSH - do */
const struct nla_policy chsteer_flush_nl_policy[CHS_A_TXN + 1] = {
	[CHS_A_TXN] = { .type = NLA_U32, },
};

/* CHS_CMD_INFO_GET - do */
const struct nla_policy chsteer_info_get_nl_policy[CHS_A_FLAGS + 1] = {
	[CHS_A_FLAGS] = { .type = NLA_U32, },
};

/* Ops table for chsteer */
const struct genl_ops chsteer_nl_ops[17] = {
	{
		.cmd		= CHS_CMD_SERVICE_NEW,
		.doit		= chsteer_nl_service_new_doit,
		.policy		= chsteer_service_new_nl_policy,
		.maxattr	= CHS_A_SERVICE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= CHS_CMD_SERVICE_SET,
		.doit		= chsteer_nl_service_set_doit,
		.policy		= chsteer_service_set_nl_policy,
		.maxattr	= CHS_A_SERVICE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= CHS_CMD_SERVICE_DEL,
		.doit		= chsteer_nl_service_del_doit,
		.policy		= chsteer_service_del_nl_policy,
		.maxattr	= CHS_A_SERVICE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= CHS_CMD_SERVICE_GET,
		.doit		= chsteer_nl_service_get_doit,
		.dumpit		= chsteer_nl_service_get_dumpit,
		.policy		= chsteer_service_get_nl_policy,
		.maxattr	= CHS_A_SERVICE,
	},
	{
		.cmd		= CHS_CMD_BACKEND_NEW,
		.doit		= chsteer_nl_backend_new_doit,
		.policy		= chsteer_backend_new_nl_policy,
		.maxattr	= CHS_A_BACKEND,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= CHS_CMD_BACKEND_SET,
		.doit		= chsteer_nl_backend_set_doit,
		.policy		= chsteer_backend_set_nl_policy,
		.maxattr	= CHS_A_BACKEND,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= CHS_CMD_BACKEND_DEL,
		.doit		= chsteer_nl_backend_del_doit,
		.policy		= chsteer_backend_del_nl_policy,
		.maxattr	= CHS_A_BACKEND,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= CHS_CMD_BACKEND_GET,
		.doit		= chsteer_nl_backend_get_doit,
		.dumpit		= chsteer_nl_backend_get_dumpit,
		.policy		= chsteer_backend_get_nl_policy,
		.maxattr	= CHS_A_BACKEND,
	},
	{
		.cmd		= CHS_CMD_RING_GET,
		.doit		= chsteer_nl_ring_get_doit,
		.policy		= chsteer_ring_get_nl_policy,
		.maxattr	= CHS_A_ARC,
	},
	{
		.cmd		= CHS_CMD_LOOKUP,
		.doit		= chsteer_nl_lookup_doit,
		.policy		= chsteer_lookup_nl_policy,
		.maxattr	= CHS_A_FLOW,
	},
	{
		.cmd		= CHS_CMD_FLOW_GET,
		.doit		= chsteer_nl_flow_get_doit,
		.dumpit		= chsteer_nl_flow_get_dumpit,
		.policy		= chsteer_flow_get_nl_policy,
		.maxattr	= CHS_A_FLOW,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= CHS_CMD_FLOW_FLUSH,
		.doit		= chsteer_nl_flow_flush_doit,
		.policy		= chsteer_flow_flush_nl_policy,
		.maxattr	= CHS_A_SERVICE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= CHS_CMD_TXN_BEGIN,
		.doit		= chsteer_nl_txn_begin_doit,
		.policy		= chsteer_txn_begin_nl_policy,
		.maxattr	= CHS_A_FLAGS,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= CHS_CMD_TXN_COMMIT,
		.doit		= chsteer_nl_txn_commit_doit,
		.policy		= chsteer_txn_commit_nl_policy,
		.maxattr	= CHS_A_MAX_MOVE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= CHS_CMD_TXN_ABORT,
		.doit		= chsteer_nl_txn_abort_doit,
		.policy		= chsteer_txn_abort_nl_policy,
		.maxattr	= CHS_A_TXN,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= CHS_CMD_FLUSH,
		.doit		= chsteer_nl_flush_doit,
		.policy		= chsteer_flush_nl_policy,
		.maxattr	= CHS_A_TXN,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= CHS_CMD_INFO_GET,
		.doit		= chsteer_nl_info_get_doit,
		.policy		= chsteer_info_get_nl_policy,
		.maxattr	= CHS_A_FLAGS,
	},
};

static const struct genl_multicast_group chsteer_nl_mcgrps[] = {
	[CHSTEER_NLGRP_EVENTS] = { "events", },
};
