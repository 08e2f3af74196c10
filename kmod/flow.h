/* SPDX-License-Identifier: GPL-2.0-only */
/* Flows of a service that are remembered. */
#ifndef CHS_FLOW_H
#define CHS_FLOW_H

#include <linux/build_bug.h>
#include <linux/rhashtable-types.h>
#include <linux/types.h>

#include "affinity.h"
#include "member.h"
#include "tuple.h"

struct chs_service;
struct mem_cgroup;

#define CHS_FLOWS_MAX		(1U << 24)
#define CHS_FLOWS_DEFAULT	262144

/*
 * Flows of all services of a namespace that the initial user namespace does not
 * own. The buckets of their tables, up to 27 bytes a flow, are charged to nobody.
 */
#define CHS_FLOWS_GUEST_MAX	(1U << 20)

/* Flows that a new table has room for: thousands of services may have none. */
#define CHS_FLOWS_HINT		12

/**
 * struct chs_flow_key - which flow of a service
 * @saddr: client address
 * @sport: client port
 * @dport: service port
 * @ports: both ports
 */
struct chs_flow_key {
	union chs_addr saddr;
	union {
		struct {
			__be16 sport;
			__be16 dport;
		};
		u32 ports;
	};
};

/**
 * enum chs_flow_state - how sure a flow is
 * @CHS_FLOW_FIRM: it is on its backend
 * @CHS_FLOW_UNCONFIRMED: it is, unless the SYN was forged
 * @CHS_FLOW_REVERTED: it was forged: the flow is on the previous backend
 */
enum chs_flow_state {
	CHS_FLOW_FIRM,
	CHS_FLOW_UNCONFIRMED,
	CHS_FLOW_REVERTED,
};

/**
 * struct chs_flow - a flow that is remembered
 * @node: in struct chs_flows.table
 * @key: which
 * @arc: arc that it hashes to
 * @seq: sequence number of the SYN
 * @last: when its last packet was seen, seconds; written once a second at most
 * @state: enum chs_flow_state; leaves UNCONFIRMED once
 * @reason: enum chsteer_reason, when it was first remembered
 * @ended: a FIN or RST was seen; while unconfirmed: before the SYN
 * @established: more than one packet was seen, or it was running before
 * @begun: it began while its arc had a former owner; it was unconfirmed then
 * @member: backend, with a reference
 * @previous: backend before an unconfirmed SYN, with a reference, or NULL
 * @rcu: frees it
 */
struct chs_flow {
	struct rhash_head node;
	struct chs_flow_key key;
	u32 arc;
	u32 seq;
	u32 last;
	u32 state;
	u8 reason;
	bool ended;
	bool established;
	bool begun;
	struct chs_member *member;
	struct chs_member *previous;
	struct rcu_head rcu;
};

/**
 * struct chs_flows - flows of a service, shared by all its versions
 * @table: them
 * @memcg: whom they are charged to, with a reference; or NULL
 * @n_begun: those that have begun, see struct chs_flow
 * @n_all: those of all services of the namespace, where that is limited, or NULL
 * @refs: one a version
 */
struct chs_flows {
	struct rhashtable table;
	struct mem_cgroup *memcg;
	atomic_t n_begun;
	atomic_t *n_all;
	refcount_t refs;
};

int chs_flow_init(void);
void chs_flow_exit(void);

struct chs_flows *chs_flows_alloc(const struct chs_service *svc);
struct chs_flows *chs_flows_get(struct chs_flows *flows);
void chs_flows_put(struct chs_flows *flows);
void chs_flows_each(struct chs_flows *flows,
		    void (*func)(struct chs_flow *flow, void *arg), void *arg);
void chs_flows_flush(struct chs_flows *flows);
enum chs_role chs_flow_role(const struct chs_service *svc);

/**
 * chs_flows_count() - number of flows that are remembered
 * @flows: flows, or NULL
 *
 * Context: any.
 * Return: the number.
 */
static inline u32 chs_flows_count(const struct chs_flows *flows)
{
	return flows ? atomic_read(&flows->table.nelems) : 0;
}

/**
 * chs_flow_key_set() - key of a packet's flow
 * @key: key
 * @tuple: the packet's
 *
 * Context: any.
 */
static inline void chs_flow_key_set(struct chs_flow_key *key,
				    const struct chs_tuple *tuple)
{
	key->saddr = tuple->saddr;
	key->sport = tuple->sport;
	key->dport = tuple->dport;
}

/**
 * chs_flow_member() - backend that a flow is on
 * @flow: flow
 *
 * Context: under RCU.
 * Return: the backend.
 */
static inline struct chs_member *chs_flow_member(const struct chs_flow *flow)
{
	return READ_ONCE(flow->state) == CHS_FLOW_REVERTED ? flow->previous :
							     flow->member;
}

/**
 * struct chs_flow_place - where a walk over flows goes on
 * @seed: tells the table that @bucket is of; see flow_walk.c
 * @size: likewise
 * @bucket: bucket of it
 * @within: whether flows of it have been seen, up to @last
 * @last: the last one seen
 */
struct chs_flow_place {
	u32 seed;
	u32 size;
	u32 bucket;
	bool within;
	struct chs_flow_key last;
};

int chs_flows_walk(struct chs_flows *flows, struct chs_flow_place *place,
		   int (*func)(const struct chs_flow *flow, void *arg),
		   void *arg);
struct chs_flow *chs_flow_find(struct chs_flows *flows,
			       const struct chs_flow_key *key);
u32 chs_flow_idle(const struct chs_flow *flow, u32 now);
bool chs_flow_pin(const struct chs_service *svc, const struct chs_flow *flow,
		  u32 now, struct chs_pin *pin);
void chs_flow_touch(struct chs_flow *flow, u32 now, bool ended, bool syn);
void chs_flow_confirm(struct chs_flow *flow);
void chs_flow_revert(struct chs_flow *flow);
bool chs_flow_forget(struct chs_flows *flows, struct chs_flow *flow);
int chs_flow_create(const struct chs_service *svc,
		    const struct chs_flow_key *key, u32 arc, u32 seq,
		    struct chs_flow *old, const struct chs_choice *choice,
		    u32 now);

#endif /* CHS_FLOW_H */
