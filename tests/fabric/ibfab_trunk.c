// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The engine of the trunk, and the trunk's link. The link is up if each end receives frames from
 * the other, and both ports are ready. For each attempt to bring the link up, an end draws a random
 * number, its instance. Every frame has the instances of both ends. So each end notices from the
 * first frame of the other that a link has ended, even if the other kernel was restarted, and does
 * not take a frame of an earlier link for one of this link.
 */
#include <linux/etherdevice.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/timer.h>

#include "ibfab_trunk.h"

#define HELLO_MS	100	/* maximum time between two frames without data */
/* The link is down if nothing is received for so long. A busy host may let a guest wait for a CPU
 * for seconds.
 */
#define LOST_MS		4000

struct ibfab_trunk ibfab_trunk;

/**
 * ibfab_trunk_kick() - Schedule the engine, if there is one.
 *
 * Context: any.
 */
void ibfab_trunk_kick(void)
{
	if (READ_ONCE(ibfab_trunk.running))
		tasklet_schedule(&ibfab_trunk.engine);
}

/**
 * ibfab_trunk_lose() - Tell the engine that the link went down at this end.
 *
 * The engine tells the other end.
 *
 * Context: any.
 */
void ibfab_trunk_lose(void)
{
	set_bit(0, &ibfab_trunk.lost);
	ibfab_trunk_kick();
}

/**
 * ibfab_trunk_wait() - Begin to wait, unless already waiting.
 * @wait: the wait
 * @times: the counter of such waits
 *
 * Context: the engine.
 */
void ibfab_trunk_wait(struct ibfab_trunk_wait *wait, enum ibfab_trunk_counter times)
{
	if (wait->on)
		return;
	wait->on = true;
	wait->since = ktime_get();
	ibfab_trunk_count(times);
}

/**
 * ibfab_trunk_go_on() - End a wait.
 * @wait: the wait, which need not have begun
 * @us: the counter to which its duration in microseconds is added
 *
 * Context: the engine.
 */
void ibfab_trunk_go_on(struct ibfab_trunk_wait *wait, enum ibfab_trunk_counter us)
{
	if (!wait->on)
		return;
	wait->on = false;
	atomic64_add(ktime_us_delta(ktime_get(), wait->since), &ibfab_trunk.count[us]);
}

/**
 * ibfab_trunk_drop() - Drop packets, which are counted at the switch's port.
 * @list: the packets
 *
 * Context: the engine.
 */
void ibfab_trunk_drop(struct list_head *list)
{
	struct ibfab_pkt *pkt;

	while ((pkt = ibfab_pkt_pop(list)))
		ibfab_pkt_drop(pkt, ibfab_trunk.far_port, IBFAB_DROP_TRUNK_DOWN);
}

/* Whether this end may have a link */
static bool ready(const struct ibfab_trunk *trunk)
{
	return READ_ONCE(trunk->running) && ibfab_trunk_dev_running() &&
	       ibfab_trunk_link_ready();
}

static u64 new_instance(void)
{
	u64 instance;

	do {
		get_random_bytes(&instance, sizeof(instance));
	} while (!instance);
	return instance;
}

/* Ends the link, if there is one, and begins a new attempt */
static void restart(struct ibfab_trunk *trunk)
{
	if (trunk->state == IBFAB_TRUNK_UP) {
		ibfab_trunk_link_set(false);
		ibfab_trunk_count(IBFAB_TRUNK_LINK_DOWN);
	}
	trunk->state = IBFAB_TRUNK_DOWN;
	trunk->instance = new_instance();
	trunk->peer = 0;
	ibfab_trunk_tx_reset();
	ibfab_trunk_rx_reset();
	trunk->rx.tell = true;
}

/* The other end has an instance from which no frame came before */
static void meet(struct ibfab_trunk *trunk, u64 peer, const u8 *mac)
{
	if (trunk->state == IBFAB_TRUNK_UP)
		restart(trunk);
	trunk->peer = peer;
	ether_addr_copy(trunk->peer_mac, mac);
	trunk->state = IBFAB_TRUNK_HEARD;
	trunk->rx.tell = true;
}

/* The other end receives the frames of this one */
static void agree(struct ibfab_trunk *trunk, bool peer_ready)
{
	if (trunk->state == IBFAB_TRUNK_UP && !peer_ready) {
		restart(trunk);
		return;
	}
	if (trunk->state == IBFAB_TRUNK_UP || !peer_ready || !ready(trunk))
		return;
	trunk->state = IBFAB_TRUNK_UP;
	trunk->rx.tell = true;
	ibfab_trunk_count(IBFAB_TRUNK_LINK_UP);
	ibfab_trunk_link_set(true);
}

/**
 * ibfab_trunk_heard() - Update the state of the link when a frame comes in.
 * @mac: MAC address of its sender
 * @hdr: its header
 *
 * Context: the engine.
 * Return: whether the frame belongs to the link that is up now.
 */
bool ibfab_trunk_heard(const u8 *mac, const struct ibfab_trunk_hdr *hdr)
{
	struct ibfab_trunk *trunk = &ibfab_trunk;
	u64 from = be64_to_cpu(hdr->from);

	if (trunk->peer && !ether_addr_equal(mac, trunk->peer_mac)) {
		ibfab_trunk_count(IBFAB_TRUNK_FOREIGN);
		return false;
	}
	if (from != trunk->peer)
		meet(trunk, from, mac);
	trunk->heard = jiffies;
	if (be64_to_cpu(hdr->to) != trunk->instance) {
		if (hdr->flags & IBFAB_TRUNK_DATA)
			ibfab_trunk_count(IBFAB_TRUNK_STALE);
		return false;
	}
	agree(trunk, hdr->flags & IBFAB_TRUNK_READY);
	return trunk->state == IBFAB_TRUNK_UP;
}

