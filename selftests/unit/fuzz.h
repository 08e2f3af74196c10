/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes of a fuzzer in place of numbers that look random; a failed check aborts. */
#ifndef UNIT_FUZZ_H
#define UNIT_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* What rnd() and its kin give from now on; zeros when it is used up. */
void fuzz_input(const uint8_t *data, size_t size);
/* Bytes that are left. */
size_t fuzz_left(void);

/* What libFuzzer calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif /* UNIT_FUZZ_H */
