// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Management packets at a switch: forwarding directed-route SMPs (14.2.2), and the responses of the
 * switch's SMA and performance management agent. At an HCA, ib_mad does this.
 */
#include "ibfab.h"

/* An SMP at a switch, and the list of the packets that leave */
struct smp_ctx {
	struct ibfab_switch *sw;
	struct ibfab_pkt *pkt;
	struct ib_smp *smp;
	struct list_head *out;
};

static void smp_drop(const struct smp_ctx *c, enum ibfab_drop reason)
{
	ibfab_pkt_drop(c->pkt, c->pkt->port, reason);
}

static u16 switch_lid(const struct ibfab_switch *sw)
{
	return READ_ONCE(sw->node.ports[0].lid);
}

/* Sends an SMP on by directed route; both LIDs are permissive */
static void smp_egress(const struct smp_ctx *c, u8 num)
{
	struct ibfab_lrh *lrh = ibfab_pkt_lrh(c->pkt);

	if (!num || num > c->sw->node.num_ports) {
		smp_drop(c, IBFAB_DROP_SMP_ROUTE);
		return;
	}
	lrh->dlid = IB_LID_PERMISSIVE;
	lrh->slid = IB_LID_PERMISSIVE;
	c->pkt->port = &c->sw->node.ports[num];
	list_add_tail(&c->pkt->list, c->out);
}

/* Sends an SMP on by LID, at the end of the directed part of its route */
static void smp_by_lid(const struct smp_ctx *c, __be16 dlid)
{
	struct ibfab_lrh *lrh = ibfab_pkt_lrh(c->pkt);

	lrh->dlid = dlid;
	lrh->slid = cpu_to_be16(switch_lid(c->sw));
	c->pkt->port = &c->sw->node.ports[0];
	ibfab_switch_forward(c->sw, c->pkt, c->out);
}

/* 14.2.2.4: one step of the return path */
static void smp_return(const struct smp_ctx *c)
{
	struct ib_smp *smp = c->smp;

	if (smp->hop_ptr >= 2 && smp->hop_ptr <= smp->hop_cnt + 1) {
		smp->hop_ptr--;
		smp_egress(c, smp->return_path[smp->hop_ptr]);
		return;
	}
	if (smp->hop_ptr != 1) {
		smp_drop(c, IBFAB_DROP_SMP_ROUTE);
		return;
	}
	smp->hop_ptr = 0;
	if (smp->dr_slid == IB_LID_PERMISSIVE)
		smp_drop(c, IBFAB_DROP_NO_AGENT);	/* there is no SM on a switch */
	else
		smp_by_lid(c, smp->dr_slid);
}

/* Lets the SMA of this switch process an SMP. Returns true if the SMP is now a response. Otherwise
 * the packet was freed.
 */
static bool smp_local(const struct smp_ctx *c)
{
	u16 slid = be16_to_cpu(ibfab_pkt_lrh(c->pkt)->slid);
	struct ib_smp reply __aligned(8);
	int ret;

	ret = ibfab_sma_process(c->pkt->port, slid, c->smp, &reply);
	if (ret & IB_MAD_RESULT_REPLY) {
		*c->smp = reply;
		return true;
	}
	if (ret & IB_MAD_RESULT_CONSUMED)
		ibfab_pkt_free(c->pkt);
	else
		smp_drop(c, IBFAB_DROP_NO_AGENT);
	return false;
}

static void smp_local_directed(const struct smp_ctx *c)
{
	if (smp_local(c))
		smp_return(c);
}

/* The SMP came by LID, so the response is sent by LID */
static void smp_local_by_lid(const struct smp_ctx *c)
{
	if (smp_local(c))
		smp_by_lid(c, ibfab_pkt_lrh(c->pkt)->slid);
}

/* 14.2.2.3: one step of the initial path. hop_ptr is 0 if the directed part begins at this switch.
 */
static void smp_outbound(const struct smp_ctx *c)
{
	struct ib_smp *smp = c->smp;

	if (smp->hop_ptr > smp->hop_cnt + 1) {
		smp_drop(c, IBFAB_DROP_SMP_ROUTE);
		return;
	}
	if (smp->hop_ptr == smp->hop_cnt + 1) {
		smp_local_by_lid(c);
		return;
	}
	if (smp->hop_ptr)
		smp->return_path[smp->hop_ptr] = c->pkt->port->num;
	smp->hop_ptr++;
	if (smp->hop_ptr <= smp->hop_cnt)
		smp_egress(c, smp->initial_path[smp->hop_ptr]);
	else if (smp->dr_dlid == IB_LID_PERMISSIVE ||
		 be16_to_cpu(smp->dr_dlid) == switch_lid(c->sw))
		smp_local_directed(c);
	else
		smp_by_lid(c, smp->dr_dlid);
}

