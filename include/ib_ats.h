/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Address Translation Service: which GIDs have an IP address, and which IP addresses a GID
 * has. The interface of ib_ats.ko for other modules.
 */
#ifndef _IB_ATS_H
#define _IB_ATS_H

#include <linux/in6.h>
#include <rdma/ib_verbs.h>

#include "ib_ats_netlink.h"

struct net;
struct notifier_block;

/**
 * struct ib_ats_question - what to look for, and through which ports
 * @kind: what is requested
 * @ibdev: the HCA through which SAs are queried; NULL: all HCAs
 * @device: its name; empty: any
 * @port: its port; 0: all ports
 * @net: the network namespace of the asker: only ports that it may use are queried, and only
 *	records of partitions that one of its interfaces is in are returned, unless the HCA
 *	is in the namespace itself; NULL: no such restriction. ib_ats_ask() takes a
 *	reference until the ports have been queried
 * @pkey: the P_Key of the records, compared in all 16 bits; 0: any that the port has
 * @timeout_ms: how long to try, and to wait for an SA, in milliseconds; 0: five seconds
 * @addr: for IB_ATS_KIND_ADDR; an IPv4 address as ::ffff:a.b.c.d
 * @gid: for IB_ATS_KIND_GID and IB_ATS_KIND_PRIMARY
 * @sid: for IB_ATS_KIND_SID
 */
struct ib_ats_question {
	enum ib_ats_kind kind;
	const struct ib_device *ibdev;
	char device[IB_DEVICE_NAME_MAX];
	u32 port;
	struct net *net;
	u16 pkey;
	u32 timeout_ms;
	union {
		struct in6_addr addr;
		union ib_gid gid;
		u64 sid;
	};
};

/**
 * struct ib_ats_answer - one record
 * @ibdev: the HCA through which it was learned. No reference is held: the caller may only
 *	compare the pointer with that of an HCA that it knows
 * @device: the name of that HCA
 * @port: its port. The GID has a meaning only in the fabric of that port
 * @gid: the GID that has the address
 * @addr: the address; an IPv4 one as ::ffff:a.b.c.d
 * @sid: the record's Service ID
 * @pkey: its P_Key
 * @primary: the address is the primary one of the GID
 */
struct ib_ats_answer {
	const struct ib_device *ibdev;
	char device[IB_DEVICE_NAME_MAX];
	u32 port;
	union ib_gid gid;
	struct in6_addr addr;
	u64 sid;
	u16 pkey;
	bool primary;
};

/**
 * typedef ib_ats_done - called once when a question has ended
 * @context: as given to ib_ats_ask()
 * @err: 0, or -ENOENT: the SA of every port says that there is no such record;
 *	-ENETUNREACH: there is no SA; -ETIMEDOUT: an SA does not answer; -EREMOTEIO: an SA
 *	refuses to answer; -ECANCELED; -ENODEV: there is no port that may be queried; or
 *	-ENOMEM, even if there are some answers
 * @answers: records, those of primary addresses first; valid until the function returns
 * @count: number of records; at least one if @err is 0
 *
 * Called from a workqueue. It may sleep, which delays neither registration nor other
 * questions. It must not call ib_ats_cancel() for this question.
 */
typedef void (*ib_ats_done)(void *context, int err, const struct ib_ats_answer *answers,
			    unsigned int count);

int ib_ats_ask(const struct ib_ats_question *question, gfp_t gfp, ib_ats_done done, void *context,
	       u64 *id);
void ib_ats_cancel(u64 id);

/**
 * struct ib_ats_change - a record of this host has changed its state
 * @record: the record; its Service ID is 0 if it has none
 * @state: the new state
 *
 * Callbacks of ib_ats_register_notifier() get this as data, and the state as event.
 */
struct ib_ats_change {
	struct ib_ats_answer record;
	enum ib_ats_record_state state;
};

int ib_ats_register_notifier(struct notifier_block *nb);
int ib_ats_unregister_notifier(struct notifier_block *nb);

#endif /* _IB_ATS_H */
