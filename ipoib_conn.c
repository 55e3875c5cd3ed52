// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections (RFC 4755). Those that peers have opened only receive. Those that this driver opens
 * send, and receive if the peer uses them for that as well.
 *
 *   REQUESTED --QP made, REP sent---> LIVE --CLOSE--> DRAINING --drained--> GONE
 *       |                              ^                                     ^
 *       |   ASKED --REP, RTU sent------+                                     |
 *       |     ^ |                                                            |
 *   WANTED ---+ |                                                            |
 *       |       |                                                            |
 *       +-------+---------------- error, REJ, CLOSE -------------------------+
 *
 * All changes are made by a connection's work, on a workqueue of the port that runs one work at a
 * time. What happens elsewhere only sets a bit: a message of the communication manager, an event of
 * the QP, a completion, or a netdevice that goes down. A netdevice lets go of its connections at
 * once, and does not wait until they are closed, as its task holds rtnl.
 *
 * A QP that takes its receive WRs from an SRQ must not be destroyed before they are returned (IBA
 * 11.5.2.5). In the error state, the HCA reports when the QP takes no more WRs. A WR is sent then;
 * as it is the last one, all others have been polled when its completion is. If the SRQ or its CQ
 * has failed, there are no more completions: all QPs are destroyed, and then the SRQ is replaced.
 * An HCA that has failed itself may never report that a QP takes no more WRs.
 */
#include <linux/moduleparam.h>
#include <linux/random.h>

#include "ipoib.h"
#include "ipoib_csum.h"
#include "ipoib_trace.h"

static unsigned int connection_idle = 300;
module_param(connection_idle, uint, 0644);
MODULE_PARM_DESC(connection_idle, "Seconds until a connection without packets is closed; 0: never");

/* How often connections are looked at: one may be stuck, or the administrator may set a limit */
#define CONN_LOOK		IPOIB_CSQ_STALL

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

/* How long the HCA waits for an acknowledgment, 67 ms (IBA 9.7.6.1.3), and how often it sends
 * again. Together that is hardly longer than TCP waits (RFC 4755 section 7.1). The time that would
 * follow from the life time of packets in OpenSM's paths is 4 s.
 */
#define CONN_ACK_TIMEOUT	14
#define CONN_RETRY		4

/* The same for a Linux host as the peer: its driver has a sender wait for 655 ms each time */
#define CONN_RNR_RETRY_LINUX	1

/* How long an answer to a REQ may take, 1.07 s (IBA 12.7.4), and how often a REQ is repeated */
#define CONN_CM_TIMEOUT		18
#define CONN_CM_RETRIES		3

/* When a request is given up, or an accepted one that nothing has followed. A peer can have the
 * communication manager wait for hours.
 */
#define CONN_ANSWER		(15 * HZ)

/* Nothing tells the sender of an unreliable connection that the peer has lost it, since nothing is
 * acknowledged. So it is replaced by another one after this time, and what was posted must be sent
 * soon after.
 */
#define CONN_UNRELIABLE		(30 * HZ)
#define CONN_RETIREMENT		HZ

/* A connection that has existed for this time has shown that it works */
#define CONN_PROVEN		(10 * HZ)

static void conn_fail(struct ipoib_conn *conn, const char *what, int err)
{
	if (net_ratelimit())
		pr_warn("ib_ipoib: %s: connection of %pI6c: cannot %s: error %d\n",
			dev_name(&conn->conns->ibdev->dev), conn->peer.gid, what, err);
}

static void conn_count(struct ipoib_conn *conn, enum ipoib_stat stat)
{
	struct ipoib_dev *priv;

	rcu_read_lock();
	priv = rcu_dereference(conn->priv);
	if (priv)
		ipoib_count(priv, stat);
	rcu_read_unlock();
}

static void conn_set_state(struct ipoib_conn *conn, enum ipoib_conn_state state)
{
	trace_ipoib_conn_state(conn, state);
	/* Pairs with ipoib_conn_is_over() */
	smp_store_release(&conn->state, state);
}

static bool conn_is_linux(const struct ipoib_conn *conn)
{
	return be64_to_cpu(conn->service_id) & IPOIB_SERVICE_ID_LINUX;
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
	attr.timeout = CONN_ACK_TIMEOUT;
	attr.retry_cnt = CONN_RETRY;
	attr.rnr_retry = conn_is_linux(conn) ? CONN_RNR_RETRY_LINUX : CONN_RNR_RETRY;
	return ib_modify_qp(conn->qp, &attr, mask);
}

