/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHS_COMPAT_LINUX_UNALIGNED_H
#define CHS_COMPAT_LINUX_UNALIGNED_H

#include <linux/version.h>

/* Before 6.12 each architecture had its own. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#include <asm/unaligned.h>
#else
#include_next <linux/unaligned.h>
#endif

#endif /* CHS_COMPAT_LINUX_UNALIGNED_H */
