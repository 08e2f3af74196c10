// SPDX-License-Identifier: GPL-2.0-only
/*
 * VRF devices, which services name, and addresses, which routes prefer.
 *
 * A service is configured with the name of its VRF and matches by a number that
 * stands for this name. The one place that knows which device bears the name is
 * the map from interface indices to these numbers, which is changed here, under
 * RTNL, before the command that renames or deletes a device returns. So no packet
 * is ever matched by the index of a device that has another name, or that has the
 * index of a device that is gone; and two services never come to have equal keys.
 *
 * A route's source address is cached with it, and of IPv6 nothing says that it has
 * gone.
 */
#include "vrf.h"

#include "endpoint.h"
#include "netns.h"

#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <net/l3mdev.h>

static const struct rhashtable_params by_name = {
	.nelem_hint = 8,
	.head_offset = offsetof(struct chs_vrf, by_name),
	.key_offset = offsetof(struct chs_vrf, name),
	.key_len = IFNAMSIZ,
	.automatic_shrinking = true,
};

static const struct rhashtable_params by_index = {
	.nelem_hint = 8,
	.head_offset = offsetof(struct chs_vrf, by_index),
	.key_offset = offsetof(struct chs_vrf, ifindex),
	.key_len = sizeof(s32),
	.automatic_shrinking = true,
};

/**
 * chs_vrf_net_init() - begin with no VRFs
 * @cn: namespace
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int chs_vrf_net_init(struct chs_net *cn)
{
	int err;

	err = rhashtable_init(&cn->vrfs_by_name, &by_name);
	if (err)
		return err;
	err = rhashtable_init(&cn->vrfs_by_index, &by_index);
	if (err) {
		rhashtable_destroy(&cn->vrfs_by_name);
		return err;
	}
	ida_init(&cn->vrf_ids);
	mutex_init(&cn->vrf_lock);
	return 0;
}

/**
 * chs_vrf_net_exit() - end, when the last VRF is gone
 * @cn: namespace
 *
 * Context: process; may sleep.
 */
void chs_vrf_net_exit(struct chs_net *cn)
{
	mutex_destroy(&cn->vrf_lock);
	ida_destroy(&cn->vrf_ids);
	rhashtable_destroy(&cn->vrfs_by_index);
	rhashtable_destroy(&cn->vrfs_by_name);
}

static struct chs_vrf *find_name(struct chs_net *cn, const char *name)
{
	char key[IFNAMSIZ];

	strscpy_pad(key, name, sizeof(key));
	return rhashtable_lookup_fast(&cn->vrfs_by_name, key, by_name);
}

static void detach(struct chs_net *cn, struct chs_vrf *vrf)
{
	lockdep_assert_held(&cn->vrf_lock);

	if (!vrf->dev)
		return;
	rhashtable_remove_fast(&cn->vrfs_by_index, &vrf->by_index, by_index);
	WRITE_ONCE(vrf->ifindex, 0);
	vrf->dev = NULL;
}

static void attach(struct chs_net *cn, struct chs_vrf *vrf,
		   const struct net_device *dev)
{
	int err;

	lockdep_assert_held(&cn->vrf_lock);

	WRITE_ONCE(vrf->ifindex, dev->ifindex);
	err = rhashtable_insert_fast(&cn->vrfs_by_index, &vrf->by_index,
				     by_index);
	if (err) {
		WRITE_ONCE(vrf->ifindex, 0);
		net_warn_ratelimited("VRF device %s has come and its services do not follow: error %d\n",
				     vrf->name, err);
		return;
	}
	vrf->dev = dev;
}

/*
 * Have the map agree with what @dev is called now, or with its being gone. That a
 * device is gone may be said more than once, when another one has its index.
 */
static bool follow(struct chs_net *cn, const struct net_device *dev, bool gone)
{
	s32 ifindex = dev->ifindex;
	struct chs_vrf *was, *is;

	lockdep_assert_held(&cn->vrf_lock);

	was = rhashtable_lookup_fast(&cn->vrfs_by_index, &ifindex, by_index);
	is = gone ? NULL : find_name(cn, dev->name);
	if (was == is && (!was || was->dev == dev))
		return false;
	if (was && (!gone || was->dev == dev))
		detach(cn, was);
	if (is) {
		detach(cn, is);
		attach(cn, is, dev);
	}
	return true;
}

/* The VRF device of a name, which may be no alternative one. */
static struct net_device *vrf_device(struct net *net, const char *name)
{
	struct net_device *dev = dev_get_by_name_rcu(net, name);

	return dev && netif_is_l3_master(dev) && !strcmp(dev->name, name) ?
	       dev : NULL;
}

/**
 * chs_vrf_get() - VRF of a name
 * @cn: namespace
 * @name: name; a device of that name need not be there
 *
 * Context: process; may sleep.
 * Return: the VRF with a reference, or NULL if there is no memory.
 */
struct chs_vrf *chs_vrf_get(struct chs_net *cn, const char *name)
{
	struct net_device *dev;
	struct chs_vrf *vrf;

	mutex_lock(&cn->vrf_lock);
	vrf = find_name(cn, name);
	if (vrf) {
		refcount_inc(&vrf->refs);
		goto out;
	}

