/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Services and backends as the tool holds them, and their way to and from
 * netlink messages.
 */
#ifndef CHCTL_MODEL_H
#define CHCTL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "nl.h"
#include "parse.h"

/* Room that a service or a backend takes in a request, its name apart. */
#define CTL_SERVICE_ROOM	256
#define CTL_BACKEND_ROOM	96
/* Longer words are not sent; the kernel's own limits are far below. */
#define CTL_NAME_MAX		1024

/**
 * struct ctl_stats - counters of a service
 * @told: attribute bits of the counters that were told
 * @counts: counters, indexed by attribute
 * @drops: drops by reason, indexed by attribute
 * @icmp_told: attribute bits of the next that were told
 * @icmp_ignored: ICMP errors not obeyed, by reason, indexed by attribute
 */
struct ctl_stats {
	uint32_t told;
	uint64_t counts[CHS_A_STATS_MAX + 1];
	uint64_t drops[CHS_A_DROPS_MAX + 1];
	uint32_t icmp_told;
	uint64_t icmp_ignored[CHS_A_ICMP_IGNORED_MAX + 1];
};

/**
 * struct ctl_service - a service
 * @name: its key
 * @proto: IPPROTO_...
 * @ep: virtual address and ports
 * @present: attribute bits of the options that are set
 * @mode: enum chsteer_mode
 * @hash: enum chsteer_flow_hash
 * @points: points of a standard backend
 * @unit: weight of a standard backend
 * @slots: arcs of the ring
 * @balance: most over the fair share, in hundredths; 0 is off
 * @seed: key of every hash
 * @affinity: enum chsteer_affinity
 * @window: seconds for which an arc remembers its former owner
 * @max_flows: most flows remembered
 * @timeout: seconds of idleness after which a flow may be forgotten
 * @on_empty: enum chsteer_on_empty
 * @masquerade: 1 for on
 * @gue_port: outer UDP port
 * @source: outer source address, none if it is by route
 * @vrf: VRF device that packets arrive in, or NULL
 * @forced: it was taken by force
 * @seed_default: whether its seed is the documented one
 * @n_backends: number of its backends
 * @generation: number of its rings
 * @digest: of its ring
 * @status: attribute bits of the status fields that were told
 * @open: arcs that are not settled
 * @settles_in: seconds until they are
 * @tracked_flows: flows remembered
 * @vrf_present: a VRF device of that name is there
 * @stats: counters
 * @first: its first backend in a snapshot
 * @n: number of them there
 */
struct ctl_service {
	const char *name;
	uint8_t proto;
	struct ctl_endpoint ep;

	uint32_t present;
	uint32_t mode;
	uint32_t hash;
	uint32_t points;
	uint32_t unit;
	uint32_t slots;
	uint32_t balance;
	uint8_t seed[CTL_SEED_BYTES];
	uint32_t affinity;
	uint32_t window;
	uint32_t max_flows;
	uint32_t timeout;
	uint32_t on_empty;
	uint32_t masquerade;
	uint32_t gue_port;
	struct ctl_addr source;
	const char *vrf;
	bool forced;

	bool seed_default;
	uint32_t n_backends;
	uint64_t generation;
	uint64_t digest;
	uint32_t status;
	uint32_t open;
	uint32_t settles_in;
	uint32_t tracked_flows;
	bool vrf_present;
	struct ctl_stats stats;

	uint32_t first;
	uint32_t n;
};

/**
 * struct ctl_backend - a backend
 * @service: index of its service in a snapshot
 * @ep: address and port
 * @present: attribute bits of the options that are set
 * @weight: weight
 * @state: enum chsteer_state
 * @zone: label
 * @deadline: seconds
 * @status: attribute bits of the status fields that were told
 * @deadline_left: seconds left of @deadline
 * @slots: arcs owned
 * @idle: seconds since its last packet
 * @since: when it took its state, seconds since 1970
 * @packets: packets steered to it
 * @bytes: their bytes
 * @new_flows: flows given to it
 * @tracked_flows: flows remembered as its
 * @sent_back: packets dropped that came from its own MAC address
 * @obstacle: enum chsteer_obstacle
 * @line: line of the file that names it, 0 if the kernel does
 */
struct ctl_backend {
	uint32_t service;
	struct ctl_endpoint ep;

	uint32_t present;
	uint32_t weight;
	uint32_t state;
	const char *zone;
	uint32_t deadline;

	uint32_t status;
	uint32_t deadline_left;
	uint32_t slots;
	uint32_t idle;
	uint64_t since;
	uint64_t packets;
	uint64_t bytes;
	uint64_t new_flows;
	uint32_t tracked_flows;
	uint64_t sent_back;
	uint32_t obstacle;
	unsigned long line;
};

extern const struct ctl_keyword ctl_service_keywords[];
extern const struct ctl_keyword ctl_backend_keywords[];
extern const char *const ctl_modes[];
extern const char *const ctl_hashes[];
extern const char *const ctl_on_empties[];
extern const char *const ctl_affinities[];
extern const char *const ctl_states[];
extern const char *const ctl_reasons[];
extern const char *const ctl_drop_reasons[];
extern const char *const ctl_icmp_reasons[];

int ctl_put_txn(struct nl_msg *msg);
int ctl_put_flags(struct nl_msg *msg, uint32_t flags);
int ctl_put_service_name(struct nl_msg *msg, const char *name);
int ctl_put_service(struct nl_msg *msg, const struct ctl_service *svc, bool key);
int ctl_put_backend(struct nl_msg *msg, const struct ctl_endpoint *ep,
		    const struct ctl_backend *be);
int ctl_get_service(struct nlattr **tb, struct ctl_service *svc);
int ctl_get_backend(struct nlattr **tb, struct ctl_backend *be);
void ctl_get_endpoint(const struct nlattr *addr, const struct nlattr *port,
		      struct ctl_endpoint *ep);
const char *ctl_get_service_name(struct nlattr **tb);
int ctl_bad_reply(void);

#endif /* CHCTL_MODEL_H */
