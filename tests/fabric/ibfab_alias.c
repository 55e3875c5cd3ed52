// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Alias GUIDs: the SM does not see virtual ports, and so knows of their GUIDs only what the
 * physical port's HCA tells the SA: Set(GUIDInfoRecord) (15.2.5.18). The SM then writes
 * them to the physical port's GUID table.
 *
 * An SM forgets them when it restarts, or the port goes. So the SA is told again by each event
 * that may mean that, until it has answered.
 */
#include <linux/jiffies.h>
#include <rdma/ib_sa.h>

#include "ibfab_vport.h"

#define IBFAB_ALIAS_TIMEOUT	1000	/* ms; ib_sa asks ten times meanwhile */
#define IBFAB_ALIAS_RETRY	(HZ / 5)
#define IBFAB_ALIAS_GID0	4	/* ComponentMask: the first of a block's GUIDs */

static struct ib_sa_client sa_client;

static void answered(int status, struct ib_sa_guidinfo_rec *rec, void *context)
{
	struct ibfab_vport *vport = context;

	vport->status = status;
	complete(&vport->answered);
}

static int ask(struct ibfab_vport *vport)
{
	unsigned int at = vport->alias % IBFAB_SMP_GUID_BLOCK;
	struct ibfab_port *base = vport->port->base;
	struct ib_sa_guidinfo_rec rec = {
		.lid = cpu_to_be16(READ_ONCE(base->lid)),
		.block_num = vport->alias / IBFAB_SMP_GUID_BLOCK,
	};
	struct ib_sa_query *query;
	int ret;

	memcpy(rec.guid_info_list + at * sizeof(__be64), &vport->port->guid[0], sizeof(__be64));
	reinit_completion(&vport->answered);
	ret = ib_sa_guid_info_rec_query(&sa_client, &node_to_hca(base->node)->ibdev, base->num,
					&rec, IB_SA_GUIDINFO_REC_LID |
					IB_SA_GUIDINFO_REC_BLOCK_NUM |
					IB_SA_COMP_MASK(IBFAB_ALIAS_GID0 + at), IB_MGMT_METHOD_SET,
					IBFAB_ALIAS_TIMEOUT, GFP_KERNEL, answered, vport, &query);
	if (ret < 0)
		return ret;
	wait_for_completion(&vport->answered);
	return vport->status;
}

static void announce(struct work_struct *work)
{
	struct ibfab_vport *vport = container_of(work, struct ibfab_vport, announce.work);

	/* Its becoming ACTIVE is an event */
	if (READ_ONCE(vport->port->base->state) != IB_PORT_ACTIVE)
		return;
	if (ask(vport))
		queue_delayed_work(system_long_wq, &vport->announce, IBFAB_ALIAS_RETRY);
}

/**
 * ibfab_alias_event() - Have the SA told of a virtual port, where it may not know it.
 * @vport: whose HCA reports events
 * @event: of its physical port
 *
 * Context: mgmt_lock held.
 */
void ibfab_alias_event(struct ibfab_vport *vport, enum ib_event_type event)
{
	switch (event) {
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_LID_CHANGE:
	case IB_EVENT_SM_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
		mod_delayed_work(system_long_wq, &vport->announce, 0);
		break;
	default:
		break;
	}
}

/**
 * ibfab_alias_create() - Prepare for that.
 * @vport: zeroed, but for its port
 *
 * Context: any.
 */
void ibfab_alias_create(struct ibfab_vport *vport)
{
	init_completion(&vport->answered);
	INIT_DELAYED_WORK(&vport->announce, announce);
}

/**
 * ibfab_alias_stop() - Tell the SA no more.
 * @vport: no event of its physical port reaches it any more
 *
 * Context: process; waits for an answer that is due.
 */
void ibfab_alias_stop(struct ibfab_vport *vport)
{
	cancel_delayed_work_sync(&vport->announce);
}

/**
 * ibfab_alias_init() - Become a client of ib_sa.
 *
 * Context: process.
 */
void ibfab_alias_init(void)
{
	ib_sa_register_client(&sa_client);
}

/**
 * ibfab_alias_exit() - Be none any more.
 *
 * Context: process; waits until ib_sa is through with all that was asked.
 */
void ibfab_alias_exit(void)
{
	ib_sa_unregister_client(&sa_client);
}
