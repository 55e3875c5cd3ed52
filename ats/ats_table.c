// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads the records of an SA's answer, which may be a table of many packets (IBA 13.6, 15.2).
 * The MAD layer reassembles the packets but does not check their content. Whatever lengths the
 * answer claims, only received octets are read.
 */
#include <rdma/ib_mad.h>
#include <rdma/ib_sa.h>

#include "ats.h"

/* Reads the octets of a MAD's segments in sequence */
struct reader {
	const struct ib_mad_recv_wc *wc;
	const struct ib_mad_recv_buf *buf;
	unsigned int offset;		/* in the segment's data */
	unsigned int left;		/* octets left in all segments */
};

static void reader_init(struct reader *reader, const struct ib_mad_recv_wc *wc)
{
	reader->wc = wc;
	reader->buf = list_first_entry(&wc->rmpp_list, struct ib_mad_recv_buf, list);
	reader->offset = 0;
	reader->left = max_t(int, wc->mad_len - IB_MGMT_SA_HDR, 0);
}

static bool reader_get(struct reader *reader, void *to, unsigned int len)
{
	const struct ib_sa_mad *mad;
	unsigned int part;

	if (reader->left < len)
		return false;
	reader->left -= len;
	while (len) {
		mad = (const struct ib_sa_mad *)reader->buf->mad;
		part = min_t(unsigned int, len, sizeof(mad->data) - reader->offset);
		if (to) {
			memcpy(to, mad->data + reader->offset, part);
			to += part;
		}
		len -= part;
		reader->offset += part;
		if (reader->offset < sizeof(mad->data))
			continue;
		if (list_is_last(&reader->buf->list, &reader->wc->rmpp_list))
			return !len;
		reader->buf = list_next_entry(reader->buf, list);
		reader->offset = 0;
	}
	return true;
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
	struct ats_wire_record wire;
	struct ats_record record;
	struct reader reader;
	int count = 0;

	if (mad->mad_hdr.method == IB_MGMT_METHOD_GET_RESP)
		step = sizeof(wire);
	if (step && step < sizeof(wire))
		return -EPROTO;
	reader_init(&reader, answer);
	while (step && reader_get(&reader, &wire, sizeof(wire))) {
		if (!ats_record_decode(&record, &wire)) {
			each(context, &record);
			count++;
		}
		if (!reader_get(&reader, NULL, step - sizeof(wire)))
			break;
	}
	return count;
}
