/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The counters of the trunk, and the name of each counter in debugfs. A file that includes this
 * list defines IBFAB_TRUNK(counter, name) before: ibfab_trunk.h makes enum ibfab_trunk_counter of
 * it, ibfab_trunk_link.c the names.
 */

IBFAB_TRUNK(LINK_UP, "link_up")
IBFAB_TRUNK(LINK_DOWN, "link_down")
IBFAB_TRUNK(SILENT, "silent")			/* links that ended because the peer was silent */
IBFAB_TRUNK(HELLOS_SENT, "hellos_sent")		/* frames without data */
IBFAB_TRUNK(HELLOS_RECEIVED, "hellos_received")
IBFAB_TRUNK(FRAMES_SENT, "frames_sent")		/* frames with data */
IBFAB_TRUNK(FRAMES_RECEIVED, "frames_received")
IBFAB_TRUNK(PACKETS_SENT, "packets_sent")	/* each packet counts once */
IBFAB_TRUNK(PACKETS_RECEIVED, "packets_received")
IBFAB_TRUNK(PACKETS_RESENT, "packets_resent")
IBFAB_TRUNK(TIMEOUTS, "timeouts")		/* no acknowledgment came in time */
IBFAB_TRUNK(NAKS_SENT, "naks_sent")
IBFAB_TRUNK(NAKS_RECEIVED, "naks_received")
IBFAB_TRUNK(CREDIT_WAITS, "credit_waits")	/* how often data had to wait for credit */
IBFAB_TRUNK(CREDIT_WAIT_US, "credit_wait_us")	/* how long it waited in all */
IBFAB_TRUNK(HELD_BACK, "held_back")		/* how often an HCA of this kernel had no room */
IBFAB_TRUNK(HELD_BACK_US, "held_back_us")	/* how long data waited for that in all */
IBFAB_TRUNK(REFUSED, "refused")			/* frames that the device did not accept */

/* Received frames, or parts of packets, that are discarded */
IBFAB_TRUNK(DUPLICATE, "duplicate")
IBFAB_TRUNK(OUT_OF_ORDER, "out_of_order")
IBFAB_TRUNK(STALE, "stale")			/* they belong to an earlier link */
IBFAB_TRUNK(FOREIGN, "foreign")			/* they are from a third kernel */
IBFAB_TRUNK(MALFORMED, "malformed")
IBFAB_TRUNK(OVERRUN, "overrun")			/* too many frames or packets wait already */
IBFAB_TRUNK(NO_MEMORY, "no_memory")

#undef IBFAB_TRUNK
