// SPDX-License-Identifier: GPL-2.0-only
/*
 * References to the module: while a namespace has services, rmmod(8) is refused, as
 * with those of IPVS. Namespaces of user namespaces take none: any user could keep
 * the module loaded.
 *
 * An upgrade cannot remove the services first: connections of mode nat would end
 * with them. It turns the parameter "pin" off.
 */
#include "pin.h"

#include "msg.h"
#include "netns.h"
#include "table.h"

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/rtnetlink.h>
#include <linux/rwsem.h>
#include <linux/user_namespace.h>

static bool pin = true;
/* Whether namespaces have their state; under the lock of the parameters. */
static bool ready;

static bool is_guest(const struct net *net)
{
	return net->user_ns != &init_user_ns;
}

static bool has_services(const struct chs_net *cn)
{
	return chs_net_table(cn)->n_services;
}

/**
 * chs_pin_hold() - keep the module loaded
 * @cn: namespace
 * @table: services that it has, or is to have
 * @msg: reason of a failure
 *
 * Context: process; @cn's lock held.
 * Return: 0, or -EBUSY if the module is being unloaded.
 */
int chs_pin_hold(struct chs_net *cn, const struct chs_table *table,
		 struct chs_msg *msg)
{
	lockdep_assert_held(&cn->lock);

	if (cn->pinned || is_guest(cn->net) || !table->n_services ||
	    !READ_ONCE(pin))
		return 0;
	if (!try_module_get(THIS_MODULE))
		return chs_msg_fail(msg, -EBUSY, NULL,
				    "the module is being unloaded");
	cn->pinned = true;
	return 0;
}

/**
 * chs_pin_release() - let the module go
 * @cn: namespace that goes
 *
 * Context: process, within the module's exit or what that waits for; @cn's lock
 *	held.
 */
void chs_pin_release(struct chs_net *cn)
{
	lockdep_assert_held(&cn->lock);

	if (cn->pinned)
		module_put(THIS_MODULE);
	cn->pinned = false;
}

/**
 * chs_pin_relax() - let the module go if there are no services, or "pin" is off
 * @cn: namespace
 *
 * Context: as of chs_pin_release().
 */
void chs_pin_relax(struct chs_net *cn)
{
	if (!has_services(cn) || !READ_ONCE(pin))
		chs_pin_release(cn);
}

static void pin_namespaces(void)
{
	struct chs_msg msg = {};
	struct chs_net *cn;
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net) {
		if (is_guest(net))
			continue;
		cn = chs_net(net);
		mutex_lock(&cn->lock);
		/* Fails only if the module is going, and then needs no more. */
		chs_pin_hold(cn, chs_net_table(cn), &msg);
		chs_pin_relax(cn);
		mutex_unlock(&cn->lock);
	}
	up_read(&net_rwsem);
}

static int pin_set(const char *val, const struct kernel_param *kp)
{
	int err;

	err = param_set_bool(val, kp);
	if (!err && ready)
		pin_namespaces();
	return err;
}

static const struct kernel_param_ops pin_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = pin_set,
	.get = param_get_bool,
};

module_param_cb(pin, &pin_ops, &pin, 0644);
MODULE_PARM_DESC(pin, "services keep the module from being unloaded (default: Y)");

/**
 * chs_pin_init() - once at load, when namespaces have their state
 *
 * Context: process.
 */
void chs_pin_init(void)
{
	kernel_param_lock(THIS_MODULE);
	ready = true;
	kernel_param_unlock(THIS_MODULE);
}

/**
 * chs_pin_exit() - before namespaces lose their state
 *
 * The parameter can be written until the module is gone.
 *
 * Context: process.
 */
void chs_pin_exit(void)
{
	kernel_param_lock(THIS_MODULE);
	ready = false;
	kernel_param_unlock(THIS_MODULE);
}
