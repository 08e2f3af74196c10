// SPDX-License-Identifier: GPL-2.0-only
/* The services of a namespace, by name and by address. */
#include "table.h"

#include "endpoint.h"

#include <linux/bitmap.h>
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#define SLOTS_MIN	8

/* One packet of sixteen for an address of nobody is looked up in vain. */
#define FILTER_BITS	16
#define FILTER_MIN	512

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

/*
 * Position of @svc itself, or of the empty bucket that ends the search for it.
 */
static u32 index_at(const struct chs_index *index, u32 hash,
		    const struct chs_service *svc)
{
	u32 at = hash >> index->shift;

	while (index->slots[at].svc && index->slots[at].svc != svc)
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

	if (!index->slots[gap].svc)
		return;
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

/* By address and VRF first, so that those of an address are together. */
static int place_cmp(const struct chs_service *svc, const union chs_addr *addr,
		     s32 vrf)
{
	int diff = memcmp(&svc->addr, addr, sizeof(*addr));

	if (diff)
		return diff;
	return svc->vrf == vrf ? 0 : svc->vrf < vrf ? -1 : 1;
}

static int key_cmp(const struct chs_service *svc, const union chs_addr *addr,
		   s32 vrf, u8 proto, u32 ports)
{
	u32 own = (u32)svc->lo << 16 | svc->hi;
	int diff = place_cmp(svc, addr, vrf);

	if (diff)
		return diff;
	if (svc->proto != proto)
		return svc->proto < proto ? -1 : 1;
	return own == ports ? 0 : own < ports ? -1 : 1;
}

/* Number of services of @list up to first and last port @ports. */
static u32 list_bound(const struct chs_list *list, const union chs_addr *addr,
		      s32 vrf, u8 proto, u32 ports)
{
	u32 lo = 0, hi = list->n, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (key_cmp(list->svcs[mid], addr, vrf, proto, ports) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static u32 list_bound_of(const struct chs_list *list,
			 const struct chs_service *svc)
{
	return list_bound(list, &svc->addr, svc->vrf, svc->proto,
			  (u32)svc->lo << 16 | svc->hi);
}

/*
 * Position of @svc itself, or the end. Services of a list have different keys, but
 * a removal must not rely on it: it would take another service's entry.
 */
static u32 list_at(const struct chs_list *list, const struct chs_service *svc)
{
	u32 at = list_bound_of(list, svc);

	if (likely(at && list->svcs[at - 1] == svc))
		return at - 1;
	for (at = 0; at < list->n && list->svcs[at] != svc; at++)
		;
	return at;
}

/* Grow before an insertion, so that the insertion itself cannot fail. */
static int list_reserve(struct chs_list *list, u32 n)
{
	struct chs_service **svcs;
	u32 room;

	if (n <= list->room)
		return 0;

	room = max3(n, list->n * 2, (u32)SLOTS_MIN);
	svcs = kvmalloc_array(room, sizeof(*svcs), GFP_KERNEL_ACCOUNT);
	if (!svcs)
		return -ENOMEM;
	if (list->n)
		memcpy(svcs, list->svcs, list->n * sizeof(*svcs));
	kvfree(list->svcs);
	list->svcs = svcs;
	list->room = room;
	return 0;
}

static int list_copy(struct chs_list *list, const struct chs_list *from)
{
	list->svcs = NULL;
	list->n = 0;
	list->room = 0;
	if (list_reserve(list, from->n))
		return -ENOMEM;
	if (from->n)
		memcpy(list->svcs, from->svcs, from->n * sizeof(*list->svcs));
	list->n = from->n;
	return 0;
}

static void list_insert(struct chs_list *list, struct chs_service *svc)
{
	u32 at = list_bound_of(list, svc);

	memmove(list->svcs + at + 1, list->svcs + at,
		(list->n - at) * sizeof(*list->svcs));
	list->svcs[at] = svc;
	list->n++;
}

static void list_del_svc(struct chs_list *list, const struct chs_service *svc)
{
	u32 at = list_at(list, svc);

	if (at == list->n)
		return;
	list->n--;
	memmove(list->svcs + at, list->svcs + at + 1,
		(list->n - at) * sizeof(*list->svcs));
}

static u32 filter_size(const struct chs_filter *filter)
{
	return 1U << (32 - filter->shift);
}

/* Room for the addresses of @n services, before there is one more of them. */
static int filter_reserve(struct chs_filter **filter, u32 n)
{
	u32 n_bits = roundup_pow_of_two(max_t(u32, n * FILTER_BITS, FILTER_MIN));
	struct chs_filter *grown;

	if (*filter && n_bits <= filter_size(*filter))
		return 0;

	grown = kvmalloc(struct_size(grown, bits, BITS_TO_LONGS(n_bits)),
			 GFP_KERNEL_ACCOUNT);
	if (!grown)
		return -ENOMEM;
	grown->shift = 32 - ilog2(n_bits);
	kvfree(*filter);
	*filter = grown;
	return 0;
}

/* The range of address and protocol that starts last of those up to @port. */
static struct chs_service *range_before(const struct chs_table *table,
					const union chs_addr *addr, s32 vrf,
					u8 proto, u16 port)
{
	u32 at = list_bound(&table->ranges, addr, vrf, proto,
			    (u32)port << 16 | U16_MAX);
	struct chs_service *svc;

	if (!at)
		return NULL;
	svc = table->ranges.svcs[at - 1];
	if (svc->proto != proto || place_cmp(svc, addr, vrf))
		return NULL;
	return svc;
}

/**
 * chs_table_lookup_wide() - service of more than one port that a packet is for
 * @table: table
 * @addr_hi: first half of the destination address, union chs_addr.q
 * @addr_lo: second half; a pointer would keep it out of the caller's registers
 * @vrf: number of the VRF that it came in by, or 0
 * @proto: protocol
 * @port: destination port, host order
 *
 * Context: any; under RCU or with the namespace's lock held.
 * Return: the service, or NULL.
 */
struct chs_service *chs_table_lookup_wide(const struct chs_table *table,
					  u64 addr_hi, u64 addr_lo, s32 vrf,
					  u8 proto, u16 port)
{
	const union chs_addr addr = { .q = { addr_hi, addr_lo } };
	struct chs_service *svc;

	if (table->ranges.n) {
		svc = range_before(table, &addr, vrf, proto, port);
		if (svc && port <= svc->hi)
			return svc;
	}

	if (table->n_any && port)
		return chs_table_lookup_key(table, &addr, vrf, proto, 0);
	return NULL;
}

/**
 * chs_table_direct_at() - a service in a direct mode that has an address
 * @table: table
 * @addr: address
 * @vrf: number of the VRF, or 0
 *
 * Context: any; under RCU or with the namespace's lock held.
 * Return: one of them, or NULL if there is none.
 */
struct chs_service *chs_table_direct_at(const struct chs_table *table,
					const union chs_addr *addr, s32 vrf)
{
	u32 at = list_bound(&table->direct, addr, vrf, U8_MAX, U32_MAX);
	struct chs_service *svc;

	if (!at)
		return NULL;
	svc = table->direct.svcs[at - 1];
	return place_cmp(svc, addr, vrf) ? NULL : svc;
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
		return chs_table_lookup_key(table, &svc->addr, svc->vrf,
					    svc->proto, svc->lo);

	/* Ranges do not overlap each other, so the last to start is enough. */
	other = range_before(table, &svc->addr, svc->vrf, svc->proto, svc->hi);
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
	const struct chs_list none = {};
	struct chs_table *table;
	int err;

	table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return NULL;

	if (from)
		*table = *from;
	table->filter = NULL;
	table->by_key = index_copy(from ? from->by_key : NULL,
				   from ? from->by_key->mask + 1 : SLOTS_MIN);
	table->by_name = index_copy(from ? from->by_name : NULL,
				    from ? from->by_name->mask + 1 : SLOTS_MIN);
	err = list_copy(&table->ranges, from ? &from->ranges : &none);
	err |= list_copy(&table->direct, from ? &from->direct : &none);
	err |= filter_reserve(&table->filter, table->direct.n);
	if (err || !table->by_key || !table->by_name) {
		chs_table_free(table);
		return NULL;
	}
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

	kvfree(table->filter);
	kvfree(table->by_key);
	kvfree(table->by_name);
	kvfree(table->ranges.svcs);
	kvfree(table->direct.svcs);
	kfree(table);
}

/* Hooks and checks that services ask for; @by is 1 or -1. */
static void count_needs(struct chs_table *table, const struct chs_service *svc,
			int by)
{
	bool v6 = chs_service_is_v6(svc);

	table->n_any += chs_service_any_port(svc) ? by : 0;
	if (!chs_service_is_direct(svc)) {
		table->n_nat[v6] += by;
		return;
	}
	table->n_direct[v6] += by;
	if (chs_mode_is_tunnel(svc->mode)) {
		table->n_direct[!v6] += by;
		table->n_tunnel += by;
	}
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
	bool direct = chs_service_is_direct(svc);
	bool range = is_range(svc);

	if (index_reserve(&table->by_name, table->n_services + 1) ||
	    index_reserve(&table->by_key, table->n_services + 1) ||
	    list_reserve(&table->ranges, table->ranges.n + range) ||
	    list_reserve(&table->direct, table->direct.n + direct) ||
	    filter_reserve(&table->filter, table->direct.n + direct))
		return -ENOMEM;

	if (range)
		list_insert(&table->ranges, svc);
	else
		index_put(table->by_key, svc->key_hash, svc);
	if (direct)
		list_insert(&table->direct, svc);
	index_put(table->by_name, svc->name_hash, svc);
	table->n_services++;
	count_needs(table, svc, 1);
	return 0;
}

/**
 * chs_table_remove() - take a service out
 * @table: a table that is not published
 * @svc: service; one that is not in it changes nothing
 *
 * Context: any.
 */
void chs_table_remove(struct chs_table *table, struct chs_service *svc)
{
	u32 at = index_at(table->by_name, svc->name_hash, svc);

	if (!table->by_name->slots[at].svc)
		return;
	if (is_range(svc))
		list_del_svc(&table->ranges, svc);
	else
		index_del(table->by_key, svc->key_hash, svc);
	if (chs_service_is_direct(svc))
		list_del_svc(&table->direct, svc);
	index_del(table->by_name, svc->name_hash, svc);
	table->n_services--;
	count_needs(table, svc, -1);
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
		table->ranges.svcs[list_at(&table->ranges, from)] = to;
	} else {
		at = index_at(table->by_key, from->key_hash, from);
		table->by_key->slots[at].svc = to;
	}
	if (chs_service_is_direct(from))
		table->direct.svcs[list_at(&table->direct, from)] = to;
	at = index_at(table->by_name, from->name_hash, from);
	table->by_name->slots[at].svc = to;
}

static void note_tunnel(struct chs_tunnels *tunnels,
			const struct chs_service *svc)
{
	if (svc->mode == CHS_MODE_IPIP)
		tunnels->ipip = svc;
	if (svc->mode != CHS_MODE_GUE)
		return;
	if (!tunnels->gue)
		tunnels->gue_port = svc->gue_port;
	else if (tunnels->gue_port != svc->gue_port)
		tunnels->gue_port = 0;
	tunnels->gue = svc;
}

/**
 * chs_table_seal() - make ready for packets what has been changed
 * @table: a table about to be published
 *
 * Context: any.
 */
void chs_table_seal(struct chs_table *table)
{
	struct chs_filter *filter = table->filter;
	const union chs_addr *addr;
	u32 i;

	bitmap_zero(filter->bits, filter_size(filter));
	memset(&table->tunnels, 0, sizeof(table->tunnels));
	for (i = 0; i < table->direct.n; i++) {
		note_tunnel(&table->tunnels, table->direct.svcs[i]);
		addr = &table->direct.svcs[i]->addr;
		if (chs_addr_is_v4(addr))
			__set_bit(chs_filter_hash_v4(addr->w[3]) >> filter->shift,
				  filter->bits);
		/* An IPv6 packet to a mapped address is refused as malformed. */
		__set_bit(chs_filter_hash_v6(addr) >> filter->shift,
			  filter->bits);
	}
}
