// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets that wait until it is known which MAC address an IP address has. A table has few of them,
 * since an address that somebody has answers within milliseconds, and others must not take memory.
 * A sender has a part of them, so that one who sends to addresses that nobody has does not make
 * others' packets be dropped.
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "eipoib.h"

#define WAIT_IPS	64		/* IP addresses */
#define WAIT_IPS_PER_MAC 16		/* ... that packets of one sender wait for */
#define WAIT_PACKETS	3		/* per IP address */
#define WAIT_TIME	HZ

struct wait_ip {
	struct list_head node;
	struct in6_addr ip;
	u8 mac[ETH_ALEN];		/* of the sender whose packet was the first one */
	struct sk_buff_head packets;
	unsigned long until;		/* jiffies */
};

/* Removes an IP address from the list. The lock is held. */
static void ip_unlink(struct eipoib_wait *wait, struct wait_ip *entry)
{
	list_del(&entry->node);
	wait->count--;
}

static void ip_drop(struct eipoib_wait *wait, struct wait_ip *entry)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&entry->packets)) != NULL)
		eipoib_drop(wait->eth, skb, wait->unanswered);
	kfree(entry);
}

/* Takes the oldest IP address off the list if its time is over by then */
static struct wait_ip *ip_take_due(struct eipoib_wait *wait, unsigned long then)
{
	struct wait_ip *entry;

	spin_lock_bh(&wait->lock);
	entry = list_first_entry_or_null(&wait->ips, struct wait_ip, node);
	if (entry && time_after_eq(then, entry->until))
		ip_unlink(wait, entry);
	else
		entry = NULL;
	spin_unlock_bh(&wait->lock);
	return entry;
}

static void wait_work(struct work_struct *work)
{
	struct eipoib_wait *wait = container_of(work, struct eipoib_wait, work.work);
	struct wait_ip *entry;

	while ((entry = ip_take_due(wait, jiffies)) != NULL)
		ip_drop(wait, entry);
	spin_lock_bh(&wait->lock);
	entry = list_first_entry_or_null(&wait->ips, struct wait_ip, node);
	if (entry)
		schedule_delayed_work(&wait->work, entry->until - jiffies);
	spin_unlock_bh(&wait->lock);
}

/**
 * eipoib_wait_init() - prepare a table
 * @wait: the table
 * @eth: its netdevice
 * @unanswered: counts the packets that have waited for too long
 * @go_on: called with each packet when its IP address is known, from eipoib_wait_end()
 *
 * Context: any.
 */
void eipoib_wait_init(struct eipoib_wait *wait, struct eipoib_dev *eth, enum eipoib_stat unanswered,
		      void (*go_on)(struct eipoib_dev *eth, struct sk_buff *skb))
{
	spin_lock_init(&wait->lock);
	INIT_LIST_HEAD(&wait->ips);
	wait->eth = eth;
	wait->unanswered = unanswered;
	wait->go_on = go_on;
	INIT_DELAYED_WORK(&wait->work, wait_work);
}

/**
 * eipoib_wait_destroy() - drop all packets
 * @wait: the table, to which nobody adds packets any more
 *
 * Context: may sleep.
 */
void eipoib_wait_destroy(struct eipoib_wait *wait)
{
	struct wait_ip *entry;

	while ((entry = ip_take_due(wait, jiffies + WAIT_TIME)) != NULL)
		ip_drop(wait, entry);
	cancel_delayed_work_sync(&wait->work);
}

static struct wait_ip *ip_find(struct eipoib_wait *wait, const struct in6_addr *ip)
{
	struct wait_ip *entry;

	list_for_each_entry(entry, &wait->ips, node)
		if (ipv6_addr_equal(&entry->ip, ip))
			return entry;
	return NULL;
}

/* Returns how many IP addresses a packet of this sender was the first to wait for. The lock is
 * held.
 */
static u32 ips_of_mac(const struct eipoib_wait *wait, const u8 *mac)
{
	const struct wait_ip *entry;
	u32 count = 0;

	list_for_each_entry(entry, &wait->ips, node)
		count += ether_addr_equal(entry->mac, mac);
	return count;
}

static struct wait_ip *ip_add(struct eipoib_wait *wait, const struct in6_addr *ip, const u8 *mac)
{
	struct wait_ip *entry;

	if (wait->count >= WAIT_IPS || ips_of_mac(wait, mac) >= WAIT_IPS_PER_MAC)
		return NULL;
	entry = kmalloc(sizeof(*entry), GFP_ATOMIC);
	if (!entry)
		return NULL;
	entry->ip = *ip;
	ether_addr_copy(entry->mac, mac);
	entry->until = jiffies + WAIT_TIME;
	__skb_queue_head_init(&entry->packets);
	list_add_tail(&entry->node, &wait->ips);
	if (!wait->count++)
		schedule_delayed_work(&wait->work, WAIT_TIME);
	return entry;
}

/**
 * eipoib_wait_add() - have a packet wait
 * @wait: the table
 * @ip: the IP address that is to become known
 * @mac: MAC address of the packet's sender
 * @skb: the packet
 *
 * Context: any but hard interrupt.
 * Return: whether it waits, and whether another one has been waiting for the same address.
 */
enum eipoib_waiting eipoib_wait_add(struct eipoib_wait *wait, const struct in6_addr *ip,
				    const u8 *mac, struct sk_buff *skb)
{
	enum eipoib_waiting result = EIPOIB_WAIT_MORE;
	struct wait_ip *entry;

	spin_lock_bh(&wait->lock);
	entry = ip_find(wait, ip);
	if (!entry) {
		entry = ip_add(wait, ip, mac);
		result = EIPOIB_WAIT_FIRST;
	}
	if (entry && skb_queue_len(&entry->packets) < WAIT_PACKETS)
		__skb_queue_tail(&entry->packets, skb);
	else
		result = EIPOIB_WAIT_REFUSED;
	spin_unlock_bh(&wait->lock);
	return result;
}

/**
 * eipoib_wait_end() - have the packets go on that wait for an IP address
 * @wait: the table
 * @ip: the IP address, which is known now
 *
 * Context: softirq or BHs disabled.
 */
void eipoib_wait_end(struct eipoib_wait *wait, const struct in6_addr *ip)
{
	struct wait_ip *entry;
	struct sk_buff *skb;

	if (likely(list_empty_careful(&wait->ips)))
		return;
	spin_lock_bh(&wait->lock);
	entry = ip_find(wait, ip);
	if (entry)
		ip_unlink(wait, entry);
	spin_unlock_bh(&wait->lock);
	if (!entry)
		return;
	while ((skb = __skb_dequeue(&entry->packets)) != NULL)
		wait->go_on(wait->eth, skb);
	kfree(entry);
}
