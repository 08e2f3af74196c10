/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instructions by which a program in the VM tells the emulator's plugin where to
 * begin and to end counting. They do nothing, and no compiler would make them:
 * 0f 1f 80 is "nopl", the rest an offset that it does not look at.
 */

#ifndef BENCH_MARK_H
#define BENCH_MARK_H

#define MARK_BEGIN	0x0f, 0x1f, 0x80, 0x63, 0x68, 0x73, 0x01
#define MARK_END	0x0f, 0x1f, 0x80, 0x63, 0x68, 0x73, 0x02
#define MARK_SIZE	7

#define MARK_TEXT(...)	#__VA_ARGS__
#define MARK_BYTES(...)	asm volatile (".byte " MARK_TEXT(__VA_ARGS__) : : : "memory")

static inline void mark_begin(void)
{
	MARK_BYTES(MARK_BEGIN);
}

static inline void mark_end(void)
{
	MARK_BYTES(MARK_END);
}

#endif
