// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibfuzz: sends random frames to an IPoIB interface, over any IB device, by files in
 * /sys/kernel/debug/ibfuzz/<device>/:
 *
 *  send  a line sends frames, and the write returns when this is done:
 *        seed=7 dlid=3 qpn=0x12 qkey=0xb1b to_gid=<gid> to_ip4=10.0.0.2
 *        to_ip6=fd00::2 from_ip4=10.0.0.1 from_ip6=fd00::1
 *        [seconds=30] [count=1000] [first=0] [rate=500] [alien_index=1]
 *        [mgid=<gid> mlid=0xc000]
 *        Sending ends after the given number of seconds or of frames, or fails with EINTR
 *        after a signal or ENODEV if the device is removed. rate is the number of
 *        frames per second; without it, frames are sent as fast as possible. Frame n of a
 *        seed is always the same, so first=n count=1 sends it again. Some frames have a GRH,
 *        some are sent to the multicast group, some have a wrong Q_Key, and some have the
 *        P_Key at alien_index.
 *  sent  what the last line sent: counters, and a digest of all frames
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include "ibfuzz.h"
#include "ibprobe.h"

#define BATCH		16
#define PORT		1
#define PKEY_INDEX	0
#define TIMEOUT		(10 * HZ)
#define MAX_SECONDS	86400
#define NO_INDEX	U32_MAX
#define QPN_MCAST	0xffffff
#define QPN_FROM	0xabcdef	/* a QPN that does not exist and is the same in each run */

/* The ways to address a frame. There is an AH for each. */
enum fuzz_way { WAY_UNICAST, WAY_GRH, WAY_GROUP, WAYS };

static const char * const way_names[WAYS] = { "unicast", "grh", "group" };

enum fuzz_key { KEY_RIGHT, KEY_BAD_QKEY, KEY_BAD_PKEY, KEYS };

static const char * const key_names[KEYS] = { "right_keys", "bad_qkey", "bad_pkey" };

/* The words of a line */
struct fuzz_params {
	u32 seed;
	u32 seconds;
	u32 count;
	u32 first;
	u32 rate;
	u32 alien_index;
	u32 dlid;
	u32 qpn;
	u32 qkey;
	u32 mlid;
	union ib_gid to_gid;
	union ib_gid mgid;
	struct ibfuzz_ends ends;
};

/* The counters of the frames that a line sent */
struct fuzz_sent {
	u32 frames;
	u64 octets;
	u32 digest;
	u32 kind[IBFUZZ_KINDS];
	u32 way[WAYS];
	u32 key[KEYS];
};

/* A frame that is being sent */
struct fuzz_slot {
	struct ib_cqe cqe;
	struct fuzz_run *run;
	struct ibprobe_buf buf;
};

/**
 * struct fuzz_run - The resources of a line
 * @dev: the device
 * @params: the words of the line
 * @max: length of the largest frame
 * @end: the PD and the CQ that both QPs use
 * @qp: a QP with the right P_Key, and one with a wrong P_Key, which may be NULL
 * @ah: an AH for each way; the one for the group may be NULL
 * @slots: one for each frame of a batch
 * @left: frames of the batch that have not completed, and one more while the batch is posted
 * @done: @left has become 0
 * @failed: a send completed with an error
 */
struct fuzz_run {
	struct fuzz_dev *dev;
	const struct fuzz_params *params;
	u32 max;
	struct ibprobe_end end;
	struct ib_qp *qp[2];
	struct ib_ah *ah[WAYS];
	struct fuzz_slot slots[BATCH];
	atomic_t left;
	struct completion done;
	bool failed;
};

/**
 * struct fuzz_dev - The state for an IB device
 * @ibdev: the device
 * @lock: serializes lines; protects @sent
 * @going: the device is being removed, and a run must end
 * @sent: the counters of the last line
 * @dir: its debugfs folder
 */
struct fuzz_dev {
	struct ib_device *ibdev;
	struct mutex lock;	/* protects sent */
	bool going;
	struct fuzz_sent sent;
	struct dentry *dir;
};

static struct dentry *root;

/* Lines */

