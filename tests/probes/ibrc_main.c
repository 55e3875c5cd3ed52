// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibrc: tests reliable connections between any two IB devices of one kernel by their verbs:
 * messages of all sizes, of which each byte is checked, and each way in which a connection can
 * fail. By two files in /sys/kernel/debug/ibrc/:
 *
 *  run     a line runs a test; the write returns when it is over:
 *          from=ibfab0 to=ibfab1 [do=transfer] [cm=0] [uc=0] [lost=0]
 *          [size=1024 | size=random max=1048576] [count=100] [depth=16]
 *          [qps=1] [bidir=0] [srq=0] [sge=1] [inline=0] [imm=0] [signal=1]
 *          [recv=N] [credits=1] [retry=7] [rnr=7] [rnr_timer=1] [timeout=16]
 *          [mtu=N] [grh=0] [psn=0] [stall=60] [flaw=0] [linger=0]
 *          [peer=reset|error|destroyed] [qpn=0]
 *          With uc they are unreliable connections, and as many messages as lost says are to be
 *          lost. With cm the connection manager connects the QPs. Without it, grh gives each packet
 *          a GRH. size is the length of a message, count the number of messages of each
 *          connection and, with bidir, in each direction. recv is the length of receive WRs,
 *          by default that of the longest message. One send WR in signal is signaled. With
 *          credits a message is sent only if there is a receive WR for it. rnr_timer and
 *          timeout are encoded as on the wire, and psn is the first PSN. After stall seconds
 *          without progress a run fails. The message with the number flaw, counted from 1, is
 *          sent with wrong contents. A transfer stays connected for linger milliseconds after all
 *          messages came, and the scenario occupy listens for as long, or until a signal, to the
 *          Service ID of the IPoIB interface with the QP qpn.
 *          The scenarios for do are in the table below.
 *  result  the result of the last test, or of the one that is running. "wrong" is the number
 *          of expectations that failed, followed by the first of them.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "ibrc.h"

/* "transitions" and "create" need an HCA that is as strict as the fabric's: it refuses each value
 * that is out of range, with EINVAL. A driver that leaves checks to its firmware, such as mlx5,
 * accepts some values or reports other errors.
 */
static const struct ibrc_scenario scenarios[] = {
	{ "transfer", ibrc_transfer },
	{ "rnr", ibrc_rnr },
	{ "short", ibrc_short },
	{ "lkey", ibrc_bad_lkey },
	{ "recv_lkey", ibrc_bad_recv_lkey },
	{ "gone", ibrc_peer_gone },
	{ "flush", ibrc_flush },
	{ "drain", ibrc_drain },
	{ "destroy", ibrc_destroy },
	{ "sqd", ibrc_sqd },
	{ "comm_est", ibrc_comm_est, .idle = true },
	{ "srq_limit", ibrc_srq_limit },
	{ "last_wqe", ibrc_last_wqe },
	{ "srq_attrs", ibrc_srq_attrs, .idle = true },
	{ "full", ibrc_queue_full },
	{ "too_large", ibrc_too_large },
	{ "attrs", ibrc_attrs },
	{ "transitions", ibrc_transitions, .idle = true },
	{ "create", ibrc_create_beyond, .idle = true },
	{ "write", ibrc_write },
	{ "write_denied", ibrc_write_denied },
	{ "invalid", ibrc_invalid },
	{ "reject", ibrc_cm_reject, .idle = true },
	{ "no_service", ibrc_cm_no_service, .idle = true },
	{ "occupy", ibrc_cm_occupy, .idle = true },
};

DECLARE_WAIT_QUEUE_HEAD(ibrc_wait);

static DEFINE_MUTEX(run_lock);		/* serializes runs */
static DEFINE_MUTEX(devs_lock);		/* protects devs, and the users of each */
static LIST_HEAD(devs);			/* list of struct ibrc_dev */
static struct ibrc_result last;		/* written by the thread of the run */
static struct dentry *root;

/* Lines */

static int read_do(const char *value, void *of)
{
	struct ibrc_params *params = of;

	params->scenario = ibtool_find(value, scenarios, ARRAY_SIZE(scenarios), sizeof(*scenarios));
	return params->scenario ? 0 : -EINVAL;
}

static int read_size(const char *value, void *of)
{
	struct ibrc_params *params = of;

	if (strcmp(value, "random"))
		return kstrtou32(value, 0, &params->size);
	params->random = true;
	return 0;
}