static void conn_qp_event(struct ib_event *event, void *context)
{
	struct ipoib_conn *conn = context;

	switch (event->event) {
	case IB_EVENT_QP_LAST_WQE_REACHED:
		ipoib_conn_event(conn, IPOIB_CONN_LAST_WQE);
		ipoib_conn_qp_failed(conn);
		break;
	case IB_EVENT_COMM_EST:
		ib_cm_notify(conn->id, IB_EVENT_COMM_EST);
		break;
	default:
		ipoib_conn_qp_failed(conn);
	}
}

/* An HCA may have less room in a send WR than its attributes say, so fewer pieces are tried */
static int conn_make_qp(struct ipoib_conn *conn)
{
	struct ib_qp *qp;
	int err;

	err = ipoib_conns_make_srq(conn->conns);
	if (err)
		return err;
	do {
		qp = ipoib_srq_qp_create(conn->conns->srq, conn, conn_qp_event);
		err = PTR_ERR_OR_ZERO(qp);
	} while ((err == -EINVAL || err == -ENOMEM) && conn->opened && ipoib_csq_shrink(&conn->sq));
	if (!err)
		conn->qp = qp;
	return err;
}

/* Connects the QP to the peer's. If it only receives, it is nevertheless made able to send, because
 * some HCAs report the last WR of drainage in no other state.
 */
static int conn_start_qp(struct ipoib_conn *conn)
{
	int err;

	conn->started = true;
	err = conn_modify(conn, IB_QPS_INIT);
	if (!err)
		err = ipoib_srq_qp_fill(conn->conns->srq, conn);
	if (!err)
		err = conn_modify(conn, IB_QPS_RTR);
	if (!err)
		err = conn_modify(conn, IB_QPS_RTS);
	return err;
}

static int conn_reply(struct ipoib_conn *conn)
{
	struct ipoib_cm_offer offer;
	struct ib_cm_rep_param rep = {
		.qp_num = conn->qp->qp_num,
		.starting_psn = conn->psn,
		.private_data = &offer,
		.rnr_retry_count = CONN_RNR_RETRY,
		.srq = ipoib_srq_is_shared(conn->conns->ibdev),
	};

	rep.private_data_len = ipoib_csum_offer(&offer, conn->qpn,
						ipoib_srq_message_max(conn->conns->ibdev));
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

/**
 * ipoib_conn_put() - give up a reference to a connection
 * @conn: the connection; freed when no sender can see it any more, if this was the last reference
 *
 * Context: any.
 */
void ipoib_conn_put(struct ipoib_conn *conn)
{
	if (refcount_dec_and_test(&conn->refs))
		kfree_rcu(conn, rcu);
}

static void conn_destroy_qp(struct ipoib_conn *conn)
{
	ipoib_srq_qp_destroy(conn->conns->srq, conn);
	conn->qp = NULL;
}

/* Ends a connection, after all that may report events of it: holders of the lock who find it on
 * the list, the QP, and the communication manager
 */
static void conn_free(struct ipoib_conn *conn)
{
	struct ipoib_conns *conns = conn->conns;

	if (conn->opened && (!conn->lived || test_bit(IPOIB_CONN_BROKEN, &conn->events)))
		conn_count(conn, IPOIB_STAT_CONN_FAILED);
	conn_set_state(conn, IPOIB_CONN_GONE);
	spin_lock_bh(&conns->lock);
	/* A netdevice that is removed from now on does not find the connection */
	ipoib_csq_abandon(conn);
	list_del(&conn->node);
	spin_unlock_bh(&conns->lock);
	if (conn->qp)
		conn_destroy_qp(conn);
	if (!IS_ERR_OR_NULL(conn->id))
		ib_destroy_cm_id(conn->id);
	ipoib_csq_purge(conn);
	ipoib_csq_destroy(&conn->sq);
	/* One of them may have queued this work again */
	cancel_delayed_work(&conn->work);
	ipoib_conn_put(conn);
	if (atomic_dec_and_test(&conns->alive))
		wake_up(&conns->gone);
}

static void conn_refuse(struct ipoib_conn *conn, enum ib_cm_rej_reason reason)
{
	conn_count(conn, IPOIB_STAT_CONN_REFUSED);
	ipoib_conn_reject(conn->id, conn->qpn, reason);
	conn_free(conn);
}

/* Returns whether the QP, which is in the error state, takes no more receive WRs of the SRQ */
static bool conn_takes_none(const struct ipoib_conn *conn)
{
	return test_bit(IPOIB_CONN_LAST_WQE, &conn->events) ||
	       !ipoib_srq_is_shared(conn->conns->ibdev);
}

static void conn_drain(struct ipoib_conn *conn)
{
	struct ipoib_conns *conns = conn->conns;
	bool died = READ_ONCE(conns->hca_died);
	bool drained;

	/* Nothing completes any more, or it may not. A failed SRQ can be replaced as soon as no QP
	 * is left, without waiting for peers.
	 */
	if (conn->qp && (died || ipoib_srq_has_failed(conns->srq)))
		conn_destroy_qp(conn);
	if (conn->qp && conn_takes_none(conn) && !conn->marked && !ipoib_srq_mark(conn)) {
		conn->marked = true;
		/* Many connections may have been closed at once, and this may be the first look */
		conn->until = jiffies + CONN_DRAIN;
	}
	drained = !conn->qp || test_bit(IPOIB_CONN_DRAINED, &conn->events);
	if (drained && (died || test_bit(IPOIB_CONN_PARTED, &conn->events))) {
		conn_free(conn);
		return;
	}
	if (time_before(jiffies, conn->until)) {
		queue_delayed_work(conns->wq, &conn->work,
				   drained ? conn->until - jiffies : CONN_DRAIN_LOOK);
		return;
	}
	if (!drained)
		conn_fail(conn, "drain its QP", -ETIMEDOUT);
	conn_free(conn);
}

static void conn_close(struct ipoib_conn *conn)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	int err;

	conn->until = jiffies + CONN_DRAIN;
	conn->proven = conn->lived && time_after(jiffies, conn->live_since + CONN_PROVEN);
	conn_set_state(conn, IPOIB_CONN_DRAINING);
	rcu_read_lock();
	ipoib_csq_close(conn, rcu_dereference(conn->priv));
	rcu_read_unlock();
	/* So that the peer stops to send. This fails if the peer has said so itself. The message is
	 * repeated until the identifier is destroyed.
	 */
	if (ib_send_cm_dreq(conn->id, NULL, 0))
		set_bit(IPOIB_CONN_PARTED, &conn->events);
	err = ib_modify_qp(conn->qp, &attr, IB_QP_STATE);
	if (err)
		conn_fail(conn, "move its QP to the error state", err);
	conn_drain(conn);
}

