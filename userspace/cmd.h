/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of commands: it drives dispatch, help and completion.
 */
#ifndef CHCTL_CMD_H
#define CHCTL_CMD_H

#include <stdint.h>

#include "model.h"

struct ctl_txn;

/* Flags that are the tool's own, beside the CHS_FLAG_... of requests. */
#define CTL_FLAG_MAX_MOVE	(1U << 28)
#define CTL_FLAG_PLOT		(1U << 29)
#define CTL_FLAG_ALLOW_EMPTY	(1U << 30)
#define CTL_FLAG_EXPECT		(1U << 31)

/* Flags that a command has at most. */
#define CTL_FLAGS_MAX	2

/**
 * struct ctl_flag - what starts with two dashes
 * @name: with the dashes
 * @bits: what it sets
 * @value: name of the value that follows it, or NULL
 */
struct ctl_flag {
	const char *name;
	uint32_t bits;
	const char *value;
};

/**
 * struct ctl_args - a command's arguments
 * @cmd: the command
 * @argc: number of @argv
 * @argv: words behind the command without its flags, NULL-ended
 * @flags: CHS_FLAG_... and CTL_FLAG_...
 * @values: values of the flags that have one, in the order of @cmd->flags
 * @txn: leave room for the id of a transaction in the request
 */
struct ctl_args {
	const struct ctl_cmd *cmd;
	int argc;
	char **argv;
	uint32_t flags;
	const char *values[CTL_FLAGS_MAX];
	bool txn;
};

/* Kind of the first arguments, for completion. */
enum ctl_first {
	CTL_FIRST_OTHER,
	/* An existing service. */
	CTL_FIRST_SERVICE,
	/* The same, or "all". */
	CTL_FIRST_SERVICE_OR_ALL,
	/* An existing service, then its backends. */
	CTL_FIRST_BACKENDS,
	CTL_FIRST_PROTO,
	CTL_FIRST_FILE,
	/* The options follow at once. */
	CTL_FIRST_OPTION,
};

/**
 * struct ctl_cmd - a command
 * @object: what it is about; a command of its own if @verb is NULL
 * @verb: what is done
 * @run: does it
 * @build: makes the one request that does it, instead of @run
 * @usage: what follows the verb
 * @help: one line
 * @flags: ended by one without a name, or NULL
 * @min: least number of arguments
 * @max: most of them, -1 for any number
 * @keywords: options at the end, or NULL
 * @allowed: attribute bits of those that it takes
 * @first: what the first arguments are
 * @inner: its arguments are a command, which has flags of its own
 */
struct ctl_cmd {
	const char *object;
	const char *verb;
	int (*run)(struct ctl_args *args);
	int (*build)(struct ctl_args *args, struct nl_msg **msg);
	const char *usage;
	const char *help;
	const struct ctl_flag *flags;
	int min;
	int max;
	const struct ctl_keyword *keywords;
	uint32_t allowed;
	enum ctl_first first;
	bool inner;
};

/* Ended by one without an object. */
extern const struct ctl_cmd ctl_cmds[];

int ctl_cmd_exec(char **words);
int ctl_cmd_parse(char **words, struct ctl_args *args);
bool ctl_cmd_is_change(const struct ctl_cmd *cmd);
const struct ctl_cmd *ctl_cmd_find(const char *object, const char *verb);
struct nl_msg *ctl_cmd_request(const struct ctl_args *args, uint8_t cmd, size_t room);

/* complete.c */
int ctl_complete(char **words);

/* help.c */
bool ctl_is_help(const char *word);
int ctl_help(char **words);
void ctl_help_usage(const struct ctl_cmd *cmd);

/* service.c */
int ctl_service_parse(struct ctl_args *args, struct ctl_service *svc);
int ctl_service_add(struct ctl_args *args, struct nl_msg **msg);
int ctl_service_set(struct ctl_args *args, struct nl_msg **msg);
int ctl_service_del(struct ctl_args *args, struct nl_msg **msg);
int ctl_service_show(struct ctl_args *args);
int ctl_show_all(void);

/* backend.c */
int ctl_backend_parse(const struct ctl_args *args, struct ctl_backend *be, int *n);
int ctl_backend_endpoint(const struct ctl_args *args, int i, struct ctl_endpoint *ep);
int ctl_backend_add(struct ctl_args *args, struct nl_msg **msg);
int ctl_backend_replace(struct ctl_args *args, struct nl_msg **msg);
int ctl_backend_set(struct ctl_args *args, struct nl_msg **msg);
int ctl_backend_drain(struct ctl_args *args, struct nl_msg **msg);
int ctl_backend_del(struct ctl_args *args, struct nl_msg **msg);
int ctl_backend_show(struct ctl_args *args);

/* share.c */
int ctl_ring_show(struct ctl_args *args);
int ctl_ring_dump(struct ctl_args *args);
int ctl_ring_digest(struct ctl_args *args);
int ctl_ring_wait(struct ctl_args *args);
int ctl_ring_plot(struct ctl_args *args);

/* lookup.c */
extern const struct ctl_keyword ctl_lookup_keywords[];

int ctl_lookup(struct ctl_args *args);

/* simulate.c, failures.c */
extern const struct ctl_keyword ctl_simulate_keywords[];
extern const struct ctl_keyword ctl_failures_keywords[];

int ctl_simulate(struct ctl_args *args);
int ctl_failures(struct ctl_args *args);

/* flow.c */
int ctl_flow_show(struct ctl_args *args);
int ctl_flow_flush(struct ctl_args *args, struct nl_msg **msg);

/* stats.c */
int ctl_stats(struct ctl_args *args);

/* save.c, apply.c */
int ctl_save(struct ctl_args *args);
int ctl_apply(struct ctl_args *args);
int ctl_apply_read(struct ctl_args *args, struct ctl_txn *txn);
int ctl_flush(struct ctl_args *args, struct nl_msg **msg);

/* plan.c */
int ctl_plan(struct ctl_args *args);

/* version.c */
int ctl_version(void);

#endif /* CHCTL_CMD_H */
