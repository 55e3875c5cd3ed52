// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The transport that uses plain verbs: a PD, CQs and UD QPs, their life cycle and the QP states.
 *
 * Each channel has a QP for sending. The first channel's QP also receives. The QPs are not
 * destroyed when the link goes down, only reset, since the number of the first one is part of
 * the link-layer address.
 */
#include "ipoib.h"

/* How often an HCA that has no memory or is busy is asked to detach a QP from a group */
#define DETACH_TRIES		3

/* Number of netdevices that have been created so far, on all HCAs */
static atomic_t netdevs_made;

static void rx_cq_completed(struct ib_cq *cq, void *context)
{
	struct ipoib_dev *priv = context;

	ipoib_rx_event(&priv->rx);
}

static void tx_cq_completed(struct ib_cq *cq, void *context)
{
	struct ipoib_txq *tx = context;

	atomic_set(&tx->armed, false);
	ipoib_tx_reap(tx);
}

static void qp_event(struct ib_event *event, void *context)
{
	struct ipoib_sq *sq = context;
	struct ipoib_dev *priv = sq->priv;

	netdev_warn(priv->netdev, "QP event: %s\n", ib_event_msg(event->event));
	if (event->event == IB_EVENT_QP_FATAL || event->event == IB_EVENT_QP_REQ_ERR ||
	    event->event == IB_EVENT_QP_ACCESS_ERR)
		ipoib_link_event(priv, IPOIB_EVENT_HEAVY);
}

static void cq_failed(struct ipoib_dev *priv, const struct ib_event *event)
{
	netdev_warn(priv->netdev, "CQ event: %s\n", ib_event_msg(event->event));
	/* A CQ in error never recovers (IBA 11.6.3.1) */
	ipoib_netdev_repair(priv);
}

static void rx_cq_event(struct ib_event *event, void *context)
{
	cq_failed(context, event);
}

static void tx_cq_event(struct ib_event *event, void *context)
{
	struct ipoib_txq *tx = context;

	cq_failed(tx->priv, event);
}

/* Returns the completion vector of a queue. To spread the interrupts, the first queue of each
 * netdevice uses the vector after that of the netdevice created before it, and the other queues
 * use the vectors that follow.
 */
static u32 comp_vector(const struct ipoib_dev *priv, u32 index)
{
	return (priv->first_vector + index) % priv->ibdev->num_comp_vectors;
}

/* Returns whether the HCA's checksum and segmentation offloads are used. The verbs define checksum
 * offload for IPv4 only. Both capabilities are required, because mlx5 may report checksum offload
 * without segmentation, but performs it only on QPs that were created for segmentation.
 */
static bool hca_offloads(const struct ib_device_attr *attrs)
{
	return (attrs->device_cap_flags & IB_DEVICE_UD_IP_CSUM) &&
	       (attrs->kernel_cap_flags & IBK_UD_TSO);
}

/* Returns the flags for creating a QP. Some HCAs treat QPs of IPoIB in a special way: mlx4 steers
 * the packets that IPoIB receives by a flow rule, and hfi1 has a separate range of QP numbers for
 * IPoIB.
 */
static u32 qp_create_flags(const struct ib_device_attr *attrs, bool receives)
{
	u32 flags = 0;

	if (attrs->kernel_cap_flags & IBK_BLOCK_MULTICAST_LOOPBACK)
		flags |= IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	if (hca_offloads(attrs))
		flags |= IB_QP_CREATE_IPOIB_UD_LSO;
	if (receives && (attrs->device_cap_flags & IB_DEVICE_MANAGED_FLOW_STEERING))
		flags |= IB_QP_CREATE_NETIF_QP;
	if (attrs->kernel_cap_flags & IBK_RDMA_NETDEV_OPA)
		flags |= IB_QP_CREATE_NETDEV_USE;
	return flags;
}

/* Creates the QP of a TX queue. Only the first TX queue's QP also receives. The others have room
 * for one receive WR, which is never posted, because not every HCA can create a QP without any.
 */
