/* SPDX-License-Identifier: GPL-2.0-only */
/* Wire format of SCTP as the kernel's header has it. */
#ifndef CHS_SHIM_LINUX_SCTP_H
#define CHS_SHIM_LINUX_SCTP_H

#include <linux/types.h>

struct sctphdr {
	__be16 source;
	__be16 dest;
	__be32 vtag;
	__le32 checksum;
};

struct sctp_chunkhdr {
	__u8 type;
	__u8 flags;
	__be16 length;
};

enum sctp_cid {
	SCTP_CID_INIT = 1,
	SCTP_CID_ABORT = 6,
	SCTP_CID_SHUTDOWN = 7,
	SCTP_CID_SHUTDOWN_ACK = 8,
	SCTP_CID_COOKIE_ECHO = 10,
	SCTP_CID_SHUTDOWN_COMPLETE = 14,
};

#endif /* CHS_SHIM_LINUX_SCTP_H */
