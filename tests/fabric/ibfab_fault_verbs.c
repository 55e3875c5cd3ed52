// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Verbs that fail on purpose. A verb that fails is replaced in the device's table of verbs. All
 * other verbs are called directly.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "ibfab.h"
#include "ibtool.h"

static const struct ib_device_ops *real_ops(struct ib_device *ibdev)
{
	return to_hca(ibdev)->faults.ops;
}

/* The error that a call of a verb returns, or 0 if the verb is to be called */
static int failure(struct ib_device *ibdev, unsigned int verb)
{
	struct ibfab_verb_fault *fault = &to_hca(ibdev)->faults.verb[verb];

	if (atomic_add_unless(&fault->skip, -1, 0))
		return 0;
	if (!atomic_add_unless(&fault->left, -1, 0))
		return 0;
	atomic64_inc(&fault->failed);
	return READ_ONCE(fault->error);
}

/* The same for a verb of a QP. QP0 and QP1 are excluded: ib_mad and the agents above it post to
 * them at any time and would use up the failures that are meant for other QPs. Rules for packets
 * can drop MADs instead.
 */
static int qp_failure(const struct ib_qp *qp, unsigned int verb)
{
	if (qp->qp_type == IB_QPT_SMI || qp->qp_type == IB_QPT_GSI)
		return 0;
	return failure(qp->device, verb);
}

/* Defines the replacement of a verb: its parameters, the expression that yields an error or 0, and
 * the call of the real verb
 */
#define FAIL_VERB(verb, params, failing, call)	\
static int fail_##verb params			\
{						\
	int ret = failing;			\
						\
	return ret ?: call;			\
}

FAIL_VERB(alloc_pd, (struct ib_pd *pd, struct ib_udata *udata),
	  failure(pd->device, IBFAB_VERB(alloc_pd)), real_ops(pd->device)->alloc_pd(pd, udata))
FAIL_VERB(create_ah, (struct ib_ah *ah, struct rdma_ah_init_attr *init, struct ib_udata *udata),
	  failure(ah->device, IBFAB_VERB(create_ah)),
	  real_ops(ah->device)->create_ah(ah, init, udata))
FAIL_VERB(create_cq, (struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		      struct compat_cq_udata *udata),
	  failure(cq->device, IBFAB_VERB(create_cq)),
	  real_ops(cq->device)->create_cq(cq, attr, udata))
FAIL_VERB(req_notify_cq, (struct ib_cq *cq, enum ib_cq_notify_flags flags),
	  failure(cq->device, IBFAB_VERB(req_notify_cq)),
	  real_ops(cq->device)->req_notify_cq(cq, flags))
FAIL_VERB(create_srq, (struct ib_srq *srq, struct ib_srq_init_attr *init, struct ib_udata *udata),
	  failure(srq->device, IBFAB_VERB(create_srq)),
	  real_ops(srq->device)->create_srq(srq, init, udata))
FAIL_VERB(modify_srq,
	  (struct ib_srq *srq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
	   struct ib_udata *udata),
	  failure(srq->device, IBFAB_VERB(modify_srq)),
	  real_ops(srq->device)->modify_srq(srq, attr, mask, udata))
FAIL_VERB(create_qp, (struct ib_qp *qp, struct ib_qp_init_attr *init, struct ib_udata *udata),
	  qp_failure(qp, IBFAB_VERB(create_qp)), real_ops(qp->device)->create_qp(qp, init, udata))
FAIL_VERB(modify_qp, (struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata),
	  qp_failure(qp, IBFAB_VERB(modify_qp)),
	  real_ops(qp->device)->modify_qp(qp, attr, mask, udata))
FAIL_VERB(query_qp,
	  (struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_qp_init_attr *init),
	  qp_failure(qp, IBFAB_VERB(query_qp)),
	  real_ops(qp->device)->query_qp(qp, attr, mask, init))
FAIL_VERB(attach_mcast, (struct ib_qp *qp, union ib_gid *gid, u16 lid),
	  qp_failure(qp, IBFAB_VERB(attach_mcast)),
	  real_ops(qp->device)->attach_mcast(qp, gid, lid))
FAIL_VERB(detach_mcast, (struct ib_qp *qp, union ib_gid *gid, u16 lid),
	  qp_failure(qp, IBFAB_VERB(detach_mcast)),
	  real_ops(qp->device)->detach_mcast(qp, gid, lid))
FAIL_VERB(query_port, (struct ib_device *ibdev, u32 num, struct ib_port_attr *attr),
	  failure(ibdev, IBFAB_VERB(query_port)), real_ops(ibdev)->query_port(ibdev, num, attr))

static struct ib_mr *fail_get_dma_mr(struct ib_pd *pd, int access)
{
	int ret = failure(pd->device, IBFAB_VERB(get_dma_mr));

	return ret ? ERR_PTR(ret) :
		     real_ops(pd->device)->get_dma_mr(pd, access);
}

/* A verb that posts work requests: if it fails here, the first of them is the bad one */

static int fail_post_srq_recv(struct ib_srq *srq, const struct ib_recv_wr *wr,
			      const struct ib_recv_wr **bad_wr)
{
	*bad_wr = wr;
	return failure(srq->device, IBFAB_VERB(post_srq_recv)) ?:
	       real_ops(srq->device)->post_srq_recv(srq, wr, bad_wr);
}