/* Returns how long a connection that this driver has opened to a peer that cannot say that it has
 * lost it may still be used; for others, how long it need not be looked at
 */
static long conn_time_left(const struct ipoib_conn *conn)
{
	if (!conn->opened || conn->type != IB_QPT_UC)
		return CONN_LOOK;
	return (long)(conn->live_since + CONN_UNRELIABLE - jiffies);
}

/* Sends what senders have passed to the connection, but takes nothing more, and then closes it. As
 * no CQE reports that the last short packets are sent, the HCA gets some time for them.
 */
static void conn_retire(struct ipoib_conn *conn)
{
	bool sent = ipoib_csq_retire(&conn->sq) && time_after(jiffies, READ_ONCE(conn->used) + 1);

	if (sent || conn_time_left(conn) < -CONN_RETIREMENT)
		conn_close(conn);
	else
		queue_delayed_work(conn->conns->wq, &conn->work, 1);
}

/* Notes the first sign of life of a peer that has opened the connection. A message may come before
 * the RTU, or the RTU may be lost: then the communication manager has to be told.
 */
static void conn_look_at_peer(struct ipoib_conn *conn)
{
	if (conn->lived)
		return;
	if (test_bit(IPOIB_CONN_HEARD, &conn->events)) {
		conn->lived = true;
		ib_cm_notify(conn->id, IB_EVENT_COMM_EST);
	} else if (time_after(jiffies, conn->live_since + CONN_ANSWER)) {
		ipoib_conn_event(conn, IPOIB_CONN_CLOSE);
	}
}

/* Has an opened connection closed that does not work, or that the fabric has another path for: the
 * QP keeps the LID and the SL that it was made with.
 */
static void conn_look_at_path(struct ipoib_conn *conn)
{
	struct ipoib_dev *priv;

	ipoib_csq_watch(conn);
	rcu_read_lock();
	priv = rcu_dereference(conn->priv);
	if (priv && ipoib_path_differs(priv, conn->peer.gid, conn->lid, conn->path.sl))
		ipoib_conn_event(conn, IPOIB_CONN_CLOSE);
	rcu_read_unlock();
}

