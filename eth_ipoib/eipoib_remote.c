// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The interfaces of an IPoIB link, and the MAC addresses that they have on the Ethernet side.
 *
 * A MAC address is computed from the QPN and the GID, and from nothing else: so an interface has
 * the same one at all hosts of the link, and a virtual machine that moves to another host finds
 * its neighbours there. It is locally administered, and the last four bits of its first octet are
 * 2, so 44 bits are left. If two interfaces have the same one, which happens in one of 300,000
 * links of 10,000 interfaces, the second one gets another at this host. So does one that would have
 * the MAC address of a host of the Ethernet side, whose packets it would get: the hash has no
 * secret, and the MAC addresses of virtual machines often begin with 52, so somebody may search for
 * a link-layer address that leads to one of them, and claim to have it. What an interface gets
 * instead is random, so that nobody can have that be in use as well.
 *
 * Flags of the link-layer address say how an interface may be reached. They may change, and are
 * not a part of what identifies it.
 */
#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/siphash.h>

#include "eipoib.h"

struct remote {
	struct rhash_head lladdr_node;
	struct rhash_head mac_node;
	struct eipoib_lladdr lladdr;	/* the flags may change */
	u8 mac[ETH_ALEN];
	u32 number;
	struct eipoib_lru lru;		/* in the queue of all */
	struct rcu_head rcu;
};

/* The first octet, the flags, is not compared */
#define LLADDR_KEY_LEN	(sizeof(struct eipoib_lladdr) - offsetof(struct eipoib_lladdr, qpn))

static const struct rhashtable_params lladdr_params = {
	.head_offset = offsetof(struct remote, lladdr_node),
	.key_offset = offsetof(struct remote, lladdr.qpn),
	.key_len = LLADDR_KEY_LEN,
	/* Not jhash2(), which would take over words at these unaligned addresses */
	.hashfn = jhash,
	.automatic_shrinking = true,
};

static const struct rhashtable_params mac_params = {
	.head_offset = offsetof(struct remote, mac_node),
	.key_offset = offsetof(struct remote, mac),
	.key_len = ETH_ALEN,
	.automatic_shrinking = true,
};

/* All hosts have to compute the same MAC addresses, so the key is no secret */
static const siphash_key_t mac_key = { { 0x65697069ull, 0x6f69625full } };

static void mac_make(u64 bits, u8 *mac)
{
	mac[0] = (bits >> 40 & 0xf0) | 0x02;
	mac[1] = bits >> 32;
	mac[2] = bits >> 24;
	mac[3] = bits >> 16;
	mac[4] = bits >> 8;
	mac[5] = bits;
}

static void mac_compute(const struct eipoib_lladdr *lladdr, u8 *mac)
{
	/* The octet at the end is always zero */
	struct {
		struct eipoib_lladdr lladdr;
		u8 zero;
	} __packed input = { .lladdr = *lladdr };

	input.lladdr.flags = 0;
	mac_make(siphash(&input, sizeof(input), &mac_key), mac);
}

/**
 * eipoib_remotes_init() - prepare the tables
 * @remotes: the tables
 * @eth: the netdevice whose events are counted
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int eipoib_remotes_init(struct eipoib_remotes *remotes, struct eipoib_dev *eth)
{
	int err;

	spin_lock_init(&remotes->lock);
	INIT_LIST_HEAD(&remotes->queue);
	xa_init_flags(&remotes->by_number, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_BH);
	remotes->eth = eth;
	err = rhashtable_init(&remotes->by_lladdr, &lladdr_params);
	if (err)
		return err;
	err = rhashtable_init(&remotes->by_mac, &mac_params);
	if (err)
		rhashtable_destroy(&remotes->by_lladdr);
	return err;
}

static void remote_free(void *remote, void *unused)
{
	kfree(remote);
}

/**
 * eipoib_remotes_destroy() - undo eipoib_remotes_init()
 * @remotes: the tables, which nobody reads any more
 *
 * Context: may sleep.
 */
void eipoib_remotes_destroy(struct eipoib_remotes *remotes)
{
	xa_destroy(&remotes->by_number);
	rhashtable_destroy(&remotes->by_mac);
	rhashtable_free_and_destroy(&remotes->by_lladdr, remote_free, NULL);
}

