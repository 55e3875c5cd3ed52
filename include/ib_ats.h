/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Address Translation Service: which GIDs have an IP address, which IP addresses a GID
 * has. What other modules may call of ib_ats.ko.
 */
#ifndef _IB_ATS_H
#define _IB_ATS_H

#include <linux/in6.h>
#include <rdma/ib_verbs.h>

#include "ib_ats_netlink.h"

struct net;
struct notifier_block;

/**
 * struct ib_ats_question - what is asked, and by which ports
 * @kind: what is asked for
 * @ibdev: the HCA by which SAs are asked; NULL: all
 * @port: its port; 0: all
 * @net: for whom: only what this namespace may use is asked, and only records of
 *	partitions that one of its interfaces is in are told, unless the HCA is in the
 *	namespace itself; NULL: no such restriction
 * @pkey: the records' P_Key; 0: any that the port has
 * @timeout_ms: how long to try, and to wait for an SA; 0: five seconds
 * @addr: for IB_ATS_KIND_ADDR; an IPv4 address as ::ffff:a.b.c.d
 * @gid: for IB_ATS_KIND_GID and IB_ATS_KIND_PRIMARY
 * @sid: for IB_ATS_KIND_SID
 */
struct ib_ats_question {
	enum ib_ats_kind kind;
	const struct ib_device *ibdev;
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
 * @ibdev: the HCA by which it was learned. To be compared with one that the caller knows:
 *	nothing holds it
 * @device: that HCA's name
 * @port: its port. The GID means something in that port's fabric alone
 * @gid: who has the address
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
 *	-ENETUNREACH: there is no SA; -ETIMEDOUT: an SA does not answer; -EREMOTEIO: it
 *	refuses to; -ECANCELED; -ENODEV: there is no port that may be asked; or -ENOMEM
 * @answers: records, those of primary addresses first; valid until the function returns
 * @count: how many; at least one if @err is 0
 *
 * Called from a workqueue. May sleep, and holds up neither registration nor other
 * questions. Must not call ib_ats_cancel() for this question.
 */
typedef void (*ib_ats_done)(void *context, int err, const struct ib_ats_answer *answers,
			    unsigned int count);

int ib_ats_ask(const struct ib_ats_question *question, gfp_t gfp, ib_ats_done done, void *context,
	       u64 *id);
void ib_ats_cancel(u64 id);

/**
 * struct ib_ats_change - a record of this host has another state
 * @record: the record; its Service ID is 0 if it has none
 * @state: the state
 *
 * What callbacks of ib_ats_register_notifier() get, with the state for an event.
 */
struct ib_ats_change {
	struct ib_ats_answer record;
	enum ib_ats_record_state state;
};

int ib_ats_register_notifier(struct notifier_block *nb);
int ib_ats_unregister_notifier(struct notifier_block *nb);

#endif /* _IB_ATS_H */
