// SPDX-License-Identifier: GPL-2.0-only
/* The harness: runs every test and writes TAP. */

#include "alloc.h"
#include "unit.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Failures of one test that are printed. */
#define FAILURES_SHOWN	5

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "siphash: official vectors", test_siphash },
	{ "tuple: hash is SipHash of the documented bytes", test_tuple_hash },
	{ "tuple: arc is the top bits of the hash", test_slot },
	{ "vectors: points, hashes, rings and flows of the model",
	  test_vectors },
	{ "ring: reference value", test_reference },
	{ "ring: 20,000 random rings equal a linear scan", test_ring_scan },
	{ "ring: equal positions go by identity", test_ring_scan_equal },
	{ "ring: wraps to the first point", test_ring_wrap },
	{ "ring: one backend owns all", test_ring_one },
	{ "ring: no backend, or none with weight, owns nothing",
	  test_ring_none },
	{ "ring: identities are ordered by value", test_ring_order },
	{ "ring: numeric neighbours do not share arcs", test_ring_names },
	{ "ring: weights and unit scale together", test_ring_weights_scaled },
	{ "change: a history and a fresh build give the same bits",
	  test_change_history },
	{ "change: the same with equal positions", test_change_history_equal },
	{ "change: order of additions does not matter", test_change_shuffles },
	{ "change: a weight moves arcs to or from its backend only",
	  test_change_weight },
	{ "change: backends 3 and 6, then 4, are 3:6:4",
	  test_change_fractions },
	{ "change: a ring of another key, points, unit, slots or hash",
	  test_change_prev },
	{ "change: moved arcs are counted by identity", test_change_moved },
	{ "change: a ring cut finer, or hashed anew", test_change_moved_whole },
	{ "change: to no backend and back", test_change_none },
	{ "spread: busiest backend by points", test_spread_points },
	{ "spread: shares follow weights", test_spread_weights },
	{ "spread: similar addresses", test_spread_similar },
	{ "spread: adding moves 1/(N+1)", test_spread_move_add },
	{ "spread: removing moves 1/N", test_spread_move_remove },
	{ "spread: hash modulo n moves (N-1)/N", test_spread_modulo },
	{ "balance: random rings equal a plain settlement",
	  test_balance_scan },
	{ "balance: the same with equal positions", test_balance_scan_equal },
	{ "balance: the bound holds, and moves only what it must",
	  test_balance_bound },
	{ "balance: a history and a fresh build give the same bits",
	  test_balance_change },
	{ "balance: peak and movement", test_balance_moves },
	{ "balance: few backends, few arcs", test_balance_few },
	{ "default: peak, and what removing one moves",
	  test_default_removed },
	{ "default: a weight from 100 to 99 moves less than 0.2 %",
	  test_default_weight },
	{ "default: a plain ring moves exactly the least",
	  test_default_plain },
	{ "default: a balanced one hardly more", test_default_surplus },
	{ "fail: out of range or out of order", test_fail_invalid },
	{ "fail: limits", test_fail_limits },
	{ "fail: one by one to the maximum", test_fail_growth },
	{ "fail: every allocation", test_fail_alloc },
	{ "packet: IPv4", test_packet_v4 },
	{ "packet: IPv6", test_packet_v6 },
	{ "packet: IPv6 extension headers", test_packet_ext },
	{ "packet: flags and chunks", test_packet_flags },
	{ "packet: fragments", test_packet_fragments },
	{ "packet: ICMP errors", test_packet_icmp },
	{ "packet: ways that the sender chooses", test_packet_routing },
	{ "packet: quotes that are cut off", test_packet_quote },
	{ "packet: malformed", test_packet_bad },
	{ "packet: every prefix of every packet", test_packet_prefixes },
	{ "packet: a million mutated packets", test_packet_mutated },
	{ "choice: no flow is remembered", test_choice_unpinned },
	{ "choice: one is", test_choice_pinned },
	{ "choice: one is, and nothing of it lives", test_choice_dead },
	{ "choice: what may be forgotten", test_choice_stale },
	{ "choice: when a former owner is", test_choice_over },
	{ "choice: what an arc remembers after a change", test_choice_shift },
	{ "evict: which flow gives way to which", test_evict_worth },
	{ "evict: 10,500 forged pairs of SYN and ACK", test_evict_pairs },
	{ "evict: forged packets of running flows", test_evict_rate },
	{ "affinity: histories with each hazard, and without",
	  test_affinity_hazards },
	{ "affinity: a million histories, no promise broken",
	  test_affinity_histories },
	{ "loop: the same packet with fewer hops left", test_loop_seen },
	{ "pmtu: errors about owner, former owner and remembered backend",
	  test_pmtu_obeyed },
	{ "pmtu: each condition that is not met", test_pmtu_ignored },
	{ "pmtu: the least MTU, and the known one", test_pmtu_bounds },
	{ "pmtu: of all combinations one is obeyed", test_pmtu_first },
};

static unsigned int failures;
static u64 state;

void unit_fail(const char *file, int line, const char *what)
{
	if (failures++ < FAILURES_SHOWN)
		printf("# %s:%d: not so: %s\n", file, line, what);
}

void unit_fail_eq(const char *file, int line, const char *what,
		  unsigned long long a, unsigned long long b)
{
	if (failures++ < FAILURES_SHOWN)
		printf("# %s:%d: not so: %s: %llu (0x%llx), %llu (0x%llx)\n",
		       file, line, what, a, a, b, b);
}

void unit_fail_num(const char *file, int line, const char *what, double x)
{
	if (failures++ < FAILURES_SHOWN)
		printf("# %s:%d: not so: %s: %g\n", file, line, what, x);
}

bool unit_failed(void)
{
	return failures;
}

void unit_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("# ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
}

u64 rnd(void)
{
	/* splitmix64 */
	u64 z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

u32 rnd_below(u32 n)
{
	return (rnd() >> 32) * n >> 32;
}

u32 rnd_range(u32 lo, u32 hi)
{
	return lo + rnd_below(hi - lo + 1);
}

static void seed(const char *name)
{
	const char *more = getenv("UNIT_SEED");

	for (state = 0; *name; name++)
		state = state * 1099511628211ULL + (u8)*name;
	for (; more && *more; more++)
		state = state * 1099511628211ULL + (u8)*more;
}

static bool run(size_t i)
{
	struct timespec from, to;
	long ms;

	failures = 0;
	seed(tests[i].name);
	clock_gettime(CLOCK_MONOTONIC, &from);
	tests[i].run();
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (unit_alloc_live)
		unit_fail_eq(__FILE__, __LINE__, "memory left",
			     unit_alloc_live, 0);
	unit_alloc_live = 0;

	if (failures > FAILURES_SHOWN)
		unit_note("%u more", failures - FAILURES_SHOWN);
	ms = (to.tv_sec - from.tv_sec) * 1000 +
	     (to.tv_nsec - from.tv_nsec) / 1000000;
	printf("%s %zu - %s # time=%ldms\n", failures ? "not ok" : "ok",
	       i + 1, tests[i].name, ms);
	fflush(stdout);
	return !failures;
}

/* With an argument: only the tests whose name contains it. */
int main(int argc, char **argv)
{
	bool ok = true;
	size_t i;

	printf("TAP version 13\n1..%zu\n", ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (argc > 1 && !strstr(tests[i].name, argv[1]))
			printf("ok %zu - %s # SKIP not asked for\n", i + 1,
			       tests[i].name);
		else
			ok &= run(i);
	}

	return !ok;
}
