// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibrawmad: sends single MADs over the first port of any IB device, and receives the responses. For
 * tests, by files in /sys/kernel/debug/ibrawmad/<device>/:
 *
 *  send      qp=0 dlid=3 [timeout=500] mad=<hex>
 *            qp is 0 or 1. If the MAD is shorter than 256 bytes, the rest is 0. The high
 *            half of its TransactionID is replaced. The write returns when the response is
 *            there, or fails with ETIMEDOUT after timeout milliseconds, which are at least one.
 *            If the MAD is a response itself, the write returns when it is sent.
 *  answer    the response to the last MAD, in hexadecimal; zeros if there was none
 *  reports   the Reports that the SA sent since the first MAD was sent from QP1, oldest
 *            first, one a line; each was acknowledged
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>

#include "ibprobe.h"

#define RAWMAD_TIMEOUT		500	/* in ms */
#define RAWMAD_PORT		1

struct rawmad_params {
	u32 qp;
	u32 dlid;
	u32 timeout;
	u8 mad[IB_MGMT_MAD_SIZE];
};

struct rawmad_report {
	struct list_head list;
	u8 mad[IB_MGMT_MAD_SIZE];
};

/**
 * struct rawmad_dev - The state for an IB device
 * @ibdev: the device
 * @lock: serializes lines; protects the following members except for the reports
 * @pd: for address handles
 * @agent: the agents of QP0 and QP1, NULL until they are used
 * @done: the MAD was sent and, if it is a request, was answered or has timed out
 * @status: the status of the MAD
 * @answer: the response to the last MAD
 * @reports_lock: protects @reports and @lost
 * @reports: list of &struct rawmad_report
 * @lost: number of Reports for which there was no memory
 * @dir: its debugfs folder
 */
struct rawmad_dev {
	struct ib_device *ibdev;
	struct mutex lock;	/* protects the following members */
	struct ib_pd *pd;
	struct ib_mad_agent *agent[2];
	struct completion done;
	enum ib_wc_status status;
	u8 answer[IB_MGMT_MAD_SIZE];
	struct mutex reports_lock;	/* protects reports and lost */
	struct list_head reports;
	unsigned int lost;
	struct dentry *dir;
};

static struct dentry *root;

/* Lines */

static int read_mad(const char *value, void *to)
{
	return min(ibtool_read_hex(value, to, IB_MGMT_MAD_SIZE), 0);
}

#define WORD(member) IBTOOL_WORD(struct rawmad_params, member, u32)

static const struct ibtool_word words[] = {
	WORD(qp), WORD(dlid), WORD(timeout),
	{ "mad", offsetof(struct rawmad_params, mad), read_mad },
};

/* Agents */

static void sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct rawmad_dev *dev = agent->context;

	/* A ReportResp has no context, and nobody waits for it */
	if (wc->send_buf->context[0]) {
		dev->status = wc->status;
		complete(&dev->done);
	}
	rdma_destroy_ah(wc->send_buf->ah, 0);
	ib_free_send_mad(wc->send_buf);
}

static int post(struct ib_mad_agent *agent, struct ib_ah *ah, u32 qpn,
		const u8 *mad, unsigned int timeout, void *context)
{
	struct ib_mad_send_buf *buf;
	struct ib_mad_hdr *hdr;
	int ret;

	buf = ib_create_send_mad(agent, qpn, 0, 0, IB_MGMT_MAD_HDR,
				 IB_MGMT_MAD_DATA, GFP_KERNEL,
				 IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	memcpy(buf->mad, mad, IB_MGMT_MAD_SIZE);
	hdr = buf->mad;
	if (context)
		hdr->tid = cpu_to_be64((u64)agent->hi_tid << 32 |
				       lower_32_bits(be64_to_cpu(hdr->tid)));
	buf->ah = ah;
	buf->timeout_ms = timeout;
	buf->context[0] = context;
	ret = ib_post_send_mad(buf, NULL);
	if (ret)
		ib_free_send_mad(buf);
	return ret;
}

/* 13.4.8: the SA repeats a Report until it gets a ReportResp */
static void acknowledge(struct rawmad_dev *dev, struct ib_mad_agent *agent,
			struct ib_mad_recv_wc *wc)
{
	u8 mad[IB_MGMT_MAD_SIZE];
	struct ib_ah *ah;

	memcpy(mad, wc->recv_buf.mad, sizeof(mad));
	((struct ib_mad_hdr *)mad)->method |= IB_MGMT_METHOD_RESP;
	ah = ib_create_ah_from_wc(dev->pd, wc->wc, wc->recv_buf.grh,
				  RAWMAD_PORT);
	if (IS_ERR(ah)) {
		pr_err("no way back for a ReportResp: %ld\n", PTR_ERR(ah));
		return;
	}
	if (post(agent, ah, 1, mad, 0, NULL))
		rdma_destroy_ah(ah, 0);
}

static void keep_report(struct rawmad_dev *dev, const struct ib_mad *mad)
{
	struct rawmad_report *report = kzalloc(sizeof(*report), GFP_KERNEL);

	mutex_lock(&dev->reports_lock);
	if (report) {
		memcpy(report->mad, mad, sizeof(report->mad));
		list_add_tail(&report->list, &dev->reports);
	} else {
		dev->lost++;
	}
	mutex_unlock(&dev->reports_lock);
}

static void received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		     struct ib_mad_recv_wc *wc)
{
	struct rawmad_dev *dev = agent->context;

	if (buf) {
		memcpy(dev->answer, wc->recv_buf.mad, sizeof(dev->answer));
	} else {
		keep_report(dev, wc->recv_buf.mad);
		acknowledge(dev, agent, wc);
	}
	ib_free_recv_mad(wc);
}

