/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory cgroups: on whose account services and their flows are.
 *
 * In a system call the kernel charges who makes it. A worker has no cgroup of its
 * own, and a packet has none that has to do with it: what these allocate is
 * charged to the cgroup of the process that added the service.
 */
#ifndef CHS_CHARGE_H
#define CHS_CHARGE_H

#include <linux/memcontrol.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>

/**
 * chs_charge_current() - the memory cgroup of the calling process
 *
 * Context: process.
 * Return: it, with a reference, or NULL if there are none.
 */
static inline struct mem_cgroup *chs_charge_current(void)
{
	return get_mem_cgroup_from_mm(current->mm);
}

/**
 * chs_charge_get() - take a reference
 * @memcg: memory cgroup, or NULL
 *
 * Context: any, with a reference held.
 * Return: @memcg.
 */
static inline struct mem_cgroup *chs_charge_get(struct mem_cgroup *memcg)
{
#ifdef CONFIG_MEMCG
	if (memcg)
		css_get(&memcg->css);
#endif
	return memcg;
}

/**
 * chs_charge_worker() - have what a worker allocates charged from now on
 * @memcg: whom to, with a reference that lasts until the next call; NULL for
 *	nobody
 *
 * In a system call nothing changes.
 *
 * Context: process.
 */
static inline void chs_charge_worker(struct mem_cgroup *memcg)
{
	if (current->flags & PF_KTHREAD)
		set_active_memcg(memcg);
}

#endif /* CHS_CHARGE_H */
