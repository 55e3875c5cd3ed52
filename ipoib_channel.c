// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Channels: each is a NAPI context with the rings that it polls. Each has a send ring. The
 * first one also has the receive ring, as all packets are received by one QP.
 */
#include <linux/delay.h>

#include "ipoib.h"

/* Time limits for an HCA to flush its QPs; the second applies if it failed to do so last time */
#define IPOIB_DRAIN_MS		5000
#define IPOIB_DRAIN_AGAIN_MS	50

/* The last HCA that failed to flush. It is only compared, as the HCA may be gone. */
static const struct ib_device *drain_failed;

static void channel_arm(struct ipoib_channel *channel)
{
	struct ipoib_rx_ring *rx = channel->rx;

	if (rx && ipoib_cq_arm(rx->cq, &rx->armed))
		napi_schedule(&channel->napi);
	ipoib_tx_poll_end(&channel->tx);
}

/**
 * ipoib_channel_poll() - NAPI poll of a channel
 * @napi: the channel's NAPI context
 * @budget: limit of packets to receive
 *
 * Context: softirq.
 * Return: number of packets received; less than @budget if polling has ended and the CQs are
 * armed.
 */
int ipoib_channel_poll(struct napi_struct *napi, int budget)
{
	struct ipoib_channel *channel = container_of(napi, struct ipoib_channel, napi);
	struct ipoib_rx_ring *rx = channel->rx;
	struct ipoib_txq *tx = &channel->tx;
	bool more = false;
	int received = 0;

	if (READ_ONCE(tx->reap) || ipoib_sq_used(&tx->sq) >= IPOIB_TX_REAP_SLOTS)
		more = ipoib_tx_poll(tx, budget);
	if (rx && budget)
		received = ipoib_rx_poll(rx, budget);
	if (more || received == budget)
		return budget;
	if (!napi_complete_done(napi, received))
		return received;
	if (received && READ_ONCE(rx->adaptive))
		ipoib_dim_event(rx);
	channel_arm(channel);
	return received;
}

/**
 * ipoib_channels_start() - post the receive buffers and start polling
 * @priv: the device; its QPs are in the state INIT and its rings are empty
 *
 * Context: control path, may sleep.
 * Return: 0, or -ENOMEM or the error of ib_post_recv(): then nothing is started.
 */
int ipoib_channels_start(struct ipoib_dev *priv)
{
	struct ipoib_channel *channel;
	int err;

	err = ipoib_rx_start(&priv->rx);
	if (err)
		return err;
	for (channel = priv->channels; channel < ipoib_channels_end(priv); channel++) {
		/* An event that was due, and was lost, is not waited for any longer */
		atomic_set(&channel->tx.armed, false);
		napi_enable(&channel->napi);
	}
	local_bh_disable();
	for (channel = priv->channels; channel < ipoib_channels_end(priv); channel++)
		channel_arm(channel);
	local_bh_enable();
	return 0;
}

static u32 txs_pending(const struct ipoib_dev *priv)
{
	struct ipoib_channel *channel;
	u32 pending = 0;

	for (channel = priv->channels; channel < ipoib_channels_end(priv); channel++)
		pending += ipoib_sq_pending(&channel->tx.sq);
	return pending;
}

static bool rings_drained(const struct ipoib_dev *priv)
{
	return !ipoib_rx_pending(&priv->rx) && !txs_pending(priv);
}

/**
 * ipoib_channels_drain() - wait until the HCA has completed every WR
 * @priv: the device; its QPs are in the error state, and polling continues
 *
 * If the HCA does not flush its queues within IPOIB_DRAIN_MS, a warning is logged, and the function
 * returns. Such an HCA is dead, so its other netdevices, of which there may be many, wait no longer
 * than IPOIB_DRAIN_AGAIN_MS each, because a task that sets them down holds rtnl. If a CQ has
 * failed, the function does not wait, as that CQ reports nothing.
 *
 * Context: control path, may sleep.
 */
void ipoib_channels_drain(struct ipoib_dev *priv)
{
	bool again = READ_ONCE(drain_failed) == priv->ibdev;
	unsigned long limit = jiffies + msecs_to_jiffies(again ? IPOIB_DRAIN_AGAIN_MS :
								 IPOIB_DRAIN_MS);

	while (!rings_drained(priv)) {
		if (READ_ONCE(priv->cq_failed))
			return;
		if (time_after(jiffies, limit)) {
			netdev_warn(priv->netdev, "HCA did not flush %u receives, %u sends\n",
				    ipoib_rx_pending(&priv->rx), txs_pending(priv));
			WRITE_ONCE(drain_failed, priv->ibdev);
			return;
		}
		usleep_range(100, 1000);
	}
	if (again)
		WRITE_ONCE(drain_failed, NULL);
}

/**
 * ipoib_channels_stop() - stop polling and empty all rings
 * @priv: the device; its QPs hold no WR any more
 *
 * Context: control path, may sleep; ipoib_dev.qp_running is false.
 */
void ipoib_channels_stop(struct ipoib_dev *priv)
{
	struct ipoib_channel *channel;

	for (channel = priv->channels; channel < ipoib_channels_end(priv); channel++)
		napi_disable(&channel->napi);
	for (channel = priv->channels; channel < ipoib_channels_end(priv); channel++)
		ipoib_tx_empty(&channel->tx);
	ipoib_rx_empty(&priv->rx);
}

static void tx_rings_destroy(struct ipoib_dev *priv, u32 count)
{
	while (count--)
		ipoib_sq_destroy(&priv->channels[count].tx.sq);
}

static int tx_rings_create(struct ipoib_dev *priv)
{
	int err;
	u32 i;

	for (i = 0; i < priv->queues.count; i++) {
		err = ipoib_sq_create(&priv->channels[i].tx.sq);
		if (err) {
			tx_rings_destroy(priv, i);
			return err;
		}
	}
	return 0;
}

/**
 * ipoib_channels_create() - allocate the memory of all rings
 * @priv: the device; the rings' sizes are set
 *
 * Context: may sleep; rtnl held.
 * Return: 0 or a negative error.
 */
int ipoib_channels_create(struct ipoib_dev *priv)
{
	int err;

	err = tx_rings_create(priv);
	if (err)
		return err;
	err = ipoib_rx_create(&priv->rx);
	if (err)
		tx_rings_destroy(priv, priv->queues.count);
	return err;
}

/**
 * ipoib_channels_destroy() - free what ipoib_channels_create() allocated
 * @priv: the device; the channels are stopped
 *
 * Context: may sleep; rtnl held.
 */
void ipoib_channels_destroy(struct ipoib_dev *priv)
{
	ipoib_rx_destroy(&priv->rx);
	tx_rings_destroy(priv, priv->queues.count);
}
