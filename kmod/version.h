/* SPDX-License-Identifier: GPL-2.0-only */
/* The version of module and tool. */
#ifndef CHS_VERSION_H
#define CHS_VERSION_H

#define CHS_VERSION	"0.1.0"

#endif /* CHS_VERSION_H */
