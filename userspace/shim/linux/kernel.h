/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHS_SHIM_LINUX_KERNEL_H
#define CHS_SHIM_LINUX_KERNEL_H

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#endif
#ifndef __always_inline
#define __always_inline	inline __attribute__((__always_inline__))
#endif
#ifndef likely
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#endif

#endif /* CHS_SHIM_LINUX_KERNEL_H */