static int fail_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad_wr)
{
	*bad_wr = wr;
	return qp_failure(qp, IBFAB_VERB(post_send)) ?:
	       real_ops(qp->device)->post_send(qp, wr, bad_wr);
}

static int fail_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad_wr)
{
	*bad_wr = wr;
	return qp_failure(qp, IBFAB_VERB(post_recv)) ?:
	       real_ops(qp->device)->post_recv(qp, wr, bad_wr);
}

static const struct ib_device_ops failing_ops = {
	.alloc_pd = fail_alloc_pd,
	.get_dma_mr = fail_get_dma_mr,
	.create_ah = fail_create_ah,
	.create_cq = fail_create_cq,
	.req_notify_cq = fail_req_notify_cq,
	.create_srq = fail_create_srq,
	.modify_srq = fail_modify_srq,
	.post_srq_recv = fail_post_srq_recv,
	.create_qp = fail_create_qp,
	.modify_qp = fail_modify_qp,
	.query_qp = fail_query_qp,
	.post_send = fail_post_send,
	.post_recv = fail_post_recv,
	.attach_mcast = fail_attach_mcast,
	.detach_mcast = fail_detach_mcast,
	.query_port = fail_query_port,
};

static const struct verb {
	const char *name;
	unsigned int num;
} verbs[] = {
#define VERB(name) { #name, IBFAB_VERB(name) }
	VERB(alloc_pd), VERB(get_dma_mr), VERB(create_ah), VERB(create_cq), VERB(req_notify_cq),
	VERB(create_srq), VERB(modify_srq), VERB(post_srq_recv), VERB(create_qp),
	VERB(modify_qp), VERB(query_qp), VERB(post_send), VERB(post_recv), VERB(attach_mcast),
	VERB(detach_mcast), VERB(query_port),
};

static void **verb_pointer(const struct ib_device_ops *ops, unsigned int verb)
{
	return (void **)ops + verb;
}

/* @count is set last, because it lets calls fail. The verb stays replaced after its last failure,
 * which costs a test for each call until `verb 0` is written.
 */
static int set_failure(struct ibfab_hca *hca, unsigned int verb, u32 count,
		       int error, u32 skip)
{
	struct ibfab_verb_fault *fault = &hca->faults.verb[verb];
	void *real = *verb_pointer(hca->faults.ops, verb);
	void *failing = *verb_pointer(&failing_ops, verb);

	if (!real)
		return -EOPNOTSUPP;
	atomic_set(&fault->left, 0);
	atomic_set(&fault->skip, skip);
	WRITE_ONCE(fault->error, error);
	WRITE_ONCE(*verb_pointer(&hca->ibdev.ops, verb),
		   count ? failing : real);
	atomic_set(&fault->left, count);
	return 0;
}

/* "create_qp 2 [-12 [SKIP]]" makes the next two calls fail, after SKIP calls that succeed */
static int verbs_line(void *of, char *line)
{
	const struct verb *verb;
	u32 count, skip = 0;
	int error = -ENOMEM;
	char name[24];

	if (sscanf(line, "%23s %u %d %u", name, &count, &error, &skip) < 2)
		return -EINVAL;
	if (error >= 0 || error < -MAX_ERRNO || count > INT_MAX ||
	    skip > INT_MAX)
		return -EINVAL;
	verb = ibtool_find(name, verbs, ARRAY_SIZE(verbs), sizeof(*verbs));
	return verb ? set_failure(of, verb->num, count, error, skip) : -EINVAL;
}

static int verbs_show(struct seq_file *m, void *v)
{
	const struct ibfab_hca *hca = m->private;
	const struct ibfab_verb_fault *fault;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		fault = &hca->faults.verb[verbs[i].num];
		seq_printf(m, "%s failed %lld left %d\n", verbs[i].name,
			   atomic64_read(&fault->failed),
			   atomic_read(&fault->left));
	}
	return 0;
}

DEFINE_IBTOOL_SHOW_LINES(verbs);

/**
 * ibfab_fault_verbs_init() - Save the original verbs of a device.
 * @hca: the HCA, whose table of verbs is complete
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int ibfab_fault_verbs_init(struct ibfab_hca *hca)
{
	hca->faults.ops = kmemdup(&hca->ibdev.ops, sizeof(hca->ibdev.ops),
				  GFP_KERNEL);
	return hca->faults.ops ? 0 : -ENOMEM;
}

/**
 * ibfab_fault_verbs_free() - Free the saved verbs.
 * @hca: the HCA, whose verbs are not called any more
 *
 * Context: process.
 */
void ibfab_fault_verbs_free(struct ibfab_hca *hca)
{
	kfree(hca->faults.ops);
}

/**
 * ibfab_fault_add_verbs() - Create the file that makes an HCA's verbs fail.
 * @hca: the HCA
 * @dir: its debugfs folder
 *
 * Context: process.
 */
void ibfab_fault_add_verbs(struct ibfab_hca *hca, struct dentry *dir)
{
	debugfs_create_file("verbs", 0600, dir, hca, &verbs_fops);
}
