// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibrc: the contents of messages, and their scatter/gather lists. The length and the contents of a
 * message are derived from the QP that sends it and its number, so the receiver can check each
 * byte.
 *
 * The SGEs of a list have different lengths, are in reverse order in their buffer, and have guard
 * bytes between them. So bytes that are written to a wrong place are detected.
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

static u64 message_hash(const struct ibrc_qp *from, u64 number)
{
	u64 flow = 2 * from->index + (from->end - from->end->run->ends);

	return mix(mix(flow + 1) + number);
}

/**
 * ibrc_message_length() - The length of a message.
 * @params: the parameters of the run
 * @from: the QP that sends it
 * @number: its number among the messages of that QP
 *
 * A random length is as often less than 16 bytes as more than 16 KiB, because each power of 2 is
 * equally likely to be its limit.
 *
 * Context: any.
 * Return: the length in bytes.
 */
u32 ibrc_message_length(const struct ibrc_params *params,
			const struct ibrc_qp *from, u64 number)
{
	u64 hash = message_hash(from, number);
	u32 limit;

	if (!params->random)
		return params->size;
	limit = params->max >> (hash & 0xff) % (ilog2(params->max | 1) + 2);
	return (hash >> 32) % (limit + 1);
}

/**
 * ibrc_message_has_imm() - Whether a message has immediate data.
 * @params: the parameters of the run
 * @number: number of the message
 *
 * Context: any.
 * Return: true for every second message, if the run uses immediate data.
 */
bool ibrc_message_has_imm(const struct ibrc_params *params, u64 number)
{
	return params->imm && number % 2;
}

/**
 * ibrc_message_imm() - The immediate data of a message.
 * @number: number of the message
 *
 * Context: any.
 * Return: the data, in network order.
 */
__be32 ibrc_message_imm(u64 number)
{
	return cpu_to_be32(mix(number + 1));
}

/**
 * ibrc_message_fill() - Write the contents of a message.
 * @from: the QP that sends it
 * @number: its number among the messages of that QP
 * @to: where they are written
 * @length: how many bytes to write
 *
 * Context: any.
 */
void ibrc_message_fill(const struct ibrc_qp *from, u64 number, void *to, u32 length)
{
	struct rnd_state state;

	prandom_seed_state(&state, message_hash(from, number));
	prandom_bytes_state(&state, to, length);
}

/**
 * ibrc_private_data() - Write the private data of a message of the connection manager.
 * @index: number of the connection, which is in the first 4 bytes
 * @kind: kind of the message
 * @to: where the data is written
 * @length: how many bytes to write
 *
 * Context: any.
 */
void ibrc_private_data(u32 index, u32 kind, void *to, u32 length)
{
	struct rnd_state state;
	__be32 first = cpu_to_be32(index);

	prandom_seed_state(&state, 1ULL << 32 | index << 8 | kind);
	prandom_bytes_state(&state, to, length);
	memcpy(to, &first, sizeof(first));
}

/* The length of the next SGE. About half of them are shorter than equal parts would be; none is
 * empty.
 */
static u32 part(struct rnd_state *state, u32 left, u32 parts)
{
	u32 most = left - (parts - 1);

	if (parts == 1)
		return left;
	return 1 + prandom_u32_state(state) % min(most, 2 * (left / parts));
}

/**
 * ibrc_buf_cut() - Build the scatter/gather list of a buffer.
 * @buf: the buffer
 * @length: total length of the list. If it is less than the number of SGEs, some are not
 *	used.
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
 * ibrc_buf_scatter() - Write a message to the SGEs of a buffer.
 * @buf: the buffer, whose list was built
 * @from: the message
 * @length: its length, for which the list has room
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
 * ibrc_buf_inline() - Change the list of a buffer for sending inline data.
 * @buf: the buffer, whose list was built and filled
 *
 * The CPU reads inline data, so the SGEs need kernel addresses instead of those for the HCA.
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
 * ibrc_buf_differs() - Compare a buffer with the message that it must have received.
 * @buf: the buffer
 * @from: the message
 * @length: its length
 *
 * Context: the run.
 * Return: true if any byte differs, or if the list has no room for them all.
 */
bool ibrc_buf_differs(const struct ibrc_buf *buf, const void *from, u32 length)
{
	u32 i, n;

	for (i = 0; length; i++) {
		if (i == buf->num_sge)
			return true;
		n = min(length, buf->sge[i].length);
		if (memcmp(sge_data(buf, &buf->sge[i]), from, n))
			return true;
		from += n;
		length -= n;
	}
	return false;
}

/**
 * ibrc_buf_restore() - Refill a buffer with poison, and check the bytes outside of the message.
 * @buf: the buffer
 * @length: length of the message that it received
 *
 * Context: the run.
 * Return: true if nothing was written outside of the message.
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
