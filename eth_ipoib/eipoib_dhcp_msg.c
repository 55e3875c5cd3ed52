// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages of BOOTP and DHCP (RFC 2131, RFC 2132), and their form on IPoIB (RFC 4390): without a
 * hardware address, since those of IPoIB are longer than the field, but with a client identifier.
 *
 * Each change of a message changes its checksum by as much. So a message that was damaged before
 * is still dropped by its receiver.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <net/checksum.h>
#include <net/ip.h>

#include "eipoib_dhcp_msg.h"

#define DHCP_COOKIE	0x63825363

/* Options (RFC 2132) */
#define OPTION_PAD		0	/* one octet, without a length */
#define OPTION_ADDRESS		50	/* the address that the client requests */
#define OPTION_OVERLOAD		52	/* the fields that have options, too */
#define OPTION_TYPE		53
#define OPTION_CLIENT_ID	61
#define OPTION_END		255	/* like PAD */

/* The values of OPTION_OVERLOAD are sums of these */
#define OVERLOAD_FILE	1
#define OVERLOAD_SNAME	2

#define CLIENT_ID_TYPE	255		/* IAID and DUID (RFC 4361 section 6.1) */
#define DUID_LL		3		/* RFC 8415 section 11.4 */

/* Sets the pointers to what is_whole() has checked */
static void msg_find(const struct sk_buff *skb, struct eipoib_dhcp_msg *msg)
{
	struct eipoib_dhcp_options *behind;
	u32 len;

	msg->ip = (struct iphdr *)skb->data;
	msg->udp = (struct udphdr *)(skb->data + msg->ip->ihl * 4);
	msg->bootp = (struct eipoib_bootp *)(msg->udp + 1);
	behind = (struct eipoib_dhcp_options *)(msg->bootp + 1);
	msg->options = behind->options;
	msg->options_len = 0;
	len = ntohs(msg->udp->len) - sizeof(*msg->udp) - sizeof(*msg->bootp);
	if (len > sizeof(*behind) && behind->cookie == htonl(DHCP_COOKIE))
		msg->options_len = len - sizeof(*behind);
}

/* Returns whether a linear packet has a fixed part, and lengths that fit each other */
static bool is_whole(const struct sk_buff *skb)
{
	const struct iphdr *ip = (struct iphdr *)skb->data;
	const struct udphdr *udp;
	u32 head = ip->ihl * 4;

	if (ip->ihl < 5 || skb->len < head + sizeof(*udp) + sizeof(struct eipoib_bootp))
		return false;
	udp = (struct udphdr *)(skb->data + head);
	return ntohs(ip->tot_len) <= skb->len && ntohs(ip->tot_len) == head + ntohs(udp->len) &&
	       ntohs(udp->len) >= sizeof(*udp) + sizeof(struct eipoib_bootp);
}

/* Has the checksum in the packet, so that there is only one kind to change */
static bool checksum_complete(struct sk_buff *skb)
{
	u32 udp = ((struct iphdr *)skb->data)->ihl * 4;

	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
	if (skb->ip_summed != CHECKSUM_PARTIAL)
		return true;
	return skb_checksum_start_offset(skb) == udp &&
	       skb->csum_offset == offsetof(struct udphdr, check) && !skb_checksum_help(skb);
}

/**
 * eipoib_dhcp_parse() - find the message in a packet
 * @skb: a UDP packet, whose data begins with its IPv4 header, which is linear. It must not be
 *	shared. It is made one that may be written to: linear, and not a clone.
 * @msg: filled in
 *
 * Context: any.
 * Return: false if it is malformed or in fragments, or there is no memory.
 */
bool eipoib_dhcp_parse(struct sk_buff *skb, struct eipoib_dhcp_msg *msg)
{
	if (skb_is_gso(skb) || ip_is_fragment((struct iphdr *)skb->data))
		return false;
	if (skb_linearize_cow(skb) || !is_whole(skb) || !checksum_complete(skb))
		return false;
	msg_find(skb, msg);
	return true;
}

/* Returns where an option with this code begins, or -1 if there is none before the end */
static int option_at(const u8 *options, u32 len, u8 code)
{
	u32 at = 0;

	while (at < len) {
		if (options[at] == code)
			return at;
		if (options[at] == OPTION_END)
			break;
		if (options[at] == OPTION_PAD)
			at++;
		else if (len - at >= sizeof(struct eipoib_dhcp_option))
			at += sizeof(struct eipoib_dhcp_option) + options[at + 1];
		else
			break;
	}
	return -1;
}

