/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages of BOOTP and DHCP: how they are read, and what is changed in them.
 */
#ifndef _EIPOIB_DHCP_MSG_H
#define _EIPOIB_DHCP_MSG_H

#include <linux/build_bug.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/skbuff.h>
#include <linux/udp.h>

/* The fixed part of a message (RFC 2131 section 2) */
struct eipoib_bootp {
	u8 op;
	u8 htype;			/* of ARP */
	u8 hlen;
	u8 hops;
	__be32 xid;
	__be16 secs;
	__be16 flags;
	__be32 ciaddr;			/* the address that the client has already */
	__be32 yiaddr;			/* the one that it is given */
	__be32 siaddr;
	__be32 giaddr;			/* the relay's */
	u8 chaddr[16];
	u8 sname[64];
	u8 file[128];
} __packed;
static_assert(sizeof(struct eipoib_bootp) == 236);

#define EIPOIB_BOOTP_REQUEST	1
#define EIPOIB_BOOTP_REPLY	2

/* The flag that asks a server to answer by broadcast */
#define EIPOIB_BOOTP_BROADCAST	0x8000

/* What follows, unless the message is one of BOOTP (RFC 2131 section 3) */
struct eipoib_dhcp_options {
	__be32 cookie;
	u8 options[];
} __packed;
static_assert(sizeof(struct eipoib_dhcp_options) == 4);

/* The beginning of an option (RFC 2132 section 2) */
struct eipoib_dhcp_option {
	u8 code;
	u8 len;				/* of the data that follows */
} __packed;
static_assert(sizeof(struct eipoib_dhcp_option) == 2);

/* An option that identifies a client by its MAC address: an IAID and a DUID-LL (RFC 4361 section
 * 6.1, RFC 8415 section 11.4)
 */
struct eipoib_dhcp_client_id {
	struct eipoib_dhcp_option head;
	u8 type;
	u8 iaid[4];
	__be16 duid_type;
	__be16 htype;
	u8 mac[ETH_ALEN];
} __packed;
static_assert(sizeof(struct eipoib_dhcp_client_id) == 17);

/* Types of messages (RFC 2132 section 9.6) */
#define EIPOIB_DHCPREQUEST	3
#define EIPOIB_DHCPACK		5

/* A message in a packet. The pointers hold until the packet is changed by somebody else. */
struct eipoib_dhcp_msg {
	struct iphdr *ip;
	struct udphdr *udp;
	struct eipoib_bootp *bootp;
	u8 *options;
	u32 options_len;		/* 0 if there are none */
};

bool eipoib_dhcp_parse(struct sk_buff *skb, struct eipoib_dhcp_msg *msg);
u8 eipoib_dhcp_type(const struct eipoib_dhcp_msg *msg);
__be32 eipoib_dhcp_wanted(const struct eipoib_dhcp_msg *msg);
bool eipoib_dhcp_has_id(const struct eipoib_dhcp_msg *msg);
bool eipoib_dhcp_set_broadcast(struct eipoib_dhcp_msg *msg);
bool eipoib_dhcp_to_ib(struct sk_buff *skb, struct eipoib_dhcp_msg *msg, u32 mtu);
void eipoib_dhcp_to_eth(struct eipoib_dhcp_msg *msg, const u8 *mac);
void eipoib_dhcp_remove_id(struct eipoib_dhcp_msg *msg, const u8 *mac);

#endif /* _EIPOIB_DHCP_MSG_H */
