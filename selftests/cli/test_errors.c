// SPDX-License-Identifier: GPL-2.0-only
/* What is said when the kernel refuses, is not there, or does not tell all. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/chsteer.h>

#include "cli.h"
#include "err.h"
#include "module.h"
#include "progress.h"

static const struct {
	const char *what;
	struct fake fake;
	const char *line;
	int status;
	const char *out;
	const char *err;
} cases[] = {
	{ "the kernel's sentence",
	  { .fail_at = 1, .fail_code = EEXIST, .fail_text = "service web exists" },
	  "service add web tcp 192.0.2.1:80", 2, "", "Error: EEXIST: service web exists\n" },
	{ "the kernel's sentence, JSON",
	  { .fail_at = 1, .fail_code = EEXIST, .fail_text = "service \"web\" exists" },
	  "-j service add web tcp 192.0.2.1:80", 2, "",
	  "{\"error\": \"service \\\"web\\\" exists\", \"code\": \"EEXIST\"}\n" },
	{ "no sentence, EPERM", { .fail_at = 1, .fail_code = EPERM }, "flush", 2, "",
	  "Error: EPERM: CAP_NET_ADMIN over the network namespace is needed\n" },
	{ "no sentence, ENOMEM", { .fail_at = 1, .fail_code = ENOMEM }, "flush", 2, "",
	  "Error: ENOMEM: the kernel is out of memory\n" },
	{ "a code without a name", { .fail_at = 1, .fail_code = 3000 }, "flush", 2, "",
	  "Error: E3000: refused by the kernel\n" },
	{ "a sentence of netlink's core, with its range",
	  { .fail_at = 1, .fail_code = ERANGE, .fail_text = "integer out of range",
	    .fail_attr = CHS_A_SERVICE_POINTS, .fail_range = true },
	  "service add web tcp 192.0.2.1:80 points 5000", 2, "",
	  "Error: ERANGE: points 5000 (1 to 4096): integer out of range\n" },
	{ "a sentence of netlink's core about a name",
	  { .fail_at = 1, .fail_code = EINVAL, .fail_text = "Attribute failed policy validation",
	    .fail_attr = CHS_A_SERVICE_NAME },
	  "service del web", 2, "", "Error: EINVAL: name: Attribute failed policy validation\n" },
	{ "a sentence of netlink's core about a port",
	  { .fail_at = 1, .fail_code = EINVAL, .fail_text = "Unknown attribute type",
	    .fail_attr = CHS_A_SERVICE_PORT },
	  "service add web tcp 192.0.2.1:80", 2, "",
	  "Error: EINVAL: port 80: Unknown attribute type\n" },
	{ "the module's own sentence is complete",
	  { .fail_at = 1, .fail_code = EINVAL, .fail_text = "weight 10001: more than 10000",
	    .fail_attr = CHS_A_BACKEND_WEIGHT },
	  "backend add web 10.0.0.1 weight 10001", 2, "",
	  "Error: EINVAL: weight 10001: more than 10000\n" },
	{ "a warning", { .warning = "forwarding is off" }, "flush", 0, "",
	  "Warning: forwarding is off\n" },
	{ "several warnings, each once",
	  { .warning = "forwarding is off; share of 10.0.0.1 is off; forwarding is off" },
	  "flush", 0, "", "Warning: forwarding is off\nWarning: share of 10.0.0.1 is off\n" },
	{ "control characters", {}, "service add w tcp '192.0.2.1:8\x1b[31m'", 1, "",
	  "Error: EINVAL: 192.0.2.1:8?[31m: port '8?[31m': not a plain decimal number\n" },
	{ "no such service, show", { .data = true }, "service show nope", 2, "",
	  "Error: ENOENT: no such service\n" },
	{ "no such service, stats", { .data = true }, "-j stats nope", 2, "",
	  "{\"error\": \"no such service\", \"code\": \"ENOENT\"}\n" },
	{ "no such service, backend", { .data = true }, "-j backend show nope", 2, "",
	  "{\"error\": \"no such service\", \"code\": \"ENOENT\"}\n" },
	{ "no such service, ring", { .data = true }, "ring dump nope", 2, "",
	  "Error: ENOENT: no such service\n" },
	{ "no such service, flows", { .data = true }, "-j flow show nope", 2, "",
	  "{\"error\": \"no such service\", \"code\": \"ENOENT\"}\n" },
	{ "no such service, wait", { .data = true }, "ring wait nope 5", 2, "",
	  "Error: ENOENT: no such service\n" },
	{ "no right to see flows", { .data = true, .fail_at = 1, .fail_code = EPERM }, "flow", 2,
	  "", "Error: EPERM: CAP_NET_ADMIN over the network namespace is needed\n" },
	{ "a flow that lacks something", { .data = true, .bare_flow = true }, "flow", 2, "",
	  "Error: EBADMSG: an answer of the module is malformed: do the versions match? (chctl -V)\n" },
	{ "flows that are never read whole", { .data = true, .interrupts = 1000 }, "flow", 2, "",
	  "Error: EBUSY: the list changed while it was read, 20 times over\n" },
	{ "a sentence of netlink's core about a VRF",
	  { .fail_at = 1, .fail_code = EINVAL, .fail_text = "Attribute failed policy validation",
	    .fail_attr = CHS_A_SERVICE_VRF },
	  "service set web vrf red", 2, "",
	  "Error: EINVAL: vrf: Attribute failed policy validation\n" },
	{ "waiting for what is settled", { .data = true }, "ring wait tun", 0, "", "" },
	{ "waiting in mode nat", { .data = true }, "-j ring wait web 5", 0, "", "" },
	{ "waiting for a ring to settle", { .data = true, .settles = 2 }, "ring wait edge", 0, "",
	  "" },
	{ "waiting for too long", { .data = true }, "ring wait edge 0", 2, "",
	  "Error: ETIMEDOUT: service edge: arcs not settled after 0 s: 64\n" },
	{ "waiting for too long, JSON", { .data = true }, "-j ring wait fast 1", 2, "",
	  "{\"error\": \"service fast: arcs not settled after 1 s: 1\", \"code\": \"ETIMEDOUT\"}\n" },
	{ "waiting for what goes away", { .data = true, .goes = 2 }, "ring wait edge", 2, "",
	  "Error: ENOENT: no such service\n" },
	{ "a datagram that does not fit", { .data = true, .truncated = true }, "-j backend", 2, "",
	  "{\"error\": \"an answer of the kernel was cut off\", \"code\": \"EMSGSIZE\"}\n" },
	{ "a dump that fails at its end", { .data = true, .done_code = ENOMEM }, "-j service", 2,
	  "", "{\"error\": \"the kernel is out of memory\", \"code\": \"ENOMEM\"}\n" },
	{ "a dump that lacks backends", { .data = true, .short_dump = true }, "backend", 2, "",
	  "Error: EBUSY: the list changed while it was read, 20 times over\n" },
	{ "a list that is never whole", { .data = true, .interrupts = 1000 }, "service", 2, "",
	  "Error: EBUSY: the list changed while it was read, 20 times over\n" },
	{ "a snapshot that is never one", { .data = true, .changes = 1000 }, "save", 2, "",
	  "Error: EBUSY: the list changed while it was read, 20 times over\n" },
	{ "a digest as expected", { .data = true }, "ring digest --expect 00123456789ABCDE web", 0,
	  "web 00123456789abcde\n", "" },
	{ "a digest not as expected", { .data = true },
	  "ring digest --expect 0123456789abcdef web", 2, "web 00123456789abcde\n",
	  "Error: EMISMATCH: service web: digest 00123456789abcde, expected 0123456789abcdef\n" },
	{ "a digest of nothing", {}, "-j ring digest --expect 0123456789abcdef", 2, "[]\n",
	  "{\"error\": \"no service has a digest to compare\", \"code\": \"ENOENT\"}\n" },
};

static void test_retries(void)
{
	struct outcome outcome;

	fake = (struct fake){ .data = true, .interrupts = 3 };
	test_begin("a list that is whole at last");
	run("service", "", &outcome);
	expect_status(&outcome, 0);
	expect_golden(outcome.out, "service-show.txt");
	expect_is("stderr", outcome.err, "");
	outcome_free(&outcome);
	test_end();

	fake = (struct fake){ .data = true, .changes = 2 };
	test_begin("a snapshot that is one at last");
	run("save", "", &outcome);
	expect_status(&outcome, 0);
	expect_golden(outcome.out, "save.txt");
	outcome_free(&outcome);
	test_end();
}

static void no_module(const char *line, const char *begins)
{
	struct outcome outcome;

	fake = (struct fake){ .no_module = true };
	test_begin("no module: chctl %s", line);
	run(line, "", &outcome);
	expect_status(&outcome, 2);
	expect_is("stdout", outcome.out, "");
	expect_in("stderr", outcome.err, begins);
	expect_in("stderr", outcome.err, "ENOMODULE");
	outcome_free(&outcome);
	test_end();
}

/* A file below the scratch directory, as the kernel or depmod would have it. */
static void write_below(const char *name, const char *text)
{
	char command[512];

	snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s')\"", scratch(name));
	if (system(command))
		abort();
	scratch_write(name, text, strlen(text));
}