/* Returns an option that has data, or NULL if there is none, or not all of it */
static struct eipoib_dhcp_option *option_in(u8 *options, u32 len, u8 code)
{
	int at = option_at(options, len, code);
	struct eipoib_dhcp_option *option;

	if (at < 0 || len - at < sizeof(*option))
		return NULL;
	option = (struct eipoib_dhcp_option *)(options + at);
	return len - at - sizeof(*option) >= option->len ? option : NULL;
}

/* Returns which other fields have options */
static u8 overload(const struct eipoib_dhcp_msg *msg)
{
	const struct eipoib_dhcp_option *option;

	option = option_in(msg->options, msg->options_len, OPTION_OVERLOAD);
	return option && option->len == 1 ? *(const u8 *)(option + 1) : 0;
}

/* Returns an option, wherever it is. The fields are read in this order (RFC 3396 section 5). */
static struct eipoib_dhcp_option *find(const struct eipoib_dhcp_msg *msg, u8 code)
{
	struct eipoib_bootp *bootp = msg->bootp;
	struct eipoib_dhcp_option *option;
	u8 others = overload(msg);

	option = option_in(msg->options, msg->options_len, code);
	if (!option && others & OVERLOAD_FILE)
		option = option_in(bootp->file, sizeof(bootp->file), code);
	if (!option && others & OVERLOAD_SNAME)
		option = option_in(bootp->sname, sizeof(bootp->sname), code);
	return option;
}

/**
 * eipoib_dhcp_type() - get the type of a message
 * @msg: the message
 *
 * Context: any.
 * Return: the type, or 0 if it has none, as in BOOTP.
 */
u8 eipoib_dhcp_type(const struct eipoib_dhcp_msg *msg)
{
	const struct eipoib_dhcp_option *option = find(msg, OPTION_TYPE);

	return option && option->len == 1 ? *(const u8 *)(option + 1) : 0;
}

/**
 * eipoib_dhcp_wanted() - get the address that a client requests
 * @msg: its message
 *
 * Context: any.
 * Return: the address, or 0 if it requests none with this message. What it would like to get, in a
 *	DISCOVER, is not requested.
 */
__be32 eipoib_dhcp_wanted(const struct eipoib_dhcp_msg *msg)
{
	const struct eipoib_dhcp_option *option;
	__be32 wanted = msg->bootp->ciaddr;

	if (eipoib_dhcp_type(msg) != EIPOIB_DHCPREQUEST)
		return 0;
	option = find(msg, OPTION_ADDRESS);
	if (option && option->len == sizeof(wanted))
		memcpy(&wanted, option + 1, sizeof(wanted));
	return wanted;
}

/**
 * eipoib_dhcp_has_id() - tell whether a message has a client identifier
 * @msg: the message
 *
 * Context: any.
 * Return: true if it has.
 */
bool eipoib_dhcp_has_id(const struct eipoib_dhcp_msg *msg)
{
	return find(msg, OPTION_CLIENT_ID);
}

/* Returns the sum over the message and what the pseudo-header has of it, its length */
static __wsum msg_sum(const struct eipoib_dhcp_msg *msg)
{
	return csum_partial(msg->udp, ntohs(msg->udp->len), (__force __wsum)msg->udp->len);
}

/* Has the checksum follow a change of the message. 0 says that there is none. */
static void checksum_follow(const struct eipoib_dhcp_msg *msg, __wsum before)
{
	if (!msg->udp->check)
		return;
	csum_replace_by_diff(&msg->udp->check, csum_sub(msg_sum(msg), before));
	if (!msg->udp->check)
		msg->udp->check = CSUM_MANGLED_0;
}

/* Only who has no address yet needs the answer by broadcast (RFC 4390 section 2.2) */
static void flags_set(struct eipoib_bootp *bootp)
{
	if (!bootp->ciaddr)
		bootp->flags |= htons(EIPOIB_BOOTP_BROADCAST);
}

/**
 * eipoib_dhcp_set_broadcast() - have a server answer by broadcast
 * @msg: the client's message
 *
 * Context: any.
 * Return: false if it does so anyway, or need not, since the client has an address.
 */
bool eipoib_dhcp_set_broadcast(struct eipoib_dhcp_msg *msg)
{
	__wsum before = msg_sum(msg);
	__be16 was = msg->bootp->flags;

	flags_set(msg->bootp);
	checksum_follow(msg, before);
	return msg->bootp->flags != was;
}

