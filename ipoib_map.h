/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Mapping of packets to be sent for DMA. Inline, since it is done for each packet that is too
 * long to be copied.
 */
#ifndef _IPOIB_MAP_H
#define _IPOIB_MAP_H

#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>

#include "ipoib_sq.h"

/* Returns the octets of the linear part to be mapped: the headers of a large packet are not */
static inline u32 ipoib_map_linear_len(const struct ipoib_tx_buf *buf)
{
	return skb_headlen(buf->skb) - buf->header_len;
}

/* Unmaps the linear part and the first fragments of a slot's packet */
static inline void ipoib_map_undo(struct ib_device *ibdev, struct ipoib_tx_buf *buf, int frags)
{
	struct sk_buff *skb = buf->skb;
	u32 len = ipoib_map_linear_len(buf);
	u64 *mapping = buf->mapping;
	int i;

	if (len)
		ib_dma_unmap_single(ibdev, *mapping++, len, DMA_TO_DEVICE);
	for (i = 0; i < frags; i++)
		ib_dma_unmap_page(ibdev, mapping[i],
				  skb_frag_size(&skb_shinfo(skb)->frags[i]), DMA_TO_DEVICE);
}

static inline int ipoib_map_frags(struct ib_device *ibdev, struct ipoib_tx_buf *buf, u64 *mapping)
{
	struct sk_buff *skb = buf->skb;
	int i;

	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		mapping[i] = ib_dma_map_page(ibdev, skb_frag_page(frag), skb_frag_off(frag),
					     skb_frag_size(frag), DMA_TO_DEVICE);
		if (ib_dma_mapping_error(ibdev, mapping[i])) {
			ipoib_map_undo(ibdev, buf, i);
			return -EIO;
		}
	}
	return 0;
}

/* Maps a slot's packet, except for the headers of a large one. Returns 0 or -EIO. */
static inline int ipoib_map(struct ib_device *ibdev, struct ipoib_tx_buf *buf)
{
	struct sk_buff *skb = buf->skb;
	u32 len = ipoib_map_linear_len(buf);
	u64 *mapping = buf->mapping;

	if (len) {
		*mapping = ib_dma_map_single(ibdev, skb->data + buf->header_len, len,
					     DMA_TO_DEVICE);
		if (ib_dma_mapping_error(ibdev, *mapping))
			return -EIO;
		mapping++;
	}
	return ipoib_map_frags(ibdev, buf, mapping);
}

/* Fills in the SGEs of a packet that is mapped, and returns their number */
static inline u32 ipoib_map_sges(u32 lkey, const struct ipoib_tx_buf *buf, struct ib_sge *sge)
{
	const struct sk_buff *skb = buf->skb;
	u32 i, n = 0, len = ipoib_map_linear_len(buf);

	if (len)
		sge[n++].length = len;
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++)
		sge[n++].length = skb_frag_size(&skb_shinfo(skb)->frags[i]);
	for (i = 0; i < n; i++) {
		sge[i].addr = buf->mapping[i];
		sge[i].lkey = lkey;
	}
	return n;
}

#endif /* _IPOIB_MAP_H */
