/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHS_SHIM_NET_IP_H
#define CHS_SHIM_NET_IP_H

#define IP_MF		0x2000	/* more fragments */
#define IP_OFFSET	0x1fff	/* fragment offset, in eights of bytes */

#endif /* CHS_SHIM_NET_IP_H */