static void smp_directed(const struct smp_ctx *c)
{
	if (c->smp->hop_cnt >= IB_SMP_MAX_PATH_HOPS)
		smp_drop(c, IBFAB_DROP_SMP_ROUTE);
	else if (ib_get_smp_direction(c->smp))
		smp_return(c);
	else
		smp_outbound(c);
}

/**
 * ibfab_smp_receive() - Process an SMP whose DLID is that of a switch, or permissive.
 * @sw: the switch
 * @pkt: the packet, which is consumed; it is the only user of its bytes
 * @out: packets that leave the switch are added to it
 *
 * Context: softirq.
 */
void ibfab_smp_receive(struct ibfab_switch *sw, struct ibfab_pkt *pkt,
		       struct list_head *out)
{
	struct smp_ctx c = { .sw = sw, .pkt = pkt, .out = out };
	struct ibfab_hdrs h;

	if (!ibfab_pkt_parse(pkt, &h) || !h.deth ||
	    h.payload_len != sizeof(*c.smp)) {
		ibfab_count(pkt->port, IBFAB_CNT_RCV_ERRORS);
		smp_drop(&c, IBFAB_DROP_RX_MALFORMED);
		return;
	}
	c.smp = (struct ib_smp *)h.payload;
	switch (c.smp->mgmt_class) {
	case IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE:
		smp_directed(&c);
		break;
	case IB_MGMT_CLASS_SUBN_LID_ROUTED:
		smp_local_by_lid(&c);
		break;
	default:
		smp_drop(&c, IBFAB_DROP_NO_AGENT);
	}
}

/* 13.4.8: the checks of QP1 of the switch's port 0 */
static enum ibfab_drop gmp_check(const struct ibfab_switch *sw,
				 const struct ibfab_hdrs *h)
{
	if (!h->deth || h->payload_len != IB_MGMT_MAD_SIZE)
		return IBFAB_DROP_RX_MALFORMED;
	if ((be32_to_cpu(h->bth->dqpn) & IBFAB_QPN_MASK) != 1)
		return IBFAB_DROP_RX_NO_QP;
	if (ibfab_pkey_find(&sw->node.ports[0], be16_to_cpu(h->bth->pkey)) < 0)
		return IBFAB_DROP_RX_PKEY;
	if (be32_to_cpu(h->deth->qkey) != IB_QP1_QKEY)
		return IBFAB_DROP_RX_QKEY;
	return IBFAB_DROP_NONE;
}

/* Turns the headers of a request into those of its response */
static void gmp_reverse(const struct ibfab_switch *sw, struct ibfab_hdrs *h)
{
	h->lrh->dlid = h->lrh->slid;
	h->lrh->slid = cpu_to_be16(switch_lid(sw));
	if (h->grh)
		swap(h->grh->sgid, h->grh->dgid);
	h->bth->dqpn = h->deth->sqpn;
	h->bth->psn = 0;
	h->deth->sqpn = cpu_to_be32(1);
}

static bool gmp_answer(struct ibfab_switch *sw, const struct ibfab_hdrs *h)
{
	struct ib_pma_mad *mad = (struct ib_pma_mad *)h->payload;
	struct ib_pma_mad reply __aligned(8);

	if (mad->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT)
		return false;
	if (!(ibfab_pma_process(&sw->node.ports[0], mad, &reply) &
	      IB_MAD_RESULT_REPLY))
		return false;
	*mad = reply;
	return true;
}

/**
 * ibfab_gmp_receive() - Process a GMP whose DLID is that of a switch.
 * @sw: the switch
 * @pkt: the packet, which is consumed; it is the only user of its bytes
 * @out: packets that leave the switch are added to it
 *
 * Context: softirq.
 */
void ibfab_gmp_receive(struct ibfab_switch *sw, struct ibfab_pkt *pkt,
		       struct list_head *out)
{
	enum ibfab_drop drop = IBFAB_DROP_RX_MALFORMED;
	struct ibfab_hdrs h;

	if (ibfab_pkt_parse(pkt, &h))
		drop = gmp_check(sw, &h);
	if (!drop && !gmp_answer(sw, &h))
		drop = IBFAB_DROP_NO_AGENT;
	if (drop) {
		ibfab_pkt_drop(pkt, pkt->port, drop);
		return;
	}
	gmp_reverse(sw, &h);
	pkt->port = &sw->node.ports[0];
	ibfab_switch_forward(sw, pkt, out);
}
