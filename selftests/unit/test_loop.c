// SPDX-License-Identifier: GPL-2.0-only
/* Packets that come back, told by their marks. */

#include "loop.h"
#include "unit.h"

static bool seen(u32 signature, u8 ttl, u32 now)
{
	/* A packet with 20 hops left, at the end of the time's 24 bits. */
	return chs_loop_seen(chs_loop_mark(0xfeedbeef, 20, 0xfffffff0),
			     chs_loop_mark(signature, ttl, now), 100);
}

void test_loop_seen(void)
{
	CHECK(seen(0xfeedbeef, 19, 0xfffffff0));
	CHECK(seen(0xfeedbeef, 1, 0xfffffff0 + 100));
	/* Another, a retransmission, a traceroute's, one of long ago. */
	CHECK(!seen(0xfeedbeee, 19, 0xfffffff0));
	CHECK(!seen(0xfeedbeef, 20, 0xfffffff0));
	CHECK(!seen(0xfeedbeef, 21, 0xfffffff0));
	CHECK(!seen(0xfeedbeef, 19, 0xfffffff0 + 101));
	/* An empty place. */
	CHECK(!chs_loop_seen(0, chs_loop_mark(0, 2, 50), 100));
}
