/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * ibrc: reliable connections tested by verbs. Types, and the interface of each file.
 *
 * There is one run at a time. The thread that wrote the line does all of it: it creates both ends,
 * connects them, posts WRs, polls the CQs and checks the results. Other contexts only count and
 * wake the thread: events of QPs and SRQs, handlers of the connection manager (which also take QPs
 * to RTS), and the removal of an HCA.
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
#define IBRC_MAX_MEMORY		SZ_256M		/* of the sends of an end, or its receives */
#define IBRC_GUARD		8		/* bytes between two SGEs */
#define IBRC_POISON		0xa5		/* contents of memory that was not written to */
#define IBRC_PSN_MASK		0xffffff
#define IBRC_SETTLE		100		/* in ms: how long nothing may come */
#define IBRC_WHY		160

struct ibrc_run;

/* What a scenario does to the peer's QP */
enum ibrc_peer {
	IBRC_PEER_RESET,
	IBRC_PEER_ERROR,
	IBRC_PEER_DESTROYED,
};

/**
 * struct ibrc_scenario - What a run does
 * @name: its name, after "do="
 * @act: runs it
 * @idle: the QPs are not connected but stay in RESET
 */
struct ibrc_scenario {
	const char *name;
	int (*act)(struct ibrc_run *run);
	bool idle;
};

/* The words of a line; see ibrc_main.c */
struct ibrc_params {
	char from[IB_DEVICE_NAME_MAX];
	char to[IB_DEVICE_NAME_MAX];
	const struct ibrc_scenario *scenario;
	u32 peer;	/* enum ibrc_peer */
	bool random;
	u32 cm;
	u32 uc;
	u32 lost;
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
	u32 stall;
	u32 flaw;
	u32 linger;
	u32 qpn;
};

/* What can be wrong with a received message */
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
 * struct ibrc_result - The result of a run
 * @status: 0 or an error
 * @stage: the last stage that it reached
 * @sent: messages posted
 * @completed: sends that succeeded, including unsignaled ones
 * @received: messages received
 * @lost: messages of unreliable connections that did not arrive before later ones
 * @bytes: total payload of the messages received
 * @spoilt: errors in received messages, and completions that came out of order
 * @sends: send completions by status
 * @recvs: receive completions by status
 * @events: asynchronous events of QPs, SRQs and CQs
 * @cm_events: events of the connection manager
 * @cm_spoilt: private data that differs from what was sent
 * @cm_bare: DREPs without private data
 * @wrong: expectations that failed
 * @why: the first of these
 * @ns: time from the first post to the last completion
 */
