// SPDX-License-Identifier: GPL-2.0-only
/* Stands in for unit.c: checks that abort, numbers from what the fuzzer made up. */

#include "fuzz.h"
#include "unit.h"

#include <stdlib.h>

static const uint8_t *input;
static size_t left;

void fuzz_input(const uint8_t *data, size_t size)
{
	input = data;
	left = size;
}

size_t fuzz_left(void)
{
	return left;
}

/* As few bytes as hold the number, so that each of them counts. */
static u64 take(unsigned int bytes)
{
	u64 x = 0;

	for (; bytes; bytes--) {
		x = x << 8 | (left ? *input : 0);
		input += !!left;
		left -= !!left;
	}
	return x;
}

u64 rnd(void)
{
	return take(8);
}

u32 rnd_below(u32 n)
{
	return take(n > 0x10000 ? 4 : n > 0x100 ? 2 : 1) % n;
}

u32 rnd_range(u32 lo, u32 hi)
{
	return lo + rnd_below(hi - lo + 1);
}

void unit_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	abort();
}

void unit_fail_eq(const char *file, int line, const char *what,
		  unsigned long long a, unsigned long long b)
{
	fprintf(stderr, "%s:%d: not so: %s: %llu, %llu\n", file, line, what, a,
		b);
	abort();
}
