// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measurement of a scheme by trial: backends are added, removed or reweighted, each
 * in turn, and every key is steered before and after.
 *
 * A scheme with a table has one key for each of its slots, so that its figures are
 * exact. One without has as many as time allows: among k keys the shares of n
 * backends deviate by sqrt(n / k) even where they are perfectly equal.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "err.h"
#include "progress.h"

/* Last: its types stand in for the kernel's. */
#include "measure.h"

/*
 * Numbers of keys for schemes without a table: for shares; for moves, over all
 * turns.
 */
#define SHARE_KEYS	(1U << 20)
#define TURN_KEYS	(1U << 23)
/*
 * Bound on steps of a scheme that takes one per backend and key: some tenths of
 * a second.
 */
#define STEPS		(1U << 26)
#define KEYS_MIN	(1U << 12)

/* As many keys as fit the first-level caches of today. */
#define TIMED_KEYS	(1U << 12)
#define TIMED_NS	100000
#define TIMES_MAX	11
/* Building may take long. */
#define BUILDS_MIN	3
#define BUILDS_NS	50000000

/**
 * struct keys - keys and who has them
 * @n: number of keys
 * @hashes: their hashes
 * @owners: index of each one's owner
 * @after: the same after a change
 */
struct keys {
	uint32_t n;
	uint64_t *hashes;
	uint16_t *owners;
	uint16_t *after;
};

/**
 * struct trial - a scheme being measured
 * @scheme: the scheme
 * @nodes: the backends
 * @event: what happens to them
 * @before: its state with them
 * @after: its state after the event
 * @changed: the backends then
 * @keys: keys
 */
struct trial {
	const struct ctl_scheme *scheme;
	const struct ctl_nodes *nodes;
	enum ctl_event event;
	void *before;
	void *after;
	struct chs_ring_node *changed;
	struct keys keys;
};

