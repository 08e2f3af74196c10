// SPDX-License-Identifier: GPL-2.0-only
/* What a command sends: all that was said, nothing that was not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const struct {
	const char *line;
	const char *requests;
} cases[] = {
	{ "service add web tcp 192.0.2.10:443",
	  "service-new service{ name=web proto=6 address=192.0.2.10 port=443 }\n" },
	{ "service add --force web udp [2001:db8::1]:20-30",
	  "service-new flags=8 service{ name=web proto=17 address=2001:db8::1 port=20 port-end=30 }\n" },
	{ "service add web sctp 192.0.2.10:*",
	  "service-new service{ name=web proto=132 address=192.0.2.10 any-port }\n" },
	{ "service add web tcp 192.0.2.10:0",
	  "service-new service{ name=web proto=6 address=192.0.2.10 port=0 }\n" },
	{ "service add w tcp 192.0.2.10:1 masquerade on on-empty pass balance 1.1 slots 256 unit 1 points 2 hash src mode gue",
	  "service-new service{ name=w proto=6 address=192.0.2.10 port=1 mode=3 hash=1 points=2 unit=1 slots=256 balance=110 on-empty=2 masquerade=1 }\n" },
	{ "service add w tcp 192.0.2.10:1 seed 000102030405060708090A0B0c0d0e0f",
	  "service-new service{ name=w proto=6 address=192.0.2.10 port=1 seed=000102030405060708090a0b0c0d0e0f }\n" },
	{ "service add w tcp 192.0.2.10:1 seed default",
	  "service-new service{ name=w proto=6 address=192.0.2.10 port=1 }\n" },
	{ "service add w tcp 192.0.2.10:1 affinity transition window 5 max-flows 6 timeout 7 gue-port 8 source 192.0.2.1 vrf red",
	  "service-new service{ name=w proto=6 address=192.0.2.10 port=1 affinity=1 window=5 max-flows=6 timeout=7 gue-port=8 source=192.0.2.1 vrf=red }\n" },
	{ "service set w source default",
	  "service-set service{ name=w source=0.0.0.0 }\n" },
	{ "service set w source 2001:db8::1 vrf blue timeout 0",
	  "service-set service{ name=w timeout=0 source=2001:db8::1 vrf=blue }\n" },
	{ "service set web balance off on-empty drop masquerade off",
	  "service-set service{ name=web balance=0 on-empty=1 masquerade=0 }\n" },
	/* Not settable, which is for the kernel to say. */
	{ "service set web seed default",
	  "service-set service{ name=web seed=636873746565722d72696e672d763100 }\n" },
	{ "service set web points 5", "service-set service{ name=web points=5 }\n" },
	{ "service del web", "service-del service{ name=web }\n" },
	{ "service del --if-exists web", "service-del flags=4 service{ name=web }\n" },
	{ "backend add web 10.0.0.1",
	  "backend-new service{ name=web } backend{ address=10.0.0.1 }\n" },
	{ "backend add web 10.0.0.1 [2001:db8::1]:80 weight 0",
	  "backend-new service{ name=web } backend{ address=10.0.0.1 weight=0 } backend{ address=2001:db8::1 port=80 weight=0 }\n" },
	{ "backend add web 10.0.0.1:80 zone 'rack 1' state down",
	  "backend-new service{ name=web } backend{ address=10.0.0.1 port=80 state=2 zone=rack 1 }\n" },
	{ "backend add web 10.0.0.1:80 state drain deadline 30 delete",
	  "backend-new service{ name=web } backend{ address=10.0.0.1 port=80 state=1 deadline=30 delete }\n" },
	/* Adding takes a service's name, whatever it is. */
	{ "backend add * 10.0.0.1:80",
	  "backend-new service{ name=* } backend{ address=10.0.0.1 port=80 }\n" },
	{ "backend replace web 10.0.0.1:80 weight 3",
	  "backend-new flags=1 service{ name=web } backend{ address=10.0.0.1 port=80 weight=3 }\n" },
	{ "backend set web 10.0.0.1 10.0.0.2 state up",
	  "backend-set service{ name=web } backend{ address=10.0.0.1 state=0 } backend{ address=10.0.0.2 state=0 }\n" },
	{ "backend set * 10.0.0.1 weight 3",
	  "backend-set backend{ address=10.0.0.1 weight=3 }\n" },
	{ "backend set web 10.0.0.1 zone ''",
	  "backend-set service{ name=web } backend{ address=10.0.0.1 zone= }\n" },
	{ "backend drain web 10.0.0.1",
	  "backend-set service{ name=web } backend{ address=10.0.0.1 state=1 }\n" },
	{ "backend drain * 10.0.0.1:80 delete deadline 60",
	  "backend-set backend{ address=10.0.0.1 port=80 state=1 deadline=60 delete }\n" },
	{ "backend del web 10.0.0.1:80 10.0.0.2",
	  "backend-del service{ name=web } backend{ address=10.0.0.1 port=80 } backend{ address=10.0.0.2 }\n" },
	{ "backend del --if-exists * 10.0.0.1",
	  "backend-del flags=4 backend{ address=10.0.0.1 }\n" },
	{ "lookup tcp 192.0.2.1:5 192.0.2.2:80",
	  "lookup flow{ proto=6 saddr=192.0.2.1 daddr=192.0.2.2 sport=5 dport=80 }\n" },
	{ "lookup udp [2001:db8::1]:5 [2001:db8::2]:80 established",
	  "lookup flags=32 flow{ proto=17 saddr=2001:db8::1 daddr=2001:db8::2 sport=5 dport=80 }\n" },
	{ "lookup sctp 192.0.2.1:5 192.0.2.2:80 vrf red established",
	  "lookup flags=32 flow{ proto=132 saddr=192.0.2.1 daddr=192.0.2.2 sport=5 dport=80 vrf=red }\n" },
	{ "lookup tcp 192.0.2.1:5 192.0.2.2:80 zone 0 established",
	  "lookup flags=32 flow{ proto=6 saddr=192.0.2.1 daddr=192.0.2.2 sport=5 dport=80 ct-zone=0 }\n" },
	{ "flow", "flow-get dump\n" },
	{ "flow flush web", "flow-flush service{ name=web }\n" },
	{ "flow flush all", "flow-flush\n" },
	{ "flush", "flush\n" },
	{ "service", "service-get dump\n" },
	{ "stats", "service-get dump\n" },
	{ "ring digest", "service-get dump\n" },
	{ "backend", "service-get dump\nbackend-get dump\nservice-get dump\n" },
	{ "-n blue flush", "netns blue\nflush\n" },
};

static void test_many_backends(void)
{
	static char line[128 << 10];
	struct outcome outcome;
	size_t len, count = 0;
	const char *at;
	int i;

	test_begin("4,096 backends are one request");
	len = sprintf(line, "backend add web");
	for (i = 0; i < 4096; i++)
		len += sprintf(line + len, " [2001:db8::%x]:80", i + 1);
	sprintf(line + len, " zone abcdefghijklmnopqrstuvwxyz01234");
	run(line, "", &outcome);
	expect_status(&outcome, 0);
	for (at = outcome.requests; (at = strstr(at, "backend{")); at++)
		count++;
	if (count != 4096)
		test_fail("%zu backends", count);
	if (strchr(outcome.requests, '\n') != outcome.requests + strlen(outcome.requests) - 1)
		test_fail("more than one request");
	outcome_free(&outcome);
	test_end();
}

void test_requests(void)
{
	struct outcome outcome;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		test_begin("request: chctl %s", cases[i].line);
		run(cases[i].line, "", &outcome);
		expect_status(&outcome, 0);
		expect_is("requests", outcome.requests, cases[i].requests);
		expect_is("stderr", outcome.err, "");
		outcome_free(&outcome);
		test_end();
	}
	test_many_backends();
}
