// SPDX-License-Identifier: GPL-2.0-only
/*
 * mark FILE TEXT: writes a line to a file, which the plugin counts and nothing
 * else.
 */

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "mark.h"

int main(int argc, char **argv)
{
	char line[80];
	int fd, size;
	ssize_t n;

	if (argc != 3) {
		fprintf(stderr, "usage: mark FILE TEXT\n");
		return 1;
	}
	fd = open(argv[1], O_WRONLY);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	size = snprintf(line, sizeof(line), "%s\n", argv[2]);
	if (size >= (int)sizeof(line)) {
		fprintf(stderr, "mark: too long a line\n");
		return 1;
	}

	mark_begin();
	n = write(fd, line, size);
	mark_end();

	if (n != size) {
		perror(argv[1]);
		return 1;
	}
	return 0;
}
