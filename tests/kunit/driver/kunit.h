/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites stand on: a netdevice of the driver on an HCA and a fabric that
 * do what a test tells them, and that remember what they were asked.
 */
#ifndef _IPOIB_KUNIT_H
#define _IPOIB_KUNIT_H

#include <kunit/test.h>

#include "ipoib.h"

#define HCA_PKEYS	8
#define HCA_LOG		64	/* sends that are remembered */
#define FABRIC_LOG	128	/* likewise questions */

/* What of an HCA's objects may leak */
enum hca_object {
	HCA_PD,
	HCA_CQ,
	HCA_QP,
	HCA_AH,
	HCA_ATTACHED,
	HCA_OBJECTS
};

struct hca_cq {
	struct ib_cq ibcq;
	spinlock_t lock;	/* guards the rest */
	struct ib_wc *wc;
	u32 size;
	u32 head;
	u32 tail;
	u32 vector;
	u16 frames;		/* the moderation that was asked for */
	u16 usecs;
};

/* A work request as it was posted */
struct hca_send {
	u64 wr_id;
	enum ib_wr_opcode opcode;
	int flags;
	int num_sge;
	u32 length;
	u32 source_qpn;
	u32 qpn;
	u32 qkey;
	u32 mss;
	u32 hlen;
	u16 dlid;
	u32 doorbell;		/* which call of post_send it came by */
};

/* What is kept of it until it completes */
struct hca_posted {
	u64 wr_id;
	bool signaled;
};

struct hca_recv {
	u64 wr_id;
	u64 addr;
	u32 length;
};

struct hca_qp {
	struct ib_qp ibqp;
	spinlock_t lock;	/* guards the rest */
	enum ib_qp_state state;
	u32 qkey;
	u16 pkey_index;
	struct hca_recv *recv;
	struct hca_posted *sends;	/* not completed yet */
	u32 recv_head;
	u32 recv_tail;
	u32 send_head;
	u32 send_tail;
	u32 recv_size;
	u32 send_size;
	u32 flushed;		/* work requests, since it was made */
	u32 create_flags;
};

struct hca_ah {
	struct ib_ah ibah;
	u16 dlid;
};

/*
 * struct hca - an HCA of one port that does what the test says
 * @fail_in: the call of a verb, counted down, that fails with -ENOMEM; 0 for none
 * @send_room: octets that a send queue may take, a WR 64 and 16 for each piece; 0: any
 * @cq_room: CQEs that a CQ may have; 0: any
 * @hold: sends complete when the test says so, not at once
 * @stuck: QPs in the error state flush nothing
 * @dies_loudly: a QP that is destroyed reports a fatal event meanwhile
 * @gate: a CQ is moderated once it is complete, or after five seconds; NULL: at once
 * @seen: is shown what each send gathers, if the test wants to see it
 */
struct hca {
	struct ib_device ibdev;
	enum ib_port_state state;
	enum ib_mtu max_mtu;
	union ib_gid gid;
	union ib_gid alias;	/* another one of the port, or zeroes */
	u16 pkeys[HCA_PKEYS];
	int max_qp_wr;
	int max_cqe;
	atomic_t queries;	/* of port and P_Keys: firmware commands, on others */
	u32 next_qpn;
	u32 send_room;
	u32 cq_room;
	atomic_t fail_in;
	atomic_t objects[HCA_OBJECTS];
	u16 attached_mlid;	/* of the group that a QP was attached to last */
	bool hold;
	bool stuck;
	bool dies_loudly;
	u32 deaths;		/* of QPs that did */
	struct completion *gate;
	void (*seen)(struct hca *hca, const struct hca_send *send, const u8 *octets);
	struct hca_qp *qp;	/* the one that was made last, or that the test chose */
	struct hca_send log[HCA_LOG];
	u32 logged;
	u32 doorbells;
};