/* Closes the connection if there is a reason to, or looks again when it may have become idle */
static void conn_look(struct ipoib_conn *conn)
{
	unsigned long limit = min_t(u32, READ_ONCE(connection_idle), INT_MAX / HZ) * HZ;
	unsigned long ends = READ_ONCE(conn->used) + limit, now = jiffies;
	long left = conn_time_left(conn);

	if (conn->opened)
		conn_look_at_path(conn);
	else
		conn_look_at_peer(conn);
	if (test_bit(IPOIB_CONN_CLOSE, &conn->events) || (limit && time_after_eq(now, ends)))
		conn_close(conn);
	else if (left <= 0)
		conn_retire(conn);
	else
		queue_delayed_work(conn->conns->wq, &conn->work,
				   min_t(unsigned long, left, limit ? ends - now : CONN_LOOK));
}

static void conn_begin(struct ipoib_conn *conn)
{
	int err;

	if (test_bit(IPOIB_CONN_CLOSE, &conn->events)) {
		conn_refuse(conn, IB_CM_REJ_INVALID_SERVICE_ID);
		return;
	}
	err = conn_make_qp(conn);
	if (!err)
		err = conn_start_qp(conn);
	if (err) {
		conn_fail(conn, "make a QP", err);
		conn_refuse(conn, IB_CM_REJ_NO_QP);
		return;
	}
	conn_set_state(conn, IPOIB_CONN_LIVE);
	conn->live_since = jiffies;
	err = conn_reply(conn);
	if (err) {
		conn_fail(conn, "answer the request", err);
		ipoib_conn_event(conn, IPOIB_CONN_CLOSE);
	} else {
		conn_count(conn, IPOIB_STAT_CONN_ACCEPTED);
	}
	conn_look(conn);
}

/* Takes what a REP says. The peer must be the interface whose address the packets have. A
 * connection for shorter messages than datagrams would be of no use.
 */
static enum ipoib_conn_event conn_take_reply(struct ipoib_conn *conn,
					     const struct ipoib_cm_offer *offer)
{
	u32 receive_mtu = be32_to_cpu(offer->data.receive_mtu);
	u32 qpn = ipoib_cm_data_qpn(&offer->data);

	if (qpn != ipoib_hwaddr_qpn(&conn->peer) || receive_mtu < conn->receive_least)
		return IPOIB_CONN_CLOSE;
	conn->receive_mtu = receive_mtu;
	conn->send_max = min_t(u32, receive_mtu, IPOIB_MESSAGE_MAX);
	conn->unsummed = ipoib_csum_is_agreed(offer);
	return IPOIB_CONN_REPLIED;
}

/* Reports events to a connection's work unless it is gone: a reference does not keep it from that,
 * nor does the communication manager in some of its events. conn_free() takes the lock before it
 * cancels the work for the last time.
 */
static void conn_tell(struct ipoib_conn *conn, unsigned long events)
{
	struct ipoib_conns *conns = conn->conns;
	int event;

	spin_lock_bh(&conns->lock);
	if (conn->state != IPOIB_CONN_GONE)
		for_each_set_bit(event, &events, BITS_PER_LONG)
			ipoib_conn_event(conn, event);
	spin_unlock_bh(&conns->lock);
}

/* Returns what an event of the communication manager means to a connection */
static unsigned long conn_cm_take(struct ipoib_conn *conn, const struct ib_cm_event *event)
{
	switch (event->event) {
	case IB_CM_MRA_RECEIVED:
		return 0;
	case IB_CM_RTU_RECEIVED:
	case IB_CM_USER_ESTABLISHED:
		return BIT(IPOIB_CONN_HEARD);
	case IB_CM_REP_RECEIVED:
		return BIT(conn_take_reply(conn, event->private_data));
	case IB_CM_REJ_RECEIVED:
		conn->refusal = event->param.rej_rcvd.reason;
		return BIT(IPOIB_CONN_CLOSE);
	case IB_CM_DREQ_RECEIVED:
	case IB_CM_DREP_RECEIVED:
	case IB_CM_DREQ_ERROR:
	case IB_CM_TIMEWAIT_EXIT:
		return BIT(IPOIB_CONN_PARTED) | BIT(IPOIB_CONN_CLOSE);
	default:
		return BIT(IPOIB_CONN_CLOSE);
	}
}

