// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl stats
 */
#include "cmd.h"
#include "err.h"
#include "out.h"
#include "snap.h"

static void show_count(const struct ctl_stats *stats, unsigned int attr, const char *key)
{
	ctl_out_maybe(CTL_OUT_ANY, key, stats->told & CTL_BIT(attr), stats->counts[attr]);
}

static void show_stats(const struct ctl_service *svc)
{
	const struct ctl_stats *stats = &svc->stats;
	int i;

	ctl_out_open(CTL_OUT_OBJECT, NULL);
	ctl_out_str(CTL_OUT_BARE, "service", svc->name);
	show_count(stats, CHS_A_STATS_PACKETS, "packets");
	show_count(stats, CHS_A_STATS_BYTES, "bytes");
	show_count(stats, CHS_A_STATS_NEW_FLOWS, "new_flows");
	ctl_out_maybe(CTL_OUT_ANY, "tracked_flows",
		      svc->status & CTL_BIT(CHS_A_SERVICE_STATUS_TRACKED_FLOWS),
		      svc->tracked_flows);
	show_count(stats, CHS_A_STATS_PASSED, "passed");
	show_count(stats, CHS_A_STATS_ICMP_UNMATCHED, "icmp_unmatched");
	show_count(stats, CHS_A_STATS_UNRESOLVED, "unresolved");
	show_count(stats, CHS_A_STATS_NOT_REMEMBERED, "not_remembered");
	ctl_out_str(CTL_OUT_TEXT, NULL, "evicted:");
	ctl_out_open(CTL_OUT_GROUP, "evicted");
	show_count(stats, CHS_A_STATS_EVICTED_ENDED, "ended");
	show_count(stats, CHS_A_STATS_EVICTED_NEW, "new");
	show_count(stats, CHS_A_STATS_EVICTED_ESTABLISHED, "established");
	ctl_out_close();
	show_count(stats, CHS_A_STATS_ICMP_LIMITED, "icmp_limited");
	show_count(stats, CHS_A_STATS_ICMP_OBEYED, "icmp_obeyed");
	ctl_out_str(CTL_OUT_TEXT, NULL, "icmp-ignored:");
	ctl_out_open(CTL_OUT_GROUP, "icmp_ignored");
	for (i = 0; i <= CHS_A_ICMP_IGNORED_MAX; i++) {
		if (ctl_icmp_reasons[i])
			ctl_out_maybe(CTL_OUT_ANY, ctl_icmp_reasons[i],
				      stats->icmp_told & CTL_BIT(i), stats->icmp_ignored[i]);
	}
	ctl_out_close();
	ctl_out_str(CTL_OUT_TEXT, NULL, "drops:");
	ctl_out_open(CTL_OUT_GROUP, "drops");
	for (i = 0; i <= CHS_A_DROPS_MAX; i++) {
		if (ctl_drop_reasons[i])
			ctl_out_u64(CTL_OUT_ANY, ctl_drop_reasons[i], stats->drops[i]);
	}
	ctl_out_close();
	ctl_out_close();
}

/**
 * ctl_stats() - chctl stats
 * @args: its arguments
 *
 * Return: exit status.
 */
int ctl_stats(struct ctl_args *args)
{
	struct ctl_snap snap;
	uint32_t i;
	int ret;

	ret = ctl_snap_services(&snap, args->argv[0]);
	if (ret)
		return ret;

	ctl_out_open(CTL_OUT_LIST, NULL);
	for (i = 0; i < snap.n_services; i++)
		show_stats(&snap.services[i]);
	ctl_out_close();
	ctl_snap_free(&snap);
	return CTL_OK;
}
