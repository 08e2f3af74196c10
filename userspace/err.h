/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors and warnings: recorded where they happen, printed once by whoever
 * gives up. A function that can fail returns the exit status to be.
 */
#ifndef CHCTL_ERR_H
#define CHCTL_ERR_H

#include <stdbool.h>

/* The tool's exit statuses. */
enum ctl_status {
	CTL_OK,
	/* Wrong usage; nothing was sent. */
	CTL_USAGE,
	/* Refused or failed. */
	CTL_FAILED,
};

/* Codes that are no errno. */
enum {
	CTL_ENOMODULE = 0x10000,
	CTL_EMISMATCH,
	CTL_EMOVED,
};

__attribute__((format(printf, 1, 2)))
int ctl_usage(const char *fmt, ...);
__attribute__((format(printf, 2, 3)))
int ctl_fail(int code, const char *fmt, ...);

int ctl_err_code(void);
void ctl_err_recode(int from, int to);
void ctl_err_clear(void);
void ctl_err_hold(bool hold);
void ctl_err_where(const char *file, unsigned long line);
void ctl_err_print(void);
const char *ctl_err_name(int code);

__attribute__((format(printf, 1, 2)))
void ctl_warn(const char *fmt, ...);
void ctl_warn_print(void);
void ctl_warn_clear(void);

#endif /* CHCTL_ERR_H */