#define WORD(member, kind) IBTOOL_WORD(struct fuzz_params, member, kind)
#define WORD_OF_END(name, member, kind) \
	{ name, offsetof(struct fuzz_params, ends.member), ibtool_read_##kind }

static const struct ibtool_word words[] = {
	WORD(seed, u32), WORD(seconds, u32), WORD(count, u32), WORD(first, u32),
	WORD(rate, u32), WORD(alien_index, u32), WORD(dlid, u32), WORD(qpn, u32), WORD(qkey, u32),
	WORD(mlid, u32), WORD(to_gid, ip6), WORD(mgid, ip6),
	WORD_OF_END("to_ip4", to.ip4, ip4), WORD_OF_END("to_ip6", to.ip6, ip6),
	WORD_OF_END("from_ip4", from.ip4, ip4), WORD_OF_END("from_ip6", from.ip6, ip6),
};

static bool params_valid(const struct fuzz_params *params)
{
	return (params->count || params->seconds) && params->seconds <= MAX_SECONDS &&
	       params->dlid <= U16_MAX && params->mlid <= U16_MAX && params->qkey < BIT(31) &&
	       (params->alien_index <= U16_MAX || params->alien_index == NO_INDEX);
}

/* QPs and address handles */

static int make_qp(struct fuzz_run *run, unsigned int i, u16 pkey_index)
{
	struct ib_qp *qp = ibprobe_ud_open(&run->end, BATCH, 1, PORT, pkey_index,
					   run->params->qkey);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	run->qp[i] = qp;
	return 0;
}

static int make_ah(struct fuzz_run *run, enum fuzz_way way, u32 dlid, const union ib_gid *gid)
{
	struct rdma_ah_attr attr;
	struct ib_ah *ah;

	ibprobe_ah_attr(&attr, run->dev->ibdev, PORT, dlid, gid);
	ah = rdma_create_ah(run->end.pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	run->ah[way] = ah;
	return 0;
}

static int make_ahs(struct fuzz_run *run)
{
	const struct fuzz_params *params = run->params;
	int ret;

	ret = make_ah(run, WAY_UNICAST, params->dlid, NULL) ?:
	      make_ah(run, WAY_GRH, params->dlid, &params->to_gid);
	if (!ret && params->mlid)
		ret = make_ah(run, WAY_GROUP, params->mlid, &params->mgid);
	return ret;
}

static int make_qps(struct fuzz_run *run)
{
	int ret = make_qp(run, 0, PKEY_INDEX);

	if (ret || run->params->alien_index == NO_INDEX)
		return ret;
	return make_qp(run, 1, run->params->alien_index);
}

static int find_max(struct fuzz_run *run)
{
	struct ib_port_attr attr;
	int ret = ib_query_port(run->dev->ibdev, PORT, &attr);

	if (ret)
		return ret;
	run->max = clamp(ib_mtu_enum_to_int(attr.active_mtu), 512, IBFUZZ_MAX_FRAME);
	return 0;
}

/* Sending */

static void batch_put(struct fuzz_run *run)
{
	if (atomic_dec_and_test(&run->left))
		complete(&run->done);
}

static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct fuzz_slot *slot = container_of(wc->wr_cqe, struct fuzz_slot, cqe);

	if (wc->status != IB_WC_SUCCESS)
		WRITE_ONCE(slot->run->failed, true);
	batch_put(slot->run);
}

static int make_slots(struct fuzz_run *run)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < BATCH && !ret; i++) {
		run->slots[i].run = run;
		run->slots[i].cqe.done = send_done;
		ret = ibprobe_buf_alloc(&run->slots[i].buf, run->dev->ibdev, IBFUZZ_MAX_FRAME, 0,
					DMA_TO_DEVICE);
	}
	return ret;
}

/* One in four frames is sent to the group, if there is one. The others are sent with or without a
 * GRH.
 */
static enum fuzz_way choose_way(const struct fuzz_run *run, struct rnd_state *rnd)
{
	u32 n = ibfuzz_below(rnd, 8);

	if (n < 2)
		return run->ah[WAY_GROUP] ? WAY_GROUP : WAY_UNICAST;
	return n % 2 ? WAY_GRH : WAY_UNICAST;
}

static enum fuzz_key choose_key(const struct fuzz_run *run, struct rnd_state *rnd)
{
	u32 n = ibfuzz_below(rnd, 32);

	if (!n)
		return KEY_BAD_QKEY;
	return n == 1 && run->qp[1] ? KEY_BAD_PKEY : KEY_RIGHT;
}

/* The digest covers everything that determines what is sent */
static void note_frame(struct fuzz_run *run, u32 index, enum fuzz_way way, enum fuzz_key key,
		       const u8 *data, u32 len)
{
	struct fuzz_sent *sent = &run->dev->sent;

	sent->frames++;
	sent->octets += len;
	sent->kind[index % IBFUZZ_KINDS]++;
	sent->way[way]++;
	sent->key[key]++;
	sent->digest = jhash(data, len, sent->digest ^ (way << 8 | key));
}