static void id_make(struct eipoib_dhcp_client_id *id, const u8 *mac)
{
	id->head.code = OPTION_CLIENT_ID;
	id->head.len = sizeof(*id) - sizeof(id->head);
	id->type = CLIENT_ID_TYPE;
	memcpy(id->iaid, mac + ETH_ALEN - sizeof(id->iaid), sizeof(id->iaid));
	id->duid_type = htons(DUID_LL);
	id->htype = htons(ARPHRD_ETHER);
	memcpy(id->mac, mac, ETH_ALEN);
}

/* Appends octets to the message. What the packet has behind it, as padding, is removed. */
static bool msg_grow(struct sk_buff *skb, struct eipoib_dhcp_msg *msg, u32 octets)
{
	u32 udp_len = ntohs(msg->udp->len) + octets;
	__be16 was = msg->ip->tot_len;
	int missing;

	if (pskb_trim_rcsum(skb, ntohs(was)))
		return false;
	missing = octets - skb_tailroom(skb);
	if (missing > 0 && pskb_expand_head(skb, 0, missing, GFP_ATOMIC))
		return false;
	skb_put_zero(skb, octets);
	msg_find(skb, msg);
	msg->udp->len = htons(udp_len);
	msg->ip->tot_len = htons(ntohs(was) + octets);
	csum_replace2(&msg->ip->check, was, msg->ip->tot_len);
	msg->options_len += octets;
	return true;
}

/* Puts an identifier at the end of the options, where padding may follow */
static bool id_append(struct sk_buff *skb, struct eipoib_dhcp_msg *msg, u32 end, u32 mtu)
{
	u32 wanted = end + sizeof(struct eipoib_dhcp_client_id) + 1;
	u32 more = wanted > msg->options_len ? wanted - msg->options_len : 0;
	struct eipoib_dhcp_client_id id;

	if (ntohs(msg->ip->tot_len) + more > mtu || !msg_grow(skb, msg, more))
		return false;
	id_make(&id, msg->bootp->chaddr);
	memcpy(msg->options + end, &id, sizeof(id));
	msg->options[end + sizeof(id)] = OPTION_END;
	return true;
}

/**
 * eipoib_dhcp_to_ib() - bring a client's message into the form of RFC 4390
 * @skb: the packet
 * @msg: the message, that of a client with a MAC address
 * @mtu: as long as the packet may become
 *
 * It gets a client identifier if it has none, and asks for an answer by broadcast as in
 * eipoib_dhcp_set_broadcast().
 *
 * Context: any.
 * Return: false if there is no room for the identifier, and nothing has changed.
 */
bool eipoib_dhcp_to_ib(struct sk_buff *skb, struct eipoib_dhcp_msg *msg, u32 mtu)
{
	int end = option_at(msg->options, msg->options_len, OPTION_END);
	__wsum before = msg_sum(msg);

	if (end < 0 || overload(msg))
		return false;
	if (!eipoib_dhcp_has_id(msg) && !id_append(skb, msg, end, mtu))
		return false;
	msg->bootp->htype = ARPHRD_INFINIBAND;
	msg->bootp->hlen = 0;
	memset(msg->bootp->chaddr, 0, sizeof(msg->bootp->chaddr));
	flags_set(msg->bootp);
	checksum_follow(msg, before);
	return true;
}

/**
 * eipoib_dhcp_to_eth() - undo eipoib_dhcp_to_ib() in the answer
 * @msg: the answer
 * @mac: MAC address of the client
 *
 * Context: any.
 */
void eipoib_dhcp_to_eth(struct eipoib_dhcp_msg *msg, const u8 *mac)
{
	__wsum before = msg_sum(msg);

	msg->bootp->htype = ARPHRD_ETHER;
	msg->bootp->hlen = ETH_ALEN;
	memset(msg->bootp->chaddr, 0, sizeof(msg->bootp->chaddr));
	ether_addr_copy(msg->bootp->chaddr, mac);
	checksum_follow(msg, before);
}

/**
 * eipoib_dhcp_remove_id() - remove the client identifier that eipoib_dhcp_to_ib() has added
 * @msg: an answer, which has it again if the server follows RFC 6842
 * @mac: MAC address of the client
 *
 * A client drops an answer to another identifier than its own. Nothing moves: padding takes its
 * place.
 *
 * Context: any.
 */
void eipoib_dhcp_remove_id(struct eipoib_dhcp_msg *msg, const u8 *mac)
{
	struct eipoib_dhcp_option *option = find(msg, OPTION_CLIENT_ID);
	struct eipoib_dhcp_client_id id;
	__wsum before = msg_sum(msg);

	id_make(&id, mac);
	if (!option || option->len != id.head.len || memcmp(option, &id, sizeof(id)))
		return;
	memset(option, OPTION_PAD, sizeof(id));
	checksum_follow(msg, before);
}
