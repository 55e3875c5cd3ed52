// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The connections of a port: how many there may be, and which of them a netdevice lets go of.
 */
#include "ipoib.h"

/* A connection that was idle for so long gives way to another one, if there are too many */
#define CONN_YIELD		(10 * HZ)

/* The same for one that a request has made, but nothing has followed: the peer has had time to
 * answer the reply, and anybody can send requests in the name of others
 */
#define CONN_YIELD_UNHEARD	HZ

typedef bool (*conn_filter)(const struct ipoib_conn *conn, const struct ipoib_dev *priv, u32 lid);

static bool conn_is_any(const struct ipoib_conn *conn, const struct ipoib_dev *priv, u32 lid)
{
	return true;
}

static bool conn_is_opened(const struct ipoib_conn *conn, const struct ipoib_dev *priv, u32 lid)
{
	return conn->opened;
}

static bool conn_is_accepted(const struct ipoib_conn *conn, const struct ipoib_dev *priv, u32 lid)
{
	return !conn->opened;
}

static bool conn_is_of(const struct ipoib_conn *conn, const struct ipoib_dev *priv)
{
	return rcu_access_pointer(conn->priv) == priv;
}

static bool conn_is_from(const struct ipoib_conn *conn, const struct ipoib_dev *priv, u32 lid)
{
	return !conn->opened && conn_is_of(conn, priv) && ipoib_same_port(priv, conn->lid, lid);
}

/* Returns whether a connection belongs to the netdevice's namespace, even if it is being closed */
static bool conn_is_of_net(const struct ipoib_conn *conn, const struct ipoib_dev *priv)
{
	return net_eq(conn->net, dev_net(priv->netdev));
}

/* Returns whether a netdevice is in another namespace than its HCA, as those of containers are */
static bool conns_of_guest(const struct ipoib_dev *priv)
{
	return !net_eq(dev_net(priv->netdev), read_pnet(&priv->ibdev->coredev.rdma_net));
}

/* Returns the number of a port's connections that the filter lets pass. Those of a guest's own
 * namespace count twice for it. So each namespace of a guest can have as many connections as it
 * leaves to all others, whatever the limit.
 */
static u32 conns_count(const struct ipoib_dev *priv, conn_filter filter, u32 lid)
{
	bool guest = conns_of_guest(priv);
	const struct ipoib_conn *conn;
	u32 n = 0;

	list_for_each_entry(conn, &priv->port->conns.list, node)
		if (filter(conn, priv, lid))
			n += guest && conn_is_of_net(conn, priv) ? 2 : 1;
	return n;
}

/* Returns jiffies until which a connection does not give way to another one */
static unsigned long conn_stays_until(const struct ipoib_conn *conn)
{
	bool heard = conn->opened || test_bit(IPOIB_CONN_HEARD, &conn->events);

	return READ_ONCE(conn->used) + (heard ? CONN_YIELD : CONN_YIELD_UNHEARD);
}

/* Closes the connection that gives way first of those that the filter lets pass, if it does so
 * already. Those of other namespaces do not give way to a guest.
 */
static void conns_yield(const struct ipoib_dev *priv, conn_filter filter, u32 lid)
{
	struct ipoib_conn *conn, *first = NULL;
	bool guest = conns_of_guest(priv);

	list_for_each_entry(conn, &priv->port->conns.list, node)
		if (filter(conn, priv, lid) && (!guest || conn_is_of_net(conn, priv)) &&
		    !test_bit(IPOIB_CONN_CLOSE, &conn->events) &&
		    (!first || time_before(conn_stays_until(conn), conn_stays_until(first))))
			first = conn;
	if (first && time_after(jiffies, conn_stays_until(first)))
		ipoib_conn_event(first, IPOIB_CONN_CLOSE);
}

/* Returns whether there are fewer than @max connections of those that the filter lets pass. If not,
 * one that is idle is closed, if there is any.
 */
static bool conns_admit(const struct ipoib_dev *priv, u32 max, conn_filter filter, u32 lid)
{
	if (conns_count(priv, filter, lid) < max)
		return true;
	conns_yield(priv, filter, lid);
	return false;
}

/**
 * ipoib_conns_may_open() - tell whether a netdevice may open another connection
 * @priv: the device
 *
 * If there are too many, a connection that is idle is closed, if there is any.
 *
 * Context: ipoib_conns.lock held.
 * Return: false if its port has opened as many as are allowed.
 */
