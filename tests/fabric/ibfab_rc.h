/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reliable connections (9.7), and unreliable ones (9.8): the fields of an RC or UC QP, and the
 * interface of each file. Attributes are changed with the engine disabled. Everything else is used
 * by the engine only, so there is no lock.
 */
#ifndef _IBFAB_RC_H
#define _IBFAB_RC_H

#include <linux/list.h>
#include <linux/timer.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include "ibfab_wire.h"

#define IBFAB_MAX_RD_ATOMIC	16

struct ibfab_hca;
struct ibfab_hdr;
struct ibfab_hdrs;
struct ibfab_pkt;
struct ibfab_port;
struct ibfab_qp;
struct ibfab_rwr;
struct seq_file;

/* The RC counters of a port, in debugfs */
enum ibfab_rc_counter {
	IBFAB_RC_RETRANSMITS,		/* packets that were sent again */
	IBFAB_RC_TIMEOUTS,		/* no response came in time */
	IBFAB_RC_ACKS_SENT,
	IBFAB_RC_ACKS_RCVD,
	IBFAB_RC_RNR_SENT,
	IBFAB_RC_RNR_RCVD,
	IBFAB_RC_NAKS_SENT,		/* one counter for each of four codes */
	IBFAB_RC_NAKS_RCVD = IBFAB_RC_NAKS_SENT + 4,
	IBFAB_RC_DUPLICATES = IBFAB_RC_NAKS_RCVD + 4, /* requests that were received before */
	IBFAB_RC_GAPS,			/* requests after a missing one */
	IBFAB_RC_DROPPED,		/* requests of unreliable connections that were dropped */
	IBFAB_RC_STRAYS,		/* responses that match no request */
	IBFAB_RC_NUM,
};

/**
 * struct ibfab_rc_req - The requester of a connection
 * @una: PSN of the oldest unacknowledged packet
 * @next: PSN of the next packet to send
 * @high: PSN of the first packet that was never sent
 * @begun: number of WRs that were begun, which have PSNs
 * @cur: the WR from which the next packet is sent, at most @begun
 * @offset: how many bytes of it were sent
 * @retries: how often the packet @una may still be sent again
 * @rnr_retries: how often the receiver may still report that it is not ready
 * @timed: @due is valid
 * @due: when a response is overdue or, if @paused, when to continue; in ns of ktime_get_ns()
 * @paused: nothing is sent until @due
 */
struct ibfab_rc_req {
	u32 una;
	u32 next;
	u32 high;
	u32 begun;
	u32 cur;
	u32 offset;
	u8 retries;
	u8 rnr_retries;
	bool timed;
	u64 due;
	bool paused;
};

/**
 * struct ibfab_rc_resp - The responder of a connection
 * @epsn: expected PSN
 * @msn: number of completed messages
 * @quiet: a NAK for @epsn was sent; no further one is sent until that packet comes
 * @in_message: the first packet of a message came, but not the last
 * @have_wr: @wr is the receive WR that the message is written to
 * @wr: a copy of the WR, because other QPs take the WRs behind it from a shared queue
 * @received: how many bytes of the message came
 * @established: IB_EVENT_COMM_EST was reported
 * @last_wqe: IB_EVENT_QP_LAST_WQE_REACHED was reported
 * @ack_node: in &ibfab_hca.rc_acks
 */
struct ibfab_rc_resp {
	u32 epsn;
	u32 msn;
	bool quiet;
	bool in_message;
	bool have_wr;
	struct ibfab_rwr *wr;
	u32 received;
	bool established;
	bool last_wqe;
	struct list_head ack_node;
};

/**
 * struct ibfab_rc - The connection of a QP
 * @qp: the QP
 * @av: address vector of the peer
 * @dest_qpn: the peer's QP number
 * @rq_psn: the PSN with which the peer's requests begin
 * @access: enum ib_access_flags
 * @path_mtu: enum ib_mtu
 * @timeout: a response is overdue after 4.096 us * 2^timeout; 0 for no time-out
 * @retry_cnt: number of retries without a response
 * @rnr_retry: number of retries if the receiver is not ready, 7 for no limit
 * @min_rnr_timer: how long the peer must wait after an RNR NAK, encoded as in the NAK
 * @max_rd_atomic: only stored, as RDMA READ is not supported
 * @max_dest_rd_atomic: only stored
 * @report_drained: IB_EVENT_SQ_DRAINED is to be reported when the QP in SQD has drained
 * @timer: kicks the engine
 * @req: the requester
 * @resp: the responder
 */
