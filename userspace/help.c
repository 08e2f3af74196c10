// SPDX-License-Identifier: GPL-2.0-only
/*
 * Help, printed from the table of commands.
 */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "err.h"

/**
 * ctl_is_help() - tell if a word asks for help
 * @word: the word
 *
 * Return: true if so.
 */
bool ctl_is_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

/**
 * ctl_help_usage() - print how a command is written
 * @cmd: the command
 */
void ctl_help_usage(const struct ctl_cmd *cmd)
{
	printf("chctl %s", cmd->object);
	if (cmd->verb)
		printf(" %s", cmd->verb);
	if (*cmd->usage)
		printf(" %s", cmd->usage);
	putchar('\n');
}

static void print_keywords(const struct ctl_cmd *cmd)
{
	const struct ctl_keyword *kw;
	char line[64];

	for (kw = cmd->keywords; kw->name; kw++) {
		if (!kw->help || !(cmd->allowed & CTL_BIT(kw->attr)))
			continue;
		snprintf(line, sizeof(line), "%s %s", kw->name, kw->usage);
		printf("    %-34s  %s\n", line, kw->help);
	}
}

static void print_terms(const struct ctl_cmd *cmd)
{
	if (strstr(cmd->usage, "PROTO"))
		printf("    %-34s  %s\n", "PROTO", "tcp, udp or sctp");
	if (strstr(cmd->usage, "NAME PROTO ENDPOINT"))
		printf("    %-34s  %s\n", "ENDPOINT",
		       "ADDRESS:PORT or [ADDRESS6]:PORT, PORT also LO-HI or *");
	else if (strstr(cmd->usage, "ENDPOINT"))
		printf("    %-34s  %s\n", "ENDPOINT", "ADDRESS[:PORT] or [ADDRESS6][:PORT]");
}

static void help_command(const struct ctl_cmd *cmd)
{
	printf("Usage: ");
	ctl_help_usage(cmd);
	printf("\n%s\n", cmd->help);
	if (cmd->keywords || strstr(cmd->usage, "PROTO") || strstr(cmd->usage, "ENDPOINT"))
		putchar('\n');
	print_terms(cmd);
	if (cmd->keywords)
		print_keywords(cmd);
}

/* List the verbs of an object that is also a command. */
static void help_verbs(const char *object)
{
	const struct ctl_cmd *cmd;

	for (cmd = ctl_cmds; cmd->object; cmd++) {
		if (strcmp(cmd->object, object) || !cmd->verb)
			continue;
		putchar('\n');
		help_command(cmd);
	}
}

/* List the commands of @object, or of all objects if NULL. */
static bool help_list(const char *object)
{
	const struct ctl_cmd *cmd;
	bool found = false;
	char name[32];

	for (cmd = ctl_cmds; cmd->object; cmd++) {
		if (object && strcmp(cmd->object, object))
			continue;
		snprintf(name, sizeof(name), "%s %s", cmd->object, cmd->verb ? cmd->verb : "");
		printf("    %-17s  %s\n", name, cmd->help);
		found = true;
	}
	return found;
}

static void help_object(const char *object)
{
	const struct ctl_cmd *cmd;
	const char *lead = "Usage: ";

	for (cmd = ctl_cmds; cmd->object; cmd++) {
		if (strcmp(cmd->object, object))
			continue;
		printf("%s", lead);
		ctl_help_usage(cmd);
		lead = "       ";
	}
	putchar('\n');
	help_list(object);
}

static void help_all(void)
{
	puts("Usage: chctl [OPTIONS] OBJECT COMMAND [--FLAGS] [ARGUMENTS]\n"
	     "       chctl [OPTIONS] --batch FILE|-\n"
	     "       chctl                          all services with their backends beneath\n"
	     "\n"
	     "    -j, --json            JSON output\n"
	     "    -p, --pretty          JSON with line breaks\n"
	     "    -n, --netns NAME      work in that network namespace\n"
	     "    -b, --batch FILE|-    run the commands of a file, up to the first that fails\n"
	     "    -h, --help            this text\n"
	     "    -V, --version         versions of tool, module and ring\n");
	help_list(NULL);
	puts("\nAn object without a command means show.\n"
	     "'chctl OBJECT help' and 'chctl OBJECT COMMAND help' say more.");
}

/**
 * ctl_help() - print what was asked for with "help" among the words
 * @words: the words, NULL-ended
 *
 * Return: CTL_OK, or CTL_USAGE if there is no such command.
 */
int ctl_help(char **words)
{
	const char *object = NULL, *verb = NULL;
	const struct ctl_cmd *cmd;
	char **word;

	for (word = words; *word; word++) {
		if (ctl_is_help(*word))
			continue;
		if (!object)
			object = *word;
		else if (!verb)
			verb = *word;
	}

	if (!object) {
		help_all();
		return CTL_OK;
	}
	cmd = ctl_cmd_find(object, verb);
	if (cmd) {
		help_command(cmd);
		if (!verb)
			help_verbs(object);
		return CTL_OK;
	}
	if (verb)
		return ctl_usage("%s '%s': no such command (chctl %s help)", object, verb, object);
	for (cmd = ctl_cmds; cmd->object; cmd++) {
		if (!strcmp(cmd->object, object)) {
			help_object(object);
			return CTL_OK;
		}
	}
	return ctl_usage("'%s': no such object (chctl help)", object);
}
