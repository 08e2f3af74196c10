// SPDX-License-Identifier: GPL-2.0-only
/* SipHash as the shim has it, and what of a flow is hashed. */

#include "ring.h"
#include "tuple.h"
#include "unit.h"

#include "siphash_vectors.h"

#include <string.h>

/* The official key, 00 to 0f, as the kernel keeps it. */
static const siphash_key_t key = {
	{ 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL }
};

void test_siphash(void)
{
	const u64 w[3] = { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL,
			   0x1716151413121110ULL };
	u8 bytes[65], key_bytes[16];
	siphash_key_t made;
	u32 i;

	for (i = 0; i < 65; i++)
		bytes[i] = i;
	for (i = 0; i < 64; i++)
		CHECK_EQ(siphash(bytes, i, &key), siphash_vectors[i]);
	/* Not aligned. */
	memmove(bytes + 1, bytes, 64);
	for (i = 0; i < 64; i++)
		CHECK_EQ(siphash(bytes + 1, i, &key), siphash_vectors[i]);

	CHECK_EQ(siphash_1u64(w[0], &key), siphash_vectors[8]);
	CHECK_EQ(siphash_2u64(w[0], w[1], &key), siphash_vectors[16]);
	CHECK_EQ(siphash_3u64(w[0], w[1], w[2], &key), siphash_vectors[24]);

	for (i = 0; i < 16; i++)
		key_bytes[i] = i;
	chs_ring_key_set(&made, key_bytes);
	CHECK_EQ(made.key[0], key.key[0]);
	CHECK_EQ(made.key[1], key.key[1]);
	chs_ring_key_default(&made);
	CHECK_EQ(made.key[0], 0x2d72656574736863ULL);	/* "chsteer-" */
	CHECK_EQ(made.key[1], 0x0031762d676e6972ULL);	/* "ring-v1\0" */
}

void test_tuple_hash(void)
{
	static const u8 protos[] = { 6, 17, 132 };
	u8 bytes[40] = { };
	struct chs_tuple t;
	u32 i, k;

	for (i = 0; i < 3000; i++) {
		memset(&t, 0, sizeof(t));
		t.proto = protos[i % 3];
		t.sport = rnd();
		t.dport = rnd();
		chs_addr_set_v4(&t.saddr, rnd());
		chs_addr_set_v4(&t.daddr, rnd());
		memcpy(bytes, t.saddr.b + 12, 4);
		memcpy(bytes + 4, t.daddr.b + 12, 4);
		memcpy(bytes + 8, &t.sport, 2);
		memcpy(bytes + 10, &t.dport, 2);
		bytes[12] = t.proto;
		memset(bytes + 13, 0, 3);
		CHECK_EQ(chs_tuple_hash(&t, CHS_FLOW_HASH_5TUPLE, &key),
			 siphash(bytes, 16, &key));
		memset(bytes + 4, 0, 4);
		CHECK_EQ(chs_tuple_hash(&t, CHS_FLOW_HASH_SRC, &key),
			 siphash(bytes, 8, &key));

		t.v6 = true;
		for (k = 0; k < 16; k++) {
			t.saddr.b[k] = rnd();
			t.daddr.b[k] = rnd();
		}
		memcpy(bytes, &t.saddr, 16);
		memcpy(bytes + 16, &t.daddr, 16);
		memcpy(bytes + 32, &t.sport, 2);
		memcpy(bytes + 34, &t.dport, 2);
		bytes[36] = t.proto;
		memset(bytes + 37, 0, 3);
		CHECK_EQ(chs_tuple_hash(&t, CHS_FLOW_HASH_5TUPLE, &key),
			 siphash(bytes, 40, &key));
		CHECK_EQ(chs_tuple_hash(&t, CHS_FLOW_HASH_SRC, &key),
			 siphash(bytes, 16, &key));
	}
}

void test_slot(void)
{
	u32 bits, i;

	for (bits = 8; bits <= 20; bits++) {
		for (i = 0; i < 1000; i++) {
			const u64 hash = rnd();

			CHECK_EQ(chs_ring_slot(hash, 1U << bits),
				 hash >> (64 - bits));
		}
		CHECK_EQ(chs_ring_slot(0, 1U << bits), 0);
		CHECK_EQ(chs_ring_slot(~0ULL, 1U << bits), (1U << bits) - 1);
	}
}
