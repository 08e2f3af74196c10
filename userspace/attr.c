// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of the protocol's attributes.
 *
 * The module's own sentences name field and value. Those of netlink's core,
 * about what no policy lets through, name neither; the offset that comes with
 * them leads back to the attribute in the request.
 */
#include "attr.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <linux/chsteer.h>
#include <linux/genetlink.h>

static const char *const service_names[CHS_A_SERVICE_MAX + 1] = {
	[CHS_A_SERVICE_NAME] = "name",
	[CHS_A_SERVICE_PROTO] = "protocol",
	[CHS_A_SERVICE_ADDRESS] = "address",
	[CHS_A_SERVICE_PORT] = "port",
	[CHS_A_SERVICE_PORT_END] = "port",
	[CHS_A_SERVICE_ANY_PORT] = "port *",
	[CHS_A_SERVICE_MODE] = "mode",
	[CHS_A_SERVICE_HASH] = "hash",
	[CHS_A_SERVICE_POINTS] = "points",
	[CHS_A_SERVICE_UNIT] = "unit",
	[CHS_A_SERVICE_SLOTS] = "slots",
	[CHS_A_SERVICE_BALANCE] = "balance",
	[CHS_A_SERVICE_SEED] = "seed",
	[CHS_A_SERVICE_ON_EMPTY] = "on-empty",
	[CHS_A_SERVICE_MASQUERADE] = "masquerade",
	[CHS_A_SERVICE_AFFINITY] = "affinity",
	[CHS_A_SERVICE_WINDOW] = "window",
	[CHS_A_SERVICE_MAX_FLOWS] = "max-flows",
	[CHS_A_SERVICE_TIMEOUT] = "timeout",
	[CHS_A_SERVICE_GUE_PORT] = "gue-port",
	[CHS_A_SERVICE_SOURCE] = "source address",
	[CHS_A_SERVICE_VRF] = "vrf",
};

static const char *const backend_names[CHS_A_BACKEND_MAX + 1] = {
	[CHS_A_BACKEND_ADDRESS] = "address",
	[CHS_A_BACKEND_PORT] = "port",
	[CHS_A_BACKEND_WEIGHT] = "weight",
	[CHS_A_BACKEND_STATE] = "state",
	[CHS_A_BACKEND_ZONE] = "zone",
	[CHS_A_BACKEND_DEADLINE] = "deadline",
	[CHS_A_BACKEND_DELETE] = "delete",
};

static const char *const flow_names[CHS_A_FLOW_MAX + 1] = {
	[CHS_A_FLOW_PROTO] = "protocol",
	[CHS_A_FLOW_SADDR] = "source address",
	[CHS_A_FLOW_DADDR] = "destination address",
	[CHS_A_FLOW_SPORT] = "source port",
	[CHS_A_FLOW_DPORT] = "destination port",
	[CHS_A_FLOW_VRF] = "vrf",
	[CHS_A_FLOW_CT_ZONE] = "zone",
};

static const char *const top_names[CHS_A_MAX + 1] = {
	[CHS_A_TXN] = "transaction",
	[CHS_A_FLAGS] = "flags",
	[CHS_A_SERVICE] = "service",
	[CHS_A_BACKEND] = "backend",
	[CHS_A_FLOW] = "flow",
	[CHS_A_ARC] = "arc",
};

static const struct {
	const char *const *names;
	int max;
} nests[CHS_A_MAX + 1] = {
	[CHS_A_SERVICE] = { service_names, CHS_A_SERVICE_MAX },
	[CHS_A_BACKEND] = { backend_names, CHS_A_BACKEND_MAX },
	[CHS_A_FLOW] = { flow_names, CHS_A_FLOW_MAX },
};

/* All that lib/nlattr.c says about a single attribute. */
static const char *const core_texts[] = {
	"Attribute failed policy validation",
	"Unknown attribute type",
	"Unsupported attribute",
	"invalid attribute length",
	"binary attribute size out of range",
	"integer out of range",
	"reserved bit set",
	"NLA_F_NESTED is missing",
	"NLA_F_NESTED not expected",
};

