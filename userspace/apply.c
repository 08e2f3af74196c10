// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl apply, and the other way to nothing: chctl flush
 *
 * The file is read whole and made into requests, one a line, before anything
 * is sent. What it does not name goes at commit.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "err.h"
#include "lines.h"
#include "out.h"
#include "txn.h"

/* In the order of the command's flags. */
enum {
	VALUE_MAX_MOVE,
};

/* Mistakes shown of one file. */
#define ERRORS_MAX	20

/**
 * struct name - name of a service
 * @next: the one before
 * @text: the name
 */
struct name {
	struct name *next;
	char text[];
};

/**
 * struct reading - a file being made into requests
 * @txn: where they go
 * @flags: what the request of a service says beyond what its line says
 * @names: services that the file has named so far
 * @services: tree of them
 */
struct reading {
	struct ctl_txn *txn;
	uint32_t flags;
	struct name *names;
	void *services;
};

static int no_memory(void)
{
	return ctl_fail(ENOMEM, "out of memory");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int note_service(struct reading *reading, const char *name)
{
	const size_t size = strlen(name) + 1;
	struct name *node = malloc(sizeof(*node) + size);

	if (!node)
		return no_memory();
	memcpy(node->text, name, size);
	node->next = reading->names;
	reading->names = node;
	return tsearch(node->text, &reading->services, by_name) ? CTL_OK : no_memory();
}

/*
 * "apply" deletes services that the file does not name, so a backend needs its
 * service in the file.
 */
static int need_service(const struct reading *reading, const char *name)
{
	if (tfind(name, &reading->services, by_name))
		return CTL_OK;
	return ctl_fail(ENOENT, "no service '%s' in this file before its backend", name);
}

static int parse_line(struct ctl_lines *lines, struct reading *reading)
{
	struct ctl_args args = { .txn = true };
	struct nl_msg *msg;
	int ret;

	ret = ctl_cmd_parse(lines->words, &args);
	if (ret)
		return ret;
	if (args.cmd->build == ctl_service_add) {
		args.flags |= reading->flags;
		ret = note_service(reading, args.argv[0]);
	} else if (args.cmd->build == ctl_backend_add) {
		args.flags |= CHS_FLAG_REPLACE;
		ret = need_service(reading, args.argv[0]);
	} else {
		return ctl_usage("'%s %s': only service add and backend add may be in this file",
				 args.cmd->object, args.cmd->verb ? args.cmd->verb : "");
	}
	if (ret)
		return ret;

	ret = args.cmd->build(&args, &msg);
	if (ret)
		return ret;
	ret = ctl_txn_add(reading->txn, msg, lines->line);
	nlmsg_free(msg);
	return ret;
}

/*
 * Every mistake is shown at once, not one a run; but with JSON, where standard
 * error is one object, only the first.
 */
static int parse_lines(struct ctl_lines *lines, struct reading *reading)
{
	int ret, worst = CTL_OK;
	unsigned int n = 0;
	bool end;

	while (n < ERRORS_MAX) {
		ret = ctl_lines_next(lines, &end);
		if (!ret && end)
			break;
		if (!ret)
			ret = parse_line(lines, reading);
		if (!ret)
			continue;
		if (ret == CTL_FAILED || ctl_out_is_json())
			return ret;
		ctl_err_print();
		worst = ret;
		n++;
	}

	return worst;
}

/* The names are not the tree's own. */
static void keep_name(void *name)
{
	(void)name;
}

static void free_names(struct reading *reading)
{
	struct name *next;

	tdestroy(reading->services, keep_name);
	for (; reading->names; reading->names = next) {
		next = reading->names->next;
		free(reading->names);
	}
}

/**
 * ctl_apply_read() - read the file of chctl apply
 * @args: its arguments
 * @txn: zeroed by the caller; what the file asks for
 *
 * Return: CTL_OK, CTL_USAGE or CTL_FAILED.
 */
int ctl_apply_read(struct ctl_args *args, struct ctl_txn *txn)
{
	struct reading reading = {
		.txn = txn,
		.flags = CHS_FLAG_REPLACE | (args->flags & CHS_FLAG_RECREATE),
	};
	struct ctl_lines lines = {};
	int ret = CTL_OK;

	txn->guarded = args->flags & CTL_FLAG_MAX_MOVE;
	if (txn->guarded)
		ret = ctl_parse_percent("--max-move", args->values[VALUE_MAX_MOVE],
					&txn->max_move);
	if (!ret)
		ret = ctl_lines_open(&lines, args->argv[0]);
	if (!ret)
		ret = parse_lines(&lines, &reading);
	txn->file = lines.name;
	txn->flags = CHS_FLAG_PRUNE;
	ctl_err_where(lines.name, 0);
	if (!ret && !txn->n && !(args->flags & CTL_FLAG_ALLOW_EMPTY))
		ret = ctl_fail(EINVAL, "%s (--allow-empty)",
			       "the file names nothing, which would remove everything");
	ctl_lines_close(&lines);
	free_names(&reading);
	return ret;
}

static void show_outcome(const struct ctl_outcome *outcome)
{
	if (!ctl_out_is_json() && !outcome->added && !outcome->changed && !outcome->removed)
		return;

	ctl_out_open(CTL_OUT_OBJECT, NULL);
	ctl_out_u64(CTL_OUT_ANY, "added", outcome->added);
	ctl_out_u64(CTL_OUT_ANY, "changed", outcome->changed);
	ctl_out_u64(CTL_OUT_ANY, "removed", outcome->removed);
	ctl_out_u64(CTL_OUT_ANY, "unchanged", outcome->unchanged);
	ctl_out_share(CTL_OUT_ANY, "moved", outcome->moved, outcome->arcs);
	ctl_out_close();
}

/**
 * ctl_apply() - chctl apply
 * @args: its arguments
 *
 * Return: exit status.
 */
int ctl_apply(struct ctl_args *args)
{
	struct ctl_txn txn = {};
	int ret;

	ret = ctl_apply_read(args, &txn);
	if (!ret)
		ret = ctl_txn_run(&txn);
	if (!ret)
		show_outcome(&txn.outcome);
	ctl_txn_free(&txn);
	return ret;
}

/**
 * ctl_flush() - chctl flush
 * @args: its arguments
 * @msg: the request that does it
 *
 * Return: CTL_OK, CTL_USAGE or CTL_FAILED.
 */
int ctl_flush(struct ctl_args *args, struct nl_msg **msg)
{
	*msg = ctl_cmd_request(args, CHS_CMD_FLUSH, 0);
	return *msg ? CTL_OK : CTL_FAILED;
}
