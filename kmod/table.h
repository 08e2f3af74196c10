/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The services of a namespace, by name and by address.
 *
 * A published table never changes; a transaction changes a clone and publishes
 * that. A table does not own its services (txn.c does).
 */
#ifndef CHS_TABLE_H
#define CHS_TABLE_H

#include <linux/hash.h>
#include <linux/types.h>

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
 * struct chs_table - the services of a namespace
 * @by_key: those of one port, and, under port 0, those of any port
 * @ranges: those of a range, by address, VRF, protocol and port
 * @direct: those of a direct mode, sorted alike
 * @n_any: number of services of any port
 * @n_tunnel: number of services that encapsulate
 * @by_name: all
 * @n_services: number of services
 * @n_nat: number of services in mode nat; IPv4, IPv6
 * @n_direct: number of services in a direct mode that want the hooks of IPv4,
 *	IPv6; those that encapsulate want both
 * @generation: number of transactions that took effect
 */
struct chs_table {
	struct chs_index *by_key;
	struct chs_list ranges;
	struct chs_list direct;
	u32 n_any;
	u32 n_tunnel;
	struct chs_index *by_name;
	u32 n_services;
	u32 n_nat[2];
	u32 n_direct[2];
	u64 generation;
};

static inline u32 chs_table_hash(const union chs_addr *addr, s32 vrf, u8 proto,
				 u16 port)
{
	return hash_64((addr->q[0] ^ addr->q[1]) + (u32)vrf +
		       ((u64)proto << 16 | port) * GOLDEN_RATIO_32, 32);
}

struct chs_table *chs_table_clone(const struct chs_table *from);
void chs_table_free(struct chs_table *table);
int chs_table_insert(struct chs_table *table, struct chs_service *svc);
void chs_table_remove(struct chs_table *table, struct chs_service *svc);
void chs_table_replace(struct chs_table *table, struct chs_service *from,
		       struct chs_service *to);
struct chs_service *chs_table_find(const struct chs_table *table,
				   const char *name);
struct chs_service *chs_table_holder(const struct chs_table *table,
				     const struct chs_service *svc);
struct chs_service *chs_table_lookup(const struct chs_table *table,
				     const union chs_addr *addr, s32 vrf,
				     u8 proto, __be16 port);
struct chs_service *chs_table_direct_at(const struct chs_table *table,
					const union chs_addr *addr, s32 vrf);
struct chs_service *chs_table_next(const struct chs_table *table, u32 *at);

#endif /* CHS_TABLE_H */
