/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The trunk: a cable between the fabrics of two kernels, whose packets travel in
 * Ethernet frames. Types, what is in a frame, and each file's interface.
 *
 * In each fabric the trunk is a node with one port, which is cabled to the port of
 * a switch and stands for the port of the other kernel's switch. What comes in
 * there goes into frames; what comes in frames leaves there. It has no address and
 * no agent: no subnet manager sees it.
 *
 * One tasklet, the trunk's engine, does all of it, and what it alone touches needs
 * no lock. Others only queue (packets from the fabric, frames from the device, both
 * with a lock of their own, which are leaves) or set @lost, and kick it. It holds
 * no lock while it hands a packet to the fabric or a frame to the device.
 *
 * No deadlock between the two ways: what came in frames waits for input queues of
 * this kernel's HCAs, which their engines empty without waiting for any sending.
 * So credits always come back to the other side.
 */
#ifndef _IBFAB_TRUNK_H
#define _IBFAB_TRUNK_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/if_ether.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/types.h>

#include "ibfab_flow.h"

#define IBFAB_TRUNK_ETHERTYPE	ETH_P_802_EX1	/* for local experiments */
#define IBFAB_TRUNK_VERSION	1
#define IBFAB_TRUNK_WINDOW	128	/* data packets that the receiver holds */
#define IBFAB_TRUNK_SMPS	64	/* SMPs on their way, and as many waiting */
#define IBFAB_TRUNK_BUDGET	64	/* frames or packets in one run, each way */
#define IBFAB_TRUNK_MAX_PACKET	(4096 + 120)	/* payload, headers, ICRC */

#define IBFAB_TRUNK_READY	BIT(0)	/* the sender's own port may have a link */
#define IBFAB_TRUNK_NAK		BIT(1)	/* send again from @ack on */
#define IBFAB_TRUNK_DATA	BIT(2)	/* struct ibfab_trunk_data follows */

/* What each frame begins with. Sequence numbers and counts begin at 0 when the
 * link comes up, and wrap.
 */
struct ibfab_trunk_hdr {
	u8 version;
	u8 flags;
	__be16 reserved;
	__be64 from;	/* the sender's instance: a random number for each try */
	__be64 to;	/* the instance that it hears, or 0 */
	__be32 ack;	/* packets before this one came in, all of them */
	__be32 limit;	/* data packets that the receiver of this may have sent */
} __packed;
static_assert(sizeof(struct ibfab_trunk_hdr) == 28);

/* A part of a packet, which follows */
struct ibfab_trunk_data {
	__be32 seq;	/* the packet's */
	__be16 total;	/* octets of it */
	__be16 offset;	/* of this part */
	__be16 length;	/* of this part: short frames are padded */
	u8 hops;	/* cables that it crossed */
	u8 reserved;
} __packed;
static_assert(sizeof(struct ibfab_trunk_data) == 12);

#define IBFAB_TRUNK_OVERHEAD	(sizeof(struct ibfab_trunk_hdr) + \
				 sizeof(struct ibfab_trunk_data))

/* Every Ethernet device carries that much */
static_assert(IBFAB_TRUNK_OVERHEAD < ETH_MIN_MTU);

enum ibfab_trunk_state {
	IBFAB_TRUNK_DOWN,	/* hears nobody */
	IBFAB_TRUNK_HEARD,	/* hears the other end */
	IBFAB_TRUNK_UP,		/* and is heard by it, and both are ready */
};

enum ibfab_trunk_counter {
#define IBFAB_TRUNK(counter, name) IBFAB_TRUNK_##counter,
#include "ibfab_trunk_counters.h"
	IBFAB_TRUNK_COUNTERS,
};

/* Something waits: how often, and how long, is counted */
struct ibfab_trunk_wait {
	bool on;
	ktime_t since;
};

/**
 * struct ibfab_trunk_tx - What is to be sent; the engine's
 * @smps: not sent yet
 * @num_smps: how many
 * @data: not sent yet, for want of credit
 * @num_data: how many
 * @resend: sent in vain, and in front of the others
 * @unacked: sent; the other end has not said yet that it has them
 * @unacked_smps: of both, those that are SMPs
 * @seq: of the next new packet
 * @ack: all before are known to be there
 * @sent_data: data packets sent
 * @limit: how many may be
 * @blocked: data waits for @limit to rise
 * @progress: when something was acknowledged last, or sent with nothing
 *	unacknowledged; jiffies
 * @backoff: time-outs since then
 * @retry: the device refuses frames, until then; jiffies
 * @refused: whether it does
 */
struct ibfab_trunk_tx {
	struct list_head smps;
	unsigned int num_smps;
	struct list_head data;
	unsigned int num_data;
	struct list_head resend;
	struct list_head unacked;
	unsigned int unacked_smps;
	u32 seq;
	u32 ack;
	u32 sent_data;
	u32 limit;
	struct ibfab_trunk_wait blocked;
	unsigned long progress;
	unsigned int backoff;
	unsigned long retry;
	bool refused;
};

