/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ICMP errors that tell of a smaller path MTU, about outer packets of modes ipip
 * and gue: which of them are obeyed.
 *
 * Anybody can send one. RFC 5927 has a host believe only those that quote a
 * packet that it may well have sent, and that tell something that may be true.
 *
 * Pure: shared, unchanged, by the module and the unit tests.
 */
#ifndef CHS_PMTU_H
#define CHS_PMTU_H

#include <linux/types.h>

#include "tuple.h"

/** enum chs_pmtu_verdict - whether an error is obeyed, or why not */
enum chs_pmtu_verdict {
	/** @CHS_PMTU_BAD_CHECKSUM: its ICMP checksum is wrong */
	CHS_PMTU_BAD_CHECKSUM,
	/** @CHS_PMTU_NOT_LOCAL: it is not addressed to this host */
	CHS_PMTU_NOT_LOCAL,
	/**
	 * @CHS_PMTU_BAD_SOURCE: the quoted outer source is not the address of
	 * this host that the error was sent to
	 */
	CHS_PMTU_BAD_SOURCE,
	/**
	 * @CHS_PMTU_WRONG_BACKEND: the quoted outer destination is no backend
	 * that the quoted flow goes to, or went to
	 */
	CHS_PMTU_WRONG_BACKEND,
	/** @CHS_PMTU_WRONG_PORT: the quoted outer ports are not the flow's */
	CHS_PMTU_WRONG_PORT,
	/** @CHS_PMTU_TOO_LOW: the MTU is below the least of the protocol */
	CHS_PMTU_TOO_LOW,
	/** @CHS_PMTU_NOT_LOWER: the MTU is not lower than the known one */
	CHS_PMTU_NOT_LOWER,
	/** @CHS_PMTU_OBEY: none of these */
	CHS_PMTU_OBEY,
};

/* Owner and former owner of a flow's arc, and the backend remembered for it. */
#define CHS_PMTU_BACKENDS	3

/**
 * struct chs_pmtu_error - an error as it came
 * @to: address that it was sent to
 * @saddr: source of the outer packet that it quotes
 * @daddr: destination of that
 * @sport: UDP source port of that; 0 in mode ipip
 * @dport: UDP destination port of that; 0 in mode ipip
 * @mtu: told, in bytes; 0 if none is
 * @sum_good: its checksum is right
 * @local: @to is an address of this host
 */
struct chs_pmtu_error {
	union chs_addr to;
	union chs_addr saddr;
	union chs_addr daddr;
	__be16 sport;
	__be16 dport;
	u32 mtu;
	bool sum_good;
	bool local;
};

/**
 * struct chs_pmtu_sent - outer packets that this host sends of the quoted flow
 * @backends: addresses that they may have been sent to; NULL for none
 * @sport: UDP source port; 0 in mode ipip
 * @dport: UDP destination port; 0 in mode ipip
 * @mtu: of the path to the backend at @error.daddr, as known, in bytes
 */
struct chs_pmtu_sent {
	const union chs_addr *backends[CHS_PMTU_BACKENDS];
	__be16 sport;
	__be16 dport;
	u32 mtu;
};

int chs_pmtu_backend(const struct chs_pmtu_error *error,
		     const struct chs_pmtu_sent *sent);
enum chs_pmtu_verdict chs_pmtu_judge(const struct chs_pmtu_error *error,
				     const struct chs_pmtu_sent *sent);

#endif /* CHS_PMTU_H */
