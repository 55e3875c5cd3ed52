// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Common parts of the messages of the generic netlink family. */
#include <net/genetlink.h>

#include "ats.h"

/**
 * ats_nl_end() - end a message, or remove it again
 * @skb: the buffer
 * @hdr: the message's header, from genlmsg_put()
 * @failed: an attribute did not fit
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE if @failed is true: the message is removed from @skb then.
 */
int ats_nl_end(struct sk_buff *skb, void *hdr, bool failed)
{
	if (!failed) {
		genlmsg_end(skb, hdr);
		return 0;
	}
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

/**
 * ats_nl_put_port() - put the device and the number of a port
 * @skb: a buffer with a message that was begun
 * @device: the name of its HCA
 * @port: its number
 *
 * Context: any.
 * Return: true if they do not fit.
 */
bool ats_nl_put_port(struct sk_buff *skb, const char *device, u32 port)
{
	return nla_put_string(skb, IB_ATS_ATTR_DEVICE, device) ||
	       nla_put_u32(skb, IB_ATS_ATTR_PORT, port);
}

/**
 * ats_nl_put_record() - put a record, and the port through which it is known
 * @skb: a buffer with a message that was begun
 * @record: the record
 *
 * Context: any.
 * Return: true if it does not fit.
 */
bool ats_nl_put_record(struct sk_buff *skb, const struct ib_ats_answer *record)
{
	return ats_nl_put_port(skb, record->device, record->port) ||
	       nla_put(skb, IB_ATS_ATTR_GID, sizeof(record->gid), &record->gid) ||
	       nla_put_u16(skb, IB_ATS_ATTR_PKEY, record->pkey) ||
	       nla_put_in6_addr(skb, IB_ATS_ATTR_ADDR, &record->addr) ||
	       (record->sid && nla_put_u64_64bit(skb, IB_ATS_ATTR_SID, record->sid,
						 IB_ATS_ATTR_PAD)) ||
	       (record->primary && nla_put_flag(skb, IB_ATS_ATTR_IS_PRIMARY));
}
