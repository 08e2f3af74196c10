// SPDX-License-Identifier: GPL-2.0-only
/*
 * Services and backends as they were at one moment.
 *
 * A dump tells if something changed while it ran, but services and backends
 * come from two. So services are read before and after: if they are the same,
 * what was read between belongs to them. If not, it all begins anew, a bounded
 * number of times.
 */
#include "snap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"

static int no_memory(void)
{
	return ctl_fail(ENOMEM, "out of memory");
}

/* Room for one more of an array that doubles when full. */
static void *grow(void *array, uint32_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	return reallocarray(array, n ? 2 * (size_t)n : 1, size);
}

/**
 * ctl_snap_add_service() - add a service to a snapshot
 * @snap: snapshot
 * @svc: service; what it names is copied
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_snap_add_service(struct ctl_snap *snap, struct ctl_service svc)
{
	struct ctl_service *array = grow(snap->services, snap->n_services, sizeof(*array));

	if (!array)
		return no_memory();
	snap->services = array;
	svc.name = strdup(svc.name);
	svc.vrf = svc.vrf ? strdup(svc.vrf) : NULL;
	if (!svc.name)
		return no_memory();
	array[snap->n_services++] = svc;
	return CTL_OK;
}

/**
 * ctl_snap_add_backend() - add a backend to a snapshot
 * @snap: snapshot
 * @svc: service in it
 * @be: backend of it; its zone is the snapshot's to free then
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_snap_add_backend(struct ctl_snap *snap, const struct ctl_service *svc,
			 struct ctl_backend be)
{
	struct ctl_backend *array = grow(snap->backends, snap->n_backends, sizeof(*array));

	if (!array)
		return no_memory();
	snap->backends = array;
	be.service = svc - snap->services;
	snap->services[be.service].n++;
	array[snap->n_backends++] = be;
	return CTL_OK;
}

static int take_service(struct nlattr **tb, void *arg)
{
	struct ctl_service svc;
	int ret;

	ret = ctl_get_service(tb, &svc);
	return ret ? ret : ctl_snap_add_service(arg, svc);
}

static int by_name(const void *a, const void *b)
{
	const struct ctl_service *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static struct ctl_service *find_service(const struct ctl_snap *snap, const char *name)
{
	const struct ctl_service key = { .name = name };

	if (!snap->n_services)
		return NULL;
	return bsearch(&key, snap->services, snap->n_services, sizeof(key), by_name);
}

static int take_backend(struct nlattr **tb, void *arg)
{
	const char *name = ctl_get_service_name(tb);
	struct ctl_snap *snap = arg;
	struct ctl_service *svc;
	struct ctl_backend be;
	int ret;

	if (!name)
		return ctl_bad_reply();
	ret = ctl_get_backend(tb, &be);
	if (ret)
		return ret;
	svc = find_service(snap, name);
	if (!svc)
		return ctl_fail(EAGAIN, "service %s came meanwhile", name);
	if (be.zone)
		be.zone = strdup(be.zone);
	return ctl_snap_add_backend(snap, svc, be);
}

/**
 * struct scope - what is to be read
 * @name: name of one service, or NULL for all
 * @txn: id of a transaction that has had its dry run, or 0 for what is in force
 */
struct scope {
	const char *name;
	uint32_t txn;
};

static struct nl_msg *scope_msg(uint8_t cmd, const struct scope *scope)
{
	struct nl_msg *msg = ctl_nl_msg(cmd, CTL_SERVICE_ROOM +
					(scope->name ? strlen(scope->name) : 0));
	int ret = CTL_OK;

