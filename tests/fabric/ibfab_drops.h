/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The reasons for which a port drops a packet, and the name of each reason's counter in debugfs.
 * A file that includes this list defines IBFAB_DROP(reason, name) before: ibfab.h makes enum
 * ibfab_drop of it, ibfab_debugfs.c the names.
 */

/* The packet cannot leave an HCA's port */
IBFAB_DROP(TX_NO_LINK, "tx_no_link")		/* the port has no cable, or it is pulled */
IBFAB_DROP(TX_INACTIVE, "tx_inactive")		/* not an SMP, and the port is not ACTIVE */
IBFAB_DROP(TX_NO_MEMORY, "tx_no_memory")
IBFAB_DROP(TX_SL, "tx_sl")			/* the SLtoVL table has no data VL for its SL */

/* A port, or the QP behind it, refuses the packet */
IBFAB_DROP(RX_INACTIVE, "rx_inactive")		/* not an SMP, and the port is not ACTIVE */
IBFAB_DROP(RX_VL15_FULL, "rx_vl15_full")
IBFAB_DROP(RX_UNPLUGGED, "rx_unplugged")	/* the HCA was unplugged while it waited */
IBFAB_DROP(RX_MALFORMED, "rx_malformed")	/* invalid headers, or lengths that disagree */
IBFAB_DROP(RX_MTU, "rx_mtu")
IBFAB_DROP(RX_DLID, "rx_dlid")
IBFAB_DROP(RX_DGID, "rx_dgid")
IBFAB_DROP(RX_OPCODE, "rx_opcode")
IBFAB_DROP(RX_NO_GRH, "rx_no_grh")		/* a multicast packet needs a GRH */
IBFAB_DROP(RX_NO_QP, "rx_no_qp")
IBFAB_DROP(RX_NO_GROUP, "rx_no_group")		/* no QP is attached to its MGID */
IBFAB_DROP(RX_QP_STATE, "rx_qp_state")
IBFAB_DROP(RX_PEER, "rx_peer")			/* it is not from the RC QP's peer */
IBFAB_DROP(RX_PKEY, "rx_pkey")
IBFAB_DROP(RX_QKEY, "rx_qkey")
IBFAB_DROP(RX_NO_WR, "rx_no_wr")
IBFAB_DROP(RX_BUFFER, "rx_buffer")		/* the receive is too small, or its L_Key is bad */

/* A switch does not forward the packet */
IBFAB_DROP(FWD_NO_ROUTE, "fwd_no_route")	/* the forwarding table has no port for it */
IBFAB_DROP(FWD_LOOP, "fwd_loop")		/* it would leave by the port that it came in at */
IBFAB_DROP(FWD_HOPS, "fwd_hops")		/* it crossed so many cables that it must loop */
IBFAB_DROP(FWD_NO_MEMORY, "fwd_no_memory")	/* for a copy of a multicast packet */

/* Management, the trunk, and faults that a rule asks for */
IBFAB_DROP(SMP_ROUTE, "smp_route")		/* its directed route is invalid */
IBFAB_DROP(SMP_MKEY, "smp_mkey")		/* an SMP with a wrong M_Key */
IBFAB_DROP(NO_AGENT, "no_agent")		/* a switch has no agent for its management class */
IBFAB_DROP(TRUNK_DOWN, "trunk_down")		/* it was in the trunk when the link went down */
IBFAB_DROP(TRUNK_VL15, "trunk_vl15_full")	/* too many SMPs wait for the trunk */
IBFAB_DROP(FAULT, "fault")
IBFAB_DROP(FAULT_NO_MEMORY, "fault_no_memory")	/* no memory, or the rule holds its maximum */

#undef IBFAB_DROP