/* Returns whether a MAC address is that of this host, or of one of the Ethernet side */
static bool mac_is_local(struct eipoib_dev *eth, const u8 *mac)
{
	return ether_addr_equal(mac, eth->netdev->dev_addr) || eipoib_mac_is_own(eth, mac) ||
	       eipoib_ip_has_mac(&eth->local, mac) || eipoib_slave_of_mac(eth, mac) != eth;
}

/* Gives an interface a MAC address that nobody else has. The lock is held, in an RCU read side. */
static void mac_choose(struct eipoib_remotes *remotes, struct remote *remote)
{
	mac_compute(&remote->lladdr, remote->mac);
	while (rhashtable_lookup_fast(&remotes->by_mac, remote->mac, mac_params) ||
	       mac_is_local(remotes->eth, remote->mac))
		mac_make(get_random_u64(), remote->mac);
}

/* Removes an interface. The lock is held. */
static void remote_remove(struct eipoib_remotes *remotes, struct remote *remote)
{
	rhashtable_remove_fast(&remotes->by_lladdr, &remote->lladdr_node, lladdr_params);
	rhashtable_remove_fast(&remotes->by_mac, &remote->mac_node, mac_params);
	xa_erase(&remotes->by_number, remote->number);
	list_del(&remote->lru.node);
	kfree_rcu(remote, rcu);
}

/* Makes room for another interface. The lock is held. */
static void make_room(struct eipoib_remotes *remotes)
{
	while (atomic_read(&remotes->by_lladdr.nelems) >= EIPOIB_REMOTES_MAX) {
		eipoib_count(remotes->eth, EIPOIB_STAT_REMOTE_EVICTED);
		remote_remove(remotes, container_of(eipoib_lru_victim(&remotes->queue),
						    struct remote, lru));
	}
}

/* Enters an interface that is not known yet. The lock is held. */
static struct remote *remote_enter(struct eipoib_remotes *remotes,
				   const struct eipoib_lladdr *lladdr)
{
	struct remote *remote;

	make_room(remotes);
	remote = kmalloc(sizeof(*remote), GFP_ATOMIC);
	if (!remote)
		return NULL;
	remote->lladdr = *lladdr;
	remote->lladdr.flags = 0;
	remote->lru.used = jiffies;
	mac_choose(remotes, remote);
	if (xa_alloc_cyclic(&remotes->by_number, &remote->number, remote, EIPOIB_NUMBERS,
			    &remotes->next_number, GFP_ATOMIC) < 0)
		goto err_remote;
	if (rhashtable_insert_fast(&remotes->by_mac, &remote->mac_node, mac_params))
		goto err_number;
	if (rhashtable_insert_fast(&remotes->by_lladdr, &remote->lladdr_node, lladdr_params))
		goto err_mac;
	eipoib_lru_add(&remotes->queue, &remote->lru);
	return remote;

err_mac:
	rhashtable_remove_fast(&remotes->by_mac, &remote->mac_node, mac_params);
err_number:
	xa_erase(&remotes->by_number, remote->number);
err_remote:
	/* It may have been found already */
	kfree_rcu(remote, rcu);
	return NULL;
}

static struct remote *remote_find(struct eipoib_remotes *remotes,
				  const struct eipoib_lladdr *lladdr)
{
	struct remote *remote = rhashtable_lookup(&remotes->by_lladdr, lladdr->qpn, lladdr_params);

	if (remote) {
		eipoib_lru_use(&remote->lru);
		return remote;
	}
	spin_lock_bh(&remotes->lock);
	remote = rhashtable_lookup(&remotes->by_lladdr, lladdr->qpn, lladdr_params);
	if (!remote)
		remote = remote_enter(remotes, lladdr);
	spin_unlock_bh(&remotes->lock);
	return remote;
}

/**
 * eipoib_remote_mac() - get the MAC address of an interface of the link
 * @remotes: the tables; the interface is entered if it is not known yet
 * @lladdr: its link-layer address. Its flags are not noted, since drivers do not tell those of a
 *	packet's sender
 * @mac: filled in, even if it cannot be entered
 *
 * Context: any but hard interrupt.
 * Return: false if the MAC address leads to no interface, as there is no memory.
 */
bool eipoib_remote_mac(struct eipoib_remotes *remotes, const struct eipoib_lladdr *lladdr, u8 *mac)
{
	struct remote *remote;

	rcu_read_lock();
	remote = remote_find(remotes, lladdr);
	if (remote)
		ether_addr_copy(mac, remote->mac);
	else
		mac_compute(lladdr, mac);
	rcu_read_unlock();
	return remote;
}

