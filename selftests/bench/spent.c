// SPDX-License-Identifier: GPL-2.0-only
/*
 * spent [-m] FILE COMMAND...: runs a command, and writes to the file the nanoseconds
 * that it had a CPU for, and those that it took, waits included.
 *
 * With -m the plugin is told what to count.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mark.h"

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

static uint64_t ns(struct timeval tv)
{
	return tv.tv_sec * UINT64_C(1000000000) + tv.tv_usec * 1000;
}

int main(int argc, char **argv)
{
	bool marks = false;
	struct rusage usage;
	uint64_t begin, end;
	int status;
	pid_t pid;
	FILE *out;

	if (argc > 3 && !strcmp(argv[1], "-m")) {
		marks = true;
		argv++;
		argc--;
	}
	if (argc < 3) {
		fprintf(stderr, "usage: spent [-m] FILE COMMAND...\n");
		return 1;
	}
	begin = now();
	if (marks)
		mark_begin();
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) {
		perror("spent");
		return 1;
	}
	if (marks)
		mark_end();
	end = now();
	out = fopen(argv[1], "w");
	if (!out || fprintf(out, "%llu %llu\n",
			    (unsigned long long)(ns(usage.ru_utime) + ns(usage.ru_stime)),
			    (unsigned long long)(end - begin)) < 0 || fclose(out)) {
		perror(argv[1]);
		return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
