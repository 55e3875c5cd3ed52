/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Address Translation Service: which GIDs have an IP address, which IP addresses a GID
 * has. What other modules may call of ib_ats.ko.
 */
#ifndef _IB_ATS_H
#define _IB_ATS_H

#include <linux/in6.h>
#include <rdma/ib_verbs.h>

struct ib_ats_query;
struct net;

/**
 * enum ib_ats_kind - what is asked for
 * @IB_ATS_BY_ADDR: all records of an IP address: which GIDs have it
 * @IB_ATS_BY_GID: all records of a GID: which IP addresses it has
 * @IB_ATS_PRIMARY: the record of a GID's primary IP address
 * @IB_ATS_BY_SID: all records with a Service ID
 */
enum ib_ats_kind {
	IB_ATS_BY_ADDR,
	IB_ATS_BY_GID,
	IB_ATS_PRIMARY,
	IB_ATS_BY_SID,
};

/**
 * struct ib_ats_question - what is asked, and of whom
 * @kind: what is asked for
 * @ibdev: the HCA by which the SA is asked; NULL: any
 * @port: its port; 0: any
 * @net: for whom: only HCAs that this namespace may use are asked, rather by a port that
 *	one of its interfaces is on, and a port without an SA tells the addresses of its
 *	interfaces only; NULL: those of all namespaces
 * @pkey: the records' P_Key; 0: any that the port has
 * @timeout_ms: how long to try, and to wait for one's turn; a request that is under way
 *	then is waited for, too. 0: five seconds
 * @addr: for IB_ATS_BY_ADDR; an IPv4 address as ::ffff:a.b.c.d
 * @gid: for IB_ATS_BY_GID and IB_ATS_PRIMARY
 * @sid: for IB_ATS_BY_SID
 */
struct ib_ats_question {
	enum ib_ats_kind kind;
	struct ib_device *ibdev;
	u32 port;
	const struct net *net;
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
 * @gid: who has the address
 * @addr: the address; an IPv4 one as ::ffff:a.b.c.d
 * @sid: the record's Service ID
 * @pkey: its P_Key
 * @primary: the address is the primary one of the GID
 */
struct ib_ats_answer {
	union ib_gid gid;
	struct in6_addr addr;
	u64 sid;
	u16 pkey;
	bool primary;
};

/**
 * typedef ib_ats_done - called once when a query has ended
 * @context: as given to ib_ats_ask()
 * @err: 0, or -ENOENT: there is no such record; -ENETUNREACH: there is no SA, and nothing
 *	known here; -ETIMEDOUT: the SA does not answer; -EREMOTEIO: it refuses to;
 *	-ECANCELED; -ENODEV: the HCA was removed; or -ENOMEM
 * @answers: records, those of primary addresses first; valid until the function returns
 * @count: how many
 *
 * May sleep, but holds up other queries of the port. Must not call ib_ats_free() for this query.
 */
typedef void (*ib_ats_done)(void *context, int err, const struct ib_ats_answer *answers,
			    unsigned int count);

struct ib_ats_query *ib_ats_ask(const struct ib_ats_question *question, ib_ats_done done,
				void *context);
void ib_ats_free(struct ib_ats_query *query);
int ib_ats_ask_wait(const struct ib_ats_question *question, struct ib_ats_answer **answers);

#endif /* _IB_ATS_H */
