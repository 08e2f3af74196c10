// SPDX-License-Identifier: GPL-2.0-only
/* Help for every command, alike in the manual page, and completion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cmd.h"

static void usage_line(const struct ctl_cmd *cmd, char *buf, size_t size)
{
	snprintf(buf, size, "chctl %s%s%s%s%s", cmd->object, cmd->verb ? " " : "",
		 cmd->verb ? cmd->verb : "", *cmd->usage ? " " : "", cmd->usage);
}

/* The page's SYNOPSIS without what is roff. */
static char *synopsis(void)
{
	char *page = read_file(TOP "/userspace/man/chctl.8"), *from, *to, *end;

	if (!page)
		return NULL;
	from = strstr(page, ".SH SYNOPSIS\n");
	end = from ? strstr(from + 1, "\n.SH ") : NULL;
	if (!end) {
		free(page);
		return NULL;
	}
	end[1] = '\0';
	for (to = page; *from; from++) {
		if (*from == '\\' && from[1] == 'f' && from[2])
			from += 2;
		else if (*from == '\\' && (from[1] == '-' || from[1] == '&'))
			continue;
		else if (!strncmp(from, "\\(aq", 4))
			*to++ = '\'', from += 3;
		else
			*to++ = *from;
	}
	*to = '\0';
	return page;
}

static void test_command(const struct ctl_cmd *cmd, const char *page)
{
	char usage[256], line[300];
	struct outcome outcome;

	usage_line(cmd, usage, sizeof(usage));
	snprintf(line, sizeof(line), "%s %s help", cmd->object, cmd->verb ? cmd->verb : "");
	test_begin("help: chctl %s", line);
	run(line, "", &outcome);
	expect_status(&outcome, 0);
	expect_is("stderr", outcome.err, "");
	snprintf(line, sizeof(line), "Usage: %s\n", usage);
	expect_in("stdout", outcome.out, line);
	expect_in("stdout", outcome.out, cmd->help);
	expect_is("requests", outcome.requests, "");
	outcome_free(&outcome);
	test_end();

	snprintf(line, sizeof(line), "\n%s\n", usage);
	test_begin("manual page: %s", usage);
	expect_in("SYNOPSIS", page ? page : "", line);
	test_end();
}

static void test_lines(void)
{
	static const struct {
		int status;
		const char *line;
		const char *out;
	} cases[] = {
		{ 0, "help", "Usage: chctl [OPTIONS] OBJECT" },
		{ 0, "-h", "Usage: chctl [OPTIONS] OBJECT" },
		{ 0, "--help", "Usage: chctl [OPTIONS] OBJECT" },
		{ 0, "service help", "Usage: chctl service show [NAME]\n" },
		{ 0, "help service", "Usage: chctl service show [NAME]\n" },
		{ 0, "service --help", "Usage: chctl service show [NAME]\n" },
		{ 0, "service -h", "Usage: chctl service show [NAME]\n" },
		{ 0, "-h service", "Usage: chctl service show [NAME]\n" },
		{ 0, "help service del", "Usage: chctl service del [--if-exists] NAME\n" },
		{ 0, "service help del", "Usage: chctl service del [--if-exists] NAME\n" },
		{ 0, "service del --help", "Usage: chctl service del [--if-exists] NAME\n" },
		{ 0, "flush help", "Usage: chctl flush\n" },
		{ 1, "help nonsense", "" },
		{ 1, "service nonsense help", "" },
		{ 1, "nonsense help", "" },
		{ 0, "complete", "service\nbackend\nring\n" },
		{ 0, "complete service", "show\nadd\nset\ndel\nhelp\n" },
		{ 0, "complete service del", "--if-exists\nany\ndns6\nedge\nfast\nrange\ntun\nweb\n" },
		{ 0, "complete service del --if-exists", "any\ndns6\n" },
		{ 0, "complete service add w", "tcp\nudp\nsctp\n" },
		{ 0, "complete service add w tcp a:1 on-empty", "reject\ndrop\npass\n" },
		{ 0, "complete service add w tcp a:1 affinity", "ring\ntransition\nflow\n" },
		{ 0, "complete service add w tcp a:1", "affinity\nwindow\nmax-flows\ntimeout\n" },
		{ 0, "complete service set w source 192.0.2.1", "gue-port\nsource\nvrf\n" },
		{ 0, "complete backend set", "any\ndns6\nedge\nfast\nrange\ntun\nweb\n" },
		{ 0, "complete backend set web", "10.0.0.1:443\n" },
		{ 0, "complete backend set web 10.0.0.1 state", "up\ndrain\ndown\n" },
		{ 0, "complete backend drain web 10.0.0.1", "deadline\ndelete\n" },
		{ 0, "complete lookup", "tcp\nudp\nsctp\n" },
		{ 0, "complete lookup tcp a:1 b:2", "established\nvrf\nzone\n" },
		{ 0, "complete flow", "show\nflush\nhelp\n" },
		{ 0, "complete flow show", "any\ndns6\n" },
		{ 0, "complete flow flush", "all\nany\ndns6\n" },
		{ 0, "complete ring", "show\ndump\ndigest\nwait\nplot\nhelp\n" },
		{ 0, "complete ring wait", "any\ndns6\n" },
		{ 0, "complete plan", "--max-move\n--plot\nservice\nbackend\napply\nflush\n" },
		{ 0, "complete plan --max-move 2%", "--max-move\n--plot\nservice\nbackend\n" },
		{ 0, "complete plan backend", "add\nreplace\nset\ndrain\ndel\n" },
		{ 0, "complete plan --plot f backend set web 10.0.0.1 state", "up\ndrain\ndown\n" },
		{ 0, "complete plan backend del", "--if-exists\nany\ndns6\n" },
		{ 0, "complete simulate", "failures\nservice\nbackends\nweights\nevent\n" },
		{ 0, "complete simulate event", "remove\nadd\nweight\n" },
		{ 0, "complete simulate backends 5", "points\nunit\nslots\nbalance\n" },
		{ 0, "complete simulate failures", "any\ndns6\n" },
		{ 0, "complete simulate failures f", "service\n" },
		{ 0, "simulate help", "Usage: chctl simulate failures SERVICE|FILE" },
		{ 0, "complete nonsense", "" },
	};
	struct outcome outcome;
	size_t i;

	fake = (struct fake){ .data = true };
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		test_begin("chctl %s", cases[i].line);
		run(cases[i].line, "", &outcome);
		expect_status(&outcome, cases[i].status);
		expect_in("stdout", outcome.out, cases[i].out);
		if (cases[i].status)
			expect_is("stdout", outcome.out, "");
		else
			expect_is("stderr", outcome.err, "");
		outcome_free(&outcome);
		test_end();
	}
	fake = (struct fake){};
}

void test_help(void)
{
	char *page = synopsis();
	const struct ctl_cmd *cmd;

	for (cmd = ctl_cmds; cmd->object; cmd++)
		test_command(cmd, page);
	test_lines();
	free(page);
}
