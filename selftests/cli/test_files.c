// SPDX-License-Identifier: GPL-2.0-only
/* Files of commands: apply and --batch. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define WEB	"service add web tcp 192.0.2.1:80\n"
#define WEB_SENT \
	"service-new txn=99 flags=1 service{ name=web proto=6 address=192.0.2.1 port=80 }\n"
#define B1	"backend add web 10.0.0.1 weight 5\n"
#define B1_SENT	"backend-new txn=99 flags=1 service{ name=web } backend{ address=10.0.0.1 weight=5 }\n"
#define BEGIN	"txn-begin\n"
#define COMMIT	"txn-commit txn=99 flags=16\n"
#define ABORT	"txn-abort txn=99\n"
#define DONE	"added 3 changed 1 removed 0 unchanged 12 moved 3.12%\n"

static const struct {
	const char *what;
	struct fake fake;
	const char *line;
	const char *input;
	int status;
	const char *requests;
	const char *out;
	const char *err;
} cases[] = {
	{ "apply", {}, "apply -", WEB B1, 0, BEGIN WEB_SENT B1_SENT COMMIT, DONE, "" },
	{ "apply, JSON", {}, "-j apply -", WEB, 0, BEGIN WEB_SENT COMMIT,
	  "{\"added\": 3, \"changed\": 1, \"removed\": 0, \"unchanged\": 12, \"moved\": 0.03125}\n",
	  "" },
	{ "apply --replace", {}, "apply --replace -", WEB B1, 0,
	  BEGIN "service-new txn=99 flags=3 service{ name=web proto=6 address=192.0.2.1 port=80 }\n"
	  B1_SENT COMMIT, DONE, "" },
	{ "apply --max-move", {}, "apply --max-move 2.5% -", WEB, 0,
	  BEGIN WEB_SENT "txn-commit txn=99 flags=16 max-move=25000\n", DONE, "" },
	{ "apply --max-move, moves more",
	  { .fail_at = 3, .fail_code = EDQUOT, .fail_text = "service web: moves more" },
	  "apply --max-move 0 -", WEB, 2,
	  BEGIN WEB_SENT "txn-commit txn=99 flags=16 max-move=0\n" ABORT, "",
	  "Error: EMOVED: stdin: service web: moves more\n" },
	{ "apply --max-move, no number", {}, "apply --max-move a -", WEB, 1, "", "",
	  "Error: EINVAL: --max-move 'a': not a percentage such as 2 or 2.5%\n" },
	{ "apply, a line with a flag", {}, "apply -", "service add --force web tcp 192.0.2.1:80\n", 0,
	  BEGIN "service-new txn=99 flags=9 service{ name=web proto=6 address=192.0.2.1 port=80 }\n"
	  COMMIT, DONE, "" },
	{ "apply, nothing changed", { .unchanged = true }, "apply -", WEB, 0,
	  BEGIN WEB_SENT COMMIT, "", "" },
	{ "apply, nothing changed, JSON", { .unchanged = true }, "-j apply -", WEB, 0,
	  BEGIN WEB_SENT COMMIT,
	  "{\"added\": 0, \"changed\": 0, \"removed\": 0, \"unchanged\": 12, \"moved\": 0}\n", "" },
	{ "apply, comments and blanks", {}, "apply -",
	  "# all\n\n   \n\t" WEB "  # more\nbackend add web 10.0.0.1 weight 5 # B1\n", 0,
	  BEGIN WEB_SENT B1_SENT COMMIT, DONE, "" },
	{ "apply, CRLF", {}, "apply -",
	  "service add web tcp 192.0.2.1:80\r\n\r\nbackend add web 10.0.0.1 weight 5\r\n", 0,
	  BEGIN WEB_SENT B1_SENT COMMIT, DONE, "" },
	{ "apply, no line end at the end", {}, "apply -", "service add web tcp 192.0.2.1:80", 0,
	  BEGIN WEB_SENT COMMIT, DONE, "" },
	{ "apply, quotes", {}, "apply -", "\"service\" add \"web\" tcp 192.0.2.1:80\n"
	  "backend add web 10.0.0.1 zone \"#a \\\"b\\\\\"\n", 0,
	  BEGIN WEB_SENT
	  "backend-new txn=99 flags=1 service{ name=web } backend{ address=10.0.0.1 zone=#a \"b\\ }\n"
	  COMMIT, DONE, "" },
	{ "apply, quotes left open", {}, "apply -", WEB "backend add web 10.0.0.1 zone \"a\n", 1,
	  "", "", "Error: EINVAL: stdin:2: quotes are not closed, or stand within a word\n" },
	{ "apply, empty", {}, "apply -", "", 2, "", "",
	  "Error: EINVAL: stdin: the file names nothing, which would remove everything (--allow-empty)\n" },
	{ "apply, only comments", {}, "apply -", "# nothing\n\n", 2, "", "",
	  "Error: EINVAL: stdin: the file names nothing, which would remove everything (--allow-empty)\n" },
	{ "apply, empty, JSON", {}, "-j apply -", "", 2, "", "",
	  "{\"error\": \"the file names nothing, which would remove everything (--allow-empty)\", \"code\": \"EINVAL\", \"file\": \"stdin\"}\n" },
	{ "apply --allow-empty", {}, "apply --allow-empty -", "", 0, BEGIN COMMIT, DONE, "" },
	{ "apply, no such file", {}, "apply /nowhere/file", "", 2, "", "",
	  "Error: ENOENT: /nowhere/file: no such file\n" },
	{ "apply, a directory", {}, "apply /", "", 2, "", "",
	  "Error: EISDIR: /: cannot read the file\n" },
	{ "apply, mistakes of a file are all told", {}, "apply -",
	  WEB "backend ad web 10.0.0.1\n" B1 "backend add web 10.0.0.1 weight -1\n", 1, "", "",
	  "Error: EINVAL: stdin:2: backend 'ad': no such command (chctl backend help)\n"
	  "Error: EINVAL: stdin:4: weight '-1': not a plain decimal number\n" },
	{ "apply, the first mistake, JSON", {}, "-j apply -",
	  WEB "backend ad web 10.0.0.1\n" B1 "backend add web 10.0.0.1 weight -1\n", 1, "", "",
	  "{\"error\": \"backend 'ad': no such command (chctl backend help)\", \"code\": \"EINVAL\", \"file\": \"stdin\", \"line\": 2}\n" },
	{ "apply, other commands", {}, "apply -", WEB "service del web\nflush\n", 1, "", "",
	  "Error: EINVAL: stdin:2: 'service del': only service add and backend add may be in this file\n"
	  "Error: EINVAL: stdin:3: 'flush ': only service add and backend add may be in this file\n" },
	{ "apply, a backend of no service", {}, "apply -", B1 WEB, 2, "", "",
	  "Error: ENOENT: stdin:1: no service 'web' in this file before its backend\n" },
	{ "apply, a cut-off last line", {}, "apply -", WEB "backend add we", 1, "", "",
	  "Error: EINVAL: stdin:2: argument missing: chctl backend add SERVICE ENDPOINT... [weight W] [state S] [deadline SECONDS [delete]] [zone Z]\n" },
	{ "apply, refused at a line",
	  { .fail_at = 3, .fail_code = ENOENT, .fail_text = "no service 'web'" },
	  "apply -", WEB "\n" B1 B1, 2, BEGIN WEB_SENT B1_SENT B1_SENT ABORT, "",
	  "Error: ENOENT: stdin:3: no service 'web'\n" },
	{ "apply, refused at a line, JSON",
	  { .fail_at = 3, .fail_code = ENOENT, .fail_text = "no service 'web'" },
	  "-j apply -", WEB "\n" B1 B1, 2, BEGIN WEB_SENT B1_SENT B1_SENT ABORT, "",
	  "{\"error\": \"no service 'web'\", \"code\": \"ENOENT\", \"file\": \"stdin\", \"line\": 3}\n" },
	{ "apply, refused at a line, no warnings of what is not in force",
	  { .fail_at = 3, .fail_code = ENOENT, .fail_text = "no service 'v'",
	    .warning = "forwarding is off" },
	  "-j apply -", WEB B1, 2, BEGIN WEB_SENT B1_SENT ABORT, "",
	  "{\"error\": \"no service 'v'\", \"code\": \"ENOENT\", \"file\": \"stdin\", \"line\": 2}\n" },
	{ "apply, refused at commit",
	  { .fail_at = 3, .fail_code = ENOMEM, .fail_text = "no memory for ring of 'web'" },
	  "apply -", WEB, 2, BEGIN WEB_SENT COMMIT ABORT, "",
	  "Error: ENOMEM: stdin: no memory for ring of 'web'\n" },
	{ "apply, begin refused", { .fail_at = 1, .fail_code = EPERM }, "apply -", WEB, 2, BEGIN, "",
	  "Error: EPERM: stdin: CAP_NET_ADMIN over the network namespace is needed\n" },
	{ "apply, another writer", { .busy = 2 }, "apply -", WEB, 0,
	  BEGIN WEB_SENT COMMIT ABORT BEGIN WEB_SENT COMMIT ABORT BEGIN WEB_SENT COMMIT, DONE, "" },
	{ "apply, warnings of lines, once for all tries",
	  { .busy = 1, .warning = "weight is small" }, "apply -", WEB, 0,
	  BEGIN WEB_SENT COMMIT ABORT BEGIN WEB_SENT COMMIT, DONE,
	  "Warning: weight is small\nWarning: stdin:1: weight is small\n" },

	{ "batch", {}, "-b -", "# x\n" WEB "service set web on-empty drop\nflush\n", 0,
	  "service-new service{ name=web proto=6 address=192.0.2.1 port=80 }\n"
	  "service-set service{ name=web on-empty=1 }\nflush\n", "", "" },
	{ "batch, empty", {}, "--batch -", "", 0, "", "", "" },
	{ "batch, output in order", { .data = true }, "-b -", "ring digest web\nring digest any\n",
	  0, "service-get service{ name=web }\nservice-get service{ name=any }\n",
	  "web 00123456789abcde\nany 00123456789abce0\n", "" },
	{ "batch, flows and a ring that settles", { .data = true, .settles = 1 }, "-b -",
	  "flow flush edge\nring wait edge 5\nflow flush all\n", 0,
	  "flow-flush service{ name=edge }\nservice-get service{ name=edge }\n"
	  "service-get service{ name=edge }\nflow-flush\n", "", "" },
	{ "batch, a ring that does not settle", { .data = true }, "-b -",
	  "ring wait edge 0\nflush\n", 2, "service-get service{ name=edge }\n", "",
	  "Error: ETIMEDOUT: stdin:1: service edge: arcs not settled after 0 s: 64\n" },
	{ "apply, flows are no configuration", {}, "apply -", WEB "flow flush all\n", 1, "", "",
	  "Error: EINVAL: stdin:2: 'flow flush': only service add and backend add may be in this file\n" },
	{ "batch, stops at the first that is refused",
	  { .fail_at = 2, .fail_code = ENOENT, .fail_text = "no service 'x'" },
	  "-b -", "flush\n\nservice del x\nflush\n", 2, "flush\nservice-del service{ name=x }\n", "",
	  "Error: ENOENT: stdin:3: no service 'x'\n" },
	{ "batch, stops at the first that is wrong", {}, "-j -b -", "flush\nservice dell x\nflush\n",
	  1, "flush\n", "",
	  "{\"error\": \"service 'dell': no such command (chctl service help)\", \"code\": \"EINVAL\", \"file\": \"stdin\", \"line\": 2}\n" },
	{ "batch, options are not for lines", {}, "-b -", "-j service\n", 1, "", "",
	  "Error: EINVAL: stdin:1: '-j': options go before the object (chctl help)\n" },
	{ "batch, warnings name the line", { .warning = "forwarding is off" }, "-b -", "\nflush\n",
	  0, "flush\n", "", "Warning: stdin:2: forwarding is off\n" },
	{ "batch, no such file", {}, "-b /nowhere/file", "", 2, "", "",
	  "Error: ENOENT: /nowhere/file: no such file\n" },
	{ "batch, file of nothing but a failing last line", {}, "-b -", "nonsense", 1, "", "",
	  "Error: EINVAL: stdin:1: 'nonsense': no such object (chctl help)\n" },
};

static void test_nul(void)
{
	static const char text[] = "service add web tcp 192.0.2.1:80\nbackend add\0web 10.0.0.1\n";
	struct outcome outcome;
	char line[256];

	test_begin("apply, a NUL byte");
	scratch_write("nul", text, sizeof(text) - 1);
	snprintf(line, sizeof(line), "-j apply %s", scratch("nul"));
	run(line, "", &outcome);
	expect_status(&outcome, 1);
	expect_in("stderr", outcome.err, "a NUL byte");
	expect_in("stderr", outcome.err, "\"line\": 2");
	expect_is("requests", outcome.requests, "");
	outcome_free(&outcome);
	test_end();
}

static void test_seed_file(void)
{
	static const struct {
		const char *text;
		size_t len;
		int status;
	} files[] = {
		{ "00112233445566778899aabbccddeeff", 32, 0 },
		{ "00112233445566778899AABBCCDDEEFF\n", 33, 0 },
		{ "\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff", 16, 0 },
		{ "00112233445566778899aabbccddeef", 31, 1 },
		{ "00112233445566778899aabbccddeeff0", 33, 1 },
		{ "00112233445566778899aabbccddeegg", 32, 1 },
		{ "short", 5, 1 },
	};
	struct outcome outcome;
	char line[256];
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		test_begin("a seed's file of %zu bytes", files[i].len);
		scratch_write("seed", files[i].text, files[i].len);
		snprintf(line, sizeof(line), "service add w tcp 192.0.2.1:80 seed @%s",
			 scratch("seed"));
		run(line, "", &outcome);
		expect_status(&outcome, files[i].status);
		if (!files[i].status)
			expect_in("requests", outcome.requests,
				  "seed=00112233445566778899aabbccddeeff");
		outcome_free(&outcome);
		test_end();
	}
}

static void test_large(void)
{
	const int n = 50000;
	char *text = malloc(100 * n), line[256];
	size_t len;
	struct outcome outcome;
	int i;

	len = sprintf(text, "%s", WEB);
	for (i = 0; i < n - 1; i++)
		len += sprintf(text + len, "backend add web 10.%d.%d.%d:80 weight 100\n",
			       i >> 16, i >> 8 & 255, i & 255);
	scratch_write("large", text, len);
	free(text);
	snprintf(line, sizeof(line), "apply %s", scratch("large"));

	test_begin("apply, 50,000 lines");
	fake = (struct fake){};
	run(line, "", &outcome);
	expect_status(&outcome, 0);
	expect_is("stdout", outcome.out, DONE);
	outcome_free(&outcome);
	test_end();

	test_begin("apply, 50,000 lines, one refused");
	fake = (struct fake){ .fail_at = 43211, .fail_code = EINVAL, .fail_text = "no" };
	run(line, "", &outcome);
	expect_status(&outcome, 2);
	expect_in("stderr", outcome.err, "large:43210: no\n");
	outcome_free(&outcome);
	test_end();
	fake = (struct fake){};
}

void test_files(void)
{
	struct outcome outcome;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake = cases[i].fake;
		test_begin("%s", cases[i].what);
		run(cases[i].line, cases[i].input, &outcome);
		expect_status(&outcome, cases[i].status);
		expect_is("requests", outcome.requests, cases[i].requests);
		expect_is("stdout", outcome.out, cases[i].out);
		expect_is("stderr", outcome.err, cases[i].err);
		outcome_free(&outcome);
		test_end();
	}
	fake = (struct fake){};
	test_nul();
	test_seed_file();
	test_large();
}
