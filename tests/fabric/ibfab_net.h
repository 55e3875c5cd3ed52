/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The functions that each packet of an HCA needs, in either transport. They are inline because
 * calls would noticeably add to the cost of a datagram.
 */
#ifndef _IBFAB_NET_H
#define _IBFAB_NET_H

#include "ibfab.h"

/**
 * struct ibfab_hdr - The contents of a packet that is to be built
 * @opcode: opcode of the BTH
 * @flags: flags of the BTH, except for the pad count
 * @pkey: P_Key of the BTH
 * @dqpn: destination QP of the BTH
 * @psn: PSN of the BTH, and IBFAB_BTH_ACK_REQ
 * @ext: length of the extended headers
 * @len: length of the payload
 */
struct ibfab_hdr {
	u8 opcode;
	u8 flags;
	u16 pkey;
	u32 dqpn;
	u32 psn;
	unsigned int ext;
	unsigned int len;
};

/**
 * ibfab_net_vl() - The VL that a QP's packets with an SL take (7.6.6).
 * @qp: the QP
 * @port: the port of the QP
 * @sl: the SL
 *
 * Return: 0 to 15.
 */
static inline u8 ibfab_net_vl(const struct ibfab_qp *qp,
			      const struct ibfab_port *port, u8 sl)
{
	u8 pair;

	if (qp->ibqp.qp_type == IB_QPT_SMI)
		return IBFAB_VL_SMP;
	pair = READ_ONCE(port->base->sl2vl[0][sl / 2]);
	return sl & 1 ? pair & 0x0f : pair >> 4;
}

/**
 * ibfab_net_sl_admitted() - Whether a QP may send with an SL (7.6.6).
 * @qp: the QP
 * @port: the port of the QP
 * @av: the address vector, which has the SL
 *
 * Context: any.
 * Return: false if the port's SLtoVL table maps the SL to VL15 and the QP is not QP0.
 */
static inline bool ibfab_net_sl_admitted(const struct ibfab_qp *qp,
					 const struct ibfab_port *port,
					 const struct rdma_ah_attr *av)
{
	u8 sl = rdma_ah_get_sl(av) & 0x0f;

	return qp->ibqp.qp_type == IB_QPT_SMI ||
	       ibfab_net_vl(qp, port, sl) != IBFAB_VL_SMP;
}

/**
 * ibfab_net_put_lrh() - Write the LRH of a packet (7.7).
 * @at: the beginning of the packet
 * @qp: the QP that sends it
 * @port: the port of the QP
 * @av: the address vector of its destination
 * @bytes: length of the packet, from LRH through ICRC
 *
 * Context: the engine.
 * Return: the end of the header.
 */
static inline void *ibfab_net_put_lrh(void *at, const struct ibfab_qp *qp,
				      const struct ibfab_port *port,
				      const struct rdma_ah_attr *av,
				      unsigned int bytes)
{
	u8 lmc_mask = (1 << READ_ONCE(port->base->lmc)) - 1;
	u8 sl = rdma_ah_get_sl(av) & 0x0f;
	u16 dlid = rdma_ah_get_dlid(av);
	struct ibfab_lrh *lrh = at;
	u16 slid;

	slid = READ_ONCE(port->base->lid) | (rdma_ah_get_path_bits(av) & lmc_mask);
	/* 14.2.2: in SMPs that are directed all the way, both LIDs are permissive */
	if (dlid == IBFAB_LID_PERMISSIVE)
		slid = IBFAB_LID_PERMISSIVE;

	lrh->vl_lver = ibfab_net_vl(qp, port, sl) << 4;
	lrh->sl_lnh = sl << 4 | (ibfab_av_has_grh(av) ? IB_LNH_IBA_GLOBAL :
							IB_LNH_IBA_LOCAL);
	lrh->dlid = cpu_to_be16(dlid);
	lrh->pktlen = cpu_to_be16(bytes / 4);
	lrh->slid = cpu_to_be16(slid);
	return lrh + 1;
}

/**
 * ibfab_net_put_grh() - Write the GRH of a packet (8.3).
 * @at: the end of its LRH
 * @port: the port that sends it
 * @av: the address vector of its destination
 * @bytes: length of the packet, from LRH through ICRC
 *
 * Context: the engine.
 * Return: the end of the header.
 */