static const char * const peer_names[] = {
	[IBRC_PEER_RESET] = "reset",
	[IBRC_PEER_ERROR] = "error",
	[IBRC_PEER_DESTROYED] = "destroyed",
};

#define WORD(member) IBTOOL_WORD(struct ibrc_params, member, u32)

static const struct ibtool_word words[] = {
	WORD(cm), WORD(uc), WORD(lost), WORD(grh), WORD(max), WORD(recv), WORD(count), WORD(depth),
	WORD(srq), WORD(sge), WORD(imm), WORD(signal), WORD(credits), WORD(bidir), WORD(qps),
	WORD(retry), WORD(rnr), WORD(rnr_timer), WORD(timeout), WORD(mtu), WORD(psn), WORD(stall),
	WORD(flaw), WORD(linger), WORD(qpn),
	{ "inline", offsetof(struct ibrc_params, inline_data), ibtool_read_u32 },
	IBTOOL_WORD(struct ibrc_params, from, name), IBTOOL_WORD(struct ibrc_params, to, name),
	{ "do", 0, read_do }, { "size", 0, read_size },
	{ "peer", offsetof(struct ibrc_params, peer), NULL, peer_names, ARRAY_SIZE(peer_names) },
};

static bool mtu_valid(u32 mtu)
{
	return !mtu || (is_power_of_2(mtu) && mtu >= 256 && mtu <= 4096);
}

static bool sizes_valid(const struct ibrc_params *params)
{
	u64 room = max(params->max, params->recv) +
		   (params->sge + 1) * IBRC_GUARD;

	return params->max <= IBRC_MAX_SIZE && params->recv <= IBRC_MAX_SIZE &&
	       params->count && params->depth &&
	       params->depth <= IBRC_MAX_DEPTH && params->sge &&
	       params->sge <= IBRC_MAX_SGE && params->qps &&
	       params->qps <= IBRC_MAX_QPS && params->signal &&
	       params->signal <= params->depth &&
	       PAGE_ALIGN(room) * params->depth * params->qps <=
	       IBRC_MAX_MEMORY;
}

static bool params_valid(const struct ibrc_params *params)
{
	return sizes_valid(params) && params->cm <= 1 && params->uc <= 1 && params->grh <= 1 &&
	       params->srq <= 1 && params->imm <= 1 && params->bidir <= 1 &&
	       params->credits <= 1 && params->retry <= 7 &&
	       params->rnr <= 7 && params->rnr_timer <= 31 &&
	       params->timeout <= 31 && mtu_valid(params->mtu) &&
	       params->psn <= IBRC_PSN_MASK && params->linger <= 60000 &&
	       params->stall && params->stall <= 3600;
}

static const struct ibrc_params defaults = {
	.scenario = scenarios,
	.size = 1024,
	.max = IBRC_MAX_SIZE,
	.recv = U32_MAX,
	.count = 100,
	.depth = 16,
	.sge = 1,
	.signal = 1,
	.credits = 1,
	.qps = 1,
	.retry = 7,
	.rnr = 7,
	.rnr_timer = 1,
	.timeout = 16,
	.stall = 60,
};

static int parse_line(struct ibrc_params *params, char *line)
{
	int ret;

	*params = defaults;
	ret = ibtool_read_line(line, words, ARRAY_SIZE(words), params);
	if (ret)
		return ret;
	if (!params->random)
		params->max = params->size;
	if (params->recv == U32_MAX)
		params->recv = params->max;
	return params_valid(params) ? 0 : -EINVAL;
}

/* Devices */

static struct ibrc_dev *hold_dev(const char *name)
{
	struct ibrc_dev *dev, *found = NULL;

	mutex_lock(&devs_lock);
	list_for_each_entry(dev, &devs, list)
		if (!strcmp(dev_name(&dev->ibdev->dev), name))
			found = dev;
	if (found)
		WRITE_ONCE(found->users, found->users + 1);
	mutex_unlock(&devs_lock);
	return found;
}

static void release_dev(struct ibrc_dev *dev)
{
	if (!dev)
		return;
	mutex_lock(&devs_lock);
	WRITE_ONCE(dev->users, dev->users - 1);
	mutex_unlock(&devs_lock);
	wake_up(&ibrc_wait);
}

static struct ib_client ibrc_client;

static int ibrc_add(struct ib_device *ibdev)
{
	struct ibrc_dev *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return -ENOMEM;
	dev->ibdev = ibdev;
	ib_set_client_data(ibdev, &ibrc_client, dev);
	mutex_lock(&devs_lock);
	list_add_tail(&dev->list, &devs);
	mutex_unlock(&devs_lock);
	return 0;
}