static void reason(const char *why, const char *fragment)
{
	int err = dup(STDERR_FILENO), fd = memfd_create("stderr", 0);
	char text[1024] = "";

	test_begin("no module: %s", why);
	dup2(fd, STDERR_FILENO);
	ctl_err_clear();
	ctl_module_missing(scratch("root"), "6.0.0-test");
	ctl_err_print();
	fflush(stderr);
	dup2(err, STDERR_FILENO);
	if (pread(fd, text, sizeof(text) - 1, 0) < 0)
		abort();
	close(err);
	close(fd);
	expect_in("stderr", text, "Error: ENOMODULE: module chsteer is not loaded");
	expect_in("stderr", text, fragment);
	ctl_err_clear();
	test_end();
}

static void reasons(void)
{
	reason("nothing installed", "nor installed for Linux 6.0.0-test");
	write_below("root/lib/modules/6.0.0-test/modules.dep", "kernel/fs/a.ko:\n");
	reason("another installed", "nor installed for Linux 6.0.0-test");
	write_below("root/lib/modules/6.0.0-test/modules.dep",
		    "kernel/fs/a.ko:\nupdates/chsteer.ko.xz: kernel/net/b.ko\n");
	reason("installed, and no lockdown", "dmesg says why");
	write_below("root/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
	reason("not locked down", "dmesg says why");
	write_below("root/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	reason("locked down", "signed with a key enrolled in it");
	write_below("root/proc/sys/kernel/modules_disabled", "1\n");
	reason("modules disabled", "kernel.modules_disabled is 1");
}

/* The timer's signal comes at once: nothing here takes two seconds. */
static void progress(bool terminal, const char *expected)
{
	int err = dup(STDERR_FILENO), fd = memfd_create("stderr", 0);
	char text[256] = "";

	fake = (struct fake){ .terminal = terminal };
	test_begin("progress: %s terminal", terminal ? "on a" : "no");
	dup2(fd, STDERR_FILENO);
	signal(SIGALRM, SIG_IGN);
	ctl_progress_begin("work");
	raise(SIGALRM);
	ctl_progress_at(1, 3);
	raise(SIGALRM);
	ctl_progress_end();
	dup2(err, STDERR_FILENO);
	if (pread(fd, text, sizeof(text) - 1, 0) < 0)
		abort();
	close(err);
	close(fd);
	expect_is("stderr", text, expected);
	test_end();
}

/* The signal comes while the kernel is at the request of that number. */
static void interrupted(const char *line, unsigned int at, int code, const char *said)
{
	struct outcome outcome;

	fake = (struct fake){ .signal_at = at, .fail_at = code ? at : 0, .fail_code = code,
			      .fail_text = "refused" };
	test_begin("SIGINT at request %u of: chctl %s", at, line);
	run(line, "service add web tcp 192.0.2.1:80\nbackend add web 10.0.0.1\n", &outcome);
	expect_status(&outcome, 128 + SIGINT);
	expect_in("stderr", outcome.err, said);
	outcome_free(&outcome);
	test_end();
}

static void interruptions(void)
{
	interrupted("apply -", 1, 0, "Error: EINTR: stdin: ended by a signal: nothing was applied\n");
	interrupted("apply -", 3, 0, "Error: EINTR: stdin: ended by a signal: nothing was applied\n");
	interrupted("apply -", 4, 0, "Error: EINTR: stdin: ended by a signal: applied\n");
	interrupted("apply -", 4, EEXIST, "Error: EEXIST: stdin: refused\n");
	interrupted("flush", 1, 0, "Error: EINTR: ended by a signal: applied\n");
	interrupted("flush", 1, EPERM, "Error: EPERM: refused\n");
	interrupted("-b -", 2, 0, "Error: EINTR: stdin:2: ended by a signal: applied\n");
}

void test_errors(void)
{
	struct outcome outcome;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake = cases[i].fake;
		test_begin("%s", cases[i].what);
		run(cases[i].line, "", &outcome);
		expect_status(&outcome, cases[i].status);
		expect_is("stdout", outcome.out, cases[i].out);
		expect_is("stderr", outcome.err, cases[i].err);
		outcome_free(&outcome);
		test_end();
	}
	test_retries();
	fake = (struct fake){};

	no_module("service", "Error: ENOMODULE: module chsteer is not loaded");
	no_module("flush", "Error: ENOMODULE: module chsteer is not loaded");
	no_module("-j service", "{\"error\": \"module chsteer is not loaded");
	reasons();
	progress(false, "");
	progress(true, "\r\033[Kwork: 2 s\r\033[Kwork: 33%, 3 s\r\033[K");
	interruptions();
}