/* The communication manager's events. It calls this for one connection of the host at a time, so
 * this must not wait.
 */
static int conn_cm_event(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct ipoib_conn *conn = id->context;
	unsigned long events;

	if (event->event == IB_CM_DREQ_RECEIVED)
		ib_send_cm_drep(id, NULL, 0);
	rcu_read_lock();
	events = conn_cm_take(conn, event);
	if (events)
		conn_tell(conn, events);
	rcu_read_unlock();
	return 0;
}

static int conn_send_req(struct ipoib_conn *conn)
{
	struct ipoib_conns *conns = conn->conns;
	struct ipoib_cm_offer offer;
	struct ib_cm_req_param req = {
		.primary_path = &conn->path,
		.service_id = conn->service_id,
		.qp_num = conn->qp->qp_num,
		.qp_type = conn->type,
		.starting_psn = conn->psn,
		.private_data = &offer,
		.remote_cm_response_timeout = CONN_CM_TIMEOUT,
		.local_cm_response_timeout = CONN_CM_TIMEOUT,
		.retry_count = CONN_RETRY,
		.rnr_retry_count = CONN_RNR_RETRY,
		.max_cm_retries = CONN_CM_RETRIES,
		.srq = ipoib_srq_is_shared(conns->ibdev),
	};
	struct ib_port_attr attr;
	int err;

	err = ib_query_port(conns->ibdev, conns->port, &attr);
	if (err)
		return err;
	conn->own_lid = attr.lid;
	sa_path_set_slid(&conn->path, attr.lid);
	req.private_data_len = ipoib_csum_offer(&offer, conn->qpn,
						ipoib_srq_message_max(conns->ibdev));
	return ib_send_cm_req(conn->id, &req);
}

static int conn_ask(struct ipoib_conn *conn)
{
	struct ib_device *ibdev = conn->conns->ibdev;
	int err;

	err = ipoib_csq_create(&conn->sq, ibdev);
	if (!err)
		err = conn_make_qp(conn);
	if (err)
		return err;
	conn->id = ib_create_cm_id(ibdev, conn_cm_event, conn);
	if (IS_ERR(conn->id))
		return PTR_ERR(conn->id);
	/* The REP may come at once, but its work is this one, which runs again then */
	conn_set_state(conn, IPOIB_CONN_ASKED);
	return conn_send_req(conn);
}

static void conn_want(struct ipoib_conn *conn)
{
	int err;

	if (test_bit(IPOIB_CONN_CLOSE, &conn->events)) {
		conn_free(conn);
		return;
	}
	conn->until = jiffies + CONN_ANSWER;
	err = conn_ask(conn);
	if (err) {
		conn_fail(conn, "ask the peer", err);
		conn_free(conn);
		return;
	}
	queue_delayed_work(conn->conns->wq, &conn->work, CONN_ANSWER);
}

static int conn_establish(struct ipoib_conn *conn)
{
	struct ipoib_cm_data data;
	int err;

	err = conn_start_qp(conn);
	if (err)
		return err;
	ipoib_cm_data_build(&data, conn->qpn, ipoib_srq_message_max(conn->conns->ibdev));
	return ib_send_cm_rtu(conn->id, &data, sizeof(data));
}

/* The peer may send as soon as the QP receives, so if anything fails then, the QP is drained */
static void conn_replied(struct ipoib_conn *conn)
{
	int err;

	conn_set_state(conn, IPOIB_CONN_LIVE);
	err = conn_establish(conn);
	if (err) {
		conn_fail(conn, "use the peer's reply", err);
		ipoib_conn_event(conn, IPOIB_CONN_CLOSE);
	} else {
		conn->lived = true;
		conn->live_since = jiffies;
		conn_count(conn, IPOIB_STAT_CONN_OPENED);
		ipoib_csq_open(&conn->sq);
	}
	conn_look(conn);
}

static void conn_asked(struct ipoib_conn *conn)
{
	if (test_bit(IPOIB_CONN_CLOSE, &conn->events) || time_after_eq(jiffies, conn->until))
		conn_free(conn);
	else if (test_bit(IPOIB_CONN_REPLIED, &conn->events))
		conn_replied(conn);
	else
		queue_delayed_work(conn->conns->wq, &conn->work, conn->until - jiffies);
}

