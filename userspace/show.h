/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pieces of output that several commands have.
 */
#ifndef CHCTL_SHOW_H
#define CHCTL_SHOW_H

#include "out.h"
#include "snap.h"

void ctl_show_open(enum ctl_out_as as, const struct ctl_service *svc);
uint64_t ctl_target_weight(const struct ctl_backend *be);
uint64_t ctl_total_weight(const struct ctl_snap *snap, const struct ctl_service *svc);
double ctl_peak(const struct ctl_snap *snap, const struct ctl_service *svc);
void ctl_show_backend(const struct ctl_snap *snap, const struct ctl_backend *be,
		      uint64_t total, bool named);
void ctl_show_backends(const struct ctl_snap *snap, const struct ctl_service *svc,
		       bool ring_only);

#endif /* CHCTL_SHOW_H */
