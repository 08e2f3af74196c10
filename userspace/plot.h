/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pictures of rings.
 */
#ifndef CHCTL_PLOT_H
#define CHCTL_PLOT_H

#include "predict.h"

int ctl_plot_ring(const struct ctl_arcs *arcs);
int ctl_plot_changes(const char *file, const struct ctl_change *changes, uint32_t n);

#endif /* CHCTL_PLOT_H */
