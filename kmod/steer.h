/* SPDX-License-Identifier: GPL-2.0-only */
/* From a flow to the backend that it goes to. */
#ifndef CHS_STEER_H
#define CHS_STEER_H

#include <linux/netfilter_bridge.h>
#include <linux/types.h>

#include "packet.h"
#include "service.h"
#include "table.h"

struct net;
struct nf_conn;
struct nf_hook_state;

/**
 * struct chs_question - packet that "lookup" asks about
 * @tuple: its flow
 * @ct: its connection as conntrack has it, with a reference, or NULL
 * @vrf: number of the VRF that it comes in by, or 0
 * @established: whether it belongs to a flow already running
 * @ring_only: leave out what would tell who is connected
 */
struct chs_question {
	struct chs_tuple tuple;
	struct nf_conn *ct;
	s32 vrf;
	bool established;
	bool ring_only;
};

/**
 * struct chs_verdict - where a flow goes and why
 * @svc: its service
 * @backend: where it goes; NULL if no backend can take it
 * @owner: owner of its arc; NULL if it has none
 * @former: former owner of its arc; NULL if it has none
 * @hash: hash of the flow
 * @arc: its arc
 * @reason: enum chsteer_reason; means nothing without @backend
 * @created: it is remembered from now on, or would be if it could
 */
struct chs_verdict {
	const struct chs_service *svc;
	const struct chs_backend *backend;
	const struct chs_backend *owner;
	const struct chs_backend *former;
	u64 hash;
	u32 arc;
	u8 reason;
	bool created;
};

void chs_steer_flow(const struct chs_service *svc, const struct chs_packet *pkt,
		    struct chs_verdict *verdict);
bool chs_steer_foreign(const struct nf_hook_state *state);
int chs_steer_lookup(const struct chs_table *table,
		     const struct chs_question *question,
		     struct chs_verdict *verdict);

/**
 * chs_steer_bridged() - whether a packet is a frame that is merely bridged
 * @skb: packet at a hook of IP, which br_netfilter may have called
 *
 * Such a frame is none of this host's.
 *
 * Context: any.
 * Return: true if so.
 */
static __always_inline bool chs_steer_bridged(const struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_BRIDGE_NETFILTER)
	const struct nf_bridge_info *bridge = nf_bridge_info_get(skb);

	return unlikely(bridge && bridge->pkt_otherhost);
#else
	return false;
#endif
}

/**
 * chs_steer_service() - service that a flow is for
 * @table: services in force
 * @tuple: the flow
 * @vrf: number of the VRF that it comes in by, or 0
 *
 * Context: under RCU, or with the namespace's lock held.
 * Return: the service, or NULL.
 */
static __always_inline const struct chs_service *
chs_steer_service(const struct chs_table *table, const struct chs_tuple *tuple,
		  s32 vrf)
{
	return chs_table_lookup(table, &tuple->daddr, vrf, tuple->proto,
				tuple->dport);
}

static inline const struct chs_backend *
chs_steer_backend(const struct chs_service *svc, u16 at)
{
	return at == CHS_RING_NONE ? NULL : &svc->backends[at];
}

/**
 * chs_steer_hash() - where the ring sends a hash
 * @svc: service
 * @hash: hash of a new flow
 * @verdict: where the answer goes
 *
 * Context: under RCU, or with the namespace's lock held.
 */
static inline void chs_steer_hash(const struct chs_service *svc, u64 hash,
				  struct chs_verdict *verdict)
{
	verdict->svc = svc;
	verdict->hash = hash;
	verdict->arc = chs_ring_slot(hash, svc->conf.slots);
	verdict->owner = chs_steer_backend(svc, svc->arcs[verdict->arc]);
	verdict->former = NULL;
	verdict->backend = verdict->owner;
	verdict->reason = CHS_REASON_RING;
	verdict->created = false;
}

/**
 * chs_steer_ring() - where the ring sends a new flow
 * @svc: its service
 * @tuple: the flow
 * @verdict: where the answer goes
 *
 * Context: under RCU, or with the namespace's lock held.
 */
static inline void chs_steer_ring(const struct chs_service *svc,
				  const struct chs_tuple *tuple,
				  struct chs_verdict *verdict)
{
	chs_steer_hash(svc, chs_tuple_hash(tuple, svc->conf.hash,
					   &svc->conf.key), verdict);
}

/**
 * chs_steer_settled() - whether nothing but the ring is to be asked
 * @svc: service in a direct mode
 *
 * Context: under RCU.
 * Return: true if so.
 */
static inline bool chs_steer_settled(const struct chs_service *svc)
{
	/* With affinity ring there is never a transition. */
	return !rcu_access_pointer(svc->transition) &&
	       svc->affinity != CHS_AFFINITY_FLOW;
}

/**
 * chs_steer_packet() - where a packet of a direct mode goes
 * @svc: its service
 * @pkt: the packet
 * @verdict: where the answer goes
 *
 * Remembers of its flow what is to be remembered.
 *
 * Context: bottom halves off, under RCU.
 */
static inline void chs_steer_packet(const struct chs_service *svc,
				    const struct chs_packet *pkt,
				    struct chs_verdict *verdict)
{
	chs_steer_ring(svc, &pkt->tuple, verdict);
	if (!chs_steer_settled(svc))
		chs_steer_flow(svc, pkt, verdict);
}

/**
 * chs_steer_port() - port that a packet is sent to
 * @backend: backend
 * @dport: port that the client sent it to
 *
 * Context: any.
 * Return: the backend's, or @dport where the packet's is kept.
 */
static inline __be16 chs_steer_port(const struct chs_backend *backend,
				    __be16 dport)
{
	return backend->id.port ?: dport;
}

#endif /* CHS_STEER_H */