/* A run notices that the HCA is being removed, and ends */
static void ibrc_remove(struct ib_device *ibdev, void *client_data)
{
	struct ibrc_dev *dev = client_data;

	mutex_lock(&devs_lock);
	list_del(&dev->list);
	WRITE_ONCE(dev->gone, true);
	mutex_unlock(&devs_lock);
	wake_up(&ibrc_wait);
	wait_event_idle(ibrc_wait, !READ_ONCE(dev->users));
	kfree(dev);
}

static struct ib_client ibrc_client = {
	.name = KBUILD_MODNAME,
	.add = ibrc_add,
	.remove = ibrc_remove,
};

/* Runs */

/**
 * ibrc_gone() - Whether a run must end.
 * @run: the run
 *
 * Context: any.
 * Return: true if one of its HCAs is being removed.
 */
bool ibrc_gone(const struct ibrc_run *run)
{
	return READ_ONCE(run->ends[0].dev->gone) ||
	       READ_ONCE(run->ends[1].dev->gone);
}

/**
 * ibrc_stage() - Note the stage of a run.
 * @run: the run
 * @stage: the stage that begins
 *
 * Context: the run.
 */
void ibrc_stage(struct ibrc_run *run, const char *stage)
{
	run->result->stage = stage;
}

static int run_connected(struct ibrc_run *run)
{
	const struct ibrc_scenario *scenario = run->params.scenario;
	int ret = 0;

	if (!scenario->idle)
		ret = ibrc_connect(run);
	if (!ret) {
		ibrc_stage(run, scenario->name);
		ret = scenario->act(run);
	}
	ibrc_disconnect(run);
	ibrc_cm_destroy(run);
	return ret;
}

/* What a scenario did not notice itself */
static int verdict(const struct ibrc_result *result)
{
	if (result->wrong)
		return -EPROTO;
	return ibrc_spoilt(result) || atomic_read(&result->cm_spoilt) ? -EBADMSG : 0;
}

static int run_on_devs(struct ibrc_run *run)
{
	int ret;

	run->scratch = kvmalloc(max(run->params.max, 1U), GFP_KERNEL);
	if (!run->scratch)
		return -ENOMEM;
	ret = ibrc_ends_create(run);
	if (ret)
		goto out;
	ret = run_connected(run);
	ibrc_ends_destroy(run);
	ret = ret ?: verdict(run->result);
out:
	kvfree(run->scratch);
	return ret;
}

static int run_locked(struct ibrc_run *run)
{
	int ret = -ENODEV;

	memset(&last, 0, sizeof(last));
	run->result = &last;
	ibrc_stage(run, "devices");
	run->ends[0].run = run;
	run->ends[1].run = run;
	run->ends[0].dev = hold_dev(run->params.from);
	run->ends[1].dev = hold_dev(run->params.to);
	if (run->ends[0].dev && run->ends[1].dev)
		ret = run_on_devs(run);
	release_dev(run->ends[1].dev);
	release_dev(run->ends[0].dev);
	last.status = ret;
	return ret;
}

static int run_line(void *unused, char *line)
{
	struct ibrc_run *run = kzalloc(sizeof(*run), GFP_KERNEL);
	int ret;

	if (!run)
		return -ENOMEM;
	ret = parse_line(&run->params, line);
	if (!ret) {
		mutex_lock(&run_lock);
		ret = run_locked(run);
		mutex_unlock(&run_lock);
	}
	kfree(run);
	return ret;
}

DEFINE_IBTOOL_LINES(run);

/* Files */

static int result_show(struct seq_file *m, void *v)
{
	ibrc_result_show(m, &last);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(result);

static int __init ibrc_init(void)
{
	int ret;

	ibrc_cm_init();
	ret = ib_register_client(&ibrc_client);
	if (ret) {
		ibrc_cm_exit();
		return ret;
	}
	root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("run", 0200, root, NULL, &run_fops);
	debugfs_create_file("result", 0400, root, NULL, &result_fops);
	return 0;
}
module_init(ibrc_init);

static void __exit ibrc_exit(void)
{
	debugfs_remove(root);
	ib_unregister_client(&ibrc_client);
	ibrc_cm_exit();
}
module_exit(ibrc_exit);

MODULE_DESCRIPTION("Reliable connections, tested by their verbs");
MODULE_LICENSE("Dual BSD/GPL");
