// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of commands: words between blanks, a '#' at the start of a word begins
 * a comment, a '"' at the start of a word begins one that ends with the next
 * '"' and in which a backslash takes the next character as it is.
 */
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"

/* A carriage return before the line's end is a blank like others. */
#define BLANKS	" \t\r\n"

/**
 * ctl_lines_open() - open a file of commands
 * @lines: zeroed by the caller
 * @name: its name, "-" is standard input
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_lines_open(struct ctl_lines *lines, const char *name)
{
	const bool is_stdin = !strcmp(name, "-");

	lines->name = is_stdin ? "stdin" : name;
	lines->file = is_stdin ? stdin : fopen(name, "re");
	ctl_err_where(lines->name, 0);
	if (!lines->file)
		return ctl_fail(errno, "%s", errno == ENOENT ? "no such file" :
				"cannot open the file");
	return CTL_OK;
}

/**
 * ctl_lines_close() - free what reading took
 * @lines: the file
 */
void ctl_lines_close(struct ctl_lines *lines)
{
	if (lines->file && lines->file != stdin)
		fclose(lines->file);
	free(lines->buf);
	free(lines->words);
	ctl_err_where(NULL, 0);
}

/* Undo the quotes in place; what follows them must be a blank. */
static char *unquote(char *word)
{
	char *from = word + 1, *to = word;

	while (*from && *from != '"') {
		if (*from == '\\' && from[1])
			from++;
		*to++ = *from++;
	}
	if (*from != '"' || (from[1] && !strchr(BLANKS, from[1])))
		return NULL;

	from++;
	if (*from)
		from++;
	*to = '\0';
	return from;
}

static bool add_word(struct ctl_lines *lines, size_t n, char *word)
{
	size_t size = lines->words_size;
	char **words;

	if (n >= size) {
		size = size ? 2 * size : 32;
		words = reallocarray(lines->words, size, sizeof(*words));
		if (!words)
			return false;
		lines->words = words;
		lines->words_size = size;
	}
	lines->words[n] = word;
	return true;
}

static int split(struct ctl_lines *lines)
{
	char *at = lines->buf, *word;
	size_t n = 0;

	while (true) {
		at += strspn(at, BLANKS);
		if (!*at || *at == '#')
			break;

		word = at;
		if (*word == '"') {
			at = unquote(word);
			if (!at)
				return ctl_usage("quotes are not closed, or stand within a word");
		} else {
			at += strcspn(at, BLANKS);
			if (*at)
				*at++ = '\0';
		}
		if (!add_word(lines, n++, word))
			return ctl_fail(ENOMEM, "out of memory");
	}

	return add_word(lines, n, NULL) ? CTL_OK : ctl_fail(ENOMEM, "out of memory");
}

/**
 * ctl_lines_next() - read on to the next line that is not empty
 * @lines: the file; @lines->words are the line's
 * @end: whether there was none
 *
 * Return: CTL_OK, CTL_USAGE or CTL_FAILED.
 */
int ctl_lines_next(struct ctl_lines *lines, bool *end)
{
	ssize_t len;
	int ret;

	*end = false;
	do {
		errno = 0;
		len = getline(&lines->buf, &lines->buf_size, lines->file);
		if (len < 0 && ferror(lines->file)) {
			ctl_err_where(lines->name, 0);
			return ctl_fail(errno ? errno : EIO, "cannot read the file");
		}
		if (len < 0) {
			*end = true;
			return CTL_OK;
		}

		ctl_err_where(lines->name, ++lines->line);
		if (memchr(lines->buf, '\0', len))
			return ctl_usage("a NUL byte: not a file of commands");
		ret = split(lines);
		if (ret)
			return ret;
	} while (!lines->words[0]);

	return CTL_OK;
}

/**
 * ctl_word_needs_quotes() - tell if a word would not be read as it is
 * @word: the word
 *
 * Return: true if it would not.
 */
bool ctl_word_needs_quotes(const char *word)
{
	return !*word || *word == '#' || *word == '"' || strpbrk(word, BLANKS);
}
