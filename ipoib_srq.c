// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The shared receive queue (SRQ) of a port's connections, with its CQ and NAPI context. If the HCA
 * has no SRQs, each connection that a peer has opened gets WRs of its own. As this takes much more
 * memory, their number is limited.
 *
 * A message has up to 64 KiB, so each WR has that much memory, in pages of a pool. The pages
 * that a message fills become those of its packet, and the WR gets others. A short message is
 * copied, and the WR keeps its pages. If there are no other pages, the message is dropped, and
 * the WR is posted again as it is: so the SRQ never runs dry for lack of memory.
 *
 * The SRQ begins with a part of its WRs. It gets others when many messages are waiting for a poll,
 * since it may be about to run dry then. A message takes its WR when it begins, and peers may begin
 * many that do not end: so it also gets others when the HCA reports that few are left. A message
 * that finds no WR is repeated by its sender, or lost if the connection is unreliable.
 *
 * The NAPI context serves several netdevices, so it belongs to a netdevice that is never
 * registered.
 */
#include <linux/mutex.h>
#include <linux/skbuff.h>
#include <net/ipv6.h>
#include <net/ndisc.h>

#include "ipoib.h"
#include "ipoib_csum.h"
#include "ipoib_srq_ring.h"

#define SRQ_FIRST		64	/* WRs that it begins with */
#define SRQ_GROWTH		16	/* WRs that it gets at once ... */
#define SRQ_BURST		32	/* ... if so many messages come before all are polled ... */
#define SRQ_LOW			16	/* ... or fewer WRs than these are left */
#define SRQ_LOW_PERIOD		(HZ / 50)	/* how often the HCA can report that */
#define SRQ_POST_BATCH		8	/* WRs per ib_post_srq_recv() */
#define SRQ_COPY		256	/* octets of the longest message that is copied */
#define SRQ_HEADERS		128	/* octets of a longer one that are copied: headers */
#define SRQ_MERGED		SZ_32K	/* octets of the longest packet that GRO is to merge */

/* Octets of memory for a packet's linear part: a message that is copied, or headers */
#define SRQ_HEAD_ROOM		(NET_SKB_PAD + INFINIBAND_ALEN)
#define SRQ_HEAD_LEN		(SKB_DATA_ALIGN(SRQ_HEAD_ROOM + SRQ_COPY) + \
				 SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))

/* The wr_id of a connection's last WR. That of a receive WR is its index. */
#define SRQ_MARKER		(IPOIB_CSQ_WR - 1)

struct ipoib_srq {
	struct ib_device *ibdev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_srq *ibsrq;		/* NULL if the HCA has none */
	struct ipoib_srq_ring *ring;	/* of the SRQ */
	struct page_pool *heads;	/* for the linear parts of packets; used by the poll */
	struct net_device *napi_dev;	/* never registered */
	struct napi_struct napi;
	struct mutex napi_lock;		/* held while NAPI is disabled; rtnl nests outside */
	struct delayed_work low_work;	/* few WRs are left */
	bool low;			/* the same, for the poll */
	u32 page_len;			/* octets of a page of the pool */
	u32 pages;			/* per WR */
	u32 message_max;		/* octets */
	atomic_t armed;			/* the CQ is armed: an event will come */
	u32 qps;			/* QPs that use it; of the workqueue of the connections */

	void (*on_failure)(void *context);	/* called in any context, perhaps more than once */
	void *failure_context;
	bool failed;			/* the CQ or the SRQ is in error, and cannot be repaired */

	/* used by the poll */
	bool alone;			/* the CQ had a single CQE */
	u32 burst;			/* messages since the CQ was empty, or the SRQ got WRs */
	struct ib_qp *kept_for;		/* the QP that they are posted to if there is no SRQ */
	struct ib_recv_wr *first_kept;	/* list of WRs to be posted together */
	struct ib_recv_wr **next_kept;	/* tail of that list */
	u32 kept;			/* length of that list */
	struct ib_wc wc[IPOIB_WC_BATCH];
};

static void srq_keep_none(struct ipoib_srq *srq)
{
	srq->kept = 0;
	srq->next_kept = &srq->first_kept;
}

