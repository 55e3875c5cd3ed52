/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reliable connections (9.7): what a QP of that type keeps, and the interface of
 * each of its files. Attributes are changed with the engine disabled; all else
 * is the engine's alone, so none of it has a lock.
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

/* What the connections of a port did, in debugfs */
enum ibfab_rc_counter {
	IBFAB_RC_RETRANSMITS,		/* packets sent again */
	IBFAB_RC_TIMEOUTS,		/* no answer in time */
	IBFAB_RC_ACKS_SENT,
	IBFAB_RC_ACKS_RCVD,
	IBFAB_RC_RNR_SENT,
	IBFAB_RC_RNR_RCVD,
	IBFAB_RC_NAKS_SENT,		/* four codes, as on the wire */
	IBFAB_RC_NAKS_RCVD = IBFAB_RC_NAKS_SENT + 4,
	IBFAB_RC_DUPLICATES = IBFAB_RC_NAKS_RCVD + 4, /* requests seen before */
	IBFAB_RC_GAPS,			/* requests behind a missing one */
	IBFAB_RC_STRAYS,		/* responses that fit no request */
	IBFAB_RC_NUM,
};

/**
 * struct ibfab_rc_req - A connection's requester
 * @una: PSN of the oldest packet that is not acknowledged
 * @next: PSN of the packet to send next
 * @high: PSN of the first packet that was never sent
 * @begun: work requests ever begun; those before have their PSNs
 * @cur: the one to send from next: below @begun, or at it
 * @offset: how much of it was sent
 * @retries: how often @una may still be sent again
 * @rnr_retries: how often its receiver may still be not ready
 * @timed: @due means something
 * @due: by ktime_get_ns(): when an answer is overdue or, if @paused, to go on
 * @paused: send nothing until then
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
 * struct ibfab_rc_resp - A connection's responder
 * @epsn: the PSN expected next
 * @msn: messages completed
 * @quiet: a NAK for @epsn is under way; nothing else is said until it comes
 * @in_message: between a first and a last packet
 * @have_wr: @wr holds the receive that the message goes into
 * @wr: a copy: with a shared queue, others take the receives behind it
 * @received: octets of the message
 * @established: the event was reported
 * @last_wqe: the event was reported
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
 * struct ibfab_rc - A QP's connection
 * @qp: the QP
 * @av: where the peer is
 * @dest_qpn: which of its QPs
 * @rq_psn: the PSN that its requests were to begin with
 * @access: enum ib_access_flags
 * @path_mtu: enum ib_mtu
 * @timeout: 4.096 us * 2^timeout for an answer; 0: any time
 * @retry_cnt: retries without an answer
 * @rnr_retry: retries of a receiver that is not ready; 7: without end
 * @min_rnr_timer: what the peer is told to wait, as encoded in a NAK
 * @max_rd_atomic: kept; there are no RDMA READs
 * @max_dest_rd_atomic: kept
 * @report_drained: the event is wanted when the QP in SQD has drained
 * @timer: only kicks the engine
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
 * @traits: of its opcode
 * @psn: its PSN
 * @reth: RDMA header, NULL if none
 * @aeth: ACK header, NULL if none
 * @imm: immediate data, NULL if none
 * @payload: what is behind the headers
 * @len: octets of that
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

/* Traits of an opcode: none for a request that is not served */
#define IBFAB_RC_SEND		BIT(0)
#define IBFAB_RC_WRITE		BIT(1)
#define IBFAB_RC_FIRST		BIT(2)	/* begins a message */
#define IBFAB_RC_LAST		BIT(3)	/* ends it */
#define IBFAB_RC_IMM		BIT(4)	/* with immediate data */
#define IBFAB_RC_ACK		BIT(5)
#define IBFAB_RC_STRAY		BIT(6)	/* answers a request that is not made */

/**
 * ibfab_psn_add() - A PSN so many packets later (9.7.2).
 * @psn: a PSN
 * @n: packets
 *
 * Return: modulo 2^24.
 */
static inline u32 ibfab_psn_add(u32 psn, u32 n)
{
	return (psn + n) & IBFAB_PSN_MASK;
}

/**
 * ibfab_psn_diff() - How far one PSN is behind another.
 * @a: the later, if the result is positive
 * @b: the earlier
 *
 * Return: packets from @b to @a, -2^23 to 2^23 - 1.
 */
static inline int ibfab_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

/* ibfab_rc.c */
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
void ibfab_rc_acknowledge(struct ibfab_hca *hca);

#endif /* _IBFAB_RC_H */
