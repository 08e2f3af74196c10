// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a flow to the backend that it goes to. The packet path and the command
 * "lookup" ask the same functions, so that they cannot disagree.
 */
#include "steer.h"

#include "nat.h"
#include "table.h"

#include <linux/netfilter.h>
#include <linux/netdevice.h>

/**
 * chs_steer_ring() - where the ring sends a new flow
 * @svc: its service
 * @tuple: the flow
 * @verdict: where the answer goes
 *
 * Context: under RCU, or with the namespace's lock held.
 */
void chs_steer_ring(const struct chs_service *svc,
		    const struct chs_tuple *tuple, struct chs_verdict *verdict)
{
	u64 hash = chs_tuple_hash(tuple, svc->conf.hash, &svc->conf.key);
	u16 owner;

	verdict->svc = svc;
	verdict->arc = chs_ring_slot(hash, svc->conf.slots);
	owner = svc->arcs[verdict->arc];
	verdict->owner = owner == CHS_RING_NONE ? NULL : &svc->backends[owner];
	verdict->backend = verdict->owner;
	verdict->reason = CHS_REASON_RING;
}

/**
 * chs_steer_service() - service that a flow is for
 * @table: services in force
 * @tuple: the flow
 *
 * Context: under RCU, or with the namespace's lock held.
 * Return: the service, or NULL.
 */
const struct chs_service *chs_steer_service(const struct chs_table *table,
					    const struct chs_tuple *tuple)
{
	return chs_table_lookup(table, &tuple->daddr, tuple->proto,
				tuple->dport);
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
 * @net: network namespace
 * @table: services in force there
 * @tuple: its flow
 * @established: whether it belongs to a flow already running
 * @verdict: where the answer goes
 *
 * Context: under RCU.
 * Return: 0, or -ENOENT if it is for no service.
 */
int chs_steer_lookup(struct net *net, const struct chs_table *table,
		     const struct chs_tuple *tuple, bool established,
		     struct chs_verdict *verdict)
{
	const struct chs_service *svc = chs_steer_service(table, tuple);

	if (!svc)
		return -ENOENT;

	chs_steer_ring(svc, tuple, verdict);
	if (svc->mode == CHS_MODE_NAT)
		chs_nat_lookup(net, tuple, established, verdict);
	return 0;
}