	if (!msg)
		return NULL;
	if (scope->txn && nla_put_u32(msg, CHS_A_TXN, scope->txn))
		ret = no_memory();
	if (!ret && scope->name)
		ret = ctl_put_service_name(msg, scope->name);
	if (ret) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

/* One by one a service is asked for: an unknown name is to be an error. */
static int load_services(struct ctl_snap *snap, const struct scope *scope)
{
	struct nl_msg *msg;
	int ret;

	msg = scope_msg(CHS_CMD_SERVICE_GET, scope);
	if (!msg)
		return CTL_FAILED;
	if (scope->name)
		return ctl_nl_do(msg, take_service, snap);

	ret = ctl_nl_dump(msg, take_service, snap);
	if (!ret && snap->n_services)
		qsort(snap->services, snap->n_services, sizeof(*snap->services), by_name);
	return ret;
}

static int load_backends(struct ctl_snap *snap, const struct scope *scope)
{
	struct nl_msg *msg = scope_msg(CHS_CMD_BACKEND_GET, scope);

	return msg ? ctl_nl_dump(msg, take_backend, snap) : CTL_FAILED;
}

/* A service's backends behind each other, their order kept: counting sort. */
static int group_backends(struct ctl_snap *snap)
{
	struct ctl_backend *sorted;
	uint32_t i, first = 0;

	if (!snap->n_backends)
		return CTL_OK;
	sorted = calloc(snap->n_backends, sizeof(*sorted));
	if (!sorted)
		return no_memory();

	for (i = 0; i < snap->n_services; i++) {
		snap->services[i].first = first;
		first += snap->services[i].n;
		snap->services[i].n = 0;
	}
	for (i = 0; i < snap->n_backends; i++) {
		struct ctl_service *svc = &snap->services[snap->backends[i].service];

		sorted[svc->first + svc->n++] = snap->backends[i];
	}
	free(snap->backends);
	snap->backends = sorted;
	return CTL_OK;
}

static bool same_option(const struct ctl_keyword *kw, const void *a, const void *b)
{
	const char *const *text_a = a, *const *text_b = b;

	switch (kw->kind) {
	case CTL_KW_SEED:
		return !memcmp(a, b, CTL_SEED_BYTES);
	case CTL_KW_ADDRESS:
		return !memcmp(a, b, sizeof(struct ctl_addr));
	case CTL_KW_STRING:
		return *text_a == *text_b || (*text_a && *text_b && !strcmp(*text_a, *text_b));
	default:
		return *(const uint32_t *)a == *(const uint32_t *)b;
	}
}

static bool same_options(const struct ctl_keyword *kw, const void *a, const void *b)
{
	for (; kw->name; kw++) {
		if (!same_option(kw, (const char *)a + kw->offset, (const char *)b + kw->offset))
			return false;
	}
	return true;
}

static bool same_service(const struct ctl_service *a, const struct ctl_service *b)
{
	return !strcmp(a->name, b->name) && a->proto == b->proto &&
	       ctl_endpoint_same(&a->ep, &b->ep) && a->present == b->present &&
	       a->generation == b->generation && a->digest == b->digest &&
	       a->n_backends == b->n_backends &&
	       same_options(ctl_service_keywords, a, b);
}

/**
 * ctl_snap_same() - whether a service is configured alike in two snapshots
 * @x: snapshot
 * @a: service in it
 * @y: another snapshot
 * @b: service in that
 *
 * Return: true if so, its backends included.
 */
bool ctl_snap_same(const struct ctl_snap *x, const struct ctl_service *a,
		   const struct ctl_snap *y, const struct ctl_service *b)
{
	uint32_t i;

	if (!same_service(a, b))
		return false;
	for (i = 0; i < a->n; i++) {
		const struct ctl_backend *p = &x->backends[a->first + i];
		const struct ctl_backend *q = &y->backends[b->first + i];

		if (!ctl_endpoint_same(&p->ep, &q->ep) || p->present != q->present ||
		    !same_options(ctl_backend_keywords, p, q))
			return false;
	}
	return true;
}

/* Compare with the services as they are now, and count the backends. */
static int check(const struct ctl_snap *snap, const struct scope *scope)
{
	struct ctl_snap now = {};
	uint32_t i;
	int ret;

	ret = load_services(&now, scope);
	if (!ret && now.n_services != snap->n_services)
		ret = CTL_FAILED;
	for (i = 0; !ret && i < now.n_services; i++) {
		if (!same_service(&now.services[i], &snap->services[i]) ||
		    snap->services[i].n != snap->services[i].n_backends)
			ret = CTL_FAILED;
	}
	ctl_snap_free(&now);
	if (ret && (!ctl_err_code() || ctl_err_code() == EAGAIN))
		return ctl_fail(EAGAIN, "the list changed while it was read");
	return ret;
}

static int load_all(struct ctl_snap *snap, const struct scope *scope)
{
	int ret;

	ret = load_services(snap, scope);
	if (!ret)
		ret = load_backends(snap, scope);
	if (!ret)
		ret = check(snap, scope);
	if (!ret)
		ret = group_backends(snap);
	return ret;
}

/**
 * struct wanted - what is to be read, and how
 * @snap: where it goes
 * @scope: what
 * @load: reads it
 */
struct wanted {
	struct ctl_snap snap;
	const struct scope *scope;
	int (*load)(struct ctl_snap *snap, const struct scope *scope);
};

static int load_once(void *arg)
{
	struct wanted *wanted = arg;
	int ret;

	ret = wanted->load(&wanted->snap, wanted->scope);
	if (ret)
		ctl_snap_free(&wanted->snap);
	return ret;
}

static int load_whole(struct ctl_snap *snap, const struct scope *scope,
		      int (*load)(struct ctl_snap *snap, const struct scope *scope))
{
	struct wanted wanted = { .scope = scope, .load = load };
	int ret;

	ret = ctl_nl_retry("list", load_once, &wanted);
	*snap = wanted.snap;
	return ret;
}

/**
 * ctl_snap_services() - read services without their backends
 * @snap: where they go
 * @name: name of one, or NULL for all
 *
 * Return: CTL_OK, or CTL_FAILED and @snap is empty.
 */
int ctl_snap_services(struct ctl_snap *snap, const char *name)
{
	const struct scope scope = { .name = name };

	return load_whole(snap, &scope, load_services);
}

/**
 * ctl_snap_all() - read services with their backends
 * @snap: where they go
 * @name: name of one service, or NULL for all
 *
 * Return: CTL_OK, or CTL_FAILED and @snap is empty.
 */
int ctl_snap_all(struct ctl_snap *snap, const char *name)
{
	const struct scope scope = { .name = name };

	return load_whole(snap, &scope, load_all);
}

/**
 * ctl_snap_txn() - read services with their backends as they would be
 * @snap: where they go
 * @name: name of one service, or NULL for all
 * @txn: transaction that has had its dry run
 *
 * Return: CTL_OK, or CTL_FAILED and @snap is empty.
 */
int ctl_snap_txn(struct ctl_snap *snap, const char *name, uint32_t txn)
{
	const struct scope scope = { .name = name, .txn = txn };

	return load_whole(snap, &scope, load_all);
}

/**
 * ctl_snap_find() - service of a snapshot by its name
 * @snap: snapshot
 * @name: name
 *
 * Return: the service or NULL.
 */
const struct ctl_service *ctl_snap_find(const struct ctl_snap *snap, const char *name)
{
	return find_service(snap, name);
}

/**
 * ctl_snap_free() - free what was read
 * @snap: the snapshot, empty then
 */
void ctl_snap_free(struct ctl_snap *snap)
{
	uint32_t i;

	for (i = 0; i < snap->n_services; i++) {
		free((char *)snap->services[i].name);
		free((char *)snap->services[i].vrf);
	}
	for (i = 0; i < snap->n_backends; i++)
		free((char *)snap->backends[i].zone);
	free(snap->services);
	free(snap->backends);
	memset(snap, 0, sizeof(*snap));
}
