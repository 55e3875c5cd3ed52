/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/*
 * The generic netlink family of the Address Translation Service for InfiniBand.
 * Documentation/netlink/specs/ib_ats.yaml describes the attributes of each command.
 */
#ifndef _UAPI_IB_ATS_NETLINK_H
#define _UAPI_IB_ATS_NETLINK_H

#define IB_ATS_GENL_NAME	"ib_ats"
#define IB_ATS_GENL_VERSION	1
#define IB_ATS_GENL_RECORDS	"records"	/* multicast group: IB_ATS_CMD_RECORD_NTF */

enum ib_ats_cmd {
	IB_ATS_CMD_UNSPEC,
	IB_ATS_CMD_RESOLVE,		/* do: who has an address, or which addresses a GID has */
	IB_ATS_CMD_RESOLVE_NTF,		/* unicast: the answer, with the request's number */
	IB_ATS_CMD_RECORD_GET,		/* do, dump: records of the namespace's interfaces */
	IB_ATS_CMD_RECORD_NTF,		/* notification: a record has changed its state */
	IB_ATS_CMD_PRIMARY_SET,		/* do: name an interface's primary address, or none */
	IB_ATS_CMD_AUDIT,		/* do: start reading back the SA's records */
	IB_ATS_CMD_STATS_GET,		/* dump: what each port has done */

	__IB_ATS_CMD_MAX,
	IB_ATS_CMD_MAX = __IB_ATS_CMD_MAX - 1
};

/* What IB_ATS_CMD_RESOLVE asks for */
enum ib_ats_kind {
	IB_ATS_KIND_ADDR,		/* all records of an IP address */
	IB_ATS_KIND_GID,		/* all records of a GID */
	IB_ATS_KIND_PRIMARY,		/* the record of a GID's primary address */
	IB_ATS_KIND_SID,		/* all records with a Service ID */

	__IB_ATS_KIND_MAX,
	IB_ATS_KIND_MAX = __IB_ATS_KIND_MAX - 1
};

/* The state of the record of an interface's address */
enum ib_ats_record_state {
	IB_ATS_RECORD_PENDING,		/* the SA does not have it yet, or that is uncertain */
	IB_ATS_RECORD_REGISTERED,	/* the SA has it */
	IB_ATS_RECORD_REFUSED,		/* the SA refused it; it is asked again */
	IB_ATS_RECORD_NO_SID,		/* no Service ID is left for it */
	IB_ATS_RECORD_QUOTA,		/* the namespace has as many records as it is allowed */
	IB_ATS_RECORD_GONE,		/* notifications only: the interface no longer has it */

	__IB_ATS_RECORD_MAX,
	IB_ATS_RECORD_MAX = __IB_ATS_RECORD_MAX - 1
};

/* The state of a port's SA */
enum ib_ats_sa_state {
	IB_ATS_SA_AWAY,			/* the port has no SA at the moment */
	IB_ATS_SA_TROUBLE,		/* it does not answer, or is busy */
	IB_ATS_SA_ONLINE,		/* it answers */

	__IB_ATS_SA_MAX,
	IB_ATS_SA_MAX = __IB_ATS_SA_MAX - 1
};

enum ib_ats_attr {
	IB_ATS_ATTR_UNSPEC,
	IB_ATS_ATTR_KIND,		/* u32, enum ib_ats_kind */
	IB_ATS_ATTR_DEVICE,		/* string: the HCA's name */
	IB_ATS_ATTR_PORT,		/* u32 */
	IB_ATS_ATTR_IFINDEX,		/* s32 */
	IB_ATS_ATTR_GID,		/* 16 octets */
	IB_ATS_ATTR_PKEY,		/* u16 */
	IB_ATS_ATTR_ADDR,		/* 16 octets; an IPv4 address as ::ffff:a.b.c.d */
	IB_ATS_ATTR_SID,		/* u64 */
	IB_ATS_ATTR_IS_PRIMARY,		/* flag: it is the primary address */
	IB_ATS_ATTR_IS_CHOICE,		/* flag: the interface's administrator chose it */
	IB_ATS_ATTR_STATE,		/* u32, enum ib_ats_record_state */
	IB_ATS_ATTR_AGE,		/* u64, milliseconds in that state */
	IB_ATS_ATTR_REFUSAL,		/* u16, the status in the MAD by which the SA refused it */
	IB_ATS_ATTR_RIVAL,		/* 16 octets: another host's GID that has the address */
	IB_ATS_ATTR_TIMEOUT,		/* u32, milliseconds */
	IB_ATS_ATTR_ERROR,		/* s32: how a question ended, 0 or a negative errno */
	IB_ATS_ATTR_SA,			/* u32, enum ib_ats_sa_state */
	IB_ATS_ATTR_COUNTERS,		/* nest of enum ib_ats_counter */
	IB_ATS_ATTR_PAD,

	__IB_ATS_ATTR_MAX,
	IB_ATS_ATTR_MAX = __IB_ATS_ATTR_MAX - 1
};

/* Counters of a port, u64 each */
enum ib_ats_counter {
	IB_ATS_COUNTER_UNSPEC,
	IB_ATS_COUNTER_SETS,		/* registrations sent */
	IB_ATS_COUNTER_DELETES,		/* deletions sent */
	IB_ATS_COUNTER_READS,		/* how often records were read back */
	IB_ATS_COUNTER_QUERIES,		/* queries sent for others */
	IB_ATS_COUNTER_TIMEOUTS,	/* requests without an answer */
	IB_ATS_COUNTER_BUSY,		/* requests that the SA was too busy for, or not sent */
	IB_ATS_COUNTER_REFUSALS,	/* requests that the SA refused */
	IB_ATS_COUNTER_REPAIRS,		/* records that were read back and found to be wrong */
	IB_ATS_COUNTER_ABANDONED,	/* deletions that were given up */
	IB_ATS_COUNTER_OVERFLOWS,	/* addresses for which no Service ID was left */
	IB_ATS_COUNTER_LEFTOVERS,	/* partitions with records from before a restart */
	IB_ATS_COUNTER_CONFLICTS,	/* addresses that were found on another host's GID, too */
	IB_ATS_COUNTER_PAD,

	__IB_ATS_COUNTER_MAX,
	IB_ATS_COUNTER_MAX = __IB_ATS_COUNTER_MAX - 1
};

#endif /* _UAPI_IB_ATS_NETLINK_H */
