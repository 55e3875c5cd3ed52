// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections that peers have opened (RFC 4755). They only receive.
 *
 *   REQUESTED --QP made, REP sent--> LIVE --CLOSE--> DRAINING --drained--> freed
 *       |                                                                   ^
 *       +------------------------ error, CLOSE -----------------------------+
 *
 * All changes are made by a connection's work, on a workqueue of the port that runs one work at a
 * time. What happens elsewhere only sets a bit: a message of the communication manager, an event of
 * the QP, a completion, or a netdevice that goes down. A netdevice lets go of its connections at
 * once, and does not wait until they are closed, as its task holds rtnl.
 *
 * A QP that takes its receive WRs from an SRQ must not be destroyed before they are returned (IBA
 * 11.5.2.5). In the error state, the HCA reports when the QP takes no more WRs. A WR is sent then;
 * as it is the last one, all others have been polled when its completion is.
 */
#include <linux/moduleparam.h>
#include <linux/random.h>

#include "ipoib.h"

static unsigned int connection_idle = 300;
module_param(connection_idle, uint, 0644);
MODULE_PARM_DESC(connection_idle, "Seconds until a connection without packets is closed; 0: never");

/* How often connections are looked at while they have no limit, as the administrator may set one */
#define CONN_LOOK		(60 * HZ)

/* A connection that was idle for so long gives way to another one, if there are too many */
#define CONN_YIELD		(10 * HZ)

/* How long an HCA may take to drain a QP */
#define CONN_DRAIN		(5 * HZ)

/* How often it is looked at. The poll does not queue the work when it has seen the last completion,
 * as the work frees the connection as soon as it knows.
 */
#define CONN_DRAIN_LOOK		1

/* Number of times that a peer repeats a message for which there was no buffer: without limit, see
 * IBA 9.7.5.2.8. And the time that it waits before: 0.64 ms (IBA table 45). The default, 0, would
 * stand for 655 ms.
 */
#define CONN_RNR_RETRY		7
#define CONN_RNR_TIMER		12

static void conn_fail(struct ipoib_conn *conn, const char *what, int err)
{
	if (net_ratelimit())
		pr_warn("ib_ipoib: %s: connection of %pI6c: cannot %s: error %d\n",
			dev_name(&conn->id->device->dev), conn->peer.gid, what, err);
}

/* Moves the QP to a state, with the attributes that the communication manager has of the REQ */
static int conn_modify(struct ipoib_conn *conn, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask, err;

	err = ib_cm_init_qp_attr(conn->id, &attr, &mask);
	if (err)
		return err;
	/* The peer's other path was not checked, and might lead to another port */
	mask &= ~(IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE);
	/* Only few of these apply to each state. No RDMA into this host's memory. The REP will tell
	 * the peer the first PSN that it is to send (IBA 12.7.31).
	 */
	attr.qp_access_flags = IB_ACCESS_LOCAL_WRITE;
	attr.min_rnr_timer = CONN_RNR_TIMER;
	attr.rq_psn = conn->psn;
	return ib_modify_qp(conn->qp, &attr, mask);
}

static void conn_qp_event(struct ib_event *event, void *context)
{
	struct ipoib_conn *conn = context;

	switch (event->event) {
	case IB_EVENT_QP_LAST_WQE_REACHED:
		ipoib_conn_event(conn, IPOIB_CONN_LAST_WQE);
		ipoib_conn_event(conn, IPOIB_CONN_CLOSE);
		break;
	case IB_EVENT_COMM_EST:
		ib_cm_notify(conn->id, IB_EVENT_COMM_EST);
		break;
	default:
		ipoib_conn_event(conn, IPOIB_CONN_CLOSE);
	}
}

/* Makes a QP that receives. It is also able to send, because some HCAs report the last WR of
 * drainage in no other state.
 */
static int conn_connect(struct ipoib_conn *conn)
{
	struct ipoib_conns *conns = conn->conns;
	struct ib_qp *qp;
	int err;

	if (!conns->srq) {
		struct ipoib_srq *srq = ipoib_srq_create(conn->id->device);

		if (IS_ERR(srq))
			return PTR_ERR(srq);
		WRITE_ONCE(conns->srq, srq);
	}
	qp = ipoib_srq_qp_create(conns->srq, conn, conn_qp_event);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	conn->qp = qp;
	err = conn_modify(conn, IB_QPS_INIT);
	if (!err)
		err = conn_modify(conn, IB_QPS_RTR);
	if (!err)
		err = conn_modify(conn, IB_QPS_RTS);
	return err;
}

