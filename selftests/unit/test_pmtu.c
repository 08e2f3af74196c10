// SPDX-License-Identifier: GPL-2.0-only
/* ICMP errors about a path's MTU: which are obeyed. */

#include "pmtu.h"
#include "unit.h"

#include <string.h>

#define MTU	1400
#define KNOWN	1500
#define SPORT	0xc123
#define DPORT	6080

/* An address of this test: @n tells one from another. */
static union chs_addr address(bool v6, u8 n)
{
	union chs_addr addr = { .b = { 0x20, 1, 0xd, 0xb8, [15] = n } };

	if (!v6)
		chs_addr_set_v4(&addr, htonl(0xc6336400 | n));
	return addr;
}

enum { DIRECTOR = 1, OTHER, OWNER, FORMER, REMEMBERED, STRANGER };

struct scene {
	union chs_addr backends[CHS_PMTU_BACKENDS];
	struct chs_pmtu_error error;
	struct chs_pmtu_sent sent;
};

/* An error that there is nothing wrong with. */
static void set(struct scene *s, bool v6, bool gue)
{
	int i;

	memset(s, 0, sizeof(*s));
	s->error.to = address(v6, DIRECTOR);
	s->error.saddr = address(v6, DIRECTOR);
	s->error.daddr = address(v6, OWNER);
	s->error.mtu = MTU;
	s->error.sum_good = true;
	s->error.local = true;
	s->sent.mtu = KNOWN;
	for (i = 0; i < CHS_PMTU_BACKENDS; i++) {
		s->backends[i] = address(v6, OWNER + i);
		s->sent.backends[i] = &s->backends[i];
	}
	if (gue) {
		s->error.sport = s->sent.sport = htons(SPORT);
		s->error.dport = s->sent.dport = htons(DPORT);
	}
}

static enum chs_pmtu_verdict judge(const struct scene *s)
{
	return chs_pmtu_judge(&s->error, &s->sent);
}

void test_pmtu_obeyed(void)
{
	struct scene s;
	int i, k;

	for (i = 0; i < 4; i++) {
		for (k = 0; k < CHS_PMTU_BACKENDS; k++) {
			set(&s, i & 1, i & 2);
			s.error.daddr = address(i & 1, OWNER + k);
			CHECK_EQ(judge(&s), CHS_PMTU_OBEY);
			CHECK_EQ(chs_pmtu_backend(&s.error, &s.sent), k);
			/* One that is not there is nobody's. */
			s.sent.backends[k] = NULL;
			CHECK_EQ(judge(&s), CHS_PMTU_WRONG_BACKEND);
		}
	}
}

void test_pmtu_ignored(void)
{
	struct scene s;
	int i;

	for (i = 0; i < 4; i++) {
		const bool v6 = i & 1, gue = i & 2;

		set(&s, v6, gue);
		s.error.sum_good = false;
		CHECK_EQ(judge(&s), CHS_PMTU_BAD_CHECKSUM);

		set(&s, v6, gue);
		s.error.local = false;
		CHECK_EQ(judge(&s), CHS_PMTU_NOT_LOCAL);

		/* Also another address of this host. */
		set(&s, v6, gue);
		s.error.saddr = address(v6, OTHER);
		CHECK_EQ(judge(&s), CHS_PMTU_BAD_SOURCE);

		set(&s, v6, gue);
		s.error.daddr = address(v6, STRANGER);
		CHECK_EQ(judge(&s), CHS_PMTU_WRONG_BACKEND);

		/* No address of the other family is one of these. */
		set(&s, v6, gue);
		s.error.daddr = address(!v6, OWNER);
		CHECK_EQ(judge(&s), CHS_PMTU_WRONG_BACKEND);

		set(&s, v6, gue);
		s.error.sport = htons(SPORT + 1);
		CHECK_EQ(judge(&s), CHS_PMTU_WRONG_PORT);

		set(&s, v6, gue);
		s.error.dport = htons(DPORT + 1);
		CHECK_EQ(judge(&s), CHS_PMTU_WRONG_PORT);
	}
}

static enum chs_pmtu_verdict judge_mtu(bool v6, u32 mtu, u32 known)
{
	struct scene s;

	set(&s, v6, false);
	s.error.mtu = mtu;
	s.sent.mtu = known;
	return judge(&s);
}

void test_pmtu_bounds(void)
{
	/* RFC 791, RFC 8200. */
	CHECK_EQ(judge_mtu(false, 0, KNOWN), CHS_PMTU_TOO_LOW);
	CHECK_EQ(judge_mtu(false, 67, KNOWN), CHS_PMTU_TOO_LOW);
	CHECK_EQ(judge_mtu(false, 68, KNOWN), CHS_PMTU_OBEY);
	CHECK_EQ(judge_mtu(true, 0, KNOWN), CHS_PMTU_TOO_LOW);
	CHECK_EQ(judge_mtu(true, 1279, KNOWN), CHS_PMTU_TOO_LOW);
	CHECK_EQ(judge_mtu(true, 1280, KNOWN), CHS_PMTU_OBEY);

	CHECK_EQ(judge_mtu(true, KNOWN - 1, KNOWN), CHS_PMTU_OBEY);
	CHECK_EQ(judge_mtu(true, KNOWN, KNOWN), CHS_PMTU_NOT_LOWER);
	CHECK_EQ(judge_mtu(false, KNOWN + 1, KNOWN), CHS_PMTU_NOT_LOWER);
	CHECK_EQ(judge_mtu(true, 0xffffffff, KNOWN), CHS_PMTU_NOT_LOWER);
	/* Without a way to the backend none is known. */
	CHECK_EQ(judge_mtu(false, MTU, 0), CHS_PMTU_NOT_LOWER);
	CHECK_EQ(judge_mtu(true, 1280, 1280), CHS_PMTU_NOT_LOWER);
}

/* The first condition that is not met is the one that is told. */
void test_pmtu_first(void)
{
	struct scene s;
	int wrong, first;

	for (wrong = 0; wrong < 1 << 7; wrong++) {
		set(&s, false, true);
		s.error.sum_good = !(wrong & 1);
		s.error.local = !(wrong & 2);
		if (wrong & 4)
			s.error.saddr = address(false, OTHER);
		if (wrong & 8)
			s.error.daddr = address(false, STRANGER);
		if (wrong & 16)
			s.error.sport = 0;
		if (wrong & 32)
			s.error.mtu = 67;
		if (wrong & 64)
			s.sent.mtu = 67;
		for (first = 0; first < 7 && !(wrong & 1 << first); first++)
			;
		CHECK_EQ(judge(&s), (enum chs_pmtu_verdict)first);
	}
}
