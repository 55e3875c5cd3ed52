// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibraw: sends raw datagrams, valid and invalid ones, over any IB device, and receives them. For
 * tests, by files in /sys/kernel/debug/ibraw/<device>/:
 *
 *  send      a line sends packets:
 *            dlid=3 qpn=0x12 qkey=0xb1b [port=1] [pkey_index=0] [sl=0]
 *            [path_bits=0] [rate=0] [dgid=<gid>] [count=1] [payload=<hex> | length=100]
 *            [from_listener=1] [csum=1] [mss=1024 hlen=44] [vary=12,-32] [own_qkey=N]
 *            With dgid the packets have a GRH. With from_listener the receiving QP sends them.
 *            With csum the HCA computes the checksums. With mss it is a large send, whose
 *            header is the first hlen bytes of the payload. vary names offsets of 32-bit
 *            numbers in the payload; each packet increments them, or decrements those with a
 *            minus sign. own_qkey is the Q_Key of the sending QP, which is sent if the most
 *            significant bit of qkey is set. For QP1 that is 0x80010000.
 *            The write returns when all sends have completed.
 *  listen    a line creates a receiving QP, which replaces the previous one:
 *            [port=1] [pkey_index=0] qkey=0xb1b [buffer=4136] [posted=64]
 *            [mgid=<gid> mlid=0xc000] [block_loopback=1]
 *            An empty line only destroys the previous one.
 *  received  what the receiving QP received
 *  join      a line lets the port join an existing multicast group at the SA, as a full
 *            member, in place of the previous group: mgid=<gid> [port=1] [pkey_index=0]
 *            An empty line only leaves the previous group.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>

#include "ibprobe.h"

#define IBRAW_MAX_PAYLOAD	8000
#define IBRAW_MAX_COUNT		1000000
#define IBRAW_MAX_POSTED	1024
#define IBRAW_MAX_BUFFER	(64 * 1024)
#define IBRAW_TIMEOUT		(5 * HZ)
#define IBRAW_SHOWN		128	/* bytes of the last payload that are shown */
#define IBRAW_MAX_VARY		4

/* The words of a line, for all files */
struct ibraw_params {
	u32 port;
	u32 pkey_index;
	u32 qkey;
	u32 dlid;
	u32 qpn;
	u32 sl;
	u32 path_bits;
	u32 rate;
	u32 count;
	u32 length;
	u32 buffer;
	u32 posted;
	u32 mlid;
	u32 block_loopback;
	u32 from_listener;
	u32 csum;
	u32 mss;
	u32 hlen;
	u32 own_qkey;
	bool has_gid;
	union ib_gid gid;
	int vary[1 + IBRAW_MAX_VARY];	/* the number of offsets, then the offsets */
	u8 *payload;
};

/* A receive WR */
struct ibraw_slot {
	struct ib_cqe cqe;
	struct ibprobe_buf buf;
	struct ibraw_listener *listener;
};

/**
 * struct ibraw_listener - A receiving QP
 * @qp: the QP
 * @has_group: it is attached to @mgid
 * @mgid: MGID of a multicast group
 * @mlid: MLID of the group
 * @posted: number of slots
 * @lock: protects the following members, up to @slots; also taken in softirq context
 * @closing: it is being drained, and no receive WR is posted any more
 * @packets: receives that succeeded
 * @bytes: total payload of these
 * @csum_ok: those of them whose checksums the HCA found correct
 * @errors: receives that failed, without flushed ones
 * @last: completion of the last receive that succeeded
 * @last_payload: the beginning of its payload
 * @slots: the receive WRs
 */
struct ibraw_listener {
	struct ib_qp *qp;
	bool has_group;
	union ib_gid mgid;
	u16 mlid;
	u32 posted;
	spinlock_t lock;	/* protects the following members, up to slots */
	bool closing;
	u64 packets;
	u64 bytes;
	u64 csum_ok;
	u64 errors;
	struct ib_wc last;
	u8 last_payload[IBRAW_SHOWN];
	struct ibraw_slot slots[];
};

