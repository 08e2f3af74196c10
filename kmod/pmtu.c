// SPDX-License-Identifier: GPL-2.0-only
/* ICMP errors about a path's MTU: those that are obeyed, by RFC 5927. */
#include "pmtu.h"

/*
 * The least that a path takes: RFC 791, RFC 8200. IPv4 does not believe less than
 * its sysctl min_pmtu either, and fragments then.
 */
#define MIN_V4	68
#define MIN_V6	1280

/**
 * chs_pmtu_backend() - the backend that an error is about
 * @error: the error
 * @sent: what this host sends
 *
 * Context: any.
 * Return: index in @sent->backends, or -1.
 */
int chs_pmtu_backend(const struct chs_pmtu_error *error,
		     const struct chs_pmtu_sent *sent)
{
	int i;

	for (i = 0; i < CHS_PMTU_BACKENDS; i++) {
		if (sent->backends[i] &&
		    chs_addr_equal(sent->backends[i], &error->daddr))
			return i;
	}
	return -1;
}

/**
 * chs_pmtu_judge() - whether an error is obeyed
 * @error: the error
 * @sent: what this host sends
 *
 * Context: any.
 * Return: CHS_PMTU_OBEY, or the first reason not to.
 */
enum chs_pmtu_verdict chs_pmtu_judge(const struct chs_pmtu_error *error,
				     const struct chs_pmtu_sent *sent)
{
	u32 min = chs_addr_is_v4(&error->daddr) ? MIN_V4 : MIN_V6;

	if (!error->sum_good)
		return CHS_PMTU_BAD_CHECKSUM;
	if (!error->local)
		return CHS_PMTU_NOT_LOCAL;
	/* An error is sent to where the packet came from. */
	if (!chs_addr_equal(&error->saddr, &error->to))
		return CHS_PMTU_BAD_SOURCE;
	if (chs_pmtu_backend(error, sent) < 0)
		return CHS_PMTU_WRONG_BACKEND;
	if (error->sport != sent->sport || error->dport != sent->dport)
		return CHS_PMTU_WRONG_PORT;
	if (error->mtu < min)
		return CHS_PMTU_TOO_LOW;
	if (error->mtu >= sent->mtu)
		return CHS_PMTU_NOT_LOWER;
	return CHS_PMTU_OBEY;
}
