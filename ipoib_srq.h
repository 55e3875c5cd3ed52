/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The shared receive queue of a port's connections, or what takes its place if the HCA has none.
 */
#ifndef _IPOIB_SRQ_H
#define _IPOIB_SRQ_H

#include <rdma/ib_verbs.h>

struct ipoib_conn;
struct ipoib_srq;

/* The largest IP MTU of connected mode, as in the in-tree driver; and the largest message */
#define IPOIB_CONNECTED_MTU	65520
#define IPOIB_MESSAGE_MAX	(IPOIB_CONNECTED_MTU + IPOIB_ENCAP_LEN)

/* ipoib_srq_limits.c */
bool ipoib_srq_is_supported(const struct ib_device *ibdev, u32 port);
bool ipoib_srq_is_shared(const struct ib_device *ibdev);
unsigned int ipoib_srq_order(const struct ib_device *ibdev);
u32 ipoib_srq_receivers_max(const struct ib_device *ibdev);
u32 ipoib_srq_recv_cqes(const struct ib_device *ibdev);
u32 ipoib_srq_senders_max(const struct ib_device *ibdev);
u32 ipoib_srq_message_max(const struct ib_device *ibdev);

/* ipoib_srq.c */
struct ipoib_srq *ipoib_srq_create(struct ib_device *ibdev, void (*failed)(void *context),
				   void *context);
void ipoib_srq_destroy(struct ipoib_srq *srq);
struct ib_qp *ipoib_srq_qp_create(struct ipoib_srq *srq, struct ipoib_conn *conn,
				  void (*event)(struct ib_event *event, void *context));
int ipoib_srq_qp_fill(struct ipoib_srq *srq, struct ipoib_conn *conn);
void ipoib_srq_qp_destroy(struct ipoib_srq *srq, struct ipoib_conn *conn);
bool ipoib_srq_has_failed(const struct ipoib_srq *srq);
bool ipoib_srq_is_used(const struct ipoib_srq *srq);
u32 ipoib_srq_buffers(const struct ipoib_srq *srq);
void ipoib_srq_flush(struct ipoib_srq *srq);
int ipoib_srq_mark(struct ipoib_conn *conn);

#endif /* _IPOIB_SRQ_H */