/* A send WR, of which there is one at a time */
struct ibraw_send {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

/**
 * struct ibraw_dev - The state for an IB device
 * @end: the device, and the PD and the CQ that both QPs use
 * @lock: serializes lines; protects the following members
 * @tx: the sending QP, which is reset after each line
 * @send: the WR that is being sent, from either QP
 * @listener: the receiving QP, or NULL
 * @membership: the membership at the SA, or NULL
 * @joined: the SA has answered
 * @join_status: the SA's answer
 * @dir: its debugfs folder
 */
struct ibraw_dev {
	struct ibprobe_end end;
	struct mutex lock;	/* protects the following members */
	struct ib_qp *tx;
	struct ibraw_send send;
	struct ibraw_listener *listener;
	struct ib_sa_multicast *membership;
	struct completion joined;
	int join_status;
	struct dentry *dir;
};

static struct dentry *root;
static struct ib_sa_client sa_client;

/* Lines */

static int read_gid(const char *value, void *of)
{
	struct ibraw_params *params = of;

	params->has_gid = true;
	return ibtool_read_ip6(value, &params->gid);
}

static int read_payload(const char *value, void *of)
{
	struct ibraw_params *params = of;
	int length = ibtool_read_hex(value, params->payload, IBRAW_MAX_PAYLOAD);

	if (length < 0)
		return length;
	params->length = length;
	return 0;
}

static int read_vary(const char *value, void *of)
{
	struct ibraw_params *params = of;

	return *get_options(value, ARRAY_SIZE(params->vary), params->vary) ? -EINVAL : 0;
}

#define WORD(member) IBTOOL_WORD(struct ibraw_params, member, u32)

static const struct ibtool_word words[] = {
	WORD(port), WORD(pkey_index), WORD(qkey), WORD(dlid), WORD(qpn), WORD(sl),
	WORD(path_bits), WORD(count), WORD(length), WORD(buffer), WORD(posted),
	WORD(mlid), WORD(block_loopback), WORD(from_listener), WORD(csum),
	WORD(mss), WORD(hlen), WORD(own_qkey), WORD(rate),
	{ "dgid", 0, read_gid }, { "mgid", 0, read_gid },
	{ "payload", 0, read_payload }, { "vary", 0, read_vary },
};

static bool vary_valid(const struct ibraw_params *params)
{
	int i;

	for (i = 1; i <= params->vary[0]; i++)
		if (abs(params->vary[i]) > IBRAW_MAX_PAYLOAD - sizeof(__be32))
			return false;
	return true;
}

static bool params_valid(const struct ibraw_dev *dev,
			 const struct ibraw_params *params)
{
	return vary_valid(params) && rdma_is_port_valid(dev->end.ibdev, params->port) &&
	       params->pkey_index <= U16_MAX && params->dlid <= U16_MAX &&
	       params->sl <= 15 && params->path_bits <= 127 && params->rate <= U8_MAX &&
	       params->count && params->count <= IBRAW_MAX_COUNT &&
	       params->length <= IBRAW_MAX_PAYLOAD &&
	       params->hlen <= params->length && params->mss <= INT_MAX &&
	       params->buffer && params->buffer <= IBRAW_MAX_BUFFER &&
	       params->posted <= IBRAW_MAX_POSTED && params->mlid <= U16_MAX;
}

static void params_free(struct ibraw_params *params)
{
	kfree(params->payload);
	kfree(params);
}

/* Sets defaults and reads the line. The default payload counts upwards. */
static struct ibraw_params *params_read(const struct ibraw_dev *dev, char *line)
{
	struct ibraw_params *params;
	unsigned int i;
	int ret = -ENOMEM;

	params = kzalloc(sizeof(*params), GFP_KERNEL);
	if (!params)
		return ERR_PTR(ret);
	params->port = 1;
	params->count = 1;
	params->buffer = IB_GRH_BYTES + 4096;
	params->posted = 64;
	params->payload = kmalloc(IBRAW_MAX_PAYLOAD, GFP_KERNEL);
	if (!params->payload)
		goto err_params;
	for (i = 0; i < IBRAW_MAX_PAYLOAD; i++)
		params->payload[i] = i;

