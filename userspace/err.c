// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors and warnings, in text or JSON, alike in every locale.
 */
#include "err.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

#define ERR_TEXT_MAX	1024
/* More than this many different warnings of one command help nobody. */
#define WARN_MAX	100

static const struct {
	int code;
	const char *name;
} err_names[] = {
	{ EPERM,	"EPERM" },
	{ ENOENT,	"ENOENT" },
	{ EINTR,	"EINTR" },
	{ EIO,		"EIO" },
	{ E2BIG,	"E2BIG" },
	{ EBADF,	"EBADF" },
	{ EAGAIN,	"EAGAIN" },
	{ ENOMEM,	"ENOMEM" },
	{ EACCES,	"EACCES" },
	{ EFAULT,	"EFAULT" },
	{ EBUSY,	"EBUSY" },
	{ EEXIST,	"EEXIST" },
	{ EXDEV,	"EXDEV" },
	{ ENODEV,	"ENODEV" },
	{ ENOTDIR,	"ENOTDIR" },
	{ EISDIR,	"EISDIR" },
	{ EINVAL,	"EINVAL" },
	{ ENFILE,	"ENFILE" },
	{ EMFILE,	"EMFILE" },
	{ EFBIG,	"EFBIG" },
	{ ENOSPC,	"ENOSPC" },
	{ EROFS,	"EROFS" },
	{ EPIPE,	"EPIPE" },
	{ ERANGE,	"ERANGE" },
	{ ENAMETOOLONG,	"ENAMETOOLONG" },
	{ ENOSYS,	"ENOSYS" },
	{ ELOOP,	"ELOOP" },
	{ ENODATA,	"ENODATA" },
	{ EPROTO,	"EPROTO" },
	{ EBADMSG,	"EBADMSG" },
	{ EOVERFLOW,	"EOVERFLOW" },
	{ EMSGSIZE,	"EMSGSIZE" },
	{ EPROTONOSUPPORT, "EPROTONOSUPPORT" },
	{ EOPNOTSUPP,	"EOPNOTSUPP" },
	{ EAFNOSUPPORT,	"EAFNOSUPPORT" },
	{ EADDRINUSE,	"EADDRINUSE" },
	{ EADDRNOTAVAIL, "EADDRNOTAVAIL" },
	{ ENOBUFS,	"ENOBUFS" },
	{ ETIMEDOUT,	"ETIMEDOUT" },
	{ EUCLEAN,	"EUCLEAN" },
	{ ECONNREFUSED,	"ECONNREFUSED" },
	{ EALREADY,	"EALREADY" },
	{ ESTALE,	"ESTALE" },
	{ EDQUOT,	"EDQUOT" },
	{ CTL_ENOMODULE, "ENOMODULE" },
	{ CTL_EMISMATCH, "EMISMATCH" },
	{ CTL_EMOVED,	"EMOVED" },
};

static struct {
	int code;
	char text[ERR_TEXT_MAX];
	/* Position in a file, fixed when the error was recorded. */
	const char *file;
	unsigned long line;
} err;

/* While set, later errors do not replace the recorded one. */
static bool err_held;

/* Position in a file that the next error is recorded with. */
static const char *where_file;
static unsigned long where_line;

static char *warnings[WARN_MAX];
static unsigned int n_warnings;

/**
 * ctl_err_name() - name of a code
 * @code: errno or one of the tool's own codes
 *
 * Return: the name, or "E" and the number; overwritten by the next call then.
 */
const char *ctl_err_name(int code)
{
	static char number[16];
	size_t i;

	for (i = 0; i < sizeof(err_names) / sizeof(err_names[0]); i++) {
		if (err_names[i].code == code)
			return err_names[i].name;
	}

	snprintf(number, sizeof(number), "E%d", code);
	return number;
}

/*
 * Replace control characters: messages quote user input, which must not drive
 * the terminal.
 */
static void make_printable(char *text)
{
	for (; *text; text++) {
		if (iscntrl((unsigned char)*text))
			*text = '?';
	}
}

