// SPDX-License-Identifier: GPL-2.0-only
/*
 * chctl --version
 */
#include <errno.h>

#include "cmd.h"
#include "err.h"
#include "out.h"
#include "version.h"

/* Last: its types stand in for the kernel's. */
#include "ring.h"

/**
 * struct module - what the module says of itself
 * @told: whether it did
 * @version: its version
 * @ring_version: version of its ring
 * @reference: digest of its reference ring
 */
struct module {
	bool told;
	char version[32];
	uint32_t ring_version;
	uint64_t reference;
};

static int take_info(struct nlattr **tb, void *arg)
{
	struct nlattr *a[CHS_A_INFO_MAX + 1];
	struct module *module = arg;

	if (!tb[CHS_A_INFO] || nla_parse_nested(a, CHS_A_INFO_MAX, tb[CHS_A_INFO], NULL) ||
	    !a[CHS_A_INFO_MODULE_VERSION] || !a[CHS_A_INFO_RING_VERSION] ||
	    nla_len(a[CHS_A_INFO_RING_VERSION]) < 4 || !a[CHS_A_INFO_RING_REFERENCE] ||
	    nla_len(a[CHS_A_INFO_RING_REFERENCE]) < 8)
		return ctl_bad_reply();

	nla_strlcpy(module->version, a[CHS_A_INFO_MODULE_VERSION], sizeof(module->version));
	module->ring_version = nla_get_u32(a[CHS_A_INFO_RING_VERSION]);
	module->reference = nla_get_u64(a[CHS_A_INFO_RING_REFERENCE]);
	module->told = true;
	return CTL_OK;
}

static int ask_module(struct module *module)
{
	struct nl_msg *msg = ctl_nl_msg(CHS_CMD_INFO_GET, 0);
	int ret;

	ret = msg ? ctl_nl_do(msg, take_info, module) : CTL_FAILED;
	return ret || module->told ? ret : ctl_bad_reply();
}

static void show_json(const struct module *module, uint64_t reference)
{
	ctl_out_open(CTL_OUT_OBJECT, NULL);
	ctl_out_str(CTL_OUT_JSON, "tool", CHS_VERSION);
	ctl_out_u64(CTL_OUT_JSON, "ring_version", CHS_RING_VERSION);
	ctl_out_hex(CTL_OUT_JSON, "ring_reference", reference);
	if (module->told) {
		ctl_out_str(CTL_OUT_JSON, "module", module->version);
		ctl_out_u64(CTL_OUT_JSON, "module_ring_version", module->ring_version);
		ctl_out_hex(CTL_OUT_JSON, "module_ring_reference", module->reference);
	} else {
		ctl_out_null(CTL_OUT_JSON, "module");
		ctl_out_null(CTL_OUT_JSON, "module_ring_version");
		ctl_out_null(CTL_OUT_JSON, "module_ring_reference");
	}
	ctl_out_close();
}

static void show_text(const struct module *module, uint64_t reference)
{
	printf("chctl %s, ring version %d, reference %016llx\n", CHS_VERSION, CHS_RING_VERSION,
	       (unsigned long long)reference);
	if (module->told)
		printf("module chsteer %s, ring version %u, reference %016llx\n", module->version,
		       module->ring_version, (unsigned long long)module->reference);
	else
		puts("module chsteer is not loaded");
}

/**
 * ctl_version() - versions of tool, module and ring
 *
 * Return: CTL_OK; CTL_FAILED also if the module is not loaded, or if tool and module
 * do not steer alike.
 */
int ctl_version(void)
{
	struct module module = {};
	uint64_t reference;
	__u64 digest;
	int ret;

	ret = -chs_ring_reference(&digest);
	if (ret)
		return ctl_fail(ret, "%s", ret == EUCLEAN ?
				"this build of the tool does not compute ring version 1" :
				"cannot build the reference ring");
	reference = digest;
	/* Without a module the tool's own versions are shown all the same. */
	ret = ask_module(&module);
	if (ret && ctl_err_code() != CTL_ENOMODULE)
		return ret;

	if (ctl_out_is_json())
		show_json(&module, reference);
	else
		show_text(&module, reference);
	if (module.told && (module.ring_version != CHS_RING_VERSION ||
			    module.reference != reference))
		return ctl_fail(CTL_EMISMATCH,
				"tool and module steer differently: install both from one version, and load the module anew");
	return ret;
}