/**
 * eipoib_remote_mac_of() - compute the MAC address of an interface
 * @lladdr: its link-layer address
 * @mac: filled in
 *
 * Context: any.
 */
void eipoib_remote_mac_of(const struct eipoib_lladdr *lladdr, u8 *mac)
{
	mac_compute(lladdr, mac);
}

/**
 * eipoib_remote_set_flags() - note the flags that an interface has in ARP or ND
 * @remotes: the tables
 * @lladdr: its link-layer address
 *
 * Context: any but hard interrupt.
 */
void eipoib_remote_set_flags(struct eipoib_remotes *remotes, const struct eipoib_lladdr *lladdr)
{
	struct remote *remote;

	rcu_read_lock();
	remote = rhashtable_lookup(&remotes->by_lladdr, lladdr->qpn, lladdr_params);
	if (remote)
		WRITE_ONCE(remote->lladdr.flags, lladdr->flags);
	rcu_read_unlock();
}

/**
 * eipoib_remote_is() - tell whether a MAC address is that of an interface of the link
 * @remotes: the tables
 * @mac: the MAC address
 *
 * Context: any but hard interrupt.
 * Return: true if it is.
 */
bool eipoib_remote_is(struct eipoib_remotes *remotes, const u8 *mac)
{
	bool is;

	rcu_read_lock();
	is = rhashtable_lookup(&remotes->by_mac, mac, mac_params);
	rcu_read_unlock();
	return is;
}

/**
 * eipoib_remote_lladdr() - get the link-layer address of the interface with a MAC address
 * @remotes: the tables
 * @mac: the MAC address
 * @lladdr: filled in
 *
 * Context: any but hard interrupt.
 * Return: false if there is none.
 */
bool eipoib_remote_lladdr(struct eipoib_remotes *remotes, const u8 *mac,
			  struct eipoib_lladdr *lladdr)
{
	struct remote *remote;

	rcu_read_lock();
	remote = rhashtable_lookup(&remotes->by_mac, mac, mac_params);
	if (remote) {
		*lladdr = remote->lladdr;
		eipoib_lru_use(&remote->lru);
	}
	rcu_read_unlock();
	return remote;
}

/**
 * eipoib_remotes_expire() - remove the interfaces that have not been used for some time
 * @remotes: the tables
 * @age: that time, in jiffies
 *
 * Context: process.
 */
void eipoib_remotes_expire(struct eipoib_remotes *remotes, unsigned long age)
{
	struct remote *remote, *next;

	spin_lock_bh(&remotes->lock);
	list_for_each_entry_safe(remote, next, &remotes->queue, lru.node)
		if (eipoib_lru_age(&remote->lru) >= age)
			remote_remove(remotes, remote);
	spin_unlock_bh(&remotes->lock);
}

static void info_of(const struct remote *remote, struct eipoib_remote_info *info)
{
	info->number = remote->number;
	info->lladdr = remote->lladdr;
	ether_addr_copy(info->mac, remote->mac);
	info->age = eipoib_lru_age(&remote->lru);
}

/**
 * eipoib_remotes_count() - get the number of interfaces
 * @remotes: the tables
 *
 * Context: any.
 * Return: that number.
 */
u32 eipoib_remotes_count(const struct eipoib_remotes *remotes)
{
	return atomic_read(&remotes->by_lladdr.nelems);
}

/**
 * eipoib_remotes_walk() - call a function for each interface, in the order of their numbers
 * @remotes: the tables
 * @first: the first number
 * @visit: the function; must not sleep. Returns whether to go on.
 * @context: passed to @visit
 *
 * As eipoib_ip_walk(), it may be interrupted and go on later.
 *
 * Context: any but hard interrupt.
 */
void eipoib_remotes_walk(struct eipoib_remotes *remotes, unsigned long first,
			 bool (*visit)(void *context, const struct eipoib_remote_info *info),
			 void *context)
{
	struct eipoib_remote_info info;
	const struct remote *remote;
	unsigned long number;

	rcu_read_lock();
	xa_for_each_start(&remotes->by_number, number, remote, first) {
		info_of(remote, &info);
		if (!visit(context, &info))
			break;
	}
	rcu_read_unlock();
}