bool ipoib_conns_may_open(const struct ipoib_dev *priv)
{
	return conns_admit(priv, ipoib_srq_senders_max(priv->ibdev), conn_is_opened, 0);
}

/**
 * ipoib_conns_may_accept() - tell whether a netdevice may accept another connection
 * @priv: the device
 * @lid: LID of the peer's port. A request may claim any, but nothing can be sent by the connection
 *	then.
 *
 * If there are too many, a connection that is idle is closed, if there is any.
 *
 * Context: ipoib_conns.lock held.
 * Return: false if its port has accepted as many as are allowed, or the netdevice as many from that
 * LID. The peer tries again.
 */
bool ipoib_conns_may_accept(const struct ipoib_dev *priv, u32 lid)
{
	return conns_admit(priv, IPOIB_CONNS_PEER_MAX, conn_is_from, lid) &&
	       conns_admit(priv, ipoib_srq_receivers_max(priv->ibdev), conn_is_accepted, 0);
}

/* Lets go of the connections of a netdevice that the filter lets pass. On return, no packet of them
 * is delivered to the netdevice any more, nor of those that have ended just before.
 */
static void conns_let_go(struct ipoib_dev *priv, conn_filter filter)
{
	struct ipoib_conns *conns = &priv->port->conns;
	struct ipoib_conn *conn;

	spin_lock_bh(&conns->lock);
	list_for_each_entry(conn, &conns->list, node) {
		if (!conn_is_of(conn, priv) || !filter(conn, priv, 0))
			continue;
		ipoib_csq_abandon(conn);
		ipoib_conn_event(conn, IPOIB_CONN_CLOSE);
	}
	spin_unlock_bh(&conns->lock);
	/* One that has been replaced meanwhile delivers nothing any more */
	mutex_lock(&conns->srq_mutex);
	if (conns->srq)
		ipoib_srq_flush(conns->srq);
	mutex_unlock(&conns->srq_mutex);
}

/**
 * ipoib_conns_detach() - let go of all connections of a netdevice
 * @priv: the device
 *
 * On return no packet of these connections is delivered to the netdevice any more. They are closed
 * asynchronously.
 *
 * Context: may sleep.
 */
void ipoib_conns_detach(struct ipoib_dev *priv)
{
	conns_let_go(priv, conn_is_any);
}

static bool conn_has_other_lid(const struct ipoib_conn *conn, const struct ipoib_dev *priv,
			       u32 lid)
{
	return conn->own_lid && !ipoib_same_port(priv, conn->own_lid, READ_ONCE(conn->conns->lid));
}

/**
 * ipoib_conns_relocate() - let go of the connections of a netdevice that were made with another LID
 * @priv: the device, whose port may have got another LID
 *
 * The peer of such a connection sends to the old LID. See also ipoib_conns_detach().
 *
 * Context: may sleep.
 */
void ipoib_conns_relocate(struct ipoib_dev *priv)
{
	struct ipoib_conns *conns = &priv->port->conns;
	struct ib_port_attr attr;

	/* The HCA's firmware is spared if there is nothing to compare */
	if (!atomic_read(&conns->alive) || ib_query_port(conns->ibdev, conns->port, &attr))
		return;
	WRITE_ONCE(conns->lid, attr.lid);
	conns_let_go(priv, conn_has_other_lid);
}

/**
 * ipoib_conns_hca_died() - close all connections of a port whose HCA has failed
 * @port: the port
 *
 * The HCA may not report any more that it has drained a QP, and carries no message to a peer. So
 * from now on no connection that is closed waits for either. The drivers of mlx4, mlx5 and mthca
 * remove an HCA that they reset, and register it again.
 *
 * Context: any but hard interrupt.
 */
void ipoib_conns_hca_died(struct ipoib_port *port)
{
	struct ipoib_conns *conns = &port->conns;
	struct ipoib_conn *conn;

	WRITE_ONCE(conns->hca_died, true);
	spin_lock_bh(&conns->lock);
	/* Those that are being closed already may be waiting for their time to be over */
	list_for_each_entry(conn, &conns->list, node) {
		set_bit(IPOIB_CONN_CLOSE, &conn->events);
		mod_delayed_work(conns->wq, &conn->work, 0);
	}
	spin_unlock_bh(&conns->lock);
}

/**
 * ipoib_conns_walk() - call a function for each connection of a netdevice
 * @priv: the device
 * @show: the function; called with a spinlock held
 * @context: passed to @show
 *
 * Context: any but hard interrupt.
 */