/**
 * struct ibfab_trunk_rx - What came in; the engine's
 * @partial: the packet that parts are missing of, or NULL
 * @offset: octets of it that are there
 * @seq: the next packet's number
 * @told_seq: what the other end was told of it
 * @data: packets that the HCAs have no room for yet
 * @received: data packets that came in
 * @taken: of them, those that left for the HCAs
 * @told_limit: the limit that the other end was told
 * @gap: a part is missing, and the other end was told so; ...
 * @gap_seq: ... the latest part that came after it
 * @gap_offset: likewise
 * @blocked: an HCA has no room
 * @tell: the other end must be told how far things came: at once
 * @tell_soon: likewise, by @tell_at
 * @tell_at: jiffies
 */
struct ibfab_trunk_rx {
	struct ibfab_pkt *partial;
	u16 offset;
	u32 seq;
	u32 told_seq;
	struct list_head data;
	u32 received;
	u32 taken;
	u32 told_limit;
	bool gap;
	u32 gap_seq;
	u16 gap_offset;
	struct ibfab_trunk_wait blocked;
	bool tell;
	bool tell_soon;
	unsigned long tell_at;
};

/**
 * struct ibfab_trunk - The trunk
 * @node: what the fabric sees of it
 * @port: its only port
 * @far_port: the switch's port that this is cabled to
 * @running: between ibfab_trunk_start() and ibfab_trunk_stop()
 * @engine: does everything
 * @timer: kicks it when it has something to do
 * @sender: what stops its packets into the fabric
 * @inbox: packets from the fabric
 * @frames: frames from the device
 * @lost: the link went down here; set by anyone
 * @state: enum ibfab_trunk_state. What follows is the engine's, and read by
 *	debugfs.
 * @instance: of this end
 * @peer: instance of the other end, 0 if none was heard
 * @peer_mac: its Ethernet address
 * @heard: when the last frame of it came, jiffies
 * @said: when the last frame without data was sent, jiffies
 * @tx: what is to be sent
 * @rx: what came in
 * @count: counters
 */
struct ibfab_trunk {
	struct ibfab_node node;
	struct ibfab_port *port;
	struct ibfab_port *far_port;
	bool running;
	struct tasklet_struct engine;
	struct timer_list timer;
	struct ibfab_sender sender;
	struct ibfab_inbox inbox;
	struct sk_buff_head frames;
	unsigned long lost;

	enum ibfab_trunk_state state;
	u64 instance;
	u64 peer;
	u8 peer_mac[ETH_ALEN];
	unsigned long heard;
	unsigned long said;
	struct ibfab_trunk_tx tx;
	struct ibfab_trunk_rx rx;
	atomic64_t count[IBFAB_TRUNK_COUNTERS];
};

extern struct ibfab_trunk ibfab_trunk;

static inline void ibfab_trunk_count(enum ibfab_trunk_counter counter)
{
	atomic64_inc(&ibfab_trunk.count[counter]);
}

/* ibfab_trunk.c */
void ibfab_trunk_engine_init(void);
void ibfab_trunk_engine_start(void);
void ibfab_trunk_engine_stop(void);
void ibfab_trunk_kick(void);
void ibfab_trunk_lose(void);
bool ibfab_trunk_heard(const u8 *mac, const struct ibfab_trunk_hdr *hdr);
void ibfab_trunk_fill_hdr(struct ibfab_trunk_hdr *hdr, u8 flags);
void ibfab_trunk_wait(struct ibfab_trunk_wait *wait, enum ibfab_trunk_counter times);
void ibfab_trunk_go_on(struct ibfab_trunk_wait *wait, enum ibfab_trunk_counter us);
void ibfab_trunk_drop(struct list_head *list);

/* ibfab_trunk_tx.c */
void ibfab_trunk_tx_reset(void);
void ibfab_trunk_tx_acked(u32 ack, u32 limit);
void ibfab_trunk_tx_again(void);
bool ibfab_trunk_tx_run(void);
void ibfab_trunk_tx_due(unsigned long *due);
void ibfab_trunk_tx_hello(u8 flags);

/* ibfab_trunk_rx.c */
void ibfab_trunk_rx_reset(void);
bool ibfab_trunk_rx_run(void);

/* ibfab_trunk_dev.c */
int ibfab_trunk_dev_check(void);
int ibfab_trunk_dev_start(void);
void ibfab_trunk_dev_stop(void);
bool ibfab_trunk_dev_running(void);
const char *ibfab_trunk_dev_name(void);
unsigned int ibfab_trunk_dev_mtu(void);
struct sk_buff *ibfab_trunk_dev_alloc(unsigned int len);
bool ibfab_trunk_dev_send(struct sk_buff *skb, const u8 *mac);

/* ibfab_trunk_link.c */
void ibfab_trunk_link_set(bool up);
bool ibfab_trunk_link_ready(void);

#endif /* _IBFAB_TRUNK_H */
