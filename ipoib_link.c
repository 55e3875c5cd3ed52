// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The link's state machine: what the administrator, the port and the subnet
 * administrator allow, and the carrier that follows from it.
 *
 *                    ip link set up
 *   LINK_DOWN ------------------------------> LINK_WAIT_PORT
 *       ^                                       |        ^
 *       | ip link set down,        port ACTIVE, |        | port down, P_Key gone,
 *       | from any state          P_Key present |        | flush normal or heavy
 *       |                                       v        |
 *   LINK_RUNNING <--------------------------- LINK_WAIT_JOIN
 *    carrier on    broadcast group joined
 *
 * Whoever learns that something may differ sets a bit in ipoib_link.events and
 * queues the link's work. That work looks at the port as it is now and takes
 * the link where it should be, so no event can be missed or come in the wrong
 * order. Three flush levels cost what they must:
 *
 *   light	paths are asked for again; traffic goes on by the old ones.
 *		Groups rejoin as the fabric voids their memberships.
 *   normal	paths and groups are forgotten and made anew.
 *   heavy	the QP is reset, too, and the P_Key index looked up again.
 */
#include "ipoib.h"
#include "ipoib_trace.h"

/* ib_core keeps a change of the subnet prefix to itself: look now and then */
#define IPOIB_LINK_LOOK		(60 * HZ)

static const char * const link_names[] = {
	[IPOIB_LINK_DOWN] = "down",
	[IPOIB_LINK_WAIT_PORT] = "waits for the port",
	[IPOIB_LINK_WAIT_JOIN] = "waits for the broadcast group",
	[IPOIB_LINK_RUNNING] = "runs",
};

static void link_set(struct ipoib_dev *priv, enum ipoib_link_state state)
{
	if (state != priv->link.state) {
		trace_ipoib_link_state(priv, state);
		ipoib_debug(priv, "link %s\n", link_names[state]);
	}
	spin_lock_bh(&priv->link.lock);
	WRITE_ONCE(priv->link.state, state);
	if (state != IPOIB_LINK_RUNNING)
		netif_carrier_off(priv->netdev);
	spin_unlock_bh(&priv->link.lock);
}

/**
 * ipoib_link_carrier() - turn the carrier on if the link runs
 * @priv: the device
 *
 * Apart from the step to LINK_RUNNING, since the MTU, which needs rtnl, must be
 * right before the first packet.
 *
 * Context: process.
 */
void ipoib_link_carrier(struct ipoib_dev *priv)
{
	spin_lock_bh(&priv->link.lock);
	if (priv->link.state == IPOIB_LINK_RUNNING)
		netif_carrier_on(priv->netdev);
	spin_unlock_bh(&priv->link.lock);
}

/* No carrier, no paths, no groups; the QP, if it runs, is left running */
static void link_suspend(struct ipoib_dev *priv, enum ipoib_link_state state)
{
	link_set(priv, state);
	ipoib_learn_flush(priv);
	ipoib_paths_flush(priv);
	ipoib_groups_stop(priv);
}

/* Buffers are of the size that fabrics mostly need; where the group's MTU is larger, the
 * QP is given others before there is carrier. If it grew while there was, there is none
 * until then: queues that are stopped with carrier on are stuck for the stack's watchdog.
 */
static int link_fit_buffers(struct ipoib_dev *priv, u32 mtu)
{
	int err;

	if (priv->transport->holds(priv, mtu))
		return 0;
	link_set(priv, IPOIB_LINK_WAIT_JOIN);
	priv->transport->stop(priv);
	err = priv->transport->fit(priv, mtu);
	return err ? : priv->transport->start(priv);
}

/* The link cannot be as the fabric wants it. All over again, but not as fast as the fabric
 * can answer.
 */
static void link_retry(struct ipoib_dev *priv, const char *what, int err)
{
	if (net_ratelimit())
		netdev_warn(priv->netdev, "%s: error %d, will try again\n", what, err);
	set_bit(IPOIB_EVENT_HEAVY, &priv->link.events);
	mod_delayed_work(priv->wq, &priv->link.work, HZ);
}

