/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Services and backends as they were at one moment.
 */
#ifndef CHCTL_SNAP_H
#define CHCTL_SNAP_H

#include "model.h"

/**
 * struct ctl_snap - services and backends of one moment
 * @services: ordered by name
 * @n_services: number of them
 * @backends: ordered by service, then as the kernel tells them
 * @n_backends: number of them
 */
struct ctl_snap {
	struct ctl_service *services;
	uint32_t n_services;
	struct ctl_backend *backends;
	uint32_t n_backends;
};

int ctl_snap_services(struct ctl_snap *snap, const char *name);
int ctl_snap_all(struct ctl_snap *snap, const char *name);
int ctl_snap_txn(struct ctl_snap *snap, const char *name, uint32_t txn);
int ctl_snap_add_service(struct ctl_snap *snap, struct ctl_service svc);
int ctl_snap_add_backend(struct ctl_snap *snap, const struct ctl_service *svc,
			 struct ctl_backend be);
const struct ctl_service *ctl_snap_find(const struct ctl_snap *snap, const char *name);
bool ctl_snap_same(const struct ctl_snap *x, const struct ctl_service *a,
		   const struct ctl_snap *y, const struct ctl_service *b);
void ctl_snap_free(struct ctl_snap *snap);

#endif /* CHCTL_SNAP_H */