	vrf = kzalloc(sizeof(*vrf), GFP_KERNEL_ACCOUNT);
	if (!vrf)
		goto out;
	refcount_set(&vrf->refs, 1);
	strscpy(vrf->name, name, sizeof(vrf->name));
	vrf->id = ida_alloc_min(&cn->vrf_ids, 1, GFP_KERNEL_ACCOUNT);
	if (vrf->id < 0)
		goto err_vrf;
	if (rhashtable_insert_fast(&cn->vrfs_by_name, &vrf->by_name, by_name))
		goto err_id;

	/* From now on a device that gets this name is noticed. */
	rcu_read_lock();
	dev = vrf_device(cn->net, name);
	if (dev)
		follow(cn, dev, false);
	rcu_read_unlock();
out:
	mutex_unlock(&cn->vrf_lock);
	return vrf;

err_id:
	ida_free(&cn->vrf_ids, vrf->id);
err_vrf:
	mutex_unlock(&cn->vrf_lock);
	kfree(vrf);
	return NULL;
}

/**
 * chs_vrf_hold() - take one more reference
 * @vrf: VRF, or NULL
 *
 * Context: any, with a reference held.
 */
void chs_vrf_hold(struct chs_vrf *vrf)
{
	if (vrf)
		refcount_inc(&vrf->refs);
}

/**
 * chs_vrf_put() - drop a reference
 * @cn: namespace
 * @vrf: VRF, or NULL; no packet may still see the version that held it, so that
 *	its number can be another's
 *
 * Context: process; may sleep.
 */
void chs_vrf_put(struct chs_net *cn, struct chs_vrf *vrf)
{
	if (!vrf || !refcount_dec_and_mutex_lock(&vrf->refs, &cn->vrf_lock))
		return;

	detach(cn, vrf);
	rhashtable_remove_fast(&cn->vrfs_by_name, &vrf->by_name, by_name);
	ida_free(&cn->vrf_ids, vrf->id);
	mutex_unlock(&cn->vrf_lock);
	/* Packets may be looking at it, for a device in the same bucket. */
	kfree_rcu(vrf, rcu);
}

/**
 * chs_vrf_index() - index of a VRF device
 * @net: network namespace
 * @name: its name
 *
 * Context: process.
 * Return: the index, or -ENODEV if there is no VRF device of that name.
 */
s32 chs_vrf_index(struct net *net, const char *name)
{
	struct net_device *dev;
	s32 index = -ENODEV;

	rcu_read_lock();
	dev = vrf_device(net, name);
	if (dev)
		index = dev->ifindex;
	rcu_read_unlock();
	return index;
}

/**
 * chs_vrf_of_index() - VRF that services know a device by
 * @cn: namespace
 * @ifindex: index of a VRF device
 *
 * Context: any; under RCU.
 * Return: number of the VRF, or CHS_VRF_NONE if no service names it.
 */
s32 chs_vrf_of_index(struct chs_net *cn, s32 ifindex)
{
	const struct chs_vrf *vrf;

	vrf = rhashtable_lookup(&cn->vrfs_by_index, &ifindex, by_index);
	return vrf ? vrf->id : CHS_VRF_NONE;
}

/**
 * chs_vrf_of_device() - VRF that a packet comes in or leaves by
 * @net: network namespace
 * @dev: VRF device, or one that is enslaved to a VRF or to something else
 *
 * Context: any; under RCU.
 * Return: number of the VRF, CHS_VRF_NONE if no service names it, or 0 if the
 * device is in none.
 */
s32 chs_vrf_of_device(struct net *net, const struct net_device *dev)
{
	s32 ifindex = l3mdev_master_ifindex_rcu(dev);

	return ifindex ? chs_vrf_of_index(chs_net(net), ifindex) : 0;
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct chs_net *cn = chs_net(dev_net(dev));
	bool changed;

	if (!netif_is_l3_master(dev))
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_REGISTER:
	case NETDEV_CHANGENAME:
	case NETDEV_UNREGISTER:
		mutex_lock(&cn->vrf_lock);
		changed = follow(cn, dev, event == NETDEV_UNREGISTER);
		mutex_unlock(&cn->vrf_lock);
		/* Ways to backends led through the device that it was before. */
		if (changed)
			chs_endpoint_forget_routes(cn);
		break;
	default:
		break;
	}
	return NOTIFY_DONE;
}

static int inet6addr_event(struct notifier_block *nb, unsigned long event,
			   void *ptr)
{
	const struct inet6_ifaddr *ifa = ptr;

	if (event == NETDEV_DOWN)
		chs_endpoint_forget_routes(chs_net(dev_net(ifa->idev->dev)));
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

static struct notifier_block inet6addr_notifier = {
	.notifier_call = inet6addr_event,
};

/**
 * chs_vrf_init() - once at load, when namespaces are there
 *
 * Context: process; may sleep.
 * Return: 0 or negative errno.
 */
int chs_vrf_init(void)
{
	int err;

	err = register_netdevice_notifier(&netdev_notifier);
	if (err)
		return err;

	err = register_inet6addr_notifier(&inet6addr_notifier);
	if (err)
		unregister_netdevice_notifier(&netdev_notifier);
	return err;
}

/**
 * chs_vrf_exit() - once at unload, before namespaces go
 *
 * Context: process; may sleep.
 */
void chs_vrf_exit(void)
{
	unregister_inet6addr_notifier(&inet6addr_notifier);
	unregister_netdevice_notifier(&netdev_notifier);
}