static int qp_create(struct ipoib_queues *queues, struct ipoib_txq *tx)
{
	const struct ib_device_attr *attrs = &tx->priv->ibdev->attrs;
	struct ipoib_sq *sq = &tx->sq;
	struct ib_qp_init_attr init = {
		.event_handler = qp_event,
		.qp_context = sq,
		.send_cq = tx->cq,
		.recv_cq = queues->rx_cq,
		.cap = {
			.max_send_wr = queues->tx_size,
			.max_recv_wr = tx->index ? 1 : queues->rx_size,
			.max_send_sge = queues->max_send_sge,
			.max_recv_sge = min(attrs->max_recv_sge, 2),
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_UD,
		.create_flags = qp_create_flags(attrs, !tx->index),
	};

	sq->priv = tx->priv;
	sq->txq = tx;
	sq->size = queues->tx_size;
	sq->segments_max = min_t(u32, sq->size / 4, IPOIB_TX_SEGMENTS_MAX);
	sq->hca_offloads = hca_offloads(attrs);
	sq->lkey = tx->priv->pd->local_dma_lkey;
	sq->qp = ib_create_qp(tx->priv->pd, &init);
	if (IS_ERR(sq->qp))
		return PTR_ERR(sq->qp);
	queues->max_recv_sge = init.cap.max_recv_sge;
	return 0;
}

/* The limits in the HCA's attributes apply to the smallest WRs. With as many SGEs as this driver
 * uses, the HCA may support fewer WRs, which shows only when a QP is created.
 */
static u32 verbs_ring_limit(const struct ipoib_dev *priv)
{
	const struct ib_device_attr *attrs = &priv->ibdev->attrs;
	u32 most = rounddown_pow_of_two(max(min(attrs->max_qp_wr, attrs->max_cqe), 1));

	return min_t(u32, most, IPOIB_RING_MAX);
}

static int channel_create(struct ipoib_dev *priv, struct ipoib_queues *queues, u32 index)
{
	struct ipoib_channel *channel = &queues->channels[index];
	struct ipoib_txq *tx = &channel->tx;
	struct ib_cq_init_attr attr = {
		.cqe = queues->tx_size,
		.comp_vector = comp_vector(priv, index),
	};
	int err;

	channel->rx = index ? NULL : &priv->rx;
	tx->priv = priv;
	tx->napi = &channel->napi;
	tx->index = index;
	tx->queue = netdev_get_tx_queue(priv->netdev, index);
	ipoib_tx_reaper_init(tx);
	u64_stats_init(&tx->stats.syncp);
	tx->cq = ib_create_cq(priv->ibdev, tx_cq_completed, tx_cq_event, tx, &attr);
	if (IS_ERR(tx->cq))
		return PTR_ERR(tx->cq);
	err = qp_create(queues, tx);
	if (err) {
		ib_destroy_cq(tx->cq);
		return err;
	}
	netif_napi_add_config(priv->netdev, &channel->napi, ipoib_channel_poll, index);
	return 0;
}

static void channels_destroy(struct ipoib_queues *queues, u32 count)
{
	struct ipoib_channel *channel;

	while (count--) {
		channel = &queues->channels[count];
		netif_napi_del(&channel->napi);
		ib_destroy_qp(channel->tx.sq.qp);
		ib_destroy_cq(channel->tx.cq);
	}
}

static int channels_create(struct ipoib_dev *priv, struct ipoib_queues *queues)
{
	int err;
	u32 i;

	for (i = 0; i < queues->count; i++) {
		err = channel_create(priv, queues, i);
		if (err) {
			channels_destroy(queues, i);
			return err;
		}
	}
	return 0;
}

static int queues_create(struct ipoib_dev *priv, struct ipoib_queues *queues)
{
	struct ib_cq_init_attr attr = {
		.cqe = queues->rx_size,
		.comp_vector = comp_vector(priv, 0),
	};
	int err;

	queues->channels = kvcalloc(queues->count, sizeof(*queues->channels), GFP_KERNEL);
	if (!queues->channels)
		return -ENOMEM;
	queues->rx_cq = ib_create_cq(priv->ibdev, rx_cq_completed, rx_cq_event, priv, &attr);
	err = PTR_ERR_OR_ZERO(queues->rx_cq);
	if (err)
		goto err_memory;
	err = channels_create(priv, queues);
	if (err)
		goto err_rx_cq;
	err = netif_set_real_num_tx_queues(priv->netdev, queues->count);
	if (err)
		goto err_channels;
	return 0;

err_channels:
	channels_destroy(queues, queues->count);
err_rx_cq:
	ib_destroy_cq(queues->rx_cq);
err_memory:
	kvfree(queues->channels);
	return err;
}

/* Reduces what the HCA has refused: halves the longer ring, or if they are equal the send ring,
 * whose WRs are larger; when the rings cannot be reduced further, the number of SGEs. Returns
 * false if nothing is left to reduce.
 */
static bool queues_shrink(struct ipoib_queues *queues)
{
	u32 *most = queues->tx_size < queues->rx_size ? &queues->rx_size : &queues->tx_size;

	if (*most <= IPOIB_RING_MIN)
		most = &queues->max_send_sge;
	*most /= 2;
	return *most;
}

/* Creates the queues of a new netdevice, as large as the HCA supports. Unlike a change of the ring
 * sizes, there is no user yet to whom an error could be returned.
 */
static int queues_create_fitting(struct ipoib_dev *priv, struct ipoib_queues *queues)
{
	struct ipoib_queues asked = *queues;
	int err;

	do {
		err = queues_create(priv, queues);
	} while ((err == -EINVAL || err == -ENOMEM) && queues_shrink(queues));
	if (!err && (queues->tx_size != asked.tx_size || queues->rx_size != asked.rx_size ||
		     queues->max_send_sge != asked.max_send_sge))
		netdev_info(priv->netdev,
			    "the HCA refuses rings of %u sends of %u pieces and %u receives: made %u of %u and %u\n",
			    asked.tx_size, asked.max_send_sge, asked.rx_size,
			    queues->tx_size, queues->max_send_sge, queues->rx_size);
	return err;
}

/* An event of a CQ may still be on its way to the CPU until the CQ is destroyed. Its handler uses
 * the NAPI context, which is in the memory of the channels.
 */
static void queues_destroy(struct ipoib_queues *queues)
{
	channels_destroy(queues, queues->count);
	ib_destroy_cq(queues->rx_cq);
	kvfree(queues->channels);
}

/* Has netlink show which NAPI contexts serve the queues, until queues_hide_napi() */
static void queues_show_napi(struct net_device *netdev, const struct ipoib_queues *queues)
{
	u32 i;

	netif_queue_set_napi(netdev, 0, NETDEV_QUEUE_TYPE_RX, &queues->channels->napi);
	for (i = 0; i < queues->count; i++)
		netif_queue_set_napi(netdev, i, NETDEV_QUEUE_TYPE_TX, &queues->channels[i].napi);
}

static void queues_hide_napi(struct net_device *netdev, const struct ipoib_queues *queues)
{
	u32 i;

	netif_queue_set_napi(netdev, 0, NETDEV_QUEUE_TYPE_RX, NULL);
	for (i = 0; i < queues->count; i++)
		netif_queue_set_napi(netdev, i, NETDEV_QUEUE_TYPE_TX, NULL);
}

/* Sets how many segments a large packet may have. The stack's own limit follows, unless it was set
 * to less (ip link set gso_max_segs): netif_set_tso_max_segs() only lowers it.
 */
static void limit_segments(struct net_device *netdev, u32 segments)
{
	bool follows = netdev->gso_max_segs == netdev->tso_max_segs;

	netif_set_tso_max_segs(netdev, segments);
	if (follows)
		WRITE_ONCE(netdev->gso_max_segs, segments);
}

/* Makes new queues those of the device, and copies what the data path needs of them to the rings */
static void queues_use(struct ipoib_dev *priv, const struct ipoib_queues *queues)
{
	priv->queues = *queues;
	priv->channels = queues->channels;
	priv->qp = queues->channels->tx.sq.qp;
	WRITE_ONCE(priv->max_sge, queues->max_send_sge);
	ipoib_rx_use(&priv->rx, queues->rx_cq, &queues->channels->napi, queues->rx_size,
		     queues->max_recv_sge > 1);
	queues_show_napi(priv->netdev, queues);
	limit_segments(priv->netdev, queues->channels->tx.sq.segments_max);
	WRITE_ONCE(priv->cq_failed, false);
}

static int verbs_create(struct ipoib_dev *priv)
{
	u32 most = verbs_ring_limit(priv);
	struct ipoib_queues queues = {
		.count = 1,
		.tx_size = min(priv->queues.tx_size, most),
		.rx_size = min(priv->queues.rx_size, most),
		.max_send_sge = clamp_t(u32, priv->ibdev->attrs.max_send_sge, 1,
					IPOIB_TX_SGE_MAX),
	};
	int err;

	priv->first_vector = atomic_fetch_inc(&netdevs_made);
	priv->pd = ib_alloc_pd(priv->ibdev, 0);
	if (IS_ERR(priv->pd))
		return PTR_ERR(priv->pd);
	err = queues_create_fitting(priv, &queues);
	if (err) {
		ib_dealloc_pd(priv->pd);
		return err;
	}
	queues_use(priv, &queues);
	return 0;
}

static void verbs_destroy(struct ipoib_dev *priv)
{
	ipoib_dim_cancel(&priv->rx);
	queues_hide_napi(priv->netdev, &priv->queues);
	queues_destroy(&priv->queues);
	ib_dealloc_pd(priv->pd);
}

/* Sets the moderation of all CQs, also of those after one that fails. With adaptive moderation, the
 * receive CQ starts without any.
 */
static int moderate(struct ipoib_dev *priv, const struct ipoib_moderation *moderation)
{
	u16 frames = moderation->rx_adaptive ? 0 : moderation->rx_frames;
	u16 usecs = moderation->rx_adaptive ? 0 : moderation->rx_usecs;
	struct ipoib_channel *channel;
	int err, ret;

	err = rdma_set_cq_moderation(priv->queues.rx_cq, frames, usecs);
	for (channel = priv->channels; channel < ipoib_channels_end(priv); channel++) {
		ret = rdma_set_cq_moderation(channel->tx.cq, moderation->tx_frames,
					     moderation->tx_usecs);
		err = err ?: ret;
	}
	return err;
}

static int verbs_moderate(struct ipoib_dev *priv, const struct ipoib_moderation *moderation)
{
	int err;

	ipoib_dim_stop(&priv->rx);
	err = moderate(priv, moderation);
	/* Some of the CQs may have accepted the new values */
	if (err)
		moderate(priv, &priv->moderation);
	else
		priv->moderation = *moderation;
	if (priv->moderation.rx_adaptive)
		ipoib_dim_start(&priv->rx);
	return err;
}

static void stats_keep(struct ipoib_queues *queues, const struct ipoib_queues *old)
{
	u32 i;

	for (i = 0; i < min(queues->count, old->count); i++)
		queues->channels[i].tx.stats = old->channels[i].tx.stats;
}

/* Replaces all queues, because few HCAs can resize a QP, and none can repair a CQ. The new QPs have
 * other numbers, so the link-layer address changes.
 */
static int verbs_resize(struct ipoib_dev *priv, u32 count, u32 tx_size, u32 rx_size)
{
	struct ipoib_queues queues = {
		.count = count,
		.tx_size = tx_size,
		.rx_size = rx_size,
		.max_send_sge = priv->queues.max_send_sge,
	};
	struct ipoib_queues old = priv->queues;
	int err;

	err = queues_create(priv, &queues);
	if (err)
		return err;
	ipoib_ahs_flush(priv);
	ipoib_dim_cancel(&priv->rx);
	stats_keep(&queues, &old);
	queues_hide_napi(priv->netdev, &old);
	queues_use(priv, &queues);
	queues_destroy(&old);
	if (memchr_inv(&priv->moderation, 0, sizeof(priv->moderation)))
		err = verbs_moderate(priv, &priv->moderation);
	if (err)
		netdev_warn(priv->netdev, "cannot moderate completions: error %d\n", err);
	return 0;
}

static int qps_modify(struct ipoib_dev *priv, struct ib_qp_attr *attr, int mask)
{
	struct ipoib_channel *channel;
	int err = 0;

	for (channel = priv->channels; channel < ipoib_channels_end(priv); channel++) {
		err = ib_modify_qp(channel->tx.sq.qp, attr, mask);
		if (err)
			break;
	}
	return err;
}

static int qps_to_init(struct ipoib_dev *priv)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.pkey_index = priv->pkey_index,
		.port_num = priv->port->number,
		.qkey = priv->qkey,
	};

	return qps_modify(priv, &attr,
			  IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY);
}

