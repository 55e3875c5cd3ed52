/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One port of an HCA, shared by its netdevices: the port's own netdevice and its P_Key children.
 */
#ifndef _IPOIB_PORT_H
#define _IPOIB_PORT_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "ipoib_conn.h"
#include "ipoib_link.h"

struct ipoib_dev;
struct ipoib_fabric_ops;

struct ipoib_port {
	struct list_head node;		/* in a list of the port's creator */
	struct ib_device *ibdev;
	u32 number;			/* in the HCA, starting at 1 */
	enum ib_mtu max_mtu;		/* the largest MTU that the port supports */
	const struct ipoib_fabric_ops *fabric;
	void *fabric_own;		/* private to the fabric service */
	struct ib_event_handler event_handler;

	/* What the HCA has said about the port since the last event, see ipoib_port_state() */
	struct mutex look_lock;		/* guards the state; nothing nests inside */
	enum ib_port_state state;
	bool looked;			/* no event has come since; cleared without the lock */

	/* The netdevices. Writers hold rtnl and the lock, readers either of them; the children
	 * may also be read under RCU. Holders of the lock only queue work.
	 */
	spinlock_t lock;
	struct ipoib_dev *own;		/* NULL until the netdevice has its tables */
	struct list_head children;	/* ipoib_dev.sibling */
	u32 children_count;

	struct ipoib_conns conns;
};

struct ipoib_port *ipoib_port_create(struct ib_device *ibdev, u32 number,
				     const struct ipoib_fabric_ops *fabric);
void ipoib_port_destroy(struct ipoib_port *port);
enum ib_port_state ipoib_port_state(struct ipoib_port *port);
void ipoib_port_tell(struct ipoib_port *port, enum ipoib_link_event event);
void ipoib_port_enter(struct ipoib_dev *priv);
void ipoib_port_leave(struct ipoib_dev *priv);
void ipoib_children_up(struct ipoib_port *port);
void ipoib_children_down(struct ipoib_port *port);
void ipoib_children_follow_guid(struct ipoib_port *port);
void ipoib_port_unregister(struct ipoib_port *port, struct list_head *list);
bool ipoib_port_any_other(struct ipoib_dev *priv,
			  bool (*test)(struct ipoib_dev *other, const void *arg),
			  const void *arg);

#endif /* _IPOIB_PORT_H */
