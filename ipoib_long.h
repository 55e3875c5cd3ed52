/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packets that are longer than their receivers can receive, in connected mode.
 */
#ifndef _IPOIB_LONG_H
#define _IPOIB_LONG_H

#include <linux/skbuff.h>
#include <linux/workqueue.h>

struct ipoib_dev;

/* Packets whose senders are to be told */
struct ipoib_too_long {
	struct sk_buff_head queue;
	struct work_struct work;
};

struct sk_buff *ipoib_long_cut(struct ipoib_dev *priv, struct sk_buff *skb, u32 mtu);
void ipoib_long_refuse(struct ipoib_dev *priv, struct sk_buff *skb, u32 mtu);
void ipoib_long_init(struct ipoib_dev *priv);
void ipoib_long_destroy(struct ipoib_dev *priv);

#endif /* _IPOIB_LONG_H */
