// SPDX-License-Identifier: GPL-2.0-only
/* What plan asks the kernel and makes of it; pictures; bars on a terminal. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define DEL	"plan backend del web 10.0.0.2"
#define READ_WEB \
	"service-get service{ name=web }\nbackend-get dump service{ name=web }\n" \
	"service-get service{ name=web }\n"
#define READ_WEB_TRIED \
	"service-get txn=99 service{ name=web }\n" \
	"backend-get dump txn=99 service{ name=web }\n" \
	"service-get txn=99 service{ name=web }\n"
#define DEL_SENT \
	"txn-begin\nbackend-del txn=99 service{ name=web } backend{ address=10.0.0.2 }\n"
#define TRIED	"txn-commit txn=99 flags=64\n"
#define ABORT	"txn-abort txn=99\n"
#define FILE_LINES \
	"service add web tcp 192.0.2.10:443\nbackend add web 10.0.0.1\n"

static const struct fake planned = { .data = true, .plan = true };

static const struct {
	const char *line;
	const char *golden;
} outputs[] = {
	{ DEL, "plan-web" },
	{ "plan apply -", "plan-all" },
	{ "plan backend drain '*' 10.0.0.2", "plan-all" },
	{ "plan service del old", "plan-old" },
	{ "plan service add api tcp 192.0.2.20:443", "plan-api" },
	{ "plan service set same on-empty drop", "plan-same" },
	{ "ring show web", "plan-ring-show" },
};

static void test_outputs(void)
{
	struct outcome outcome;
	char buf[128];
	size_t i;
	int json;

	for (i = 0; i < 2 * sizeof(outputs) / sizeof(outputs[0]); i++) {
		json = i % 2;
		fake = planned;
		snprintf(buf, sizeof(buf), "%s%s", json ? "-jp " : "", outputs[i / 2].line);
		test_begin("output: chctl %s", buf);
		run(buf, FILE_LINES, &outcome);
		expect_status(&outcome, 0);
		expect_is("stderr", outcome.err, "");
		snprintf(buf, sizeof(buf), "%s.%s", outputs[i / 2].golden, json ? "json" : "txt");
		expect_golden(outcome.out, buf);
		outcome_free(&outcome);
		test_end();
	}
}

static const struct {
	const char *what;
	struct fake fake;
	const char *line;
	int status;
	const char *requests;
	const char *err;
} cases[] = {
	{ "asked, and taken back", { .data = true, .plan = true }, DEL, 0,
	  DEL_SENT TRIED READ_WEB READ_WEB_TRIED ABORT, "" },
	{ "flags of both commands", { .data = true, .plan = true },
	  "plan backend del --if-exists --max-move 90 web 10.0.0.2", 0,
	  "txn-begin\nbackend-del txn=99 flags=4 service{ name=web } backend{ address=10.0.0.2 }\n"
	  TRIED READ_WEB READ_WEB_TRIED ABORT, "" },
	{ "its own flags are ended", { .data = true, .plan = true },
	  "plan --max-move 90 -- backend del --if-exists -- web 10.0.0.2", 0,
	  "txn-begin\nbackend-del txn=99 flags=4 service{ name=web } backend{ address=10.0.0.2 }\n"
	  TRIED READ_WEB READ_WEB_TRIED ABORT, "" },
	{ "a refusal is the kernel's",
	  { .data = true, .plan = true, .fail_at = 2, .fail_code = ENOENT,
	    .fail_text = "service 'web' has no backend 10.0.0.2:443" }, DEL, 2,
	  DEL_SENT ABORT, "Error: ENOENT: service 'web' has no backend 10.0.0.2:443\n" },
	{ "refused when all is there",
	  { .data = true, .plan = true, .fail_at = 3, .fail_code = ENOSPC,
	    .fail_text = "too many points" }, DEL, 2,
	  DEL_SENT TRIED ABORT, "Error: ENOSPC: too many points\n" },
	{ "no right to it",
	  { .data = true, .plan = true, .fail_at = 1, .fail_code = EPERM }, DEL, 2, "txn-begin\n",
	  "Error: EPERM: CAP_NET_ADMIN over the network namespace is needed\n" },
	{ "changed meanwhile", { .data = true, .plan = true, .busy = 1 }, DEL, 0,
	  DEL_SENT TRIED ABORT DEL_SENT TRIED READ_WEB READ_WEB_TRIED ABORT, "" },
	{ "another ring than the tool's", { .data = true, .plan = true, .other_rings = true }, DEL,
	  2, DEL_SENT TRIED READ_WEB READ_WEB_TRIED ABORT,
	  "Error: EMISMATCH: service web: tool and module make different rings of it: do the versions match? (chctl -V)\n" },
	{ "a warning", { .data = true, .plan = true, .warning = "it rains" }, DEL, 0,
	  DEL_SENT TRIED READ_WEB READ_WEB_TRIED ABORT, "Warning: it rains\n" },
	{ "a line of a batch", { .data = true, .plan = true, .fail_at = 2, .fail_code = EINVAL,
	    .fail_text = "no" }, "-b -", 2, DEL_SENT ABORT, "Error: EINVAL: stdin:1: no\n" },
};

static void test_requests_of_plan(void)
{
	struct outcome outcome;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake = cases[i].fake;
		test_begin("plan: %s", cases[i].what);
		run(cases[i].line, DEL "\n", &outcome);
		expect_status(&outcome, cases[i].status);
		expect_is("requests", outcome.requests, cases[i].requests);
		expect_is("stderr", outcome.err, cases[i].err);
		if (cases[i].status)
			expect_is("stdout", outcome.out, "");
		outcome_free(&outcome);
		test_end();
	}

	fake = planned;
	test_begin("plan apply: one file, one transaction, nothing but what it names");
	run("plan apply -", FILE_LINES, &outcome);
	expect_status(&outcome, 0);
	expect_golden(outcome.requests, "plan-all-requests.txt");
	outcome_free(&outcome);
	test_end();
}

/* Of web 155 of 256 arcs move: 60.546875 %. */
static const struct {
	const char *most;
	int status;
} limits[] = {
	{ "2%", 2 }, { "0", 2 }, { "60.5468%", 2 }, { "60.5469%", 0 }, { "61", 0 }, { "100%", 0 },
};