/* Posts a list of receive WRs to the SRQ or, if there is none, to a QP */
static int srq_post(struct ipoib_srq *srq, struct ib_qp *qp, const struct ib_recv_wr *first)
{
	const struct ib_recv_wr *bad;

	return srq->ibsrq ? ib_post_srq_recv(srq->ibsrq, first, &bad) :
			    ib_post_recv(qp, first, &bad);
}

/* An HCA that refuses a WR is broken. The queue may run dry, so that messages are not received. */
static void srq_post_kept(struct ipoib_srq *srq)
{
	int err;

	if (!srq->kept)
		return;
	*srq->next_kept = NULL;
	err = srq_post(srq, srq->kept_for, srq->first_kept);
	srq_keep_none(srq);
	if (err && net_ratelimit())
		pr_warn("ib_ipoib: %s refuses receive buffers of connections: error %d\n",
			dev_name(&srq->ibdev->dev), err);
}

static void srq_keep(struct ipoib_srq *srq, struct ipoib_srq_buf *buf)
{
	*srq->next_kept = &buf->wr;
	srq->next_kept = &buf->wr.next;
	if (++srq->kept >= SRQ_POST_BATCH)
		srq_post_kept(srq);
}

static void srq_repost(struct ipoib_srq *srq, const struct ipoib_conn *conn,
		       struct ipoib_srq_buf *buf)
{
	if (!srq->ibsrq && srq->kept_for != conn->qp) {
		srq_post_kept(srq);
		srq->kept_for = conn->qp;
	}
	srq_keep(srq, buf);
}

/* Returns a packet with room for SRQ_COPY octets. Its memory is that of an earlier one, which does
 * not have to be cleared.
 */
static struct sk_buff *srq_skb_alloc(struct ipoib_srq *srq)
{
	struct sk_buff *skb;
	unsigned int offset;
	struct page *page;

	page = page_pool_alloc_frag(srq->heads, &offset, SRQ_HEAD_LEN, GFP_ATOMIC | __GFP_NOWARN);
	if (unlikely(!page))
		return NULL;
	skb = ipoib_pool_skb(srq->heads, page, offset, SRQ_HEAD_LEN);
	if (likely(skb))
		skb_reserve(skb, SRQ_HEAD_ROOM);
	return skb;
}

/* Makes a packet of a short message. The WR keeps its page. */
static struct sk_buff *srq_copy(struct ipoib_srq *srq, struct ipoib_srq_buf *buf, u32 len)
{
	struct sk_buff *skb = srq_skb_alloc(srq);

	if (likely(skb)) {
		ib_dma_sync_single_for_cpu(srq->ibdev, buf->sge[0].addr, len, DMA_FROM_DEVICE);
		skb_put_data(skb, page_address(buf->page[0]), len);
		ib_dma_sync_single_for_device(srq->ibdev, buf->sge[0].addr, len, DMA_FROM_DEVICE);
	}
	return skb;
}

static void srq_sync(struct ipoib_srq *srq, const struct ipoib_srq_buf *buf, u32 len)
{
	u32 i, part;

	for (i = 0; len; i++, len -= part) {
		part = min(len, srq->page_len);
		ib_dma_sync_single_for_cpu(srq->ibdev, buf->sge[i].addr, part, DMA_FROM_DEVICE);
	}
}

/* Appends the pages of a message to its packet, except for the headers, which were copied */
static void srq_add_pages(struct ipoib_srq *srq, struct sk_buff *skb, struct page **pages, u32 len)
{
	u32 i, from = SRQ_HEADERS, part;

	for (i = 0; len; i++, len -= part, from = 0) {
		part = min(len, srq->page_len);
		skb_add_rx_frag(skb, i, pages[i], from, part - from, srq->page_len);
	}
}

/* Makes a packet of a long message, with the message's pages. The WR gets other pages. */
static struct sk_buff *srq_take(struct ipoib_srq *srq, struct ipoib_srq_ring *ring,
				struct ipoib_srq_buf *buf, u32 len)
{
	struct sk_buff *skb = srq_skb_alloc(srq);
	struct page *pages[IPOIB_SRQ_PAGES];

