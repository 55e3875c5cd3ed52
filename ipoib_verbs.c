// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * PD, CQs and the UD QP: their life cycle, the QP's states and its P_Key.
 *
 * The QP lives as long as the netdevice, since its number is part of the
 * link-layer address; taking the link down resets it.
 */
#include "ipoib.h"

static void cq_completed(struct ib_cq *cq, void *context)
{
	napi_schedule(context);
}

static void qp_event(struct ib_event *event, void *context)
{
	struct ipoib_dev *priv = context;

	netdev_warn(priv->netdev, "QP event: %s\n", ib_event_msg(event->event));
	if (event->event == IB_EVENT_QP_FATAL || event->event == IB_EVENT_QP_REQ_ERR ||
	    event->event == IB_EVENT_QP_ACCESS_ERR)
		ipoib_link_event(priv, IPOIB_EVENT_HEAVY);
}

static void cq_event(struct ib_event *event, void *context)
{
	struct napi_struct *napi = context;

	netdev_warn(napi->dev, "CQ event: %s\n", ib_event_msg(event->event));
	ipoib_link_event(netdev_priv(napi->dev), IPOIB_EVENT_HEAVY);
}

static struct ib_cq *cq_create(struct ipoib_dev *priv, u32 cqe, struct napi_struct *napi)
{
	struct ib_cq_init_attr attr = {
		.cqe = cqe,
		.comp_vector = (priv->port - 1) % priv->ibdev->num_comp_vectors,
	};

	return ib_create_cq(priv->ibdev, cq_completed, cq_event, napi, &attr);
}

static int qp_create(struct ipoib_dev *priv)
{
	const struct ib_device_attr *attrs = &priv->ibdev->attrs;
	struct ib_qp_init_attr init = {
		.event_handler = qp_event,
		.qp_context = priv,
		.send_cq = priv->tx.cq,
		.recv_cq = priv->rx.cq,
		.cap = {
			.max_send_wr = priv->tx.size,
			.max_recv_wr = priv->rx.size,
			.max_send_sge = min_t(u32, attrs->max_send_sge, MAX_SKB_FRAGS + 1),
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_UD,
	};

	if (attrs->kernel_cap_flags & IBK_BLOCK_MULTICAST_LOOPBACK)
		init.create_flags |= IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	priv->qp = ib_create_qp(priv->pd, &init);
	if (IS_ERR(priv->qp))
		return PTR_ERR(priv->qp);
	priv->tx.max_sge = init.cap.max_send_sge;
	return 0;
}

/* The rings may not be larger than what the HCA can hold */
static void limit_rings(struct ipoib_dev *priv)
{
	const struct ib_device_attr *attrs = &priv->ibdev->attrs;
	u32 most = rounddown_pow_of_two(max(min(attrs->max_qp_wr, attrs->max_cqe), 1));

	priv->tx.size = min(priv->tx_ring_size, most);
	priv->rx.size = min(priv->rx_ring_size, most);
}

/**
 * ipoib_verbs_create() - create PD, CQs and QP
 * @priv: the device; ring sizes and NAPI contexts are set
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int ipoib_verbs_create(struct ipoib_dev *priv)
{
	int err;

	limit_rings(priv);
	priv->pd = ib_alloc_pd(priv->ibdev, 0);
	if (IS_ERR(priv->pd))
		return PTR_ERR(priv->pd);
	priv->rx.cq = cq_create(priv, priv->rx.size, &priv->rx.napi);
	if (IS_ERR(priv->rx.cq)) {
		err = PTR_ERR(priv->rx.cq);
		goto err_pd;
	}
	priv->tx.cq = cq_create(priv, priv->tx.size, &priv->tx.napi);
	if (IS_ERR(priv->tx.cq)) {
		err = PTR_ERR(priv->tx.cq);
		goto err_rx_cq;
	}
	err = qp_create(priv);
	if (err)
		goto err_tx_cq;
	return 0;

err_tx_cq:
	ib_destroy_cq(priv->tx.cq);
err_rx_cq:
	ib_destroy_cq(priv->rx.cq);
err_pd:
	ib_dealloc_pd(priv->pd);
	return err;
}

/**
 * ipoib_verbs_destroy() - destroy what ipoib_verbs_create() created
 * @priv: the device; the QP is in RESET and no AH is left
 *
 * Context: may sleep.
 */
void ipoib_verbs_destroy(struct ipoib_dev *priv)
{
	ib_destroy_qp(priv->qp);
	ib_destroy_cq(priv->tx.cq);
	ib_destroy_cq(priv->rx.cq);
	ib_dealloc_pd(priv->pd);
}

static int qp_to_state(struct ipoib_dev *priv, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	return ib_modify_qp(priv->qp, &attr, IB_QP_STATE);
}

static int qp_to_init(struct ipoib_dev *priv)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.pkey_index = priv->pkey_index,
		.port_num = priv->port,
		.qkey = priv->qkey,
	};

	return ib_modify_qp(priv->qp, &attr,
			    IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY);
}

