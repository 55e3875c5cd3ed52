/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What modules share that are told by lines in debugfs what to do (the probes, and the fabric
 * what is to fail), and that send datagrams. The functions are in a header because each module
 * is built by itself.
 */
#ifndef _IBTOOL_H
#define _IBTOOL_H

#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

/**
 * ibtool_line_write() - Do what a line says that was written to a file.
 * @from: the line
 * @count: its length; one write is one line
 * @max: the longest that is taken
 * @act: does it, and may take the line apart
 * @of: handed to @act
 *
 * Context: process.
 * Return: @count, or a negative errno: @act's, -EINVAL for a line that is too
 * long, -EFAULT, -ENOMEM.
 */
static inline ssize_t ibtool_line_write(const char __user *from, size_t count,
					size_t max,
					int (*act)(void *of, char *line),
					void *of)
{
	char *line;
	int ret;

	if (count > max)
		return -EINVAL;
	line = memdup_user_nul(from, count);
	if (IS_ERR(line))
		return PTR_ERR(line);
	ret = act(of, line);
	kfree(line);
	return ret ?: count;
}

/**
 * ibtool_each_word() - Take a line apart.
 * @line: words between spaces; is written to
 * @act: takes one, which is not empty
 * @of: handed to @act
 *
 * Context: any.
 * Return: 0, or what @act returned first that is not.
 */
static inline int ibtool_each_word(char *line, int (*act)(void *of, char *word),
				   void *of)
{
	char *word;
	int ret;

	while ((word = strsep(&line, "\n "))) {
		if (!*word)
			continue;
		ret = act(of, word);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * ibtool_ud_to_rts() - Take a UD QP from RESET to RTS.
 * @qp: the QP
 * @port: its port
 * @pkey_index: its P_Key
 * @qkey: its Q_Key
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
static inline int ibtool_ud_to_rts(struct ib_qp *qp, u32 port, u16 pkey_index,
				   u32 qkey)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.pkey_index = pkey_index,
		.port_num = port,
		.qkey = qkey,
	};
	int ret;

	ret = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
				      IB_QP_PORT | IB_QP_QKEY);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTR;
	ret = ib_modify_qp(qp, &attr, IB_QP_STATE);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTS;
	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
}

/**
 * ibtool_ah_attr() - Fill in where an address handle leads.
 * @attr: filled in
 * @ibdev: the device
 * @port: its port
 * @dlid: the LID
 * @gid: of the GRH; NULL for none
 *
 * Context: any.
 */
static inline void ibtool_ah_attr(struct rdma_ah_attr *attr,
				  struct ib_device *ibdev, u32 port, u32 dlid,
				  const union ib_gid *gid)
{
	*attr = (struct rdma_ah_attr) {
		.type = rdma_ah_find_type(ibdev, port),
	};
	rdma_ah_set_port_num(attr, port);
	rdma_ah_set_dlid(attr, dlid);
	if (!gid)
		return;
	rdma_ah_set_ah_flags(attr, IB_AH_GRH);
	rdma_ah_set_grh(attr, (union ib_gid *)gid, 0, 0, 1, 0);
}

#endif /* _IBTOOL_H */
