// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Alias GUIDs. The SM does not see virtual ports. It learns their GUIDs only from the HCA of the
 * physical port, which sends Set(GUIDInfoRecord) to the SA (15.2.5.18). The SM then writes the
 * GUIDs to the GUID table of the physical port.
 *
 * The SM forgets the GUIDs when it restarts or when the port goes away. Each event that may mean
 * this makes the HCA send them again, until the SA answers.
 */
#include <linux/jiffies.h>
#include <rdma/ib_sa.h>

#include "ibfab_vport.h"

#define IBFAB_ALIAS_TIMEOUT	1000	/* in ms; ib_sa sends the query ten times in that time */
#define IBFAB_ALIAS_RETRY	(HZ / 5)
#define IBFAB_ALIAS_GID0	4	/* bit of ComponentMask for a block's first GUID */

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

	/* A port that becomes ACTIVE later reports an event, which queues this work again */
	if (READ_ONCE(vport->port->base->state) != IB_PORT_ACTIVE)
		return;
	if (ask(vport))
		queue_delayed_work(system_long_wq, &vport->announce, IBFAB_ALIAS_RETRY);
}

/**
 * ibfab_alias_event() - Send a virtual port's GUID to the SA after an event that may require it.
 * @vport: the virtual port, whose HCA reports events
 * @event: the event of its physical port
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
 * ibfab_alias_create() - Prepare a virtual port for sending its GUID to the SA.
 * @vport: zeroed, except for its port
 *
 * Context: any.
 */
void ibfab_alias_create(struct ibfab_vport *vport)
{
	init_completion(&vport->answered);
	INIT_DELAYED_WORK(&vport->announce, announce);
}

/**
 * ibfab_alias_stop() - Stop sending a virtual port's GUID to the SA.
 * @vport: the virtual port, which no event of its physical port reaches any more
 *
 * Context: process; waits for the answer to a query that was sent.
 */
void ibfab_alias_stop(struct ibfab_vport *vport)
{
	cancel_delayed_work_sync(&vport->announce);
}

/**
 * ibfab_alias_init() - Register as a client of ib_sa.
 *
 * Context: process.
 */
void ibfab_alias_init(void)
{
	ib_sa_register_client(&sa_client);
}

/**
 * ibfab_alias_exit() - Unregister from ib_sa.
 *
 * Context: process; waits until ib_sa has finished all queries.
 */
void ibfab_alias_exit(void)
{
	ib_sa_unregister_client(&sa_client);
}
