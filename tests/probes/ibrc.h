/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * ibrc: reliable connections tested by their verbs. Types, and each file's
 * interface.
 *
 * One run at a time, and all of it by one thread, the one that wrote the line: it
 * makes both ends, connects them, posts, polls their CQs and checks. Other contexts
 * only count and wake it: events of QPs and SRQs, the connection manager's
 * handlers (which take QPs to RTS too), and the removal of an HCA.
 */
#ifndef IBRC_H
#define IBRC_H

#include <linux/atomic.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/wait.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>

#include "ibprobe.h"

#define IBRC_PORT		1
#define IBRC_MAX_SIZE		SZ_1M
#define IBRC_MAX_DEPTH		4096
#define IBRC_MAX_SGE		256
#define IBRC_MAX_QPS		64
#define IBRC_MAX_MEMORY		SZ_256M		/* of buffers at one end */
#define IBRC_GUARD		8		/* octets between two SGEs */
#define IBRC_POISON		0xa5		/* what nothing was written to */
#define IBRC_PSN_MASK		0xffffff
#define IBRC_SETTLE		100		/* ms in which nothing may come */
#define IBRC_WHY		160

struct ibrc_run;

/* What becomes of a peer that a scenario takes away */
enum ibrc_peer {
	IBRC_PEER_RESET,
	IBRC_PEER_ERROR,
	IBRC_PEER_DESTROYED,
};

/**
 * struct ibrc_scenario - What a run does
 * @name: after "do="
 * @act: does it, connected
 * @idle: no connection is wanted: the QPs stay in RESET
 */
struct ibrc_scenario {
	const char *name;
	int (*act)(struct ibrc_run *run);
	bool idle;
};

/* What a line says; see ibrc_main.c */
struct ibrc_params {
	char from[IB_DEVICE_NAME_MAX];
	char to[IB_DEVICE_NAME_MAX];
	const struct ibrc_scenario *scenario;
	u32 peer;	/* enum ibrc_peer */
	bool random;
	u32 cm;
	u32 grh;
	u32 size;
	u32 max;
	u32 recv;
	u32 count;
	u32 depth;
	u32 srq;
	u32 sge;
	u32 inline_data;
	u32 imm;
	u32 signal;
	u32 credits;
	u32 bidir;
	u32 qps;
	u32 retry;
	u32 rnr;
	u32 rnr_timer;
	u32 timeout;
	u32 mtu;
	u32 psn;
	u32 seed;
	u32 ms;
	u32 stall;
	u32 flaw;
	u32 linger;
};

/* What can be wrong with a message that was received */
enum ibrc_spoilt {
	IBRC_SPOILT_CONTENTS,
	IBRC_SPOILT_BEYOND,
	IBRC_SPOILT_LENGTH,
	IBRC_SPOILT_IMM,
	IBRC_SPOILT_ORDER,
	IBRC_SPOILT_WC,
	IBRC_NUM_SPOILT
};

#define IBRC_NUM_STATUS		(IB_WC_GENERAL_ERR + 1)
#define IBRC_NUM_EVENTS		(IB_EVENT_WQ_FATAL + 1)
#define IBRC_NUM_CM_EVENTS	(IB_CM_SIDR_REP_RECEIVED + 1)

/**
 * struct ibrc_result - What came of a run
 * @status: 0 or an error
 * @stage: how far it came
 * @connected: QPs taken to RTS
 * @sent: messages posted
 * @completed: sends that succeeded, those without a completion included
 * @received: messages received
 * @bytes: of payload in them
 * @spoilt: findings at the receiver, and completions out of order at the sender
 * @sends: send completions by their status
 * @recvs: receive completions by their status
 * @events: asynchronous events of QPs, SRQs and CQs
 * @cm_events: the connection manager's
 * @cm_spoilt: private data that was not as sent
 * @cm_bare: DREPs without any
 * @wrong: expectations that did not hold
 * @why: the first of them
 * @ns: from the first post to the last completion
 */
struct ibrc_result {
	int status;
	const char *stage;
	atomic_t connected;
	u64 sent;
	u64 completed;
	u64 received;
	u64 bytes;
	u64 spoilt[IBRC_NUM_SPOILT];
	u64 sends[IBRC_NUM_STATUS];
	u64 recvs[IBRC_NUM_STATUS];
	atomic_t events[IBRC_NUM_EVENTS];
	atomic_t cm_events[IBRC_NUM_CM_EVENTS];
	atomic_t cm_spoilt;
	atomic_t cm_bare;
	u64 wrong;
	char why[IBRC_WHY];
	u64 ns;
};

/**
 * struct ibrc_dev - An HCA
 * @list: of all
 * @ibdev: the device
 * @users: ends that a run has on it
 * @gone: it is to be removed, and waits for its users
 */
