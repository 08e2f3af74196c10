// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl simulate: schemes side by side, without a module.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "config.h"
#include "err.h"
#include "out.h"

/* Last: its types stand in for the kernel's. */
#include "measure.h"
#include "progress.h"

#define BACKENDS_DEFAULT	100
/*
 * Port of made-up backends. With few points it matters much which ones they are;
 * the first five of this port are about as uneven with one as five are in the mean.
 */
#define PORT			443

/* Options that were given, bits of struct ctl_keyword's numbers. */
enum {
	OPT_SERVICE,
	OPT_BACKENDS,
	OPT_WEIGHTS,
	OPT_EVENT,
	OPT_POINTS,
	OPT_UNIT,
	OPT_SLOTS,
	OPT_BALANCE,
};

/**
 * struct options - what is to be simulated
 * @present: bits of the options that were given
 * @service: name of a service in a file, or NULL
 * @backends: number of backends
 * @weights: their weights, or NULL
 * @event: enum ctl_event
 * @points: points of a standard backend
 * @unit: weight of a standard backend
 * @slots: arcs
 * @balance: most over the fair share, in hundredths
 */
struct options {
	uint32_t present;
	const char *service;
	uint32_t backends;
	const char *weights;
	uint32_t event;
	uint32_t points;
	uint32_t unit;
	uint32_t slots;
	uint32_t balance;
};

static const char *const events[] = { "remove", "add", "weight", NULL };

#define KEYWORD(_name, _kind, _opt, _field, _values, _usage, _help) { \
	.name = _name, \
	.kind = CTL_KW_##_kind, \
	.attr = OPT_##_opt, \
	.offset = offsetof(struct options, _field), \
	.values = _values, \
	.usage = _usage, \
	.help = _help, \
}

const struct ctl_keyword ctl_simulate_keywords[] = {
	KEYWORD("service", STRING, SERVICE, service, NULL,
		"NAME", "which service of FILE"),
	KEYWORD("backends", NUMBER, BACKENDS, backends, NULL,
		"1-4096", "number of backends, 10.0.0.1:443 and those after it (100)"),
	KEYWORD("weights", STRING, WEIGHTS, weights, NULL,
		"W,W,...", "their weights, over again where there are more backends (the unit)"),
	KEYWORD("event", CHOICE, EVENT, event, events,
		"remove | add | weight", "one goes, its like comes, its weight is halved (remove)"),
	KEYWORD("points", NUMBER, POINTS, points, NULL,
		"1-4096", "of schemes ring and balanced: points of a standard backend"),
	KEYWORD("unit", NUMBER, UNIT, unit, NULL,
		"1-10000", "weight of a standard backend"),
	KEYWORD("slots", NUMBER, SLOTS, slots, NULL,
		"256-1048576", "of the rings and of scheme slots: arcs, a power of two"),
	KEYWORD("balance", HUNDREDTHS, BALANCE, balance, NULL,
		"off | 1.01-2.00", "of scheme balanced: most over the fair share"),
	{}
};

static bool given(const struct options *opts, unsigned int opt)
{
	return opts->present & CTL_BIT(opt);
}

/* Options of the command line override those of the file. */
static int set_conf(const struct options *opts, struct chs_ring_conf *conf)
{
	if (given(opts, OPT_POINTS))
		conf->points = opts->points;
	if (given(opts, OPT_UNIT))
		conf->unit = opts->unit;
	if (given(opts, OPT_SLOTS))
		conf->slots = opts->slots;
	if (given(opts, OPT_BALANCE))
		conf->balance = opts->balance;
	/* Without a bound scheme balanced would be scheme ring. */
	if (!conf->balance)
		conf->balance = CHS_RING_BALANCE_DEFAULT;
	return ctl_nodes_check(conf);
}

/* Number of words between the commas. */
static uint32_t count_weights(const char *list)
{
	uint32_t n = 1;

	for (; *list; list++)
		n += *list == ',';
	return n;
}

