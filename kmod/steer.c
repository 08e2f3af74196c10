// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a flow to the backend that it goes to. The packet path and the command
 * "lookup" ask the same functions, so that they cannot disagree.
 */
#include "steer.h"

#include "affinity.h"
#include "flow.h"
#include "nat.h"
#include "table.h"
#include "transition.h"

#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/timekeeping.h>

static enum chs_role role_of(const struct chs_packet *pkt)
{
	if (pkt->kind == CHS_PACKET_ICMP_ERROR)
		return CHS_ROLE_ERROR;
	if (pkt->tuple.proto == IPPROTO_UDP)
		return CHS_ROLE_ANY;
	if (pkt->syn)
		return CHS_ROLE_SYN;
	return pkt->fin || pkt->rst ? CHS_ROLE_END : CHS_ROLE_DATA;
}

static bool in_sequence(const struct chs_packet *pkt,
			const struct chs_flow *flow)
{
	if (pkt->tuple.proto == IPPROTO_SCTP)
		return pkt->echo || pkt->syn;
	if (pkt->syn)
		return pkt->seq == flow->seq;
	return pkt->seq - flow->seq - 1 < CHS_AFFINITY_SEQ;
}

/* False if another CPU was faster and the choice is void. */
static bool act(const struct chs_service *svc, const struct chs_packet *pkt,
		const struct chs_flow_key *key, u32 now, u32 arc,
		struct chs_flow *flow, struct chs_choice *choice)
{
	int err;

	switch (choice->action) {
	case CHS_PIN_CREATE:
		err = chs_flow_create(svc, key, arc, pkt->seq, flow, choice,
				      now);
		if (err == -EAGAIN)
			return false;
		if (err)
			choice->backend = choice->fallback;
		break;
	case CHS_PIN_FORGET:
		chs_flow_forget(svc->flows, flow);
		break;
	case CHS_PIN_CONFIRM:
		chs_flow_confirm(flow);
		chs_flow_touch(flow, now, choice->ended, pkt->syn);
		break;
	case CHS_PIN_REVERT:
		chs_flow_revert(flow);
		fallthrough;
	case CHS_PIN_TOUCH:
		chs_flow_touch(flow, now, choice->ended, pkt->syn);
		break;
	default:
		break;
	}
	return true;
}

static void steer_flow(const struct chs_service *svc,
		       const struct chs_packet *pkt, bool changes,
		       struct chs_verdict *verdict)
{
	u32 now = ktime_get_seconds();
	struct chs_flow_key key;
	struct chs_choice choice;
	struct chs_flow *flow;
	struct chs_pin pin;
	struct chs_arc arc;

	chs_transition_arc(svc, verdict->arc, now, &arc);
	chs_flow_key_set(&key, &pkt->tuple);
	do {
		flow = chs_flow_find(svc->flows, &key);
		if (flow)
			chs_flow_pin(svc, flow, now, &pin);
		chs_affinity_choose(svc->affinity, &arc, flow ? &pin : NULL,
				    role_of(pkt),
				    flow && changes && in_sequence(pkt, flow),
				    &choice);
	} while (changes && !act(svc, pkt, &key, now, verdict->arc, flow,
				 &choice));

	verdict->former = chs_steer_backend(svc, arc.former);
	verdict->backend = chs_steer_backend(svc, choice.backend);
	verdict->reason = choice.reason;
	verdict->created = choice.action == CHS_PIN_CREATE;
}

/**
 * chs_steer_flow() - have the ring overruled by what is remembered
 * @svc: its service, which is not settled
 * @pkt: the packet
 * @verdict: what the ring says; where the answer goes
 *
 * Remembers of its flow what is to be remembered.
 *
 * Context: bottom halves off, under RCU.
 */
void chs_steer_flow(const struct chs_service *svc, const struct chs_packet *pkt,
		    struct chs_verdict *verdict)
{
	steer_flow(svc, pkt, true, verdict);
}

/**
 * chs_steer_foreign() - whether a packet belongs to a VRF
 * @state: the hook's state
 *
 * A service without a VRF takes only what is outside of any. Such a packet
 * passes PRE_ROUTING twice, with the enslaved device and with the VRF's own.
 *
 * Context: under RCU.
 * Return: true if so.
 */
bool chs_steer_foreign(const struct nf_hook_state *state)
{
	const struct net_device *dev = state->in ?: state->out;

	return dev && (netif_is_l3_master(dev) || netif_is_l3_slave(dev));
}

/**
 * chs_steer_lookup() - where a packet would go
 * @table: services in force
 * @question: the packet
 * @verdict: where the answer goes
 *
 * Context: under RCU.
 * Return: 0, or -ENOENT if it is for no service.
 */
int chs_steer_lookup(const struct chs_table *table,
		     const struct chs_question *question,
		     struct chs_verdict *verdict)
{
	struct chs_packet pkt = {
		.tuple = question->tuple,
		.kind = CHS_PACKET_FLOW,
		.syn = !question->established,
	};
	const struct chs_service *svc;

	svc = chs_steer_service(table, &pkt.tuple, question->vrf);
	if (!svc)
		return -ENOENT;

	chs_steer_ring(svc, &pkt.tuple, verdict);
	if (question->ring_only)
		return 0;
	if (!chs_service_is_direct(svc)) {
		if (question->ct)
			chs_nat_lookup(question->ct, &pkt.tuple,
				       question->established, verdict);
	} else if (!chs_steer_settled(svc)) {
		steer_flow(svc, &pkt, false, verdict);
	}
	return 0;
}