struct ibrc_dev {
	struct list_head list;
	struct ib_device *ibdev;
	unsigned int users;
	bool gone;
};

/**
 * struct ibrc_buf - A work request's buffer
 * @cqe: its completion
 * @end: whose it is
 * @qp: sends by it, or receives; NULL if it is a SRQ's
 * @number: the message that it holds, or how manieth receive of its QP it is
 * @posted: and not completed
 * @mem: room for the message and the guards
 * @sge: scatter or gather list
 * @num_sge: entries in use
 */
struct ibrc_buf {
	struct ib_cqe cqe;
	struct ibrc_end *end;
	struct ibrc_qp *qp;
	u64 number;
	bool posted;
	struct ibprobe_buf mem;
	struct ib_sge *sge;
	u32 num_sge;
};

/**
 * struct ibrc_ring - The buffers of a queue
 * @bufs: as many as it is deep
 * @depth: how many
 * @posted: since the run began
 * @completed: of them, in success or not
 */
struct ibrc_ring {
	struct ibrc_buf *bufs;
	u32 depth;
	u64 posted;
	u64 completed;
};

/* How far the connection manager has come with a QP */
enum ibrc_cm_state {
	IBRC_CM_IDLE,
	IBRC_CM_ESTABLISHED,
	IBRC_CM_DISCONNECTED,
	IBRC_CM_REJECTED,
	IBRC_CM_FAILED,
};

/**
 * struct ibrc_qp - One end of a connection
 * @end: whose
 * @index: which connection
 * @peer: the other end
 * @ib: the QP; NULL once a scenario destroyed it
 * @psn: that of its first send
 * @tx: sends
 * @rx: receives; without buffers if there is a SRQ
 * @received: messages
 * @failed: a completion in error was seen
 * @last_wqe: events
 * @cm_id: of the connection manager
 * @cm_state: written by its handler
 * @reason: why it was rejected
 */
struct ibrc_qp {
	struct ibrc_end *end;
	u32 index;
	struct ibrc_qp *peer;
	struct ib_qp *ib;
	u32 psn;
	struct ibrc_ring tx;
	struct ibrc_ring rx;
	u64 received;
	bool failed;
	atomic_t last_wqe;
	struct ib_cm_id *cm_id;
	enum ibrc_cm_state cm_state;
	enum ib_cm_rej_reason reason;
};

/**
 * struct ibrc_end - What a run has on one of its two HCAs
 * @run: the run
 * @dev: the HCA
 * @ibdev: its device
 * @port: attributes of its port
 * @gid: the port's first
 * @pd: protection domain
 * @send_cq: of all its QPs
 * @recv_cq: of all its QPs
 * @srq: or NULL
 * @srq_ring: its buffers
 * @qps: one for each connection
 * @lkey: that goes into scatter/gather lists
 * @repost: a receive that completed is posted again
 */
struct ibrc_end {
	struct ibrc_run *run;
	struct ibrc_dev *dev;
	struct ib_device *ibdev;
	struct ib_port_attr port;
	union ib_gid gid;
	struct ib_pd *pd;
	struct ib_cq *send_cq;
	struct ib_cq *recv_cq;
	struct ib_srq *srq;
	struct ibrc_ring srq_ring;
	struct ibrc_qp *qps;
	u32 lkey;
	bool repost;
};

/**
 * struct ibrc_run - One run
 * @params: what was asked for
 * @result: what came of it
 * @ends: the one that connects and sends, and the other
 * @scratch: a message's contents
 * @listener: for connection requests
 * @service_id: that it listens on
 * @reject: it rejects them
 * @path: from the first end to the second
 * @path_status: of the query for it; 1 while it goes on
 */
struct ibrc_run {
	struct ibrc_params params;
	struct ibrc_result *result;
	struct ibrc_end ends[2];
	void *scratch;
	struct ib_cm_id *listener;
	__be64 service_id;
	bool reject;
	struct sa_path_rec path;
	int path_status;
};

/* The QP that scenarios of one connection send by */
static inline struct ibrc_qp *ibrc_sender(struct ibrc_run *run)
{
	return &run->ends[0].qps[0];
}

/* What they send at once */
static inline u32 ibrc_num_sends(const struct ibrc_run *run)
{
	return min(run->params.count, run->params.depth);
}

/* ibrc_main.c */
extern wait_queue_head_t ibrc_wait;
bool ibrc_gone(const struct ibrc_run *run);
void ibrc_stage(struct ibrc_run *run, const char *stage);

/* ibrc_expect.c */
__printf(5, 6)
void ibrc_expect(struct ibrc_run *run, bool holds, u64 got, u64 wanted,
		 const char *what, ...);
