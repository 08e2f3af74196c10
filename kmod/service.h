/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Services. A struct chs_service is one *version* of a service: once published
 * it never changes. A change clones the service, edits the clone and publishes
 * a table that has the clone in its place (txn.c). So a packet sees
 * options, backends and arcs that belong together, without a lock.
 *
 * Objects that outlive a version are reference-counted: the counters and, where no
 * backend changed, the ring.
 */
#ifndef CHS_SERVICE_H
#define CHS_SERVICE_H

#include <linux/chsteer.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include "backend.h"
#include "ring.h"

struct chs_counters;
struct chs_edit;
struct chs_flows;
struct chs_msg;
struct chs_net;
struct chs_transition;
struct mem_cgroup;
struct chs_vrf;

#define CHS_NAME_LEN		32
#define CHS_SERVICES_MAX	65535

/* Seconds. */
#define CHS_WINDOW_MAX		86400
#define CHS_WINDOW_DEFAULT	900

#define CHS_GUE_PORT_DEFAULT	6080

/**
 * struct chs_ring_ref - a ring that versions of a service share
 * @refs: one a version
 * @ring: the ring
 */
struct chs_ring_ref {
	refcount_t refs;
	struct chs_ring ring;
};

/**
 * struct chs_service - one version of a service
 * @addr: virtual address
 * @arcs: owners of the arcs, inside @ring
 * @backends: in the order of identities, as indexed by @arcs
 * @counters: those of @stats that each packet counts
 * @conf: how the ring is made; also the key and kind of the flows' hash
 * @n_backends: number of @backends
 * @lo: first port, host order; 0 with any port
 * @hi: last port; 65535 with any port
 * @proto: IPPROTO_*
 * @mode: enum chsteer_mode
 * @on_empty: enum chsteer_on_empty
 * @masquerade: translate the source as well
 * @empty: no arc has an owner
 * @affinity: enum chsteer_affinity; means nothing in mode nat
 * @vrf: number of the VRF (struct chs_vrf.id), 0 for outside of any
 * @gue_port: outer UDP port
 * @window: seconds for which an arc remembers its former owner
 * @timeout: seconds of idleness after which a flow may be forgotten
 * @max_flows: most flows that are remembered
 * @transition: arcs that are not settled, or NULL
 * @stats: counters, shared by all versions
 * @flows: flows that are remembered; NULL in mode nat and with affinity ring
 * @seed_default: the key is the documented one
 * @timeout_set: @timeout was given; else it is @window
 * @source: outer source address; all zero is by route
 * @vrf_ref: the VRF, with a reference; NULL for outside of any
 * @cn: namespace
 * @memcg: memory cgroup of the process that added it, with a reference; or NULL
 * @forced: taken although it may hold this host's port 22
 * @name: key for the user
 * @name_hash: hash of @name
 * @key_hash: hash of protocol, address and port
 * @generation: rings published so far
 * @ring: the ring, with its points; NULL in a clone until it is built
 * @room: number of backends that fit into @backends
 * @edit: the open transaction's note of this clone; NULL once published
 */
struct chs_service {
	/* Read for every packet. */
	union chs_addr addr;
	const u16 *arcs;
	struct chs_backend *backends;
	struct chs_counters __percpu *counters;
	struct chs_ring_conf conf;
	u32 n_backends;
	u16 lo;
	u16 hi;
	u8 proto;
	u8 mode;
	u8 on_empty;
	bool masquerade;
	bool empty;
	u8 affinity;
	s32 vrf;
	__be16 gue_port;
	u32 window;
	u32 timeout;
	u32 max_flows;
	struct chs_transition __rcu *transition;
	struct chs_stats *stats;
	struct chs_flows *flows;

	/* Read by the control plane only. */
	bool seed_default;
	bool timeout_set;
	union chs_addr source;
	struct chs_vrf *vrf_ref;
	struct chs_net *cn;
	struct mem_cgroup *memcg;
	bool forced;
	char name[CHS_NAME_LEN];
	u32 name_hash;
	u32 key_hash;
	u64 generation;
	struct chs_ring_ref *ring;
	u32 room;
	struct chs_edit *edit;
};

static inline bool chs_service_is_v6(const struct chs_service *svc)
{
	return !chs_addr_is_v4(&svc->addr);
}

static inline bool chs_service_any_port(const struct chs_service *svc)
{
	return !svc->lo;
}

static inline bool chs_service_one_port(const struct chs_service *svc)
{
	return svc->lo == svc->hi;
}

/**
 * chs_service_default_port() - port of a backend that is given none
 * @svc: its service
 *
 * Context: any.
 * Return: the service's port, or 0 where the packet's is kept.
 */
static inline __be16 chs_service_default_port(const struct chs_service *svc)
{
	return chs_service_one_port(svc) ? htons(svc->lo) : 0;
}

u32 chs_service_hash_name(const char *name);

static inline bool chs_service_is_direct(const struct chs_service *svc)
{
	return svc->mode != CHS_MODE_NAT;
}

/**
 * chs_service_has_source() - whether a service names the outer source address
 * @svc: service
 *
 * Context: any.
 * Return: false if it is by route.
 */
static inline bool chs_service_has_source(const struct chs_service *svc)
{
	return svc->source.q[0] | svc->source.q[1];
}

struct chs_service *chs_service_alloc(struct chs_net *cn);
struct chs_service *chs_service_clone(const struct chs_service *from);
void chs_service_free(struct chs_service *svc);
int chs_service_reserve(struct chs_service *svc, u32 n_backends);
u64 chs_service_points(const struct chs_service *svc);
int chs_service_build(struct chs_service *svc, const struct chs_service *prev);
void chs_service_published(struct chs_service *svc,
			   const struct chs_service *prev);
bool chs_service_same(const struct chs_service *a, const struct chs_service *b);
bool chs_service_unchanged(const struct chs_service *old,
			   const struct chs_service *new);
void chs_service_warn(const struct chs_service *svc, struct chs_msg *msg);
const char *chs_service_str(char *buf, const struct chs_service *svc);

#endif /* CHS_SERVICE_H */