struct ibrc_result {
	int status;
	const char *stage;
	u64 sent;
	u64 completed;
	u64 received;
	u64 lost;
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
 * @list: in the list of all HCAs
 * @ibdev: the device
 * @users: ends of a run that use it
 * @gone: it is being removed, which waits for its users
 */
struct ibrc_dev {
	struct list_head list;
	struct ib_device *ibdev;
	unsigned int users;
	bool gone;
};

/**
 * struct ibrc_buf - The buffer of a WR
 * @cqe: called when the WR completes
 * @end: its end
 * @qp: its QP; NULL for a WR of an SRQ
 * @number: number of the message that it sends, or of the receive WRs posted before it
 * @posted: it was posted and has not completed
 * @mem: memory for the message and the guards
 * @sge: scatter/gather list
 * @num_sge: number of SGEs in use
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
 * @bufs: the buffers
 * @depth: number of buffers
 * @posted: WRs posted since the run began; not counted for an SRQ
 * @completed: how many of these are known to have completed, successfully or not; also those sends
 *	that are not signaled
 */
struct ibrc_ring {
	struct ibrc_buf *bufs;
	u32 depth;
	u64 posted;
	u64 completed;
};

/* The state of a QP's connection, as the connection manager reports it */
enum ibrc_cm_state {
	IBRC_CM_IDLE,
	IBRC_CM_ESTABLISHED,
	IBRC_CM_DISCONNECTED,
	IBRC_CM_UNANSWERED,	/* nobody has replied to the DREQ */
	IBRC_CM_REJECTED,
	IBRC_CM_FAILED,
};

/**
 * struct ibrc_ended - Counts WRs that complete, for scenarios that need no buffers
 * @cqe: calls ibrc_note_ended()
 * @num: how many have completed
 * @wc: the last completion
 */
struct ibrc_ended {
	struct ib_cqe cqe;
	u64 num;
	struct ib_wc wc;
};

/**
 * struct ibrc_qp - One end of a connection
 * @end: the end of the run
 * @index: number of the connection
 * @peer: the other end of the connection
 * @ib: the QP; NULL after a scenario has destroyed it
 * @psn: PSN of its first send
 * @tx: send WRs
 * @rx: receive WRs; without buffers if there is an SRQ
 * @received: number of messages received or lost
 * @failed: a WR completed with an error
 * @last_wqe: number of IB_EVENT_QP_LAST_WQE_REACHED
 * @cm_id: ID of the connection manager
 * @cm_state: state of the connection, written by the handler of @cm_id
 * @reason: why the connection was rejected
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
 * struct ibrc_end - One end of a run
 * @run: the run
 * @dev: the HCA
 * @ibdev: the device of the HCA
 * @port: attributes of its port
 * @gid: the first GID of the port
 * @pd: protection domain
 * @send_cq: send CQ of all its QPs
 * @recv_cq: receive CQ of all its QPs
 * @srq: the SRQ, or NULL
 * @srq_ring: the buffers of the SRQ
 * @qps: a QP for each connection
 * @lkey: L_Key for scatter/gather lists
 * @repost: a receive WR is posted again when it completes
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
 * struct ibrc_run - A run
 * @params: the words of the line
 * @result: the result
 * @ends: the end that connects and sends, and the other end
 * @scratch: room for the contents of a message
 * @listener: ID that receives connection requests
 * @service_id: the service ID of @listener
 * @reject: the listener rejects all requests
 * @path: the path from the first end to the second
 * @path_status: result of the query for the path; 1 until there is one
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

static inline enum ib_qp_type ibrc_type(const struct ibrc_run *run)
{
	return run->params.uc ? IB_QPT_UC : IB_QPT_RC;
}

/* The QP with which scenarios of a single connection send */
static inline struct ibrc_qp *ibrc_sender(struct ibrc_run *run)
{
	return &run->ends[0].qps[0];
}

/* How many messages such scenarios post at once */
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
u64 ibrc_spoilt(const struct ibrc_result *result);
void ibrc_result_show(struct seq_file *m, const struct ibrc_result *result);

/* ibrc_data.c */
u32 ibrc_message_length(const struct ibrc_params *params,
			const struct ibrc_qp *from, u64 number);
bool ibrc_message_has_imm(const struct ibrc_params *params, u64 number);
__be32 ibrc_message_imm(u64 number);
void ibrc_message_fill(const struct ibrc_qp *from, u64 number, void *to, u32 length);
void ibrc_private_data(u32 index, u32 kind, void *to, u32 length);
void ibrc_buf_cut(struct ibrc_buf *buf, u32 length);
void ibrc_buf_scatter(struct ibrc_buf *buf, const void *from, u32 length);
void ibrc_buf_inline(struct ibrc_buf *buf);
bool ibrc_buf_differs(const struct ibrc_buf *buf, const void *from, u32 length);
bool ibrc_buf_restore(struct ibrc_buf *buf, u32 length);

/* ibrc_end.c */
struct ib_qp *ibrc_qp_make(struct ibrc_qp *qp, const struct ib_qp_cap *cap);
int ibrc_recv(const struct ibrc_end *end, const struct ibrc_qp *qp, const struct ib_recv_wr *wr,
	      const struct ib_recv_wr **bad);
int ibrc_ends_create(struct ibrc_run *run);
void ibrc_ends_destroy(struct ibrc_run *run);

/* ibrc_connect.c */
int ibrc_attr(const struct ibrc_qp *qp, enum ib_qp_state state,
	      struct ib_qp_attr *attr);
int ibrc_to(struct ibrc_qp *qp, enum ib_qp_state state);
int ibrc_query(struct ibrc_qp *qp, struct ib_qp_attr *attr);
enum ib_qp_state ibrc_state(struct ibrc_qp *qp);
int ibrc_connect(struct ibrc_run *run);
void ibrc_disconnect(struct ibrc_run *run);

/* ibrc_cm.c */
int ibrc_cm_connect(struct ibrc_run *run);
void ibrc_cm_disconnect(struct ibrc_run *run);
void ibrc_cm_destroy(struct ibrc_run *run);
int ibrc_cm_reject(struct ibrc_run *run);
int ibrc_cm_no_service(struct ibrc_run *run);
int ibrc_cm_occupy(struct ibrc_run *run);
void ibrc_cm_init(void);
void ibrc_cm_exit(void);

/* ibrc_flow.c */
void ibrc_send_done(struct ib_cq *cq, struct ib_wc *wc);
void ibrc_recv_done(struct ib_cq *cq, struct ib_wc *wc);
void ibrc_note_ended(struct ib_cq *cq, struct ib_wc *wc);
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
