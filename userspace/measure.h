/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Figures of a scheme: evenness, disruption by a change, cost.
 *
 * To be included last: ring.h has types that stand in for the kernel's.
 */
#ifndef CHCTL_MEASURE_H
#define CHCTL_MEASURE_H

#include "nodes.h"
#include "scheme.h"

/* Event that a scheme is measured under. */
enum ctl_event {
	/* One of them goes. */
	CTL_EVENT_REMOVE,
	/* One like it comes beside it. */
	CTL_EVENT_ADD,
	/* Its weight is halved. */
	CTL_EVENT_WEIGHT,
};

/* With more backends than this, only as many of them take a turn. */
#define CTL_TURNS_MAX	100

/**
 * struct ctl_figures - what was measured of a scheme
 * @keys: number of keys by which shares were told
 * @peak: largest share over its target
 * @spread: standard deviation of shares, each over its target
 * @moves: it can do the event; else the next three are not set
 * @moved: keys that got another owner, over all turns
 * @least: those that had to, over all turns
 * @of: keys, over all turns
 * @lookup_ns: time to steer a key by its hash
 * @build_ms: time to make its state from nothing
 * @bytes: memory
 */
struct ctl_figures {
	uint32_t keys;
	double peak;
	double spread;
	bool moves;
	uint64_t moved;
	uint64_t least;
	uint64_t of;
	double lookup_ns;
	double build_ms;
	uint64_t bytes;
};

uint32_t ctl_measure_turns(uint32_t n);
int ctl_measure(const struct ctl_scheme *scheme, const struct ctl_nodes *nodes,
		enum ctl_event event, struct ctl_figures *figures);

#endif /* CHCTL_MEASURE_H */