static inline void *ibfab_net_put_grh(void *at, const struct ibfab_port *port,
				      const struct rdma_ah_attr *av,
				      unsigned int bytes)
{
	const struct ib_global_route *route = rdma_ah_read_grh(av);
	struct ib_grh *grh = at;

	grh->version_tclass_flow = cpu_to_be32(IBFAB_GRH_IPVER << 28 |
					       route->traffic_class << 20 |
					       (route->flow_label & 0xfffff));
	grh->paylen = cpu_to_be16(bytes - IB_LRH_BYTES - IB_GRH_BYTES);
	grh->next_hdr = IBFAB_GRH_NEXT_HDR;
	grh->hop_limit = route->hop_limit;
	ibfab_port_gid(port, route->sgid_index, &grh->sgid);
	grh->dgid = route->dgid;
	return grh + 1;
}

/**
 * ibfab_net_put() - Write the route headers of a packet (7.7, 8.3).
 * @at: the beginning of the packet
 * @qp: the QP that sends it
 * @port: the port of the QP
 * @av: the address vector of its destination
 * @bytes: length of the packet, from LRH through ICRC
 *
 * Context: the engine.
 * Return: the end of the headers.
 */
static inline void *ibfab_net_put(void *at, const struct ibfab_qp *qp,
				  const struct ibfab_port *port,
				  const struct rdma_ah_attr *av,
				  unsigned int bytes)
{
	at = ibfab_net_put_lrh(at, qp, port, av, bytes);
	if (ibfab_av_has_grh(av))
		at = ibfab_net_put_grh(at, port, av, bytes);
	return at;
}

/**
 * ibfab_port_has_lid() - Whether a LID is one of a port's LIDs.
 * @port: the port
 * @lid: the LID, with any path bits
 *
 * Context: any.
 * Return: true if it is.
 */
static inline bool ibfab_port_has_lid(const struct ibfab_port *port, u16 lid)
{
	const struct ibfab_port *base = port->base;
	u16 own = READ_ONCE(base->lid);

	return own && lid >> READ_ONCE(base->lmc) == own >> base->lmc &&
	       ibfab_lid_is_ucast(lid);
}

/**
 * ibfab_net_check_dlid() - Whether a packet's DLID addresses a port (7.8).
 * @port: the port at which it came in
 * @lrh: the packet's LRH
 *
 * Context: the engine.
 * Return: IBFAB_DROP_NONE or IBFAB_DROP_RX_DLID.
 */
static inline enum ibfab_drop
ibfab_net_check_dlid(const struct ibfab_port *port, const struct ibfab_lrh *lrh)
{
	bool smp = ibfab_lrh_vl(lrh) == IBFAB_VL_SMP;
	u16 dlid = be16_to_cpu(lrh->dlid);

	if (dlid == IBFAB_LID_PERMISSIVE)
		return smp ? IBFAB_DROP_NONE : IBFAB_DROP_RX_DLID;
	if (ibfab_lid_is_mcast(dlid) || ibfab_port_has_lid(port, dlid))
		return IBFAB_DROP_NONE;
	return IBFAB_DROP_RX_DLID;
}

/**
 * ibfab_net_check_qp() - Whether a QP can receive packets from a port (9.6.1.2).
 * @qp: the QP
 * @port: the port at which the packet came in
 *
 * Context: the engine.
 * Return: IBFAB_DROP_NONE, IBFAB_DROP_RX_NO_QP or IBFAB_DROP_RX_QP_STATE.
 */
static inline enum ibfab_drop
ibfab_net_check_qp(const struct ibfab_qp *qp, const struct ibfab_port *port)
{
	enum ib_qp_state state = ibfab_qp_state(qp);

	if (READ_ONCE(qp->port_num) != port->num)
		return IBFAB_DROP_RX_NO_QP;
	return state >= IB_QPS_RTR && state != IB_QPS_ERR ?
	       IBFAB_DROP_NONE : IBFAB_DROP_RX_QP_STATE;
}

/* ibfab_net.c */
struct ibfab_pkt *ibfab_net_build(struct ibfab_qp *qp, const struct ibfab_port *port,
				  const struct rdma_ah_attr *av, const struct ibfab_hdr *hdr,
				  void **ext);

#endif /* _IBFAB_NET_H */
