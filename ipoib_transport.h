/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Transports, which carry a netdevice's packets between the network stack and the HCA.
 */
#ifndef _IPOIB_TRANSPORT_H
#define _IPOIB_TRANSPORT_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct ipoib_dev;

/* Interrupt moderation: the completions that the HCA gathers before it raises an interrupt. Zero
 * disables a limit.
 */
struct ipoib_moderation {
	bool rx_adaptive;		/* DIM chooses rx_frames and rx_usecs */
	u16 rx_frames;
	u16 rx_usecs;
	u16 tx_frames;
	u16 tx_usecs;
};

/*
 * A transport provides the queues between a netdevice and the HCA. At present there is one, which
 * uses plain verbs; the driver of an HCA may provide another (RDMA_NETDEV_IPOIB). Sending is not
 * an operation of this table: each transport has its own ndo_start_xmit(), which saves an
 * indirect call per packet. All functions may sleep. Those marked "rtnl" are called with rtnl
 * held, the others on the control path. Functions that return int return 0 or a negative error.
 *
 * @ring_limit:	the largest ring that the HCA supports according to its attributes, a power of
 *		two; rtnl
 * @create:	create queues of the sizes in &ipoib_dev.queues, and reduce these sizes to what the
 *		HCA supports; rtnl
 * @destroy:	undo @create; the queues are stopped and no AH is left; rtnl
 * @resize:	replace the queues, which are closed, by @count send queues of @tx_size slots each
 *		and one receive queue of @rx_size slots; rtnl. Changes the link-layer address. On
 *		error the old queues remain
 * @moderate:	set the interrupt moderation; rtnl. -EOPNOTSUPP if the HCA does not support it
 * @open:	allocate what the queues need to be started; rtnl
 * @close:	undo @open; the queues are stopped; rtnl
 * @start:	start sending and receiving. On error the queues are stopped
 * @stop:	stop sending and receiving; on return no WR is outstanding. Does nothing if the
 *		queues are stopped
 * @holds:	whether packets of a link with this MTU fit into the receive buffers
 * @fit:	replace the receive buffers by such that hold packets of this MTU; the queues are
 *		stopped. On error the old buffers remain
 * @set_qkey:	set the Q_Key of sent and received packets; the queues are started
 * @attach:	receive the packets of a multicast group
 * @detach:	undo @attach
 * @mark:	note the WRs that have been posted so far
 * @is_past_mark: whether all WRs that @mark noted are complete. An AH that no packet could take
 *		since @mark is then unused
 */
struct ipoib_transport_ops {
	u32 (*ring_limit)(const struct ipoib_dev *priv);
	int (*create)(struct ipoib_dev *priv);
	void (*destroy)(struct ipoib_dev *priv);
	int (*resize)(struct ipoib_dev *priv, u32 count, u32 tx_size, u32 rx_size);
	int (*moderate)(struct ipoib_dev *priv, const struct ipoib_moderation *moderation);
	int (*open)(struct ipoib_dev *priv);
	void (*close)(struct ipoib_dev *priv);
	int (*start)(struct ipoib_dev *priv);
	void (*stop)(struct ipoib_dev *priv);
	bool (*holds)(const struct ipoib_dev *priv, u32 mtu);
	int (*fit)(struct ipoib_dev *priv, u32 mtu);
	int (*set_qkey)(struct ipoib_dev *priv, u32 qkey);
	int (*attach)(struct ipoib_dev *priv, union ib_gid *mgid, u16 mlid);
	int (*detach)(struct ipoib_dev *priv, union ib_gid *mgid, u16 mlid);
	void (*mark)(struct ipoib_dev *priv);
	bool (*is_past_mark)(const struct ipoib_dev *priv);
};

/* ipoib_verbs.c: plain verbs */
extern const struct ipoib_transport_ops ipoib_verbs_ops;

#endif /* _IPOIB_TRANSPORT_H */