/**
 * ctl_attr_is_core_text() - tell netlink's own sentences from the module's
 * @text: sentence of an extended acknowledgement
 *
 * Return: true if it is one that does not say which field it is about.
 */
bool ctl_attr_is_core_text(const char *text)
{
	size_t i;

	for (i = 0; i < sizeof(core_texts) / sizeof(core_texts[0]); i++) {
		if (!strcmp(core_texts[i], text))
			return true;
	}
	return false;
}

/* The attribute at @offset of the message, within those from @at to @end. */
static const struct nlattr *find(const struct nlmsghdr *nlh, const char *at,
				 const char *end, uint32_t offset)
{
	const char *target = (const char *)nlh + offset;
	const struct nlattr *nla;

	while (end - at >= NLA_HDRLEN) {
		nla = (const struct nlattr *)at;
		if (nla->nla_len < NLA_HDRLEN)
			return NULL;
		if (target < at + NLA_ALIGN(nla->nla_len))
			return target >= at ? nla : NULL;
		at += NLA_ALIGN(nla->nla_len);
	}
	return NULL;
}

/* " 0" for what is a number, "" for all else. */
static void value_text(const struct nlattr *nla, bool big_endian, char *buf, size_t size)
{
	uint32_t value;

	if (nla_len(nla) == 1)
		value = nla_get_u8(nla);
	else if (nla_len(nla) == 2)
		value = big_endian ? ntohs(nla_get_u16(nla)) : nla_get_u16(nla);
	else if (nla_len(nla) == 4)
		value = nla_get_u32(nla);
	else
		return;
	snprintf(buf, size, " %u", value);
}

/* " (1 to 4096)" if the policy has a range. */
static void range_text(const struct nlattr *policy, char *buf, size_t size)
{
	struct nlattr *tb[NL_POLICY_TYPE_ATTR_MAX + 1];
	struct nlattr *min, *max;

	if (!policy || nla_parse_nested(tb, NL_POLICY_TYPE_ATTR_MAX,
					(struct nlattr *)policy, NULL))
		return;
	min = tb[NL_POLICY_TYPE_ATTR_MIN_VALUE_U];
	max = tb[NL_POLICY_TYPE_ATTR_MAX_VALUE_U];
	if (min && max && nla_len(min) >= 8 && nla_len(max) >= 8)
		snprintf(buf, size, " (%llu to %llu)",
			 (unsigned long long)nla_get_u64(min),
			 (unsigned long long)nla_get_u64(max));
}

static const char *name_of(const char *const *names, int max, int type)
{
	return type <= max && names[type] ? names[type] : "an attribute";
}

/**
 * ctl_attr_describe() - name and value of an attribute
 * @nlh: the request
 * @offset: where the attribute is in it
 * @policy: nested policy that came with the refusal, or NULL
 * @buf: where the text goes, ending in ": "; empty if nothing is found
 * @size: room there
 */
void ctl_attr_describe(const struct nlmsghdr *nlh, uint32_t offset,
		       const struct nlattr *policy, char *buf, size_t size)
{
	const char *end = (const char *)nlh + nlh->nlmsg_len, *name;
	const struct nlattr *nla, *inner = NULL;
	char value[16] = "", range[64] = "";
	int type;

	nla = find(nlh, (const char *)nlh + NLMSG_HDRLEN + GENL_HDRLEN, end, offset);
	if (!nla)
		return;

	type = nla_type(nla);
	name = name_of(top_names, CHS_A_MAX, type);
	if (type <= CHS_A_MAX && nests[type].names)
		inner = find(nlh, nla_data(nla), (const char *)nla + nla->nla_len, offset);
	if (inner) {
		name = name_of(nests[type].names, nests[type].max, nla_type(inner));
		/* Strings of these lengths exist too. */
		if (strcmp(name, "name") && strcmp(name, "zone") && strcmp(name, "vrf") &&
		    !strstr(name, "address"))
			value_text(inner, strstr(name, "port"), value, sizeof(value));
	}
	range_text(policy, range, sizeof(range));
	snprintf(buf, size, "%s%s%s: ", name, value, range);
}
