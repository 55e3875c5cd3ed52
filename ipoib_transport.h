/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What carries a netdevice's packets between the stack and the HCA.
 */
#ifndef _IPOIB_TRANSPORT_H
#define _IPOIB_TRANSPORT_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct ipoib_dev;

/* What the HCA gathers before it interrupts; zeroes: nothing */
struct ipoib_moderation {
	bool rx_adaptive;		/* rather than what follows of it */
	u16 rx_frames;
	u16 rx_usecs;
	u16 tx_frames;
	u16 tx_usecs;
};

/*
 * A transport: queues between a netdevice and the HCA. There is one now, made of plain verbs; an
 * HCA's driver may have another (RDMA_NETDEV_IPOIB). How a packet is sent is not in the table: a
 * transport's netdevices have an ndo_start_xmit of its own, so that no packet pays for a choice
 * that was made when the netdevice was. All functions may sleep; those that say "rtnl" are called
 * with rtnl held, the others on the control path.
 *
 * @ring_limit:	the largest ring that the HCA promises to hold, a power of two; rtnl
 * @create:	make queues of the sizes in &ipoib_dev.queues, which are less on return where the
 *		HCA cannot hold so much; rtnl. 0 or a negative error
 * @destroy:	undo @create; the queues are stopped and no AH is left; rtnl
 * @resize:	replace the queues, which are closed, by @count for sending of @tx_size packets
 *		each and one for receiving of @rx_size; rtnl. The link-layer address is another
 *		one then. 0, or a negative error and all is as it was
 * @moderate:	have the HCA gather completions; rtnl. 0 or a negative error, -EOPNOTSUPP if the
 *		HCA cannot
 * @open:	allocate what the queues need to be started; rtnl. 0 or a negative error
 * @close:	undo @open; the queues are stopped; rtnl
 * @start:	have packets pass from now on. 0, or a negative error and the queues are stopped
 * @stop:	have none pass any more: on return the HCA has given back all that it had. Nothing
 *		happens if the queues are stopped
 * @holds:	whether packets of a link with this MTU fit into the receive buffers
 * @fit:	have them fit; the queues are stopped. 0, or a negative error and all is as it was
 * @set_qkey:	the Q_Key of all packets, both ways; the queues are started. 0 or a negative error
 * @attach:	receive what is sent to a group. 0 or a negative error
 * @detach:	undo @attach. 0 or a negative error
 * @mark:	note what has been posted until now
 * @is_past_mark: whether all that was noted is complete, so that nothing refers any more to an AH
 *		that no packet could take since then
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