static int conn_reply(struct ipoib_conn *conn)
{
	struct ipoib_cm_data data;
	struct ib_cm_rep_param rep = {
		.qp_num = conn->qp->qp_num,
		.starting_psn = conn->psn,
		.private_data = &data,
		.private_data_len = sizeof(data),
		.rnr_retry_count = CONN_RNR_RETRY,
		.srq = 1,
	};

	ipoib_cm_data_build(&data, conn->qpn, ipoib_srq_message_max(conn->id->device));
	return ib_send_cm_rep(conn->id, &rep);
}

/**
 * ipoib_conn_reject() - answer a REQ by a REJ with private data
 * @id: the request's identifier
 * @qpn: the UD QP of the interface that it was for
 * @reason: the reason
 *
 * RFC 4755 section 6.
 *
 * Context: may sleep.
 */
void ipoib_conn_reject(struct ib_cm_id *id, u32 qpn, enum ib_cm_rej_reason reason)
{
	struct ipoib_cm_data data;

	ipoib_cm_data_build(&data, qpn, ipoib_srq_message_max(id->device));
	ib_send_cm_rej(id, reason, NULL, 0, &data, sizeof(data));
}

/* Frees a connection, after all that may report events of it: holders of the lock who find it on
 * the list, the QP, and the communication manager
 */
static void conn_free(struct ipoib_conn *conn)
{
	struct ipoib_conns *conns = conn->conns;

	spin_lock_bh(&conns->lock);
	list_del(&conn->node);
	spin_unlock_bh(&conns->lock);
	if (conn->qp)
		ipoib_srq_qp_destroy(conns->srq, conn);
	ib_destroy_cm_id(conn->id);
	/* One of them may have queued this work again */
	cancel_delayed_work(&conn->work);
	kfree(conn);
	if (atomic_dec_and_test(&conns->alive))
		wake_up(&conns->gone);
}

static void conn_refuse(struct ipoib_conn *conn, enum ib_cm_rej_reason reason)
{
	ipoib_conn_reject(conn->id, conn->qpn, reason);
	conn_free(conn);
}

static void conn_drain(struct ipoib_conn *conn)
{
	struct ipoib_conns *conns = conn->conns;

	if (test_bit(IPOIB_CONN_LAST_WQE, &conn->events) && !conn->marked)
		conn->marked = !ipoib_srq_mark(conns->srq, conn);
	if (test_bit(IPOIB_CONN_DRAINED, &conn->events)) {
		conn_free(conn);
		return;
	}
	if (time_before(jiffies, conn->drain_until)) {
		queue_delayed_work(conns->wq, &conn->work, CONN_DRAIN_LOOK);
		return;
	}
	conn_fail(conn, "drain its QP", -ETIMEDOUT);
	conn_free(conn);
}

static void conn_close(struct ipoib_conn *conn)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	int err;

	WRITE_ONCE(conn->state, IPOIB_CONN_DRAINING);
	conn->drain_until = jiffies + CONN_DRAIN;
	/* So that the peer stops to send. This fails if the peer has said so itself. */
	ib_send_cm_dreq(conn->id, NULL, 0);
	err = ib_modify_qp(conn->qp, &attr, IB_QP_STATE);
	if (err)
		conn_fail(conn, "move its QP to the error state", err);
	conn_drain(conn);
}

/* Closes the connection if there is a reason to, or looks again when it may have become idle */
static void conn_look(struct ipoib_conn *conn)
{
	unsigned long limit = min_t(u32, READ_ONCE(connection_idle), INT_MAX / HZ) * HZ;
	unsigned long ends = READ_ONCE(conn->used) + limit, now = jiffies;

	if (test_bit(IPOIB_CONN_CLOSE, &conn->events) || (limit && time_after_eq(now, ends)))
		conn_close(conn);
	else
		queue_delayed_work(conn->conns->wq, &conn->work, limit ? ends - now : CONN_LOOK);
}

static void conn_begin(struct ipoib_conn *conn)
{
	int err;

	if (test_bit(IPOIB_CONN_CLOSE, &conn->events)) {
		conn_refuse(conn, IB_CM_REJ_INVALID_SERVICE_ID);
		return;
	}
	err = conn_connect(conn);
	if (err) {
		conn_fail(conn, "make a QP", err);
		conn_refuse(conn, IB_CM_REJ_NO_QP);
		return;
	}
	WRITE_ONCE(conn->state, IPOIB_CONN_LIVE);
	err = conn_reply(conn);
	if (err) {
		conn_fail(conn, "answer the request", err);
		ipoib_conn_event(conn, IPOIB_CONN_CLOSE);
	}
	conn_look(conn);
}

static void conn_work(struct work_struct *work)
{
	struct ipoib_conn *conn = container_of(work, struct ipoib_conn, work.work);

	switch (conn->state) {
	case IPOIB_CONN_REQUESTED:
		conn_begin(conn);
		break;
	case IPOIB_CONN_LIVE:
		conn_look(conn);
		break;
	case IPOIB_CONN_DRAINING:
		conn_drain(conn);
		break;
	}
}

