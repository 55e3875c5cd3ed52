// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A port and its netdevices: its own, which was made when the port was found, and the
 * children. Events of the port come here once and are passed on to each netdevice.
 *
 * What is now true of the port (its state, its GIDs, its P_Key table) is not kept here:
 * ib_core has it in a cache that is brought up to date before an event is reported, so
 * that reading it costs no firmware command.
 */
#include "ipoib.h"
#include "ipoib_trace.h"

/* What an event has the link of each netdevice do; a negative number: nothing. A port that
 * was down and is ACTIVE again before the link's work has looked may be somewhere else in the
 * fabric. If a client re-register follows, as it mostly does, paths that are asked for already
 * are not asked for twice.
 */
static int port_event_meaning(enum ib_event_type event)
{
	switch (event) {
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_SM_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
	case IB_EVENT_LID_CHANGE:
		return IPOIB_EVENT_LIGHT;
	case IB_EVENT_PORT_ERR:
	case IB_EVENT_PKEY_CHANGE:
	case IB_EVENT_GID_CHANGE:
		return IPOIB_EVENT_CHECK;
	default:
		return -ENOMSG;
	}
}

/**
 * ipoib_port_tell() - have the links of all netdevices of a port do something
 * @port: the port
 * @event: what
 *
 * Context: any but hard interrupt.
 */
void ipoib_port_tell(struct ipoib_port *port, enum ipoib_link_event event)
{
	struct ipoib_dev *child;

	spin_lock_bh(&port->lock);
	if (port->own)
		ipoib_link_event(port->own, event);
	list_for_each_entry(child, &port->children, sibling)
		ipoib_link_event(child, event);
	spin_unlock_bh(&port->lock);
}

static void port_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct ipoib_port *port = container_of(handler, struct ipoib_port, event_handler);
	int meaning = port_event_meaning(event->event);

	if (event->element.port_num != port->number)
		return;
	trace_ipoib_port_event(port, event->event);
	if (meaning < 0)
		return;
	if (meaning == IPOIB_EVENT_LIGHT && port->fabric->reports_void)
		port->fabric->reports_void(port);
	ipoib_port_tell(port, meaning);
}

/**
 * ipoib_port_create() - make a port that has no netdevice yet
 * @ibdev: the HCA
 * @number: the port's, from 1 on
 * @fabric: the services of the kind of fabric that it is on
 *
 * Context: may sleep; without rtnl.
 * Return: the port, or an ERR_PTR.
 */
struct ipoib_port *ipoib_port_create(struct ib_device *ibdev, u32 number,
				     const struct ipoib_fabric_ops *fabric)
{
	struct ipoib_port *port;
	struct ib_port_attr attr;
	int err;

	err = ib_query_port(ibdev, number, &attr);
	if (err)
		return ERR_PTR(err);
	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return ERR_PTR(-ENOMEM);
	port->ibdev = ibdev;
	port->number = number;
	port->max_mtu = attr.max_mtu;
	port->fabric = fabric;
	spin_lock_init(&port->lock);
	INIT_LIST_HEAD(&port->children);
	err = fabric->start(port);
	if (err) {
		kfree(port);
		return ERR_PTR(err);
	}
	INIT_IB_EVENT_HANDLER(&port->event_handler, ibdev, port_event);
	ib_register_event_handler(&port->event_handler);
	return port;
}

/**
 * ipoib_port_destroy() - undo ipoib_port_create()
 * @port: the port; all its netdevices have been unregistered
 *
 * Context: may sleep.
 */
void ipoib_port_destroy(struct ipoib_port *port)
{
	ib_unregister_event_handler(&port->event_handler);
	port->fabric->stop(port);
	kfree(port);
}

/**
 * ipoib_port_enter() - a netdevice is told of its port's events from now on
 * @priv: about to be registered; its tables exist. A child holds its parent until it is freed
 *
 * Context: rtnl held.
 */
void ipoib_port_enter(struct ipoib_dev *priv)
{
	struct ipoib_port *port = priv->port;

	netdev_hold(priv->parent, &priv->parent_tracker, GFP_KERNEL);
	spin_lock_bh(&port->lock);
	if (priv->parent) {
		list_add_tail_rcu(&priv->sibling, &port->children);
		port->children_count++;
	} else {
		port->own = priv;
	}
	spin_unlock_bh(&port->lock);
}

/**
 * ipoib_port_leave() - undo ipoib_port_enter()
 * @priv: the device
 *
 * Context: rtnl held.
 */
void ipoib_port_leave(struct ipoib_dev *priv)
{
	struct ipoib_port *port = priv->port;

	spin_lock_bh(&port->lock);
	if (priv->parent) {
		list_del_rcu(&priv->sibling);
		port->children_count--;
	} else {
		port->own = NULL;
	}
	spin_unlock_bh(&port->lock);
}

/**
 * ipoib_children_up() - set the children of a port up, as its own netdevice is
 * @port: the port
 *
 * Context: rtnl held.
 */
void ipoib_children_up(struct ipoib_port *port)
{
	struct ipoib_dev *child;

	list_for_each_entry(child, &port->children, sibling)
		dev_change_flags(child->netdev, child->netdev->flags | IFF_UP, NULL);
}

/**
 * ipoib_children_down() - set the children of a port down, as its own netdevice is
 * @port: the port
 *
 * Context: rtnl held.
 */
void ipoib_children_down(struct ipoib_port *port)
{
	struct ipoib_dev *child;

	list_for_each_entry(child, &port->children, sibling)
		dev_change_flags(child->netdev, child->netdev->flags & ~IFF_UP, NULL);
}

/**
 * ipoib_children_follow_guid() - give the children the GUID that the port's own netdevice has
 * @port: the port
 *
 * Context: rtnl held. Their addresses change soon, those that are up join their groups anew.
 */
void ipoib_children_follow_guid(struct ipoib_port *port)
{
	struct ipoib_dev *child;

	list_for_each_entry(child, &port->children, sibling) {
		WRITE_ONCE(child->admin_guid, port->own->admin_guid);
		ipoib_link_event(child, IPOIB_EVENT_CHECK);
	}
}

/**
 * ipoib_port_unregister() - have all netdevices of a port unregistered
 * @port: the port
 * @list: of those to be unregistered; added to, the port's own behind its children
 *
 * Context: rtnl held.
 */
void ipoib_port_unregister(struct ipoib_port *port, struct list_head *list)
{
	struct ipoib_dev *child;

	list_for_each_entry(child, &port->children, sibling)
		unregister_netdevice_queue(child->netdev, list);
	unregister_netdevice_queue(port->own->netdev, list);
}

/**
 * ipoib_port_any_other() - whether something is true of another netdevice of the port
 * @priv: the device, of which it is not asked
 * @test: what
 * @arg: for @test
 *
 * Context: any but hard interrupt. @test is called under a spinlock.
 * Return: true if so.
 */
bool ipoib_port_any_other(struct ipoib_dev *priv,
			  bool (*test)(struct ipoib_dev *other, const void *arg),
			  const void *arg)
{
	struct ipoib_port *port = priv->port;
	struct ipoib_dev *child;
	bool found;

	spin_lock_bh(&port->lock);
	found = port->own && port->own != priv && test(port->own, arg);
	list_for_each_entry(child, &port->children, sibling) {
		if (found)
			break;
		found = child != priv && test(child, arg);
	}
	spin_unlock_bh(&port->lock);
	return found;
}
