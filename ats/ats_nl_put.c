// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What messages of the generic netlink family have in common. */
#include <net/genetlink.h>

#include "ats.h"

/**
 * ats_nl_end() - the end of a message
 * @skb: where it is
 * @hdr: its header, from genlmsg_put()
 * @failed: something did not fit
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE if it failed: then the message is taken back.
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
 * ats_nl_put_port() - put the name of a port
 * @skb: into a message that was begun there
 * @device: its HCA's
 * @port: its number
 *
 * Context: any.
 * Return: whether it does not fit.
 */
bool ats_nl_put_port(struct sk_buff *skb, const char *device, u32 port)
{
	return nla_put_string(skb, IB_ATS_ATTR_DEVICE, device) ||
	       nla_put_u32(skb, IB_ATS_ATTR_PORT, port);
}

/**
 * ats_nl_put_record() - put a record, and the port that it is known by
 * @skb: into a message that was begun there
 * @record: the record
 *
 * Context: any.
 * Return: whether it does not fit.
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
