// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The content of a record of the Address Translation Service, and how it is encoded:
 * Service IDs, addresses, ServiceRecords on the wire, and an SA's answer, which may be a table
 * of many packets (IBA 13.6, 15.2). The MAD layer reassembles the packets but does not check
 * their content. Whatever lengths the answer claims, only received octets are read.
 */
#include "ats.h"

/**
 * ats_slot_sid() - the Service ID of a slot
 * @slot: the slot's number; 0 is the primary address's
 *
 * ATS section 3.1: Service IDs count up from that of the primary address, and wrap around
 * at the end of the block.
 *
 * Context: any.
 * Return: the Service ID.
 */
u64 ats_slot_sid(unsigned int slot)
{
	return ATS_SID_BASE | ((ATS_SID_PRIMARY + slot) & (ATS_SIDS - 1));
}

/**
 * ats_sid_slot() - the slot of a Service ID
 * @sid: the Service ID
 *
 * Context: any.
 * Return: the slot, or -ERANGE if the Service ID is outside of the block.
 */
int ats_sid_slot(u64 sid)
{
	if ((sid & ~(u64)(ATS_SIDS - 1)) != ATS_SID_BASE)
		return -ERANGE;
	return (sid - ATS_SID_PRIMARY) & (ATS_SIDS - 1);
}

/**
 * ats_addr_is_ipv4() - whether the address of a record is an IPv4 address
 * @addr: the address, in the form that records have
 *
 * The unspecified address and the loopback address of IPv6, which look like IPv4 addresses
 * in that form, are never in a record.
 *
 * Context: any.
 * Return: whether it is an IPv4 address.
 */
bool ats_addr_is_ipv4(const struct in6_addr *addr)
{
	return !addr->s6_addr32[0] && !addr->s6_addr32[1] && !addr->s6_addr32[2];
}

/**
 * ats_addr_from_mapped() - convert an address to the form that records have
 * @addr: an address, converted in place: an IPv4 address is ::ffff:a.b.c.d before and
 *	::a.b.c.d afterwards
 *
 * Context: any.
 */
void ats_addr_from_mapped(struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		ipv6_addr_set(addr, 0, 0, 0, addr->s6_addr32[3]);
}

/**
 * ats_addr_to_mapped() - convert the address of a record to the form used elsewhere
 * @addr: the address, converted in place: an IPv4 address is ::ffff:a.b.c.d afterwards
 *
 * Context: any.
 */
void ats_addr_to_mapped(struct in6_addr *addr)
{
	if (ats_addr_is_ipv4(addr))
		ipv6_addr_set_v4mapped(addr->s6_addr32[3], addr);
}

/**
 * ats_record_init() - fill in the components that all records and queries have
 * @wire: filled in: the GID, the P_Key and the service's name; all other components are zero
 * @key: the GID and P_Key
 *
 * Context: any.
 */
void ats_record_init(struct ats_wire_record *wire, const struct ats_key *key)
{
	memset(wire, 0, sizeof(*wire));
	memcpy(wire->gid, &key->gid, sizeof(wire->gid));
	wire->pkey = cpu_to_be16(key->pkey);
	memcpy(wire->name, ATS_SERVICE_NAME, sizeof(ATS_SERVICE_NAME) - 1);
}

/**
 * ats_record_encode() - encode a record to register (ATS section 3.1, table 1)
 * @wire: filled in
 * @record: the content
 *
 * Context: any.
 */
void ats_record_encode(struct ats_wire_record *wire, const struct ats_record *record)
{
	ats_record_init(wire, &record->key);
	wire->service_id = cpu_to_be64(record->sid);
	wire->lease = cpu_to_be32(record->lease);
	memcpy(wire->data8, &record->addr, sizeof(wire->data8));
}

/**
 * ats_record_decode() - decode a record received from an SA
 * @record: filled in
 * @wire: the record
 *
 * This accepts more than ats_record_encode() writes: Service IDs of OpenIB, IPv4 addresses
 * in the mapped form (::ffff:a.b.c.d), and any octets after the service's name (ATS section
 * 2.3). The ServiceKey is ignored.
 *
 * Context: any.
 * Return: 0, or -EPROTO if it is not a record of this service.
 */
int ats_record_decode(struct ats_record *record, const struct ats_wire_record *wire)
{
	record->sid = be64_to_cpu(wire->service_id);
	if (ats_sid_slot(record->sid) < 0 &&
	    (record->sid & ~ATS_SID_OPENIB_MASK) != ATS_SID_PRIMARY)
		return -EPROTO;
	if (memcmp(wire->name, ATS_SERVICE_NAME, sizeof(ATS_SERVICE_NAME) - 1))
		return -EPROTO;
	memcpy(&record->key.gid, wire->gid, sizeof(wire->gid));
	record->key.pkey = be16_to_cpu(wire->pkey);
	record->lease = be32_to_cpu(wire->lease);
	memcpy(&record->addr, wire->data8, sizeof(record->addr));
	ats_addr_from_mapped(&record->addr);
	return 0;
}

/**
 * ats_record_answer() - convert a record to the form for other modules and user space
 * @record: the record
 * @port: the port through which it was learned
 * @answer: filled in
 *
 * Context: any.
 */
void ats_record_answer(const struct ats_record *record, const struct ats_port *port,
		       struct ib_ats_answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	answer->ibdev = port->ibdev;
	strscpy(answer->device, dev_name(&port->ibdev->dev), sizeof(answer->device));
	answer->port = port->port;
	answer->gid = record->key.gid;
	answer->addr = record->addr;
	ats_addr_to_mapped(&answer->addr);
	answer->sid = record->sid;
	answer->pkey = record->key.pkey;
	answer->primary = record->sid == ATS_SID_PRIMARY;
}

/**
 * ats_table_each() - call a function for each record of an answer
 * @answer: an answer without an error status
 * @each: called for each record of this service; records of others are skipped
 * @context: argument for @each
 *
 * Context: any that @each allows.
 * Return: the number of records, or -EPROTO if the answer is malformed.
 */
int ats_table_each(const struct ib_mad_recv_wc *answer,
		   void (*each)(void *context, const struct ats_record *record), void *context)
{
	const struct ib_sa_mad *mad = (const struct ib_sa_mad *)answer->recv_buf.mad;
	/* IBA 15.2.1.2: in units of 8 octets */
	unsigned int step = be16_to_cpu(mad->sa_hdr.attr_offset) * 8;
	int left = answer->mad_len - IB_MGMT_SA_HDR, count = 0;
	const struct ib_mad_recv_buf *buf;
	struct ats_wire_record wire;
	struct ats_record record;
	unsigned int i, at = 0;

	if (mad->mad_hdr.method == IB_MGMT_METHOD_GET_RESP)
		step = sizeof(wire);
	if (step < sizeof(wire))
		return step ? -EPROTO : 0;
	list_for_each_entry(buf, &answer->rmpp_list, list) {
		mad = (const struct ib_sa_mad *)buf->mad;
		for (i = 0; i < sizeof(mad->data) && left > 0; i++, left--) {
			if (at < sizeof(wire))
				((u8 *)&wire)[at] = mad->data[i];
			at++;
			if (at == sizeof(wire) && !ats_record_decode(&record, &wire)) {
				each(context, &record);
				count++;
			}
			if (at == step)
				at = 0;
		}
	}
	return count;
}
