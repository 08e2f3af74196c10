// SPDX-License-Identifier: GPL-2.0-only
/* Allocations of the code under test, counted, and failing where a test wants it. */

#include "alloc.h"

#include <stdlib.h>

unsigned int unit_alloc_fail;
int unit_alloc_live;
unsigned int unit_points_kept;

void *unit_malloc(size_t size)
{
	if (unit_alloc_fail && !--unit_alloc_fail)
		return NULL;
	unit_alloc_live++;
	return malloc(size);
}

void unit_free(void *addr)
{
	unit_alloc_live -= !!addr;
	free(addr);
}
