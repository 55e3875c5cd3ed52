/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests for connections: what an interface listens to, and which it accepts.
 */
#ifndef _IPOIB_CM_H
#define _IPOIB_CM_H

#include <linux/types.h>

struct ipoib_dev;
struct ipoib_listener;

/* Connected mode of a netdevice */
struct ipoib_cm {
	u8 flags;				/* of the link-layer address; does not change */
	struct ipoib_listener *listener;	/* NULL if it does not listen; guarded by rtnl */
};

/* The smallest Receive MTU of a peer: the smallest IPv4 MTU (RFC 791), and the encapsulation */
#define IPOIB_RECEIVE_MTU_MIN	(68 + 4)

bool ipoib_cm_is_possible(const struct ipoib_dev *priv);
void ipoib_cm_init(struct ipoib_dev *priv);
u8 ipoib_cm_flags(const struct ipoib_dev *priv);
void ipoib_cm_open(struct ipoib_dev *priv);
void ipoib_cm_close(struct ipoib_dev *priv);

#endif /* _IPOIB_CM_H */
