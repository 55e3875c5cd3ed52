/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The trunk is a cable between the fabrics of two kernels. Its packets travel in Ethernet frames.
 * This file has the types, the format of frames, and the interface of each file.
 *
 * In each fabric the trunk is a node with one port, which is cabled to the port of a switch and
 * represents the port of the other kernel's switch. Packets that come in at this port are put into
 * frames, and packets from received frames leave by it. The node has no address and no agent, so no
 * SM sees it.
 *
 * All of this is done by one tasklet, the engine of the trunk. What only the engine accesses needs
 * no lock. Others only queue packets from the fabric or frames from the device, set @lost, and kick
 * the engine. Both queues have a lock of their own, under which no other lock is taken. The engine
 * holds no lock while it passes a packet to the fabric or a frame to the device.
 *
 * The two directions cannot deadlock: packets from frames wait for the input queues of this
 * kernel's HCAs, and the engines of the HCAs empty these without waiting for any sending. So the
 * other end always gets new credit.
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
#define IBFAB_TRUNK_WINDOW	128	/* data packets for which a receiver has room */
#define IBFAB_TRUNK_SMPS	64	/* unacknowledged SMPs, and as many that wait */
#define IBFAB_TRUNK_BUDGET	64	/* frames or packets in one run, in each direction */
#define IBFAB_TRUNK_MAX_PACKET	(4096 + 120)	/* payload, headers, ICRC */

#define IBFAB_TRUNK_READY	BIT(0)	/* the sender's port may have a link */
#define IBFAB_TRUNK_NAK		BIT(1)	/* packets from @ack on must be sent again */
#define IBFAB_TRUNK_DATA	BIT(2)	/* struct ibfab_trunk_data follows */

/* The beginning of each frame. Sequence numbers and counts begin at 0 when the link comes up, and
 * wrap around.
 */
struct ibfab_trunk_hdr {
	u8 version;
	u8 flags;
	__be16 reserved;
	__be64 from;	/* the sender's instance, a random number */
	__be64 to;	/* the instance from which it receives, or 0 */
	__be32 ack;	/* all packets before this one were received */
	__be32 limit;	/* how many data packets the receiver of this frame may have sent */
} __packed;
static_assert(sizeof(struct ibfab_trunk_hdr) == 28);

/* The description of a part of a packet; the part follows */
struct ibfab_trunk_data {
	__be32 seq;	/* sequence number of the packet */
	__be16 total;	/* length of the packet */
	__be16 offset;	/* offset of this part */
	__be16 length;	/* length of this part, as short frames are padded */
	u8 hops;	/* number of cables that the packet crossed */
	u8 reserved;
} __packed;
static_assert(sizeof(struct ibfab_trunk_data) == 12);

#define IBFAB_TRUNK_OVERHEAD	(sizeof(struct ibfab_trunk_hdr) + \
				 sizeof(struct ibfab_trunk_data))

/* Every Ethernet device has an MTU that is larger than this */
static_assert(IBFAB_TRUNK_OVERHEAD < ETH_MIN_MTU);

enum ibfab_trunk_state {
	IBFAB_TRUNK_DOWN,	/* receives nothing from the other end */
	IBFAB_TRUNK_HEARD,	/* receives frames from the other end */
	IBFAB_TRUNK_UP,		/* both ends receive frames and are ready */
};

enum ibfab_trunk_counter {
#define IBFAB_TRUNK(counter, name) IBFAB_TRUNK_##counter,
#include "ibfab_trunk_counters.h"
	IBFAB_TRUNK_COUNTERS,
};

/* A wait whose number and duration are counted */
struct ibfab_trunk_wait {
	bool on;
	ktime_t since;
};

/**
 * struct ibfab_trunk_tx - The sending direction; used by the engine only
 * @smps: SMPs that were not sent yet
 * @num_smps: number of packets in @smps
 * @data: data packets that were not sent yet because there is no credit
 * @num_data: number of packets in @data
 * @resend: packets that must be sent again, before all others
 * @unacked: packets that were sent but are not acknowledged yet
 * @unacked_smps: number of SMPs in @resend and @unacked
 * @seq: sequence number of the next new packet
 * @ack: all packets before this one are acknowledged
 * @sent_data: number of data packets sent
 * @limit: how many data packets may be sent
 * @blocked: the wait of data packets for @limit to rise
 * @progress: when a packet was last acknowledged, or was sent with no other one
 *	unacknowledged; in jiffies
 * @backoff: number of time-outs since then
 * @retry: when to send again to a device that refused a frame, in jiffies
 * @refused: the device refused a frame
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
 * struct ibfab_trunk_rx - The receiving direction; used by the engine only
 * @partial: a packet of which parts are missing, or NULL
 * @offset: how many bytes of it were received
 * @seq: sequence number of the next packet
 * @told_seq: the value of @seq that the other end was last told
 * @data: data packets for which the HCAs have no room yet
 * @received: number of data packets received
 * @taken: number of these that were passed to the fabric
 * @told_limit: the limit that the other end was last told
 * @gap: a part is missing, and the other end was told
 * @gap_seq: sequence number of the latest part that came after the missing one
 * @gap_offset: offset of that part
 * @blocked: the wait for an HCA that has no room
 * @tell: the other end must be told @seq and the limit now
 * @tell_soon: the other end must be told by @tell_at
 * @tell_at: in jiffies
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
 * @node: the node that represents it in the fabric
 * @port: the node's port
 * @far_port: the switch's port to which it is cabled
 * @running: between ibfab_trunk_start() and ibfab_trunk_stop()
 * @engine: the tasklet
 * @timer: kicks the engine when something is due
 * @sender: stops the packets into the fabric if an input queue is full
 * @inbox: packets from the fabric
 * @frames: frames from the device
 * @lost: bit 0 is set if the link went down at this end; may be set by anyone
 * @state: enum ibfab_trunk_state. This and the following fields are written by the engine
 *	only, and read by debugfs.
 * @instance: the instance of this end
 * @peer: the instance of the other end, 0 if no frame came from it
 * @peer_mac: MAC address of the other end
 * @heard: when the last frame came from it, in jiffies
 * @said: when the last frame without data was sent, in jiffies
 * @tx: the sending direction
 * @rx: the receiving direction
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
