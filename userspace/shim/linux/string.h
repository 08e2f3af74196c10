/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHS_SHIM_LINUX_STRING_H
#define CHS_SHIM_LINUX_STRING_H

#include <string.h>

#endif /* CHS_SHIM_LINUX_STRING_H */
