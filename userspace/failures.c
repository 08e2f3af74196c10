// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl simulate failures: what the survivors get when backends fail.
 *
 * Each case is built as the module would build it, so that a balanced ring, whose
 * bounds shift with every loss, is foretold as well as a plain one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "config.h"
#include "err.h"
#include "out.h"

/* Last: its types stand in for the kernel's. */
#include "nodes.h"
#include "progress.h"

/* Failures at once. */
#define FAILED_MAX	2
/*
 * Number of cases tried, at equal distances, where there are more than all pairs of
 * a hundred: with more backends each takes longer, and differs less from the others.
 */
#define CASES_ALL	4950
#define CASES_SOME	1000

/**
 * struct worst - the case in which a survivor gets most
 * @known: a case has been tried that it survives; it may own nothing in any
 * @arcs: its arcs then
 * @failed: indices of those that have failed
 */
struct worst {
	bool known;
	uint32_t arcs;
	uint32_t failed[FAILED_MAX];
};

/**
 * struct inquiry - all cases of so many failures
 * @nodes: the backends
 * @total: sum of their weights
 * @ring: their ring
 * @left: the backends that have not failed
 * @failures: how many fail at once
 * @cases: number of cases
 * @tried: number of those that were tried
 * @worst: for each survivor
 * @most: the survivor that gets most over its target
 */
struct inquiry {
	const struct ctl_nodes *nodes;
	uint64_t total;
	const struct chs_ring *ring;
	struct chs_ring_node *left;
	uint32_t failures;
	uint32_t cases;
	uint32_t tried;
	struct worst *worst;
	uint32_t most;
};

/**
 * struct options - what may follow the file
 * @service: name of a service in it, or NULL
 */
struct options {
	const char *service;
};

const struct ctl_keyword ctl_failures_keywords[] = {
	{
		.name = "service", .kind = CTL_KW_STRING, .attr = 0,
		.offset = offsetof(struct options, service),
		.usage = "NAME", .help = "which service of FILE",
	},
	{}
};

/* Arcs owned over the fair share, arcs * weight / total weight. */
static double overload(const struct inquiry *inq, uint32_t which, uint32_t arcs)
{
	return (double)arcs / inq->nodes->conf.slots * inq->total /
	       inq->nodes->nodes[which].weight;
}

/* The same if those left had shared out the loss by their weights. */
static double fair(const struct inquiry *inq, const uint32_t *failed)
{
	uint64_t left = inq->total;
	uint32_t i;

	for (i = 0; i < inq->failures; i++)
		left -= inq->nodes->nodes[failed[i]].weight;
	return (double)inq->total / left;
}

static bool has_failed(const struct inquiry *inq, const uint32_t *failed, uint32_t which)
{
	return which == failed[0] || (inq->failures > 1 && which == failed[1]);
}

static int try_case(struct inquiry *inq, const uint32_t *failed)
{
	const struct ctl_nodes *nodes = inq->nodes;
	struct chs_ring ring;
	struct worst *worst;
	uint32_t i, n = 0;
	int err;

	for (i = 0; i < nodes->n; i++) {
		if (!has_failed(inq, failed, i))
			inq->left[n++] = nodes->nodes[i];
	}
	err = chs_ring_build(&ring, &nodes->conf, inq->left, n, inq->ring);
	if (err)
		return ctl_ring_failed(err);

	for (i = 0, n = 0; i < nodes->n; i++) {
		worst = &inq->worst[i];
		if (has_failed(inq, failed, i))
			continue;
		if (!worst->known || ring.shares[n] > worst->arcs) {
			worst->known = true;
			worst->arcs = ring.shares[n];
			memcpy(worst->failed, failed, sizeof(worst->failed));
		}
		n++;
	}
	chs_ring_clear(&ring);
	inq->tried++;
	return CTL_OK;
}

/* Whether case @i of @cases is one of those tried. */
static bool is_tried(uint32_t i, uint32_t cases)
{
	if (cases <= CASES_ALL)
		return true;
	return (uint64_t)(i + 1) * CASES_SOME / cases != (uint64_t)i * CASES_SOME / cases;
}

