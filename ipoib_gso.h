/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Segmentation of large packets by the driver, for HCAs that cannot do it.
 */
#ifndef _IPOIB_GSO_H
#define _IPOIB_GSO_H

#include <net/tso.h>

#include "ipoib_sq.h"

/* State of a packet that is being segmented */
struct ipoib_gso {
	struct tso_t tso;
	const struct ipoib_sq *sq;
	const struct ipoib_tx_buf *buf;
	u32 left;			/* octets of payload that are still to be sent */
	bool hca_sums;			/* the HCA computes the checksums of the segments */
};

netdev_features_t ipoib_features_check(struct sk_buff *skb, struct net_device *netdev,
				       netdev_features_t features);
bool ipoib_gso_can_cut(const struct sk_buff *skb);
u32 ipoib_gso_header_len(const struct sk_buff *skb);
u32 ipoib_gso_segments(const struct sk_buff *skb);
void ipoib_gso_start(struct ipoib_gso *gso, const struct ipoib_sq *sq,
		     const struct ipoib_tx_buf *buf);
u32 ipoib_gso_next(struct ipoib_gso *gso, const struct ipoib_tx_headers *headers, u32 offset,
		   struct ib_sge *sge);

#endif /* _IPOIB_GSO_H */