	if (unlikely(!skb))
		return NULL;
	srq_sync(srq, buf, len);
	if (unlikely(!ipoib_srq_ring_exchange(ring, buf, DIV_ROUND_UP(len, srq->page_len),
					      pages))) {
		dev_kfree_skb_any(skb);
		return NULL;
	}
	skb_put_data(skb, page_address(pages[0]), SRQ_HEADERS);
	srq_add_pages(srq, skb, pages, len);
	return skb;
}

/* Returns whether a packet is an ND message, perhaps behind extension headers. The IPv6 header is
 * in the linear part.
 */
static bool srq_is_nd(const struct sk_buff *skb)
{
	int offset = sizeof(struct ipv6hdr);
	const u8 *type;
	__be16 fragment;
	u8 next, copy;

	if (skb->len < offset)
		return false;
	next = ((const struct ipv6hdr *)skb->data)->nexthdr;
	if (next != NEXTHDR_ICMP && ipv6_ext_hdr(next))
		offset = ipv6_skip_exthdr(skb, offset, &next, &fragment);
	if (next != NEXTHDR_ICMP || offset < 0)
		return false;
	type = skb_header_pointer(skb, offset, sizeof(copy), &copy);
	return type && *type >= NDISC_ROUTER_SOLICITATION && *type <= NDISC_REDIRECT;
}

/* Returns whether a packet may claim a link-layer address: whatever is not IP, and ND */
static bool srq_makes_claim(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IPV6) ? srq_is_nd(skb) :
						    skb->protocol != htons(ETH_P_IP);
}

/* Returns whether the packet's claim holds. It must be linear to be checked. The peer's GID is
 * what its REQ has claimed, so it proves nothing if it has become known to be elsewhere.
 */
static bool srq_claim_holds(struct ipoib_dev *priv, const struct ipoib_conn *conn,
			    struct sk_buff *skb)
{
	const struct ib_wc from = {
		.src_qp = ipoib_hwaddr_qpn(&conn->peer),
		.slid = conn->lid,
	};
	struct ipoib_header *header;
	union ib_gid gid;

	if (skb_linearize(skb)) {
		ipoib_count(priv, IPOIB_STAT_RX_NO_MEMORY);
		return false;
	}
	memcpy(&gid, conn->peer.gid, sizeof(gid));
	header = (struct ipoib_header *)skb_mac_header(skb);
	if (!ipoib_verify_gid(priv, &gid, conn->lid))
		memset(&header->hwaddr, 0, sizeof(header->hwaddr));
	return ipoib_verify_claim(priv, &from, skb);
}

/* Returns whether a packet has to go through GRO. It is not worth while for a packet that is alone,
 * or so long that few octets could be added. But if GRO holds packets, the order must be kept; and
 * GRO verifies checksums at less cost than the copying of UDP packets to a program does.
 */
static bool srq_needs_gro(const struct ipoib_srq *srq, const struct sk_buff *skb)
{
	bool long_unverified = skb_is_nonlinear(skb) && skb->ip_summed == CHECKSUM_NONE;

	return ipoib_gro_holds(&srq->napi) || long_unverified ||
	       (!srq->alone && skb->len <= SRQ_MERGED);
}

static void srq_deliver(struct ipoib_srq *srq, struct ipoib_dev *priv, struct ipoib_conn *conn,
			struct sk_buff *skb)
{
	struct ipoib_header *header;
	bool unsummed;

	skb_set_mac_header(skb, -INFINIBAND_ALEN);
	header = (struct ipoib_header *)skb_mac_header(skb);
	header->hwaddr = conn->peer;
	unsummed = conn->unsummed && header->encap.reserved == IPOIB_ENCAP_UNSUMMED;
	skb->protocol = header->encap.ethertype;
	skb->dev = priv->netdev;
	skb->pkt_type = PACKET_HOST;
	__skb_pull(skb, IPOIB_ENCAP_LEN);
	if (unlikely(srq_makes_claim(skb) && !srq_claim_holds(priv, conn, skb))) {
		dev_kfree_skb_any(skb);
		return;
	}
	if (unsummed && !ipoib_csum_restore(skb)) {
		ipoib_count(priv, IPOIB_STAT_RX_NO_CHECKSUM);
		dev_kfree_skb_any(skb);
		return;
	}
	dev_sw_netstats_rx_add(priv->netdev, skb->len + IPOIB_ENCAP_LEN);
	ipoib_rx_hand_up(&srq->napi, skb, srq_needs_gro(srq, skb));
}

