// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibrc: what messages hold, and how it lies in scatter/gather lists. A message's
 * length and contents follow from the run's seed, the QP that sends it and its
 * number, so that the receiver knows each octet that must come.
 *
 * The entries of a list are of uneven lengths, lie in their buffer in reverse order,
 * and have guards between them: octets that are put at a wrong place are seen there.
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/prandom.h>
#include <linux/string.h>

#include "ibrc.h"

static u64 mix(u64 x)
{
	x *= GOLDEN_RATIO_64;
	return x ^ x >> 32;
}

static u64 message_hash(const struct ibrc_params *params,
			const struct ibrc_qp *from, u64 number)
{
	u64 flow = 2 * from->index + (from->end - from->end->run->ends);

	return mix(mix((u64)params->seed << 32 | flow) + number);
}

/**
 * ibrc_message_length() - How long a message is.
 * @params: the run's
 * @from: the QP that sends it
 * @number: the how manieth of that QP
 *
 * Random lengths are as often below 16 octets as above 16 KiB: each power of 2 is as
 * likely to be the limit as another.
 *
 * Context: any.
 * Return: octets.
 */
u32 ibrc_message_length(const struct ibrc_params *params,
			const struct ibrc_qp *from, u64 number)
{
	u64 hash = message_hash(params, from, number);
	u32 limit;

	if (!params->random)
		return params->size;
	limit = params->max >> (hash & 0xff) % (ilog2(params->max | 1) + 2);
	return (hash >> 32) % (limit + 1);
}

/**
 * ibrc_message_has_imm() - Whether a message carries immediate data.
 * @params: the run's
 * @number: of the message
 *
 * Context: any.
 * Return: true for every second one, if the run has immediate data.
 */
bool ibrc_message_has_imm(const struct ibrc_params *params, u64 number)
{
	return params->imm && number % 2;
}

/**
 * ibrc_message_imm() - A message's immediate data.
 * @params: the run's
 * @number: of the message
 *
 * Context: any.
 * Return: the data, as it is on the wire.
 */
__be32 ibrc_message_imm(const struct ibrc_params *params, u64 number)
{
	return cpu_to_be32(mix(params->seed + number));
}

/**
 * ibrc_message_fill() - A message's contents.
 * @params: the run's
 * @from: the QP that sends it
 * @number: the how manieth of that QP
 * @to: where to write them
 * @length: how many octets of them
 *
 * Context: any.
 */
void ibrc_message_fill(const struct ibrc_params *params,
		       const struct ibrc_qp *from, u64 number, void *to,
		       u32 length)
{
	struct rnd_state state;

	prandom_seed_state(&state, message_hash(params, from, number));
	prandom_bytes_state(&state, to, length);
}

/**
 * ibrc_private_data() - What a message of the connection manager carries.
 * @params: the run's
 * @index: of the connection; the first 4 octets say it
 * @kind: of message
 * @to: where to write it
 * @length: how many octets
 *
 * Context: any.
 */
void ibrc_private_data(const struct ibrc_params *params, u32 index, u32 kind,
		       void *to, u32 length)
{
	struct rnd_state state;
	__be32 first = cpu_to_be32(index);

	prandom_seed_state(&state, (u64)params->seed << 32 | index << 8 | kind);
	prandom_bytes_state(&state, to, length);
	memcpy(to, &first, sizeof(first));
}

/* Half of them shorter than even parts would be, and none empty */
static u32 part(struct rnd_state *state, u32 left, u32 parts)
{
	u32 most = left - (parts - 1);

	if (parts == 1)
		return left;
	return 1 + prandom_u32_state(state) % min(most, 2 * (left / parts));
}

/**
 * ibrc_buf_cut() - Make a list of a buffer.
 * @buf: the buffer
 * @length: octets that the list holds; if there are fewer than entries, some of
 *	    these remain unused
 *
 * Context: the run.
 */
void ibrc_buf_cut(struct ibrc_buf *buf, u32 length)
{
	u32 i, n = min(buf->end->run->params.sge, length), left = length;
	u64 at = buf->mem.addr + buf->mem.size;
	struct rnd_state state;
	struct ib_sge *sge;

	prandom_seed_state(&state, buf->number + length);
	for (i = 0; i < n; i++) {
		sge = &buf->sge[i];
		sge->length = part(&state, left, n - i);
		at -= sge->length + IBRC_GUARD;
		sge->addr = at;
		sge->lkey = buf->end->lkey;
		left -= sge->length;
	}
	buf->num_sge = n;
}

static void *sge_data(const struct ibrc_buf *buf, const struct ib_sge *sge)
{
	return buf->mem.data + (sge->addr - buf->mem.addr);
}

/**
 * ibrc_buf_scatter() - Write a message into a buffer, by its list.
 * @buf: the buffer, cut
 * @from: the message
 * @length: its octets, for which the list has room
 *
 * Context: the run.
 */
void ibrc_buf_scatter(struct ibrc_buf *buf, const void *from, u32 length)
{
	u32 i, n;

	for (i = 0; length; i++) {
		n = min(length, buf->sge[i].length);
		memcpy(sge_data(buf, &buf->sge[i]), from, n);
		from += n;
		length -= n;
	}
}

/**
 * ibrc_buf_inline() - Have the list of a buffer that is sent inline.
 * @buf: the buffer, cut and filled
 *
 * Inline data is read by the CPU, so its addresses are the kernel's and not the HCA's.
 *
 * Context: the run.
 */
void ibrc_buf_inline(struct ibrc_buf *buf)
{
	u32 i;

	for (i = 0; i < buf->num_sge; i++)
		buf->sge[i].addr = (uintptr_t)sge_data(buf, &buf->sge[i]);
}

/**
 * ibrc_buf_differs() - Compare a buffer with the message that it must hold.
 * @buf: the buffer
 * @from: the message
 * @length: its octets, for which the list has room
 *
 * Context: the run.
 * Return: true if any octet is another.
 */
bool ibrc_buf_differs(const struct ibrc_buf *buf, const void *from, u32 length)
{
	u32 i, n;

	for (i = 0; length; i++) {
		n = min(length, buf->sge[i].length);
		if (memcmp(sge_data(buf, &buf->sge[i]), from, n))
			return true;
		from += n;
		length -= n;
	}
	return false;
}

/**
 * ibrc_buf_restore() - Make a buffer as new, and see what was written beside the
 * message.
 * @buf: the buffer
 * @length: octets of the message that it holds
 *
 * Context: the run.
 * Return: whether nothing was written beyond these octets.
 */
bool ibrc_buf_restore(struct ibrc_buf *buf, u32 length)
{
	u32 i, n;

	for (i = 0; i < buf->num_sge && length; i++) {
		n = min(length, buf->sge[i].length);
		memset(sge_data(buf, &buf->sge[i]), IBRC_POISON, n);
		length -= n;
	}
	if (!memchr_inv(buf->mem.data, IBRC_POISON, buf->mem.size))
		return true;
	memset(buf->mem.data, IBRC_POISON, buf->mem.size);
	return false;
}
