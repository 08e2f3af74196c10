/* SPDX-License-Identifier: GPL-2.0-only */
/* VRF devices and addresses that come and go. */
#ifndef CHS_VRF_H
#define CHS_VRF_H

#include <linux/types.h>

struct net;
struct work_struct;

int chs_vrf_init(void);
void chs_vrf_exit(void);
s32 chs_vrf_index(struct net *net, const char *name);
void chs_vrf_work(struct work_struct *work);

#endif /* CHS_VRF_H */
