// SPDX-License-Identifier: GPL-2.0-only
/* Load and unload, and the life of a network namespace. */
#include "deadline.h"
#include "endpoint.h"
#include "flow.h"
#include "hook.h"
#include "nat.h"
#include "netlink.h"
#include "netns.h"
#include "pin.h"
#include "ring.h"
#include "settle.h"
#include "sweep.h"
#include "txn.h"
#include "version.h"
#include "vrf.h"

#include <linux/module.h>
#include <linux/user_namespace.h>
#include <net/genetlink.h>

unsigned int chs_net_id __read_mostly;
struct workqueue_struct *chs_workqueue;
struct workqueue_struct *chs_free_workqueue;
/* Builds of rings are to end: the module waits for them, and others for it. */
bool chs_unloading;

static int __net_init net_init(struct net *net)
{
	struct chs_net *cn = chs_net(net);
	struct chs_table *table;
	int err;

	table = chs_table_clone(NULL);
	if (!table)
		return -ENOMEM;
	chs_table_seal(table);
	err = chs_endpoint_table_init(cn);
	if (err)
		goto err_table;
	err = chs_vrf_net_init(cn);
	if (err)
		goto err_endpoints;

	cn->net = net;
	cn->flows_limited = net->user_ns != &init_user_ns;
	chs_hook_init(cn);
	mutex_init(&cn->lock);
	spin_lock_init(&cn->icmp_lock);
	spin_lock_init(&cn->txns_lock);
	INIT_LIST_HEAD(&cn->txns);
	INIT_LIST_HEAD(&cn->sweeps);
	INIT_DELAYED_WORK(&cn->sweep_work, chs_sweep_work);
	INIT_DELAYED_WORK(&cn->deadline_work, chs_deadline_work);
	INIT_DELAYED_WORK(&cn->settle_work, chs_settle_work);
	RCU_INIT_POINTER(cn->table, table);
	return 0;

err_endpoints:
	chs_endpoint_table_exit(cn);
err_table:
	chs_table_free(table);
	return err;
}

/* The core waits for a grace period between this and net_exit_batch(). */
static void __net_exit net_pre_exit(struct net *net)
{
	struct chs_net *cn = chs_net(net);

	WRITE_ONCE(cn->dying, true);
	/* First of all: their transactions would ask for the hooks anew. */
	cancel_delayed_work_sync(&cn->deadline_work);
	cancel_delayed_work_sync(&cn->sweep_work);
	cancel_delayed_work_sync(&cn->settle_work);

	mutex_lock(&cn->lock);
	chs_hook_release(cn);
	chs_pin_release(cn);
	mutex_unlock(&cn->lock);
}

static void __net_exit net_clear(struct net *net)
{
	struct chs_net *cn = chs_net(net);
	struct chs_service *svc;
	struct chs_table *table;
	u32 at = 0;

	mutex_lock(&cn->lock);
	chs_txn_drop_all(cn);
	chs_sweep_drop_all(cn);
	table = chs_net_table(cn);
	RCU_INIT_POINTER(cn->table, NULL);
	mutex_unlock(&cn->lock);

	while ((svc = chs_table_next(table, &at))) {
		chs_service_free(svc);
		cond_resched();
	}
	chs_table_free(table);
	mutex_destroy(&cn->lock);
}

/* Versions on their way to be freed hold routes, which must go before here. */
static void __net_exit net_exit_batch(struct list_head *nets)
{
	struct net *net;

	rcu_barrier();
	list_for_each_entry(net, nets, exit_list) {
		chs_txn_drain(chs_net(net));
		net_clear(net);
		chs_endpoint_table_exit(chs_net(net));
		chs_vrf_net_exit(chs_net(net));
	}
}

static struct pernet_operations net_ops = {
	.init = net_init,
	.pre_exit = net_pre_exit,
	.exit_batch = net_exit_batch,
	.id = &chs_net_id,
	.size = sizeof(struct chs_net),
};

static int __init chsteer_init(void)
{
	u64 digest;
	int err;

	/* The tuple of an IPv6 flow is hashed as it lies in memory. */
	BUILD_BUG_ON(offsetof(struct chs_tuple, v6) != 40);

	/* A ring that is not the documented one would steer unlike the rest. */
	err = chs_ring_reference(&digest);
	if (err) {
		pr_err("the reference ring has digest %016llx: not loading\n",
		       digest);
		return err;
	}

	/* One namespace's items never wait for another's, of however many. */
	chs_workqueue = alloc_workqueue("chsteer", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!chs_workqueue)
		return -ENOMEM;

	err = -ENOMEM;
	chs_free_workqueue = alloc_workqueue("chsteer_free", WQ_UNBOUND, 0);
	if (!chs_free_workqueue)
		goto err_workqueue;

	err = chs_flow_init();
	if (err)
		goto err_free_workqueue;

	err = chs_nat_init();
	if (err)
		goto err_flow;

	err = register_pernet_subsys(&net_ops);
	if (err)
		goto err_nat;

	err = chs_vrf_init();
	if (err)
		goto err_pernet;

	chs_pin_init();
	err = chs_netlink_init();
	if (err)
		goto err_pin;

	pr_info("version %s, ring version %u\n", CHS_VERSION, CHS_RING_VERSION);
	return 0;

err_pin:
	chs_pin_exit();
	chs_vrf_exit();
err_pernet:
	unregister_pernet_subsys(&net_ops);
err_nat:
	chs_nat_exit();
err_flow:
	rcu_barrier();
	chs_flow_exit();
err_free_workqueue:
	destroy_workqueue(chs_free_workqueue);
err_workqueue:
	destroy_workqueue(chs_workqueue);
	return err;
}

static void __exit chsteer_exit(void)
{
	WRITE_ONCE(chs_unloading, true);
	chs_pin_exit();
	chs_netlink_exit();
	chs_vrf_exit();
	unregister_pernet_subsys(&net_ops);
	chs_nat_exit();
	/* Retired versions: first their grace periods, then their frees. */
	rcu_barrier();
	destroy_workqueue(chs_workqueue);
	destroy_workqueue(chs_free_workqueue);
	/* And then the flows that they let go of. */
	rcu_barrier();
	chs_flow_exit();
	pr_info("unloaded\n");
}

module_init(chsteer_init);
module_exit(chsteer_exit);

MODULE_DESCRIPTION("Consistent-hash connection steering");
MODULE_AUTHOR("The chsteer authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(CHS_VERSION);
MODULE_ALIAS_GENL_FAMILY("chsteer");