/* Each word of the list in its turn; @list is cut up. */
static int parse_weights(char *list, struct ctl_nodes *nodes, uint32_t n)
{
	uint32_t i = 0, weight;
	char *word;
	int ret;

	while ((word = strsep(&list, ","))) {
		ret = ctl_parse_number("weights", word, CHS_RING_WEIGHT_MAX, &weight);
		if (!ret && !weight)
			ret = ctl_usage("weights '0': takes no part");
		if (ret)
			return ret;
		nodes->nodes[i++].weight = weight;
	}
	for (; i < nodes->n; i++)
		nodes->nodes[i].weight = nodes->nodes[i - n].weight;
	return CTL_OK;
}

static int check_number(const struct options *opts, uint32_t n_weights, uint32_t n)
{
	const uint32_t max = CHS_RING_NODES_MAX - (opts->event == CTL_EVENT_ADD);

	if (n < 1 || n > max)
		return ctl_usage("backends '%u': not 1 to %u", n, max);
	if (n_weights > n)
		return ctl_usage("weights '%s': %u of them for %u backends", opts->weights,
				 n_weights, n);
	return CTL_OK;
}

/* Backends that are nobody's, as similar as neighbours on a network are. */
static int make_up(const struct options *opts, struct ctl_nodes *nodes)
{
	const uint32_t n_weights = opts->weights ? count_weights(opts->weights) : 0;
	uint32_t i, n = BACKENDS_DEFAULT;
	char *copy;
	int ret;

	if (n_weights)
		n = n_weights;
	if (given(opts, OPT_BACKENDS))
		n = opts->backends;
	ret = check_number(opts, n_weights, n);
	if (!ret)
		ret = ctl_nodes_make(nodes, n);
	if (ret)
		return ret;

	for (i = 0; i < n; i++) {
		chs_addr_set_v4(&nodes->nodes[i].id.addr, htonl(0x0a000001 + i));
		nodes->nodes[i].id.port = htons(PORT);
		nodes->nodes[i].weight = nodes->conf.unit;
	}
	if (!n_weights)
		return CTL_OK;
	copy = strdup(opts->weights);
	ret = copy ? parse_weights(copy, nodes, n_weights) : ctl_fail(ENOMEM, "out of memory");
	free(copy);
	return ret;
}

static int load_made_up(const struct options *opts, struct ctl_nodes *nodes)
{
	struct chs_ring_conf *conf = &nodes->conf;
	int ret;

	if (opts->service)
		return ctl_usage("service: only with a FILE");
	chs_ring_key_default(&conf->key);
	conf->points = CHS_RING_POINTS_DEFAULT;
	conf->unit = CHS_RING_UNIT_DEFAULT;
	conf->slots = CHS_RING_SLOTS_DEFAULT;
	ret = set_conf(opts, conf);
	return ret ? ret : make_up(opts, nodes);
}

/* *@name is the service's then, and lives as long as @snap. */
static int load_file(const struct options *opts, const char *file, struct ctl_snap *snap,
		     struct ctl_nodes *nodes, const char **name)
{
	const struct ctl_service *svc;
	int ret;

	if (given(opts, OPT_BACKENDS) || given(opts, OPT_WEIGHTS))
		return ctl_usage("%s: not with a FILE, which says what backends there are",
				 given(opts, OPT_BACKENDS) ? "backends" : "weights");
	ret = ctl_config_load(file, snap);
	if (!ret)
		ret = ctl_config_pick(snap, file, opts->service, &svc);
	if (!ret)
		ret = ctl_nodes_of(snap, svc, nodes);
	if (!ret)
		ret = ctl_nodes_active(nodes, svc->name);
	if (ret)
		return ret;
	*name = svc->name;
	ret = set_conf(opts, &nodes->conf);
	return ret ? ret : check_number(opts, 0, nodes->n);
}

