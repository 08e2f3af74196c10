/* SPDX-License-Identifier: GPL-2.0-only */
/* What a test decides for the code under test, above all its allocations. */
#ifndef UNIT_ALLOC_H
#define UNIT_ALLOC_H

#include <stddef.h>

/* The allocation that fails, counted from 1; 0 for none. Counts down. */
extern unsigned int unit_alloc_fail;
/* Allocations that were not freed yet. */
extern int unit_alloc_live;

/* Rings of fewer points do not keep them; 0, the default here, lets all be seen. */
extern unsigned int unit_points_kept;

void *unit_malloc(size_t size);
void unit_free(void *addr);

#define POINTS_KEPT	unit_points_kept
#define shim_malloc	unit_malloc
#define shim_free	unit_free

#endif /* UNIT_ALLOC_H */
