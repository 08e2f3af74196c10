/* SPDX-License-Identifier: GPL-2.0-only */
/* Per-CPU counters of services and backends. */
#ifndef CHS_STATS_H
#define CHS_STATS_H

#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/refcount.h>
#include <linux/u64_stats_sync.h>
#include <net/net_debug.h>

/**
 * enum chs_event - what may become of a packet besides being steered
 * @CHS_DROP_NO_BACKEND: no backend can take the flow
 * @CHS_DROP_UNTRACKED: conntrack was told not to track it
 * @CHS_DROP_INVALID: conntrack finds it invalid
 * @CHS_DROP_UNTRANSLATED: its connection is tracked without translation
 * @CHS_DROP_CONNTRACK_FULL: conntrack's table has no room
 * @CHS_DROP_NAT_FAILED: nf_nat found no translation
 * @CHS_DROP_MALFORMED: truncated, or its headers contradict themselves
 * @CHS_DROP_MARTIAN: its source address can be no client's
 * @CHS_DROP_SOURCE_ROUTE: its sender wants to choose the way
 * @CHS_DROP_TTL: its hop limit is exceeded
 * @CHS_DROP_TOO_BIG: over the path's MTU
 * @CHS_DROP_FRAGMENT: a fragment that cannot be put together
 * @CHS_DROP_NO_ROUTE: no route leads to the backend
 * @CHS_DROP_OFF_LINK: the backend is behind a gateway
 * @CHS_DROP_OWN_ADDRESS: the backend's address is this host's
 * @CHS_DROP_BAD_SOURCE: the outer source address is not this host's
 * @CHS_DROP_SENT_BACK: the backend is the neighbour that it came from
 * @CHS_DROP_NO_MEMORY: no memory to send it
 * @CHS_DROP_IPSEC_POLICY: a policy of IPsec does not let it in as it is
 * @CHS_DROP_SCOPE: from a link-local address, which the backend cannot answer
 * @CHS_DROP_LOOPED: it has been here with a higher hop limit
 * @CHS_DROP_NR: number of the drops, which come first, in the order of their
 *	netlink attributes
 * @CHS_EVENT_PASSED: left to the host by on-empty pass
 * @CHS_EVENT_ICMP_UNMATCHED: ICMP error about an unknown flow
 * @CHS_EVENT_UNRESOLVED: handed to a neighbour that was not resolved
 * @CHS_EVENT_NOT_REMEMBERED: there was no room or memory to remember a flow
 * @CHS_EVENT_EVICTED_ENDED: a flow forgotten to make room, which had ended or
 *	been idle for too long
 * @CHS_EVENT_EVICTED_NEW: the same, of which one packet had been seen
 * @CHS_EVENT_EVICTED_ESTABLISHED: the same, of which more had been seen, or which
 *	had been running before it was remembered
 * @CHS_EVENT_ICMP_LIMITED: a client was not told of a path's MTU, for it or all
 *	had been told too often
 * @CHS_EVENT_ICMP_OBEYED: an ICMP error about a path's MTU was obeyed
 * @CHS_ICMP_BAD_CHECKSUM: an ICMP error about a path's MTU was not obeyed: its
 *	checksum is wrong; the first of these, which are in the order of enum
 *	chs_pmtu_verdict and of their netlink attributes
 * @CHS_ICMP_NOT_LOCAL: it is not addressed to this host
 * @CHS_ICMP_BAD_SOURCE: this host did not send what it quotes
 * @CHS_ICMP_WRONG_BACKEND: the quoted flow does not go to that backend
 * @CHS_ICMP_WRONG_PORT: the quoted outer ports are not the flow's
 * @CHS_ICMP_TOO_LOW: the MTU is below the least of the protocol
 * @CHS_ICMP_NOT_LOWER: the MTU is not lower than the known one
 * @CHS_ICMP_NO_MEMORY: no memory to obey it
 * @CHS_ICMP_NO_FLOW: what it quotes may be a service's, but does not tell the flow
 * @CHS_EVENT_NR: number of all
 */
enum chs_event {
	CHS_DROP_NO_BACKEND,
	CHS_DROP_UNTRACKED,
	CHS_DROP_INVALID,
	CHS_DROP_UNTRANSLATED,
	CHS_DROP_CONNTRACK_FULL,
	CHS_DROP_NAT_FAILED,
	CHS_DROP_MALFORMED,
	CHS_DROP_MARTIAN,
	CHS_DROP_SOURCE_ROUTE,
	CHS_DROP_TTL,
	CHS_DROP_TOO_BIG,
	CHS_DROP_FRAGMENT,
	CHS_DROP_NO_ROUTE,
	CHS_DROP_OFF_LINK,
	CHS_DROP_OWN_ADDRESS,
	CHS_DROP_BAD_SOURCE,
	CHS_DROP_SENT_BACK,
	CHS_DROP_NO_MEMORY,
	CHS_DROP_IPSEC_POLICY,
	CHS_DROP_SCOPE,
	CHS_DROP_LOOPED,
	CHS_DROP_NR,
	CHS_EVENT_PASSED = CHS_DROP_NR,
	CHS_EVENT_ICMP_UNMATCHED,
	CHS_EVENT_UNRESOLVED,
	CHS_EVENT_NOT_REMEMBERED,
	CHS_EVENT_EVICTED_ENDED,
	CHS_EVENT_EVICTED_NEW,
	CHS_EVENT_EVICTED_ESTABLISHED,
	CHS_EVENT_ICMP_LIMITED,
	CHS_EVENT_ICMP_OBEYED,
	CHS_ICMP_BAD_CHECKSUM,
	CHS_ICMP_NOT_LOCAL,
	CHS_ICMP_BAD_SOURCE,
	CHS_ICMP_WRONG_BACKEND,
	CHS_ICMP_WRONG_PORT,
	CHS_ICMP_TOO_LOW,
	CHS_ICMP_NOT_LOWER,
	CHS_ICMP_NO_MEMORY,
	CHS_ICMP_NO_FLOW,
	CHS_EVENT_NR
};

