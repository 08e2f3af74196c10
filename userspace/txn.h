/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests that take effect together, or are only tried.
 */
#ifndef CHCTL_TXN_H
#define CHCTL_TXN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nl.h"

/**
 * struct ctl_outcome - what a transaction did, or would do
 * @told: whether it was told
 * @added: services and backends that are new
 * @changed: those configured differently
 * @removed: those gone
 * @unchanged: those as they were
 * @moved: arcs that changed owner
 * @arcs: arcs of the rings built anew
 */
struct ctl_outcome {
	bool told;
	uint32_t added;
	uint32_t changed;
	uint32_t removed;
	uint32_t unchanged;
	uint64_t moved;
	uint64_t arcs;
};

/**
 * struct ctl_txn - a transaction
 * @file: where the requests come from, or NULL
 * @flags: CHS_FLAG_PRUNE, CHS_FLAG_DRY_RUN
 * @guarded: whether @max_move is given
 * @max_move: most of a service's hash space that it may move, in millionths
 * @look: called with the transaction's id after a dry run, or NULL
 * @arg: for @look
 * @outcome: what it did
 */
struct ctl_txn {
	const char *file;
	uint32_t flags;
	bool guarded;
	uint32_t max_move;
	int (*look)(uint32_t id, void *arg);
	void *arg;
	struct ctl_outcome outcome;

	/* private: the requests, one behind the other, and the line of each */
	char *buf;
	size_t len;
	size_t size;
	unsigned long *lines;
	size_t n;
};

int ctl_txn_add(struct ctl_txn *txn, struct nl_msg *msg, unsigned long line);
int ctl_txn_run(struct ctl_txn *txn);
void ctl_txn_free(struct ctl_txn *txn);

#endif /* CHCTL_TXN_H */