static void test_guard(void)
{
	struct outcome outcome;
	char line[128];
	size_t i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		fake = planned;
		snprintf(line, sizeof(line), "plan --max-move %s backend del web 10.0.0.2",
			 limits[i].most);
		test_begin("guard: chctl %s", line);
		run(line, "", &outcome);
		expect_status(&outcome, limits[i].status);
		expect_golden(outcome.out, "plan-web.txt");
		if (limits[i].status)
			expect_in("stderr", outcome.err, "Error: EMOVED: service web: 60.55% of its hash space would move, more than ");
		else
			expect_is("stderr", outcome.err, "");
		outcome_free(&outcome);
		test_end();
	}

	fake = planned;
	test_begin("guard: the worst of several is named, JSON");
	run("-j plan --max-move 90% apply -", FILE_LINES, &outcome);
	expect_status(&outcome, 2);
	expect_in("stderr", outcome.err, "\"code\": \"EMOVED\"}");
	expect_in("stderr", outcome.err, "{\"error\": \"service empty: 100% of its hash space");
	outcome_free(&outcome);
	test_end();

	test_begin("guard: what moves nothing passes");
	run("plan --max-move 0 service set same on-empty drop", "", &outcome);
	expect_status(&outcome, 0);
	outcome_free(&outcome);
	test_end();
}

