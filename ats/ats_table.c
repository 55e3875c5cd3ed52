// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads the records of an SA's answer, which may be a table of many packets (IBA 13.6, 15.2).
 * The MAD layer reassembles the packets but does not check their content. Whatever lengths the
 * answer claims, only received octets are read.
 */
#include <rdma/ib_mad.h>
#include <rdma/ib_sa.h>

#include "ats.h"

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
