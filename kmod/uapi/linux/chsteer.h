/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/chsteer.yaml */
/* YNL-GEN uapi header */

#ifndef _UAPI_LINUX_CHSTEER_H
#define _UAPI_LINUX_CHSTEER_H

#define CHS_FAMILY_NAME		"chsteer"
#define CHS_FAMILY_VERSION	1

/**
 * enum chsteer_mode - How a packet reaches its backend.
 */
enum chsteer_mode {
	CHS_MODE_NAT,
	CHS_MODE_ROUTE,
	CHS_MODE_IPIP,
	CHS_MODE_GUE,
};

/**
 * enum chsteer_flow_hash - Fields of a flow that are hashed to pick its arc.
 */
enum chsteer_flow_hash {
	CHS_FLOW_HASH_5TUPLE,
	CHS_FLOW_HASH_SRC,
};

/**
 * enum chsteer_on_empty - Answer to new flows while no backend can take them.
 * @CHS_ON_EMPTY_REJECT: TCP reset, ICMP port unreachable for everything else.
 * @CHS_ON_EMPTY_DROP: Silently, but counted.
 * @CHS_ON_EMPTY_PASS: The packet is the host's.
 */
enum chsteer_on_empty {
	CHS_ON_EMPTY_REJECT,
	CHS_ON_EMPTY_DROP,
	CHS_ON_EMPTY_PASS,
};

/**
 * enum chsteer_state - Flows that a backend may be given.
 * @CHS_STATE_UP: New flows and those it has.
 * @CHS_STATE_DRAIN: Only those it has.
 * @CHS_STATE_DOWN: Nothing; its flows go to the next owner at once.
 */
enum chsteer_state {
	CHS_STATE_UP,
	CHS_STATE_DRAIN,
	CHS_STATE_DOWN,
};

/**
 * enum chsteer_affinity - Memory that keeps a flow on its backend when its arc
 *   changes owner.
 * @CHS_AFFINITY_RING: Nothing; each packet goes to its arc's owner.
 * @CHS_AFFINITY_TRANSITION: The former owner, and what is remembered of flows,
 *   for a while after the change. Nothing is remembered while the ring is
 *   settled.
 * @CHS_AFFINITY_FLOW: Each flow is remembered.
 */
enum chsteer_affinity {
	CHS_AFFINITY_RING,
	CHS_AFFINITY_TRANSITION,
	CHS_AFFINITY_FLOW,
};

/**
 * enum chsteer_obstacle - Why a backend of a direct mode cannot be reached.
 * @CHS_OBSTACLE_NONE: It can, as far as this host knows.
 * @CHS_OBSTACLE_NO_ROUTE: No route leads to it.
 * @CHS_OBSTACLE_OFF_LINK: mode route; the route goes through a gateway.
 * @CHS_OBSTACLE_OWN_ADDRESS: Its address is this host's.
 * @CHS_OBSTACLE_BAD_SOURCE: The outer source address is not this host's.
 * @CHS_OBSTACLE_NO_NEIGHBOUR: The neighbour does not answer.
 * @CHS_OBSTACLE_SENT_BACK: mode route; it can, but packets from its own MAC
 *   address were for it in the last minute, and dropped: those of clients
 *   behind the same address, or its own.
 */
enum chsteer_obstacle {
	CHS_OBSTACLE_NONE,
	CHS_OBSTACLE_NO_ROUTE,
	CHS_OBSTACLE_OFF_LINK,
	CHS_OBSTACLE_OWN_ADDRESS,
	CHS_OBSTACLE_BAD_SOURCE,
	CHS_OBSTACLE_NO_NEIGHBOUR,
	CHS_OBSTACLE_SENT_BACK,
};

/**
 * enum chsteer_reason - Why a flow goes where it goes.
 * @CHS_REASON_RING: Its arc's owner.
 * @CHS_REASON_FLOW: It is remembered.
 * @CHS_REASON_FORMER_OWNER: Its arc changed owner a short while ago.
 * @CHS_REASON_CONNTRACK: Its connection-tracking entry.
 */
enum chsteer_reason {
	CHS_REASON_RING,
	CHS_REASON_FLOW,
	CHS_REASON_FORMER_OWNER,
	CHS_REASON_CONNTRACK,
};

