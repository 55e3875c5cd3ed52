/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * ibfuzz: types, and the interface of each file.
 */
#ifndef _IBFUZZ_H
#define _IBFUZZ_H

#include <linux/in6.h>
#include <linux/prandom.h>
#include <linux/types.h>

#define IBFUZZ_MAX_FRAME	4096
#define IBFUZZ_HWADDR		20
#define IBFUZZ_KINDS		13	/* of frames */

/**
 * struct ibfuzz_end - The addresses of a host
 * @ip4: IPv4 address
 * @ip6: IPv6 address
 * @hwaddr: link-layer address
 */
struct ibfuzz_end {
	__be32 ip4;
	struct in6_addr ip6;
	u8 hwaddr[IBFUZZ_HWADDR];
};

/**
 * struct ibfuzz_ends - The addresses in frames
 * @from: the host that frames claim to be from
 * @to: the host to which frames are sent
 */
struct ibfuzz_ends {
	struct ibfuzz_end from;
	struct ibfuzz_end to;
};

/**
 * ibfuzz_below() - Get a random number.
 * @rnd: generator
 * @limit: not 0
 *
 * Return: a number from 0 to @limit - 1.
 */
static inline u32 ibfuzz_below(struct rnd_state *rnd, u32 limit)
{
	return prandom_u32_state(rnd) % limit;
}

/* ibfuzz_frame.c */
const char *ibfuzz_kind_name(unsigned int kind);
u32 ibfuzz_frame(struct rnd_state *rnd, const struct ibfuzz_ends *ends, u32 index,
		 u32 max, u8 *data);

#endif /* _IBFUZZ_H */
