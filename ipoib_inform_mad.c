// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Builds and parses the SA's MADs about multicast groups: subscriptions to
 * Reports, the Reports, and the list of existing groups.
 */
#include <linux/mm.h>

#include "ipoib.h"

/* InformInfo (IBA 13.4.8.3): subscribes or unsubscribes */
struct inform_info {
	u8 gid[16];
	__be16 lid_begin;
	__be16 lid_end;
	__be16 reserved;
	u8 is_generic;
	u8 subscribe;
	__be16 type;
	__be16 trap;
	__be32 qpn_resp_time;
	__be32 producer;
} __packed;
static_assert(sizeof(struct inform_info) == 36);

#define INFORM_QPN		1	/* QP that receives the Reports */
#define INFORM_RESP_TIME	18	/* 4.096 us * 2^18: a second */
#define INFORM_ALL_LIDS		cpu_to_be16(0xffff)
#define INFORM_ALL_TYPES	cpu_to_be16(0xffff)
#define INFORM_CLASS_MANAGER	cpu_to_be32(4)

/* The beginning of a Notice's data details in traps 64 to 67 (IBA 13.4.8.2) */
struct inform_notice_gid {
	u8 reserved[6];
	union ib_gid gid;
} __packed;
static_assert(sizeof(struct inform_notice_gid) == 22);
static_assert(sizeof(struct ib_mad_notice_attr) <= IB_MGMT_SA_DATA);

#define INFORM_NOTICE_GENERIC	0x80	/* of ib_mad_notice_attr.generic_type */

/* MCMemberRecord (IBA 15.2.5.17) */
struct inform_group {
	union ib_gid mgid;
	union ib_gid port_gid;
	__be32 qkey;
	__be16 mlid;
	u8 mtu;
	u8 traffic_class;
	__be16 pkey;
	u8 rate;
	u8 packet_life;
	__be32 sl_flow_hop;
	u8 scope_state;
	u8 proxy_join;
	u8 reserved[2];
} __packed;
static_assert(sizeof(struct inform_group) == 52);

/* Limit of the length of an answer to GetTable, in octets: records of 65536 groups of one
 * partition, which is more than a subnet has unicast or multicast LIDs
 */
#define INFORM_LIST_MAX		(65536 * 56)

/**
 * ipoib_inform_fill() - fill in the data of a Set(InformInfo)
 * @mad: the MAD; its data are zero
 * @trap: number of the trap
 * @subscribe: true to subscribe, false to unsubscribe
 *
 * To unsubscribe, the SA expects the same data as for the subscription, except @subscribe.
 *
 * Context: any.
 */
void ipoib_inform_fill(struct ib_sa_mad *mad, u16 trap, bool subscribe)
{
	struct inform_info *info = (void *)mad->data;

	info->lid_begin = INFORM_ALL_LIDS;
	info->is_generic = 1;
	info->subscribe = subscribe;
	info->type = INFORM_ALL_TYPES;
	info->trap = cpu_to_be16(trap);
	info->qpn_resp_time = cpu_to_be32(INFORM_QPN << 8 | INFORM_RESP_TIME);
	info->producer = INFORM_CLASS_MANAGER;
}

/**
 * ipoib_list_fill() - fill in a GetTable(MCMemberRecord) that requests a partition's groups
 * @mad: the MAD; its data are zero
 * @pkey: P_Key, with the full-member bit, as in groups
 *
 * Context: any.
 */
void ipoib_list_fill(struct ib_sa_mad *mad, u16 pkey)
{
	struct inform_group *group = (void *)mad->data;

	mad->sa_hdr.comp_mask = IB_SA_MCMEMBER_REC_PKEY;
	group->pkey = cpu_to_be16(pkey);
}

/**
 * ipoib_report_parse() - parse a Report about a multicast group
 * @mad: the Report
 * @mgid: filled in with the group
 * @exists: filled in: true if the group was created, false if it was deleted
 *
 * Context: any.
 * Return: false if the Report is not about the creation or deletion of a group.
 */
bool ipoib_report_parse(const struct ib_sa_mad *mad, union ib_gid *mgid, bool *exists)
{
	const struct ib_mad_notice_attr *notice = (const void *)mad->data;
	const struct inform_notice_gid *details = (const void *)&notice->details;
	u16 trap = be16_to_cpu(notice->trap_num);

	if (mad->mad_hdr.method != IB_MGMT_METHOD_REPORT ||
	    mad->mad_hdr.attr_id != cpu_to_be16(IB_SA_ATTR_NOTICE) ||
	    !(notice->generic_type & INFORM_NOTICE_GENERIC))
		return false;
	*mgid = details->gid;
	*exists = trap == IPOIB_TRAP_GROUP_CREATED;
	return *exists || trap == IPOIB_TRAP_GROUP_DELETED;
}

/* Copies the data of a MAD from its RMPP segments into one buffer, to be freed by kvfree() */
static void *answer_join(const struct ib_mad_recv_wc *wc, size_t len)
{
	u8 *data = kvmalloc(len + 1, GFP_KERNEL), *to = data;
	const struct ib_mad_recv_buf *segment;
	size_t part;

	if (!data)
		return NULL;
	list_for_each_entry(segment, &wc->rmpp_list, list) {
		part = min_t(size_t, len, IB_MGMT_SA_DATA);
		memcpy(to, ((struct ib_sa_mad *)segment->mad)->data, part);
		to += part;
		len -= part;
	}
	/* The segments may contain less than the length says: do not leave the rest undefined */
	memset(to, 0, len);
	return data;
}

/* Replaces the records by an array of their MGIDs, in place. Returns their number. */
static int answer_pick(void *data, size_t len, size_t stride)
{
	union ib_gid *mgids = data;
	int count = 0;
	size_t at;

	if (stride < sizeof(struct inform_group))
		return 0;
	for (at = 0; at + sizeof(struct inform_group) <= len; at += stride)
		memmove(&mgids[count++], data + at, sizeof(*mgids));
	return count;
}

/**
 * ipoib_list_parse() - parse the list of groups
 * @wc: the SA's answer, with all of its RMPP segments
 * @count: filled in with the number of groups
 *
 * Context: may sleep.
 * Return: array of MGIDs, to be freed by kvfree(), or an ERR_PTR: -ENOMEM, or -EMSGSIZE if
 * the list is longer than is possible in a subnet.
 */
union ib_gid *ipoib_list_parse(const struct ib_mad_recv_wc *wc, int *count)
{
	const struct ib_sa_mad *mad = (const void *)wc->recv_buf.mad;
	size_t len = max_t(int, wc->mad_len - IB_MGMT_SA_HDR, 0);
	void *data;

	if (len > INFORM_LIST_MAX)
		return ERR_PTR(-EMSGSIZE);
	data = answer_join(wc, len);
	if (!data)
		return ERR_PTR(-ENOMEM);
	*count = answer_pick(data, len, be16_to_cpu(mad->sa_hdr.attr_offset) * 8);
	return data;
}
