/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The fixture that the suites share: a netdevice of the driver on a simulated
 * HCA and simulated fabric services. Both do what a test tells them and record
 * what the driver asks of them.
 */
#ifndef _IPOIB_KUNIT_H
#define _IPOIB_KUNIT_H

#include <kunit/test.h>

#include "ipoib.h"

#define HCA_PKEYS	8
#define HCA_LOG		64	/* sends that are recorded */
#define FABRIC_LOG	128	/* path queries that can be outstanding */

/* Slots of the receive ring. Each test sets an interface up, and on the debug kernel a page for
 * each slot of a longer ring takes milliseconds. Module parameters cannot set it: KUnit runs the
 * suites before the kernel parses them.
 */
#define FIXTURE_RX_RING	64

/* The objects of an HCA whose leaks are detected */
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
	spinlock_t lock;	/* protects the members below */
	struct ib_wc *wc;
	u32 size;
	u32 head;
	u32 tail;
	u32 vector;
	u16 frames;		/* moderation that the driver set */
	u16 usecs;
	bool armed;		/* an event was requested since the last one */
};

struct hca_srq {
	struct ib_srq ibsrq;
	u32 posted;		/* number of WRs */
	u32 limit;		/* at which the driver wants an event */
};

/* A WR as it was posted */
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
	u32 doorbell;		/* number of the ib_post_send() call that posted it */
};

/* What is kept of a WR until it completes */
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
	spinlock_t lock;	/* protects the members below */
	enum ib_qp_state state;
	u32 qkey;
	u16 pkey_index;
	struct hca_recv *recv;
	struct hca_posted *sends;	/* WRs that are not completed yet */
	u32 recv_head;
	u32 recv_tail;
	u32 send_head;
	u32 send_tail;
	u32 recv_size;
	u32 send_size;
	u32 flushed;		/* WRs that were flushed since the QP was created */
	u32 create_flags;
};

struct hca_ah {
	struct ib_ah ibah;
	u16 dlid;
};

/*
 * struct hca - an HCA of one port that does what the test says
 * @fail_in: which of the next calls of verbs fails, with -ENOMEM; 0: none
 * @fail_detach: how many of the next calls of detach_mcast fail, with -ENOMEM
 * @send_room: limit of a send queue's octets, a WR counts 64 and each SGE 16; 0: none
 * @cq_room: the maximum number of CQEs of a CQ; 0: no limit
 * @hold: sends complete when the test calls hca_complete(), instead of at once
 * @mute: WRs are refused with -EINVAL, without a word on which of them
 * @stuck: QPs in the error state do not flush their WRs
 * @lingers: a QP that is reset leaves CQEs of its WRs in its CQs
 * @dies_loudly: a QP reports IB_EVENT_QP_FATAL while it is destroyed
 * @gate: modify_cq waits up to five seconds for this completion; NULL: it does not wait
 * @seen: is called with the octets of each send; may be NULL
 */
struct hca {
	struct ib_device ibdev;
	enum ib_port_state state;
	enum ib_mtu max_mtu;
	union ib_gid gid;
	union ib_gid alias;	/* another GID of the port, or zeroes */
	u16 pkeys[HCA_PKEYS];
	int max_qp_wr;
	int max_cqe;
	atomic_t queries;	/* of port and P_Keys: firmware commands on real HCAs */
	u32 next_qpn;
	u32 send_room;
	u32 cq_room;
	atomic_t fail_in;
	atomic_t fail_detach;
	atomic_t objects[HCA_OBJECTS];
	u16 attached_mlid;	/* MLID of the group that a QP was attached to last */
	bool hold;
	bool mute;
	bool stuck;
	bool lingers;
	bool dies_loudly;
	u32 deaths;		/* number of QPs that reported this */
	struct completion *gate;
	void (*seen)(struct hca *hca, const struct hca_send *send, const u8 *octets);
	struct hca_qp *qp;	/* the QP that was created last, or that hca_choose() set */
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
 * @answers: requests are answered before join or resolve returns
 * @refusal: error that join and resolve return instead of accepting the request
 * @status: the status of the answers
 * @cancel_late: a cancelled query is answered only later, by @late
 */
struct fabric {
	struct ipoib_fabric_ops ops;
	bool answers;
	bool cancel_late;
	bool taken;		/* what is_joined returns */
	int refusal;
	int status;
	int attr_error;
	struct ipoib_group_params params;
	enum ipoib_reports reports;	/* the reports that the driver requested */
	bool again;		/* the next join returns -EAGAIN */
	int list_error;
	struct delayed_work late;
	struct ipoib_path_query *late_query;
	struct ipoib_path_query *queries[FABRIC_LOG];	/* outstanding queries */
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
 * struct fixture - what kunit.priv points to in each test of a link
 */
struct fixture {
	struct hca *hca;
	struct fabric fabric;
	struct ipoib_port *port;
	struct net_device *netdev;	/* of the port itself, not of a child */
	struct ipoib_dev *priv;
};

/* Work that blocks the device's workqueue */
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
int fixture_child_delete(struct fixture *fx, u16 pkey);
int fixture_resize(struct fixture *fx, u32 tx_count, u32 tx_size, u32 rx_size);
struct sk_buff *fixture_packet(struct kunit *test, const u8 *gid, u32 len);
void fixture_send_to(struct kunit *test, u8 last);
void fixture_answer(struct kunit *test, u8 last, int status);
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
