/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The services of a namespace, by name and by address.
 *
 * A published table never changes; a transaction changes a clone and publishes
 * that. A table does not own its services (txn.c does).
 */
#ifndef CHS_TABLE_H
#define CHS_TABLE_H

#include <linux/bitops.h>
#include <linux/hash.h>
#include <linux/in6.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "service.h"

/**
 * struct chs_slot - place in an open-addressed index
 * @hash: hash of the entry, compared before the entry is touched
 * @svc: entry, or NULL
 */
struct chs_slot {
	u32 hash;
	struct chs_service *svc;
};

/**
 * struct chs_index - open-addressed hash table, at most half full
 * @mask: number of slots less one
 * @shift: what leaves of a hash the bits that pick its home; the upper ones,
 *	which alone depend on every bit of an address
 * @slots: probed linearly
 */
struct chs_index {
	u32 mask;
	u8 shift;
	struct chs_slot slots[];
};

/**
 * struct chs_list - sorted services
 * @svcs: them
 * @n: number
 * @room: number that fits into @svcs
 */
struct chs_list {
	struct chs_service **svcs;
	u32 n;
	u32 room;
};

/**
 * struct chs_filter - addresses of services in a direct mode, as a set of hashes
 * @shift: what leaves of a hash the bits that pick a place in @bits
 * @bits: set at each address; a bit that is not set says that there is none
 *
 * A host that forwards has many packets for nobody here: they are known by one
 * word of a map that is small enough to stay in the cache.
 */
struct chs_filter {
	u8 shift;
	unsigned long bits[];
};

/**
 * struct chs_tunnels - services that encapsulate
 * @ipip: one of mode ipip, or NULL
 * @gue: one of mode gue, or NULL
 * @gue_port: outer UDP port of all of these; 0 if they differ
 */
struct chs_tunnels {
	const struct chs_service *ipip;
	const struct chs_service *gue;
	__be16 gue_port;
};

/**
 * struct chs_table - the services of a namespace
 * @filter: addresses of those of a direct mode, once it is sealed
 * @by_key: those of one port, and, under port 0, those of any port
 * @n_any: number of services of any port
 * @n_tunnel: number of services that encapsulate
 * @ranges: those of a range, by address, VRF, protocol and port
 * @direct: those of a direct mode, sorted alike
 * @tunnels: of those the ones that encapsulate, once it is sealed
 * @by_name: all
 * @n_services: number of services
 * @n_nat: number of services in mode nat; IPv4, IPv6
 * @n_direct: number of services in a direct mode that want the hooks of IPv4,
 *	IPv6; those that encapsulate want both
 * @generation: number of transactions that took effect
 */
struct chs_table {
	struct chs_filter *filter;
	struct chs_index *by_key;
	u32 n_any;
	u32 n_tunnel;
	struct chs_list ranges;
	struct chs_list direct;
	struct chs_tunnels tunnels;
	struct chs_index *by_name;
	u32 n_services;
	u32 n_nat[2];
	u32 n_direct[2];
	u64 generation;
};

static __always_inline u32 chs_table_hash(const union chs_addr *addr, s32 vrf,
					  u8 proto, u16 port)
{
	return hash_64((addr->q[0] ^ addr->q[1]) + (u32)vrf +
		       ((u64)proto << 16 | port) * GOLDEN_RATIO_32, 32);
}

static inline bool chs_filter_has(const struct chs_filter *filter, u32 hash)
{
	return test_bit(hash >> filter->shift, filter->bits);
}

static inline u32 chs_filter_hash_v4(__be32 addr)
{
	return (__force u32)addr * GOLDEN_RATIO_32;
}

/* @addr: 16 bytes, wherever they lie */
static inline u32 chs_filter_hash_v6(const void *addr)
{
	return hash_64(get_unaligned((const u64 *)addr) ^
		       get_unaligned((const u64 *)addr + 1), 32);
}

/**
 * chs_table_may_have_v4() - whether a service in a direct mode may have an address
 * @table: table in force
 * @addr: address
 *
 * Context: under RCU.
 * Return: false if none has.
 */
static inline bool chs_table_may_have_v4(const struct chs_table *table,
					 __be32 addr)
{
	return chs_filter_has(table->filter, chs_filter_hash_v4(addr));
}

/**
 * chs_table_may_have_v6() - whether a service in a direct mode may have an address
 * @table: table in force
 * @addr: 16 bytes of an address, wherever they lie
 *
 * Context: under RCU.
 * Return: false if none has.
 */
static inline bool chs_table_may_have_v6(const struct chs_table *table,
					 const void *addr)
{
	return chs_filter_has(table->filter, chs_filter_hash_v6(addr));
}

struct chs_table *chs_table_clone(const struct chs_table *from);
void chs_table_free(struct chs_table *table);
int chs_table_insert(struct chs_table *table, struct chs_service *svc);
void chs_table_remove(struct chs_table *table, struct chs_service *svc);
void chs_table_replace(struct chs_table *table, struct chs_service *from,
		       struct chs_service *to);
void chs_table_seal(struct chs_table *table);
struct chs_service *chs_table_find(const struct chs_table *table,
				   const char *name);
struct chs_service *chs_table_holder(const struct chs_table *table,
				     const struct chs_service *svc);
struct chs_service *chs_table_lookup_wide(const struct chs_table *table,
					  u64 addr_hi, u64 addr_lo, s32 vrf,
					  u8 proto, u16 port);
struct chs_service *chs_table_direct_at(const struct chs_table *table,
					const union chs_addr *addr, s32 vrf);
struct chs_service *chs_table_next(const struct chs_table *table, u32 *at);

/**
 * chs_table_lookup_key() - service of one port, or of any
 * @table: table
 * @addr: destination address
 * @vrf: number of the VRF, or 0
 * @proto: protocol
 * @port: port, host order; 0 for that of any port
 *
 * Context: any; under RCU or with the namespace's lock held.
 * Return: the service, or NULL.
 */
static __always_inline struct chs_service *
chs_table_lookup_key(const struct chs_table *table, const union chs_addr *addr,
		     s32 vrf, u8 proto, u16 port)
{
	const struct chs_index *index = table->by_key;
	u32 hash = chs_table_hash(addr, vrf, proto, port);
	u32 at = hash >> index->shift;
	struct chs_service *svc;

	for (; (svc = index->slots[at].svc); at = (at + 1) & index->mask) {
		if (index->slots[at].hash == hash && svc->proto == proto &&
		    svc->lo == port && svc->vrf == vrf &&
		    chs_addr_equal(&svc->addr, addr))
			return svc;
	}
	return NULL;
}

/**
 * chs_table_lookup() - service that a packet is for
 * @table: table
 * @addr: destination address
 * @vrf: number of the VRF that it came in by, or 0
 * @proto: protocol
 * @port: destination port
 *
 * An exact port goes before a range, a range before any port.
 *
 * Context: any; under RCU or with the namespace's lock held.
 * Return: the service, or NULL.
 */
static __always_inline struct chs_service *
chs_table_lookup(const struct chs_table *table, const union chs_addr *addr,
		 s32 vrf, u8 proto, __be16 port)
{
	u16 host_port = ntohs(port);
	struct chs_service *svc;

	/* Port 0 is the key of "any port" and no service's own. */
	if (likely(host_port)) {
		svc = chs_table_lookup_key(table, addr, vrf, proto, host_port);
		if (likely(svc))
			return svc;
	}
	return chs_table_lookup_wide(table, addr->q[0], addr->q[1], vrf, proto,
				     host_port);
}

#endif /* CHS_TABLE_H */