static int post(struct fuzz_run *run, struct fuzz_slot *slot, u32 len, enum fuzz_way way,
		enum fuzz_key key)
{
	const struct ibprobe_target to = {
		.ah = run->ah[way],
		.qpn = way == WAY_GROUP ? QPN_MCAST : run->params->qpn,
		.qkey = run->params->qkey ^ (key == KEY_BAD_QKEY),
	};
	struct ib_sge sge = ibprobe_sge(run->end.pd, slot->buf.addr, len);
	struct ib_ud_wr wr = ibprobe_ud_wr(&slot->cqe, &sge, &to);

	return ib_post_send(run->qp[key == KEY_BAD_PKEY], &wr.wr, NULL);
}

/* The first numbers of the generator depend on its seed by little more than an XOR, so consecutive
 * frames would be similar. The index is hashed, and the first numbers are skipped.
 */
static void seed_frame(struct rnd_state *rnd, u32 seed, u32 index)
{
	unsigned int i;

	prandom_seed_state(rnd, jhash_2words(index, seed, 0));
	for (i = 0; i < 8; i++)
		prandom_u32_state(rnd);
}

static int send_frame(struct fuzz_run *run, struct fuzz_slot *slot, u32 index)
{
	struct rnd_state rnd;
	enum fuzz_way way;
	enum fuzz_key key;
	u32 len;
	int ret;

	seed_frame(&rnd, run->params->seed, index);
	way = choose_way(run, &rnd);
	key = choose_key(run, &rnd);
	len = ibfuzz_frame(&rnd, &run->params->ends, index, run->max, slot->buf.data);
	ibprobe_buf_for_device(&slot->buf);
	atomic_inc(&run->left);
	ret = post(run, slot, len, way, key);
	if (ret)
		atomic_dec(&run->left);
	else
		note_frame(run, index, way, key, slot->buf.data, len);
	return ret;
}

/* Sends frames from @index on, and returns when all of them have completed */
static int send_batch(struct fuzz_run *run, u32 index, u32 n)
{
	int ret = 0;
	u32 i;

	atomic_set(&run->left, 1);
	reinit_completion(&run->done);
	for (i = 0; i < n && !ret; i++)
		ret = send_frame(run, &run->slots[i], index + i);
	batch_put(run);
	if (!wait_for_completion_timeout(&run->done, TIMEOUT))
		return -ETIMEDOUT;
	if (!ret && run->failed)
		ret = -EIO;
	return ret;
}

static bool is_over(const struct fuzz_run *run, unsigned long end)
{
	const struct fuzz_params *params = run->params;

	if (params->count && run->dev->sent.frames >= params->count)
		return true;
	return params->seconds && time_after_eq(jiffies, end);
}

static int interrupted(const struct fuzz_run *run)
{
	if (READ_ONCE(run->dev->going))
		return -ENODEV;
	return signal_pending(current) ? -EINTR : 0;
}

static void pace(const struct fuzz_run *run, unsigned long begin)
{
	u64 due = run->params->rate ?
		  (u64)run->dev->sent.frames * MSEC_PER_SEC / run->params->rate : 0;
	u64 age = jiffies_to_msecs(jiffies - begin);

	if (due > age)
		msleep_interruptible(due - age);
	cond_resched();
}

static int send_all(struct fuzz_run *run)
{
	const struct fuzz_params *params = run->params;
	unsigned long begin = jiffies, end = begin + params->seconds * HZ;
	u32 n, sent;
	int ret = 0;

	while (!ret && !is_over(run, end)) {
		sent = run->dev->sent.frames;
		n = params->count ? min(params->count - sent, (u32)BATCH) : BATCH;
		ret = interrupted(run) ?:
		      send_batch(run, params->first + sent, n);
		pace(run, begin);
	}
	return ret;
}

static int run_make(struct fuzz_run *run)
{
	return find_max(run) ?:
	       make_qps(run) ?:
	       make_ahs(run) ?:
	       make_slots(run);
}

static void run_unmake(struct fuzz_run *run)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(run->qp); i++)
		if (run->qp[i])
			ib_destroy_qp(run->qp[i]);
	for (i = 0; i < WAYS; i++)
		ibprobe_ah_free(run->ah[i]);
	for (i = 0; i < BATCH; i++)
		ibprobe_buf_free(&run->slots[i].buf);
}

