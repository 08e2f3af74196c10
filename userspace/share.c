// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl ring
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd.h"
#include "err.h"
#include "out.h"
#include "plot.h"
#include "progress.h"
#include "show.h"

#define NO_OWNER	0xffff
/* Between two looks at a ring that is to settle. */
#define WAIT_MS		250

/**
 * ctl_peak() - how far off the worst backend of a service is
 * @snap: snapshot
 * @svc: service in it
 *
 * Return: the largest share over its target, negative if nobody has a target.
 */
double ctl_peak(const struct ctl_snap *snap, const struct ctl_service *svc)
{
	const uint64_t total = ctl_total_weight(snap, svc);
	double peak = -1, ratio;
	uint32_t i;

	for (i = 0; i < svc->n; i++) {
		const struct ctl_backend *be = &snap->backends[svc->first + i];
		const uint64_t weight = ctl_target_weight(be);

		if (!weight || !svc->slots)
			continue;
		ratio = (double)be->slots / svc->slots * total / weight;
		if (ratio > peak)
			peak = ratio;
	}
	return peak;
}

static void show_ring(const struct ctl_snap *snap, const struct ctl_service *svc)
{
	ctl_out_open(CTL_OUT_OBJECT, NULL);
	ctl_out_str(CTL_OUT_BARE, "service", svc->name);
	ctl_out_u64(CTL_OUT_ANY, "slots", svc->slots);
	ctl_out_u64(CTL_OUT_ANY, "points", svc->points);
	ctl_out_hundredths(CTL_OUT_ANY, "balance", svc->balance);
	ctl_out_u64(CTL_OUT_ANY, "generation", svc->generation);
	ctl_out_hex(CTL_OUT_ANY, "digest", svc->digest);
	ctl_out_ratio(CTL_OUT_ANY, "peak", ctl_peak(snap, svc));
	ctl_show_open(CTL_OUT_ANY, svc);
	ctl_show_backends(snap, svc, true);
	ctl_out_close();
}

/**
 * ctl_ring_show() - chctl ring show
 * @args: its arguments
 *
 * Return: exit status.
 */
int ctl_ring_show(struct ctl_args *args)
{
	struct ctl_snap snap;
	uint32_t i;
	int ret;

	ret = ctl_snap_all(&snap, args->argv[0]);
	if (ret)
		return ret;

	if (!args->argv[0])
		ctl_out_open(CTL_OUT_LIST, NULL);
	for (i = 0; i < snap.n_services; i++)
		show_ring(&snap, &snap.services[i]);
	if (!args->argv[0])
		ctl_out_close();
	ctl_snap_free(&snap);
	return CTL_OK;
}

/**
 * struct arcs - owners of a service's arcs, as far as they are read
 * @owners: index of the owner in the order of backends
 * @n: number read
 * @slots: number there are
 * @generation: of the ring that they must all be of
 */
struct arcs {
	uint16_t *owners;
	uint32_t n;
	uint32_t slots;
	uint64_t generation;
};

static int take_owners(struct nlattr **tb, void *arg)
{
	struct nlattr *status[CHS_A_SERVICE_STATUS_MAX + 1], *generation;
	struct arcs *arcs = arg;
	uint32_t n;

	if (!tb[CHS_A_OWNERS] || !tb[CHS_A_ARC] || nla_len(tb[CHS_A_ARC]) < 4 ||
	    !tb[CHS_A_SERVICE_STATUS] ||
	    nla_parse_nested(status, CHS_A_SERVICE_STATUS_MAX, tb[CHS_A_SERVICE_STATUS], NULL))
		return ctl_bad_reply();

	generation = status[CHS_A_SERVICE_STATUS_GENERATION];
	if (!generation || nla_len(generation) < 8)
		return ctl_bad_reply();
	if (nla_get_u64(generation) != arcs->generation)
		return ctl_fail(EAGAIN, "the ring changed while it was read");

	n = nla_len(tb[CHS_A_OWNERS]) / sizeof(uint16_t);
	if (!n || n > arcs->slots - arcs->n || nla_get_u32(tb[CHS_A_ARC]) != arcs->n)
		return ctl_bad_reply();
	memcpy(arcs->owners + arcs->n, nla_data(tb[CHS_A_OWNERS]), n * sizeof(uint16_t));
	arcs->n += n;
	return CTL_OK;
}

static int load_arcs(const struct ctl_service *svc, struct arcs *arcs)
{
	struct nl_msg *msg;
	uint32_t before;
	int ret;

	while (arcs->n < arcs->slots) {
		before = arcs->n;
		msg = ctl_nl_msg(CHS_CMD_RING_GET, CTL_SERVICE_ROOM + strlen(svc->name));
		if (!msg)
			return CTL_FAILED;
		ret = ctl_put_service_name(msg, svc->name);
		if (!ret && nla_put_u32(msg, CHS_A_ARC, arcs->n))
			ret = ctl_fail(EMSGSIZE, "the request is too large");
		if (ret)
			nlmsg_free(msg);
		else
			ret = ctl_nl_do(msg, take_owners, arcs);
		if (ret)
			return ret;
		if (arcs->n == before)
			return ctl_bad_reply();
	}
	return CTL_OK;
}

