/* SPDX-License-Identifier: GPL-2.0-only */
/* Allocations of the code under test: counted, and failing on demand. */
#ifndef UNIT_ALLOC_H
#define UNIT_ALLOC_H

#include <stddef.h>

/* The allocation that fails, counted from 1; 0 for none. Counts down. */
extern unsigned int unit_alloc_fail;
/* Allocations that were not freed yet. */
extern int unit_alloc_live;

void *unit_malloc(size_t size);
void unit_free(void *addr);

#define shim_malloc	unit_malloc
#define shim_free	unit_free

#endif /* UNIT_ALLOC_H */
