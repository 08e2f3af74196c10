// SPDX-License-Identifier: GPL-2.0-only
/*
 * Effect of a change on a service: two rings compared, arc by arc.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "predict.h"

/* Sort key of a pair of owners; CHS_RING_NONE sorts last. */
#define PAIR(from, to)	((uint32_t)(from) << 16 | (to))

static int no_memory(void)
{
	return ctl_fail(ENOMEM, "out of memory");
}

static const struct ctl_backend *backend(const struct ctl_arcs *arcs, uint32_t i)
{
	return &arcs->snap->backends[arcs->svc->first + i];
}

/* For each backend before, its index after; both are in one order. */
static uint16_t *map_backends(const struct ctl_change *change)
{
	const uint32_t n = change->before.svc->n, m = change->after.svc->n;
	uint16_t *map = calloc(n + 1, sizeof(*map));
	uint32_t i, j = 0;
	int diff;

	for (i = 0; map && i < n; i++) {
		diff = 1;
		while (j < m && diff > 0) {
			diff = ctl_endpoint_cmp(&backend(&change->before, i)->ep,
					    &backend(&change->after, j)->ep);
			j += diff > 0;
		}
		map[i] = j < m && !diff ? j : CTL_NOBODY;
	}
	return map;
}

static uint16_t owner(const struct ctl_arcs *arcs, uint32_t at, uint32_t slots)
{
	return arcs->owners ? arcs->owners[(uint64_t)at * arcs->slots / slots] : CTL_NOBODY;
}

static bool same_owner(const uint16_t *map, uint16_t a, uint16_t b)
{
	return a == CTL_NOBODY || b == CTL_NOBODY ? a == b : map[a] == b;
}

static int by_value(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Arcs of one pair of owners become one move. */
static int gather(struct ctl_change *change, uint32_t *pairs, uint32_t n)
{
	struct ctl_move *move;
	uint32_t i;

	if (!n)
		return CTL_OK;
	qsort(pairs, n, sizeof(*pairs), by_value);
	for (i = 0; i < n; i++)
		change->n_moves += !i || pairs[i] != pairs[i - 1];
	change->moves = calloc(change->n_moves, sizeof(*change->moves));
	if (!change->moves)
		return no_memory();

	move = change->moves;
	for (i = 0; i < n; i++) {
		move += i && pairs[i] != pairs[i - 1];
		*move = (struct ctl_move) {
			.from = pairs[i] >> 16,
			.to = pairs[i] & 0xffff,
			.slots = move->slots + 1,
		};
	}
	return CTL_OK;
}

/*
 * Arcs that an owner loses on the whole have to move, to any other. "Nobody" counts
 * as an owner here too: arcs without owner can only come from there.
 */
static int count_unavoidable(struct ctl_change *change, const uint16_t *map)
{
	const uint32_t n = change->before.svc ? change->before.svc->n : 0;
	const uint32_t m = change->after.svc ? change->after.svc->n : 0;
	int64_t *less = calloc((size_t)n + m + 2, sizeof(*less));
	uint32_t at, i;
	uint16_t a, b;

	if (!less)
		return no_memory();
	/* Before first, then those that are only after; nobody at the end. */
	for (at = 0; at < change->slots; at++) {
		a = owner(&change->before, at, change->slots);
		b = owner(&change->after, at, change->slots);
		less[a == CTL_NOBODY ? n + m : map && map[a] != CTL_NOBODY ? n + map[a] : a]++;
		less[b == CTL_NOBODY ? n + m : n + b]--;
	}
	for (i = 0; i <= n + m; i++)
		change->unavoidable += less[i] > 0 ? less[i] : 0;
	free(less);
	return CTL_OK;
}

static int compare(struct ctl_change *change, const uint16_t *map)
{
	uint32_t *pairs = calloc(change->slots, sizeof(*pairs));
	uint32_t at, n = 0;
	uint16_t a, b;
	int ret;

	if (!pairs)
		return no_memory();
	for (at = 0; at < change->slots; at++) {
		a = owner(&change->before, at, change->slots);
		b = owner(&change->after, at, change->slots);
		if (!same_owner(map, a, b))
			pairs[n++] = PAIR(a, b);
	}
	ret = count_unavoidable(change, map);
	if (!ret)
		ret = gather(change, pairs, n);
	free(pairs);
	return ret;
}

/* A flow's arc, or whether the service sees it at all, is another one. */
static bool is_rehashed(const struct ctl_service *a, const struct ctl_service *b)
{
	return a->proto != b->proto || a->hash != b->hash ||
	       a->seed_default != b->seed_default ||
	       memcmp(a->seed, b->seed, sizeof(a->seed)) ||
	       !ctl_endpoint_same(&a->ep, &b->ep) ||
	       strcmp(a->vrf ? a->vrf : "", b->vrf ? b->vrf : "");
}

/**
 * ctl_change_make() - work out what a change does to a service
 * @change: snapshots and services are set, the rest is zero
 *
 * A new service moves nothing: its flows had no owner. One that goes takes
 * all of its arcs along.
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_change_make(struct ctl_change *change)
{
	const struct ctl_service *a = change->before.svc, *b = change->after.svc;
	uint16_t *map = NULL;
	int ret = CTL_OK;

	if (a)
		ret = ctl_predict_arcs(&change->before);
	if (!ret && b)
		ret = ctl_predict_arcs(&change->after);
	if (ret)
		return ret;

	if (!a) {
		change->slots = change->after.slots;
		return CTL_OK;
	}
	change->slots = ctl_predict_moved_of(change);
	change->moved = ctl_predict_moved(change);
	change->rehashed = b && is_rehashed(a, b);
	if (change->rehashed) {
		change->moved = change->slots;
		change->unavoidable = change->slots;
		return CTL_OK;
	}
	if (b) {
		map = map_backends(change);
		if (!map)
			return no_memory();
	}
	ret = compare(change, map);
	free(map);
	return ret;
}

/**
 * ctl_change_free() - free what a change takes
 * @change: change
 */
void ctl_change_free(struct ctl_change *change)
{
	ctl_predict_free(&change->before);
	ctl_predict_free(&change->after);
	free(change->moves);
}
