/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory. A test that wants to count allocations, or to make them fail, defines
 * shim_malloc and shim_free before it includes the code under test.
 */
#ifndef CHS_SHIM_LINUX_SLAB_H
#define CHS_SHIM_LINUX_SLAB_H

#include <stdlib.h>

#ifndef shim_malloc
#define shim_malloc	malloc
#define shim_free	free
#endif

/* GFP flags mean nothing here. */
#define GFP_KERNEL		0
#define GFP_KERNEL_ACCOUNT	0

static inline void *kvmalloc_array(size_t n, size_t size, int flags)
{
	size_t bytes;

	(void)flags;
	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	/* Nothing, asked for, is not a failure in the kernel. */
	return shim_malloc(bytes ? bytes : 1);
}

static inline void kvfree(const void *addr)
{
	shim_free((void *)addr);
}

#endif /* CHS_SHIM_LINUX_SLAB_H */