/* Returns whether a message is to be received by a netdevice */
static bool srq_wants(struct ipoib_srq *srq, struct ipoib_dev *priv, const struct ib_wc *wc)
{
	if (wc->byte_len < IPOIB_ENCAP_LEN)
		ipoib_count(priv, IPOIB_STAT_RX_SHORT);
	else if (wc->byte_len > srq->message_max)
		ipoib_count(priv, IPOIB_STAT_RX_TOO_LONG);
	else if (!netif_carrier_ok(priv->netdev))
		ipoib_count(priv, IPOIB_STAT_RX_NO_CARRIER);
	else
		return true;
	return false;
}

static void srq_message(struct ipoib_srq *srq, struct ipoib_conn *conn, const struct ib_wc *wc,
			struct ipoib_srq_ring *ring)
{
	struct ipoib_srq_buf *buf = &ring->buf[wc->wr_id];
	struct ipoib_dev *priv;
	struct sk_buff *skb;

	rcu_read_lock();
	priv = rcu_dereference(conn->priv);
	if (unlikely(!priv || !srq_wants(srq, priv, wc)))
		goto out;
	ipoib_conn_hear(conn);
	skb = wc->byte_len <= SRQ_COPY ? srq_copy(srq, buf, wc->byte_len) :
					 srq_take(srq, ring, buf, wc->byte_len);
	if (likely(skb))
		srq_deliver(srq, priv, conn, skb);
	else
		ipoib_count(priv, IPOIB_STAT_RX_NO_MEMORY);
out:
	rcu_read_unlock();
}

static void srq_sent(struct ipoib_conn *conn, const struct ib_wc *wc)
{
	rcu_read_lock();
	ipoib_csq_complete(rcu_dereference(conn->priv), conn, wc);
	rcu_read_unlock();
}

