// SPDX-License-Identifier: GPL-2.0-only
/*
 * VRF devices, which services name, and addresses, which routes prefer.
 *
 * A service is found by the index of its VRF device, which is another one when
 * a device of that name is made anew. A route's source address is cached with
 * it, and of IPv6 nothing says that it has gone.
 */
#include "vrf.h"

#include "endpoint.h"
#include "msg.h"
#include "netns.h"
#include "txn.h"

#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>

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
	dev = dev_get_by_name_rcu(net, name);
	if (dev && netif_is_l3_master(dev))
		index = dev->ifindex;
	rcu_read_unlock();
	return index;
}

static int follow(struct chs_net *cn, struct chs_txn *txn,
		  struct chs_service *svc, struct chs_msg *msg)
{
	s32 vrf = chs_vrf_index(cn->net, svc->vrf_name);

	/* While there is none of that name, the index is nobody's. */
	if (vrf < 0 || vrf == svc->vrf)
		return 0;
	return chs_txn_move(cn, txn, svc, vrf);
}

/**
 * chs_vrf_work() - find the VRF devices of services by their names again
 * @work: vrf_work of a namespace
 *
 * Context: process; may sleep.
 */
void chs_vrf_work(struct work_struct *work)
{
	struct chs_net *cn = container_of(work, struct chs_net, vrf_work);
	struct chs_msg msg = {};
	struct chs_service *svc;
	struct chs_txn txn;
	u32 at = 0;
	int err = 0;

	mutex_lock(&cn->lock);
	chs_txn_init(cn, &txn);
	while (!err && (svc = chs_table_next(chs_net_table(cn), &at))) {
		if (*svc->vrf_name)
			err = follow(cn, &txn, svc, &msg);
	}
	if (!err)
		err = chs_txn_commit(cn, &txn, false, NULL, &msg);
	chs_txn_fini(&txn);
	mutex_unlock(&cn->lock);
	if (err)
		net_warn_ratelimited("a VRF device has come and its services do not follow: error %d\n",
				     err);
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	if ((event == NETDEV_REGISTER || event == NETDEV_CHANGENAME) &&
	    netif_is_l3_master(dev))
		queue_work(chs_workqueue, &chs_net(dev_net(dev))->vrf_work);
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
