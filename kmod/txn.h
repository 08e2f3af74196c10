/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Transactions: every change of a namespace's services is one.
 *
 * Edits go to clones in a shadow table. Commit allocates everything that is
 * still needed, then publishes the shadow with one pointer and cannot fail any
 * more; what it replaces is freed after a grace period. A transaction whose
 * namespace has changed since it began is refused at its next request.
 */
#ifndef CHS_TXN_H
#define CHS_TXN_H

#include <linux/list.h>
#include <linux/types.h>

struct chs_msg;
struct chs_net;
struct chs_service;
struct chs_table;

/**
 * struct chs_edit - what a transaction does to one service
 * @node: in struct chs_txn.edits
 * @old: version in force, or NULL
 * @new: version to be, or NULL
 * @named: a request named the service itself, not only backends of it
 */
struct chs_edit {
	struct list_head node;
	struct chs_service *old;
	struct chs_service *new;
	bool named;
};

/**
 * struct chs_txn - an open transaction
 * @node: in struct chs_net.txns
 * @id: its number; 0 for one that lasts a single request
 * @portid: netlink port that it belongs to
 * @base: generation of the namespace when it began
 * @max_move: most of a service's hash space that it may move, in parts of
 *	CHS_MOVE_ALL
 * @tried: a dry run has built what it would put in force; it takes no more
 *	edits, because they would not match
 * @table: the shadow; NULL until something is changed
 * @edits: struct chs_edit in the order made
 */
struct chs_txn {
	struct list_head node;
	u32 id;
	u32 portid;
	u64 base;
	u32 max_move;
	bool tried;
	struct chs_table *table;
	struct list_head edits;
};

/**
 * struct chs_result - what a transaction did, services and backends together
 * @added: new ones
 * @changed: those configured differently
 * @removed: those gone
 * @unchanged: those named but as they were
 * @moved: arcs that changed owner, in services that were there before; all of a
 *	service whose flows are hashed anew, or that is gone
 * @arcs: arcs of those whose ring changed
 */
struct chs_result {
	u32 added;
	u32 changed;
	u32 removed;
	u32 unchanged;
	u64 moved;
	u64 arcs;
};

void chs_txn_init(struct chs_net *cn, struct chs_txn *txn);
void chs_txn_fini(struct chs_txn *txn);
int chs_txn_open(struct chs_net *cn, u32 portid, struct chs_txn **txn,
		 struct chs_msg *msg);
struct chs_txn *chs_txn_find(struct chs_net *cn, u32 portid, u32 id);
void chs_txn_close(struct chs_net *cn, struct chs_txn *txn);
void chs_txn_drop_port(struct chs_net *cn, u32 portid);
void chs_txn_drop_all(struct chs_net *cn);
void chs_txn_drain(struct chs_net *cn);

const struct chs_table *chs_txn_table(const struct chs_net *cn,
				      const struct chs_txn *txn);
int chs_txn_add(struct chs_net *cn, struct chs_txn *txn,
		struct chs_service *svc);
struct chs_service *chs_txn_edit(struct chs_net *cn, struct chs_txn *txn,
				 struct chs_service *svc);
int chs_txn_del(struct chs_net *cn, struct chs_txn *txn,
		struct chs_service *svc);
int chs_txn_flush(struct chs_net *cn, struct chs_txn *txn);
int chs_txn_try(struct chs_net *cn, struct chs_txn *txn, bool prune,
		struct chs_result *result, struct chs_msg *msg);
int chs_txn_commit(struct chs_net *cn, struct chs_txn *txn, bool prune,
		   struct chs_result *result, struct chs_msg *msg);

#endif /* CHS_TXN_H */
