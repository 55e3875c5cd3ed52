// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests for connections (RFC 4755): what a netdevice listens to, and which REQs it accepts.
 *
 * A netdevice that can receive by connections says so in its link-layer address, also in
 * datagram mode, as the in-tree driver does. Others of that kind send to it by connections only,
 * and would not reach it if it refused them for long.
 *
 * It listens to two Service IDs. Peers that use the one of RFC 4755 send and receive by the same
 * connection. Those that use the one of Linux and Windows only send, and open another connection
 * for the other direction. This driver sends to neither: it opens connections of its own
 * (ipoib_peer.c).
 *
 * A listener outlives the netdevice's going down for a moment, since the task that sets it down
 * holds rtnl, and must not wait for handlers of the communication manager: it calls those of all
 * users of the host one after the other, and one of them may be waiting for rtnl.
 */
#include <linux/moduleparam.h>

#include "ipoib.h"
#include "ipoib_csum.h"

static bool connected = true;
module_param(connected, bool, 0444);
MODULE_PARM_DESC(connected, "Accept connections, advertise this in the link-layer address, and allow mode connected");

static bool unreliable;
module_param_named(unreliable_connections, unreliable, bool, 0444);
MODULE_PARM_DESC(unreliable_connections, "Also accept unreliable connections (UC), and open them to peers that accept them (default: no)");

/* Service IDs that are listened to, without the QPN */
static const u64 service_ids[] = { IPOIB_SERVICE_ID_RFC, IPOIB_SERVICE_ID_LINUX };

struct ipoib_listener {
	struct ipoib_conns *conns;
	struct ipoib_dev *priv;		/* NULL if closed; guarded by ipoib_conns.lock */
	struct ib_device *ibdev;
	u32 qpn;
	struct ib_cm_id *ids[ARRAY_SIZE(service_ids)];	/* NULL or an ERR_PTR if not listening */
	u8 failures;			/* consecutive ones of open_work */
	struct delayed_work open_work;
	struct work_struct close_work;
};

/* Returns whether the HCA has UC QPs, which use an SRQ if it has SRQs. No attribute says so, but
 * there are none if it refuses one.
 */
static bool hca_is_unreliable(const struct ipoib_dev *priv)
{
	struct ib_qp_init_attr init = {
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.qp_type = IB_QPT_UC,
	};
	struct ib_srq_init_attr srq_init = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ib_qp *qp = ERR_PTR(-EOPNOTSUPP);
	struct ib_cq *cq;

	cq = ib_alloc_cq(priv->ibdev, NULL, 2, 0, IB_POLL_DIRECT);
	if (IS_ERR(cq))
		return false;
	init.send_cq = cq;
	init.recv_cq = cq;
	/* Some HCAs need a receive WR, and some refuse any beside an SRQ */
	if (ipoib_srq_is_shared(priv->ibdev)) {
		init.srq = ib_create_srq(priv->pd, &srq_init);
	} else {
		init.cap.max_recv_wr = 1;
		init.cap.max_recv_sge = 1;
	}
	if (!IS_ERR(init.srq))
		qp = ib_create_qp(priv->pd, &init);
	if (!IS_ERR(qp))
		ib_destroy_qp(qp);
	if (!IS_ERR_OR_NULL(init.srq))
		ib_destroy_srq(init.srq);
	ib_free_cq(cq);
	return !IS_ERR(qp);
}

/**
 * ipoib_cm_is_possible() - tell whether a netdevice can have connections
 * @priv: the device, registered or not
 *
 * Context: any.
 * Return: true if its HCA and port have them, and the administrator allows them.
 */
bool ipoib_cm_is_possible(const struct ipoib_dev *priv)
{
	return connected && ipoib_srq_is_supported(priv->ibdev, priv->port->number);
}

/**
 * ipoib_cm_init() - find out which connections a netdevice can accept
 * @priv: the device, about to be registered; it has its QP
 *
 * Context: rtnl held, may sleep.
 */
void ipoib_cm_init(struct ipoib_dev *priv)
{
	if (!ipoib_cm_is_possible(priv))
		return;
	priv->cm.flags = IPOIB_FLAG_RC;
	if (!unreliable)
		return;
	if (hca_is_unreliable(priv))
		priv->cm.flags |= IPOIB_FLAG_UC;
	else
		pr_info("ib_ipoib: %s has no unreliable connections\n",
			dev_name(&priv->ibdev->dev));
}

/**
 * ipoib_cm_flags() - get the flags of a netdevice's link-layer address
 * @priv: the device
 *
 * They tell peers which connections it accepts (RFC 4755 section 3.1), and do not change.
 *
 * Context: any.
 * Return: the first octet of the address.
 */
