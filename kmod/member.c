// SPDX-License-Identifier: GPL-2.0-only
/* State of a backend that all versions of its service share. */
#include "member.h"

#include "stats.h"

#include <linux/slab.h>

/**
 * chs_member_alloc() - make one, with counters that stand at zero
 * @id: identity
 *
 * Context: process; may sleep.
 * Return: the member with one reference, or NULL.
 */
struct chs_member *chs_member_alloc(const struct chs_ring_id *id)
{
	struct chs_member *member;

	member = kzalloc(sizeof(*member), GFP_KERNEL_ACCOUNT);
	if (!member)
		return NULL;

	member->stats = chs_stats_alloc(false);
	if (!member->stats) {
		kfree(member);
		return NULL;
	}
	member->id = *id;
	refcount_set(&member->refs, 1);
	return member;
}

/**
 * chs_member_get() - take a reference
 * @member: member
 *
 * Context: any, with a reference held or under RCU by a version that holds one.
 * Return: @member.
 */
struct chs_member *chs_member_get(struct chs_member *member)
{
	refcount_inc(&member->refs);
	return member;
}

/**
 * chs_member_put() - drop a reference
 * @member: member, or NULL
 *
 * Context: any; no packet may still see who held it.
 */
void chs_member_put(struct chs_member *member)
{
	if (!member || !refcount_dec_and_test(&member->refs))
		return;

	chs_stats_put(member->stats);
	kfree(member);
}
