/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The performance counters of a port (16.1.3.5), and the name of each counter in debugfs. A file
 * that includes this list defines IBFAB_CNT(counter, name) before: ibfab.h makes enum
 * ibfab_counter of it, ibfab_debugfs.c the names.
 */

IBFAB_CNT(LINK_DOWNED, "link_downed")
IBFAB_CNT(RCV_ERRORS, "rcv_errors")
IBFAB_CNT(RCV_RELAY_ERRORS, "rcv_switch_relay_errors")
IBFAB_CNT(XMIT_DISCARDS, "xmit_discards")
IBFAB_CNT(VL15_DROPPED, "vl15_dropped")
IBFAB_CNT(QP1_DROPPED, "qp1_dropped")	/* QP1 had no receive posted */
IBFAB_CNT(XMIT_WAIT, "xmit_wait")	/* turns at which the engine had no credit to send */
IBFAB_CNT(XMIT_DATA, "xmit_data")	/* in words of four octets, as is RCV_DATA */
IBFAB_CNT(RCV_DATA, "rcv_data")
IBFAB_CNT(XMIT_PACKETS, "xmit_packets")
IBFAB_CNT(RCV_PACKETS, "rcv_packets")
IBFAB_CNT(UCAST_XMIT, "unicast_xmit_packets")
IBFAB_CNT(UCAST_RCV, "unicast_rcv_packets")
IBFAB_CNT(MCAST_XMIT, "multicast_xmit_packets")
IBFAB_CNT(MCAST_RCV, "multicast_rcv_packets")

#undef IBFAB_CNT
