/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The netlink socket. Tests bring their own.
 */
#ifndef CHCTL_SOCK_H
#define CHCTL_SOCK_H

#include <stddef.h>
#include <sys/types.h>

int ctl_sock_netns(const char *name);
int ctl_sock_open(void);
int ctl_sock_send(const void *buf, size_t len);
int ctl_sock_recv(void *buf, size_t size, size_t *len);

#endif /* CHCTL_SOCK_H */