	ret = ibtool_read_line(line, words, ARRAY_SIZE(words), params);
	if (!ret && !params_valid(dev, params))
		ret = -EINVAL;
	if (ret)
		goto err_params;
	return params;

err_params:
	params_free(params);
	return ERR_PTR(ret);
}

/* Processes a line. Lines of a device are serialized. */
static int line_act(struct ibraw_dev *dev, char *line,
		    int (*act)(struct ibraw_dev *dev, const struct ibraw_params *params))
{
	struct ibraw_params *params = params_read(dev, line);
	int ret;

	if (IS_ERR(params))
		return PTR_ERR(params);
	mutex_lock(&dev->lock);
	ret = act(dev, params);
	mutex_unlock(&dev->lock);
	params_free(params);
	return ret;
}

static int qp_to_rts(struct ib_qp *qp, const struct ibraw_params *params)
{
	return ibprobe_ud_to_rts(qp, params->port, params->pkey_index,
				 params->own_qkey ?: params->qkey & ~BIT(31));
}

/* Receiving */

static int post_slot(struct ibraw_slot *slot)
{
	struct ib_qp *qp = slot->listener->qp;
	struct ib_sge sge = ibprobe_sge(qp->pd, slot->buf.addr, slot->buf.size);
	struct ib_recv_wr wr = { .wr_cqe = &slot->cqe, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(qp, &wr, NULL);
}

/* Called with the lock held */
static void note_packet(struct ibraw_listener *listener, const void *data,
			const struct ib_wc *wc)
{
	u32 length = wc->byte_len - IB_GRH_BYTES;

	listener->packets++;
	listener->bytes += length;
	listener->csum_ok += !!(wc->wc_flags & IB_WC_IP_CSUM_OK);
	listener->last = *wc;
	memcpy(listener->last_payload, data + IB_GRH_BYTES,
	       min_t(u32, length, IBRAW_SHOWN));
}

/* Called with the lock held, so that no receive is posted after drain() has begun */
static void repost(struct ibraw_slot *slot)
{
	ibprobe_buf_for_device(&slot->buf);
	if (!slot->listener->closing && post_slot(slot))
		pr_err_ratelimited("%s: cannot post a receive again\n",
				   dev_name(&slot->buf.ibdev->dev));
}

/* A flushed WR is not posted again; other errors are counted */
static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ibraw_slot *slot = container_of(wc->wr_cqe, struct ibraw_slot, cqe);
	struct ibraw_listener *listener = slot->listener;
	unsigned long flags;

	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return;
	ibprobe_buf_for_cpu(&slot->buf);
	spin_lock_irqsave(&listener->lock, flags);
	if (wc->status == IB_WC_SUCCESS)
		note_packet(listener, slot->buf.data, wc);
	else
		listener->errors++;
	repost(slot);
	spin_unlock_irqrestore(&listener->lock, flags);
}

static int slot_init(struct ibraw_dev *dev, struct ibraw_listener *listener,
		     struct ibraw_slot *slot, u32 buffer)
{
	int ret = ibprobe_buf_alloc(&slot->buf, dev->end.ibdev, buffer, 0, DMA_FROM_DEVICE);

