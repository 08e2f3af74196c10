// SPDX-License-Identifier: GPL-2.0-only
/*
 * One writer for text and JSON.
 *
 * JSON goes out as it comes. Text is kept until the outermost thing is closed,
 * because a column is as wide as its widest value: each cell is its label, a
 * space, its value and a NUL, each line starts with a mark and its depth.
 */
#include "out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "err.h"

#define DEPTH_MAX	8
#define COLUMNS_MAX	32
/* Columns that numbers take before a bar; shortest and longest useful bar. */
#define NUMBERS_WIDTH	88
#define BAR_MIN		16
#define BAR_MAX		48

/* Start a line in the text kept; its depth follows as one byte. */
#define LINE_ALIGNED	'\n'
#define LINE_PLAIN	'\r'

static struct {
	bool json;
	bool pretty;
	unsigned int depth;
	enum ctl_out_kind kind[DEPTH_MAX];
	bool filled[DEPTH_MAX];
} out;

static struct {
	char *buf;
	size_t len;
	size_t size;
	bool lost;
} text;

/**
 * ctl_out_init() - choose the format
 * @json: JSON, not text
 * @pretty: with line breaks and indentation
 */
void ctl_out_init(bool json, bool pretty)
{
	out.json = json;
	out.pretty = pretty;
	out.depth = 0;
	text.len = 0;
}

/**
 * ctl_out_is_json() - tell the format
 *
 * Return: true if it is JSON.
 */
bool ctl_out_is_json(void)
{
	return out.json;
}

/**
 * ctl_out_is_terminal() - tell who reads
 *
 * Return: true if it is text on a terminal.
 */
bool ctl_out_is_terminal(void)
{
	return !out.json && isatty(STDOUT_FILENO);
}

/**
 * ctl_out_finish() - see that what was written has arrived
 *
 * Return: CTL_OK or CTL_FAILED.
 */
int ctl_out_finish(void)
{
	errno = 0;
	if (fflush(stdout) || ferror(stdout)) {
		clearerr(stdout);
		return ctl_fail(errno ? errno : EIO, "standard output: write failed");
	}
	if (text.lost)
		return ctl_fail(ENOMEM, "standard output: out of memory");

	return CTL_OK;
}

