/* SPDX-License-Identifier: GPL-2.0-only */
/* A small harness: named tests, checks, and numbers that look random. */
#ifndef UNIT_H
#define UNIT_H

#include <stdio.h>

#include <linux/kernel.h>
#include <linux/types.h>

#define CHECK(cond)							\
	do {								\
		if (!(cond))						\
			unit_fail(__FILE__, __LINE__, #cond);		\
	} while (0)

/* Two integers that have to be equal; says what they are. */
#define CHECK_EQ(a, b)							\
	do {								\
		const unsigned long long a_ = (a), b_ = (b);		\
									\
		if (a_ != b_)						\
			unit_fail_eq(__FILE__, __LINE__, #a " == " #b,	\
				     a_, b_);				\
	} while (0)

#define CHECK_BETWEEN(x, lo, hi)					\
	do {								\
		const double x_ = (x);					\
									\
		if (!(x_ >= (lo) && x_ <= (hi)))			\
			unit_fail_num(__FILE__, __LINE__,		\
				      #lo " <= " #x " <= " #hi, x_);	\
	} while (0)

void unit_fail(const char *file, int line, const char *what);
void unit_fail_eq(const char *file, int line, const char *what,
		  unsigned long long a, unsigned long long b);
void unit_fail_num(const char *file, int line, const char *what, double x);
/* Whether the running test has failed. */
bool unit_failed(void);
/* A line of explanation in the output. */
void unit_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Seeded from the test's name, so that tests do not depend on their order. */
u64 rnd(void);
/* From 0 to @n - 1. */
u32 rnd_below(u32 n);
/* From @lo to @hi. */
u32 rnd_range(u32 lo, u32 hi);

/* test_hash.c */
void test_siphash(void);
void test_tuple_hash(void);
void test_slot(void);

/* test_vectors.c */
void test_vectors(void);

/* test_ring.c */
void test_reference(void);
void test_ring_scan(void);
void test_ring_scan_equal(void);
void test_ring_wrap(void);
void test_ring_one(void);
void test_ring_none(void);
void test_ring_order(void);
void test_ring_names(void);
void test_ring_weights_scaled(void);

/* test_change.c */
void test_change_history(void);
void test_change_history_equal(void);
void test_change_shuffles(void);
void test_change_weight(void);
void test_change_fractions(void);
void test_change_prev(void);
void test_change_moved(void);
void test_change_moved_whole(void);
void test_change_none(void);

/* test_spread.c */
void test_spread_points(void);
void test_spread_weights(void);
void test_spread_similar(void);
void test_spread_move_add(void);
void test_spread_move_remove(void);
void test_spread_modulo(void);

/* test_balance.c */
void test_balance_scan(void);
void test_balance_scan_equal(void);
void test_balance_bound(void);
void test_balance_change(void);
void test_balance_moves(void);
void test_balance_few(void);

/* test_default.c */
void test_default_removed(void);
void test_default_weight(void);
void test_default_plain(void);
void test_default_surplus(void);

/* test_fail.c */
void test_fail_invalid(void);
void test_fail_limits(void);
void test_fail_growth(void);
void test_fail_alloc(void);

/* test_packet.c */
void test_packet_v4(void);
void test_packet_v6(void);
void test_packet_ext(void);
void test_packet_flags(void);
void test_packet_fragments(void);
void test_packet_icmp(void);
void test_packet_routing(void);
void test_packet_quote(void);
void test_packet_bad(void);
void test_packet_prefixes(void);
void test_packet_mutated(void);

/* test_choice.c */
void test_choice_unpinned(void);
void test_choice_pinned(void);
void test_choice_dead(void);
void test_choice_stale(void);
void test_choice_over(void);
void test_choice_shift(void);

/* test_evict.c */
void test_evict_worth(void);
void test_evict_pairs(void);
void test_evict_rate(void);

/* test_affinity.c */
void test_affinity_hazards(void);
void test_affinity_histories(void);

/* test_loop.c */
void test_loop_seen(void);

/* test_pmtu.c */
void test_pmtu_obeyed(void);
void test_pmtu_ignored(void);
void test_pmtu_bounds(void);
void test_pmtu_first(void);

#endif /* UNIT_H */