static int qps_to_rts(struct ipoib_dev *priv)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int err;

	err = qps_modify(priv, &attr, IB_QP_STATE);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTS;
	return qps_modify(priv, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
}

/* Moves all QPs to a state. An error is only logged, as it means that the HCA is broken or gone. */
static void qps_force(struct ipoib_dev *priv, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };
	struct ipoib_channel *channel;
	int err;

	for (channel = priv->channels; channel < ipoib_channels_end(priv); channel++) {
		err = ib_modify_qp(channel->tx.sq.qp, &attr, IB_QP_STATE);
		if (err)
			netdev_warn(priv->netdev, "cannot move QP to state %d: error %d\n",
				    state, err);
	}
}

/* Moves the QPs to RESET and empties all rings */
static void verbs_stop(struct ipoib_dev *priv)
{
	if (!priv->qp_running)
		return;
	WRITE_ONCE(priv->qp_running, false);
	netif_tx_disable(priv->netdev);
	qps_force(priv, IB_QPS_ERR);
	ipoib_channels_drain(priv);
	qps_force(priv, IB_QPS_RESET);
	ipoib_channels_stop(priv);
}

/* Moves the QPs from RESET to RTS and posts the receive buffers */
static int verbs_start(struct ipoib_dev *priv)
{
	int err;

	err = qps_to_init(priv);
	if (!err)
		err = ipoib_channels_start(priv);
	if (err) {
		qps_force(priv, IB_QPS_RESET);
		return err;
	}
	WRITE_ONCE(priv->qp_running, true);
	err = qps_to_rts(priv);
	if (err) {
		verbs_stop(priv);
		return err;
	}
	netif_tx_start_all_queues(priv->netdev);
	return 0;
}