/**
 * struct chs_counters - what each steered packet counts, on one CPU
 * @syncp: guards the others on 32-bit machines
 * @packets: packets
 * @bytes: bytes from the network header on
 * @new_flows: flows
 * @last: jiffies of the latest packet; means nothing while @packets is 0
 * @sent_back: packets dropped because the backend is the neighbour that they came
 *	from; not of a service
 * @last_back: jiffies of the latest of them; means nothing while @sent_back is 0
 */
struct chs_counters {
	struct u64_stats_sync syncp;
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t new_flows;
	unsigned long last;
	u64_stats_t sent_back;
	unsigned long last_back;
};

/**
 * struct chs_events - rarer things, on one CPU
 * @syncp: guards @nr on 32-bit machines
 * @nr: count of each enum chs_event
 */
struct chs_events {
	struct u64_stats_sync syncp;
	u64_stats_t nr[CHS_EVENT_NR];
};

/**
 * struct chs_stats - counters of one service or backend
 * @counters: of every CPU
 * @events: of every CPU; NULL for a backend
 * @refs: one for each version of the service that holds them
 */
struct chs_stats {
	struct chs_counters __percpu *counters;
	struct chs_events __percpu *events;
	refcount_t refs;
};

/**
 * struct chs_sums - counters added up
 * @packets: packets
 * @bytes: bytes
 * @new_flows: flows
 * @idle: seconds since the latest packet, or -1 if there was none
 * @sent_back: packets that would have gone back to the neighbour they came from
 * @back_idle: seconds since the latest of them, or -1 if there was none
 * @events: count of each enum chs_event
 */
struct chs_sums {
	u64 packets;
	u64 bytes;
	u64 new_flows;
	s64 idle;
	u64 sent_back;
	s64 back_idle;
	u64 events[CHS_EVENT_NR];
};

struct chs_stats *chs_stats_alloc(bool events);
struct chs_stats *chs_stats_get(struct chs_stats *stats);
void chs_stats_put(struct chs_stats *stats);
void chs_stats_sum(const struct chs_stats *stats, struct chs_sums *sums);

/**
 * chs_stats_packet() - count a steered packet
 * @counters: of its service or backend
 * @bytes: length from the network header on
 *
 * Context: bottom halves off.
 */
static inline void chs_stats_packet(struct chs_counters __percpu *counters,
				    unsigned int bytes)
{
	struct chs_counters *here = this_cpu_ptr(counters);

	DEBUG_NET_WARN_ON_ONCE(!in_softirq());
	u64_stats_update_begin(&here->syncp);
	u64_stats_inc(&here->packets);
	u64_stats_add(&here->bytes, bytes);
	u64_stats_update_end(&here->syncp);
	here->last = jiffies;
}

/**
 * chs_stats_flow() - count a new flow
 * @counters: of its service or backend
 *
 * Context: bottom halves off.
 */
static inline void chs_stats_flow(struct chs_counters __percpu *counters)
{
	struct chs_counters *here = this_cpu_ptr(counters);

	DEBUG_NET_WARN_ON_ONCE(!in_softirq());
	u64_stats_update_begin(&here->syncp);
	u64_stats_inc(&here->new_flows);
	u64_stats_update_end(&here->syncp);
}

/**
 * chs_stats_back() - count a packet that a backend would have been sent back
 * @counters: of the backend
 *
 * Context: bottom halves off.
 */
static inline void chs_stats_back(struct chs_counters __percpu *counters)
{
	struct chs_counters *here = this_cpu_ptr(counters);

	DEBUG_NET_WARN_ON_ONCE(!in_softirq());
	u64_stats_update_begin(&here->syncp);
	u64_stats_inc(&here->sent_back);
	u64_stats_update_end(&here->syncp);
	here->last_back = jiffies;
}

/**
 * chs_stats_event() - count an event
 * @stats: of a service
 * @event: which
 *
 * Context: bottom halves off.
 */
static inline void chs_stats_event(struct chs_stats *stats,
				   enum chs_event event)
{
	struct chs_events *events = this_cpu_ptr(stats->events);

	DEBUG_NET_WARN_ON_ONCE(!in_softirq());
	u64_stats_update_begin(&events->syncp);
	u64_stats_inc(&events->nr[event]);
	u64_stats_update_end(&events->syncp);
}

#endif /* CHS_STATS_H */
