/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHS_COMPAT_LINUX_UNALIGNED_H
#define CHS_COMPAT_LINUX_UNALIGNED_H

/* Before 6.12 each architecture had its own. */
#if __has_include_next("linux/unaligned.h")
#include_next <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif /* CHS_COMPAT_LINUX_UNALIGNED_H */
