/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SipHash-2-4, to the bit what the kernel's <linux/siphash.h> gives: the key is
 * two integers, data is read as little-endian words.
 */
#ifndef CHS_SHIM_LINUX_SIPHASH_H
#define CHS_SHIM_LINUX_SIPHASH_H

#include <asm/byteorder.h>
#include <linux/types.h>

#include <string.h>

typedef struct {
	u64 key[2];
} siphash_key_t;

struct shim_siphash {
	u64 v0, v1, v2, v3;
};

static inline u64 shim_rol64(u64 word, unsigned int shift)
{
	return word << shift | word >> (64 - shift);
}

static inline void shim_siphash_round(struct shim_siphash *s)
{
	s->v0 += s->v1;
	s->v1 = shim_rol64(s->v1, 13) ^ s->v0;
	s->v0 = shim_rol64(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = shim_rol64(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = shim_rol64(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = shim_rol64(s->v1, 17) ^ s->v2;
	s->v2 = shim_rol64(s->v2, 32);
}

static inline void shim_siphash_init(struct shim_siphash *s,
				     const siphash_key_t *key)
{
	s->v0 = 0x736f6d6570736575ULL ^ key->key[0];
	s->v1 = 0x646f72616e646f6dULL ^ key->key[1];
	s->v2 = 0x6c7967656e657261ULL ^ key->key[0];
	s->v3 = 0x7465646279746573ULL ^ key->key[1];
}

static inline void shim_siphash_word(struct shim_siphash *s, u64 word)
{
	s->v3 ^= word;
	shim_siphash_round(s);
	shim_siphash_round(s);
	s->v0 ^= word;
}

/* @tail: the bytes after the last whole word, low ones first. */
static inline u64 shim_siphash_end(struct shim_siphash *s, u64 tail, size_t len)
{
	shim_siphash_word(s, tail | (u64)len << 56);
	s->v2 ^= 0xff;
	shim_siphash_round(s);
	shim_siphash_round(s);
	shim_siphash_round(s);
	shim_siphash_round(s);
	return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

static inline u64 siphash(const void *data, size_t len,
			  const siphash_key_t *key)
{
	const u8 *bytes = data;
	struct shim_siphash s;
	__le64 word;
	size_t i;

	shim_siphash_init(&s, key);
	for (i = 0; i + 8 <= len; i += 8) {
		memcpy(&word, bytes + i, 8);
		shim_siphash_word(&s, le64_to_cpu(word));
	}
	word = 0;
	memcpy(&word, bytes + i, len - i);
	return shim_siphash_end(&s, le64_to_cpu(word), len);
}

static inline u64 siphash_1u64(u64 a, const siphash_key_t *key)
{
	struct shim_siphash s;

	shim_siphash_init(&s, key);
	shim_siphash_word(&s, a);
	return shim_siphash_end(&s, 0, 8);
}

static inline u64 siphash_2u64(u64 a, u64 b, const siphash_key_t *key)
{
	struct shim_siphash s;

	shim_siphash_init(&s, key);
	shim_siphash_word(&s, a);
	shim_siphash_word(&s, b);
	return shim_siphash_end(&s, 0, 16);
}

static inline u64 siphash_3u64(u64 a, u64 b, u64 c, const siphash_key_t *key)
{
	struct shim_siphash s;

	shim_siphash_init(&s, key);
	shim_siphash_word(&s, a);
	shim_siphash_word(&s, b);
	shim_siphash_word(&s, c);
	return shim_siphash_end(&s, 0, 24);
}

#endif /* CHS_SHIM_LINUX_SIPHASH_H */
