/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Statistics of queues by netlink, which kernels before 6.10 do not have.
 */
#ifndef _IPOIB_QSTATS_H
#define _IPOIB_QSTATS_H

#include <linux/netdevice.h>

#ifdef COMPAT_HAVE_NETDEV_STAT_OPS
struct netdev_stat_ops;

extern const struct netdev_stat_ops ipoib_stat_ops;

/* Offers the statistics of the queues of a netdevice that is not registered yet */
static inline void ipoib_qstats_init(struct net_device *netdev)
{
	netdev->stat_ops = &ipoib_stat_ops;
}
#else
static inline void ipoib_qstats_init(struct net_device *netdev)
{
}
#endif

#endif /* _IPOIB_QSTATS_H */
