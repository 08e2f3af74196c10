// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl complete WORD...: what may follow, one a line, for the shell.
 *
 * The words are those before the one being typed. The shell picks what fits.
 */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "err.h"
#include "snap.h"

/* @inner: of those commands only that may be within another one. */
static void offer_objects(bool inner)
{
	const struct ctl_cmd *cmd;
	const char *last = "";

	for (cmd = ctl_cmds; cmd->object; cmd++) {
		if (inner && !ctl_cmd_is_change(cmd))
			continue;
		if (strcmp(cmd->object, last))
			puts(cmd->object);
		last = cmd->object;
	}
	if (!inner)
		puts("help");
}

static void offer_verbs(const char *object, bool inner)
{
	const struct ctl_cmd *cmd;

	for (cmd = ctl_cmds; cmd->object; cmd++) {
		if (!strcmp(cmd->object, object) && cmd->verb &&
		    (!inner || ctl_cmd_is_change(cmd)))
			puts(cmd->verb);
	}
}

static void offer_services(bool or_all)
{
	struct ctl_snap snap;
	uint32_t i;

	if (or_all)
		puts("all");
	if (ctl_snap_services(&snap, NULL)) {
		ctl_err_clear();
		return;
	}
	for (i = 0; i < snap.n_services; i++)
		puts(snap.services[i].name);
	ctl_snap_free(&snap);
}

static void offer_backends(const char *service)
{
	struct ctl_snap snap;
	uint32_t i;

	if (ctl_snap_all(&snap, strcmp(service, "*") ? service : NULL)) {
		ctl_err_clear();
		return;
	}
	for (i = 0; i < snap.n_backends; i++)
		puts(ctl_endpoint_text(&snap.backends[i].ep));
	ctl_snap_free(&snap);
}

static void offer_list(const char *const *values)
{
	for (; *values; values++)
		puts(*values);
}

static void offer_keywords(const struct ctl_cmd *cmd)
{
	const struct ctl_keyword *kw;

	for (kw = cmd->keywords; kw && kw->name; kw++) {
		if (kw->help && (cmd->allowed & CTL_BIT(kw->attr)))
			puts(kw->name);
	}
}

/* The @n words behind the verb are typed already. */
static void offer_arguments(const struct ctl_cmd *cmd, char **words, int n)
{
	const struct ctl_keyword *kw = NULL;

	if (n && cmd->keywords)
		kw = ctl_keyword_find(cmd->keywords, cmd->allowed, words[n - 1]);
	if (kw && kw->values)
		offer_list(kw->values);
	if (kw && kw->kind != CTL_KW_FLAG)
		return;

	if (cmd->first == CTL_FIRST_PROTO && n == (cmd->verb ? 1 : 0))
		offer_list(ctl_protos);
	else if (!n && (cmd->first == CTL_FIRST_SERVICE || cmd->first == CTL_FIRST_BACKENDS ||
			cmd->first == CTL_FIRST_SERVICE_OR_ALL))
		offer_services(cmd->first == CTL_FIRST_SERVICE_OR_ALL);
	else if (n && cmd->first == CTL_FIRST_BACKENDS)
		offer_backends(words[0]);
	if (n || cmd->first == CTL_FIRST_OPTION)
		offer_keywords(cmd);
}

static void offer_flags(const struct ctl_cmd *cmd)
{
	const struct ctl_flag *flag;

	for (flag = cmd->flags; flag && flag->name; flag++)
		puts(flag->name);
}

/* How many of @n words are flags and their values. */
static int count_flags(const struct ctl_cmd *cmd, char **words, int n)
{
	const struct ctl_flag *flag;
	int i = 0;

	while (i < n && !strncmp(words[i], "--", 2)) {
		for (flag = cmd->flags; flag && flag->name; flag++) {
			if (!strcmp(flag->name, words[i]))
				break;
		}
		i += 1 + (flag && flag->name && flag->value);
	}
	return i;
}

static void complete(char **words, int n, bool inner)
{
	const struct ctl_cmd *cmd;
	int skip;

	if (!n) {
		offer_objects(inner);
		return;
	}
	cmd = ctl_cmd_find(words[0], words[1]);
	if (n == 1)
		offer_verbs(words[0], inner);
	if (!cmd) {
		if (n == 1 && !inner)
			puts("help");
		return;
	}

	skip = cmd->verb ? 2 : 1;
	skip += count_flags(cmd, words + skip, n - skip);
	/* A flag's value is being typed. */
	if (skip > n)
		return;
	if (skip == n)
		offer_flags(cmd);
	if (cmd->inner)
		complete(words + skip, n - skip, true);
	else
		offer_arguments(cmd, words + skip, n - skip);
}

/**
 * ctl_complete() - print what may follow some words
 * @words: the words, NULL-ended
 *
 * Return: CTL_OK always; where nothing can be said, nothing is.
 */
int ctl_complete(char **words)
{
	int n = 0;

	while (words[n])
		n++;
	complete(words, n, false);
	return CTL_OK;
}
