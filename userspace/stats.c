// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl stats
 */
#include "cmd.h"
#include "err.h"
#include "out.h"
#include "snap.h"

static void show_stats(const struct ctl_service *svc)
{
	const struct ctl_stats *stats = &svc->stats;
	int i;

	ctl_out_open(CTL_OUT_OBJECT, NULL);
	ctl_out_str(CTL_OUT_BARE, "service", svc->name);
	ctl_out_u64(CTL_OUT_ANY, "packets", stats->packets);
	ctl_out_u64(CTL_OUT_ANY, "bytes", stats->bytes);
	if (stats->flows_counted)
		ctl_out_u64(CTL_OUT_ANY, "new_flows", stats->new_flows);
	else
		ctl_out_null(CTL_OUT_ANY, "new_flows");
	ctl_out_null(CTL_OUT_JSON, "tracked_flows");
	ctl_out_u64(CTL_OUT_ANY, "passed", stats->passed);
	ctl_out_u64(CTL_OUT_ANY, "icmp_unmatched", stats->icmp_unmatched);
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