static int try_cases(struct inquiry *inq)
{
	const uint32_t n = inq->nodes->n;
	uint32_t failed[FAILED_MAX] = {}, i = 0;
	int ret = CTL_OK;

	for (failed[0] = 0; failed[0] < n; failed[0]++) {
		failed[1] = inq->failures > 1 ? failed[0] + 1 : n - 1;
		for (; failed[1] < n; failed[1]++, i++) {
			if (is_tried(i, inq->cases)) {
				ctl_progress_at(i, inq->cases);
				ret = try_case(inq, failed);
			}
			if (ret)
				return ret;
		}
	}
	return CTL_OK;
}

static void find_most(struct inquiry *inq)
{
	uint32_t i;

	for (i = 1; i < inq->nodes->n; i++) {
		if (overload(inq, i, inq->worst[i].arcs) >
		    overload(inq, inq->most, inq->worst[inq->most].arcs))
			inq->most = i;
	}
}

static const char *text_of(const struct inquiry *inq, uint32_t which)
{
	struct ctl_endpoint ep;

	ctl_node_endpoint(&inq->nodes->nodes[which].id, &ep);
	return ctl_endpoint_text(&ep);
}

static void show_failed(const struct inquiry *inq, const uint32_t *failed)
{
	char text[FAILED_MAX * CTL_ENDPOINT_MAX];
	uint32_t i;

	if (!ctl_out_is_json()) {
		snprintf(text, sizeof(text), "%s%s%s", text_of(inq, failed[0]),
			 inq->failures > 1 ? "," : "",
			 inq->failures > 1 ? text_of(inq, failed[1]) : "");
		ctl_out_str(CTL_OUT_TEXT, "failed", text);
		return;
	}
	ctl_out_open(CTL_OUT_LIST, "failed");
	for (i = 0; i < inq->failures; i++)
		ctl_out_str(CTL_OUT_JSON, NULL, text_of(inq, failed[i]));
	ctl_out_close();
}

/* The worst that can happen to a survivor. */
static void show_worst(const struct inquiry *inq, uint32_t which)
{
	const struct ctl_nodes *nodes = inq->nodes;
	const struct worst *worst = &inq->worst[which];
	struct ctl_endpoint ep;

	ctl_node_endpoint(&nodes->nodes[which].id, &ep);
	ctl_out_str(CTL_OUT_TEXT, NULL, ctl_endpoint_text(&ep));
	ctl_out_str(CTL_OUT_JSON, "address", ctl_addr_text(&ep.addr));
	ctl_out_u64(CTL_OUT_JSON, "port", ep.port);
	ctl_out_u64(CTL_OUT_ANY, "weight", nodes->nodes[which].weight);
	ctl_out_share(CTL_OUT_ANY, "before", inq->ring->shares[which], nodes->conf.slots);
	ctl_out_share(CTL_OUT_ANY, "share", worst->arcs, nodes->conf.slots);
	ctl_out_ratio(CTL_OUT_ANY, "overload", overload(inq, which, worst->arcs));
	ctl_out_ratio(CTL_OUT_ANY, "fair", fair(inq, worst->failed));
	show_failed(inq, worst->failed);
}

static void show_inquiry(const struct inquiry *inq)
{
	uint32_t i;

	ctl_out_open(CTL_OUT_RECORD, NULL);
	ctl_out_u64(CTL_OUT_ANY, "failures", inq->failures);
	ctl_out_u64(CTL_OUT_ANY, "cases", inq->cases);
	ctl_out_u64(CTL_OUT_ANY, "tried", inq->tried);
	ctl_out_str(CTL_OUT_TEXT, NULL, "worst");
	ctl_out_open(CTL_OUT_GROUP, "worst");
	show_worst(inq, inq->most);
	ctl_out_close();
	ctl_out_open(CTL_OUT_LIST, "survivors");
	for (i = 0; i < inq->nodes->n; i++) {
		ctl_out_open(CTL_OUT_OBJECT, NULL);
		show_worst(inq, i);
		ctl_out_close();
	}
	ctl_out_close();
	ctl_out_close();
}

static void show(const char *service, const struct inquiry *inqs, unsigned int n)
{
	const struct ctl_nodes *nodes = inqs[0].nodes;
	unsigned int i;

	ctl_out_open(CTL_OUT_OBJECT, NULL);
	ctl_out_str(CTL_OUT_BARE, "service", service);
	ctl_out_u64(CTL_OUT_ANY, "backends", nodes->n);
	ctl_out_u64(CTL_OUT_ANY, "points", nodes->conf.points);
	ctl_out_u64(CTL_OUT_ANY, "unit", nodes->conf.unit);
	ctl_out_u64(CTL_OUT_ANY, "slots", nodes->conf.slots);
	ctl_out_hundredths(CTL_OUT_ANY, "balance", nodes->conf.balance);
	ctl_out_open(CTL_OUT_LIST, "failures");
	for (i = 0; i < n; i++)
		show_inquiry(&inqs[i]);
	ctl_out_close();
	ctl_out_close();
}

