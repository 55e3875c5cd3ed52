// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibraw: sends raw datagrams, good ones and bad ones, over any IB device, and
 * receives them. For tests, by files in /sys/kernel/debug/ibraw/<device>/:
 *
 *  send      a line sends packets:
 *            dlid=3 qpn=0x12 qkey=0xb1b [port=1] [pkey_index=0] [sl=0]
 *            [path_bits=0] [rate=0] [dgid=<gid>] [count=1] [payload=<hex> | length=100]
 *            [from_listener=1] [csum=1] [mss=1024 hlen=44] [vary=12,-32] [own_qkey=N]
 *            With dgid there is a GRH; from_listener takes the receiving QP to
 *            send from; csum has the HCA put the checksums in; with mss it is a
 *            large send, the payload's first hlen octets being the header. The
 *            32-bit numbers at these octets of the payload go up by one with each
 *            packet, down after a minus sign. With own_qkey the sending QP has that
 *            Q_Key, which a qkey with the top bit set stands for: as to QP1, 0x80010000.
 *            The write returns when all completed.
 *  listen    a line makes a receiving QP, in place of the last one:
 *            [port=1] [pkey_index=0] qkey=0xb1b [buffer=4136] [posted=64]
 *            [mgid=<gid> mlid=0xc000] [block_loopback=1]
 *            An empty line only ends the last one.
 *  received  what that QP got
 *  join      a line has the port join a group that exists, as a full member, at
 *            the SA, in place of the last one: mgid=<gid> [port=1] [pkey_index=0]
 *            An empty line only leaves the last one.
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
#define IBRAW_SHOWN		128	/* bytes of the last payload */
#define IBRAW_MAX_VARY		4

/* What a line says, both files' keys together */
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
	int vary[1 + IBRAW_MAX_VARY];	/* how many, then these */
	u8 *payload;
};

/* A posted receive */
struct ibraw_slot {
	struct ib_cqe cqe;
	struct ibprobe_buf buf;
	struct ibraw_listener *listener;
};

/**
 * struct ibraw_listener - A receiving QP
 * @qp: the QP
 * @has_group: it is attached to @mgid
 * @mgid: multicast group
 * @mlid: its LID
 * @posted: slots
 * @lock: guards what follows; taken in softirq too
 * @packets: good receives
 * @bytes: of payload in them
 * @csum_ok: those whose checksums the HCA found right
 * @errors: receives that completed otherwise
 * @last: the last good one's completion
 * @last_payload: and how it began
 * @slots: the buffers
 */
struct ibraw_listener {
	struct ib_qp *qp;
	bool has_group;
	union ib_gid mgid;
	u16 mlid;
	u32 posted;
	spinlock_t lock;	/* guards what follows, up to slots */
	u64 packets;
	u64 bytes;
	u64 csum_ok;
	u64 errors;
	struct ib_wc last;
	u8 last_payload[IBRAW_SHOWN];
	struct ibraw_slot slots[];
};

/**
 * struct ibraw_dev - What there is for each IB device
 * @end: the device, and what both QPs stand on
 * @lock: one line at a time; guards all below
 * @tx: sends; reset for each line
 * @listener: receives; NULL without one
 * @membership: at the SA; NULL without one
 * @joined: the SA has answered
 * @join_status: and how
 * @dir: in debugfs
 */
struct ibraw_dev {
	struct ibprobe_end end;
	struct mutex lock;	/* guards what follows */
	struct ib_qp *tx;
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

/* Defaults, then what the line says; a payload not given counts upwards */
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

/* One at a time for each device */
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

/* Sending */

struct ibraw_send {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

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

static int send_one(struct ib_qp *qp, struct ib_ud_wr *wr, struct ibraw_send *send)
{
	int ret;

	reinit_completion(&send->done);
	ret = ib_post_send(qp, &wr->wr, NULL);
	if (ret)
		return ret;
	if (!wait_for_completion_timeout(&send->done, IBRAW_TIMEOUT))
		return -ETIMEDOUT;
	return send->status == IB_WC_SUCCESS ? 0 : -EIO;
}

/* The last packet has been sent: its payload may be written to */
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

/* The header is what the payload begins with */
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

static int send_all(struct ib_qp *qp, const struct ibraw_params *params, struct ib_ah *ah,
		    const struct ibprobe_buf *payload)
{
	const struct ibprobe_target to = { .ah = ah, .qpn = params->qpn, .qkey = params->qkey };
	struct ibraw_send send = { .cqe.done = send_done };
	struct ib_sge sge = ibprobe_sge(qp->pd, payload->addr, params->length);
	struct ib_ud_wr wr = ibprobe_ud_wr(&send.cqe, &sge, &to);
	int ret = 0;
	u32 i;

	if (params->csum)
		wr.wr.send_flags |= IB_SEND_IP_CSUM;
	if (params->mss)
		make_large(&wr, params, &sge);
	init_completion(&send.done);
	for (i = 0; i < params->count && !ret; i++) {
		ret = send_one(qp, &wr, &send);
		payload_step(params);
		ibprobe_buf_for_device(payload);
	}
	return ret;
}

/* Afterwards the QP is in RESET, where it has no work request left */
static int send_from_tx(struct ibraw_dev *dev, const struct ibraw_params *params,
			struct ib_ah *ah, const struct ibprobe_buf *payload)
{
	int ret, reset;

	ret = qp_to_rts(dev->tx, params) ?:
	      send_all(dev->tx, params, ah, payload);
	reset = ibprobe_set_state(dev->tx, IB_QPS_RESET);
	return ret ?: reset;
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
		ret = send_all(dev->listener->qp, params, ah, &payload);
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

/* Receiving */

static int post_slot(struct ibraw_slot *slot)
{
	struct ib_qp *qp = slot->listener->qp;
	struct ib_sge sge = ibprobe_sge(qp->pd, slot->buf.addr, slot->buf.size);
	struct ib_recv_wr wr = { .wr_cqe = &slot->cqe, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(qp, &wr, NULL);
}

/* Lock held */
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

/* A flushed receive ends its slot's way; another error is one to show */
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
	spin_unlock_irqrestore(&listener->lock, flags);
	ibprobe_buf_for_device(&slot->buf);
	if (post_slot(slot))
		pr_err_ratelimited("%s: cannot post a receive again\n",
				   dev_name(&cq->device->dev));
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

static void listener_free(struct ibraw_listener *listener)
{
	u32 i;

	if (!listener)
		return;
	if (listener->has_group)
		ib_detach_mcast(listener->qp, &listener->mgid, listener->mlid);
	ib_drain_rq(listener->qp);
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

static int listen(struct ibraw_dev *dev, const struct ibraw_params *params)
{
	listener_free(dev->listener);
	dev->listener = NULL;
	return params->qkey ? listener_create(dev, params) : 0;
}

static int listen_line(void *of, char *line)
{
	return line_act(of, line, listen);
}

DEFINE_IBTOOL_LINES(listen);

/* Lock held */
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

/* Joining */

/* A membership that the SA voids later is not asked for again */
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

/* Removing the folder waits for those who are in one of its files */
static void ibraw_remove(struct ib_device *ibdev, void *client_data)
{
	struct ibraw_dev *dev = client_data;

	debugfs_remove(dev->dir);
	leave(dev);
	listener_free(dev->listener);
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