/* kunit_hca.c */
struct hca *hca_register(void);
struct hca *hca_register_with(struct device *dma_device);
void hca_unregister(struct hca *hca);
int hca_leaks(struct hca *hca);
void hca_event(struct hca *hca, enum ib_event_type type);
void hca_port_state(struct hca *hca, enum ib_port_state state);
void hca_pkey(struct hca *hca, u16 index, u16 pkey);
int hca_receive(struct hca *hca, const void *data, u32 len, const struct ib_wc *like);
void hca_choose(struct hca *hca, struct ib_qp *ibqp);
void hca_break(struct hca *hca);
void hca_wait(struct hca *hca);
void hca_complete(struct hca *hca, u32 count, enum ib_wc_status status);
const struct hca_send *hca_sent(struct hca *hca, u32 index);

/* kunit_dma.c */
struct device *dma_begin(void);
void dma_end(void);
void dma_write(u64 addr, const void *octets, u32 len);
u32 dma_maps(void);
u32 dma_maps_to_device(void);
u32 dma_wrong(void);

/*
 * struct fabric - fabric services that answer when and what the test says
 * @answers: questions are answered before join or resolve returns
 * @refusal: what join and resolve return instead of taking the question
 * @status: of the answers
 * @cancel_late: a query that is cancelled is answered by @late only
 */
struct fabric {
	struct ipoib_fabric_ops ops;
	bool answers;
	bool cancel_late;
	bool taken;		/* is_joined says so */
	int refusal;
	int status;
	int attr_error;
	struct ipoib_group_params params;
	enum ipoib_reports reports;	/* what the driver wants to know */
	bool again;		/* join says -EAGAIN, once */
	int list_error;
	struct delayed_work late;
	struct ipoib_path_query *late_query;
	struct ipoib_path_query *queries[FABRIC_LOG];	/* not answered yet */
	atomic_t joins;
	atomic_t leaves;
	atomic_t resolves;
	atomic_t cancels;
	atomic_t lists;
	atomic_t started;
};

/* kunit_fabric.c */
void fabric_init(struct fabric *fabric);
bool fabric_answer(struct fabric *fabric, const union ib_gid *gid, int status);
u32 fabric_pending(struct fabric *fabric);
void fabric_attr(struct rdma_ah_attr *attr, u32 port, u16 dlid);

/*
 * struct fixture - what each test of a link is given in kunit.priv
 */
struct fixture {
	struct hca *hca;
	struct fabric fabric;
	struct ipoib_port *port;
	struct net_device *netdev;	/* the port's own */
	struct ipoib_dev *priv;
};

/* Keeps the device's workqueue busy */
struct fixture_block {
	struct work_struct work;
	struct completion over;
};

/* kunit_fixture.c */
int fixture_init(struct kunit *test);
int fixture_init_dma(struct kunit *test);
int fixture_init_sending(struct kunit *test);
int fixture_init_running(struct kunit *test);
int fixture_init_unanswered(struct kunit *test);
void fixture_group_retry(struct fixture *fx, struct ipoib_group *group);
void fixture_exit(struct kunit *test);
void fixture_settle(struct fixture *fx);
void fixture_grace(struct fixture *fx);
void fixture_up(struct kunit *test);
void fixture_down(struct fixture *fx);
int fixture_resize(struct fixture *fx, u32 tx_count, u32 tx_size, u32 rx_size);
struct sk_buff *fixture_packet(struct kunit *test, const u8 *gid, u32 len);
void fixture_send(struct fixture *fx, struct sk_buff *skb, bool more);
void fixture_send_by(struct fixture *fx, u16 queue, struct sk_buff *skb, bool more);
void fixture_gid(union ib_gid *gid, u8 last);
u64 fixture_count(struct fixture *fx, enum ipoib_stat stat);
void fixture_block(struct fixture *fx, struct fixture_block *block);
void fixture_unblock(struct fixture *fx, struct fixture_block *block);

/* kunit_main.c */
int driver_begin(struct kunit_suite *suite);
void driver_end(struct kunit_suite *suite);
void driver_settle(void);
int driver_probe(void);
void driver_remove(void);
struct net_device *driver_netdev(struct ib_device *ibdev);

/* kunit_roce.c */
void driver_roce(bool on);

#endif /* _IPOIB_KUNIT_H */
