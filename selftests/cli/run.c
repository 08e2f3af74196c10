// SPDX-License-Identifier: GPL-2.0-only
/* Runs the tool in a child, compares, and counts. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

#define WORDS_MAX	6000

int chctl_main(int argc, char **argv);

static unsigned int n_tests, n_failed;
static bool failed;
static char title[256];
static bool write_golden;
static char scratch_dir[] = "/tmp/chctl-test.XXXXXX";

void test_begin(const char *fmt, ...)
{
	va_list ap;
	char *c;

	va_start(ap, fmt);
	vsnprintf(title, sizeof(title), fmt, ap);
	va_end(ap);
	for (c = title; *c; c++) {
		/* What TAP would take for a directive or a new line. */
		if (*c == '#' || *c == '\n')
			*c = '.';
	}
	failed = false;
}

void test_fail(const char *fmt, ...)
{
	char text[4096], *line, *rest = text;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	while ((line = strsep(&rest, "\n")))
		printf("# %s\n", line);
	failed = true;
}

void test_end(void)
{
	n_tests++;
	n_failed += failed;
	printf("%sok %u - %s\n", failed ? "not " : "", n_tests, title);
	fflush(stdout);
}

void expect_status(const struct outcome *outcome, int status)
{
	if (outcome->status != status)
		test_fail("exit status %d, expected %d\nstderr: %s", outcome->status, status,
			  outcome->err);
}

void expect_in(const char *what, const char *text, const char *fragment)
{
	if (!strstr(text, fragment))
		test_fail("%s: %s\nlacks: %s", what, text, fragment);
}

void expect_is(const char *what, const char *text, const char *expected)
{
	if (strcmp(text, expected))
		test_fail("%s: %s\nexpected: %s", what, text, expected);
}

char *read_file(const char *name)
{
	FILE *file = fopen(name, "r");
	size_t size = 1 << 20, len;
	char *text;

	if (!file)
		return NULL;
	text = malloc(size);
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	fclose(file);
	return text;
}

void expect_golden(const char *text, const char *name)
{
	char path[512], *expected;
	FILE *file;

	snprintf(path, sizeof(path), "%s/selftests/cli/golden/%s", TOP, name);
	if (write_golden) {
		file = fopen(path, "w");
		if (!file || fputs(text, file) < 0 || fclose(file))
			test_fail("%s: cannot write", path);
		return;
	}

	expected = read_file(path);
	if (!expected)
		test_fail("%s: cannot read", path);
	else if (strcmp(text, expected))
		test_fail("output:\n%s\nexpected, golden/%s:\n%s", text, name, expected);
	free(expected);
}

const char *scratch(const char *name)
{
	static char paths[4][128];
	static unsigned int turn;
	char *path = paths[turn++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", scratch_dir, name);
	return path;
}

void scratch_write(const char *name, const char *text, size_t len)
{
	FILE *file = fopen(scratch(name), "w");

	if (!file || fwrite(text, 1, len, file) != len || fclose(file)) {
		perror(name);
		exit(1);
	}
}

static void split(char *line, char **words)
{
	int n = 1;

	words[0] = "chctl";
	while (true) {
		line += strspn(line, " ");
		if (!*line || n == WORDS_MAX)
			break;
		if (*line == '\'') {
			words[n++] = ++line;
			line += strcspn(line, "'");
		} else {
			words[n++] = line;
			line += strcspn(line, " ");
		}
		if (*line)
			*line++ = '\0';
	}
	words[n] = NULL;
}

static int memory_file(const char *text)
{
	int fd = memfd_create("chctl-test", 0);

	if (fd < 0 || (text && write(fd, text, strlen(text)) != (ssize_t)strlen(text))) {
		perror("memfd");
		exit(1);
	}
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static char *take(int fd)
{
	off_t len = lseek(fd, 0, SEEK_END);
	char *text = malloc(len + 1);

	if (pread(fd, text, len, 0) != len)
		abort();
	text[len] = '\0';
	close(fd);
	return text;
}

static void child(const char *line, int in, int out, int err, int requests)
{
	static char *words[WORDS_MAX + 1];
	char *copy = strdup(line);
	int argc = 0, ret;

	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	fake_log_to(requests);
	split(copy, words);
	while (words[argc])
		argc++;
	/* A shell that starts this in the background has it ignored. */
	signal(SIGINT, SIG_DFL);
	ret = chctl_main(argc, words);
	fflush(stdout);
	fflush(stderr);
	/* Leaks of a process that ends are none. */
	_exit(ret);
}

void run(const char *line, const char *input, struct outcome *outcome)
{
	int in = memory_file(input), out = memory_file(NULL);
	int err = memory_file(NULL), requests = memory_file(NULL);
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		child(line, in, out, err, requests);
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("fork");
		exit(1);
	}

	close(in);
	outcome->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	outcome->out = take(out);
	outcome->err = take(err);
	outcome->requests = take(requests);
}

void outcome_free(struct outcome *outcome)
{
	free(outcome->out);
	free(outcome->err);
	free(outcome->requests);
}

static void remove_scratch(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", scratch_dir);
	if (system(command))
		fprintf(stderr, "%s: left behind\n", scratch_dir);
}

int main(int argc, char **argv)
{
	write_golden = argc > 1 && !strcmp(argv[1], "--golden");
	if (!mkdtemp(scratch_dir)) {
		perror("mkdtemp");
		return 1;
	}

	puts("TAP version 13");
	test_usage();
	test_requests();
	test_output();
	test_errors();
	test_files();
	test_help();
	test_plan();
	test_simulate();
	printf("1..%u\n", n_tests);
	printf("# %u passed, %u failed\n", n_tests - n_failed, n_failed);
	remove_scratch();
	return n_failed ? 1 : 0;
}