/* Posts a WR whose completion is the last one of a connection, as sends complete in order */
static int srq_post_marker(struct ipoib_conn *conn)
{
	const struct ib_send_wr wr = {
		.wr_id = SRQ_MARKER,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	const struct ib_send_wr *bad;

	return ib_post_send(conn->qp, &wr, &bad);
}

/* A QP without an SRQ has returned a WR, since it is in the error state. When it has returned all
 * of them, only what it sends is left. If the WR for that cannot be posted, draining times out.
 */
static void srq_returned(struct ipoib_conn *conn)
{
	if (!--conn->posted)
		srq_post_marker(conn);
}

/* Processes the completion of a receive WR. If it has failed, the SRQ gets it back nevertheless, as
 * other QPs use it as well.
 */
static void srq_received(struct ipoib_srq *srq, struct ipoib_conn *conn, const struct ib_wc *wc)
{
	struct ipoib_srq_ring *ring = srq->ring ?: conn->ring;
	bool received = wc->status == IB_WC_SUCCESS;

	if (likely(received))
		srq_message(srq, conn, wc, ring);
	else
		ipoib_conn_event(conn, IPOIB_CONN_CLOSE);
	if (likely(received || srq->ring))
		srq_repost(srq, conn, &ring->buf[wc->wr_id]);
	else
		srq_returned(conn);
}

/* Returns whether the completion is that of a receive WR */
static bool srq_complete(struct ipoib_srq *srq, const struct ib_wc *wc)
{
	struct ipoib_conn *conn = wc->qp->qp_context;

	if (wc->wr_id & IPOIB_CSQ_WR) {
		srq_sent(conn, wc);
	} else if (wc->wr_id == SRQ_MARKER) {
		/* This is the last use of the connection: its work frees it then */
		smp_mb__before_atomic();
		set_bit(IPOIB_CONN_DRAINED, &conn->events);
	} else {
		srq_received(srq, conn, wc);
		return true;
	}
	return false;
}

/* Gives the SRQ more WRs, up to its size. Packets need the reserves of memory more than this. */
static void srq_grow(struct ipoib_srq *srq)
{
	struct ipoib_srq_ring *ring = srq->ring;
	u32 n = ring->filled;

	ipoib_srq_ring_fill(ring, n + SRQ_GROWTH, GFP_NOWAIT | __GFP_NOWARN);
	for (; n < ring->filled; n++)
		srq_keep(srq, &ring->buf[n]);
}

/* Processes CQEs. Returns their number, which is less than @budget if there are no more. */
static int srq_process(struct ipoib_srq *srq, int budget)
{
	int polled = 0, want, n, i;

	do {
		want = min(budget - polled, IPOIB_WC_BATCH);
		n = max(ib_poll_cq(srq->cq, want, srq->wc), 0);
		srq->alone = polled + n == 1 && n < want;
		for (i = 0; i < n; i++)
			srq->burst += srq_complete(srq, &srq->wc[i]);
		polled += n;
	} while (n == want && polled < budget);
	return polled;
}

static int srq_poll(struct napi_struct *napi, int budget)
{
	struct ipoib_srq *srq = container_of(napi, struct ipoib_srq, napi);
	int polled;

	/* CQEs from before the failure may be of QPs that have been destroyed since */
	if (unlikely(READ_ONCE(srq->failed))) {
		napi_complete_done(napi, 0);
		return 0;
	}
	polled = srq_process(srq, budget);
	if ((srq->burst >= SRQ_BURST || READ_ONCE(srq->low)) && srq->ring) {
		srq_grow(srq);
		srq->burst = 0;
		WRITE_ONCE(srq->low, false);
	}
	if (polled < budget)
		srq->burst = 0;
	/* The WRs of a QP must be posted to be flushed when it fails */
	if (!srq->ibsrq)
		srq_post_kept(srq);
	if (polled == budget || !napi_complete_done(napi, polled))
		return polled;
	if (ipoib_cq_arm(srq->cq, &srq->armed))
		napi_schedule(napi);
	return polled;
}

static void srq_cq_completed(struct ib_cq *cq, void *context)
{
	struct ipoib_srq *srq = context;

	atomic_set(&srq->armed, false);
	napi_schedule(&srq->napi);
}

/* A CQ or SRQ in error never recovers (IBA 11.6.3.1) */
static void srq_fail(struct ipoib_srq *srq)
{
	WRITE_ONCE(srq->failed, true);
	srq->on_failure(srq->failure_context);
}

static void srq_cq_event(struct ib_event *event, void *context)
{
	struct ipoib_srq *srq = context;

	pr_warn("ib_ipoib: %s: CQ of connections: %s\n", dev_name(&srq->ibdev->dev),
		ib_event_msg(event->event));
	if (event->event == IB_EVENT_CQ_ERR)
		srq_fail(srq);
}

static void srq_event(struct ib_event *event, void *context)
{
	struct ipoib_srq *srq = context;

	if (event->event == IB_EVENT_SRQ_LIMIT_REACHED) {
		schedule_delayed_work(&srq->low_work, SRQ_LOW_PERIOD);
		return;
	}
	pr_warn("ib_ipoib: %s: %s\n", dev_name(&srq->ibdev->dev), ib_event_msg(event->event));
	if (event->event == IB_EVENT_SRQ_ERR)
		srq_fail(srq);
}

/* Posts the WRs that have pages to the SRQ or, if there is none, to a QP */
static int srq_ring_post(struct ipoib_srq *srq, struct ib_qp *qp, struct ipoib_srq_ring *ring)
{
	int err = 0;
	u32 i;

	for (i = 0; i < ring->filled && !err; i++)
		err = srq_post(srq, qp, &ring->buf[i].wr);
	return err;
}

/* Makes WRs, the first of which have pages */
static struct ipoib_srq_ring *srq_ring_create(const struct ipoib_srq *srq, u32 size, u32 filled)
{
	struct ipoib_srq_ring *ring;
	int err;

	ring = ipoib_srq_ring_create(srq->pd, ipoib_srq_order(srq->ibdev), srq->pages, size);
	if (IS_ERR(ring))
		return ring;
	err = ipoib_srq_ring_fill(ring, filled, GFP_KERNEL);
	if (!err)
		return ring;
	ipoib_srq_ring_destroy(ring);
	return ERR_PTR(err);
}

/* Makes the SRQ with its WRs, which are not posted yet */
static int srq_create(struct ipoib_srq *srq)
{
	struct ib_srq_init_attr attr = {
		.event_handler = srq_event,
		.srq_context = srq,
		.srq_type = IB_SRQT_BASIC,
		.attr = {
			.max_wr = IPOIB_SRQ_SIZE,
			.max_sge = srq->pages,
		},
	};
	int err;

	srq->ring = srq_ring_create(srq, IPOIB_SRQ_SIZE, SRQ_FIRST);
	if (IS_ERR(srq->ring))
		return PTR_ERR(srq->ring);
	srq->ibsrq = ib_create_srq(srq->pd, &attr);
	if (!IS_ERR(srq->ibsrq))
		return 0;
	err = PTR_ERR(srq->ibsrq);
	ipoib_srq_ring_destroy(srq->ring);
	return err;
}

/* The CQ also has the completions of all packets that connections have sent */
static int srq_cq_create(struct ipoib_srq *srq)
{
	struct ib_cq_init_attr attr = {
		.cqe = ipoib_srq_recv_cqes(srq->ibdev) +
		       ipoib_srq_senders_max(srq->ibdev) * (IPOIB_CSQ_SIZE + 1),
	};

	srq->cq = ib_create_cq(srq->ibdev, srq_cq_completed, srq_cq_event, srq, &attr);
	return PTR_ERR_OR_ZERO(srq->cq);
}

static int srq_heads_create(struct ipoib_srq *srq)
{
	const struct page_pool_params params = {
		.flags = PP_FLAG_PAGE_FRAG,
		.pool_size = IPOIB_SRQ_SIZE,	/* pages; sockets give many back at once */
		.nid = ibdev_to_node(srq->ibdev),
	};

	srq->heads = page_pool_create(&params);
	return PTR_ERR_OR_ZERO(srq->heads);
}

static void srq_free(struct ipoib_srq *srq)
{
	compat_free_netdev_dummy(srq->napi_dev);
	mutex_destroy(&srq->napi_lock);
	kfree(srq);
}

/* Begins to poll. The first poll arms the CQ. An event that was due, and was lost, is not waited
 * for any longer.
 */
static void srq_resume(struct ipoib_srq *srq)
{
	atomic_set(&srq->armed, false);
	napi_enable(&srq->napi);
	local_bh_disable();
	napi_schedule(&srq->napi);
	local_bh_enable();
}

/* Waits for the current poll, and prevents further ones until srq_unlock() */
static void srq_lock(struct ipoib_srq *srq)
{
	mutex_lock(&srq->napi_lock);
	napi_disable(&srq->napi);
}

static void srq_unlock(struct ipoib_srq *srq)
{
	srq_resume(srq);
	mutex_unlock(&srq->napi_lock);
}

/* Has the HCA report, once, that few WRs are left. If it cannot, the SRQ grows with the number of
 * messages only.
 */
static void srq_watch(struct ipoib_srq *srq)
{
	struct ib_srq_attr attr = { .srq_limit = SRQ_LOW };

	ib_modify_srq(srq->ibsrq, &attr, IB_SRQ_LIMIT);
}

/* Has the poll give the SRQ more WRs, and the HCA report again. It does so at once if there are
 * still few, for instance as there was no memory. The poll cannot wait for memory, and nobody else
 * may while NAPI is disabled: memory may become free by what a peer answers.
 */
static void srq_low_work(struct work_struct *work)
{
	struct ipoib_srq *srq = container_of(work, struct ipoib_srq, low_work.work);

	mutex_lock(&srq->napi_lock);
	if (srq->ibsrq && READ_ONCE(srq->ring->filled) < srq->ring->size) {
		WRITE_ONCE(srq->low, true);
		local_bh_disable();
		napi_schedule(&srq->napi);
		local_bh_enable();
		srq_watch(srq);
	}
	mutex_unlock(&srq->napi_lock);
}

/* Processes the CQEs that are in the CQ, but not all that may follow, while NAPI is disabled. The
 * poll that follows flushes GRO. WRs of a QP that is about to be destroyed must not be kept.
 */
static void srq_empty_cq(struct ipoib_srq *srq)
{
	int left = srq->cq->cqe;

	local_bh_disable();
	while (left > 0 && !READ_ONCE(srq->failed) &&
	       srq_process(srq, IPOIB_WC_BATCH) == IPOIB_WC_BATCH)
		left -= IPOIB_WC_BATCH;
	if (!srq->ibsrq)
		srq_post_kept(srq);
	local_bh_enable();
}

/**
 * ipoib_srq_create() - make an SRQ with its buffers
 * @ibdev: the HCA, which supports it
 * @failed: called when the SRQ or its CQ is in error, in any context; perhaps before this returns,
 *	and more than once
 * @context: passed to @failed
 *
 * Context: may sleep.
 * Return: the SRQ or an ERR_PTR.
 */
struct ipoib_srq *ipoib_srq_create(struct ib_device *ibdev, void (*failed)(void *context),
				   void *context)
{
	struct ipoib_srq *srq = kzalloc(sizeof(*srq), GFP_KERNEL);
	int err;

	if (!srq)
		return ERR_PTR(-ENOMEM);
	srq->ibdev = ibdev;
	srq->on_failure = failed;
	srq->failure_context = context;
	srq->page_len = PAGE_SIZE << ipoib_srq_order(ibdev);
	srq->message_max = ipoib_srq_message_max(ibdev);
	srq->pages = DIV_ROUND_UP(srq->message_max, srq->page_len);
	mutex_init(&srq->napi_lock);
	INIT_DELAYED_WORK(&srq->low_work, srq_low_work);
	srq->napi_dev = alloc_netdev_dummy(0);
	if (!srq->napi_dev) {
		kfree(srq);
		return ERR_PTR(-ENOMEM);
	}
	err = srq_heads_create(srq);
	if (err)
		goto err_memory;
	srq->pd = ib_alloc_pd(ibdev, 0);
	err = PTR_ERR_OR_ZERO(srq->pd);
	if (err)
		goto err_heads;
	err = srq_cq_create(srq);
	if (err)
		goto err_pd;
	if (ipoib_srq_is_shared(ibdev))
		err = srq_create(srq);
	if (err)
		goto err_cq;
	srq_keep_none(srq);
	netif_napi_add(srq->napi_dev, &srq->napi, srq_poll);
	srq_resume(srq);
	if (srq->ring)
		err = srq_ring_post(srq, NULL, srq->ring);
	if (err) {
		ipoib_srq_destroy(srq);
		return ERR_PTR(err);
	}
	if (srq->ibsrq)
		srq_watch(srq);
	return srq;

err_cq:
	ib_destroy_cq(srq->cq);
err_pd:
	ib_dealloc_pd(srq->pd);
err_heads:
	page_pool_destroy(srq->heads);
err_memory:
	srq_free(srq);
	return ERR_PTR(err);
}

/**
 * ipoib_srq_destroy() - undo ipoib_srq_create()
 * @srq: the SRQ; no QP uses it any more
 *
 * Context: may sleep.
 */
void ipoib_srq_destroy(struct ipoib_srq *srq)
{
	srq_lock(srq);
	netif_napi_del(&srq->napi);
	if (srq->ibsrq)
		ib_destroy_srq(srq->ibsrq);
	srq->ibsrq = NULL;
	mutex_unlock(&srq->napi_lock);
	/* The HCA may have reported something just before */
	cancel_delayed_work_sync(&srq->low_work);
	ipoib_srq_ring_destroy(srq->ring);
	ib_destroy_cq(srq->cq);
	ib_dealloc_pd(srq->pd);
	page_pool_destroy(srq->heads);
	srq_free(srq);
}

/**
 * ipoib_srq_qp_create() - make a QP that receives by the SRQ, and may send
 * @srq: the SRQ
 * @conn: the QP's connection
 * @event: called with the connection for each event of the QP
 *
 * Context: may sleep; not concurrently with other functions that make or destroy QPs of the SRQ.
 * Return: the QP or an ERR_PTR.
 */
struct ib_qp *ipoib_srq_qp_create(struct ipoib_srq *srq, struct ipoib_conn *conn,
				  void (*event)(struct ib_event *event, void *context))
{
	struct ib_qp_init_attr init = {
		.event_handler = event,
		.qp_context = conn,
		.send_cq = srq->cq,
		.recv_cq = srq->cq,
		.srq = srq->ibsrq,
		.cap = {
			.max_send_wr = conn->opened ? IPOIB_CSQ_SIZE + 1 : 1,
			.max_send_sge = conn->opened ? conn->sq.max_sge : 1,
			.max_inline_data = conn->sq.inline_max,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = conn->type,
	};
	struct ipoib_srq_ring *ring = NULL;
	struct ib_qp *qp;

	if (!srq->ibsrq && !conn->opened) {
		ring = srq_ring_create(srq, IPOIB_SRQ_CONN_SIZE, IPOIB_SRQ_CONN_SIZE);
		if (IS_ERR(ring))
			return ERR_CAST(ring);
		init.cap.max_recv_wr = IPOIB_SRQ_CONN_SIZE;
		init.cap.max_recv_sge = srq->pages;
	}
	qp = ib_create_qp(srq->pd, &init);
	if (IS_ERR(qp)) {
		ipoib_srq_ring_destroy(ring);
		return qp;
	}
	conn->ring = ring;
	/* Not every HCA that supports no such data refuses the QP */
	conn->sq.inline_max = min(conn->sq.inline_max, init.cap.max_inline_data);
	srq->qps++;
	return qp;
}

/**
 * ipoib_srq_qp_fill() - post the receive WRs of a connection's QP, if there is no SRQ
 * @srq: the SRQ
 * @conn: the connection, whose QP is in the state INIT
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int ipoib_srq_qp_fill(struct ipoib_srq *srq, struct ipoib_conn *conn)
{
	if (!conn->ring)
		return 0;
	conn->posted = IPOIB_SRQ_CONN_SIZE;
	return srq_ring_post(srq, conn->qp, conn->ring);
}

/**
 * ipoib_srq_qp_destroy() - undo ipoib_srq_qp_create()
 * @srq: the SRQ
 * @conn: the QP's connection, whose completions have all been polled, unless the HCA has failed
 *	or has not flushed the QP, or the SRQ has failed
 *
 * Context: may sleep.
 */
void ipoib_srq_qp_destroy(struct ipoib_srq *srq, struct ipoib_conn *conn)
{
	bool polled = conn->started && !test_bit(IPOIB_CONN_DRAINED, &conn->events);

	/* A poll may be looking at completions of the QP. Some HCAs remove those that have not been
	 * polled, others do not: so none may be left.
	 */
	if (unlikely(polled)) {
		srq_lock(srq);
		srq_empty_cq(srq);
	}
	ib_destroy_qp(conn->qp);
	if (unlikely(polled))
		srq_unlock(srq);
	ipoib_srq_ring_destroy(conn->ring);
	srq->qps--;
}

/**
 * ipoib_srq_has_failed() - tell whether an SRQ or its CQ is in error
 * @srq: the SRQ
 *
 * No WR completes any more then.
 *
 * Context: any.
 * Return: true if it has to be replaced.
 */
bool ipoib_srq_has_failed(const struct ipoib_srq *srq)
{
	return READ_ONCE(srq->failed);
}

/**
 * ipoib_srq_is_used() - tell whether an SRQ has QPs
 * @srq: the SRQ
 *
 * Context: not concurrently with functions that make or destroy QPs of the SRQ.
 * Return: false if it may be destroyed.
 */
bool ipoib_srq_is_used(const struct ipoib_srq *srq)
{
	return srq->qps;
}

/**
 * ipoib_srq_buffers() - get the number of messages that can be received at once
 * @srq: the SRQ
 *
 * Context: any.
 * Return: number of WRs that the connections share; 0 if each has its own.
 */
u32 ipoib_srq_buffers(const struct ipoib_srq *srq)
{
	return srq->ring ? READ_ONCE(srq->ring->filled) : 0;
}

/**
 * ipoib_srq_flush() - wait for the current poll, and until GRO holds no packet
 * @srq: the SRQ
 *
 * Context: may sleep.
 */
void ipoib_srq_flush(struct ipoib_srq *srq)
{
	srq_lock(srq);
	srq_unlock(srq);
}

/**
 * ipoib_srq_mark() - have a WR posted whose completion is the last one of a connection
 * @conn: the connection, whose QP is in the error state and takes no more WRs of the SRQ
 *
 * If the QP has receive WRs of its own, this is done when it has returned them. IPOIB_CONN_DRAINED
 * is set when the completion is polled.
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int ipoib_srq_mark(struct ipoib_conn *conn)
{
	return conn->ring ? 0 : srq_post_marker(conn);
}