/*
 * The broadcast group has been joined, or joined again. RFC 4391 section 5: its Q_Key is that
 * of all packets, its MTU the link's.
 */
static void link_joined(struct ipoib_dev *priv, const struct ipoib_group_params *params)
{
	u32 mtu = ipoib_ib_mtu_to_mtu(params->mtu);
	int err;

	err = link_fit_buffers(priv, mtu);
	if (err) {
		link_retry(priv, "no buffers for the group's MTU", err);
		return;
	}
	err = priv->transport->set_qkey(priv, params->qkey);
	if (err) {
		link_retry(priv, "cannot set the group's Q_Key", err);
		return;
	}
	if (mtu != priv->mtu)
		netdev_info(priv->netdev, "the broadcast group allows an MTU of %u, before %u\n",
			    mtu, priv->mtu);
	WRITE_ONCE(priv->mtu, mtu);
	link_set(priv, IPOIB_LINK_RUNNING);
	ipoib_netdev_kick(priv);
}

/* The port has as many GIDs as the subnet manager gives it; the administrator may choose */
static int link_choose_gid(const struct ipoib_dev *priv, union ib_gid *gid)
{
	__be64 guid = READ_ONCE(priv->admin_guid);
	const struct ib_gid_attr *attr;

	if (!guid)
		return 0;
	gid->global.interface_id = guid;
	attr = rdma_find_gid_by_port(priv->ibdev, gid, IB_GID_TYPE_IB, priv->port->number, NULL);
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	rdma_put_gid_attr(attr);
	return 0;
}

/* Is the port fit for traffic? Notes the GID that it has now. */
static bool link_port_ready(struct ipoib_dev *priv)
{
	union ib_gid gid = priv->local_gid;
	int err;

	err = priv->port->fabric->port_ready(priv, &gid);
	err = link_choose_gid(priv, &gid) ?: err;
	if (memcmp(&gid, &priv->local_gid, sizeof(gid))) {
		priv->local_gid = gid;
		set_bit(IPOIB_EVENT_ADDRESS, &priv->link.events);
	}
	return !err;
}

/* Is the P_Key in the port's table, and where the QP believes it to be? ib_core's cache has the
 * table as it is when an event is told; of two memberships it chooses the full one.
 */
static bool link_pkey_present(struct ipoib_dev *priv, bool *moved)
{
	u16 index;
	int err;

	err = ib_find_cached_pkey(priv->ibdev, priv->port->number, priv->pkey, &index);
	*moved = err || index != priv->pkey_index;
	if (err)
		return false;
	priv->pkey_index = index;
	return true;
}

static void link_start_qp(struct ipoib_dev *priv)
{
	int err = priv->transport->start(priv);

	if (!err)
		return;
	if (net_ratelimit())
		netdev_warn(priv->netdev, "cannot start QP: error %d, will try again\n", err);
	queue_delayed_work(priv->wq, &priv->link.work, HZ);
}

/* The port GID is part of the link-layer address and of every membership */
static unsigned long link_new_address(struct ipoib_dev *priv)
{
	if (!test_and_clear_bit(IPOIB_EVENT_ADDRESS, &priv->link.events))
		return 0;
	ipoib_netdev_kick(priv);
	return BIT(IPOIB_EVENT_NORMAL);
}

static void link_flush(struct ipoib_dev *priv, unsigned long events)
{
	if (events & (BIT(IPOIB_EVENT_NORMAL) | BIT(IPOIB_EVENT_HEAVY)))
		link_suspend(priv, IPOIB_LINK_WAIT_PORT);
	else if (events & BIT(IPOIB_EVENT_LIGHT))
		ipoib_paths_refresh(priv);
	if (!(events & BIT(IPOIB_EVENT_HEAVY)) || !priv->qp_running)
		return;
	ipoib_count(priv, IPOIB_STAT_QP_RESETS);
	priv->transport->stop(priv);
}