/**
 * enum chsteer_flag
 * @CHS_FLAG_REPLACE: service-new, backend-new; change what is there to what
 *   the request says, with the defaults for what it leaves out.
 * @CHS_FLAG_RECREATE: service-new with replace; where an option differs that
 *   no live service can change, make the service anew.
 * @CHS_FLAG_IF_EXISTS: service-del, backend-del; what is not there is no
 *   error.
 * @CHS_FLAG_FORCE: service-new; take a range that holds port 22, or any port,
 *   although the address is local to this host.
 * @CHS_FLAG_PRUNE: txn-commit; remove the services and backends that no
 *   request of the transaction named.
 * @CHS_FLAG_ESTABLISHED: lookup; the packet belongs to a flow already running.
 * @CHS_FLAG_DRY_RUN: txn-commit; refuse what a commit would refuse and build
 *   what it would put in force, but put nothing in force. Afterwards the
 *   transaction can be read by service-get and backend-get, and aborted.
 */
enum chsteer_flag {
	CHS_FLAG_REPLACE = 1,
	CHS_FLAG_RECREATE = 2,
	CHS_FLAG_IF_EXISTS = 4,
	CHS_FLAG_FORCE = 8,
	CHS_FLAG_PRUNE = 16,
	CHS_FLAG_ESTABLISHED = 32,
	CHS_FLAG_DRY_RUN = 64,
};

enum {
	CHS_A_SERVICE_NAME = 1,
	CHS_A_SERVICE_PROTO,
	CHS_A_SERVICE_ADDRESS,
	CHS_A_SERVICE_PORT,
	CHS_A_SERVICE_PORT_END,
	CHS_A_SERVICE_ANY_PORT,
	CHS_A_SERVICE_MODE,
	CHS_A_SERVICE_HASH,
	CHS_A_SERVICE_POINTS,
	CHS_A_SERVICE_UNIT,
	CHS_A_SERVICE_SLOTS,
	CHS_A_SERVICE_BALANCE,
	CHS_A_SERVICE_SEED,
	CHS_A_SERVICE_ON_EMPTY,
	CHS_A_SERVICE_MASQUERADE,
	CHS_A_SERVICE_AFFINITY,
	CHS_A_SERVICE_WINDOW,
	CHS_A_SERVICE_MAX_FLOWS,
	CHS_A_SERVICE_TIMEOUT,
	CHS_A_SERVICE_GUE_PORT,
	CHS_A_SERVICE_SOURCE,
	CHS_A_SERVICE_VRF,
	CHS_A_SERVICE_FORCED,

	__CHS_A_SERVICE_MAX
};
#define CHS_A_SERVICE_MAX (__CHS_A_SERVICE_MAX - 1)

enum {
	CHS_A_SERVICE_STATUS_SEED_DEFAULT = 1,
	CHS_A_SERVICE_STATUS_BACKENDS,
	CHS_A_SERVICE_STATUS_GENERATION,
	CHS_A_SERVICE_STATUS_DIGEST,
	CHS_A_SERVICE_STATUS_STATS,
	CHS_A_SERVICE_STATUS_OPEN,
	CHS_A_SERVICE_STATUS_SETTLES_IN,
	CHS_A_SERVICE_STATUS_TRACKED_FLOWS,
	CHS_A_SERVICE_STATUS_PAD,
	CHS_A_SERVICE_STATUS_VRF_PRESENT,

	__CHS_A_SERVICE_STATUS_MAX
};
#define CHS_A_SERVICE_STATUS_MAX (__CHS_A_SERVICE_STATUS_MAX - 1)

enum {
	CHS_A_STATS_PACKETS = 1,
	CHS_A_STATS_BYTES,
	CHS_A_STATS_NEW_FLOWS,
	CHS_A_STATS_PASSED,
	CHS_A_STATS_ICMP_UNMATCHED,
	CHS_A_STATS_DROPS,
	CHS_A_STATS_UNRESOLVED,
	CHS_A_STATS_NOT_REMEMBERED,
	CHS_A_STATS_EVICTED_ENDED,
	CHS_A_STATS_EVICTED_NEW,
	CHS_A_STATS_EVICTED_ESTABLISHED,
	CHS_A_STATS_ICMP_LIMITED,
	CHS_A_STATS_ICMP_OBEYED,
	CHS_A_STATS_ICMP_IGNORED,
	CHS_A_STATS_PAD,

