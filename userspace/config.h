/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A configuration file read without a kernel.
 */
#ifndef CHCTL_CONFIG_H
#define CHCTL_CONFIG_H

#include "snap.h"

int ctl_config_load(const char *file, struct ctl_snap *snap);
int ctl_config_pick(const struct ctl_snap *snap, const char *file, const char *name,
		    const struct ctl_service **svc);

#endif /* CHCTL_CONFIG_H */
