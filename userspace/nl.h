/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to the module and what comes back.
 */
#ifndef CHCTL_NL_H
#define CHCTL_NL_H

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/chsteer.h>

/**
 * typedef ctl_reply_fn - take one message of an answer
 * @tb: its attributes, CHS_A_MAX + 1
 * @arg: what was given with the request
 *
 * Return: CTL_OK or CTL_FAILED.
 */
typedef int (*ctl_reply_fn)(struct nlattr **tb, void *arg);

/**
 * struct ctl_burst - requests sent in one go
 * @buf: the messages, one behind the other
 * @len: length of all
 * @count: number of them
 * @file: where they come from, or NULL
 * @lines: line of each there
 */
struct ctl_burst {
	void *buf;
	size_t len;
	unsigned int count;
	const char *file;
	const unsigned long *lines;
};

int ctl_nl_connect(void);
struct nl_msg *ctl_nl_msg(uint8_t cmd, size_t room);
int ctl_nl_do(struct nl_msg *msg, ctl_reply_fn fn, void *arg);
int ctl_nl_dump(struct nl_msg *msg, ctl_reply_fn fn, void *arg);
int ctl_nl_burst(const struct ctl_burst *burst);
void ctl_nl_pause(unsigned int try);
int ctl_nl_retry(const char *what, int (*once)(void *arg), void *arg);

#endif /* CHCTL_NL_H */
