// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What an HCA allows: how many connections a port may have, and how long their messages may be.
 */
#include <linux/moduleparam.h>
#include <rdma/ib_verbs.h>

#include "ipoib.h"
#include "ipoib_srq_ring.h"

static int max_nonsrq_conn_qp = 128;
module_param(max_nonsrq_conn_qp, int, 0444);
MODULE_PARM_DESC(max_nonsrq_conn_qp, "Connections of a port that are accepted if the HCA has no shared receive queues (up to 4096)");

/**
 * ipoib_srq_is_shared() - tell whether all connections receive by the same SRQ
 * @ibdev: an HCA
 *
 * Context: any.
 * Return: false if the HCA has no SRQs. Then connections that this driver opens do not receive.
 */
bool ipoib_srq_is_shared(const struct ib_device *ibdev)
{
	return ibdev->attrs.max_srq && ibdev->attrs.max_srq_sge;
}

static u32 hca_recv_sges(const struct ib_device *ibdev)
{
	return ipoib_srq_is_shared(ibdev) ? ibdev->attrs.max_srq_sge : ibdev->attrs.max_recv_sge;
}

/**
 * ipoib_srq_order() - get the order of the pages of receive WRs
 * @ibdev: an HCA with connections
 *
 * As many pages as the HCA supports in a WR hold the longest message. Orders that are hard to get
 * are not used: then long messages cannot be received.
 *
 * Context: any.
 * Return: the order.
 */
unsigned int ipoib_srq_order(const struct ib_device *ibdev)
{
	unsigned int order = 0;

	while (order < PAGE_ALLOC_COSTLY_ORDER &&
	       ((size_t)hca_recv_sges(ibdev) * PAGE_SIZE << order) < IPOIB_MESSAGE_MAX)
		order++;
	return order;
}

/**
 * ipoib_srq_message_max() - get the longest message that connections can receive
 * @ibdev: an HCA with connections
 *
 * Context: any.
 * Return: octets, with the encapsulation header.
 */
u32 ipoib_srq_message_max(const struct ib_device *ibdev)
{
	size_t room = (size_t)hca_recv_sges(ibdev) * PAGE_SIZE << ipoib_srq_order(ibdev);

	return min_t(size_t, room, IPOIB_MESSAGE_MAX);
}

/* Returns the number of CQEs for WRs that all connections share */
static u32 shared_cqes(const struct ib_device *ibdev)
{
	return ipoib_srq_is_shared(ibdev) ? IPOIB_SRQ_SIZE : 0;
}

/* Returns the number of CQEs that a connection needs to receive: for WRs of its own, if it has any,
 * and for its last one
 */
static u32 receiver_cqes(const struct ib_device *ibdev)
{
	return ipoib_srq_is_shared(ibdev) ? 1 : IPOIB_SRQ_CONN_SIZE + 1;
}

/**
 * ipoib_srq_receivers_max() - get the number of connections that peers may open
 * @ibdev: an HCA with connections
 *
 * All of them share a CQ, which must never be full. Half of it is for them, and a quarter of the
 * HCA's QPs. Without SRQs, they take much more memory.
 *
 * Context: any.
 * Return: number of connections of a port.
 */
u32 ipoib_srq_receivers_max(const struct ib_device *ibdev)
{
	u32 most = ipoib_srq_is_shared(ibdev) ? IPOIB_CONNS_PORT_MAX :
		   clamp(max_nonsrq_conn_qp, 0, IPOIB_CONNS_PORT_MAX);
	u32 shared = shared_cqes(ibdev);
	u32 room = max_t(u32, ibdev->attrs.max_cqe / 2, shared) - shared;

	return min3(most, room / receiver_cqes(ibdev), (u32)ibdev->attrs.max_qp / 4);
}

/**
 * ipoib_srq_recv_cqes() - get the number of CQEs that connections which only receive may need
 * @ibdev: an HCA with connections
 *
 * These are the CQEs of the receive WRs, and those that are the last ones of each connection.
 *
 * Context: any.
 * Return: number of CQEs of a port.
 */
u32 ipoib_srq_recv_cqes(const struct ib_device *ibdev)
{
	return shared_cqes(ibdev) + ipoib_srq_receivers_max(ibdev) * receiver_cqes(ibdev);
}

/**
 * ipoib_srq_senders_max() - get the number of connections that this driver may open
 * @ibdev: an HCA with connections
 *
 * See ipoib_srq_receivers_max().
 *
 * Context: any.
 * Return: number of connections of a port.
 */
u32 ipoib_srq_senders_max(const struct ib_device *ibdev)
{
	u32 taken = ipoib_srq_recv_cqes(ibdev);
	u32 room = max_t(u32, ibdev->attrs.max_cqe, taken) - taken;

	return min3(room / (IPOIB_CSQ_SIZE + 1), (u32)IPOIB_CONNS_OPENED_MAX,
		    (u32)ibdev->attrs.max_qp / 4);
}

/**
 * ipoib_srq_is_supported() - tell whether connections are possible
 * @ibdev: the HCA
 * @port: number of the port
 *
 * Context: any.
 * Return: true if the port has connections, and the HCA room for those of peers.
 */
bool ipoib_srq_is_supported(const struct ib_device *ibdev, u32 port)
{
	return rdma_cap_ib_cm(ibdev, port) && rdma_protocol_ib(ibdev, port) &&
	       hca_recv_sges(ibdev) && ipoib_srq_receivers_max(ibdev);
}