/* The communication manager's events. It calls this for one connection of the host at a time, so
 * this must not wait.
 */
static int conn_cm_event(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct ipoib_conn *conn = id->context;

	switch (event->event) {
	case IB_CM_RTU_RECEIVED:
	case IB_CM_USER_ESTABLISHED:
	case IB_CM_MRA_RECEIVED:
		break;
	case IB_CM_DREQ_RECEIVED:
		ib_send_cm_drep(id, NULL, 0);
		fallthrough;
	default:
		ipoib_conn_event(conn, IPOIB_CONN_CLOSE);
	}
	return 0;
}

/**
 * ipoib_conn_alloc() - allocate a connection
 *
 * Context: may sleep.
 * Return: the connection, which the caller frees by kfree() unless it passes it to
 * ipoib_conn_enter(); or NULL.
 */
struct ipoib_conn *ipoib_conn_alloc(void)
{
	struct ipoib_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);

	if (!conn)
		return NULL;
	INIT_DELAYED_WORK(&conn->work, conn_work);
	conn->state = IPOIB_CONN_REQUESTED;
	conn->psn = get_random_u32() & IPOIB_QPN_MASK;
	conn->used = jiffies;
	return conn;
}

/**
 * ipoib_conn_enter() - accept a request for a connection
 * @conn: the connection, with the peer's address and Receive MTU
 * @priv: the netdevice that is to receive its packets
 * @id: the request's identifier, which the connection owns from now on
 *
 * Queues the work that makes the connection.
 *
 * Context: ipoib_conns.lock held.
 */
void ipoib_conn_enter(struct ipoib_conn *conn, struct ipoib_dev *priv, struct ib_cm_id *id)
{
	struct ipoib_conns *conns = &priv->port->conns;

	conn->conns = conns;
	conn->qpn = priv->qp->qp_num;
	conn->id = id;
	id->context = conn;
	id->cm_handler = conn_cm_event;
	RCU_INIT_POINTER(conn->priv, priv);
	list_add_tail(&conn->node, &conns->list);
	atomic_inc(&conns->alive);
	queue_delayed_work(conns->wq, &conn->work, 0);
}

/* Closes the connection of a netdevice, or of any if it is NULL, that was idle for the longest, if
 * that is long enough
 */
static void conns_yield(struct ipoib_conns *conns, const struct ipoib_dev *priv)
{
	struct ipoib_conn *conn, *oldest = NULL;

	list_for_each_entry(conn, &conns->list, node)
		if ((!priv || rcu_access_pointer(conn->priv) == priv) &&
		    !test_bit(IPOIB_CONN_CLOSE, &conn->events) &&
		    (!oldest || time_before(conn->used, oldest->used)))
			oldest = conn;
	if (oldest && time_after(jiffies, oldest->used + CONN_YIELD))
		ipoib_conn_event(oldest, IPOIB_CONN_CLOSE);
}

/**
 * ipoib_conns_room() - tell whether a netdevice may have another connection
 * @priv: the device
 *
 * If not, a connection that is idle is closed, if there is any.
 *
 * Context: ipoib_conns.lock held.
 * Return: false if the netdevice or its port has as many as are allowed. The peer tries again.
 */
bool ipoib_conns_room(const struct ipoib_dev *priv)
{
	struct ipoib_conns *conns = &priv->port->conns;
	const struct ipoib_conn *conn;
	u32 own = 0, all = 0;

	list_for_each_entry(conn, &conns->list, node) {
		own += rcu_access_pointer(conn->priv) == priv;
		all++;
	}
	if (own < IPOIB_CONNS_MAX && all < IPOIB_CONNS_PORT_MAX)
		return true;
	conns_yield(conns, own < IPOIB_CONNS_MAX ? NULL : priv);
	return false;
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
	struct ipoib_conns *conns = &priv->port->conns;
	struct ipoib_srq *srq = READ_ONCE(conns->srq);
	struct ipoib_conn *conn;
	bool any = false;

	spin_lock_bh(&conns->lock);
	list_for_each_entry(conn, &conns->list, node) {
		if (rcu_access_pointer(conn->priv) != priv)
			continue;
		RCU_INIT_POINTER(conn->priv, NULL);
		ipoib_conn_event(conn, IPOIB_CONN_CLOSE);
		any = true;
	}
	spin_unlock_bh(&conns->lock);
	if (any && srq)
		ipoib_srq_flush(srq);
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
 * ipoib_conns_create() - prepare a port for connections
 * @port: the port
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_conns_create(struct ipoib_port *port)
{
	struct ipoib_conns *conns = &port->conns;

	spin_lock_init(&conns->lock);
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

	wait_event(conns->gone, !atomic_read(&conns->alive));
	destroy_workqueue(conns->wq);
	if (conns->srq)
		ipoib_srq_destroy(conns->srq);
}
