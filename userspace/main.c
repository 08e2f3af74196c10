// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl - configure and watch consistent-hash connection steering
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "err.h"
#include "interrupt.h"
#include "lines.h"
#include "out.h"
#include "sock.h"

/**
 * struct options - what stands before the object
 * @json: JSON output
 * @pretty: with line breaks
 * @help: help is asked for
 * @version: versions are asked for
 * @netns: network namespace to work in, or NULL
 * @batch: file of commands, or NULL
 */
struct options {
	bool json;
	bool pretty;
	bool help;
	bool version;
	const char *netns;
	const char *batch;
};

static const struct {
	char letter;
	const char *name;
	const char *value;
} option_names[] = {
	{ 'j', "json", NULL },
	{ 'p', "pretty", NULL },
	{ 'n', "netns", "NAME" },
	{ 'b', "batch", "FILE" },
	{ 'h', "help", NULL },
	{ 'V', "version", NULL },
};

static int set_option(struct options *opts, char letter, const char *value)
{
	switch (letter) {
	case 'j':
		opts->json = true;
		/* So that what is wrong with later ones is said in JSON. */
		ctl_out_init(true, opts->pretty);
		break;
	case 'p':
		opts->pretty = true;
		break;
	case 'n':
		opts->netns = value;
		break;
	case 'b':
		if (opts->batch)
			return ctl_usage("--batch: given twice");
		opts->batch = value;
		break;
	case 'h':
		opts->help = true;
		break;
	case 'V':
		opts->version = true;
		break;
	}
	return CTL_OK;
}

/* @letter or @name, of @len characters, picks it. */
static int find_option(char letter, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(option_names) / sizeof(option_names[0]); i++) {
		if (name ? strlen(option_names[i].name) == len &&
			   !strncmp(option_names[i].name, name, len) :
			   option_names[i].letter == letter)
			return i;
	}
	return -1;
}

/* --name, --name value, --name=value */
static int parse_long(struct options *opts, char ***words)
{
	const char *word = **words;
	const size_t len = strcspn(word + 2, "=");
	const int i = find_option(0, word + 2, len);
	const char *value = word[2 + len] ? word + 2 + len + 1 : NULL;

	if (i < 0)
		return ctl_usage("'%s': no such option (chctl help)", word);
	if (!option_names[i].value && value)
		return ctl_usage("'%s': takes no value", word);
	if (option_names[i].value && !value) {
		value = *++*words;
		if (!value)
			return ctl_usage("%s: %s missing", word, option_names[i].value);
	}
	++*words;
	return set_option(opts, option_names[i].letter, value);
}

/* -jp, -n value, -nvalue */
static int parse_short(struct options *opts, char ***words)
{
	const char *word = **words, *at;
	int i, ret;

	for (at = word + 1; *at; at++) {
		i = find_option(*at, NULL, 0);
		if (i < 0)
			return ctl_usage("'%s': no such option (chctl help)", word);
		if (option_names[i].value) {
			const char *value = at[1] ? at + 1 : *++*words;

			if (!value)
				return ctl_usage("%s: %s missing", word, option_names[i].value);
			++*words;
			return set_option(opts, *at, value);
		}
		ret = set_option(opts, *at, NULL);
		if (ret)
			return ret;
	}
	++*words;
	return CTL_OK;
}

static int parse_options(struct options *opts, char ***words)
{
	int ret = CTL_OK;

	while (!ret && **words && (**words)[0] == '-' && (**words)[1]) {
		if (!strcmp(**words, "--")) {
			++*words;
			break;
		}
		ret = (**words)[1] == '-' ? parse_long(opts, words) : parse_short(opts, words);
	}
	return ret;
}

/* Report what a command has recorded. */
static int report(int ret)
{
	int written;

	/* The first of two errors tells more. */
	ctl_err_hold(ret);
	written = ctl_out_finish();
	ctl_err_hold(false);
	if (!ret)
		ret = written;
	/* Drop the warnings of a refused command: nothing of it is in force. */
	if (ret) {
		ctl_warn_clear();
		ctl_err_print();
	}
	ctl_warn_print();
	return ret;
}

static int run_batch(const char *name)
{
	struct ctl_lines lines = {};
	bool end = false;
	int ret;

	ret = ctl_lines_open(&lines, name);
	while (!ret) {
		ret = ctl_lines_next(&lines, &end);
		if (ret || end)
			break;
		ret = ctl_cmd_exec(lines.words);
		if (!ret)
			ret = report(ret);
		ctl_err_where(lines.name, lines.line);
	}
	/* Before the words go that it may quote. */
	if (ret)
		report(ret);
	ctl_lines_close(&lines);
	return ret;
}

static int run(const struct options *opts, char **words)
{
	int ret;

	if (opts->help || (*words && ctl_is_help(*words)))
		return ctl_help(words);
	if (opts->netns) {
		ret = ctl_sock_netns(opts->netns);
		if (ret)
			return ret;
	}
	if (opts->version)
		return ctl_version();
	if (opts->batch && *words)
		return ctl_usage("'%s': a command beside --batch", *words);
	if (opts->batch)
		return run_batch(opts->batch);
	if (*words && !strcmp(*words, "complete"))
		return ctl_complete(words + 1);
	return ctl_cmd_exec(words);
}

/* A file opened later must not become what is printed to, or a socket. */
static void fill_standard_files(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	struct options opts = {};
	char **words = argv + (argc > 0);
	int ret;

	fill_standard_files();
	/* A reader that has gone away is a write error like others. */
	signal(SIGPIPE, SIG_IGN);
	ctl_out_init(false, false);

	ret = parse_options(&opts, &words);
	ctl_out_init(opts.json, opts.pretty);
	ret = report(ret ? ret : run(&opts, words));
	ctl_interrupt_raise();
	return ret;
}
