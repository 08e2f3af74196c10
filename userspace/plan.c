// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl plan
 *
 * The module itself says what a command would make of its services: the
 * command's requests are tried in a transaction that is aborted then. So what
 * is refused is refused here in the same words, and nothing has to know a second
 * time what a request means. The rings before and after are built by the same
 * code as the module's, and their digests are compared with the module's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "err.h"
#include "out.h"
#include "plot.h"
#include "predict.h"
#include "show.h"
#include "txn.h"

/* In the order of the command's flags. */
enum {
	VALUE_MAX_MOVE,
	VALUE_PLOT,
};

/**
 * struct plan - what a command would do
 * @service: the only service that it can touch, or NULL
 * @before: services as they are
 * @after: services as they would be
 * @changes: what becomes of those that it touches
 * @n: number of them
 */
struct plan {
	const char *service;
	struct ctl_snap before;
	struct ctl_snap after;
	struct ctl_change *changes;
	uint32_t n;
};

static void free_snaps(struct plan *plan)
{
	ctl_snap_free(&plan->before);
	ctl_snap_free(&plan->after);
}

/* That the one service is not there, before or after, is an answer too. */
static int none_if_missing(const struct plan *plan, int ret)
{
	if (!ret || !plan->service || ctl_err_code() != ENOENT)
		return ret;
	ctl_err_clear();
	return CTL_OK;
}

/*
 * Read the state in force first: if it changes afterwards, the commit is
 * refused.
 */
static int look(uint32_t id, void *arg)
{
	struct plan *plan = arg;
	int ret;

	free_snaps(plan);
	ret = none_if_missing(plan, ctl_snap_all(&plan->before, plan->service));
	if (!ret)
		ret = none_if_missing(plan, ctl_snap_txn(&plan->after, plan->service, id));
	return ret;
}

static int add_change(struct plan *plan, const char *name, const struct ctl_service *before,
		      const struct ctl_service *after)
{
	struct ctl_change *change = &plan->changes[plan->n];

	/* Named in a command of its own it is shown, however little that does. */
	if (before && after && !plan->service &&
	    ctl_snap_same(&plan->before, before, &plan->after, after))
		return CTL_OK;

	plan->n++;
	change->name = name;
	change->before.snap = &plan->before;
	change->before.svc = before;
	change->after.snap = &plan->after;
	change->after.svc = after;
	return ctl_change_make(change);
}

/* Both lists are ordered by name. */
static int compare(struct plan *plan)
{
	const struct ctl_service *a = plan->before.services, *b = plan->after.services;
	const struct ctl_service *a_end = a + plan->before.n_services;
	const struct ctl_service *b_end = b + plan->after.n_services;
	int ret = CTL_OK, diff;

	plan->changes = calloc((a_end - a) + (b_end - b) + 1, sizeof(*plan->changes));
	if (!plan->changes)
		return ctl_fail(ENOMEM, "out of memory");
	while (!ret && (a < a_end || b < b_end)) {
		diff = a == a_end ? 1 : b == b_end ? -1 : strcmp(a->name, b->name);
		ret = add_change(plan, diff <= 0 ? a->name : b->name, diff <= 0 ? a : NULL,
				 diff >= 0 ? b : NULL);
		a += diff <= 0;
		b += diff >= 0;
	}
	return ret;
}

static const struct ctl_backend *backend(const struct ctl_arcs *arcs, uint32_t i)
{
	return &arcs->snap->backends[arcs->svc->first + i];
}

static const char *owner_text(const struct ctl_arcs *arcs, uint16_t owner)
{
	return owner == CTL_NOBODY ? NULL : ctl_endpoint_text(&backend(arcs, owner)->ep);
}

