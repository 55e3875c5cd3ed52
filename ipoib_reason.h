/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Why a netdevice has no carrier: one reason, for which an administrator can do something.
 */
#ifndef _IPOIB_REASON_H
#define _IPOIB_REASON_H

#include <rdma/ib_verbs.h>

struct ipoib_dev;

/*
 * The reasons are in the order in which a link comes up: each means that nothing before it is in
 * the way. Documentation/reference.rst has them as a table. ipoib_reason.c has their names, which are
 * part of the interface to user space.
 */
enum ipoib_reason {
	IPOIB_REASON_NONE,		/* the link runs */
	IPOIB_REASON_ADMIN_DOWN,
	IPOIB_REASON_PORT_DOWN,
	IPOIB_REASON_PORT_INIT,		/* no SM has configured the port */
	IPOIB_REASON_PORT_ARMED,	/* an SM has configured it, but not activated it */
	IPOIB_REASON_ETHERNET_DOWN,	/* of a RoCE port */
	IPOIB_REASON_NO_ADDRESS,	/* no GID of a RoCE port is one of its IPv6 addresses */
	IPOIB_REASON_NO_GID,
	IPOIB_REASON_NO_GUID,		/* the port lacks the GUID that the administrator chose */
	IPOIB_REASON_NO_PKEY,
	IPOIB_REASON_NO_QP,
	IPOIB_REASON_JOINING,		/* the first join of the broadcast group is not answered */
	IPOIB_REASON_NO_SM,		/* the port does not know where the SM is */
	IPOIB_REASON_NO_ANSWER,
	IPOIB_REASON_REFUSED,		/* ib_core does not tell why */
	IPOIB_REASON_BAD_GROUP,		/* the SA's parameters of the group are not possible here */
	IPOIB_REASON_JOIN_FAILED,	/* any other error of the join */
	IPOIB_REASON_NOT_ATTACHED,	/* the HCA does not receive from, or send to, the group */
	IPOIB_REASON_NO_BUFFERS,	/* for the group's MTU */
	IPOIB_REASON_NO_QKEY,		/* the HCA does not take the group's Q_Key */
	IPOIB_REASON_COUNT
};

/* Returns whether the reason is that the port is not ACTIVE */
static inline bool ipoib_reason_is_of_port(enum ipoib_reason reason)
{
	return reason >= IPOIB_REASON_PORT_DOWN && reason <= IPOIB_REASON_PORT_ARMED;
}

enum ipoib_reason ipoib_reason_of_port(enum ib_port_state state);
enum ipoib_reason ipoib_reason_of_idle(const struct ipoib_dev *priv);
enum ipoib_reason ipoib_reason_of_join(int status);
enum ipoib_reason ipoib_reason_now(const struct ipoib_dev *priv);
const char *ipoib_reason_name(enum ipoib_reason reason);
void ipoib_reason_log(struct ipoib_dev *priv, enum ipoib_reason reason);

#endif /* _IPOIB_REASON_H */