/* Fills in a link-layer address (RFC 4391, section 9.1.1) */
static void put_hwaddr(struct ibfuzz_end *end, u32 qpn, const union ib_gid *gid)
{
	*(__be32 *)end->hwaddr = cpu_to_be32(qpn);
	memcpy(end->hwaddr + 4, gid->raw, sizeof(gid->raw));
}

/* Fills in the link-layer addresses. That of the sender has a QPN that does not exist, so answers
 * are dropped.
 */
static int name_ends(struct fuzz_run *run, struct fuzz_params *params)
{
	union ib_gid gid;
	int ret = rdma_query_gid(run->dev->ibdev, PORT, 0, &gid);

	put_hwaddr(&params->ends.to, params->qpn, &params->to_gid);
	if (!ret)
		put_hwaddr(&params->ends.from, QPN_FROM, &gid);
	return ret;
}

/* Called with dev->lock held */
static int run_line(struct fuzz_dev *dev, struct fuzz_params *params)
{
	struct fuzz_run *run = kzalloc(sizeof(*run), GFP_KERNEL);
	int ret;

	if (!run)
		return -ENOMEM;
	run->dev = dev;
	run->params = params;
	init_completion(&run->done);
	memset(&dev->sent, 0, sizeof(dev->sent));
	ret = ibprobe_end_open(&run->end, dev->ibdev, 2 * (BATCH + 1), IB_POLL_SOFTIRQ);
	if (ret)
		goto out;
	ret = run_make(run) ?:
	      name_ends(run, params) ?:
	      send_all(run);
	run_unmake(run);
	ibprobe_end_close(&run->end);
out:
	kfree(run);
	return ret;
}

static int send_line(void *of, char *line)
{
	struct fuzz_params params = { .alien_index = NO_INDEX };
	struct fuzz_dev *dev = of;
	int ret = ibtool_read_line(line, words, ARRAY_SIZE(words), &params);

	if (ret)
		return ret;
	if (!params_valid(&params))
		return -EINVAL;
	mutex_lock(&dev->lock);
	ret = run_line(dev, &params);
	mutex_unlock(&dev->lock);
	return ret;
}

DEFINE_IBTOOL_LINES(send);

static void show_counts(struct seq_file *m, const char * const *names, const u32 *counts,
			unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		seq_printf(m, "%s %u\n", names[i], counts[i]);
}

static int sent_show(struct seq_file *m, void *v)
{
	struct fuzz_dev *dev = m->private;
	const struct fuzz_sent *sent = &dev->sent;
	unsigned int i;

	mutex_lock(&dev->lock);
	seq_printf(m, "frames %u\noctets %llu\ndigest %08x\n", sent->frames, sent->octets,
		   sent->digest);
	show_counts(m, key_names, sent->key, KEYS);
	show_counts(m, way_names, sent->way, WAYS);
	for (i = 0; i < IBFUZZ_KINDS; i++)
		seq_printf(m, "%s %u\n", ibfuzz_kind_name(i), sent->kind[i]);
	mutex_unlock(&dev->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sent);

/* Devices */

static struct ib_client ibfuzz_client;

static int ibfuzz_add(struct ib_device *ibdev)
{
	struct fuzz_dev *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return -ENOMEM;
	dev->ibdev = ibdev;
	mutex_init(&dev->lock);
	ib_set_client_data(ibdev, &ibfuzz_client, dev);
	dev->dir = debugfs_create_dir(dev_name(&ibdev->dev), root);
	debugfs_create_file("send", 0200, dev->dir, dev, &send_fops);
	debugfs_create_file("sent", 0400, dev->dir, dev, &sent_fops);
	return 0;
}

/* debugfs_remove() waits for tasks that use one of the files */
static void ibfuzz_remove(struct ib_device *ibdev, void *client_data)
{
	struct fuzz_dev *dev = client_data;

	WRITE_ONCE(dev->going, true);
	debugfs_remove(dev->dir);
	kfree(dev);
}

static struct ib_client ibfuzz_client = {
	.name = KBUILD_MODNAME,
	.add = ibfuzz_add,
	.remove = ibfuzz_remove,
};

static int __init ibfuzz_init(void)
{
	int ret;

	root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	ret = ib_register_client(&ibfuzz_client);
	if (ret)
		debugfs_remove(root);
	return ret;
}
module_init(ibfuzz_init);

static void __exit ibfuzz_exit(void)
{
	ib_unregister_client(&ibfuzz_client);
	debugfs_remove(root);
}
module_exit(ibfuzz_exit);

MODULE_DESCRIPTION("Random IPoIB frames for tests");
MODULE_LICENSE("Dual BSD/GPL");