static void show_moves(const struct ctl_change *change)
{
	uint32_t i;

	ctl_out_open(CTL_OUT_LIST, "moves");
	for (i = 0; i < change->n_moves; i++) {
		const struct ctl_move *move = &change->moves[i];

		ctl_out_open(CTL_OUT_OBJECT, NULL);
		ctl_out_str(CTL_OUT_ANY, "from", owner_text(&change->before, move->from));
		ctl_out_str(CTL_OUT_ANY, "to", owner_text(&change->after, move->to));
		ctl_out_u64(CTL_OUT_ANY, "slots", move->slots);
		ctl_out_share(CTL_OUT_ANY, "share", move->slots, change->slots);
		ctl_out_close();
	}
	ctl_out_close();
}

static void show_part(const struct ctl_arcs *arcs, const struct ctl_backend *be, const char *slots,
		      const char *share, const char *target)
{
	if (!be) {
		ctl_out_null(CTL_OUT_JSON, slots);
		ctl_out_null(CTL_OUT_ANY, share);
		ctl_out_null(CTL_OUT_ANY, target);
		return;
	}
	ctl_out_u64(CTL_OUT_JSON, slots, be->slots);
	ctl_out_share(CTL_OUT_ANY, share, be->slots, arcs->svc->slots);
	ctl_out_share(CTL_OUT_ANY, target, ctl_target_weight(be),
		      ctl_total_weight(arcs->snap, arcs->svc));
}

static void show_backend(const struct ctl_change *change, const struct ctl_backend *a,
			 const struct ctl_backend *b)
{
	const struct ctl_endpoint *ep = a ? &a->ep : &b->ep;

	ctl_out_open(CTL_OUT_OBJECT, NULL);
	ctl_out_str(CTL_OUT_TEXT, NULL, ctl_endpoint_text(ep));
	ctl_out_str(CTL_OUT_JSON, "address", ctl_addr_text(&ep->addr));
	ctl_out_u64(CTL_OUT_JSON, "port", ep->port);
	show_part(&change->before, a, "slots_before", "share_before", "target_before");
	show_part(&change->after, b, "slots_after", "share_after", "target_after");
	ctl_out_close();
}

static void show_backends(const struct ctl_change *change)
{
	const uint32_t n = change->before.svc ? change->before.svc->n : 0;
	const uint32_t m = change->after.svc ? change->after.svc->n : 0;
	const struct ctl_backend *a, *b;
	uint32_t i = 0, j = 0;
	int diff;

	ctl_out_open(CTL_OUT_LIST, "backends");
	while (i < n || j < m) {
		a = i < n ? backend(&change->before, i) : NULL;
		b = j < m ? backend(&change->after, j) : NULL;
		diff = !a ? 1 : !b ? -1 : ctl_endpoint_cmp(&a->ep, &b->ep);
		show_backend(change, diff <= 0 ? a : NULL, diff >= 0 ? b : NULL);
		i += diff <= 0;
		j += diff >= 0;
	}
	ctl_out_close();
}

static void show_digest(const char *key, const struct ctl_service *svc)
{
	if (svc)
		ctl_out_hex(CTL_OUT_JSON, key, svc->digest);
	else
		ctl_out_null(CTL_OUT_JSON, key);
}

static void show_change(const struct ctl_change *change)
{
	const struct ctl_service *a = change->before.svc, *b = change->after.svc;

	ctl_out_open(CTL_OUT_OBJECT, NULL);
	ctl_out_str(CTL_OUT_BARE, "service", change->name);
	ctl_out_share(CTL_OUT_ANY, "moved", change->moved, change->slots);
	ctl_out_share(CTL_OUT_ANY, "unavoidable", change->unavoidable, change->slots);
	ctl_out_ratio(CTL_OUT_ANY, "peak_before", a ? ctl_peak(change->before.snap, a) : -1);
	ctl_out_ratio(CTL_OUT_ANY, "peak_after", b ? ctl_peak(change->after.snap, b) : -1);
	ctl_out_u64(CTL_OUT_ANY, "slots", change->slots);
	if (!a || !b)
		ctl_out_str(CTL_OUT_TEXT, NULL, a ? "removed" : "new");
	else if (change->rehashed)
		ctl_out_str(CTL_OUT_TEXT, NULL, "rehashed");
	ctl_out_bool(CTL_OUT_JSON, "rehashed", change->rehashed);
	show_digest("digest_before", a);
	show_digest("digest_after", b);
	show_backends(change);
	show_moves(change);
	ctl_out_close();
}