__printf(4, 5)
void ibrc_expect_is(struct ibrc_run *run, u64 got, u64 wanted, const char *what, ...);
void ibrc_expect_least(struct ibrc_run *run, u64 got, u64 least, const char *what);
void ibrc_expect_error(struct ibrc_run *run, int ret, int wanted, const char *what);
int ibrc_expect_events(struct ibrc_run *run, enum ib_event_type type, u64 n, u32 ms);

/* ibrc_result.c */
void ibrc_result_show(struct seq_file *m, const struct ibrc_result *result);

/* ibrc_data.c */
u32 ibrc_message_length(const struct ibrc_params *params,
			const struct ibrc_qp *from, u64 number);
bool ibrc_message_has_imm(const struct ibrc_params *params, u64 number);
__be32 ibrc_message_imm(const struct ibrc_params *params, u64 number);
void ibrc_message_fill(const struct ibrc_params *params,
		       const struct ibrc_qp *from, u64 number, void *to,
		       u32 length);
void ibrc_private_data(const struct ibrc_params *params, u32 index, u32 kind,
		       void *to, u32 length);
void ibrc_buf_cut(struct ibrc_buf *buf, u32 length);
void ibrc_buf_scatter(struct ibrc_buf *buf, const void *from, u32 length);
void ibrc_buf_inline(struct ibrc_buf *buf);
bool ibrc_buf_differs(const struct ibrc_buf *buf, const void *from, u32 length);
bool ibrc_buf_restore(struct ibrc_buf *buf, u32 length);

/* ibrc_end.c */
struct ib_qp *ibrc_qp_make(struct ibrc_qp *qp, const struct ib_qp_cap *cap);
int ibrc_ends_create(struct ibrc_run *run);
void ibrc_ends_destroy(struct ibrc_run *run);

/* ibrc_connect.c */
int ibrc_attr(const struct ibrc_qp *qp, enum ib_qp_state state,
	      struct ib_qp_attr *attr);
int ibrc_to(struct ibrc_qp *qp, enum ib_qp_state state);
enum ib_qp_state ibrc_state(struct ibrc_qp *qp);
int ibrc_connect(struct ibrc_run *run);
void ibrc_disconnect(struct ibrc_run *run);

/* ibrc_cm.c */
int ibrc_cm_connect(struct ibrc_run *run);
void ibrc_cm_disconnect(struct ibrc_run *run);
void ibrc_cm_destroy(struct ibrc_run *run);
int ibrc_cm_reject(struct ibrc_run *run);
int ibrc_cm_no_service(struct ibrc_run *run);
void ibrc_cm_init(void);
void ibrc_cm_exit(void);

/* ibrc_flow.c */
void ibrc_send_done(struct ib_cq *cq, struct ib_wc *wc);
void ibrc_recv_done(struct ib_cq *cq, struct ib_wc *wc);
int ibrc_post_recvs(struct ibrc_qp *qp, u32 n);
int ibrc_post_sends(struct ibrc_qp *qp, u32 n);
int ibrc_poll(struct ibrc_run *run);
int ibrc_settle(struct ibrc_run *run, u32 ms);
int ibrc_until(struct ibrc_run *run, const u64 *figure, u64 wanted);
int ibrc_transfer(struct ibrc_run *run);

/* ibrc_fail.c */
int ibrc_rnr(struct ibrc_run *run);
int ibrc_short(struct ibrc_run *run);
int ibrc_bad_lkey(struct ibrc_run *run);
int ibrc_bad_recv_lkey(struct ibrc_run *run);
int ibrc_peer_gone(struct ibrc_run *run);
int ibrc_flush(struct ibrc_run *run);
int ibrc_drain(struct ibrc_run *run);
int ibrc_destroy(struct ibrc_run *run);
int ibrc_sqd(struct ibrc_run *run);
int ibrc_comm_est(struct ibrc_run *run);

/* ibrc_srq.c */
int ibrc_srq_limit(struct ibrc_run *run);
int ibrc_last_wqe(struct ibrc_run *run);
int ibrc_srq_attrs(struct ibrc_run *run);

/* ibrc_verbs.c */
int ibrc_queue_full(struct ibrc_run *run);
int ibrc_too_large(struct ibrc_run *run);
int ibrc_attrs(struct ibrc_run *run);
int ibrc_transitions(struct ibrc_run *run);
int ibrc_create_beyond(struct ibrc_run *run);

/* ibrc_refuse.c */
int ibrc_write(struct ibrc_run *run);
int ibrc_write_denied(struct ibrc_run *run);
int ibrc_invalid(struct ibrc_run *run);

#endif
