/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets that come back.
 *
 * A backend that lacks the service address and forwards sends a packet on by its
 * default route, and a router brings it here again as if a client had sent it: by
 * the same link, from the same neighbour, only its hop limit is lower. Such a
 * packet circles until its hop limit is exceeded, at whichever hop that happens.
 *
 * So what has few hops left, which few clients' packets have, is remembered for a
 * moment, and dropped if the same comes again with still fewer: at its second
 * sight. A retransmission comes with as many, a traceroute's next packet with more.
 *
 * Pure: shared, unchanged, by the module and the unit tests.
 */
#ifndef CHS_LOOP_H
#define CHS_LOOP_H

#include <linux/types.h>

/*
 * Common systems begin with 64 hops or more, so that a client would have to be 40
 * away. A circle of fewer than half of this many hops is seen.
 */
#define CHS_LOOP_TTL	24

/* Packets that are remembered; a newer one takes the place of an older one. */
#define CHS_LOOP_MARKS	64

/**
 * chs_loop_mark() - what is remembered of a packet
 * @signature: of what does not change on its way
 * @ttl: its hop limit
 * @now: time, in any unit; 24 bits of it are kept
 *
 * Context: any.
 * Return: the mark.
 */
static inline u64 chs_loop_mark(u32 signature, u8 ttl, u32 now)
{
	return (u64)signature << 32 | (u64)(now & 0xffffff) << 8 | ttl;
}

/**
 * chs_loop_seen() - whether a packet has been here a moment ago, and gone round
 * @old: an earlier packet's mark
 * @mark: this one's
 * @within: so long ago at most, in the unit of the time of both
 *
 * Context: any.
 * Return: true if both are the same, but that this one has fewer hops left.
 */
static inline bool chs_loop_seen(u64 old, u64 mark, u32 within)
{
	u32 passed = ((u32)(mark >> 8) - (u32)(old >> 8)) & 0xffffff;

	return old >> 32 == mark >> 32 && (u8)mark < (u8)old &&
	       passed <= within;
}

#endif /* CHS_LOOP_H */