/* Length of the UTF-8 character at @s, 0 if there is none. */
static size_t utf8_length(const unsigned char *s)
{
	size_t len, i;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		len = 2;
	else if ((s[0] & 0xf0) == 0xe0)
		len = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		len = 4;
	else
		return 0;

	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Overlong forms, surrogates, beyond U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;

	return len;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Write what is not plain; returns how many bytes of it that took. */
static size_t json_character(FILE *to, const unsigned char *s)
{
	const size_t len = utf8_length(s);

	if (!len)
		fputs("\\ufffd", to);
	else if (*s == '"' || *s == '\\')
		fprintf(to, "\\%c", *s);
	else if (*s < 0x20 || *s == 0x7f)
		fprintf(to, "\\u%04x", *s);
	else
		fwrite(s, 1, len, to);
	return len ? len : 1;
}

/**
 * ctl_out_json_string() - write a JSON string
 * @to: where to
 * @string: the string; bytes that are not UTF-8 become U+FFFD
 */
void ctl_out_json_string(FILE *to, const char *string)
{
	const unsigned char *s = (const unsigned char *)string;
	size_t len;

	fputc('"', to);
	while (*s) {
		for (len = 0; is_plain(s[len]); len++)
			;
		fwrite(s, 1, len, to);
		s += len;
		if (*s)
			s += json_character(to, s);
	}
	fputc('"', to);
}

static void text_add(const char *s, size_t len)
{
	char *buf;

	if (text.len + len > text.size) {
		buf = realloc(text.buf, 2 * (text.len + len) + 4096);
		if (!buf) {
			text.lost = true;
			return;
		}
		text.buf = buf;
		text.size = 2 * (text.len + len) + 4096;
	}
	memcpy(text.buf + text.len, s, len);
	text.len += len;
}

static bool is_line(enum ctl_out_kind kind)
{
	return kind != CTL_OUT_LIST && kind != CTL_OUT_GROUP;
}

static bool is_mark(char c)
{
	return c == LINE_ALIGNED || c == LINE_PLAIN;
}

static void text_line(enum ctl_out_kind kind)
{
	const char mark = kind == CTL_OUT_OBJECT ? LINE_ALIGNED : LINE_PLAIN;
	unsigned int i;
	char depth = 0;

	for (i = 0; i + 1 < out.depth; i++)
		depth += is_line(out.kind[i]);
	text_add(&mark, 1);
	text_add(&depth, 1);
}

static void text_cell(enum ctl_out_as as, const char *key, const char *value)
{
	const char *c;

	if (as != CTL_OUT_BARE && key) {
		for (c = key; *c; c++)
			text_add(*c == '_' ? "-" : c, 1);
		text_add(" ", 1);
	}
	text_add(value, strlen(value) + 1);
}

static void text_measure(size_t width[DEPTH_MAX][COLUMNS_MAX])
{
	unsigned int depth = 0, column = 0;
	const char *c = text.buf;
	size_t len;

	while (c < text.buf + text.len) {
		if (is_mark(*c)) {
			depth = c[1];
			column = 0;
			c += 2;
			continue;
		}
		len = strlen(c);
		if (column < COLUMNS_MAX && len > width[depth][column])
			width[depth][column] = len;
		column++;
		c += len + 1;
	}
}

static void text_flush(void)
{
	size_t width[DEPTH_MAX][COLUMNS_MAX] = {};
	const char *c = text.buf, *end = text.buf + text.len;
	unsigned int depth = 0, column = 0;
	bool aligned = true;
	size_t len;

	text_measure(width);
	while (c < end) {
		if (is_mark(*c)) {
			aligned = *c == LINE_ALIGNED;
			depth = c[1];
			column = 0;
			c += 2;
			printf("%*s", 4 * depth, "");
			continue;
		}
		len = strlen(c);
		fputs(c, stdout);
		c += len + 1;
		/* No blanks behind a line's last cell. */
		if (c == end || is_mark(*c))
			putchar('\n');
		else if (aligned && column < COLUMNS_MAX)
			printf("%*s", (int)(width[depth][column] - len + 1), "");
		else
			putchar(' ');
		column++;
	}
	text.len = 0;
}

static void json_break(void)
{
	if (out.pretty)
		printf("\n%*s", 4 * out.depth, "");
}

/* Write the comma, line break and key before a value. */
static void json_lead(const char *key)
{
	enum ctl_out_kind kind;

	if (!out.depth)
		return;

	kind = out.kind[out.depth - 1];
	if (out.filled[out.depth - 1])
		fputs(out.pretty && kind != CTL_OUT_TUPLE ? "," : ", ", stdout);
	if (kind != CTL_OUT_TUPLE)
		json_break();
	out.filled[out.depth - 1] = true;
	if (key && kind != CTL_OUT_LIST && kind != CTL_OUT_TUPLE) {
		ctl_out_json_string(stdout, key);
		fputs(": ", stdout);
	}
}

/**
 * ctl_out_open() - open an object or a list
 * @kind: what
 * @key: its key, NULL where it has none
 *
 * What belongs to a line of text comes before any object inside it.
 */
void ctl_out_open(enum ctl_out_kind kind, const char *key)
{
	if (out.json) {
		json_lead(key);
		putchar(kind == CTL_OUT_LIST || kind == CTL_OUT_TUPLE ? '[' : '{');
	}

	out.kind[out.depth] = kind;
	out.filled[out.depth] = false;
	out.depth++;
	if (!out.json && is_line(kind))
		text_line(kind);
}

/** ctl_out_close() - close what was opened last */
void ctl_out_close(void)
{
	enum ctl_out_kind kind = out.kind[--out.depth];

	if (out.json) {
		if (out.filled[out.depth] && kind != CTL_OUT_TUPLE)
			json_break();
		putchar(kind == CTL_OUT_LIST || kind == CTL_OUT_TUPLE ? ']' : '}');
		if (!out.depth)
			putchar('\n');
	} else if (!out.depth) {
		text_flush();
	}
}

/* A value that needs no quotes, the same in both formats. */
static void put(enum ctl_out_as as, const char *key, const char *value)
{
	if (out.json && as != CTL_OUT_TEXT) {
		json_lead(key);
		fputs(value, stdout);
	} else if (!out.json && as != CTL_OUT_JSON) {
		text_cell(as, key, value);
	}
}

/**
 * ctl_out_null() - a value that is unknown or not applicable
 * @as: where
 * @key: its key
 */
void ctl_out_null(enum ctl_out_as as, const char *key)
{
	put(as, key, out.json ? "null" : "-");
}

/**
 * ctl_out_str() - a string
 * @as: where
 * @key: its key
 * @value: the string, NULL is null
 */
void ctl_out_str(enum ctl_out_as as, const char *key, const char *value)
{
	if (!value) {
		ctl_out_null(as, key);
	} else if (out.json && as != CTL_OUT_TEXT) {
		json_lead(key);
		ctl_out_json_string(stdout, value);
	} else if (!out.json && as != CTL_OUT_JSON) {
		text_cell(as, key, value);
	}
}

/**
 * ctl_out_u64() - a number
 * @as: where
 * @key: its key
 * @value: the number
 */
void ctl_out_u64(enum ctl_out_as as, const char *key, uint64_t value)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)value);
	put(as, key, buf);
}