u8 ipoib_cm_flags(const struct ipoib_dev *priv)
{
	return priv->cm.flags;
}

static bool type_is_accepted(const struct ipoib_dev *priv, enum ib_qp_type type)
{
	return type == IB_QPT_RC || (type == IB_QPT_UC && priv->cm.flags & IPOIB_FLAG_UC);
}

/* Returns whether the P_Key of a REQ is that of the netdevice's partition, and one of the two ports
 * is a full member of it (IBA 10.9.3)
 */
static bool pkey_fits(const struct ipoib_dev *priv, u16 pkey)
{
	u16 own;

	if ((pkey ^ priv->pkey) & ~IPOIB_PKEY_FULL)
		return false;
	if (ib_get_cached_pkey(priv->ibdev, priv->port->number, priv->pkey_index, &own))
		return false;
	return (own | pkey) & IPOIB_PKEY_FULL;
}

static bool is_self(const struct ipoib_dev *priv, const struct ipoib_hwaddr *peer)
{
	return ipoib_hwaddr_qpn(peer) == priv->qp->qp_num &&
	       ipoib_gid_equal(peer->gid, &priv->local_gid);
}

/* Returns whether the peer's address can be that of an interface at this LID. An RC QP only checks
 * the LID of what it receives, so a request could claim the GID of another port.
 */
static bool peer_is_valid(struct ipoib_dev *priv, const struct ipoib_hwaddr *peer, u32 lid)
{
	u32 qpn = ipoib_hwaddr_qpn(peer);
	union ib_gid gid;

	memcpy(&gid, peer->gid, sizeof(gid));
	return qpn && qpn != IPOIB_QPN_MULTICAST && !ipoib_gid_is_multicast(peer->gid) &&
	       !is_self(priv, peer) && ipoib_verify_gid(priv, &gid, lid);
}

/* Returns the reason to reject a REQ, or 0 to accept it */
static int req_refusal(struct ipoib_dev *priv, const struct ib_cm_req_event_param *req,
		       const struct ipoib_conn *conn)
{
	const struct sa_path_rec *path = req->primary_path;

	if (req->port != priv->port->number || !ipoib_link_runs(priv))
		return IB_CM_REJ_INVALID_SERVICE_ID;
	if (!type_is_accepted(priv, req->qp_type))
		return IB_CM_REJ_INVALID_TRANSPORT_TYPE;
	if (!ipoib_gid_equal(&path->sgid, &priv->local_gid))
		return IB_CM_REJ_INVALID_GID;
	if (conn->receive_mtu < IPOIB_RECEIVE_MTU_MIN)
		return IB_CM_REJ_INVALID_MTU;
	if (!pkey_fits(priv, be16_to_cpu(path->pkey)) ||
	    !peer_is_valid(priv, &conn->peer, conn->lid))
		return IB_CM_REJ_CONSUMER_DEFINED;
	if (!ipoib_conns_may_accept(priv, conn->lid))
		return IB_CM_REJ_NO_QP;
	return 0;
}

/* Copies what a connection needs of a REQ, whose event is valid only in its handler. The path is
 * that from this port.
 */
static void conn_fill(struct ipoib_conn *conn, const struct ib_cm_event *event, __be64 service_id)
{
	struct sa_path_rec *path = event->param.req_rcvd.primary_path;
	const struct ipoib_cm_offer *offer = event->private_data;

	ipoib_hwaddr_build(&conn->peer, ipoib_cm_data_qpn(&offer->data), &path->dgid);
	conn->receive_mtu = be32_to_cpu(offer->data.receive_mtu);
	conn->unsummed = ipoib_csum_is_agreed(offer);
	conn->lid = be32_to_cpu(sa_path_get_dlid(path));
	conn->own_lid = be32_to_cpu(sa_path_get_slid(path));
	conn->service_id = service_id;
	conn->type = event->param.req_rcvd.qp_type;
}

/* Has the netdevice accept a REQ. Returns the reason if it does not. */
static int accept(struct ipoib_listener *listener, struct ipoib_conn *conn, struct ib_cm_id *id,
		  const struct ib_cm_req_event_param *req)
{
	struct ipoib_conns *conns = listener->conns;
	int reason = IB_CM_REJ_INVALID_SERVICE_ID;
	struct ipoib_dev *priv;

	spin_lock_bh(&conns->lock);
	priv = listener->priv;
	if (priv) {
		reason = req_refusal(priv, req, conn);
		if (reason)
			ipoib_count(priv, IPOIB_STAT_CONN_REFUSED);
	}
	if (!reason)
		ipoib_conn_enter(conn, priv, id);
	spin_unlock_bh(&conns->lock);
	return reason;
}

