// SPDX-License-Identifier: GPL-2.0-only
/* Per-CPU counters of services and backends. */
#include "stats.h"

#include <linux/cpumask.h>
#include <linux/slab.h>

/**
 * chs_stats_alloc() - make counters that stand at zero
 * @events: whether events are counted too, as for a service
 *
 * Context: process; may sleep.
 * Return: counters with one reference, or NULL.
 */
struct chs_stats *chs_stats_alloc(bool events)
{
	struct chs_stats *stats;
	int cpu;

	stats = kzalloc(sizeof(*stats), GFP_KERNEL_ACCOUNT);
	if (!stats)
		return NULL;

	refcount_set(&stats->refs, 1);
	stats->counters = alloc_percpu_gfp(struct chs_counters,
					   GFP_KERNEL_ACCOUNT);
	if (events)
		stats->events = alloc_percpu_gfp(struct chs_events,
						 GFP_KERNEL_ACCOUNT);
	if (!stats->counters || (events && !stats->events)) {
		chs_stats_put(stats);
		return NULL;
	}

	for_each_possible_cpu(cpu) {
		u64_stats_init(&per_cpu_ptr(stats->counters, cpu)->syncp);
		if (events)
			u64_stats_init(&per_cpu_ptr(stats->events, cpu)->syncp);
	}
	return stats;
}

/**
 * chs_stats_get() - take a reference
 * @stats: counters
 *
 * Context: any, with a reference held.
 * Return: @stats.
 */
struct chs_stats *chs_stats_get(struct chs_stats *stats)
{
	refcount_inc(&stats->refs);
	return stats;
}

/**
 * chs_stats_put() - drop a reference
 * @stats: counters, or NULL
 *
 * Context: any; no packet may still see the version that held it.
 */
void chs_stats_put(struct chs_stats *stats)
{
	if (!stats || !refcount_dec_and_test(&stats->refs))
		return;

	free_percpu(stats->counters);
	free_percpu(stats->events);
	kfree(stats);
}

static void sum_events(const struct chs_stats *stats, int cpu,
		       struct chs_sums *sums)
{
	const struct chs_events *events = per_cpu_ptr(stats->events, cpu);
	u64 nr[CHS_EVENT_NR];
	unsigned int start;
	int i;

	do {
		start = u64_stats_fetch_begin(&events->syncp);
		for (i = 0; i < CHS_EVENT_NR; i++)
			nr[i] = u64_stats_read(&events->nr[i]);
	} while (u64_stats_fetch_retry(&events->syncp, start));

	for (i = 0; i < CHS_EVENT_NR; i++)
		sums->events[i] += nr[i];
}

/* The less of two ages in seconds, of which -1 is none. */
static s64 younger(s64 idle, unsigned long now, unsigned long last)
{
	s64 age = max_t(long, now - last, 0) / HZ;

	return idle < 0 || age < idle ? age : idle;
}

/**
 * chs_stats_sum() - add up the counters of all CPUs
 * @stats: counters
 * @sums: where to
 *
 * Context: any, with a reference or under RCU.
 */
void chs_stats_sum(const struct chs_stats *stats, struct chs_sums *sums)
{
	unsigned long now = jiffies;
	int cpu;

	memset(sums, 0, sizeof(*sums));
	sums->idle = -1;
	sums->back_idle = -1;

	for_each_possible_cpu(cpu) {
		const struct chs_counters *counters =
			per_cpu_ptr(stats->counters, cpu);
		u64 packets, bytes, new_flows, back;
		unsigned int start;

		do {
			start = u64_stats_fetch_begin(&counters->syncp);
			packets = u64_stats_read(&counters->packets);
			bytes = u64_stats_read(&counters->bytes);
			new_flows = u64_stats_read(&counters->new_flows);
			back = u64_stats_read(&counters->sent_back);
		} while (u64_stats_fetch_retry(&counters->syncp, start));

		sums->packets += packets;
		sums->bytes += bytes;
		sums->new_flows += new_flows;
		sums->sent_back += back;
		if (packets)
			sums->idle = younger(sums->idle, now,
					     READ_ONCE(counters->last));
		if (back)
			sums->back_idle = younger(sums->back_idle, now,
						  READ_ONCE(counters->last_back));
		if (stats->events)
			sum_events(stats, cpu, sums);
	}
}