	__CHS_A_STATS_MAX
};
#define CHS_A_STATS_MAX (__CHS_A_STATS_MAX - 1)

enum {
	CHS_A_DROPS_NO_BACKEND = 1,
	CHS_A_DROPS_UNTRACKED,
	CHS_A_DROPS_INVALID,
	CHS_A_DROPS_UNTRANSLATED,
	CHS_A_DROPS_CONNTRACK_FULL,
	CHS_A_DROPS_NAT_FAILED,
	CHS_A_DROPS_MALFORMED,
	CHS_A_DROPS_MARTIAN,
	CHS_A_DROPS_SOURCE_ROUTE,
	CHS_A_DROPS_TTL,
	CHS_A_DROPS_TOO_BIG,
	CHS_A_DROPS_FRAGMENT,
	CHS_A_DROPS_NO_ROUTE,
	CHS_A_DROPS_OFF_LINK,
	CHS_A_DROPS_OWN_ADDRESS,
	CHS_A_DROPS_BAD_SOURCE,
	CHS_A_DROPS_SENT_BACK,
	CHS_A_DROPS_NO_MEMORY,
	CHS_A_DROPS_IPSEC_POLICY,
	CHS_A_DROPS_SCOPE,
	CHS_A_DROPS_LOOPED,
	CHS_A_DROPS_PAD,

	__CHS_A_DROPS_MAX
};
#define CHS_A_DROPS_MAX (__CHS_A_DROPS_MAX - 1)

enum {
	CHS_A_ICMP_IGNORED_BAD_CHECKSUM = 1,
	CHS_A_ICMP_IGNORED_NOT_LOCAL,
	CHS_A_ICMP_IGNORED_BAD_SOURCE,
	CHS_A_ICMP_IGNORED_WRONG_BACKEND,
	CHS_A_ICMP_IGNORED_WRONG_PORT,
	CHS_A_ICMP_IGNORED_TOO_LOW,
	CHS_A_ICMP_IGNORED_NOT_LOWER,
	CHS_A_ICMP_IGNORED_NO_MEMORY,
	CHS_A_ICMP_IGNORED_NO_FLOW,
	CHS_A_ICMP_IGNORED_PAD,

	__CHS_A_ICMP_IGNORED_MAX
};
#define CHS_A_ICMP_IGNORED_MAX (__CHS_A_ICMP_IGNORED_MAX - 1)

enum {
	CHS_A_BACKEND_ADDRESS = 1,
	CHS_A_BACKEND_PORT,
	CHS_A_BACKEND_WEIGHT,
	CHS_A_BACKEND_STATE,
	CHS_A_BACKEND_ZONE,
	CHS_A_BACKEND_DEADLINE,
	CHS_A_BACKEND_DELETE,

	__CHS_A_BACKEND_MAX
};
#define CHS_A_BACKEND_MAX (__CHS_A_BACKEND_MAX - 1)

enum {
	CHS_A_BACKEND_STATUS_DEADLINE_LEFT = 1,
	CHS_A_BACKEND_STATUS_SLOTS,
	CHS_A_BACKEND_STATUS_SINCE,
	CHS_A_BACKEND_STATUS_IDLE,
	CHS_A_BACKEND_STATUS_PACKETS,
	CHS_A_BACKEND_STATUS_BYTES,
	CHS_A_BACKEND_STATUS_NEW_FLOWS,
	CHS_A_BACKEND_STATUS_TRACKED_FLOWS,
	CHS_A_BACKEND_STATUS_OBSTACLE,
	CHS_A_BACKEND_STATUS_SENT_BACK,
	CHS_A_BACKEND_STATUS_PAD,

	__CHS_A_BACKEND_STATUS_MAX
};
#define CHS_A_BACKEND_STATUS_MAX (__CHS_A_BACKEND_STATUS_MAX - 1)

