/* SPDX-License-Identifier: GPL-2.0-only */
/* Part of a service's hash space that a change moves. */
#ifndef CHS_MOVE_H
#define CHS_MOVE_H

#include <linux/types.h>

struct chs_msg;
struct chs_service;

/* The whole of a service's hash space, as a limit. */
#define CHS_MOVE_ALL	1000000

/**
 * struct chs_move - part of a service's hash space that changes owner
 * @arcs: arcs that do
 * @of: of so many
 */
struct chs_move {
	u32 arcs;
	u32 of;
};

void chs_move_count(const struct chs_service *old,
		    const struct chs_service *new, struct chs_move *move);
int chs_move_check(const char *name, const struct chs_move *move, u32 most,
		   struct chs_msg *msg);

#endif /* CHS_MOVE_H */
