// SPDX-License-Identifier: GPL-2.0-only
/* What is printed, as text and as JSON, from the same canned messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const struct {
	const char *line;
	const char *golden;
} cases[] = {
	{ "", "all" },
	{ "service show", "service-show" },
	{ "service show any", "service-show-any" },
	{ "service show edge", "service-show-edge" },
	{ "backend show", "backend-show" },
	{ "backend show dns6", "backend-show-dns6" },
	{ "backend show fast", "backend-show-fast" },
	{ "ring show", "ring-show" },
	{ "ring show web", "ring-show-web" },
	{ "ring show range", "ring-show-range" },
	{ "ring show edge", "ring-show-edge" },
	{ "ring digest", "ring-digest" },
	{ "ring digest web", "ring-digest-web" },
	{ "ring dump dns6", "ring-dump-dns6" },
	{ "ring dump any", "ring-dump-any" },
	{ "ring dump range", "ring-dump-range" },
	{ "stats", "stats" },
	{ "stats web", "stats-web" },
	{ "stats fast", "stats-fast" },
	{ "flow", "flow-show" },
	{ "flow show edge", "flow-show-edge" },
	{ "lookup tcp [2001:db8::1]:5 [2001:db8::2]:80", "lookup" },
	{ "save", "save" },
};

static void check(const char *options, const char *line, const char *golden, const char *suffix)
{
	struct outcome outcome;
	char buf[256];

	snprintf(buf, sizeof(buf), "%s%s", options, line);
	test_begin("output: chctl %s", buf);
	run(buf, "", &outcome);
	expect_status(&outcome, 0);
	expect_is("stderr", outcome.err, "");
	snprintf(buf, sizeof(buf), "%s.%s", golden, suffix);
	expect_golden(outcome.out, buf);
	outcome_free(&outcome);
	test_end();
}

static void test_empty(void)
{
	static const struct {
		const char *line;
		const char *out;
	} empty[] = {
		{ "", "" },
		{ "service show", "" },
		{ "-j", "[]\n" },
		{ "-j service", "[]\n" },
		{ "-j backend", "[]\n" },
		{ "-j ring show", "[]\n" },
		{ "-j ring digest", "[]\n" },
		{ "-j stats", "[]\n" },
		{ "flow show", "" },
		{ "-j flow", "[]\n" },
		{ "-j -p stats", "[]\n" },
		{ "save", "" },
	};
	struct outcome outcome;
	size_t i;

	fake = (struct fake){};
	for (i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
		test_begin("nothing there: chctl %s", empty[i].line);
		run(empty[i].line, "", &outcome);
		expect_status(&outcome, 0);
		expect_is("stdout", outcome.out, empty[i].out);
		expect_is("stderr", outcome.err, "");
		outcome_free(&outcome);
		test_end();
	}

	check("", "lookup tcp 192.0.2.1:5 192.0.2.2:80", "lookup-none", "txt");
	check("-j ", "lookup tcp 192.0.2.1:5 192.0.2.2:80", "lookup-none", "json");
}

static void test_former(void)
{
	static const char line[] = "lookup tcp [2001:db8::1]:5 [2001:db8::2]:80 established";

	fake = (struct fake){ .data = true, .former = true, .open_for = 45 };
	check("", line, "lookup-former", "txt");
	check("-j ", line, "lookup-former", "json");
	fake.open_for = 0;
	check("", line, "lookup-drain", "txt");
	check("-j ", line, "lookup-drain", "json");

	fake = (struct fake){ .data = true };
	check("", "flow show web", "flow-show-web", "txt");
	check("-j ", "flow show web", "flow-show-web", "json");
}

static void test_save_file(void)
{
	struct outcome outcome, again;
	char line[256], *text;

	fake = (struct fake){ .data = true };
	test_begin("save FILE and save give the same bytes");
	snprintf(line, sizeof(line), "save %s", scratch("saved"));
	run(line, "", &outcome);
	expect_status(&outcome, 0);
	expect_is("stdout", outcome.out, "");
	text = read_file(scratch("saved"));
	expect_golden(text ? text : "", "save.txt");
	outcome_free(&outcome);
	test_end();

	test_begin("what save writes apply reads");
	run("apply -", text, &outcome);
	expect_status(&outcome, 0);
	expect_golden(outcome.requests, "save-requests.txt");
	outcome_free(&outcome);
	test_end();

	test_begin("save to a directory that is not there");
	run("save /nowhere/file", "", &again);
	expect_status(&again, 2);
	expect_in("stderr", again.err, "Error: ENOENT: /nowhere/file: cannot write");
	outcome_free(&again);
	test_end();

	test_begin("save without the right to see a seed");
	fake.secret = true;
	run(line, "", &again);
	expect_status(&again, 2);
	expect_in("stderr", again.err, "Error: EPERM: service any: its seed");
	outcome_free(&again);
	free(text);
	text = read_file(scratch("saved"));
	expect_golden(text ? text : "", "save.txt");
	test_end();
	free(text);

	fake = (struct fake){ .data = true };
	test_begin("save to a full device");
	run("save /dev/full", "", &again);
	expect_status(&again, 2);
	expect_in("stderr", again.err, "Error: ENOSPC: /dev/full: cannot write");
	outcome_free(&again);
	test_end();
}

static void test_version(void)
{
	struct outcome outcome;

	fake = (struct fake){ .reference = 1 };
	test_begin("tool and module of different rings");
	run("-V", "", &outcome);
	expect_status(&outcome, 2);
	expect_in("stdout", outcome.out, "module chsteer 0.0.9, ring version 1, reference 0000000000000001");
	expect_in("stderr", outcome.err, "Error: EMISMATCH: tool and module steer differently");
	outcome_free(&outcome);
	test_end();

	fake = (struct fake){ .no_module = true };
	test_begin("version without a module");
	run("--version", "", &outcome);
	expect_status(&outcome, 2);
	expect_in("stdout", outcome.out, "chctl ");
	expect_in("stdout", outcome.out, "module chsteer is not loaded\n");
	expect_in("stderr", outcome.err, "Error: ENOMODULE: module chsteer is not loaded");
	outcome_free(&outcome);
	test_end();
}

void test_output(void)
{
	size_t i;

	fake = (struct fake){ .data = true };
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		check("", cases[i].line, cases[i].golden, "txt");
		/* Commands are commands, with JSON too. */
		check("-j ", cases[i].line, cases[i].golden,
		      strcmp(cases[i].line, "save") ? "json" : "txt");
	}
	check("-jp ", "ring show dns6", "ring-show-dns6-pretty", "json");
	check("-jp ", "ring dump dns6", "ring-dump-dns6-pretty", "json");
	test_former();
	test_save_file();
	test_empty();
	test_version();
	fake = (struct fake){};
}