/**
 * ibfab_trunk_fill_hdr() - Fill in the header of a frame, which acknowledges packets and gives
 * credit.
 * @hdr: the header
 * @flags: IBFAB_TRUNK_NAK, IBFAB_TRUNK_DATA
 *
 * Context: the engine.
 */
void ibfab_trunk_fill_hdr(struct ibfab_trunk_hdr *hdr, u8 flags)
{
	struct ibfab_trunk *trunk = &ibfab_trunk;
	struct ibfab_trunk_rx *rx = &trunk->rx;

	if (ready(trunk))
		flags |= IBFAB_TRUNK_READY;
	rx->told_seq = rx->seq;
	rx->told_limit = rx->taken + IBFAB_TRUNK_WINDOW;
	rx->tell = false;
	rx->tell_soon = false;
	*hdr = (struct ibfab_trunk_hdr) {
		.version = IBFAB_TRUNK_VERSION,
		.flags = flags,
		.from = cpu_to_be64(trunk->instance),
		.to = cpu_to_be64(trunk->peer),
		.ack = cpu_to_be32(rx->told_seq),
		.limit = cpu_to_be32(rx->told_limit),
	};
}

/* Ends the link for reasons other than a frame */
static void check_link(struct ibfab_trunk *trunk)
{
	bool lost = test_and_clear_bit(0, &trunk->lost);
	bool silent = trunk->peer &&
		      time_after(jiffies, trunk->heard +
					  msecs_to_jiffies(LOST_MS));

	if (silent && trunk->state == IBFAB_TRUNK_UP)
		ibfab_trunk_count(IBFAB_TRUNK_SILENT);
	if (lost || silent ||
	    (trunk->state == IBFAB_TRUNK_UP && !ready(trunk)))
		restart(trunk);
}

static unsigned long hello_due(const struct ibfab_trunk *trunk)
{
	unsigned long due = trunk->said + msecs_to_jiffies(HELLO_MS);

	if (trunk->rx.tell_soon && time_before(trunk->rx.tell_at, due))
		return trunk->rx.tell_at;
	return due;
}

static void say_hello(struct ibfab_trunk *trunk)
{
	if (!trunk->rx.tell && time_before(jiffies, hello_due(trunk)))
		return;
	trunk->said = jiffies;
	ibfab_trunk_tx_hello(0);
}

static void arm_timer(struct ibfab_trunk *trunk)
{
	unsigned long due = hello_due(trunk);

	ibfab_trunk_tx_due(&due);
	if (READ_ONCE(trunk->running))
		mod_timer(&trunk->timer, due);
}

/* Frames are read before the other end is considered silent, as the guest may have been suspended
 */
static void engine_run(struct tasklet_struct *tasklet)
{
	struct ibfab_trunk *trunk = from_tasklet(trunk, tasklet, engine);
	bool again;

	if (!READ_ONCE(trunk->running))
		return;
	rcu_read_lock();
	again = ibfab_trunk_rx_run();
	check_link(trunk);
	again |= ibfab_trunk_tx_run();
	say_hello(trunk);
	rcu_read_unlock();
	if (again)
		ibfab_trunk_kick();
	arm_timer(trunk);
}

static void timer_run(struct timer_list *timer)
{
	ibfab_trunk_kick();
}

/**
 * ibfab_trunk_engine_init() - Initialize the engine.
 *
 * Context: process.
 */
void ibfab_trunk_engine_init(void)
{
	struct ibfab_trunk *trunk = &ibfab_trunk;

	tasklet_setup(&trunk->engine, engine_run);
	timer_setup(&trunk->timer, timer_run, 0);
	ibfab_sender_init(&trunk->sender, IBFAB_SENDER_TRUNK, &trunk->engine);
	ibfab_inbox_init(&trunk->inbox);
	skb_queue_head_init(&trunk->frames);
	INIT_LIST_HEAD(&trunk->tx.smps);
	INIT_LIST_HEAD(&trunk->tx.data);
	INIT_LIST_HEAD(&trunk->tx.resend);
	INIT_LIST_HEAD(&trunk->tx.unacked);
	INIT_LIST_HEAD(&trunk->rx.data);
}

/**
 * ibfab_trunk_engine_start() - Start the engine.
 *
 * Context: process; the port is cabled.
 */
void ibfab_trunk_engine_start(void)
{
	struct ibfab_trunk *trunk = &ibfab_trunk;

	trunk->said = jiffies - msecs_to_jiffies(HELLO_MS);
	trunk->instance = new_instance();
	WRITE_ONCE(trunk->running, true);
	ibfab_trunk_kick();
}

/* Takes the link down and tells the other end */
static void say_goodbye(struct ibfab_trunk *trunk)
{
	local_bh_disable();
	rcu_read_lock();
	restart(trunk);
	ibfab_trunk_tx_hello(0);
	rcu_read_unlock();
	local_bh_enable();
}

/**
 * ibfab_trunk_engine_stop() - Stop the engine for good.
 *
 * Afterwards no engine waits for the trunk, and the trunk's sender cannot be found.
 *
 * Context: process; the Ethernet device is still in use.
 */
void ibfab_trunk_engine_stop(void)
{
	struct ibfab_trunk *trunk = &ibfab_trunk;

	WRITE_ONCE(trunk->running, false);
	synchronize_rcu();
	timer_delete_sync(&trunk->timer);
	tasklet_kill(&trunk->engine);
	say_goodbye(trunk);
}
