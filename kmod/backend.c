// SPDX-License-Identifier: GPL-2.0-only
/* Backends: one entry of a service's array, in the order of identities. */
#include "backend.h"

#include "endpoint.h"
#include "service.h"
#include "stats.h"

#include <linux/errno.h>
#include <linux/string.h>
#include <linux/ktime.h>
#include <linux/timekeeping.h>

/* First backend whose identity is not below @id. */
static u32 lower_bound(const struct chs_service *svc,
		       const struct chs_ring_id *id)
{
	u32 lo = 0, hi = svc->n_backends, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (chs_ring_id_cmp(&svc->backends[mid].id, id) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/**
 * chs_backend_find() - backend by identity
 * @svc: service
 * @id: address and port
 *
 * Context: any; under RCU or with the namespace's lock held.
 * Return: the backend, or NULL.
 */
struct chs_backend *chs_backend_find(const struct chs_service *svc,
				     const struct chs_ring_id *id)
{
	u32 at = lower_bound(svc, id);

	if (at == svc->n_backends ||
	    chs_ring_id_cmp(&svc->backends[at].id, id))
		return NULL;
	return &svc->backends[at];
}

/**
 * chs_backend_index() - where a backend is in a version of its service
 * @svc: the version
 * @member: the backend
 *
 * Context: under RCU, or with the namespace's lock held.
 * Return: its index, or CHS_RING_NONE if it is not there: one that was deleted
 * and added again is another.
 */
u16 chs_backend_index(const struct chs_service *svc,
		      const struct chs_member *member)
{
	u32 at = READ_ONCE(member->index);

	if (likely(at < svc->n_backends &&
		   svc->backends[at].member == member))
		return at;

	at = lower_bound(svc, &member->id);
	return at < svc->n_backends && svc->backends[at].member == member ?
	       at : CHS_RING_NONE;
}

/**
 * chs_backend_find_reached() - backend that a translated packet has reached
 * @svc: service
 * @addr: address that the packet was translated to
 * @port: port that it was translated to
 * @dport: port that the client sent it to
 *
 * Context: any; under RCU or with the namespace's lock held.
 * Return: the backend, or NULL.
 */
struct chs_backend *chs_backend_find_reached(const struct chs_service *svc,
					     const union chs_addr *addr,
					     __be16 port, __be16 dport)
{
	struct chs_ring_id id = { .addr = *addr, .port = port };
	struct chs_backend *backend;

	backend = chs_backend_find(svc, &id);
	if (backend || port != dport)
		return backend;

	id.port = 0;
	return chs_backend_find(svc, &id);
}

/**
 * chs_backend_add() - add a backend to a clone
 * @svc: a service that is not published
 * @id: identity; not there yet
 * @backend: where the new entry goes, up, with the service's unit as weight
 *
 * Moves the entries behind it; pointers to them do not survive.
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int chs_backend_add(struct chs_service *svc, const struct chs_ring_id *id,
		    struct chs_backend **backend)
{
	u32 at = lower_bound(svc, id);
	struct chs_member *member;
	int err;

	err = chs_service_reserve(svc, svc->n_backends + 1);
	if (err)
		return err;

	member = chs_member_alloc(id);
	if (!member)
		return -ENOMEM;

	memmove(&svc->backends[at + 1], &svc->backends[at],
		(svc->n_backends - at) * sizeof(*svc->backends));
	svc->n_backends++;
	svc->backends[at] = (struct chs_backend) {
		.id = *id,
		.state = CHS_STATE_UP,
		.weight = svc->conf.unit,
		.since = ktime_get_boottime(),
		.counters = member->stats->counters,
		.member = member,
	};
	*backend = &svc->backends[at];
	return 0;
}

/**
 * chs_backend_release() - let go of what an entry holds
 * @svc: its service
 * @backend: an entry that is no longer used
 *
 * Context: process; may sleep.
 */
void chs_backend_release(struct chs_service *svc, struct chs_backend *backend)
{
	chs_endpoint_put(svc->cn, backend->endpoint);
	chs_member_put(backend->member);
}

/**
 * chs_backend_del() - remove a backend from a clone
 * @svc: a service that is not published
 * @backend: one of its entries
 *
 * Context: any.
 */
void chs_backend_del(struct chs_service *svc, struct chs_backend *backend)
{
	u32 at = backend - svc->backends;

	chs_backend_release(svc, backend);
	svc->n_backends--;
	memmove(backend, backend + 1,
		(svc->n_backends - at) * sizeof(*backend));
}

/**
 * chs_backend_set_state() - give a backend of a clone a state
 * @backend: backend
 * @state: enum chsteer_state
 * @deadline: seconds from now that a drain may last, or 0
 * @delete: whether it goes then
 *
 * Cancels any deadline that it had.
 *
 * Context: any.
 */
void chs_backend_set_state(struct chs_backend *backend, u8 state,
			   u32 deadline, bool delete)
{
	if (backend->state != state)
		backend->since = ktime_get_boottime();
	backend->state = state;
	backend->expired = false;
	backend->delete = delete;
	backend->deadline = deadline;
	backend->expires = deadline ? ktime_get_seconds() + deadline : 0;
}

/**
 * chs_backend_same() - whether two entries are configured alike
 * @a: backend
 * @b: backend
 *
 * Progress of a deadline is not configuration.
 *
 * Context: any.
 * Return: true if so.
 */
bool chs_backend_same(const struct chs_backend *a, const struct chs_backend *b)
{
	return !chs_ring_id_cmp(&a->id, &b->id) && a->state == b->state &&
	       a->weight == b->weight && a->deadline == b->deadline &&
	       a->delete == b->delete && !strcmp(a->zone, b->zone);
}
