// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl service
 */
#include <string.h>

#include "cmd.h"
#include "err.h"
#include "out.h"
#include "show.h"
#include "snap.h"

static int parse_options(struct ctl_args *args, int first, struct ctl_service *svc)
{
	return ctl_parse_keywords(ctl_service_keywords, args->cmd->allowed,
				  args->argv + first, svc, &svc->present);
}

static int build(const struct ctl_args *args, uint8_t cmd, const struct ctl_service *svc,
		 bool key, struct nl_msg **msg)
{
	*msg = ctl_cmd_request(args, cmd, strlen(svc->name) + (svc->vrf ? strlen(svc->vrf) : 0));
	if (!*msg)
		return CTL_FAILED;
	if (ctl_put_service(*msg, svc, key)) {
		nlmsg_free(*msg);
		return CTL_FAILED;
	}
	return CTL_OK;
}

/**
 * ctl_service_parse() - what is said of a new service
 * @args: arguments of service add
 * @svc: where it goes; its strings are among the arguments
 *
 * Return: CTL_OK, CTL_USAGE or CTL_FAILED.
 */
int ctl_service_parse(struct ctl_args *args, struct ctl_service *svc)
{
	int ret;

	memset(svc, 0, sizeof(*svc));
	svc->name = args->argv[0];
	ret = ctl_parse_proto(args->argv[1], &svc->proto);
	if (!ret)
		ret = ctl_parse_endpoint(args->argv[2], &svc->ep);
	if (!ret && svc->ep.kind == CTL_PORT_NONE)
		ret = ctl_usage("%s: port missing (%s:PORT, LO-HI or * for PORT)", args->argv[2],
				svc->ep.addr.len == 4 ? "ADDRESS" : "[ADDRESS]");
	return ret ? ret : parse_options(args, 3, svc);
}

/**
 * ctl_service_add() - chctl service add
 * @args: its arguments
 * @msg: the request that does it
 *
 * Return: CTL_OK, CTL_USAGE or CTL_FAILED.
 */
int ctl_service_add(struct ctl_args *args, struct nl_msg **msg)
{
	struct ctl_service svc;
	int ret;

	ret = ctl_service_parse(args, &svc);
	return ret ? ret : build(args, CHS_CMD_SERVICE_NEW, &svc, true, msg);
}

/**
 * ctl_service_set() - chctl service set
 * @args: its arguments
 * @msg: the request that does it
 *
 * Return: CTL_OK, CTL_USAGE or CTL_FAILED.
 */
int ctl_service_set(struct ctl_args *args, struct nl_msg **msg)
{
	struct ctl_service svc = { .name = args->argv[0] };
	int ret;

	if (args->argc == 1)
		return ctl_usage("nothing to set: chctl service set %s", args->cmd->usage);
	ret = parse_options(args, 1, &svc);
	return ret ? ret : build(args, CHS_CMD_SERVICE_SET, &svc, false, msg);
}

/**
 * ctl_service_del() - chctl service del
 * @args: its arguments
 * @msg: the request that does it
 *
 * Return: CTL_OK, CTL_USAGE or CTL_FAILED.
 */
int ctl_service_del(struct ctl_args *args, struct nl_msg **msg)
{
	const struct ctl_service svc = { .name = args->argv[0] };

	return build(args, CHS_CMD_SERVICE_DEL, &svc, false, msg);
}

static void show_key(const struct ctl_service *svc)
{
	ctl_out_str(CTL_OUT_BARE, "name", svc->name);
	ctl_out_str(CTL_OUT_BARE, "proto", ctl_proto_name(svc->proto));
	ctl_out_str(CTL_OUT_TEXT, NULL, ctl_endpoint_text(&svc->ep));
	ctl_out_str(CTL_OUT_JSON, "address", ctl_addr_text(&svc->ep.addr));
	ctl_out_u64(CTL_OUT_JSON, "port", svc->ep.kind == CTL_PORT_ANY ? 0 : svc->ep.port);
	if (svc->ep.kind == CTL_PORT_RANGE)
		ctl_out_u64(CTL_OUT_JSON, "port_end", svc->ep.port_end);
	else
		ctl_out_null(CTL_OUT_JSON, "port_end");
}

static void show_number(const struct ctl_service *svc, unsigned int attr, const char *key,
			uint32_t value)
{
	ctl_out_maybe(CTL_OUT_ANY, key, svc->present & CTL_BIT(attr), value);
}

/* Options of the direct modes, which remember flows themselves. */
static void show_affinity(const struct ctl_service *svc)
{
	ctl_out_str(CTL_OUT_ANY, "affinity", svc->present & CTL_BIT(CHS_A_SERVICE_AFFINITY) ?
		    ctl_choice_name(ctl_affinities, svc->affinity) : NULL);
	show_number(svc, CHS_A_SERVICE_WINDOW, "window", svc->window);
	show_number(svc, CHS_A_SERVICE_MAX_FLOWS, "max_flows", svc->max_flows);
	show_number(svc, CHS_A_SERVICE_TIMEOUT, "timeout", svc->timeout);
}

