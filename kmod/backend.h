/* SPDX-License-Identifier: GPL-2.0-only */
/* Backends: one entry of a service's array, in the order of identities. */
#ifndef CHS_BACKEND_H
#define CHS_BACKEND_H

#include <linux/cache.h>
#include <linux/chsteer.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "affinity.h"
#include "member.h"
#include "ring.h"

struct chs_counters;
struct chs_endpoint;
struct chs_service;

#define CHS_ZONE_LEN		32

/* Seven days. */
#define CHS_DEADLINE_MAX	604800

/**
 * struct chs_backend - one backend of one version of a service
 * @id: address and port; port 0 keeps the packet's
 * @counters: @member's
 * @endpoint: where its packets go; NULL in mode nat, and until a version is
 *	built
 * @member: what all versions share
 * @state: enum chsteer_state
 * @expired: its drain deadline has passed: its flows are not its own any more
 * @delete: it goes when the deadline passes
 * @named: the open transaction named it
 * @weight: as given; kept through drain and down
 * @deadline: seconds asked for, 0 for none
 * @expires: when the deadline passes, monotonic seconds; 0 once it has
 * @since: when it took @state, time since boot: the wall clock may be set
 * @zone: label
 *
 * A packet finds it by its index: a power of two is a shift.
 */
struct chs_backend {
	/* Read for every packet. */
	struct chs_ring_id id;
	struct chs_counters __percpu *counters;
	struct chs_endpoint *endpoint;

	struct chs_member *member;
	u8 state;
	bool expired;
	bool delete;
	bool named;
	u32 weight;
	u32 deadline;
	time64_t expires;
	ktime_t since;
	char zone[CHS_ZONE_LEN];
} ____cacheline_aligned;

/**
 * chs_backend_alive() - whether a backend may keep the flows that it has
 * @backend: backend
 *
 * Context: any.
 * Return: true for up and for drain before its deadline, whatever the weight.
 */
static inline bool chs_backend_alive(const struct chs_backend *backend)
{
	return backend->state != CHS_STATE_DOWN && !backend->expired;
}

/**
 * chs_backend_share() - weight by which a backend is given new flows
 * @backend: backend
 *
 * Context: any.
 * Return: its weight if it is up, else 0.
 */
static inline u32 chs_backend_share(const struct chs_backend *backend)
{
	return backend->state == CHS_STATE_UP ? backend->weight : 0;
}

/**
 * chs_backend_health() - what a backend may be given
 * @backend: backend
 *
 * Context: any.
 * Return: its health; one that weighs nothing drains.
 */
static inline enum chs_health
chs_backend_health(const struct chs_backend *backend)
{
	if (!chs_backend_alive(backend))
		return CHS_HEALTH_DEAD;
	return chs_backend_share(backend) ? CHS_HEALTH_UP :
					    CHS_HEALTH_DRAINING;
}

struct chs_backend *chs_backend_find(const struct chs_service *svc,
				     const struct chs_ring_id *id);
u16 chs_backend_index(const struct chs_service *svc,
		      const struct chs_member *member);
struct chs_backend *chs_backend_find_reached(const struct chs_service *svc,
					     const union chs_addr *addr,
					     __be16 port, __be16 dport);
int chs_backend_add(struct chs_service *svc, const struct chs_ring_id *id,
		    struct chs_backend **backend);
void chs_backend_release(struct chs_service *svc, struct chs_backend *backend);
void chs_backend_del(struct chs_service *svc, struct chs_backend *backend);
void chs_backend_set_state(struct chs_backend *backend, u8 state,
			   u32 deadline, bool delete);
bool chs_backend_same(const struct chs_backend *a, const struct chs_backend *b);

#endif /* CHS_BACKEND_H */
