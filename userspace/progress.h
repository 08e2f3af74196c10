/* SPDX-License-Identifier: GPL-2.0-only */
/* A line on the terminal while something takes long. */
#ifndef CHCTL_PROGRESS_H
#define CHCTL_PROGRESS_H

#include <stdint.h>

void ctl_progress_begin(const char *what);
void ctl_progress_at(uint64_t done, uint64_t all);
void ctl_progress_end(void);

#endif /* CHCTL_PROGRESS_H */