static void conn_work(struct work_struct *work)
{
	struct ipoib_conn *conn = container_of(work, struct ipoib_conn, work.work);

	switch (conn->state) {
	case IPOIB_CONN_REQUESTED:
		conn_begin(conn);
		break;
	case IPOIB_CONN_WANTED:
		conn_want(conn);
		break;
	case IPOIB_CONN_ASKED:
		conn_asked(conn);
		break;
	case IPOIB_CONN_LIVE:
		conn_look(conn);
		break;
	case IPOIB_CONN_DRAINING:
		conn_drain(conn);
		break;
	case IPOIB_CONN_GONE:
		break;
	}
}

static struct ipoib_conn *conn_alloc(enum ipoib_conn_state state, gfp_t gfp)
{
	struct ipoib_conn *conn = kzalloc(sizeof(*conn), gfp);

	if (!conn)
		return NULL;
	INIT_DELAYED_WORK(&conn->work, conn_work);
	spin_lock_init(&conn->sq.lock);
	__skb_queue_head_init(&conn->sq.waiting);
	refcount_set(&conn->refs, 1);
	conn->state = state;
	conn->psn = get_random_u32() & IPOIB_QPN_MASK;
	conn->used = jiffies;
	return conn;
}

/**
 * ipoib_conn_alloc() - allocate a connection for a request of a peer
 *
 * Context: may sleep.
 * Return: the connection, which the caller frees by kfree() unless it passes it to
 * ipoib_conn_enter(); or NULL.
 */
struct ipoib_conn *ipoib_conn_alloc(void)
{
	return conn_alloc(IPOIB_CONN_REQUESTED, GFP_KERNEL);
}

/* Has a connection's work run from now on. ipoib_conns.lock is held. */
static void conn_start(struct ipoib_conn *conn, struct ipoib_dev *priv)
{
	struct ipoib_conns *conns = &priv->port->conns;

	conn->conns = conns;
	conn->qpn = priv->qp->qp_num;
	conn->net = dev_net(priv->netdev);
	RCU_INIT_POINTER(conn->priv, priv);
	list_add_tail(&conn->node, &conns->list);
	atomic_inc(&conns->alive);
	queue_delayed_work(conns->wq, &conn->work, 0);
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
	conn->id = id;
	id->context = conn;
	id->cm_handler = conn_cm_event;
	conn_start(conn, priv);
}

/**
 * ipoib_conn_request() - open a connection to a peer
 * @priv: the netdevice that is to send by it
 * @peer: the peer's link-layer address, without flags
 * @type: IB_QPT_RC or IB_QPT_UC, which the peer accepts
 * @service: prefix of the Service ID
 * @path: the path to the peer, without the LID of this port
 *
 * Queues the work that makes the connection. It is established when its send queue is open.
 *
 * Context: any but hard interrupt.
 * Return: the connection, with a reference for the caller; or NULL if there are too many or there
 * is no memory. If there are too many, one that is idle is closed.
 */
struct ipoib_conn *ipoib_conn_request(struct ipoib_dev *priv, const struct ipoib_hwaddr *peer,
				      enum ib_qp_type type, u64 service,
				      const struct sa_path_rec *path)
{
	struct ipoib_conns *conns = &priv->port->conns;
	struct ipoib_conn *conn = NULL;

	spin_lock_bh(&conns->lock);
	if (!ipoib_conns_may_open(priv))
		goto out;
	conn = conn_alloc(IPOIB_CONN_WANTED, GFP_ATOMIC);
	if (!conn)
		goto out;
	refcount_inc(&conn->refs);
	conn->opened = true;
	conn->peer = *peer;
	conn->type = type;
	conn->service_id = cpu_to_be64(service | ipoib_hwaddr_qpn(peer));
	conn->path = *path;
	conn->receive_least = READ_ONCE(priv->mtu) + IPOIB_ENCAP_LEN;
	conn->lid = be32_to_cpu(sa_path_get_dlid(&conn->path));
	conn_start(conn, priv);
out:
	spin_unlock_bh(&conns->lock);
	return conn;
}

/**
 * ipoib_conn_give_up() - close a connection, and give up a reference to it
 * @conn: the connection, which may be over
 *
 * Context: any but hard interrupt.
 */
void ipoib_conn_give_up(struct ipoib_conn *conn)
{
	conn_tell(conn, BIT(IPOIB_CONN_CLOSE));
	ipoib_conn_put(conn);
}