static unsigned int count(const char *text, const char *what)
{
	unsigned int n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* What an XML parser would stumble over, given that nothing needs escaping. */
static void expect_picture(const char *svg)
{
	if (strncmp(svg, "<svg ", 5) || strcmp(svg + strlen(svg) - 7, "</svg>\n"))
		test_fail("no picture: %.200s", svg);
	if (count(svg, "<g") != count(svg, "</g>") ||
	    count(svg, "<text") != count(svg, "</text>") || count(svg, "\"") % 2 ||
	    count(svg, "<") != count(svg, ">") || strchr(svg, '&'))
		test_fail("not well-formed");
	if (strstr(svg, "nan") || strstr(svg, "inf"))
		test_fail("a number that is none");
}

#define FRAME	"fill=\"none\" stroke=\"#000\" stroke-width=\"1.6\""
#define CAP	"stroke-dasharray"

static void test_pictures(void)
{
	struct outcome outcome;
	char line[200], *svg;

	fake = planned;
	test_begin("ring plot");
	run("ring plot web", "", &outcome);
	expect_status(&outcome, 0);
	expect_is("stderr", outcome.err, "");
	expect_picture(outcome.out);
	expect_in("picture", outcome.out, ">10.0.0.1:443<");
	expect_in("picture", outcome.out, ">10.0.0.10:443<");
	expect_in("picture", outcome.out, ">33.98%<");
	if (strstr(outcome.out, FRAME) || strstr(outcome.out, CAP))
		test_fail("moved arcs or a cap, and there are none");
	outcome_free(&outcome);
	test_end();

	test_begin("ring plot, with a cap");
	run("ring plot dns", "", &outcome);
	expect_status(&outcome, 0);
	expect_picture(outcome.out);
	expect_in("picture", outcome.out, CAP);
	expect_in("picture", outcome.out, ">[2001:db8:b::1]:443<");
	outcome_free(&outcome);
	test_end();

	test_begin("ring plot of nothing");
	run("ring plot empty", "", &outcome);
	expect_status(&outcome, 0);
	expect_picture(outcome.out);
	outcome_free(&outcome);
	test_end();

	test_begin("plan --plot FILE");
	snprintf(line, sizeof(line), "plan backend del web 10.0.0.2 --plot %s", scratch("plot"));
	run(line, "", &outcome);
	expect_status(&outcome, 0);
	expect_golden(outcome.out, "plan-web.txt");
	svg = read_file(scratch("plot"));
	expect_picture(svg ? svg : "");
	expect_in("picture", svg ? svg : "", FRAME);
	expect_in("picture", svg ? svg : "", "gone<");
	expect_in("picture", svg ? svg : "", "Moved: 60.55% of the hash space; unavoidable: ");
	free(svg);
	outcome_free(&outcome);
	test_end();

	test_begin("plan --plot -: several services, all that can become of one");
	run("plan --plot - apply -", FILE_LINES, &outcome);
	expect_status(&outcome, 0);
	expect_picture(outcome.out);
	expect_in("picture", outcome.out, ">old: removed<");
	expect_in("picture", outcome.out, ">rehashed: every flow dealt anew<");
	expect_in("picture", outcome.out, ">api<");
	outcome_free(&outcome);
	test_end();

	test_begin("plan --plot to where nothing can be written");
	run("plan --plot /nowhere/file backend del web 10.0.0.2", "", &outcome);
	expect_status(&outcome, 2);
	expect_in("stderr", outcome.err, "Error: ENOENT: /nowhere/file: cannot write");
	expect_is("stdout", outcome.out, "");
	outcome_free(&outcome);
	test_end();

	test_begin("plan --plot to where there is no room");
	run("plan --plot /dev/full backend del web 10.0.0.2", "", &outcome);
	expect_status(&outcome, 2);
	expect_in("stderr", outcome.err, "Error: ENOSPC: /dev/full: ");
	outcome_free(&outcome);
	test_end();

	fake = (struct fake){ .data = true, .secret = true };
	test_begin("ring plot without the right to see a seed");
	run("ring plot any", "", &outcome);
	expect_status(&outcome, 2);
	expect_in("stderr", outcome.err, "Error: EPERM: service any: its seed");
	outcome_free(&outcome);
	test_end();
}

static void test_bars(void)
{
	struct outcome outcome;

	fake = planned;
	fake.terminal = true;
	test_begin("ring show has bars on a terminal");
	run("ring show web", "", &outcome);
	expect_status(&outcome, 0);
	expect_golden(outcome.out, "plan-ring-show-terminal.txt");
	outcome_free(&outcome);
	test_end();

	test_begin("and none in JSON");
	run("-jp ring show web", "", &outcome);
	expect_status(&outcome, 0);
	expect_golden(outcome.out, "plan-ring-show.json");
	outcome_free(&outcome);
	test_end();
}

void test_plan(void)
{
	test_outputs();
	test_requests_of_plan();
	test_guard();
	test_pictures();
	test_bars();
	fake = (struct fake){};
}