/* Gets the agent of a QP. The agent of QP1 also receives Reports, for which a port can have only
 * one agent.
 */
static struct ib_mad_agent *agent_get(struct rawmad_dev *dev, u32 qp)
{
	struct ib_mad_reg_req reports = {
		.mgmt_class = IB_MGMT_CLASS_SUBN_ADM,
		.mgmt_class_version = IB_SA_CLASS_VERSION,
	};
	struct ib_mad_agent *agent;

	if (dev->agent[qp])
		return dev->agent[qp];
	set_bit(IB_MGMT_METHOD_REPORT, reports.method_mask);
	agent = ib_register_mad_agent(dev->ibdev, RAWMAD_PORT,
				      qp ? IB_QPT_GSI : IB_QPT_SMI,
				      qp ? &reports : NULL, 0, sent, received,
				      dev, 0);
	if (!IS_ERR(agent))
		dev->agent[qp] = agent;
	return agent;
}

static int send(struct rawmad_dev *dev, const struct rawmad_params *params)
{
	struct ib_mad_agent *agent = agent_get(dev, params->qp);
	struct rdma_ah_attr attr;
	struct ib_ah *ah;
	int ret;

	if (IS_ERR(agent))
		return PTR_ERR(agent);
	ibprobe_ah_attr(&attr, dev->ibdev, RAWMAD_PORT, params->dlid, NULL);
	ah = rdma_create_ah(dev->pd, &attr, 0);
	if (IS_ERR(ah))
		return PTR_ERR(ah);

	reinit_completion(&dev->done);
	memset(dev->answer, 0, sizeof(dev->answer));
	ret = post(agent, ah, params->qp, params->mad, params->timeout, dev);
	if (ret) {
		rdma_destroy_ah(ah, 0);
		return ret;
	}
	wait_for_completion(&dev->done);
	if (dev->status == IB_WC_RESP_TIMEOUT_ERR)
		return -ETIMEDOUT;
	return dev->status == IB_WC_SUCCESS ? 0 : -EIO;
}

/* Files */

static int send_line(void *of, char *line)
{
	struct rawmad_params params = { .timeout = RAWMAD_TIMEOUT };
	struct rawmad_dev *dev = of;
	int ret = ibtool_read_line(line, words, ARRAY_SIZE(words), &params);

	if (ret)
		return ret;
	/* Without a timeout, ib_mad would not wait for the response */
	if (params.qp > 1 || params.dlid > U16_MAX || !params.timeout)
		return -EINVAL;
	mutex_lock(&dev->lock);
	ret = send(dev, &params);
	mutex_unlock(&dev->lock);
	return ret;
}

DEFINE_IBTOOL_LINES(send);

static int answer_show(struct seq_file *m, void *v)
{
	struct rawmad_dev *dev = m->private;

	mutex_lock(&dev->lock);
	ibtool_show_hex(m, dev->answer, IB_MGMT_MAD_SIZE);
	mutex_unlock(&dev->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(answer);

static int reports_show(struct seq_file *m, void *v)
{
	struct rawmad_dev *dev = m->private;
	struct rawmad_report *report;

	mutex_lock(&dev->reports_lock);
	list_for_each_entry(report, &dev->reports, list)
		ibtool_show_hex(m, report->mad, IB_MGMT_MAD_SIZE);
	if (dev->lost)
		seq_printf(m, "lost %u\n", dev->lost);
	mutex_unlock(&dev->reports_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(reports);

/* Devices */

static struct ib_client rawmad_client;

static int rawmad_add(struct ib_device *ibdev)
{
	struct rawmad_dev *dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	int ret;

	if (!dev)
		return -ENOMEM;
	dev->ibdev = ibdev;
	mutex_init(&dev->lock);
	mutex_init(&dev->reports_lock);
	init_completion(&dev->done);
	INIT_LIST_HEAD(&dev->reports);
	dev->pd = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(dev->pd)) {
		ret = PTR_ERR(dev->pd);
		kfree(dev);
		return ret;
	}
	ib_set_client_data(ibdev, &rawmad_client, dev);
	dev->dir = debugfs_create_dir(dev_name(&ibdev->dev), root);
	debugfs_create_file("send", 0200, dev->dir, dev, &send_fops);
	debugfs_create_file("answer", 0400, dev->dir, dev, &answer_fops);
	debugfs_create_file("reports", 0400, dev->dir, dev, &reports_fops);
	return 0;
}

/* debugfs_remove() waits for tasks that use one of the files */
static void rawmad_remove(struct ib_device *ibdev, void *client_data)
{
	struct rawmad_dev *dev = client_data;
	struct rawmad_report *report, *next;
	unsigned int i;

	debugfs_remove(dev->dir);
	for (i = 0; i < ARRAY_SIZE(dev->agent); i++)
		if (dev->agent[i])
			ib_unregister_mad_agent(dev->agent[i]);
	ib_dealloc_pd(dev->pd);
	list_for_each_entry_safe(report, next, &dev->reports, list)
		kfree(report);
	kfree(dev);
}

static struct ib_client rawmad_client = {
	.name = KBUILD_MODNAME,
	.add = rawmad_add,
	.remove = rawmad_remove,
};

static int __init rawmad_init(void)
{
	int ret;

	root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	ret = ib_register_client(&rawmad_client);
	if (ret)
		debugfs_remove(root);
	return ret;
}
module_init(rawmad_init);

static void __exit rawmad_exit(void)
{
	ib_unregister_client(&rawmad_client);
	debugfs_remove(root);
}
module_exit(rawmad_exit);

MODULE_DESCRIPTION("Raw InfiniBand management datagrams for tests");
MODULE_LICENSE("Dual BSD/GPL");
