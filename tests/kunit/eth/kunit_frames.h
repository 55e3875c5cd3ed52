/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Random packets of both sides.
 */
#ifndef _EIPOIB_KUNIT_FRAMES_H
#define _EIPOIB_KUNIT_FRAMES_H

#include <linux/if_ether.h>
#include <linux/prandom.h>
#include <linux/types.h>

/* A sequence, and its last packet */
struct frames {
	struct rnd_state random;
	bool ib;			/* of the IPoIB side */
	bool spoilt;			/* it may be malformed */
	u16 ethertype;
	u8 to[ETH_ALEN];		/* of the Ethernet side */
	u8 from[ETH_ALEN];
	u32 len;
	u8 data[2048];			/* what follows the link-layer header */
};

void frames_begin(struct frames *frames, u32 seed);
void frames_next(struct frames *frames, bool ib);

#endif /* _EIPOIB_KUNIT_FRAMES_H */
