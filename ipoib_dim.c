// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Adaptive interrupt moderation of the receive CQ. The kernel's DIM library tries how long
 * the HCA may gather completions before it raises an interrupt, and keeps the setting that
 * receives the most packets with the fewest interrupts. It is not enabled by default,
 * because it does not settle when both ends wait for each other.
 */
#include "ipoib.h"

/*
 * The settings from which DIM chooses. The first one, no moderation, is best if requests wait
 * for replies. The kernel's own table does not have it.
 */
static const struct {
	u16 usecs;
	u16 frames;
} dim_profiles[] = {
	{ 0, 0 }, { 32, 16 }, { 64, 16 }, { 128, 32 }, { 256, 32 },
};

/* net_dim() expects this number of profiles */
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
 * Context: NAPI poll, at its end, when the CQ is empty.
 */
void ipoib_dim_event(struct ipoib_rx_ring *rx)
{
	struct dim_sample sample = {};

	rx->events++;
	/* net_dim() makes the same check, but needs a sample for that, which is costly */
	if (rx->dim.state == DIM_MEASURE_IN_PROGRESS &&
	    (u16)(rx->events - rx->dim.start_sample.event_ctr) < DIM_NEVENTS)
		return;
	dim_update_sample(rx->events, u64_stats_read(&rx->stats.packets),
			  u64_stats_read(&rx->stats.bytes), &sample);
	net_dim(&rx->dim, &sample);
}

/**
 * ipoib_dim_init() - initialize adaptive moderation
 * @rx: the receive ring
 *
 * Context: any.
 */
void ipoib_dim_init(struct ipoib_rx_ring *rx)
{
	INIT_WORK(&rx->dim.work, dim_work);
}

/**
 * ipoib_dim_cancel() - cancel the work that applies a setting, and wait for it
 * @rx: the receive ring; it is not polled any more, or no longer adaptive
 *
 * On return the work does not use the receive CQ. net_dim() queues the work on a workqueue of
 * the kernel that may have to wait for memory. A task on which memory reclaim depends must not
 * wait for it. Hence the control path does not call this when it stops the rings. It is only
 * called with rtnl held, before the CQ is replaced or after adaptive moderation was disabled.
 *
 * Context: rtnl held, may sleep.
 */
void ipoib_dim_cancel(struct ipoib_rx_ring *rx)
{
	cancel_work_sync(&rx->dim.work);
}

/**
 * ipoib_dim_stop() - disable adaptive moderation
 * @rx: the receive ring
 *
 * Context: rtnl held, may sleep.
 */
void ipoib_dim_stop(struct ipoib_rx_ring *rx)
{
	WRITE_ONCE(rx->adaptive, false);
	/* A poll that has read the old value may still call net_dim() */
	synchronize_net();
	ipoib_dim_cancel(rx);
}

/**
 * ipoib_dim_start() - enable adaptive moderation
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