/* Handles a REQ. Its identifier is destroyed if this returns an error. */
static int req_received(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct ipoib_listener *listener = id->context;
	struct ipoib_conn *conn;
	int reason;

	conn = ipoib_conn_alloc();
	if (!conn)
		return -ENOMEM;
	conn_fill(conn, event, event->param.req_rcvd.listen_id->service_id);
	reason = accept(listener, conn, id, &event->param.req_rcvd);
	if (!reason)
		return 0;
	kfree(conn);
	ipoib_conn_reject(id, listener->qpn, reason);
	return -ECONNREFUSED;
}

/* A SIDR_REQ to the same Service ID (IBA 12.11.1) also comes with an identifier of its own. It is
 * refused, and the identifier is destroyed, if this returns an error.
 */
static int listener_event(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	return event->event == IB_CM_REQ_RECEIVED ? req_received(id, event) : -EOPNOTSUPP;
}

static struct ib_cm_id *listen(struct ipoib_listener *listener, u64 service_id)
{
	struct ib_cm_id *id = ib_create_cm_id(listener->ibdev, listener_event, listener);
	int err;

	if (IS_ERR(id))
		return id;
	err = ib_cm_listen(id, cpu_to_be64(service_id | listener->qpn));
	if (!err)
		return id;
	ib_destroy_cm_id(id);
	return ERR_PTR(err);
}

/* Listens to the Service IDs that it does not listen to yet. Returns the last error. */
static int listen_all(struct ipoib_listener *listener)
{
	int i, err = 0;

	for (i = 0; i < ARRAY_SIZE(service_ids); i++) {
		if (IS_ERR_OR_NULL(listener->ids[i]))
			listener->ids[i] = listen(listener, service_ids[i]);
		if (IS_ERR(listener->ids[i]))
			err = PTR_ERR(listener->ids[i]);
	}
	return err;
}

static void open_work(struct work_struct *work)
{
	struct ipoib_listener *listener = container_of(work, struct ipoib_listener, open_work.work);
	int err = listen_all(listener);

	if (!err)
		return;
	if (!listener->failures)
		pr_warn("ib_ipoib: %s: QP %u cannot listen to connections: error %d, will try again\n",
			dev_name(&listener->ibdev->dev), listener->qpn, err);
	queue_delayed_work(listener->conns->wq, &listener->open_work,
			   ipoib_retry_at(&listener->failures) - jiffies);
}

static void close_work(struct work_struct *work)
{
	struct ipoib_listener *listener = container_of(work, struct ipoib_listener, close_work);
	int i;

	/* It does not run, since it is on the same ordered queue as this work */
	cancel_delayed_work(&listener->open_work);
	for (i = 0; i < ARRAY_SIZE(service_ids); i++)
		if (!IS_ERR_OR_NULL(listener->ids[i]))
			ib_destroy_cm_id(listener->ids[i]);
	kfree(listener);
}

/**
 * ipoib_cm_open() - begin to listen
 * @priv: the device, being brought up
 *
 * Without memory the netdevice does not listen, so that peers send datagrams or nothing.
 *
 * Context: rtnl held, may sleep.
 */
void ipoib_cm_open(struct ipoib_dev *priv)
{
	struct ipoib_listener *listener;

	if (!ipoib_cm_flags(priv))
		return;
	listener = kzalloc(sizeof(*listener), GFP_KERNEL);
	if (!listener)
		return;
	listener->conns = &priv->port->conns;
	listener->priv = priv;
	listener->ibdev = priv->ibdev;
	listener->qpn = priv->qp->qp_num;
	INIT_DELAYED_WORK(&listener->open_work, open_work);
	INIT_WORK(&listener->close_work, close_work);
	priv->cm.listener = listener;
	/* On the connections' queue, so that an earlier listener to the same QPN has been closed */
	queue_delayed_work(listener->conns->wq, &listener->open_work, 0);
}

/**
 * ipoib_cm_close() - stop to listen, and close all connections
 * @priv: the device
 *
 * On return no connection delivers packets to the netdevice any more. The rest is done
 * asynchronously.
 *
 * Context: rtnl held, may sleep.
 */
void ipoib_cm_close(struct ipoib_dev *priv)
{
	struct ipoib_listener *listener = priv->cm.listener;

	priv->cm.listener = NULL;
	if (listener) {
		spin_lock_bh(&listener->conns->lock);
		listener->priv = NULL;
		spin_unlock_bh(&listener->conns->lock);
	}
	ipoib_conns_detach(priv);
	if (listener)
		queue_work(listener->conns->wq, &listener->close_work);
}
