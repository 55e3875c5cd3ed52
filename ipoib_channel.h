/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Channels: the rings that one NAPI context polls together.
 */
#ifndef _IPOIB_CHANNEL_H
#define _IPOIB_CHANNEL_H

#include "ipoib_rx.h"
#include "ipoib_tx.h"

struct ipoib_channel {
	struct napi_struct napi;
	struct ipoib_rx_ring *rx;	/* NULL if the channel only sends */
	struct ipoib_txq tx;
};

/* CQs and QPs, which are created and replaced together */
struct ipoib_queues {
	struct ib_cq *rx_cq;
	struct ipoib_channel *channels;	/* each with a send ring, a CQ and a QP for it */
	u32 count;			/* number of channels */
	u32 tx_size;			/* slots per send ring, a power of two */
	u32 rx_size;			/* slots of the receive ring, a power of two */
	u32 max_send_sge;
	u32 max_recv_sge;
};

int ipoib_channel_poll(struct napi_struct *napi, int budget);
int ipoib_channels_create(struct ipoib_dev *priv);
void ipoib_channels_destroy(struct ipoib_dev *priv);
int ipoib_channels_start(struct ipoib_dev *priv);
void ipoib_channels_drain(struct ipoib_dev *priv);
void ipoib_channels_stop(struct ipoib_dev *priv);

#endif /* _IPOIB_CHANNEL_H */
