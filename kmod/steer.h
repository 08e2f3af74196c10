/* SPDX-License-Identifier: GPL-2.0-only */
/* From a flow to the backend that it goes to. */
#ifndef CHS_STEER_H
#define CHS_STEER_H

#include <linux/types.h>

#include "packet.h"
#include "service.h"

struct chs_table;
struct net;
struct nf_hook_state;

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

void chs_steer_ring(const struct chs_service *svc,
		    const struct chs_tuple *tuple, struct chs_verdict *verdict);
void chs_steer_packet(const struct chs_service *svc,
		      const struct chs_packet *pkt,
		      struct chs_verdict *verdict);
const struct chs_service *chs_steer_service(const struct chs_table *table,
					    const struct chs_tuple *tuple,
					    s32 vrf);
bool chs_steer_foreign(const struct nf_hook_state *state);
int chs_steer_lookup(struct net *net, const struct chs_table *table,
		     const struct chs_tuple *tuple, s32 vrf, bool established,
		     struct chs_verdict *verdict);

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