static uint32_t count_cases(uint32_t n, uint32_t failures)
{
	return failures > 1 ? n * (n - 1) / 2 : n;
}

static int inquire(const char *service, const struct ctl_nodes *nodes,
		   const struct chs_ring *ring, struct worst *worst, struct chs_ring_node *left)
{
	struct inquiry inqs[FAILED_MAX];
	uint64_t total = 0;
	uint32_t i, n;
	int ret = CTL_OK;

	for (i = 0; i < nodes->n; i++)
		total += nodes->nodes[i].weight;

	/* Leave at least one survivor. */
	for (n = 0; !ret && n < FAILED_MAX && n + 1 < nodes->n; n++) {
		inqs[n] = (struct inquiry){
			.nodes = nodes,
			.total = total,
			.ring = ring,
			.left = left,
			.failures = n + 1,
			.cases = count_cases(nodes->n, n + 1),
			.worst = worst + (size_t)n * nodes->n,
		};
		ctl_progress_begin(n ? "any two backends fail" : "any backend fails");
		ret = try_cases(&inqs[n]);
		ctl_progress_end();
		find_most(&inqs[n]);
	}
	if (!ret && !n)
		ret = ctl_fail(EINVAL, "service %s: one backend, which none would survive",
			       service);
	if (!ret)
		show(service, inqs, n);
	return ret;
}

static int foretell(const char *service, const struct ctl_nodes *nodes)
{
	struct worst *worst = calloc((size_t)FAILED_MAX * nodes->n, sizeof(*worst));
	struct chs_ring_node *left = calloc(nodes->n, sizeof(*left));
	struct chs_ring ring = {};
	int ret = CTL_FAILED;

	if (!worst || !left) {
		ctl_fail(ENOMEM, "out of memory");
		goto out;
	}
	ret = ctl_ring_failed(chs_ring_build(&ring, &nodes->conf, nodes->nodes, nodes->n, NULL));
	if (!ret)
		ret = inquire(service, nodes, &ring, worst, left);
	chs_ring_clear(&ring);
out:
	free(worst);
	free(left);
	return ret;
}

static bool is_file(const char *word)
{
	struct stat st;

	return !stat(word, &st) && !S_ISDIR(st.st_mode);
}

/*
 * A service's name has no slash and is no dash. What could be either is a service
 * if there is one, for a file can still be called by a path.
 */
static int load(const char *word, const char *name, struct ctl_snap *snap,
		const struct ctl_service **svc)
{
	int ret;

	if (!name && strcmp(word, "-") && !strchr(word, '/')) {
		ret = ctl_snap_all(snap, word);
		if (!ret)
			*svc = snap->services;
		if (!ret || (ctl_err_code() != ENOENT && ctl_err_code() != CTL_ENOMODULE) ||
		    !is_file(word))
			return ret;
		ctl_err_clear();
	}
	ret = ctl_config_load(word, snap);
	return ret ? ret : ctl_config_pick(snap, word, name, svc);
}

/**
 * ctl_failures() - chctl simulate failures
 * @args: its arguments
 *
 * Return: exit status.
 */
int ctl_failures(struct ctl_args *args)
{
	const struct ctl_service *svc = NULL;
	struct ctl_nodes nodes = {};
	struct ctl_snap snap = {};
	struct options opts = {};
	uint32_t present;
	int ret;

	ret = ctl_parse_keywords(ctl_failures_keywords, UINT32_MAX, args->argv + 1, &opts,
				 &present);
	if (!ret)
		ret = load(args->argv[0], opts.service, &snap, &svc);
	if (!ret)
		ret = ctl_nodes_of(&snap, svc, &nodes);
	if (!ret)
		ret = ctl_nodes_active(&nodes, svc->name);
	if (!ret)
		ret = foretell(svc->name, &nodes);
	ctl_nodes_free(&nodes);
	ctl_snap_free(&snap);
	return ret;
}