void ipoib_conns_walk(struct ipoib_dev *priv,
		      void (*show)(const struct ipoib_conn *conn, void *context), void *context)
{
	struct ipoib_conns *conns = &priv->port->conns;
	const struct ipoib_conn *conn;

	spin_lock_bh(&conns->lock);
	list_for_each_entry(conn, &conns->list, node)
		if (rcu_access_pointer(conn->priv) == priv)
			show(conn, context);
	spin_unlock_bh(&conns->lock);
}

/**
 * ipoib_conns_buffers() - get the number of messages that a port can receive at once
 * @priv: a netdevice of the port
 *
 * Context: may sleep.
 * Return: number of receive WRs that all connections share, or 0 if there are none.
 */
u32 ipoib_conns_buffers(const struct ipoib_dev *priv)
{
	struct ipoib_conns *conns = &priv->port->conns;
	u32 buffers;

	mutex_lock(&conns->srq_mutex);
	buffers = conns->srq ? ipoib_srq_buffers(conns->srq) : 0;
	mutex_unlock(&conns->srq_mutex);
	return buffers;
}

/* Has all connections closed that have QPs, since the SRQ that these use has failed */
static void srq_work(struct work_struct *work)
{
	struct ipoib_conns *conns = container_of(work, struct ipoib_conns, srq_work);
	struct ipoib_conn *conn;
	bool failed;

	/* It may have been replaced or destroyed meanwhile */
	mutex_lock(&conns->srq_mutex);
	failed = conns->srq && ipoib_srq_has_failed(conns->srq);
	mutex_unlock(&conns->srq_mutex);
	if (!failed)
		return;
	spin_lock_bh(&conns->lock);
	list_for_each_entry(conn, &conns->list, node)
		if (conn->qp)
			ipoib_conn_qp_failed(conn);
	spin_unlock_bh(&conns->lock);
}

static void conns_srq_failed(void *context)
{
	struct ipoib_conns *conns = context;

	queue_work(conns->wq, &conns->srq_work);
}

/**
 * ipoib_conns_make_srq() - make the SRQ of a port's connections, unless there is a working one
 * @conns: the connections
 *
 * Context: may sleep; on ipoib_conns.wq.
 * Return: 0; -EBUSY if the SRQ has failed, and connections that use it are not closed yet; or
 * another negative error.
 */
int ipoib_conns_make_srq(struct ipoib_conns *conns)
{
	struct ipoib_srq *srq = conns->srq;

	if (srq && !ipoib_srq_has_failed(srq))
		return 0;
	if (srq && ipoib_srq_is_used(srq))
		return -EBUSY;
	mutex_lock(&conns->srq_mutex);
	if (srq)
		ipoib_srq_destroy(srq);
	srq = ipoib_srq_create(conns->ibdev, conns_srq_failed, conns);
	conns->srq = IS_ERR(srq) ? NULL : srq;
	mutex_unlock(&conns->srq_mutex);
	return PTR_ERR_OR_ZERO(srq);
}

/**
 * ipoib_conns_create() - prepare a port for connections
 * @port: the port
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_conns_create(struct ipoib_port *port)
{
	struct ipoib_conns *conns = &port->conns;

	conns->ibdev = port->ibdev;
	conns->port = port->number;
	spin_lock_init(&conns->lock);
	mutex_init(&conns->srq_mutex);
	INIT_WORK(&conns->srq_work, srq_work);
	INIT_LIST_HEAD(&conns->list);
	init_waitqueue_head(&conns->gone);
	conns->wq = alloc_ordered_workqueue("ipoib-conns-%s-%u", WQ_MEM_RECLAIM,
					    dev_name(&port->ibdev->dev), port->number);
	return conns->wq ? 0 : -ENOMEM;
}

/**
 * ipoib_conns_destroy() - undo ipoib_conns_create()
 * @port: the port; its netdevices are gone
 *
 * Waits until all connections are closed.
 *
 * Context: may sleep; rtnl must not be held.
 */
void ipoib_conns_destroy(struct ipoib_port *port)
{
	struct ipoib_conns *conns = &port->conns;
	struct ipoib_srq *srq;

	wait_event(conns->gone, !atomic_read(&conns->alive));
	mutex_lock(&conns->srq_mutex);
	srq = conns->srq;
	conns->srq = NULL;
	mutex_unlock(&conns->srq_mutex);
	/* The HCA's events, which queue work, come until the SRQ is destroyed */
	if (srq)
		ipoib_srq_destroy(srq);
	destroy_workqueue(conns->wq);
	mutex_destroy(&conns->srq_mutex);
}
