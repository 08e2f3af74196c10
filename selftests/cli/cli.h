/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs the tool's main() in a child, with a made-up kernel behind its socket,
 * and looks at what comes out.
 */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the kernel behind the socket has and does. */
struct fake {
	/* There is no family of that name. */
	bool no_module;
	/* It has services and backends: see fake_data.c. */
	bool data;
	/* What the acknowledgement of every change says. */
	const char *warning;
	/* The request of that number, counted from 1, is refused. */
	unsigned int fail_at;
	int fail_code;
	/* While the kernel is at the request of that number, SIGINT comes. */
	unsigned int signal_at;
	const char *fail_text;
	/* Attribute within the service or backend that the refusal points to. */
	unsigned int fail_attr;
	/* With the range that a policy would tell. */
	bool fail_range;
	/* Dumps that are interrupted before one is not. */
	unsigned int interrupts;
	/* Times that services have changed between two dumps. */
	unsigned int changes;
	/* What a dump ends with. */
	int done_code;
	/* A datagram does not fit. */
	bool truncated;
	/* Commits refused because something else has changed. */
	unsigned int busy;
	/* A seed is set and not told. */
	bool secret;
	/* Nothing was changed by a commit. */
	bool unchanged;
	/* Backends missing from a dump. */
	bool short_dump;
	/* A flow comes without what is remembered of it. */
	bool bare_flow;
	/* Looks at a service after which its ring is settled; 0: as it is. */
	unsigned int settles;
	/* Looks at a service after which it is gone; 0: it stays. */
	unsigned int goes;
	/* A looked-up arc has a former owner, for so many seconds. */
	bool former;
	unsigned int open_for;
	/* Digest that the module tells as its ring's reference. */
	uint64_t reference;
	/* Other services instead, and others again in a transaction: see fake_plan.c. */
	bool plan;
	/* The module makes other rings of them than the tool. */
	bool other_rings;
	/* Standard output is a terminal. */
	bool terminal;
};

/* What became of one run of the tool. */
struct outcome {
	int status;
	char *out;
	char *err;
	/* The requests as text, one a line. */
	char *requests;
};

extern struct fake fake;

void fake_log_to(int fd);

/* Words are parted by blanks; '...' keeps them together. */
void run(const char *line, const char *input, struct outcome *outcome);
void outcome_free(struct outcome *outcome);

void test_begin(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void test_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void test_end(void);
void expect_status(const struct outcome *outcome, int status);
void expect_in(const char *what, const char *text, const char *fragment);
void expect_is(const char *what, const char *text, const char *expected);
/* Compare with golden/NAME, or write it. */
void expect_golden(const char *text, const char *name);

/* A file in a directory of its own, removed at the end. */
const char *scratch(const char *name);
void scratch_write(const char *name, const char *text, size_t len);
char *read_file(const char *name);

void test_usage(void);
void test_requests(void);
void test_output(void);
void test_errors(void);
void test_files(void);
void test_help(void);
void test_plan(void);
void test_simulate(void);

#endif /* CLI_H */