static int build_failed(const struct ctl_scheme *scheme, int err)
{
	return ctl_fail(-err, "%s: %s", scheme->name,
			err == -ENOSPC ? "more points than a ring may have" :
			err == -ENOMEM ? "out of memory" : "cannot be built");
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1000000000ULL * now.tv_sec + now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, unsigned int n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

/**
 * ctl_measure_turns() - how many backends have their turn
 * @n: number of backends
 *
 * Return: the number.
 */
uint32_t ctl_measure_turns(uint32_t n)
{
	return n < CTL_TURNS_MAX ? n : CTL_TURNS_MAX;
}

/* Number of keys for something that is done @times over. */
static uint32_t count_keys(const struct trial *trial, uint32_t most, uint32_t times)
{
	const uint64_t steps = (uint64_t)trial->nodes->n * times;

	if (trial->scheme->linear && STEPS / steps < most)
		most = STEPS / steps;
	if (most < KEYS_MIN)
		most = KEYS_MIN;
	return trial->scheme->n_keys(trial->before, most);
}

static int make_keys(struct trial *trial)
{
	struct keys *keys = &trial->keys;
	uint32_t i;

	keys->n = count_keys(trial, SHARE_KEYS, 1);
	keys->hashes = calloc(keys->n, sizeof(*keys->hashes));
	keys->owners = calloc(keys->n, sizeof(*keys->owners));
	keys->after = calloc(keys->n, sizeof(*keys->after));
	if (!keys->hashes || !keys->owners || !keys->after)
		return ctl_fail(ENOMEM, "out of memory");

	for (i = 0; i < keys->n; i++)
		keys->hashes[i] = trial->scheme->key(trial->before, i);
	trial->scheme->steer(trial->before, keys->hashes, keys->owners, keys->n);
	return CTL_OK;
}

static int measure_shares(const struct trial *trial, struct ctl_figures *figures)
{
	const struct ctl_nodes *nodes = trial->nodes;
	uint32_t *owned = calloc(nodes->n, sizeof(*owned));
	double total = 0, squares = 0, ratio;
	uint32_t i;

	if (!owned)
		return ctl_fail(ENOMEM, "out of memory");
	for (i = 0; i < trial->keys.n; i++)
		owned[trial->keys.owners[i]]++;
	for (i = 0; i < nodes->n; i++)
		total += nodes->nodes[i].weight;

	figures->keys = trial->keys.n;
	for (i = 0; i < nodes->n; i++) {
		ratio = owned[i] / (double)trial->keys.n * total / nodes->nodes[i].weight;
		squares += (ratio - 1) * (ratio - 1);
		if (ratio > figures->peak)
			figures->peak = ratio;
	}
	figures->spread = sqrt(squares / nodes->n);
	free(owned);
	return CTL_OK;
}

/*
 * An identity behind that of the last backend, so that who comes is last in every
 * list; an address further on, as neighbours on a network have it.
 */
static void identity_behind(const struct ctl_nodes *nodes, uint32_t steps,
			    struct chs_ring_id *id)
{
	uint32_t carry = steps + 1;
	int i;

	*id = nodes->nodes[nodes->n - 1].id;
	for (i = 15; i >= 0 && carry; i--) {
		carry += id->addr.b[i];
		id->addr.b[i] = carry;
		carry >>= 8;
	}
}

/* The backends after the turn of @which; returns their number. */
static uint32_t change_nodes(const struct trial *trial, uint32_t which)
{
	const struct ctl_nodes *nodes = trial->nodes;
	struct chs_ring_node *to = trial->changed;

	memcpy(to, nodes->nodes, nodes->n * sizeof(*to));
	switch (trial->event) {
	case CTL_EVENT_REMOVE:
		memmove(to + which, to + which + 1, (nodes->n - which - 1) * sizeof(*to));
		return nodes->n - 1;
	case CTL_EVENT_ADD:
		to[nodes->n].weight = to[which].weight;
		identity_behind(nodes, which, &to[nodes->n].id);
		return nodes->n + 1;
	case CTL_EVENT_WEIGHT:
		to[which].weight = (to[which].weight + 1) / 2;
		break;
	}
	return nodes->n;
}

/* Count what the turn of @which has moved among @n keys, and what it had to. */
static void count_moved(const struct trial *trial, uint32_t which, uint32_t n,
			struct ctl_figures *figures)
{
	const uint16_t *before = trial->keys.owners, *after = trial->keys.after;
	const bool removed = trial->event == CTL_EVENT_REMOVE;
	const uint32_t about = trial->event == CTL_EVENT_ADD ? trial->nodes->n : which;
	uint32_t i, had = 0, has = 0, now;

	for (i = 0; i < n; i++) {
		now = after[i];
		/* Backends behind the removed one have moved up by one. */
		if (removed && now >= which && now != CHS_RING_NONE)
			now++;
		figures->moved += before[i] != now;
		had += before[i] == about;
		has += now == about;
	}
	figures->least += had > has ? had - has : has - had;
	figures->of += n;
}

static int measure_turn(struct trial *trial, uint32_t which, uint32_t n_keys,
			struct ctl_figures *figures)
{
	const struct ctl_scheme *scheme = trial->scheme;
	const uint32_t n = change_nodes(trial, which);
	int err;

	memset(trial->after, 0, scheme->size);
	err = scheme->build(trial->after, &trial->nodes->conf, trial->changed, n, trial->before);
	if (!err) {
		scheme->steer(trial->after, trial->keys.hashes, trial->keys.after, n_keys);
		count_moved(trial, which, n_keys, figures);
	}
	scheme->clear(trial->after);
	return err ? build_failed(scheme, err) : CTL_OK;
}

static int measure_moves(struct trial *trial, struct ctl_figures *figures)
{
	const uint32_t n = trial->nodes->n, turns = ctl_measure_turns(n);
	const uint32_t each = TURN_KEYS / turns < SHARE_KEYS ? TURN_KEYS / turns : SHARE_KEYS;
	const uint32_t n_keys = count_keys(trial, each, turns);
	uint32_t turn;
	int ret = CTL_OK;

	figures->moves = trial->event == CTL_EVENT_WEIGHT ? trial->scheme->weighs :
			 trial->event == CTL_EVENT_REMOVE ? trial->scheme->any : true;
	for (turn = 0; !ret && figures->moves && turn < turns; turn++) {
		ctl_progress_at(turn, turns);
		ret = measure_turn(trial, (uint64_t)turn * n / turns, n_keys, figures);
	}
	return ret;
}

static double time_steer(const struct trial *trial, const uint64_t *hashes, uint16_t *owners,
			 uint32_t n)
{
	uint32_t times = 0;
	uint64_t start, ns;

	start = now_ns();
	do {
		trial->scheme->steer(trial->before, hashes, owners, n);
		times++;
		ns = now_ns() - start;
	} while (ns < TIMED_NS);
	return (double)ns / times / n;
}

/* By random keys, for those that tell shares go through a table in its order. */
static void measure_lookup(struct trial *trial, struct ctl_figures *figures)
{
	const uint32_t n = trial->keys.n < TIMED_KEYS ? trial->keys.n : TIMED_KEYS;
	double ns[TIMES_MAX];
	unsigned int i;

	for (i = 0; i < n; i++)
		trial->keys.hashes[i] = ctl_scheme_random(i);
	for (i = 0; i < TIMES_MAX; i++)
		ns[i] = time_steer(trial, trial->keys.hashes, trial->keys.after,
				   trial->scheme->linear ? n / 16 : n);
	figures->lookup_ns = median(ns, TIMES_MAX);
}

static int measure_build(const struct trial *trial, struct ctl_figures *figures)
{
	const struct ctl_nodes *nodes = trial->nodes;
	double ms[TIMES_MAX];
	uint64_t start, spent = 0, ns;
	unsigned int n = 0;
	int err = 0;

	while (!err && n < TIMES_MAX && (n < BUILDS_MIN || spent < BUILDS_NS)) {
		memset(trial->after, 0, trial->scheme->size);
		start = now_ns();
		err = trial->scheme->build(trial->after, &nodes->conf, nodes->nodes, nodes->n,
					   NULL);
		ns = now_ns() - start;
		trial->scheme->clear(trial->after);
		spent += ns;
		ms[n++] = ns / 1e6;
	}
	figures->build_ms = median(ms, n);
	return err ? build_failed(trial->scheme, err) : CTL_OK;
}

static int measure(struct trial *trial, struct ctl_figures *figures)
{
	int ret;

	ret = make_keys(trial);
	if (!ret)
		ret = measure_shares(trial, figures);
	if (!ret)
		ret = measure_moves(trial, figures);
	if (!ret)
		ret = measure_build(trial, figures);
	if (!ret)
		measure_lookup(trial, figures);
	return ret;
}

/**
 * ctl_measure() - measure a scheme
 * @scheme: the scheme
 * @nodes: the backends, one at least
 * @event: what happens to each of them in turn; above CTL_TURNS_MAX, to that many
 *	of them at equal distances
 * @figures: the result
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_measure(const struct ctl_scheme *scheme, const struct ctl_nodes *nodes,
		enum ctl_event event, struct ctl_figures *figures)
{
	struct trial trial = { .scheme = scheme, .nodes = nodes, .event = event };
	int err, ret;

	memset(figures, 0, sizeof(*figures));
	trial.before = calloc(1, scheme->size);
	trial.after = calloc(1, scheme->size);
	trial.changed = calloc(nodes->n + 1, sizeof(*trial.changed));
	if (!trial.before || !trial.after || !trial.changed) {
		ret = ctl_fail(ENOMEM, "out of memory");
	} else {
		err = scheme->build(trial.before, &nodes->conf, nodes->nodes, nodes->n, NULL);
		ret = err ? build_failed(scheme, err) : measure(&trial, figures);
		figures->bytes = ret ? 0 : scheme->bytes(trial.before);
		scheme->clear(trial.before);
	}

	free(trial.before);
	free(trial.after);
	free(trial.changed);
	free(trial.keys.hashes);
	free(trial.keys.owners);
	free(trial.keys.after);
	return ret;
}