static int qp_to_rts(struct ipoib_dev *priv)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS };
	int err;

	err = qp_to_state(priv, IB_QPS_RTR);
	if (err)
		return err;
	return ib_modify_qp(priv->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
}

/* A QP that cannot be moved is in the hands of a broken or vanished HCA */
static void qp_force(struct ipoib_dev *priv, enum ib_qp_state state)
{
	int err = qp_to_state(priv, state);

	if (err)
		netdev_warn(priv->netdev, "cannot move QP to state %d: error %d\n", state, err);
}

/**
 * ipoib_qp_start() - take the QP from RESET to RTS, with its buffers posted
 * @priv: the device; its rings exist and its P_Key index is known
 *
 * Context: control path.
 * Return: 0 or a negative error; the QP is in RESET then.
 */
int ipoib_qp_start(struct ipoib_dev *priv)
{
	int err;

	err = qp_to_init(priv);
	if (err)
		return err;
	err = ipoib_rings_start(priv);
	if (err) {
		qp_force(priv, IB_QPS_RESET);
		return err;
	}
	WRITE_ONCE(priv->qp_running, true);
	err = qp_to_rts(priv);
	if (err) {
		ipoib_qp_stop(priv);
		return err;
	}
	netif_tx_start_all_queues(priv->netdev);
	return 0;
}

/**
 * ipoib_qp_stop() - take the QP to RESET, with both rings empty
 * @priv: the device. Nothing happens if the QP does not run
 *
 * Context: control path.
 */
void ipoib_qp_stop(struct ipoib_dev *priv)
{
	if (!priv->qp_running)
		return;
	WRITE_ONCE(priv->qp_running, false);
	netif_tx_disable(priv->netdev);
	qp_force(priv, IB_QPS_ERR);
	ipoib_rings_drain(priv);
	qp_force(priv, IB_QPS_RESET);
	ipoib_rings_stop(priv);
}

/**
 * ipoib_qp_set_qkey() - have the QP take packets with this Q_Key
 * @priv: the device; its QP is in RTS
 * @qkey: the broadcast group's
 *
 * Context: control path.
 * Return: 0 or a negative error.
 */
int ipoib_qp_set_qkey(struct ipoib_dev *priv, u32 qkey)
{
	struct ib_qp_attr attr = { .qkey = qkey };
	int err;

	if (qkey == priv->qkey)
		return 0;
	err = ib_modify_qp(priv->qp, &attr, IB_QP_QKEY);
	if (!err)
		WRITE_ONCE(priv->qkey, qkey);
	return err;
}

/**
 * ipoib_pkey_default() - the P_Key of a port's first netdevice
 * @ibdev: the HCA
 * @port: its port
 * @pkey: filled in, with the full-member bit
 *
 * The first of the port's table, or the default P_Key if the subnet manager has
 * not written the table yet (IBA 10.9.1.2).
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int ipoib_pkey_default(struct ib_device *ibdev, u32 port, u16 *pkey)
{
	int err;

	err = ib_query_pkey(ibdev, port, 0, pkey);
	if (err)
		return err;
	*pkey |= IPOIB_PKEY_FULL;
	if (*pkey == IPOIB_PKEY_FULL)
		*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}