struct ibfab_rc {
	struct ibfab_qp *qp;
	struct rdma_ah_attr av;
	u32 dest_qpn;
	u32 rq_psn;
	int access;
	u8 path_mtu;
	u8 timeout;
	u8 retry_cnt;
	u8 rnr_retry;
	u8 min_rnr_timer;
	u8 max_rd_atomic;
	u8 max_dest_rd_atomic;
	bool report_drained;
	struct timer_list timer;
	struct ibfab_rc_req req;
	struct ibfab_rc_resp resp;
};

/**
 * struct ibfab_rc_in - A packet from the peer
 * @h: its headers
 * @traits: traits of its opcode
 * @psn: its PSN
 * @reth: RDMA extended header, NULL if there is none
 * @aeth: ACK extended header, NULL if there is none
 * @imm: immediate data, NULL if there is none
 * @payload: the payload after these headers
 * @len: length of the payload
 */
struct ibfab_rc_in {
	const struct ibfab_hdrs *h;
	u8 traits;
	u32 psn;
	const struct ibfab_reth *reth;
	const struct ibfab_aeth *aeth;
	const __be32 *imm;
	const u8 *payload;
	u32 len;
};

/* The traits of an opcode. A request that is not supported has none. */
#define IBFAB_RC_SEND		BIT(0)
#define IBFAB_RC_WRITE		BIT(1)
#define IBFAB_RC_FIRST		BIT(2)	/* begins a message */
#define IBFAB_RC_LAST		BIT(3)	/* ends it */
#define IBFAB_RC_IMM		BIT(4)	/* with immediate data */
#define IBFAB_RC_ACK		BIT(5)
#define IBFAB_RC_STRAY		BIT(6)	/* responds to a kind of request that is never sent */

/**
 * ibfab_rc_is_connected() - Whether a type of QP has connections.
 * @type: the type
 *
 * Context: any.
 * Return: true for RC and UC.
 */
static inline bool ibfab_rc_is_connected(enum ib_qp_type type)
{
	return type == IB_QPT_RC || type == IB_QPT_UC;
}

/**
 * ibfab_psn_add() - Add to a PSN (9.7.2).
 * @psn: the PSN
 * @n: number of packets
 *
 * Return: the sum modulo 2^24.
 */
static inline u32 ibfab_psn_add(u32 psn, u32 n)
{
	return (psn + n) & IBFAB_PSN_MASK;
}

/**
 * ibfab_psn_diff() - The distance between two PSNs.
 * @a: a PSN
 * @b: another PSN
 *
 * Return: how many packets @a is after @b, from -2^23 to 2^23 - 1.
 */
static inline int ibfab_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

/* ibfab_rc.c */
bool ibfab_rc_is_unreliable(const struct ibfab_qp *qp);
void ibfab_rc_count(const struct ibfab_qp *qp, unsigned int counter);
void ibfab_rc_show(struct seq_file *m, const struct ibfab_port *port);
unsigned int ibfab_rc_mtu(const struct ibfab_rc *rc);
struct ibfab_pkt *ibfab_rc_build(struct ibfab_qp *qp,
				 struct ibfab_hdr *hdr, void **ext);
void ibfab_rc_transmit(struct ibfab_qp *qp, struct ibfab_pkt *pkt);

/* ibfab_rc_qp.c */
int ibfab_rc_create(struct ibfab_qp *qp, u32 max_recv_sge);
void ibfab_rc_destroy(struct ibfab_qp *qp);
void ibfab_rc_reset(struct ibfab_qp *qp);
int ibfab_rc_attr_check(const struct ibfab_qp *qp,
			const struct ib_qp_attr *attr, int mask);
void ibfab_rc_apply(struct ibfab_qp *qp, const struct ib_qp_attr *attr,
		    int mask);
void ibfab_rc_query(const struct ibfab_qp *qp, struct ib_qp_attr *attr);
void ibfab_rc_flush(struct ibfab_qp *qp);
void ibfab_rc_flushed(struct ibfab_qp *qp);

/* ibfab_rc_req.c */
bool ibfab_rc_send(struct ibfab_qp *qp, unsigned int *sent);
void ibfab_rc_answered(struct ibfab_qp *qp, const struct ibfab_rc_in *in);

/* ibfab_rc_resp.c */
void ibfab_rc_requested(struct ibfab_qp *qp, const struct ibfab_rc_in *in);
void ibfab_uc_requested(struct ibfab_qp *qp, const struct ibfab_rc_in *in);
void ibfab_rc_acknowledge(struct ibfab_hca *hca);

#endif /* _IBFAB_RC_H */