static int verbs_set_qkey(struct ipoib_dev *priv, u32 qkey)
{
	struct ib_qp_attr attr = { .qkey = qkey };
	int err;

	if (qkey == priv->qkey)
		return 0;
	err = qps_modify(priv, &attr, IB_QP_QKEY);
	if (!err)
		WRITE_ONCE(priv->qkey, qkey);
	return err;
}

static bool verbs_holds(const struct ipoib_dev *priv, u32 mtu)
{
	return ipoib_rx_holds(&priv->rx, mtu);
}

static int verbs_fit(struct ipoib_dev *priv, u32 mtu)
{
	return ipoib_rx_fit(&priv->rx, mtu);
}

/* Only the first QP is attached, as the others do not receive */
static int verbs_attach(struct ipoib_dev *priv, union ib_gid *mgid, u16 mlid)
{
	return ib_attach_mcast(priv->qp, mgid, mlid);
}

/* A QP that is still attached to a group can never be destroyed. So the HCA is asked again if it
 * has failed for lack of memory or because it is busy.
 */
static int verbs_detach(struct ipoib_dev *priv, union ib_gid *mgid, u16 mlid)
{
	int tries = DETACH_TRIES;
	int err;

	do {
		err = ib_detach_mcast(priv->qp, mgid, mlid);
	} while ((err == -ENOMEM || err == -EAGAIN) && --tries);
	return err;
}

