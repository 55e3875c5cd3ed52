// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Adaptive moderation of what is received: the kernel's DIM tries how long the HCA may
 * gather completions before it interrupts, and keeps to what moves most packets with the
 * fewest interrupts. Not the default: where both ends wait for each other it finds no rest.
 */
#include "ipoib.h"

/*
 * What DIM chooses from. Where requests wait for replies the first is best, and unlike
 * the kernel's own table's it is none at all.
 */
static const struct {
	u16 usecs;
	u16 frames;
} dim_profiles[] = {
	{ 0, 0 }, { 32, 16 }, { 64, 16 }, { 128, 32 }, { 256, 32 },
};

/* As many as net_dim() counts */
static_assert(ARRAY_SIZE(dim_profiles) == 5);

static void dim_work(struct work_struct *work)
{
	struct ipoib_rx_ring *rx = container_of(work, struct ipoib_rx_ring, dim.work);
	struct dim *dim = &rx->dim;
	int err;

	err = rdma_set_cq_moderation(rx->cq, dim_profiles[dim->profile_ix].frames,
				     dim_profiles[dim->profile_ix].usecs);
	if (err)
		net_warn_ratelimited("%s: cannot moderate completions: error %d\n",
				     netdev_name(rx->priv->netdev), err);
	dim->state = DIM_START_MEASURE;
}

/**
 * ipoib_dim_event() - count an event of the receive CQ
 * @rx: the receive ring
 *
 * Context: NAPI poll, when it has received all there is.
 */
void ipoib_dim_event(struct ipoib_rx_ring *rx)
{
	struct dim_sample sample = {};

	rx->events++;
	/* net_dim() would find that out, but for a sample, which is dear */
	if (rx->dim.state == DIM_MEASURE_IN_PROGRESS &&
	    (u16)(rx->events - rx->dim.start_sample.event_ctr) < DIM_NEVENTS)
		return;
	dim_update_sample(rx->events, u64_stats_read(&rx->stats.packets),
			  u64_stats_read(&rx->stats.bytes), &sample);
	net_dim(&rx->dim, sample);
}

/**
 * ipoib_dim_init() - prepare for adaptive moderation
 * @rx: the receive ring
 *
 * Context: any.
 */
void ipoib_dim_init(struct ipoib_rx_ring *rx)
{
	INIT_WORK(&rx->dim.work, dim_work);
}

/**
 * ipoib_dim_cancel() - leave undone what was decided and is not done yet
 * @rx: the receive ring; its polls are over, or it has stopped being adaptive
 *
 * On return nothing uses the receive CQ. net_dim() queues its work on a workqueue of the
 * kernel's that may have to wait for memory, so whoever frees memory must not wait for it:
 * the control path does not call this when it stops the rings. It is for those who replace
 * the CQ, and all of them hold rtnl.
 *
 * Context: rtnl held, may sleep.
 */
void ipoib_dim_cancel(struct ipoib_rx_ring *rx)
{
	cancel_work_sync(&rx->dim.work);
}

/**
 * ipoib_dim_stop() - moderation is no longer adaptive
 * @rx: the receive ring
 *
 * Context: rtnl held, may sleep.
 */
void ipoib_dim_stop(struct ipoib_rx_ring *rx)
{
	WRITE_ONCE(rx->adaptive, false);
	/* A poll may have read it before */
	synchronize_net();
	ipoib_dim_cancel(rx);
}

/**
 * ipoib_dim_start() - moderation is adaptive
 * @rx: the receive ring; its CQ is not moderated
 *
 * Context: rtnl held; ipoib_dim_stop() was called.
 */
void ipoib_dim_start(struct ipoib_rx_ring *rx)
{
	struct dim *dim = &rx->dim;

	dim->state = DIM_START_MEASURE;
	dim->tune_state = DIM_PARKING_ON_TOP;
	dim->profile_ix = 0;
	memset(&dim->prev_stats, 0, sizeof(dim->prev_stats));
	WRITE_ONCE(rx->adaptive, true);
}
