/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The addresses and ports of one packet, and the hash that picks its arc.
 *
 * Pure: shared, unchanged, by the module, the tool and the unit tests.
 */
#ifndef CHS_TUPLE_H
#define CHS_TUPLE_H

#include <linux/chsteer.h>
#include <linux/siphash.h>
#include <linux/types.h>

#include <asm/byteorder.h>

/**
 * union chs_addr - an IPv6 address, or an IPv4 address in v4-mapped form
 * @b: as bytes, network order
 * @w: as words, network order; an IPv4 address is @w[3]
 * @q: as halves, for comparison only
 */
union chs_addr {
	__u8 b[16];
	__be32 w[4];
	__u64 q[2];
};

/**
 * struct chs_tuple - what identifies a flow
 * @saddr: client address
 * @daddr: service address
 * @sport: client port
 * @dport: service port
 * @proto: IPPROTO_TCP, IPPROTO_UDP or IPPROTO_SCTP
 * @zero: always 0; together with what precedes it the 40 bytes that are hashed
 *	for IPv6
 * @v6: whether the flow is IPv6
 */
struct chs_tuple {
	union chs_addr saddr;
	union chs_addr daddr;
	__be16 sport;
	__be16 dport;
	__u8 proto;
	__u8 zero[3];
	bool v6;
};

static inline bool chs_addr_equal(const union chs_addr *a,
				  const union chs_addr *b)
{
	return !((a->q[0] ^ b->q[0]) | (a->q[1] ^ b->q[1]));
}

/* By halves, so that an address that is compared by halves needs no memory. */
static inline void chs_addr_set_v4(union chs_addr *addr, __be32 ip)
{
	const __u64 prefix = (__force __u32)htonl(0xffff);
	const __u64 host = (__force __u32)ip;

	addr->q[0] = 0;
#ifdef __LITTLE_ENDIAN_BITFIELD
	addr->q[1] = prefix | host << 32;
#else
	addr->q[1] = prefix << 32 | host;
#endif
}

/* @w[3], told by the half that it is in. */
static inline __be32 chs_addr_v4(const union chs_addr *addr)
{
#ifdef __LITTLE_ENDIAN_BITFIELD
	return (__force __be32)(__u32)(addr->q[1] >> 32);
#else
	return (__force __be32)(__u32)addr->q[1];
#endif
}

static inline bool chs_addr_is_v4(const union chs_addr *addr)
{
	return !addr->q[0] && addr->w[2] == htonl(0xffff);
}

static __always_inline __u64 chs_tuple_hash_v4(const struct chs_tuple *tuple,
					       enum chsteer_flow_hash hash,
					       const siphash_key_t *key)
{
	/* Bytes as they lie in memory, read as SipHash reads them. */
	const __u64 src = le32_to_cpu((__force __le32)chs_addr_v4(&tuple->saddr));
	const __u64 dst = le32_to_cpu((__force __le32)chs_addr_v4(&tuple->daddr));
	const __u64 ports = le16_to_cpu((__force __le16)tuple->sport) |
			    (__u64)le16_to_cpu((__force __le16)tuple->dport) << 16 |
			    (__u64)tuple->proto << 32;

	return hash == CHS_FLOW_HASH_SRC ?
	       siphash_1u64(src, key) :
	       siphash_2u64(src | dst << 32, ports, key);
}

static inline __u64 chs_tuple_hash_v6(const struct chs_tuple *tuple,
				      enum chsteer_flow_hash hash,
				      const siphash_key_t *key)
{
	return hash == CHS_FLOW_HASH_SRC ? siphash(&tuple->saddr, 16, key) :
					   siphash(tuple, 40, key);
}

/**
 * chs_tuple_hash() - hash the part of a tuple that a service steers by
 * @tuple: the flow
 * @hash: which part
 * @key: the ring's key
 *
 * SipHash-2-4 over these bytes, integers in network order:
 *
 * ==========  =======================================================
 * 5tuple, v4  saddr(4) daddr(4) sport(2) dport(2) proto(1) 0(3)
 * 5tuple, v6  saddr(16) daddr(16) sport(2) dport(2) proto(1) 0(3)
 * src, v4     saddr(4) 0(4)
 * src, v6     saddr(16)
 * ==========  =======================================================
 *
 * Context: any.
 * Return: the hash; its top bits are the arc.
 */
static inline __u64 chs_tuple_hash(const struct chs_tuple *tuple,
				   enum chsteer_flow_hash hash,
				   const siphash_key_t *key)
{
	return tuple->v6 ? chs_tuple_hash_v6(tuple, hash, key) :
			   chs_tuple_hash_v4(tuple, hash, key);
}

#endif /* CHS_TUPLE_H */
