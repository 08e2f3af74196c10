// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command lines, their exit status, and what the message says. Those with
 * status 1 must have sent nothing; those with 0 have passed the parser whole.
 */
#include <stdlib.h>

#include "cli.h"

static const struct {
	int status;
	const char *line;
	const char *message;
} cases[] = {
	/* Objects and commands match exactly. */
	{ 1, "serv show", "'serv': no such object" },
	{ 1, "services", "'services': no such object" },
	{ 1, "service sh", "service 'sh': no such command" },
	{ 1, "service web", "service 'web': no such command" },
	{ 1, "SERVICE show", "'SERVICE': no such object" },
	{ 1, "backend remove web 10.0.0.1", "backend 'remove': no such command" },
	{ 1, "ring plot web", "ring 'plot': no such command" },
	{ 1, "monitor", "'monitor': no such object" },
	{ 1, "flow flushall", "flow 'flushall': no such command" },
	{ 1, "''", "'': no such object" },
	{ 0, "service", "" },
	{ 0, "service show", "" },
	{ 0, "backend", "" },
	{ 0, "ring", "" },
	{ 0, "flow", "" },
	{ 0, "stats", "" },
	{ 0, "", "" },
	{ 0, "flush", "" },

	/* Options. */
	{ 1, "-x service", "'-x': no such option" },
	{ 1, "--js service", "'--js': no such option" },
	{ 1, "--json=1 service", "takes no value" },
	{ 1, "-n", "-n: NAME missing" },
	{ 1, "--netns", "--netns: NAME missing" },
	{ 1, "-b", "-b: FILE missing" },
	{ 1, "-b - service show", "a command beside --batch" },
	{ 1, "-b - -b -", "--batch: given twice" },
	{ 1, "service show -j", "'-j': options go before" },
	{ 1, "service -j", "'-j': options go before" },
	{ 0, "-j service", "" },
	{ 0, "-jp service", "" },
	{ 0, "--json --pretty service", "" },
	{ 0, "-nfoo service", "" },
	{ 0, "-n foo service", "" },
	{ 0, "--netns=foo service", "" },
	{ 0, "--netns foo service", "" },
	{ 0, "-- service", "" },

	/* Flags. */
	{ 1, "service del --force web", "'--force': not a flag of this command" },
	{ 1, "service del --if-exist web", "'--if-exist': not a flag" },
	{ 1, "service del --if-exists --if-exists web", "--if-exists: given twice" },
	{ 1, "service add --if-exists web tcp 192.0.2.1:80", "not a flag of this command" },
	{ 1, "ring digest --expect", "--expect: HEX missing" },
	{ 1, "ring digest --expect 123", "--expect '123': not 16 hex digits" },
	{ 1, "ring digest --expect 0123456789abcdefa", "not 16 hex digits" },
	{ 1, "ring digest --expect 0123456789abcdeg", "not 16 hex digits" },
	{ 0, "service del --if-exists web", "" },
	{ 0, "service del web --if-exists", "" },
	{ 0, "service add --force web tcp 192.0.2.1:*", "" },
	{ 0, "service add web tcp --force 192.0.2.1:*", "" },
	{ 0, "service del -- help", "" },

	/* Number of arguments. */
	{ 1, "service add", "arguments missing" },
	{ 1, "service add web", "arguments missing" },
	{ 1, "service add web tcp", "argument missing" },
	{ 1, "service set", "argument missing" },
	{ 1, "service set web", "nothing to set" },
	{ 1, "service del", "argument missing" },
	{ 1, "service del web api", "'api': one argument too many" },
	{ 1, "service show web api", "'api': one argument too many" },
	{ 1, "backend add web", "argument missing" },
	{ 1, "backend set web 10.0.0.1", "nothing to set" },
	{ 1, "backend set web weight 5", "'weight': ENDPOINT expected" },
	{ 1, "backend add web weight 5", "'weight': ENDPOINT expected" },
	{ 1, "backend drain web deadline 5", "'deadline': ENDPOINT expected" },
	{ 1, "backend del web", "argument missing" },
	{ 1, "ring dump", "argument missing" },
	{ 1, "ring dump web api", "'api': one argument too many" },
	{ 1, "ring wait", "argument missing" },
	{ 1, "ring wait web 5 6", "'6': one argument too many" },
	{ 1, "lookup tcp 192.0.2.1:5", "argument missing" },
	{ 1, "flow show web api", "'api': one argument too many" },
	{ 1, "flow flush", "argument missing" },
	{ 1, "flow flush web api", "'api': one argument too many" },
	{ 1, "apply", "argument missing" },
	{ 1, "flush all", "'all': one argument too many" },
	{ 1, "save a b", "'b': one argument too many" },

	/* Protocols. */
	{ 1, "service add web icmp 192.0.2.1:80", "protocol 'icmp': not tcp, udp or sctp" },
	{ 1, "service add web TCP 192.0.2.1:80", "protocol 'TCP'" },
	{ 1, "service add web 6 192.0.2.1:80", "protocol '6'" },
	{ 1, "lookup dccp 192.0.2.1:5 192.0.2.2:6", "protocol 'dccp'" },
	{ 0, "service add web tcp 192.0.2.1:80", "" },
	{ 0, "service add web udp 192.0.2.1:80", "" },
	{ 0, "service add web sctp 192.0.2.1:80", "" },

	/* Addresses; IPv6 without brackets is never split. */
	{ 1, "service add s tcp 2001:db8::1:100b", "port missing ([ADDRESS]:PORT" },
	{ 1, "service add s tcp 2001:db8::1:80", "port missing" },
	{ 1, "service add s tcp [2001:db8::1]", "port missing" },
	{ 1, "service add s tcp [2001:db8::1]80", "':' expected behind ']'" },
	{ 1, "service add s tcp [2001:db8::1:80", "']' missing" },
	{ 1, "service add s tcp 2001:db8::1]:80", "not an IPv6 address" },
	{ 1, "service add s tcp [192.0.2.1]:80", "no IPv6 address within the brackets" },
	{ 1, "service add s tcp []:80", "no IPv6 address within the brackets" },
	{ 1, "service add s tcp [2001:db8::1]:", "port missing" },
	{ 1, "service add s tcp [2001:db8::1]:80:90", "not a plain decimal number" },
	{ 1, "service add s tcp [2001:db8::g]:80", "no IPv6 address within" },
	{ 1, "service add s tcp [2001:db8:::1]:80", "no IPv6 address within" },
	{ 1, "service add s tcp [1:2:3:4:5:6:7:8:9]:80", "no IPv6 address within" },
	{ 1, "service add s tcp 2001:db8::1:80000", "not an IPv6 address (with a port: " },
	{ 1, "service add s tcp [fe80::1%eth1]:80", "cannot name an interface" },
	{ 1, "backend add s fe80::1%eth1", "cannot name an interface" },
	{ 1, "backend add s fe80::1%3", "cannot name an interface" },
	{ 1, "backend add s 10.0.0.1%eth1:80", "cannot name an interface" },
	{ 1, "backend add s [2001:db8::1]/64", "':' expected behind ']'" },
	{ 1, "backend add s 10.0.0.0/24", "not an address" },
	{ 1, "backend add s 198.51.100.011", "octets have no leading zeros" },
	{ 1, "backend add s 198.51.100.11.1", "not an address" },
	{ 1, "backend add s 198.51.100", "not an address" },
	{ 1, "backend add s 198.51.100.256", "not an address" },
	{ 1, "backend add s 0x0a000001", "not an address" },
	{ 1, "backend add s 167772161", "not an address" },
	{ 1, "backend add s example.com:80", "names are not looked up" },
	{ 1, "backend add s :80", "not an address" },
	{ 1, "backend add s ''", "not an address" },
	{ 1, "backend add s ' 10.0.0.1'", "not an address" },
	{ 1, "backend add s '10.0.0.1 '", "not an address" },
	{ 1, "backend add s 10.0.0.1:80-90", "takes one port only" },
	{ 1, "backend add s 10.0.0.1:*", "takes one port only" },
	{ 1, "backend add s 10.0.0.1 10.0.0.2:x", "not a plain decimal number" },
	{ 1, "backend add s 10.0.0.1 wieght 5", "'wieght': neither an address nor an option" },
	{ 0, "service add s tcp [2001:db8::1]:80", "" },
	{ 0, "service add s tcp [2001:DB8::1]:80", "" },
	{ 0, "service add s tcp [2001:0db8:0000::0001]:80", "" },
	{ 0, "service add s tcp [::ffff:192.0.2.1]:80", "" },
	{ 0, "service add s tcp 192.0.2.1:80", "" },
	{ 0, "service add s tcp 192.0.2.1:*", "" },
	{ 0, "service add s tcp 192.0.2.1:80-90", "" },
	{ 0, "service add s tcp [2001:db8::1]:80-90", "" },
	{ 0, "service add s tcp [2001:db8::1]:*", "" },
	{ 0, "backend add s 10.0.0.1", "" },
	{ 0, "backend add s 10.0.0.1:80", "" },
	{ 0, "backend add s 2001:db8::1:100b", "" },
	{ 0, "backend add s [2001:db8::1]", "" },
	{ 0, "backend add s [2001:db8::1]:80", "" },
	{ 0, "backend add s ::ffff:192.0.2.1", "" },

	/* What the kernel judges is sent to it: multicast, port 0, a weight. */
	{ 0, "service add s tcp 224.0.0.1:80", "" },
	{ 0, "service add s tcp 0.0.0.0:80", "" },
	{ 0, "service add s tcp 127.0.0.1:80", "" },
	{ 0, "service add s tcp 192.0.2.1:0", "" },
	{ 0, "backend add s 10.0.0.1:0", "" },
	{ 0, "backend add s fe80::1", "" },
	{ 0, "backend add s 10.0.0.1 weight 10001", "" },
	{ 0, "service add s tcp 192.0.2.1:80 points 0", "" },
	{ 0, "service add s tcp 192.0.2.1:90-80", "" },
	{ 0, "service add -web tcp 192.0.2.1:80", "" },
	{ 0, "service add a_very_long_name_of_more_than_31_characters tcp 192.0.2.1:80", "" },

	/* Ports. */
	{ 1, "service add s tcp 192.0.2.1", "port missing (ADDRESS:PORT" },
	{ 1, "service add s tcp 192.0.2.1:", "port missing" },
	{ 1, "service add s tcp 192.0.2.1:65536", "port '65536': more than 65535" },
	{ 1, "service add s tcp 192.0.2.1:http", "port 'http': not a plain decimal number" },
	{ 1, "service add s tcp 192.0.2.1:+80", "port '+80': not a plain decimal number" },
	{ 1, "service add s tcp 192.0.2.1:-80", "port missing" },
	{ 1, "service add s tcp 192.0.2.1:80-", "port missing" },
	{ 1, "service add s tcp 192.0.2.1:80-90-100", "not a plain decimal number" },
	{ 1, "service add s tcp 192.0.2.1:080", "leading zero" },
	{ 1, "service add s tcp 192.0.2.1:0x50", "not a plain decimal number" },
	{ 1, "service add s tcp '192.0.2.1: 80'", "not a plain decimal number" },
	{ 1, "service add s tcp '192.0.2.1:80 '", "not a plain decimal number" },
	{ 1, "service add s tcp 192.0.2.1:80.", "not a plain decimal number" },
	{ 1, "service add s tcp 192.0.2.1:*-90", "not a plain decimal number" },
	{ 1, "service add s tcp 192.0.2.1:123456789", "not a port number" },

	/* Numbers. */
	{ 1, "backend add s 10.0.0.1 weight -1", "weight '-1': not a plain decimal number" },
	{ 1, "backend add s 10.0.0.1 weight +1", "weight '+1': not a plain decimal number" },
	{ 1, "backend add s 10.0.0.1 weight 1.5", "weight '1.5': not a plain" },
	{ 1, "backend add s 10.0.0.1 weight 1e3", "weight '1e3': not a plain" },
	{ 1, "backend add s 10.0.0.1 weight 0x10", "weight '0x10': not a plain" },
	{ 1, "backend add s 10.0.0.1 weight 010", "weight '010': leading zero" },
	{ 1, "backend add s 10.0.0.1 weight 00", "weight '00': leading zero" },
	{ 1, "backend add s 10.0.0.1 weight ''", "weight '': not a plain" },
	{ 1, "backend add s 10.0.0.1 weight ' 1'", "weight ' 1': not a plain" },
	{ 1, "backend add s 10.0.0.1 weight 1x", "weight '1x': not a plain" },
	{ 1, "backend add s 10.0.0.1 weight 4294967296", "weight '4294967296': more than" },
	{ 1, "backend add s 10.0.0.1 weight 18446744073709551617", "more than 4294967295" },
	{ 1, "backend add s 10.0.0.1 weight 99999999999999999999999999", "more than" },
	{ 1, "backend add s 10.0.0.1 deadline 1h", "deadline '1h': not a plain" },
	{ 1, "service add s tcp 192.0.2.1:80 points many", "points 'many': not a plain" },
	{ 1, "service add s tcp 192.0.2.1:80 unit -5", "unit '-5': not a plain" },
	{ 1, "service add s tcp 192.0.2.1:80 slots 1k", "slots '1k': not a plain" },
	{ 0, "backend add s 10.0.0.1 weight 0", "" },
	{ 0, "backend add s 10.0.0.1 weight 4294967295", "" },

	/* Choices. */
	{ 1, "backend add s 10.0.0.1 state sideways", "state 'sideways': not up, drain or down" },
	{ 1, "backend add s 10.0.0.1 state UP", "state 'UP'" },
	{ 1, "service add s tcp 192.0.2.1:80 mode dsr", "not nat, route, ipip or gue" },
	{ 1, "service add s tcp 192.0.2.1:80 hash 4tuple", "hash '4tuple': not 5tuple or src" },
	{ 1, "service set s on-empty refuse", "not reject, drop or pass" },
	{ 1, "service set s masquerade yes", "masquerade 'yes': not off or on" },
	{ 1, "service set s balance 1.005", "balance '1.005'" },
	{ 1, "service set s balance 1,05", "balance '1,05'" },
	{ 1, "service set s balance .5", "balance '.5'" },
	{ 1, "service set s balance 1.", "balance '1.'" },
	{ 1, "service set s balance 0", "balance '0': neither off nor above 1" },
	{ 1, "service set s balance 0.00", "balance '0.00'" },
	{ 1, "service set s balance ''", "balance ''" },
	{ 1, "service set s balance on", "balance 'on'" },
	{ 1, "service set s balance -1.05", "balance '-1.05'" },
	{ 0, "service set s balance off", "" },
	{ 0, "service set s balance 1.05", "" },
	{ 0, "service set s balance 1.1", "" },
	{ 0, "service set s balance 2", "" },
	{ 0, "service set s masquerade on", "" },
	{ 0, "service add s tcp 192.0.2.1:80 mode route", "" },
	{ 0, "service set s affinity flow", "" },
	{ 0, "service set s window 900 max-flows 5 timeout 1000", "" },
	{ 1, "service set s affinity sticky", "not ring, transition or flow" },
	{ 1, "service set s source 10.0.0.1:5", "takes no port" },
	{ 1, "service set s source route", "'route': not an address" },
	{ 1, "service set s gue-port 65536", "gue-port '65536': more than 65535" },
	{ 1, "service set s window 5m", "window '5m': not a plain decimal number" },
	{ 1, "service set s vrf", "vrf: value missing" },
	{ 1, "ring wait s 5s", "SECONDS '5s': not a plain decimal number" },
	{ 1, "ring wait s -1", "SECONDS '-1': not a plain decimal number" },
	{ 1, "ring wait s 4294967296", "more than 4294967295" },
	{ 0, "service add s udp 192.0.2.1:80 mode ipip affinity flow window 1 max-flows 0 timeout 0", "" },
	{ 0, "service set s source default vrf red gue-port 0", "" },
	{ 0, "flow flush all", "" },

	/* Seeds. */
	{ 1, "service add s tcp 192.0.2.1:80 seed random", "seed 'random': not default" },
	{ 1, "service add s tcp 192.0.2.1:80 seed 00112233445566778899aabbccddeef",
	  "not default, 32 hex digits" },
	{ 1, "service add s tcp 192.0.2.1:80 seed 00112233445566778899aabbccddeeffa",
	  "not default, 32 hex digits" },
	{ 1, "service add s tcp 192.0.2.1:80 seed 0x112233445566778899aabbccddeeff",
	  "not default, 32 hex digits" },
	{ 2, "service add s tcp 192.0.2.1:80 seed @/nowhere/seed", "ENOENT: seed @/nowhere/seed" },
	{ 1, "service add s tcp 192.0.2.1:80 seed @/dev/null", "neither 32 hex digits nor" },
	{ 0, "service add s tcp 192.0.2.1:80 seed 00112233445566778899AABBCCddeeff", "" },
	{ 0, "service add s tcp 192.0.2.1:80 seed default", "" },

	/* Keywords. */
	{ 1, "service add s tcp 192.0.2.1:80 points", "points: value missing" },
	{ 1, "service add s tcp 192.0.2.1:80 vnodes 5", "'vnodes': not an option here" },
	{ 1, "service add s tcp 192.0.2.1:80 Points 5", "'Points': not an option here" },
	{ 1, "service add s tcp 192.0.2.1:80 points 5 points 5", "points: given twice" },
	{ 1, "service add s tcp 192.0.2.1:80 seed default seed default", "seed: given twice" },
	{ 1, "backend add s 10.0.0.1 weight 5 weight 6", "weight: given twice" },
	{ 1, "backend add s 10.0.0.1 weight 5 10.0.0.2", "'10.0.0.2': not an option here" },
	{ 1, "backend add s 10.0.0.1 delete delete", "delete: given twice" },
	{ 1, "backend set s 10.0.0.1 deadline 5", "'deadline': not an option here" },
	{ 1, "backend drain s 10.0.0.1 weight 5", "'weight': not an option here" },
	{ 1, "backend drain s 10.0.0.1 state up", "'state': not an option here" },
	{ 1, "backend del s 10.0.0.1 weight 5", "'weight': neither an address nor an option" },
	{ 0, "backend add s 10.0.0.1 zone a weight 5 state drain deadline 9", "" },
	{ 0, "backend add s 10.0.0.1 deadline 9 state drain weight 5 zone a", "" },
	{ 0, "backend add s 10.0.0.1 state drain delete deadline 9", "" },
	{ 0, "backend drain s 10.0.0.1 delete deadline 9", "" },
	{ 0, "backend drain s 10.0.0.1", "" },
	{ 0, "service add s udp 192.0.2.1:80 slots 256 hash src unit 1 points 1", "" },

	/* Look-ups. */
	{ 1, "lookup tcp 192.0.2.1 192.0.2.2:80", "source 192.0.2.1: port missing" },
	{ 1, "lookup tcp 192.0.2.1:5 192.0.2.2", "destination 192.0.2.2: port missing" },
	{ 1, "lookup tcp 192.0.2.1:5 2001:db8::1:80", "port missing ([ADDRESS]:PORT)" },
	{ 1, "lookup tcp 192.0.2.1:* 192.0.2.2:80", "takes one port only" },
	{ 1, "lookup tcp 192.0.2.1:5 192.0.2.2:80 est", "'est': not an option here" },
	{ 1, "lookup tcp 192.0.2.1:5 192.0.2.2:80 vrf", "vrf: value missing" },
	{ 1, "lookup tcp 192.0.2.1:5 192.0.2.2:80 vrf red vrf red", "vrf: given twice" },
	{ 1, "lookup tcp 192.0.2.1:5 192.0.2.2:80 established established", "given twice" },
	{ 0, "lookup tcp 192.0.2.1:5 192.0.2.2:80", "" },
	{ 0, "lookup udp [2001:db8::1]:5 [2001:db8::2]:80 established", "" },
};

void test_usage(void)
{
	struct outcome outcome;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		test_begin("exit %d: chctl %s", cases[i].status, cases[i].line);
		run(cases[i].line, "", &outcome);
		expect_status(&outcome, cases[i].status);
		if (!cases[i].status)
			expect_is("stderr", outcome.err, "");
		else
			expect_in("stderr", outcome.err, cases[i].message);
		if (cases[i].status) {
			expect_is("requests", outcome.requests, "");
			expect_is("stdout", outcome.out, "");
		}
		if (cases[i].status == 1)
			expect_in("stderr", outcome.err, "Error: EINVAL: ");
		outcome_free(&outcome);
		test_end();
	}
}