static void show(const struct plan *plan)
{
	uint32_t i;

	ctl_out_open(CTL_OUT_LIST, NULL);
	for (i = 0; i < plan->n; i++)
		show_change(&plan->changes[i]);
	ctl_out_close();
}

/* @most: in millionths */
static int guard(const struct plan *plan, uint32_t most)
{
	const struct ctl_change *worst = NULL, *change;
	uint32_t i;

	for (i = 0; i < plan->n; i++) {
		change = &plan->changes[i];
		if (!worst || (uint64_t)change->moved * worst->slots >
			      (uint64_t)worst->moved * change->slots)
			worst = change;
	}
	if (!worst || (uint64_t)worst->moved * 1000000 <= (uint64_t)most * worst->slots)
		return CTL_OK;
	return ctl_fail(CTL_EMOVED, "service %s: %.4g%% of its hash space would move, more than %.6g%%",
			worst->name, 100.0 * worst->moved / worst->slots, most / 10000.0);
}

/* The services that a command may touch; a file may touch any. */
static const char *only_service(const struct ctl_args *inner)
{
	if (inner->cmd->run || !inner->argc || !strcmp(inner->argv[0], "*"))
		return NULL;
	return inner->argv[0];
}

static int read_command(struct ctl_args *inner, struct ctl_txn *txn)
{
	struct nl_msg *msg;
	int ret;

	if (inner->cmd->run == ctl_apply)
		return ctl_apply_read(inner, txn);
	if (!ctl_cmd_is_change(inner->cmd))
		return ctl_usage("'%s%s%s': not a command that changes services or backends",
				 inner->cmd->object, inner->cmd->verb ? " " : "",
				 inner->cmd->verb ? inner->cmd->verb : "");

	ret = inner->cmd->build(inner, &msg);
	if (ret)
		return ret;
	ret = ctl_txn_add(txn, msg, 0);
	nlmsg_free(msg);
	return ret;
}

static int parse(struct ctl_args *args, struct ctl_args *inner, uint32_t *most)
{
	int ret;

	if (args->flags & CTL_FLAG_MAX_MOVE) {
		ret = ctl_parse_percent("--max-move", args->values[VALUE_MAX_MOVE], most);
		if (ret)
			return ret;
	}
	return ctl_cmd_parse(args->argv, inner);
}

static int report(const struct plan *plan, const struct ctl_args *args, uint32_t most)
{
	const char *plot = args->values[VALUE_PLOT];
	int ret = CTL_OK;

	if (plot)
		ret = ctl_plot_changes(plot, plan->changes, plan->n);
	/* On standard output it is there instead. */
	if (!ret && (!plot || strcmp(plot, "-")))
		show(plan);
	if (!ret && args->flags & CTL_FLAG_MAX_MOVE)
		ret = guard(plan, most);
	return ret;
}

/**
 * ctl_plan() - chctl plan
 * @args: its arguments
 *
 * Return: exit status.
 */
int ctl_plan(struct ctl_args *args)
{
	struct ctl_args inner = { .txn = true };
	struct plan plan = {};
	struct ctl_txn txn = { .look = look, .arg = &plan };
	uint32_t most = 0, i;
	int ret;

	ret = parse(args, &inner, &most);
	if (!ret)
		ret = read_command(&inner, &txn);
	if (!ret) {
		plan.service = only_service(&inner);
		txn.flags |= CHS_FLAG_DRY_RUN;
		ret = ctl_txn_run(&txn);
	}
	if (!ret)
		ret = compare(&plan);
	if (!ret)
		ret = report(&plan, args, most);

	for (i = 0; i < plan.n; i++)
		ctl_change_free(&plan.changes[i]);
	free(plan.changes);
	free_snaps(&plan);
	ctl_txn_free(&txn);
	return ret;
}