static int show_arcs(const struct ctl_snap *snap, const struct arcs *arcs)
{
	const struct ctl_service *svc = &snap->services[0];
	uint32_t i;

	for (i = 0; i < arcs->n; i++) {
		if (arcs->owners[i] != NO_OWNER && arcs->owners[i] >= svc->n)
			return ctl_bad_reply();
	}

	ctl_out_open(CTL_OUT_LIST, NULL);
	for (i = 0; i < arcs->n; i++) {
		const uint16_t owner = arcs->owners[i];

		ctl_out_open(CTL_OUT_TUPLE, NULL);
		ctl_out_u64(CTL_OUT_BARE, NULL, i);
		ctl_out_str(CTL_OUT_BARE, NULL, owner == NO_OWNER ? NULL :
			    ctl_endpoint_text(&snap->backends[svc->first + owner].ep));
		ctl_out_close();
	}
	ctl_out_close();
	return CTL_OK;
}

static int dump_once(void *name)
{
	struct ctl_snap snap;
	struct arcs arcs = {};
	int ret;

	ret = ctl_snap_all(&snap, name);
	if (ret)
		return ret;

	arcs.slots = snap.services[0].slots;
	arcs.generation = snap.services[0].generation;
	arcs.owners = calloc(arcs.slots, sizeof(*arcs.owners));
	if (!arcs.owners)
		ret = ctl_fail(ENOMEM, "out of memory");
	if (!ret)
		ret = load_arcs(&snap.services[0], &arcs);
	if (!ret)
		ret = show_arcs(&snap, &arcs);
	free(arcs.owners);
	ctl_snap_free(&snap);
	return ret;
}

/**
 * ctl_ring_dump() - chctl ring dump
 * @args: its arguments
 *
 * Return: exit status.
 */
int ctl_ring_dump(struct ctl_args *args)
{
	return ctl_nl_retry("ring", dump_once, args->argv[0]);
}

static int compare(const struct ctl_snap *snap, uint64_t expected)
{
	uint32_t i;

	if (!snap->n_services)
		return ctl_fail(ENOENT, "no service has a digest to compare");
	for (i = 0; i < snap->n_services; i++) {
		if (snap->services[i].digest != expected)
			return ctl_fail(CTL_EMISMATCH, "service %s: digest %016llx, expected %016llx",
					snap->services[i].name,
					(unsigned long long)snap->services[i].digest,
					(unsigned long long)expected);
	}
	return CTL_OK;
}

/**
 * ctl_ring_digest() - chctl ring digest
 * @args: its arguments
 *
 * Return: exit status.
 */
int ctl_ring_digest(struct ctl_args *args)
{
	struct ctl_snap snap;
	uint64_t expected;
	uint32_t i;
	int ret;

	if (args->flags & CTL_FLAG_EXPECT) {
		ret = ctl_parse_hex64("--expect", args->values[0], &expected);
		if (ret)
			return ret;
	}
	ret = ctl_snap_services(&snap, args->argv[0]);
	if (ret)
		return ret;

	ctl_out_open(CTL_OUT_LIST, NULL);
	for (i = 0; i < snap.n_services; i++) {
		ctl_out_open(CTL_OUT_RECORD, NULL);
		ctl_out_str(CTL_OUT_BARE, "service", snap.services[i].name);
		ctl_out_hex(CTL_OUT_BARE, "digest", snap.services[i].digest);
		ctl_out_close();
	}
	ctl_out_close();
	if (args->flags & CTL_FLAG_EXPECT)
		ret = compare(&snap, expected);
	ctl_snap_free(&snap);
	return ret;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1000 * (uint64_t)now.tv_sec + now.tv_nsec / 1000000;
}

static void sleep_ms(uint64_t ms)
{
	const struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&pause, NULL);
}

/* Number of arcs that are not settled. */
static int count_open(const char *name, uint32_t *open)
{
	struct ctl_snap snap;
	int ret;

	ret = ctl_snap_services(&snap, name);
	if (ret)
		return ret;
	*open = snap.services[0].open;
	ctl_snap_free(&snap);
	return CTL_OK;
}

static int wait_settled(struct ctl_args *args)
{
	const char *name = args->argv[0], *limit = args->argv[1];
	uint32_t open = 0, seconds = 0;
	uint64_t now, end;
	int ret;

	if (limit) {
		ret = ctl_parse_number("SECONDS", limit, UINT32_MAX, &seconds);
		if (ret)
			return ret;
	}
	end = now_ms() + 1000 * (uint64_t)seconds;

	while (true) {
		ret = count_open(name, &open);
		if (ret || !open)
			return ret;
		now = now_ms();
		if (limit && now >= end)
			return ctl_fail(ETIMEDOUT, "service %s: arcs not settled after %u s: %u",
					name, seconds, open);
		sleep_ms(limit && end - now < WAIT_MS ? end - now : WAIT_MS);
	}
}

/**
 * ctl_ring_wait() - chctl ring wait
 * @args: its arguments
 *
 * Return: exit status.
 */
int ctl_ring_wait(struct ctl_args *args)
{
	int ret;

	ctl_progress_begin("waiting until every arc is settled");
	ret = wait_settled(args);
	ctl_progress_end();
	return ret;
}

/**
 * ctl_ring_plot() - chctl ring plot
 * @args: its arguments
 *
 * Return: exit status.
 */
int ctl_ring_plot(struct ctl_args *args)
{
	struct ctl_arcs arcs = {};
	struct ctl_snap snap;
	int ret;

	ret = ctl_snap_all(&snap, args->argv[0]);
	if (ret)
		return ret;

	arcs.snap = &snap;
	arcs.svc = &snap.services[0];
	ret = ctl_predict_arcs(&arcs);
	if (!ret)
		ret = ctl_plot_ring(&arcs);
	ctl_predict_free(&arcs);
	ctl_snap_free(&snap);
	return ret;
}
