// SPDX-License-Identifier: GPL-2.0-only
/* The services of a namespace, by name and by address. */
#include "table.h"

#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#define SLOTS_MIN	8

static struct chs_index *index_alloc(u32 n_slots)
{
	struct chs_index *index;

	index = kvzalloc(struct_size(index, slots, n_slots),
			 GFP_KERNEL_ACCOUNT);
	if (!index)
		return NULL;

	index->mask = n_slots - 1;
	index->shift = 32 - ilog2(n_slots);
	return index;
}

static void index_put(struct chs_index *index, u32 hash,
		      struct chs_service *svc)
{
	u32 at = hash >> index->shift;

	while (index->slots[at].svc)
		at = (at + 1) & index->mask;
	index->slots[at].hash = hash;
	index->slots[at].svc = svc;
}

static struct chs_index *index_copy(const struct chs_index *from, u32 n_slots)
{
	struct chs_index *index = index_alloc(n_slots);
	u32 at;

	if (!index)
		return NULL;

	if (from && from->mask == index->mask) {
		memcpy(index, from, struct_size(from, slots, n_slots));
		return index;
	}
	for (at = 0; from && at <= from->mask; at++) {
		if (from->slots[at].svc)
			index_put(index, from->slots[at].hash,
				  from->slots[at].svc);
	}
	return index;
}

/* Grow before an insertion, so that the insertion itself cannot fail. */
static int index_reserve(struct chs_index **index, u32 n)
{
	struct chs_index *grown;

	if (n * 2 <= (*index)->mask + 1)
		return 0;

	grown = index_copy(*index, ((*index)->mask + 1) * 2);
	if (!grown)
		return -ENOMEM;
	kvfree(*index);
	*index = grown;
	return 0;
}

static u32 index_at(const struct chs_index *index, u32 hash,
		    const struct chs_service *svc)
{
	u32 at = hash >> index->shift;

	while (index->slots[at].svc != svc)
		at = (at + 1) & index->mask;
	return at;
}

/*
 * Remove without a tombstone: what stands behind the gap moves up if its home
 * is not between the gap and itself (Knuth, TAOCP 6.4, algorithm R).
 */
static void index_del(struct chs_index *index, u32 hash,
		      const struct chs_service *svc)
{
	u32 gap = index_at(index, hash, svc);
	u32 at = gap, home;

	for (;;) {
		at = (at + 1) & index->mask;
		if (!index->slots[at].svc)
			break;
		home = index->slots[at].hash >> index->shift;
		if (((at - home) & index->mask) < ((at - gap) & index->mask))
			continue;
		index->slots[gap] = index->slots[at];
		gap = at;
	}
	memset(&index->slots[gap], 0, sizeof(index->slots[gap]));
}

static bool is_range(const struct chs_service *svc)
{
	return !chs_service_one_port(svc) && !chs_service_any_port(svc);
}

static int range_cmp(const struct chs_service *svc, const union chs_addr *addr,
		     u8 proto, u16 port)
{
	int diff;

	if (svc->proto != proto)
		return svc->proto < proto ? -1 : 1;
	diff = memcmp(&svc->addr, addr, sizeof(*addr));
	if (diff)
		return diff;
	if (svc->lo != port)
		return svc->lo < port ? -1 : 1;
	return 0;
}