static void record(int code, const char *fmt, va_list ap)
{
	if (err_held)
		return;
	err.code = code;
	err.file = where_file;
	err.line = where_line;
	vsnprintf(err.text, sizeof(err.text), fmt, ap);
	make_printable(err.text);
}

/**
 * ctl_usage() - record that the command was given wrongly
 * @fmt: what is wrong, naming field and value
 *
 * Return: CTL_USAGE.
 */
int ctl_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	record(EINVAL, fmt, ap);
	va_end(ap);
	return CTL_USAGE;
}

/**
 * ctl_fail() - record that the command was refused or failed
 * @code: errno or one of the tool's own codes
 * @fmt: what, which object, why
 *
 * Return: CTL_FAILED.
 */
int ctl_fail(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	record(code, fmt, ap);
	va_end(ap);
	return CTL_FAILED;
}

/**
 * ctl_err_code() - code of the recorded error
 *
 * Return: the code, 0 if there is none.
 */
int ctl_err_code(void)
{
	return err.code;
}

/**
 * ctl_err_recode() - give the recorded error one of the tool's own codes
 * @from: errno that the module uses for it
 * @to: the code; nothing changes if another errno is recorded
 */
void ctl_err_recode(int from, int to)
{
	if (err.code == from)
		err.code = to;
}

/** ctl_err_clear() - forget the recorded error */
void ctl_err_clear(void)
{
	err.code = 0;
}

/**
 * ctl_err_hold() - keep the recorded error while cleaning up after it
 * @hold: whether to keep it
 */
void ctl_err_hold(bool hold)
{
	err_held = hold;
}

/**
 * ctl_err_where() - set the file that errors and warnings are about
 * @file: name of the file, which must live on; NULL for none
 * @line: line in it, 0 for none
 */
void ctl_err_where(const char *file, unsigned long line)
{
	where_file = file;
	where_line = line;
}

static void print_json(void)
{
	fputs("{\"error\": ", stderr);
	ctl_out_json_string(stderr, err.text);
	fprintf(stderr, ", \"code\": \"%s\"", ctl_err_name(err.code));
	if (err.file) {
		fputs(", \"file\": ", stderr);
		ctl_out_json_string(stderr, err.file);
	}
	if (err.line)
		fprintf(stderr, ", \"line\": %lu", err.line);
	fputs("}\n", stderr);
}

static void print_where(const char *file, unsigned long line)
{
	if (!file)
		return;
	fprintf(stderr, "%s:", file);
	if (line)
		fprintf(stderr, "%lu:", line);
	fputc(' ', stderr);
}

/** ctl_err_print() - print the recorded error and forget it */
void ctl_err_print(void)
{
	if (!err.code)
		return;

	/* Output that came first is to be seen first. */
	fflush(stdout);
	if (ctl_out_is_json()) {
		print_json();
	} else {
		fprintf(stderr, "Error: %s: ", ctl_err_name(err.code));
		print_where(err.file, err.line);
		fprintf(stderr, "%s\n", err.text);
	}
	err.code = 0;
}

/**
 * ctl_warn() - record a warning, once
 * @fmt: what it is about and why
 */
void ctl_warn(const char *fmt, ...)
{
	char text[ERR_TEXT_MAX], *line;
	unsigned int i;
	va_list ap;
	int ret;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	make_printable(text);

	if (where_file && where_line)
		ret = asprintf(&line, "%s:%lu: %s", where_file, where_line, text);
	else
		ret = asprintf(&line, "%s", text);
	if (ret < 0)
		return;

	for (i = 0; i < n_warnings; i++) {
		if (!strcmp(warnings[i], line))
			break;
	}
	if (i < n_warnings || n_warnings == WARN_MAX)
		free(line);
	else
		warnings[n_warnings++] = line;
}

/** ctl_warn_print() - print the recorded warnings and forget them */
void ctl_warn_print(void)
{
	unsigned int i;

	if (n_warnings)
		fflush(stdout);
	for (i = 0; i < n_warnings; i++)
		fprintf(stderr, "Warning: %s\n", warnings[i]);
	ctl_warn_clear();
}

/** ctl_warn_clear() - forget the recorded warnings */
void ctl_warn_clear(void)
{
	while (n_warnings)
		free(warnings[--n_warnings]);
}
