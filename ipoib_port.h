/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One port of an HCA, which its netdevices share: the port's own, and its children.
 */
#ifndef _IPOIB_PORT_H
#define _IPOIB_PORT_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "ipoib_link.h"

struct ipoib_dev;
struct ipoib_fabric_ops;

struct ipoib_port {
	struct list_head node;		/* in the list of whoever made it */
	struct ib_device *ibdev;
	u32 number;			/* in the HCA, from 1 on */
	enum ib_mtu max_mtu;		/* the largest that it can have */
	const struct ipoib_fabric_ops *fabric;
	void *fabric_own;		/* what the fabric service keeps of the port */
	struct ib_event_handler event_handler;

	/* The netdevices; written with rtnl and lock held, read with either, the children also
	 * under RCU. Nothing but works' queues is touched with lock held.
	 */
	spinlock_t lock;
	struct ipoib_dev *own;		/* NULL until it has its tables */
	struct list_head children;	/* ipoib_dev.sibling */
	u32 children_count;
};

struct ipoib_port *ipoib_port_create(struct ib_device *ibdev, u32 number,
				     const struct ipoib_fabric_ops *fabric);
void ipoib_port_destroy(struct ipoib_port *port);
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
