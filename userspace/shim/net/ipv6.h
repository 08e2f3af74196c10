/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHS_SHIM_NET_IPV6_H
#define CHS_SHIM_NET_IPV6_H

#include <linux/types.h>

#define IP6_MF		0x0001
#define IP6_OFFSET	0xfff8

struct frag_hdr {
	__u8 nexthdr;
	__u8 reserved;
	__be16 frag_off;
	__be32 identification;
};

#endif /* CHS_SHIM_NET_IPV6_H */
