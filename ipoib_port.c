// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A port and its netdevices: its own, which is created when the port is found, and the
 * children. Events of the port are received here once and passed on to each netdevice.
 *
 * The port's GIDs and its P_Key table are not stored here, but read from ib_core's cache. ib_core
 * updates the cache before it reports an event, and reading it costs no firmware command.
 */
#include "ipoib.h"
#include "ipoib_trace.h"

/* Returns the event for the links of the port's netdevices, or a negative number for none. If a
 * port was down and is ACTIVE again before the link's work runs, it may have been moved to another
 * place in the fabric; hence the light flush. A client reregistration usually follows: paths for
 * which no query has been sent by then are not queried twice.
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
 * ipoib_port_state() - get the state of a port
 * @port: the port
 *
 * The HCA is asked, which costs a firmware command, by the first netdevice that needs the state
 * after an event. ib_core's cache is not used: its updates for several events run at the same time,
 * and each stores the state that it has read before it reads the P_Key table. So the last one may
 * store the oldest state, for example INIT after ACTIVE.
 *
 * Context: may sleep.
 * Return: the state, or IB_PORT_NOP if the HCA does not tell.
 */
enum ib_port_state ipoib_port_state(struct ipoib_port *port)
{
	struct ib_port_attr attr;
	enum ib_port_state state;

	mutex_lock(&port->look_lock);
	if (!READ_ONCE(port->looked)) {
		/* An event that comes while the HCA is asked clears it again */
		smp_store_mb(port->looked, true);
		port->state = ib_query_port(port->ibdev, port->number, &attr) ? IB_PORT_NOP :
										attr.state;
	}
	state = port->state;
	mutex_unlock(&port->look_lock);
	return state;
}

/**
 * ipoib_port_tell() - report an event to the links of all netdevices of a port
 * @port: the port
 * @event: the event
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

	if (event->event == IB_EVENT_DEVICE_FATAL)
		ipoib_conns_hca_died(port);
	if (event->element.port_num != port->number)
		return;
	trace_ipoib_port_event(port, event->event);
	if (meaning < 0)
		return;
	WRITE_ONCE(port->looked, false);
	if (meaning == IPOIB_EVENT_LIGHT && port->fabric->reports_void)
		port->fabric->reports_void(port);
	ipoib_port_tell(port, meaning);
}

/**
 * ipoib_port_create() - create a port without netdevices
 * @ibdev: the HCA
 * @number: number of the port, starting at 1
 * @fabric: the services of the fabric that the port is connected to
 *
 * Context: may sleep; rtnl must not be held.
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
	mutex_init(&port->look_lock);
	spin_lock_init(&port->lock);
	INIT_LIST_HEAD(&port->children);
	err = ipoib_conns_create(port);
	if (err)
		goto err_port;
	err = fabric->start(port);
	if (err)
		goto err_conns;
	INIT_IB_EVENT_HANDLER(&port->event_handler, ibdev, port_event);
	ib_register_event_handler(&port->event_handler);
	return port;

err_conns:
	ipoib_conns_destroy(port);
err_port:
	kfree(port);
	return ERR_PTR(err);
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
	ipoib_conns_destroy(port);
	kfree(port);
}

/**
 * ipoib_port_enter() - add a netdevice to its port, whose events it receives from now on
 * @priv: the device, about to be registered; its tables exist
 *
 * A child takes a reference to its parent, which it holds until it is freed.
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
 * ipoib_children_up() - set the children of a port up, together with its own netdevice
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
 * ipoib_children_down() - set the children of a port down, together with its own netdevice
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
 * ipoib_children_follow_guid() - give the children the GUID chosen for the port's own netdevice
 * @port: the port
 *
 * Their addresses change asynchronously. Those that are up join their groups again.
 *
 * Context: rtnl held.
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
 * ipoib_port_unregister() - queue the unregistration of all netdevices of a port
 * @port: the port
 * @list: list for unregister_netdevice_many(). The children are added to it, then the port's
 *	own netdevice
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
 * ipoib_port_any_other() - tell whether a condition holds for any other netdevice of the port
 * @priv: the device, which is not tested itself
 * @test: the condition; called with a spinlock held
 * @arg: passed to @test
 *
 * Context: any but hard interrupt.
 * Return: true if @test returned true for another netdevice.
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
