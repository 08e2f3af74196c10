/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Input of a ring build, from services and backends as the tool holds them.
 *
 * To be included last: ring.h has types that stand in for the kernel's.
 */
#ifndef CHCTL_NODES_H
#define CHCTL_NODES_H

#include "snap.h"

#include "ring.h"

/**
 * struct ctl_nodes - what a ring is built of
 * @conf: configuration
 * @nodes: the backends in the order of identities
 * @n: number of them
 */
struct ctl_nodes {
	struct chs_ring_conf conf;
	struct chs_ring_node *nodes;
	uint32_t n;
};

int ctl_nodes_defaults(struct ctl_service *svc);
int ctl_nodes_check(const struct chs_ring_conf *conf);
int ctl_nodes_of(const struct ctl_snap *snap, const struct ctl_service *svc,
		 struct ctl_nodes *nodes);
int ctl_nodes_active(struct ctl_nodes *nodes, const char *name);
int ctl_nodes_make(struct ctl_nodes *nodes, uint32_t n);
void ctl_nodes_free(struct ctl_nodes *nodes);
void ctl_node_id(const struct ctl_endpoint *ep, struct chs_ring_id *id);
void ctl_node_endpoint(const struct chs_ring_id *id, struct ctl_endpoint *ep);
int ctl_ring_failed(int err);

#endif /* CHCTL_NODES_H */
