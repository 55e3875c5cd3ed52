// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The link and network layers of an HCA's port, which datagrams and connections share: sending a
 * packet or looping it back, checking which port it is for, and counting the packets that are
 * refused.
 */
#include <rdma/ib_sa.h>

#include "ibfab_net.h"
#include "ibfab_vport.h"

static void *put_bth(void *at, const struct ibfab_hdr *hdr, unsigned int pad)
{
	struct ibfab_bth *bth = at;

	bth->opcode = hdr->opcode;
	bth->flags = hdr->flags | pad << IBFAB_BTH_PAD_SHIFT | IBFAB_BTH_MIGRATED;
	bth->pkey = cpu_to_be16(hdr->pkey);
	bth->dqpn = cpu_to_be32(hdr->dqpn);
	bth->psn = cpu_to_be32(hdr->psn);
	return bth + 1;
}

/**
 * ibfab_net_build() - Build a packet up to and including its BTH.
 * @qp: the QP that sends it
 * @port: the port of the QP
 * @av: the address vector of its destination
 * @hdr: the contents of its BTH, and its lengths
 * @ext: set to where its extended headers and its payload are to be written
 *
 * The pad and the ICRC at the end are zeroes: these links corrupt no bits, so the CRC is not
 * computed.
 *
 * Context: the engine.
 * Return: the packet, or NULL if there is no memory.
 */
struct ibfab_pkt *ibfab_net_build(struct ibfab_qp *qp, const struct ibfab_port *port,
				  const struct rdma_ah_attr *av, const struct ibfab_hdr *hdr,
				  void **ext)
{
	unsigned int pad = -hdr->len & 3, bytes;
	struct ibfab_pkt *pkt;
	void *at;

	bytes = IB_LRH_BYTES + IB_BTH_BYTES + hdr->ext + hdr->len + pad + IB_ICRC_BYTES;
	if (ibfab_av_has_grh(av))
		bytes += IB_GRH_BYTES;
	pkt = ibfab_pkt_alloc(bytes);
	if (!pkt)
		return NULL;
	pkt->source = &qp->hca->sender;
	at = ibfab_net_put(pkt->frame->data, qp, port, av, bytes);
	*ext = put_bth(at, hdr, pad);
	memset(*ext + hdr->ext + hdr->len, 0, pad + IB_ICRC_BYTES);
	return pkt;
}

/**
 * ibfab_net_transmit() - Send a packet, or loop it back if its DLID is the port's own.
 * @port: the port
 * @pkt: the packet, which is consumed
 *
 * Context: the engine.
 */
void ibfab_net_transmit(struct ibfab_port *port, struct ibfab_pkt *pkt)
{
	const struct ibfab_lrh *lrh = ibfab_pkt_lrh(pkt);
	bool smp = ibfab_lrh_vl(lrh) == IBFAB_VL_SMP;

	if (ibfab_port_shares(port)) {
		ibfab_vport_transmit(port, pkt);
		return;
	}
	if (!ibfab_port_has_lid(port, be16_to_cpu(lrh->dlid))) {
		ibfab_wire_send(port, pkt);
		return;
	}
	if (!smp && READ_ONCE(port->state) != IB_PORT_ACTIVE) {
		ibfab_pkt_drop(pkt, port, IBFAB_DROP_TX_INACTIVE);
		return;
	}
	pkt->port = port;
	pkt->loopback = true;
	ibfab_engine_receive(port, pkt, NULL);
}

/* Receiving */

/* Whether a GID is the well-known GID of the subnet's SA */
static bool is_sa_gid(const struct ibfab_port *port, const union ib_gid *gid)
{
	return gid->global.interface_id == cpu_to_be64(IB_SA_WELL_KNOWN_GUID) &&
	       gid->global.subnet_prefix == cpu_to_be64(READ_ONCE(port->base->gid_prefix));
}

/**
 * ibfab_net_check_dgid() - Whether the DGID of a unicast packet is one of a port's GIDs (8.3).
 * @port: the port at which it came in
 * @dgid: its DGID
 *
 * Context: the engine.
 * Return: true if it is.
 */
bool ibfab_net_check_dgid(const struct ibfab_port *port,
			  const union ib_gid *dgid)
{
	union ib_gid gid;
	unsigned int i;

	for (i = 0; i < IBFAB_GUID_TABLE_LEN; i++) {
		ibfab_port_gid(port, i, &gid);
		if (gid.global.interface_id &&
		    !memcmp(&gid, dgid, sizeof(gid)))
			return true;
	}
	return READ_ONCE(port->cap_mask) & IB_PORT_SM && is_sa_gid(port, dgid);
}

/**
 * ibfab_net_count_drop() - Count a packet, or a copy of one, that is refused.
 * @port: the port at which it came in
 * @drop: the reason
 *
 * Context: the engine.
 */
void ibfab_net_count_drop(struct ibfab_port *port, enum ibfab_drop drop)
{
	atomic64_inc(&port->drop[drop]);
	switch (drop) {
	case IBFAB_DROP_RX_PKEY:
		atomic_inc(&port->pkey_violations);
		break;
	case IBFAB_DROP_RX_QKEY:
		atomic_inc(&port->qkey_violations);
		break;
	case IBFAB_DROP_RX_MALFORMED:
	case IBFAB_DROP_RX_MTU:
		ibfab_count(port, IBFAB_CNT_RCV_ERRORS);
		break;
	default:
		break;
	}
}

static enum ibfab_drop receive(struct ibfab_hca *hca,
			       const struct ibfab_pkt *pkt)
{
	struct ibfab_hdrs h;

	if (!ibfab_pkt_parse(pkt, &h))
		return IBFAB_DROP_RX_MALFORMED;
	if (!h.deth)
		return ibfab_rc_receive(hca, pkt->port, &h);
	return ibfab_ud_receive(hca, pkt, &h);
}

/**
 * ibfab_net_receive() - Check a packet that came in and deliver it.
 * @hca: the HCA that received it
 * @pkt: the packet, which is consumed
 *
 * Context: the engine.
 */
void ibfab_net_receive(struct ibfab_hca *hca, struct ibfab_pkt *pkt)
{
	enum ibfab_drop drop = receive(hca, pkt);

	if (drop)
		ibfab_net_count_drop(pkt->port, drop);
	ibfab_pkt_free(pkt);
}