static void show_figures(const struct ctl_scheme *scheme, const struct ctl_figures *figures)
{
	ctl_out_open(CTL_OUT_OBJECT, NULL);
	ctl_out_str(CTL_OUT_BARE, "scheme", scheme->name);
	ctl_out_ratio(CTL_OUT_ANY, "peak", figures->peak);
	ctl_out_ratio(CTL_OUT_ANY, "spread", figures->spread);
	if (figures->moves) {
		ctl_out_share(CTL_OUT_ANY, "moved", figures->moved, figures->of);
		ctl_out_share(CTL_OUT_ANY, "least", figures->least, figures->of);
		ctl_out_ratio(CTL_OUT_ANY, "times", figures->least ?
			      (double)figures->moved / figures->least : -1);
	} else {
		ctl_out_null(CTL_OUT_ANY, "moved");
		ctl_out_null(CTL_OUT_ANY, "least");
		ctl_out_null(CTL_OUT_ANY, "times");
	}
	ctl_out_ratio(CTL_OUT_ANY, "lookup_ns", figures->lookup_ns);
	ctl_out_ratio(CTL_OUT_ANY, "build_ms", figures->build_ms);
	ctl_out_u64(CTL_OUT_ANY, "bytes", figures->bytes);
	ctl_out_u64(CTL_OUT_ANY, "keys", figures->keys);
	ctl_out_close();
}

static int show(const struct options *opts, const char *service, const struct ctl_nodes *nodes)
{
	struct ctl_figures figures[16];
	uint32_t i;
	int ret;

	/* All before any, so that what fails has printed nothing. */
	for (i = 0; ctl_schemes[i]; i++) {
		ctl_progress_begin(ctl_schemes[i]->name);
		ret = ctl_measure(ctl_schemes[i], nodes, opts->event, &figures[i]);
		ctl_progress_end();
		if (ret)
			return ret;
	}

	ctl_out_open(CTL_OUT_OBJECT, NULL);
	if (service)
		ctl_out_str(CTL_OUT_TEXT, "service", service);
	ctl_out_str(CTL_OUT_JSON, "service", service);
	ctl_out_u64(CTL_OUT_ANY, "backends", nodes->n);
	ctl_out_str(CTL_OUT_ANY, "event", events[opts->event]);
	ctl_out_u64(CTL_OUT_ANY, "turns", ctl_measure_turns(nodes->n));
	ctl_out_u64(CTL_OUT_ANY, "points", nodes->conf.points);
	ctl_out_u64(CTL_OUT_ANY, "unit", nodes->conf.unit);
	ctl_out_u64(CTL_OUT_ANY, "slots", nodes->conf.slots);
	ctl_out_hundredths(CTL_OUT_ANY, "balance", nodes->conf.balance);
	ctl_out_open(CTL_OUT_LIST, "schemes");
	for (i = 0; ctl_schemes[i]; i++)
		show_figures(ctl_schemes[i], &figures[i]);
	ctl_out_close();
	ctl_out_close();
	return CTL_OK;
}

/**
 * ctl_simulate() - chctl simulate
 * @args: its arguments
 *
 * Return: exit status.
 */
int ctl_simulate(struct ctl_args *args)
{
	char **words = args->argv;
	struct options opts = {};
	struct ctl_nodes nodes = {};
	const char *file = NULL, *service = NULL;
	struct ctl_snap snap = {};
	int ret;

	if (*words && !ctl_keyword_find(ctl_simulate_keywords, UINT32_MAX, *words))
		file = *words++;
	ret = ctl_parse_keywords(ctl_simulate_keywords, UINT32_MAX, words, &opts, &opts.present);
	if (!ret && file)
		ret = load_file(&opts, file, &snap, &nodes, &service);
	else if (!ret)
		ret = load_made_up(&opts, &nodes);
	if (!ret)
		ret = show(&opts, service, &nodes);
	ctl_nodes_free(&nodes);
	ctl_snap_free(&snap);
	return ret;
}