static void verbs_mark(struct ipoib_dev *priv)
{
	struct ipoib_channel *channel;

	for (channel = priv->channels; channel < ipoib_channels_end(priv); channel++)
		ipoib_sq_mark(&channel->tx.sq);
}

static bool verbs_is_past_mark(const struct ipoib_dev *priv)
{
	const struct ipoib_channel *channel;

	for (channel = priv->channels; channel < ipoib_channels_end(priv); channel++)
		if (!ipoib_sq_is_past_mark(&channel->tx.sq))
			return false;
	return true;
}

const struct ipoib_transport_ops ipoib_verbs_ops = {
	.ring_limit = verbs_ring_limit,
	.create = verbs_create,
	.destroy = verbs_destroy,
	.resize = verbs_resize,
	.moderate = verbs_moderate,
	.open = ipoib_channels_create,
	.close = ipoib_channels_destroy,
	.start = verbs_start,
	.stop = verbs_stop,
	.holds = verbs_holds,
	.fit = verbs_fit,
	.set_qkey = verbs_set_qkey,
	.attach = verbs_attach,
	.detach = verbs_detach,
	.mark = verbs_mark,
	.is_past_mark = verbs_is_past_mark,
};

/**
 * ipoib_pkey_default() - get the P_Key of a port's own netdevice
 * @port: the port
 * @pkey: filled in, with the full-member bit
 *
 * This is the first P_Key of the port's table, or the default P_Key if the subnet
 * manager has not written the table yet (IBA 10.9.1.2).
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int ipoib_pkey_default(const struct ipoib_port *port, u16 *pkey)
{
	int err;

	err = ib_query_pkey(port->ibdev, port->number, 0, pkey);
	if (err)
		return err;
	*pkey |= IPOIB_PKEY_FULL;
	if (*pkey == IPOIB_PKEY_FULL)
		*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}
