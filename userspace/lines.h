/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of commands, one a line.
 */
#ifndef CHCTL_LINES_H
#define CHCTL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/**
 * struct ctl_lines - a file of commands being read
 * @name: its name in messages
 * @line: number of the line read last
 * @words: that line's words, NULL-ended
 */
struct ctl_lines {
	const char *name;
	unsigned long line;
	char **words;

	/* private: */
	FILE *file;
	char *buf;
	size_t buf_size;
	size_t words_size;
};

int ctl_lines_open(struct ctl_lines *lines, const char *name);
int ctl_lines_next(struct ctl_lines *lines, bool *end);
void ctl_lines_close(struct ctl_lines *lines);
bool ctl_word_needs_quotes(const char *word);

#endif /* CHCTL_LINES_H */
