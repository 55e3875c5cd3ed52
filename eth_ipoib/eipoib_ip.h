/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tables of the MAC addresses that IP addresses have.
 */
#ifndef _EIPOIB_IP_H
#define _EIPOIB_IP_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <net/ipv6.h>

#include "eipoib_genl.h"
#include "eipoib_lru.h"
#include "eipoib_stat.h"

/* An entry, for those who list them */
struct eipoib_ip_info {
	unsigned long number;		/* that of no other entry */
	struct in6_addr ip;
	u8 mac[ETH_ALEN];
	bool is_static;
	unsigned long age;		/* jiffies since its last packet */
};

struct eipoib_ip_table {
	struct rhashtable by_ip;	/* struct ip_entry */
	struct rhashtable by_mac;	/* struct ip_owner */
	struct xarray by_number;	/* struct ip_entry, in the order in which they were made */
	spinlock_t lock;		/* guards changes and what follows */
	u32 next_number;
	struct list_head learned;	/* struct ip_entry, those that are not static */
	u32 max;			/* limit of all entries, static ones included */
	u32 max_per_mac;		/* limit of those learned from one MAC address */
	struct eipoib_dev *eth;
	enum eipoib_stat evicted;	/* counter of entries that had to make room for others */
	/* Called at each change, with the lock held. May be NULL. Does not change. */
	void (*tell)(struct eipoib_dev *eth, const struct eipoib_ip_info *info,
		     enum eipoib_event event);
};

/* The numbers of entries of all tables. With some thousand changes a second, it takes days until
 * one is used again.
 */
#define EIPOIB_NUMBERS	XA_LIMIT(0, EIPOIB_NUMBER_MAX)
#define EIPOIB_NUMBER_MAX	(BIT(30) - 1)

/* What eipoib_ip_set() has changed */
enum eipoib_ip_change {
	EIPOIB_IP_SAME,			/* nothing */
	EIPOIB_IP_NEW,			/* there is an entry now */
	EIPOIB_IP_MOVED,		/* it has another MAC address */
	EIPOIB_IP_CONFLICT,		/* nothing: a static entry has another MAC address */
	EIPOIB_IP_REFUSED,		/* all entries are static, or there is no memory */
};

/* Returns an IPv4 address as the keys have it */
static inline struct in6_addr eipoib_ip4(__be32 ip)
{
	struct in6_addr ip6;

	ipv6_addr_set_v4mapped(ip, &ip6);
	return ip6;
}

/* Returns whether an address is an IPv4 one in the form of IPv6. No packet on a link has such (RFC
 * 4291 section 2.5.5.2), and the tables would take it for the IPv4 address.
 */
static inline bool eipoib_ip6_is_mapped(const struct ipv6hdr *ip6)
{
	return ipv6_addr_v4mapped(&ip6->saddr) || ipv6_addr_v4mapped(&ip6->daddr);
}

/* Gets the IP addresses of a packet whose IP header is linear */
static inline void eipoib_ips_of(const struct sk_buff *skb, struct in6_addr *from,
				 struct in6_addr *to)
{
	if (skb->protocol == htons(ETH_P_IP)) {
		*from = eipoib_ip4(ip_hdr(skb)->saddr);
		*to = eipoib_ip4(ip_hdr(skb)->daddr);
	} else {
		*from = ipv6_hdr(skb)->saddr;
		*to = ipv6_hdr(skb)->daddr;
	}
}

int eipoib_ip_table_init(struct eipoib_ip_table *table, struct eipoib_dev *eth,
			 enum eipoib_stat evicted);
void eipoib_ip_table_destroy(struct eipoib_ip_table *table);
void eipoib_ip_set_limits(struct eipoib_ip_table *table, u32 max, u32 max_per_mac);
enum eipoib_ip_change eipoib_ip_set(struct eipoib_ip_table *table, const struct in6_addr *ip,
				    const u8 *mac);
enum eipoib_ip_change eipoib_ip_set_static(struct eipoib_ip_table *table,
					   const struct in6_addr *ip, const u8 *mac);
bool eipoib_ip_get(struct eipoib_ip_table *table, const struct in6_addr *ip, u8 *mac);
bool eipoib_ip_get_to_use(struct eipoib_ip_table *table, const struct in6_addr *ip, u8 *mac);
bool eipoib_ip_is_static(struct eipoib_ip_table *table, const struct in6_addr *ip);
bool eipoib_ip_is(struct eipoib_ip_table *table, const struct in6_addr *ip, const u8 *mac);
bool eipoib_ip_has_mac(struct eipoib_ip_table *table, const u8 *mac);
bool eipoib_ip_of_mac(struct eipoib_ip_table *table, const u8 *mac, const struct in6_addr *like,
		      struct in6_addr *ip);
void eipoib_ip_to_ask_from(struct eipoib_ip_table *table, const struct in6_addr *from,
			   const u8 *mac, const struct in6_addr *ip, struct in6_addr *asker);
bool eipoib_ip_use(struct eipoib_ip_table *table, const struct in6_addr *ip, const u8 *mac);
bool eipoib_ip_forget(struct eipoib_ip_table *table, const struct in6_addr *ip);
bool eipoib_ip_delete(struct eipoib_ip_table *table, const struct in6_addr *ip, const u8 *mac);
u32 eipoib_ip_count(const struct eipoib_ip_table *table);
void eipoib_ip_expire(struct eipoib_ip_table *table, unsigned long age);
unsigned long eipoib_ip_recent(const struct eipoib_ip_table *table, u32 count);
void eipoib_ip_walk(struct eipoib_ip_table *table, unsigned long first,
		    bool (*visit)(void *context, const struct eipoib_ip_info *info),
		    void *context);
void eipoib_ip_walk_mac(struct eipoib_ip_table *table, const u8 *mac,
			bool (*visit)(void *context, const struct eipoib_ip_info *info),
			void *context);

#endif /* _EIPOIB_IP_H */
