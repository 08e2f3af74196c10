/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * VRFs, by the names that services give them.
 *
 * A VRF is a number for a name: it is part of the keys of services and
 * endpoints and stays as long as a service uses the name. The device that bears
 * the name comes and goes; packets are matched through the device that bears it
 * now, so no table has to be published anew when it does.
 */
#ifndef CHS_VRF_H
#define CHS_VRF_H

#include <linux/if.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/types.h>

struct chs_net;
struct net;
struct net_device;

/* The VRF of packets in a VRF that no service names; 0 is outside of any. */
#define CHS_VRF_NONE	(-1)

/**
 * struct chs_vrf - a name that services give to a VRF
 * @by_name: in struct chs_net.vrfs_by_name
 * @by_index: in struct chs_net.vrfs_by_index, while @dev is there
 * @name: name, padded with zeros
 * @id: number that stands for the name, above 0
 * @ifindex: index of @dev; 0 while there is none
 * @dev: VRF device of that name, compared only; NULL while there is none
 * @refs: one a version of a service
 * @rcu: frees it
 *
 * All but @id and @refs is guarded by struct chs_net.vrf_lock; @ifindex is read
 * without.
 */
struct chs_vrf {
	struct rhash_head by_name;
	struct rhash_head by_index;
	char name[IFNAMSIZ];
	s32 id;
	s32 ifindex;
	const struct net_device *dev;
	refcount_t refs;
	struct rcu_head rcu;
};

int chs_vrf_init(void);
void chs_vrf_exit(void);
int chs_vrf_net_init(struct chs_net *cn);
void chs_vrf_net_exit(struct chs_net *cn);

struct chs_vrf *chs_vrf_get(struct chs_net *cn, const char *name);
void chs_vrf_hold(struct chs_vrf *vrf);
void chs_vrf_put(struct chs_net *cn, struct chs_vrf *vrf);

s32 chs_vrf_index(struct net *net, const char *name);
s32 chs_vrf_of_index(struct chs_net *cn, s32 ifindex);
s32 chs_vrf_of_device(struct net *net, const struct net_device *dev);

/**
 * chs_vrf_ifindex() - index of the device that bears a VRF's name now
 * @vrf: VRF
 *
 * Context: any, with a reference held or under RCU.
 * Return: the index, or 0 while there is no such VRF device.
 */
static inline s32 chs_vrf_ifindex(const struct chs_vrf *vrf)
{
	return READ_ONCE(vrf->ifindex);
}

#endif /* CHS_VRF_H */