static void show_vrf(const struct ctl_service *svc)
{
	bool known = svc->status & CTL_BIT(CHS_A_SERVICE_STATUS_VRF_PRESENT);
	char text[64];

	snprintf(text, sizeof(text), "%s%s", svc->vrf ? svc->vrf : "",
		 known && !svc->vrf_present ? " (absent)" : "");
	ctl_out_str(CTL_OUT_TEXT, "vrf", svc->vrf ? text : NULL);
}

static void show_options(const struct ctl_service *svc)
{
	ctl_out_str(CTL_OUT_ANY, "mode", ctl_choice_name(ctl_modes, svc->mode));
	ctl_out_str(CTL_OUT_ANY, "hash", ctl_choice_name(ctl_hashes, svc->hash));
	ctl_out_u64(CTL_OUT_ANY, "points", svc->points);
	ctl_out_u64(CTL_OUT_ANY, "unit", svc->unit);
	ctl_out_u64(CTL_OUT_ANY, "slots", svc->slots);
	ctl_out_hundredths(CTL_OUT_ANY, "balance", svc->balance);
	ctl_out_str(CTL_OUT_TEXT, "seed", svc->seed_default ? "default" : "set");
	ctl_out_bool(CTL_OUT_JSON, "seed_default", svc->seed_default);
	show_affinity(svc);
	ctl_out_str(CTL_OUT_ANY, "on_empty", ctl_choice_name(ctl_on_empties, svc->on_empty));
	ctl_out_bool(CTL_OUT_ANY, "masquerade", svc->masquerade);
	show_number(svc, CHS_A_SERVICE_GUE_PORT, "gue_port", svc->gue_port);
	ctl_out_str(CTL_OUT_ANY, "source", ctl_addr_text(&svc->source));
	show_vrf(svc);
	ctl_out_str(CTL_OUT_JSON, "vrf", svc->vrf);
	if (svc->status & CTL_BIT(CHS_A_SERVICE_STATUS_VRF_PRESENT))
		ctl_out_bool(CTL_OUT_JSON, "vrf_present", svc->vrf_present);
	else
		ctl_out_null(CTL_OUT_JSON, "vrf_present");
}

/**
 * ctl_show_open() - how much of a ring is not settled, and for how long
 * @as: where
 * @svc: service
 */
void ctl_show_open(enum ctl_out_as as, const struct ctl_service *svc)
{
	if (svc->status & CTL_BIT(CHS_A_SERVICE_STATUS_OPEN))
		ctl_out_share(as, "open", svc->open, svc->slots);
	else
		ctl_out_null(as, "open");
	ctl_out_maybe(as, "settles_in", svc->status & CTL_BIT(CHS_A_SERVICE_STATUS_SETTLES_IN),
		      svc->settles_in);
}

/**
 * ctl_service_show() - chctl service show
 * @args: its arguments
 *
 * Return: exit status.
 */
int ctl_service_show(struct ctl_args *args)
{
	struct ctl_snap snap;
	uint32_t i;
	int ret;

	ret = ctl_snap_services(&snap, args->argv[0]);
	if (ret)
		return ret;

	ctl_out_open(CTL_OUT_LIST, NULL);
	for (i = 0; i < snap.n_services; i++) {
		const struct ctl_service *svc = &snap.services[i];

		ctl_out_open(CTL_OUT_OBJECT, NULL);
		show_key(svc);
		show_options(svc);
		ctl_out_u64(CTL_OUT_ANY, "backends", svc->n_backends);
		ctl_out_u64(CTL_OUT_ANY, "generation", svc->generation);
		ctl_out_hex(CTL_OUT_ANY, "digest", svc->digest);
		ctl_show_open(CTL_OUT_ANY, svc);
		ctl_out_close();
	}
	ctl_out_close();
	ctl_snap_free(&snap);
	return CTL_OK;
}

/**
 * ctl_show_all() - chctl without arguments: what an operator looks at first
 *
 * Return: exit status.
 */
int ctl_show_all(void)
{
	struct ctl_snap snap;
	uint32_t i;
	int ret;

	ret = ctl_snap_all(&snap, NULL);
	if (ret)
		return ret;

	ctl_out_open(CTL_OUT_LIST, NULL);
	for (i = 0; i < snap.n_services; i++) {
		const struct ctl_service *svc = &snap.services[i];

		ctl_out_open(CTL_OUT_OBJECT, NULL);
		show_key(svc);
		if (ctl_out_is_json())
			show_options(svc);
		else
			ctl_out_str(CTL_OUT_TEXT, "mode", ctl_choice_name(ctl_modes, svc->mode));
		ctl_out_u64(CTL_OUT_JSON, "generation", svc->generation);
		ctl_out_u64(CTL_OUT_TEXT, "backends", svc->n_backends);
		ctl_out_hex(CTL_OUT_ANY, "digest", svc->digest);
		if (svc->vrf)
			show_vrf(svc);
		ctl_show_open(CTL_OUT_JSON, svc);
		ctl_show_backends(&snap, svc, false);
		ctl_out_close();
	}
	ctl_out_close();
	ctl_snap_free(&snap);
	return CTL_OK;
}
