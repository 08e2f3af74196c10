/* SPDX-License-Identifier: GPL-2.0-only */
/* Signals that end the tool while a change is under way. */
#ifndef CHCTL_INTERRUPT_H
#define CHCTL_INTERRUPT_H

#include <stdbool.h>

void ctl_interrupt_hold(void);
bool ctl_interrupted(void);
int ctl_interrupt_release(int ret);
void ctl_interrupt_raise(void);

#endif /* CHCTL_INTERRUPT_H */