/* Number of ranges that start at or before @port of @addr and @proto. */
static u32 range_bound(const struct chs_table *table,
		       const union chs_addr *addr, u8 proto, u16 port)
{
	u32 lo = 0, hi = table->n_ranges, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (range_cmp(table->ranges[mid], addr, proto, port) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The one range of @addr and @proto that starts last of those up to @port. */
static struct chs_service *range_before(const struct chs_table *table,
					const union chs_addr *addr, u8 proto,
					u16 port)
{
	u32 at = range_bound(table, addr, proto, port);
	struct chs_service *svc;

	if (!at)
		return NULL;
	svc = table->ranges[at - 1];
	if (svc->proto != proto || !chs_addr_equal(&svc->addr, addr))
		return NULL;
	return svc;
}

static struct chs_service *key_find(const struct chs_table *table, u32 hash,
				    const union chs_addr *addr, u8 proto,
				    u16 port)
{
	const struct chs_index *index = table->by_key;
	u32 at = hash >> index->shift;
	struct chs_service *svc;

	for (; (svc = index->slots[at].svc); at = (at + 1) & index->mask) {
		if (index->slots[at].hash == hash && svc->proto == proto &&
		    svc->lo == port && chs_addr_equal(&svc->addr, addr))
			return svc;
	}
	return NULL;
}

/**
 * chs_table_lookup() - service that a packet is for
 * @table: table
 * @addr: destination address
 * @proto: protocol
 * @port: destination port
 *
 * An exact port goes before a range, a range before any port.
 *
 * Context: any; under RCU or with the namespace's lock held.
 * Return: the service, or NULL.
 */
struct chs_service *chs_table_lookup(const struct chs_table *table,
				     const union chs_addr *addr, u8 proto,
				     __be16 port)
{
	u16 host_port = ntohs(port);
	struct chs_service *svc;

	/* Port 0 is the key of "any port" and no service's own. */
	if (likely(host_port)) {
		svc = key_find(table, chs_table_hash(addr, proto, host_port),
			       addr, proto, host_port);
		if (svc)
			return svc;
	}

	if (table->n_ranges) {
		svc = range_before(table, addr, proto, host_port);
		if (svc && host_port <= svc->hi)
			return svc;
	}

	if (table->n_any && host_port)
		return key_find(table, chs_table_hash(addr, proto, 0), addr,
				proto, 0);
	return NULL;
}

/**
 * chs_table_holder() - service that stands in the way of another
 * @table: table
 * @svc: service not in it
 *
 * Context: any; under RCU or with the namespace's lock held.
 * Return: the service that has the same protocol, address and port, or an
 * overlapping range; or NULL.
 */
struct chs_service *chs_table_holder(const struct chs_table *table,
				     const struct chs_service *svc)
{
	struct chs_service *other;

	if (!is_range(svc))
		return key_find(table, svc->key_hash, &svc->addr, svc->proto,
				svc->lo);

	/* Ranges do not overlap each other, so the last to start is enough. */
	other = range_before(table, &svc->addr, svc->proto, svc->hi);
	return other && other->hi >= svc->lo ? other : NULL;
}

/**
 * chs_table_find() - service by name
 * @table: table
 * @name: name
 *
 * Context: any; under RCU or with the namespace's lock held.
 * Return: the service, or NULL.
 */
struct chs_service *chs_table_find(const struct chs_table *table,
				   const char *name)
{
	const struct chs_index *index = table->by_name;
	u32 hash = chs_service_hash_name(name);
	u32 at = hash >> index->shift;
	struct chs_service *svc;

	for (; (svc = index->slots[at].svc); at = (at + 1) & index->mask) {
		if (index->slots[at].hash == hash && !strcmp(svc->name, name))
			return svc;
	}
	return NULL;
}

/**
 * chs_table_next() - walk over all services, in no useful order
 * @table: table
 * @at: place to go on from, 0 at first; moved past the service returned
 *
 * Context: any; under RCU or with the namespace's lock held.
 * Return: the next service, or NULL at the end.
 */
struct chs_service *chs_table_next(const struct chs_table *table, u32 *at)
{
	const struct chs_index *index = table->by_name;

	while (*at <= index->mask) {
		struct chs_service *svc = index->slots[(*at)++].svc;

		if (svc)
			return svc;
	}
	return NULL;
}

/**
 * chs_table_clone() - make a table that may be changed
 * @from: table, or NULL for an empty one
 *
 * Context: process; may sleep.
 * Return: the table, or NULL.
 */
struct chs_table *chs_table_clone(const struct chs_table *from)
{
	struct chs_table *table;

	table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return NULL;

	if (from)
		*table = *from;
	table->ranges = NULL;
	table->by_key = index_copy(from ? from->by_key : NULL,
				   from ? from->by_key->mask + 1 : SLOTS_MIN);
	table->by_name = index_copy(from ? from->by_name : NULL,
				    from ? from->by_name->mask + 1 : SLOTS_MIN);
	if (table->n_ranges)
		table->ranges = kvmalloc_array(table->n_ranges,
					       sizeof(*table->ranges),
					       GFP_KERNEL_ACCOUNT);
	if (!table->by_key || !table->by_name ||
	    (table->n_ranges && !table->ranges)) {
		chs_table_free(table);
		return NULL;
	}

	if (table->n_ranges)
		memcpy(table->ranges, from->ranges,
		       table->n_ranges * sizeof(*table->ranges));
	return table;
}

/**
 * chs_table_free() - free a table, but not its services
 * @table: a table that no packet sees, or NULL
 *
 * Context: process; may sleep.
 */
void chs_table_free(struct chs_table *table)
{
	if (!table)
		return;

	kvfree(table->by_key);
	kvfree(table->by_name);
	kvfree(table->ranges);
	kfree(table);
}

static int range_insert(struct chs_table *table, struct chs_service *svc)
{
	u32 at = range_bound(table, &svc->addr, svc->proto, svc->lo);
	struct chs_service **ranges;

	ranges = kvmalloc_array(table->n_ranges + 1, sizeof(*ranges),
				GFP_KERNEL_ACCOUNT);
	if (!ranges)
		return -ENOMEM;

	if (table->n_ranges) {
		memcpy(ranges, table->ranges, at * sizeof(*ranges));
		memcpy(ranges + at + 1, table->ranges + at,
		       (table->n_ranges - at) * sizeof(*ranges));
	}
	ranges[at] = svc;
	kvfree(table->ranges);
	table->ranges = ranges;
	table->n_ranges++;
	return 0;
}

static u32 *nat_count(struct chs_table *table, const struct chs_service *svc)
{
	return &table->n_nat[chs_service_is_v6(svc)];
}

/**
 * chs_table_insert() - add a service
 * @table: a table that is not published
 * @svc: service; no other has its name or its key
 *
 * Context: process; may sleep.
 * Return: 0, or -ENOMEM with nothing changed.
 */
int chs_table_insert(struct chs_table *table, struct chs_service *svc)
{
	int err;

	err = index_reserve(&table->by_name, table->n_services + 1);
	if (err)
		return err;

	if (is_range(svc)) {
		err = range_insert(table, svc);
		if (err)
			return err;
	} else {
		err = index_reserve(&table->by_key, table->n_services + 1);
		if (err)
			return err;
		index_put(table->by_key, svc->key_hash, svc);
	}

	index_put(table->by_name, svc->name_hash, svc);
	table->n_services++;
	table->n_any += chs_service_any_port(svc);
	*nat_count(table, svc) += svc->mode == CHS_MODE_NAT;
	return 0;
}

/**
 * chs_table_remove() - take a service out
 * @table: a table that is not published
 * @svc: service in it
 *
 * Context: any.
 */
void chs_table_remove(struct chs_table *table, struct chs_service *svc)
{
	u32 at;

	if (is_range(svc)) {
		at = range_bound(table, &svc->addr, svc->proto, svc->lo) - 1;
		table->n_ranges--;
		memmove(table->ranges + at, table->ranges + at + 1,
			(table->n_ranges - at) * sizeof(*table->ranges));
	} else {
		index_del(table->by_key, svc->key_hash, svc);
	}

	index_del(table->by_name, svc->name_hash, svc);
	table->n_services--;
	table->n_any -= chs_service_any_port(svc);
	*nat_count(table, svc) -= svc->mode == CHS_MODE_NAT;
}

/**
 * chs_table_replace() - put one version of a service in the place of another
 * @table: a table that is not published
 * @from: version in it
 * @to: version with the same name, key and mode
 *
 * Context: any.
 */
void chs_table_replace(struct chs_table *table, struct chs_service *from,
		       struct chs_service *to)
{
	u32 at;

	if (is_range(from)) {
		at = range_bound(table, &from->addr, from->proto, from->lo);
		table->ranges[at - 1] = to;
	} else {
		at = index_at(table->by_key, from->key_hash, from);
		table->by_key->slots[at].svc = to;
	}
	at = index_at(table->by_name, from->name_hash, from);
	table->by_name->slots[at].svc = to;
}