enum {
	CHS_A_FLOW_PROTO = 1,
	CHS_A_FLOW_SADDR,
	CHS_A_FLOW_DADDR,
	CHS_A_FLOW_SPORT,
	CHS_A_FLOW_DPORT,
	CHS_A_FLOW_VRF,
	CHS_A_FLOW_CT_ZONE,

	__CHS_A_FLOW_MAX
};
#define CHS_A_FLOW_MAX (__CHS_A_FLOW_MAX - 1)

enum {
	CHS_A_FLOW_STATUS_ADDRESS = 1,
	CHS_A_FLOW_STATUS_PORT,
	CHS_A_FLOW_STATUS_IDLE,
	CHS_A_FLOW_STATUS_REASON,
	CHS_A_FLOW_STATUS_UNCONFIRMED,
	CHS_A_FLOW_STATUS_ENDED,

	__CHS_A_FLOW_STATUS_MAX
};
#define CHS_A_FLOW_STATUS_MAX (__CHS_A_FLOW_STATUS_MAX - 1)

enum {
	CHS_A_VERDICT_ADDRESS = 1,
	CHS_A_VERDICT_PORT,
	CHS_A_VERDICT_REASON,
	CHS_A_VERDICT_ARC,
	CHS_A_VERDICT_OWNER_ADDRESS,
	CHS_A_VERDICT_OWNER_PORT,
	CHS_A_VERDICT_FORMER_ADDRESS,
	CHS_A_VERDICT_FORMER_PORT,
	CHS_A_VERDICT_OPEN_FOR,

	__CHS_A_VERDICT_MAX
};
#define CHS_A_VERDICT_MAX (__CHS_A_VERDICT_MAX - 1)

enum {
	CHS_A_RESULT_ADDED = 1,
	CHS_A_RESULT_CHANGED,
	CHS_A_RESULT_REMOVED,
	CHS_A_RESULT_UNCHANGED,
	CHS_A_RESULT_MOVED,
	CHS_A_RESULT_ARCS,
	CHS_A_RESULT_PAD,

	__CHS_A_RESULT_MAX
};
#define CHS_A_RESULT_MAX (__CHS_A_RESULT_MAX - 1)

enum {
	CHS_A_INFO_MODULE_VERSION = 1,
	CHS_A_INFO_RING_VERSION,
	CHS_A_INFO_RING_REFERENCE,
	CHS_A_INFO_PAD,

	__CHS_A_INFO_MAX
};
#define CHS_A_INFO_MAX (__CHS_A_INFO_MAX - 1)

enum {
	CHS_A_TXN = 1,
	CHS_A_FLAGS,
	CHS_A_SERVICE,
	CHS_A_BACKEND,
	CHS_A_SERVICE_STATUS,
	CHS_A_BACKEND_STATUS,
	CHS_A_FLOW,
	CHS_A_VERDICT,
	CHS_A_RESULT,
	CHS_A_INFO,
	CHS_A_ARC,
	CHS_A_OWNERS,
	CHS_A_FLOW_STATUS,
	CHS_A_MAX_MOVE,

	__CHS_A_MAX
};
#define CHS_A_MAX (__CHS_A_MAX - 1)

enum {
	CHS_CMD_SERVICE_NEW = 1,
	CHS_CMD_SERVICE_SET,
	CHS_CMD_SERVICE_DEL,
	CHS_CMD_SERVICE_GET,
	CHS_CMD_BACKEND_NEW,
	CHS_CMD_BACKEND_SET,
	CHS_CMD_BACKEND_DEL,
	CHS_CMD_BACKEND_GET,
	CHS_CMD_RING_GET,
	CHS_CMD_LOOKUP,
	CHS_CMD_FLOW_GET,
	CHS_CMD_FLOW_FLUSH,
	CHS_CMD_TXN_BEGIN,
	CHS_CMD_TXN_COMMIT,
	CHS_CMD_TXN_ABORT,
	CHS_CMD_FLUSH,
	CHS_CMD_INFO_GET,

	__CHS_CMD_MAX
};
#define CHS_CMD_MAX (__CHS_CMD_MAX - 1)

#define CHSTEER_MCGRP_EVENTS	"events"

#endif /* _UAPI_LINUX_CHSTEER_H */
