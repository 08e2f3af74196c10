/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's short type names and annotations, for pure code. */
#ifndef CHS_SHIM_LINUX_TYPES_H
#define CHS_SHIM_LINUX_TYPES_H

#include_next <linux/types.h>

#include <stdbool.h>
#include <stddef.h>

#ifndef __force
#define __force
#endif
#ifndef __aligned
#define __aligned(n)	__attribute__((__aligned__(n)))
#endif

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#endif /* CHS_SHIM_LINUX_TYPES_H */
