/* SPDX-License-Identifier: GPL-2.0-only */
/* Addresses as the IPv6 stack has them. */
#ifndef CHS_ADDR_H
#define CHS_ADDR_H

#include <linux/in6.h>
#include <linux/string.h>

#include "tuple.h"

/**
 * chs_addr_to_in6() - give the stack an IPv6 address
 * @to: where to
 * @from: address
 *
 * Context: any.
 */
static inline void chs_addr_to_in6(struct in6_addr *to,
				   const union chs_addr *from)
{
	memcpy(to->s6_addr, from->b, sizeof(to->s6_addr));
}

#endif /* CHS_ADDR_H */
