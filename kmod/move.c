// SPDX-License-Identifier: GPL-2.0-only
/* Part of a service's hash space that a change moves. */
#include "move.h"

#include "msg.h"
#include "service.h"

#include <linux/math64.h>
#include <linux/string.h>

/* Packets of its flows are none of the service's any more, or new ones to it. */
static bool has_other_key(const struct chs_service *old,
			  const struct chs_service *new)
{
	return old->proto != new->proto || old->lo != new->lo ||
	       old->hi != new->hi || !chs_addr_equal(&old->addr, &new->addr) ||
	       old->vrf != new->vrf;
}

/**
 * chs_move_count() - count the arcs that a change of a service moves
 * @old: the service before, or NULL: a new one moves nothing, for its flows had
 *	no owner
 * @new: the service after, its ring built, or NULL if it goes
 * @move: where the numbers go; both are 0 if the ring stays as it is
 *
 * Context: process, for as long as it takes to compare all arcs.
 */
void chs_move_count(const struct chs_service *old,
		    const struct chs_service *new, struct chs_move *move)
{
	const struct chs_ring *from, *to;
	bool other;

	memset(move, 0, sizeof(*move));
	other = old && new && has_other_key(old, new);
	if (!old || (new && old->ring == new->ring && !other))
		return;

	from = &old->ring->ring;
	to = new ? &new->ring->ring : NULL;
	move->of = chs_ring_moved_of(from, to);
	move->arcs = other ? move->of : chs_ring_moved(from, to);
}

/**
 * chs_move_check() - refuse a change that moves too much
 * @name: the service that it moves most of
 * @move: how much that is
 * @most: how much it may be, in parts of CHS_MOVE_ALL
 * @msg: reason of a refusal
 *
 * Context: any.
 * Return: 0 or -EDQUOT.
 */
int chs_move_check(const char *name, const struct chs_move *move, u32 most,
		   struct chs_msg *msg)
{
	u32 part;

	if ((u64)move->arcs * CHS_MOVE_ALL <= (u64)most * move->of)
		return 0;

	part = div_u64((u64)move->arcs * CHS_MOVE_ALL, move->of);
	return chs_msg_fail(msg, -EDQUOT, NULL,
			    "service %s: %u.%02u%% of its hash space would move, more than %u.%04u%%",
			    name, part / 10000, part % 10000 / 100,
			    most / 10000, most % 10000);
}