static void link_down(struct ipoib_dev *priv)
{
	link_suspend(priv, IPOIB_LINK_DOWN);
	priv->transport->stop(priv);
	/* Pairs with ipoib_link_flush(): who sees it may free the rings */
	smp_store_release(&priv->link.is_down, true);
}

static void link_bring_up(struct ipoib_dev *priv)
{
	if (!priv->qp_running)
		link_start_qp(priv);
	if (!priv->qp_running)
		return;
	if (priv->link.state < IPOIB_LINK_WAIT_JOIN)
		link_set(priv, IPOIB_LINK_WAIT_JOIN);
	ipoib_groups_start(priv);
}

static void link_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, link.work.work);
	unsigned long events = xchg(&priv->link.events, 0);
	bool ready, present, moved;

	ready = link_port_ready(priv);
	events |= link_new_address(priv);
	if (!READ_ONCE(priv->admin_up)) {
		link_down(priv);
		return;
	}
	present = link_pkey_present(priv, &moved);
	if (moved)
		events |= BIT(IPOIB_EVENT_HEAVY);
	trace_ipoib_flush(priv, events, ready, present);
	ipoib_debug(priv, "looking at the port: events %#lx, %sready, P_Key %#06x %s\n", events,
		    ready ? "" : "not ", priv->pkey, present ? "present" : "missing");
	link_flush(priv, events);
	if (ready && present)
		link_bring_up(priv);
	else
		link_suspend(priv, IPOIB_LINK_WAIT_PORT);
	queue_delayed_work(priv->wq, &priv->link.work, IPOIB_LINK_LOOK);
}

/**
 * ipoib_link_flush() - wait until the link is where it should be
 * @priv: the device
 *
 * After ipoib_dev.admin_up was cleared: nothing of the QP or the fabric is in
 * use on return.
 *
 * Context: may sleep; rtnl may be held.
 */
void ipoib_link_flush(struct ipoib_dev *priv)
{
	WRITE_ONCE(priv->link.is_down, false);
	/* An event on another CPU may have taken the work to queue it anew, and not have
	 * done so yet: there is nothing to wait for, then, but it has not run either.
	 */
	do {
		ipoib_link_event(priv, IPOIB_EVENT_CHECK);
		flush_delayed_work(&priv->link.work);
	} while (!smp_load_acquire(&priv->link.is_down)); /* pairs with link_down() */
}

/**
 * ipoib_link_set_guid() - choose one of the port's GIDs
 * @priv: the device; administratively down
 * @guid: the GID's; the first GID's own: the link follows that again
 *
 * While the port has no such GID the link does not run.
 *
 * Context: rtnl held, may sleep. &ipoib_dev.local_gid has the GUID on return.
 */
void ipoib_link_set_guid(struct ipoib_dev *priv, __be64 guid)
{
	union ib_gid first;
	int err;

	err = rdma_query_gid(priv->ibdev, priv->port->number, 0, &first);
	if (!err && guid == first.global.interface_id)
		guid = 0;
	WRITE_ONCE(priv->admin_guid, guid);
	ipoib_link_flush(priv);
}

/**
 * ipoib_link_init() - prepare the state machine
 * @priv: the device; its workqueue exists
 *
 * Context: any.
 */
void ipoib_link_init(struct ipoib_dev *priv)
{
	spin_lock_init(&priv->link.lock);
	priv->link.state = IPOIB_LINK_DOWN;
	priv->link.joined = link_joined;
	INIT_DELAYED_WORK(&priv->link.work, link_work);
}

/**
 * ipoib_link_destroy() - the end of the state machine
 * @priv: the device; nobody is left that would report an event
 *
 * Context: may sleep.
 */
void ipoib_link_destroy(struct ipoib_dev *priv)
{
	cancel_delayed_work_sync(&priv->link.work);
}