/**
 * ctl_out_maybe() - a number that may be unknown or not applicable
 * @as: where
 * @key: its key
 * @known: whether there is one
 * @value: the number
 */
void ctl_out_maybe(enum ctl_out_as as, const char *key, bool known, uint64_t value)
{
	if (known)
		ctl_out_u64(as, key, value);
	else
		ctl_out_null(as, key);
}

/**
 * ctl_out_bool() - a truth value; on and off in text
 * @as: where
 * @key: its key
 * @value: the value
 */
void ctl_out_bool(enum ctl_out_as as, const char *key, bool value)
{
	if (out.json)
		put(as, key, value ? "true" : "false");
	else
		put(as, key, value ? "on" : "off");
}

/**
 * ctl_out_hex() - a digest
 * @as: where
 * @key: its key
 * @value: the digest
 */
void ctl_out_hex(enum ctl_out_as as, const char *key, uint64_t value)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%016llx", (unsigned long long)value);
	ctl_out_str(as, key, buf);
}

/**
 * ctl_out_share() - part of a whole: a fraction of 1, per cent in text
 * @as: where
 * @key: its key
 * @part: the part
 * @whole: the whole; with 0 there are no parts either
 */
void ctl_out_share(enum ctl_out_as as, const char *key, uint64_t part, uint64_t whole)
{
	double share = whole ? (double)part / whole : 0;
	char buf[32];

	snprintf(buf, sizeof(buf), out.json ? "%.10g" : "%.2f%%", out.json ? share : 100 * share);
	put(as, key, buf);
}

/**
 * ctl_out_ratio() - a ratio
 * @as: where
 * @key: its key
 * @value: the ratio; negative is null
 */
void ctl_out_ratio(enum ctl_out_as as, const char *key, double value)
{
	char buf[32];

	if (value < 0) {
		ctl_out_null(as, key);
		return;
	}
	snprintf(buf, sizeof(buf), out.json ? "%.10g" : "%.3f", value);
	put(as, key, buf);
}

/**
 * ctl_out_hundredths() - a number with two decimals
 * @as: where
 * @key: its key
 * @value: hundred times the number; 0 is null, "off" in text
 */
void ctl_out_hundredths(enum ctl_out_as as, const char *key, uint32_t value)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%u.%02u", value / 100, value % 100);
	if (value)
		put(as, key, buf);
	else
		put(as, key, out.json ? "null" : "off");
}

static unsigned int bar_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < NUMBERS_WIDTH + BAR_MIN)
		return BAR_MIN;
	return size.ws_col - NUMBERS_WIDTH < BAR_MAX ? size.ws_col - NUMBERS_WIDTH : BAR_MAX;
}

/**
 * ctl_out_bar() - a share as a bar, in text on a terminal
 * @share: the share
 * @target: what it should be, marked in the bar; 0 for nothing
 * @full: what the longest bar stands for
 */
void ctl_out_bar(double share, double target, double full)
{
	char bar[BAR_MAX + 2];
	unsigned int width, len, at;

	if (!ctl_out_is_terminal() || full <= 0)
		return;
	width = bar_width();
	len = width * share / full + 0.5;
	at = width * target / full + 0.5;
	memset(bar, ' ', sizeof(bar));
	memset(bar, '#', len);
	if (target > 0 && at >= len)
		len = at + 1;
	if (target > 0)
		bar[at] = '|';
	bar[len] = '\0';
	if (len)
		text_cell(CTL_OUT_BARE, NULL, bar);
}