	if (ret)
		return ret;
	slot->listener = listener;
	slot->cqe.done = recv_done;
	return post_slot(slot);
}

/* ib_drain_rq() requires that nobody else posts a receive */
static void drain(struct ibraw_listener *listener)
{
	spin_lock_irq(&listener->lock);
	listener->closing = true;
	spin_unlock_irq(&listener->lock);
	ib_drain_rq(listener->qp);
}

/* A QP without slots may still be in RESET, which it cannot leave for ERR */
static void listener_free(struct ibraw_listener *listener)
{
	u32 i;

	if (listener->has_group)
		ib_detach_mcast(listener->qp, &listener->mgid, listener->mlid);
	if (listener->posted)
		drain(listener);
	ib_destroy_qp(listener->qp);
	for (i = 0; i < listener->posted; i++)
		ibprobe_buf_free(&listener->slots[i].buf);
	kfree(listener);
}

static int listener_start(struct ibraw_dev *dev,
			  struct ibraw_listener *listener,
			  const struct ibraw_params *params)
{
	int ret;
	u32 i;

	ret = qp_to_rts(listener->qp, params);
	for (i = 0; i < params->posted && !ret; i++) {
		ret = slot_init(dev, listener, &listener->slots[i],
				params->buffer);
		listener->posted++;
	}
	if (ret || !params->has_gid)
		return ret;

	listener->mgid = params->gid;
	listener->mlid = params->mlid;
	ret = ib_attach_mcast(listener->qp, &listener->mgid, listener->mlid);
	listener->has_group = !ret;
	return ret;
}

static int listener_create(struct ibraw_dev *dev, const struct ibraw_params *params)
{
	u32 flags = params->block_loopback ? IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK : 0;
	struct ibraw_listener *listener;
	int ret;

	listener = kzalloc(struct_size(listener, slots, params->posted), GFP_KERNEL);
	if (!listener)
		return -ENOMEM;
	spin_lock_init(&listener->lock);
	/* ib_drain_rq() posts one receive more than there are slots */
	listener->qp = ibprobe_ud_create(&dev->end, 1, params->posted + 1, flags);
	if (IS_ERR(listener->qp)) {
		ret = PTR_ERR(listener->qp);
		kfree(listener);
		return ret;
	}
	ret = listener_start(dev, listener, params);
	if (ret)
		listener_free(listener);
	else
		dev->listener = listener;
	return ret;
}

static void listener_drop(struct ibraw_dev *dev)
{
	if (dev->listener)
		listener_free(dev->listener);
	dev->listener = NULL;
}

static int listen(struct ibraw_dev *dev, const struct ibraw_params *params)
{
	listener_drop(dev);
	return params->qkey ? listener_create(dev, params) : 0;
}

static int listen_line(void *of, char *line)
{
	return line_act(of, line, listen);
}

DEFINE_IBTOOL_LINES(listen);

/* Called with the lock held */
static void show_last(struct seq_file *m, const struct ibraw_listener *listener)
{
	const struct ib_wc *wc = &listener->last;
	u32 length = wc->byte_len - IB_GRH_BYTES;

	seq_printf(m, "last.length %u\nlast.src_qp %u\nlast.slid %u\n", length,
		   wc->src_qp, wc->slid);
	seq_printf(m, "last.sl %u\nlast.path_bits %u\nlast.pkey_index %u\n",
		   wc->sl, wc->dlid_path_bits, wc->pkey_index);
	seq_printf(m, "last.grh %u\n", !!(wc->wc_flags & IB_WC_GRH));
	seq_puts(m, "last.payload ");
	ibtool_show_hex(m, listener->last_payload, min_t(u32, length, IBRAW_SHOWN));
}

static void show_listener(struct seq_file *m, struct ibraw_listener *listener)
{
	unsigned long flags;

	spin_lock_irqsave(&listener->lock, flags);
	seq_printf(m, "qpn %u\npackets %llu\nbytes %llu\nerrors %llu\n",
		   listener->qp->qp_num, listener->packets, listener->bytes,
		   listener->errors);
	seq_printf(m, "csum_ok %llu\n", listener->csum_ok);
	if (listener->packets)
		show_last(m, listener);
	spin_unlock_irqrestore(&listener->lock, flags);
}

static int received_show(struct seq_file *m, void *v)
{
	struct ibraw_dev *dev = m->private;

	mutex_lock(&dev->lock);
	if (dev->listener)
		show_listener(m, dev->listener);
	mutex_unlock(&dev->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(received);

/* Sending */

static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ibraw_send *send = container_of(wc->wr_cqe, struct ibraw_send, cqe);

	send->status = wc->status;
	complete(&send->done);
}

static struct ib_ah *make_ah(struct ibraw_dev *dev, const struct ibraw_params *params)
{
	struct rdma_ah_attr attr;

	ibprobe_ah_attr(&attr, dev->end.ibdev, params->port, params->dlid,
			params->has_gid ? &params->gid : NULL);
	rdma_ah_set_sl(&attr, params->sl);
	rdma_ah_set_path_bits(&attr, params->path_bits);
	rdma_ah_set_static_rate(&attr, params->rate);
	return rdma_create_ah(dev->end.pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
}

/* The WR uses the payload and the AH, so it must have completed before they are freed. If the QP
 * cannot be taken to ERR, it is still reset or destroyed before that.
 */
static void send_cancel(struct ib_qp *qp, struct ibraw_send *send)
{
	if (ibprobe_set_state(qp, IB_QPS_ERR))
		pr_err("%s: QP %u does not stop\n", dev_name(&qp->device->dev), qp->qp_num);
	else
		wait_for_completion(&send->done);
}

static int send_one(struct ib_qp *qp, struct ib_ud_wr *wr, struct ibraw_send *send)
{
	int ret;

	reinit_completion(&send->done);
	ret = ib_post_send(qp, &wr->wr, NULL);
	if (ret)
		return ret;
	if (!wait_for_completion_timeout(&send->done, IBRAW_TIMEOUT)) {
		send_cancel(qp, send);
		return -ETIMEDOUT;
	}
	return send->status == IB_WC_SUCCESS ? 0 : -EIO;
}

/* Changes the numbers in the payload between two packets */
static void payload_step(const struct ibraw_params *params)
{
	__be32 number;
	u8 *at;
	int i;

	for (i = 1; i <= params->vary[0]; i++) {
		at = params->payload + abs(params->vary[i]);
		memcpy(&number, at, sizeof(number));
		be32_add_cpu(&number, params->vary[i] < 0 ? -1 : 1);
		memcpy(at, &number, sizeof(number));
	}
}

/* Makes a WR a large send, whose header is the beginning of the payload */
static void make_large(struct ib_ud_wr *wr, const struct ibraw_params *params,
		       struct ib_sge *sge)
{
	wr->wr.opcode = IB_WR_LSO;
	wr->header = params->payload;
	wr->hlen = params->hlen;
	wr->mss = params->mss;
	sge->addr += params->hlen;
	sge->length -= params->hlen;
}

static int send_all(struct ibraw_dev *dev, struct ib_qp *qp, const struct ibraw_params *params,
		    struct ib_ah *ah, const struct ibprobe_buf *payload)
{
	const struct ibprobe_target to = { .ah = ah, .qpn = params->qpn, .qkey = params->qkey };
	struct ib_sge sge = ibprobe_sge(qp->pd, payload->addr, params->length);
	struct ib_ud_wr wr = ibprobe_ud_wr(&dev->send.cqe, &sge, &to);
	int ret = 0;
	u32 i;

	if (params->csum)
		wr.wr.send_flags |= IB_SEND_IP_CSUM;
	if (params->mss)
		make_large(&wr, params, &sge);
	for (i = 0; i < params->count && !ret; i++) {
		ret = send_one(qp, &wr, &dev->send);
		payload_step(params);
		ibprobe_buf_for_device(payload);
	}
	return ret;
}

/* Sends from the sending QP, and resets it, so that no WR is left */
static int send_from_tx(struct ibraw_dev *dev, const struct ibraw_params *params,
			struct ib_ah *ah, const struct ibprobe_buf *payload)
{
	int ret, reset;

	ret = qp_to_rts(dev->tx, params) ?:
	      send_all(dev, dev->tx, params, ah, payload);
	reset = ibprobe_set_state(dev->tx, IB_QPS_RESET);
	return ret ?: reset;
}

/* Nothing resets the receiving QP, so it ends if a WR did not complete in time */
static int send_from_listener(struct ibraw_dev *dev, const struct ibraw_params *params,
			      struct ib_ah *ah, const struct ibprobe_buf *payload)
{
	int ret = send_all(dev, dev->listener->qp, params, ah, payload);

	if (ret == -ETIMEDOUT)
		listener_drop(dev);
	return ret;
}

static int send_packets(struct ibraw_dev *dev, const struct ibraw_params *params)
{
	struct ibprobe_buf payload;
	struct ib_ah *ah;
	int ret;

	if (params->from_listener && !dev->listener)
		return -EINVAL;
	ah = make_ah(dev, params);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	ret = ibprobe_buf_map(&payload, dev->end.ibdev, params->payload, IBRAW_MAX_PAYLOAD,
			      DMA_TO_DEVICE);
	if (ret)
		goto out;
	if (params->from_listener)
		ret = send_from_listener(dev, params, ah, &payload);
	else
		ret = send_from_tx(dev, params, ah, &payload);
	ibprobe_buf_unmap(&payload);
out:
	ibprobe_ah_free(ah);
	return ret;
}

static int send_line(void *of, char *line)
{
	return line_act(of, line, send_packets);
}

DEFINE_IBTOOL_LINES(send);

/* Joining */

/* A membership that the SA revokes later is not requested again */
static int join_done(int status, struct ib_sa_multicast *membership)
{
	struct ibraw_dev *dev = membership->context;

	dev->join_status = status;
	complete(&dev->joined);
	return 0;
}

static void leave(struct ibraw_dev *dev)
{
	if (dev->membership)
		ib_sa_free_multicast(dev->membership);
	dev->membership = NULL;
}

static int join(struct ibraw_dev *dev, struct ib_sa_mcmember_rec *rec, u32 port)
{
	const ib_sa_comp_mask mask =
		IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
		IB_SA_MCMEMBER_REC_PKEY | IB_SA_MCMEMBER_REC_JOIN_STATE;
	struct ib_sa_multicast *membership;

	reinit_completion(&dev->joined);
	membership = ib_sa_join_multicast(&sa_client, dev->end.ibdev, port, rec,
					  mask, GFP_KERNEL, join_done, dev);
	if (IS_ERR(membership))
		return PTR_ERR(membership);
	dev->membership = membership;
	if (!wait_for_completion_timeout(&dev->joined, IBRAW_TIMEOUT))
		return -ETIMEDOUT;
	return dev->join_status;
}

static int join_or_leave(struct ibraw_dev *dev, const struct ibraw_params *params)
{
	struct ib_sa_mcmember_rec rec = {
		.mgid = params->gid,
		.join_state = BIT(FULLMEMBER_JOIN),
	};
	u16 pkey;
	int ret;

	leave(dev);
	if (!params->has_gid)
		return 0;
	ret = rdma_query_gid(dev->end.ibdev, params->port, 0, &rec.port_gid);
	if (ret)
		return ret;
	ret = ib_query_pkey(dev->end.ibdev, params->port, params->pkey_index, &pkey);
	if (ret)
		return ret;
	rec.pkey = cpu_to_be16(pkey);
	ret = join(dev, &rec, params->port);
	if (ret)
		leave(dev);
	return ret;
}

static int join_line(void *of, char *line)
{
	return line_act(of, line, join_or_leave);
}

DEFINE_IBTOOL_LINES(join);

/* Devices */

static u32 send_flags(const struct ib_device *ibdev)
{
	return ibdev->attrs.kernel_cap_flags & IBK_UD_TSO ?
	       IB_QP_CREATE_IPOIB_UD_LSO : 0;
}

static int dev_init(struct ibraw_dev *dev, struct ib_device *ibdev)
{
	int ret = ibprobe_end_open(&dev->end, ibdev, 2 * IBRAW_MAX_POSTED, IB_POLL_SOFTIRQ);

	if (ret)
		return ret;
	dev->tx = ibprobe_ud_create(&dev->end, 1, 1, send_flags(ibdev));
	if (!IS_ERR(dev->tx))
		return 0;
	ibprobe_end_close(&dev->end);
	return PTR_ERR(dev->tx);
}

static struct ib_client ibraw_client;

static int ibraw_add(struct ib_device *ibdev)
{
	struct ibraw_dev *dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	int ret;

	if (!dev)
		return -ENOMEM;
	mutex_init(&dev->lock);
	init_completion(&dev->joined);
	dev->send.cqe.done = send_done;
	init_completion(&dev->send.done);
	ret = dev_init(dev, ibdev);
	if (ret) {
		kfree(dev);
		return ret;
	}
	ib_set_client_data(ibdev, &ibraw_client, dev);
	dev->dir = debugfs_create_dir(dev_name(&ibdev->dev), root);
	debugfs_create_file("send", 0200, dev->dir, dev, &send_fops);
	debugfs_create_file("listen", 0200, dev->dir, dev, &listen_fops);
	debugfs_create_file("received", 0400, dev->dir, dev, &received_fops);
	debugfs_create_file("join", 0200, dev->dir, dev, &join_fops);
	return 0;
}

/* debugfs_remove() waits for tasks that use one of the files */
static void ibraw_remove(struct ib_device *ibdev, void *client_data)
{
	struct ibraw_dev *dev = client_data;

	debugfs_remove(dev->dir);
	leave(dev);
	listener_drop(dev);
	ib_destroy_qp(dev->tx);
	ibprobe_end_close(&dev->end);
	kfree(dev);
}

static struct ib_client ibraw_client = {
	.name = KBUILD_MODNAME,
	.add = ibraw_add,
	.remove = ibraw_remove,
};

static int __init ibraw_init(void)
{
	int ret;

	root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	ib_sa_register_client(&sa_client);
	ret = ib_register_client(&ibraw_client);
	if (!ret)
		return 0;
	ib_sa_unregister_client(&sa_client);
	debugfs_remove(root);
	return ret;
}
module_init(ibraw_init);

static void __exit ibraw_exit(void)
{
	ib_unregister_client(&ibraw_client);
	ib_sa_unregister_client(&sa_client);
	debugfs_remove(root);
}
module_exit(ibraw_exit);

MODULE_DESCRIPTION("Raw InfiniBand datagrams for tests");
MODULE_LICENSE("Dual BSD/GPL");
