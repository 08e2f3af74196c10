/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of the protocol's attributes, for refusals that come without.
 */
#ifndef CHCTL_ATTR_H
#define CHCTL_ATTR_H

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool ctl_attr_is_core_text(const char *text);
void ctl_attr_describe(const struct nlmsghdr *nlh, uint32_t offset,
		       const struct nlattr *policy, char *buf, size_t size);

#endif /* CHCTL_ATTR_H */
