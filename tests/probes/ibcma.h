/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * ibcma: types, and the interface of each file. ibcma_queue.c has QPs and their buffers.
 * ibcma_service.c, ibcma_client.c and ibcma_group.c have the services, connections and multicast
 * groups of the RDMA CM. ibcma_main.c reads the lines.
 */
#ifndef _IBCMA_H
#define _IBCMA_H

#include <linux/seq_file.h>
#include <linux/socket.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "ibprobe.h"

#define IBCMA_NAME	16
#define IBCMA_SLOTS	8
#define IBCMA_MAX_SIZE	2048
#define IBCMA_BUFFER	(IB_GRH_BYTES + IBCMA_MAX_SIZE)
#define IBCMA_TIMEOUT	(20 * HZ)

/* The words of a line, for all files */
struct ibcma_params {
	const char *name;
	const char *address;	/* address of this end */
	const char *peer;	/* address of the peer, or of the group */
	const char *port;
	u32 ud;
	u32 ipoib;
	u32 count;
	u32 size;
	u8 payload[IBCMA_MAX_SIZE];
	struct sockaddr_storage here;
	struct sockaddr_storage there;
};

struct ibcma_queue;
struct ibcma_slot;

/* Called for each message that came in. Posts the slot again, or sends it. */
typedef void (*ibcma_received)(struct ibcma_slot *slot, const struct ib_wc *wc);

/* A buffer that is posted as a receive, and from which a message can be sent */
struct ibcma_slot {
	struct ib_cqe recv;
	struct ib_cqe send;
	struct ibprobe_buf buf;
	struct ib_ah *ah;	/* of the datagram being sent, destroyed when it completes */
	struct ibcma_queue *queue;
};

/**
 * struct ibcma_queue - A QP and its buffers
 * @end: the device, and the PD and the CQ that the QP uses
 * @qp: the QP
 * @offset: where a received message begins in its buffer
 * @posted: number of WRs that have not completed
 * @errors: number of WRs that failed, without those that were flushed
 * @received: called for each message that came in
 * @target: where datagrams are sent, if that is always the same
 * @out: the buffer of messages that are not replies
 * @in: the buffers of receive WRs
 */
struct ibcma_queue {
	struct ibprobe_end end;
	struct ib_qp *qp;
	u32 offset;
	atomic_t posted;
	atomic_t errors;
	ibcma_received received;
	struct ibprobe_target target;
	struct ibcma_slot out;
	struct ibcma_slot in[IBCMA_SLOTS];
};

/* An object that a line creates and names, and that exists until another line ends it */
struct ibcma_thing {
	struct list_head list;
	char name[IBCMA_NAME];
	const struct ibcma_kind *kind;
};

/**
 * struct ibcma_kind - The functions of a kind of objects
 * @show: prints a line about the object
 * @send: sends what a line says; NULL if this kind does not send
 * @free: ends the object
 */
struct ibcma_kind {
	void (*show)(struct seq_file *m, struct ibcma_thing *thing);
	int (*send)(struct ibcma_thing *thing, const struct ibcma_params *params);
	void (*free)(struct ibcma_thing *thing);
};

extern wait_queue_head_t ibcma_wait;

/* ibcma_queue.c */
int ibcma_slot_receive(struct ibcma_slot *slot);
int ibcma_slot_send(struct ibcma_slot *slot, u32 offset, u32 length,
		    const struct ibprobe_target *target);
int ibcma_queue_init(struct ibcma_queue *queue, struct ib_device *ibdev, bool ud,
		     ibcma_received received);
int ibcma_queue_of_id(struct ibcma_queue *queue, struct rdma_cm_id *id, ibcma_received received);
void ibcma_queue_end(struct ibcma_queue *queue, struct rdma_cm_id *id);
int ibcma_queue_aim(struct ibcma_queue *queue, struct rdma_ud_param *param);
int ibcma_queue_post(struct ibcma_queue *queue);
void ibcma_queue_quiesce(struct ibcma_queue *queue);
void ibcma_queue_free(struct ibcma_queue *queue);

/* ibcma_main.c */
int ibcma_id_create(const struct ibcma_params *params, bool ud, rdma_cm_event_handler handler,
		    void *context, struct rdma_cm_id **id);
struct rdma_conn_param ibcma_conn_param(const struct ib_qp *qp);
void ibcma_id_dev(const struct rdma_cm_id *id, char *name);
void ibcma_thing_add(struct ibcma_thing *thing, const char *name, const struct ibcma_kind *kind);

/* ibcma_service.c */
int ibcma_listen(const struct ibcma_params *params);

/* ibcma_client.c */
int ibcma_connect(const struct ibcma_params *params);
int ibcma_result_show(struct seq_file *m, void *v);

/* ibcma_group.c */
int ibcma_join(const struct ibcma_params *params);

#endif
