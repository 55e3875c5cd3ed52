// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The link's state machine. It derives the state of the link and the carrier
 * from the administrative state, the state of the port, and the membership of
 * the broadcast group that the subnet administrator grants.
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
 * Code that learns of a possible change sets a bit in ipoib_link.events and
 * queues the link's work. The work reads the current state of the port and
 * moves the link to the state that follows from it. Hence the order of events
 * does not matter, and none can be lost. There are three flush levels:
 *
 *   light	The paths are queried again, and traffic continues on the old
 *		ones. Groups rejoin when the fabric revokes their memberships.
 *   normal	The paths and groups are discarded and built anew.
 *   heavy	In addition, the QP is reset and the P_Key index looked up again.
 */
#include <linux/delay.h>

#include "ipoib.h"
#include "ipoib_trace.h"

/* ib_core reports no event when a GID of an InfiniBand port changes: poll at the first interval,
 * and at the second one while the port lacks the GID that the link needs
 */
#define IPOIB_LINK_LOOK		(60 * HZ)
#define IPOIB_LINK_LOOK_GID	HZ

/* How long ib_core's table may lack a GID while it is updated */
#define IPOIB_LINK_GID_MS	20

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

/* Notes why the link does not run */
static void link_explain(struct ipoib_dev *priv, enum ipoib_reason reason)
{
	if (reason == priv->link.reason)
		return;
	WRITE_ONCE(priv->link.reason, reason);
	ipoib_reason_log(priv, reason);
}

/**
 * ipoib_link_carrier() - turn the carrier on if the link runs
 * @priv: the device
 *
 * This is separate from the transition to LINK_RUNNING, because the MTU has to be
 * set before the first packet is sent, and setting the MTU requires rtnl.
 *
 * Context: process.
 */
void ipoib_link_carrier(struct ipoib_dev *priv)
{
	spin_lock_bh(&priv->link.lock);
	if (priv->link.state == IPOIB_LINK_RUNNING)
		netif_carrier_on(priv->netdev);
	spin_unlock_bh(&priv->link.lock);
	/* A packet may have been left in a qdisc while the queues were stopped. If the stack has
	 * not noticed that there was no carrier, nothing else has it sent.
	 */
	netif_tx_schedule_all(priv->netdev);
}

/* Turns the carrier off and discards paths and groups, but leaves the QP running */
static void link_suspend(struct ipoib_dev *priv, enum ipoib_link_state state)
{
	link_set(priv, state);
	ipoib_learn_flush(priv);
	ipoib_paths_flush(priv);
	ipoib_groups_stop(priv);
}

/* The link cannot be set up with the fabric's parameters. Starts over after a delay, as the
 * fabric may answer at once each time.
 */
static void link_retry(struct ipoib_dev *priv, enum ipoib_reason reason, const char *what,
		       int err)
{
	if (net_ratelimit())
		netdev_warn(priv->netdev, "%s: error %d, will try again\n", what, err);
	link_explain(priv, reason);
	set_bit(IPOIB_EVENT_HEAVY, &priv->link.events);
	mod_delayed_work(priv->wq, &priv->link.work, HZ);
}

/* The receive buffers are made for the MTU that most fabrics have. If the group's MTU is larger,
 * replaces them. The carrier is off meanwhile, because the stack's watchdog considers a queue hung
 * that is stopped while the carrier is on. Returns false if that has failed.
 */
static bool link_fit_buffers(struct ipoib_dev *priv, u32 mtu)
{
	int err;

	if (priv->transport->holds(priv, mtu))
		return true;
	link_set(priv, IPOIB_LINK_WAIT_JOIN);
	priv->transport->stop(priv);
	err = priv->transport->fit(priv, mtu);
	if (err) {
		link_retry(priv, IPOIB_REASON_NO_BUFFERS, "no buffers for the group's MTU", err);
		return false;
	}
	err = priv->transport->start(priv);
	if (err)
		link_retry(priv, IPOIB_REASON_NO_QP, "cannot start QP", err);
	return !err;
}

/*
 * ipoib_link.joined: the broadcast group has been joined or rejoined. Its Q_Key applies to all
 * packets of the link, and its MTU is the link's MTU (RFC 4391 section 5).
 */
static void link_joined(struct ipoib_dev *priv, const struct ipoib_group_params *params)
{
	u32 mtu = ipoib_ib_mtu_to_mtu(params->mtu);
	int err;

	if (!link_fit_buffers(priv, mtu))
		return;
	err = priv->transport->set_qkey(priv, params->qkey);
	if (err) {
		link_retry(priv, IPOIB_REASON_NO_QKEY, "cannot set the group's Q_Key", err);
		return;
	}
	if (mtu != priv->mtu)
		netdev_info(priv->netdev, "the broadcast group allows an MTU of %u, before %u\n",
			    mtu, priv->mtu);
	WRITE_ONCE(priv->mtu, mtu);
	link_set(priv, IPOIB_LINK_RUNNING);
	link_explain(priv, IPOIB_REASON_NONE);
	ipoib_netdev_kick(priv);
}

/* ipoib_link.not_joined: if the link runs, it continues to do so while the group is rejoined */
static void link_not_joined(struct ipoib_dev *priv, enum ipoib_reason reason)
{
	if (priv->link.state == IPOIB_LINK_WAIT_JOIN)
		link_explain(priv, reason);
}

/* The subnet manager may assign several GIDs to the port. If the administrator has chosen one of
 * them by its GUID, replaces *gid by it. Fails if the port does not have that GID.
 */
static enum ipoib_reason link_choose_gid(const struct ipoib_dev *priv, union ib_gid *gid)
{
	__be64 guid = READ_ONCE(priv->admin_guid);
	const struct ib_gid_attr *attr;

	if (!guid)
		return IPOIB_REASON_NONE;
	gid->global.interface_id = guid;
	attr = rdma_find_gid_by_port(priv->ibdev, gid, IB_GID_TYPE_IB, priv->port->number, NULL);
	if (IS_ERR(attr))
		return IPOIB_REASON_NO_GUID;
	rdma_put_gid_attr(attr);
	return IPOIB_REASON_NONE;
}

static bool link_lacks_gid(enum ipoib_reason reason)
{
	return reason == IPOIB_REASON_NO_GID || reason == IPOIB_REASON_NO_GUID;
}

/* Returns why the port cannot carry packets, and reads the GID of the link */
static enum ipoib_reason link_read_port(struct ipoib_dev *priv, union ib_gid *gid)
{
	enum ipoib_reason port, guid;

	port = priv->port->fabric->port_ready(priv, gid);
	guid = link_choose_gid(priv, gid);
	return port ?: guid;
}

/* Returns why the port cannot carry packets. Updates local_gid to the port's current GID. When
 * ib_core updates its table, it first removes each GID. The SM changes several attributes of a port
 * at once, and this may be called for the event of another one. So before a link that is up
 * loses its groups and its carrier, the GID is read again.
 */
static enum ipoib_reason link_look_at_port(struct ipoib_dev *priv)
{
	union ib_gid gid = priv->local_gid;
	enum ipoib_reason reason = link_read_port(priv, &gid);

	if (link_lacks_gid(reason) && priv->link.state > IPOIB_LINK_WAIT_PORT) {
		msleep(IPOIB_LINK_GID_MS);
		reason = link_read_port(priv, &gid);
	}
	if (memcmp(&gid, &priv->local_gid, sizeof(gid))) {
		priv->local_gid = gid;
		set_bit(IPOIB_EVENT_ADDRESS, &priv->link.events);
	}
	return reason;
}

/* Looks the P_Key up in the port's table. *moved tells whether its index is no longer the one
 * that the QP uses, or the P_Key is missing. ib_core updates its cache of the table before it
 * reports an event. If the table has both a full and a limited member entry, ib_core finds the
 * full one.
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
	link_explain(priv, IPOIB_REASON_NO_QP);
	queue_delayed_work(priv->wq, &priv->link.work, HZ);
}

/* Returns the events that follow from a change of the port GID. As the GID is part of the
 * link-layer address and of every membership, all groups have to be joined again.
 */
static unsigned long link_new_address(struct ipoib_dev *priv)
{
	if (!test_and_clear_bit(IPOIB_EVENT_ADDRESS, &priv->link.events))
		return 0;
	ipoib_netdev_kick(priv);
	return BIT(IPOIB_EVENT_NORMAL);
}

static void link_flush(struct ipoib_dev *priv, unsigned long events)
{
	if (events & (BIT(IPOIB_EVENT_NORMAL) | BIT(IPOIB_EVENT_HEAVY))) {
		link_suspend(priv, IPOIB_LINK_WAIT_PORT);
		/* They were made with the GID and the P_Key's index of that time */
		ipoib_conns_detach(priv);
	} else if (events & BIT(IPOIB_EVENT_LIGHT)) {
		ipoib_groups_hurry(priv);
		ipoib_paths_refresh(priv);
		ipoib_conns_relocate(priv);
	}
	if (!(events & BIT(IPOIB_EVENT_HEAVY)) || !priv->qp_running)
		return;
	ipoib_count(priv, IPOIB_STAT_QP_RESETS);
	priv->transport->stop(priv);
}

static void link_down(struct ipoib_dev *priv)
{
	link_suspend(priv, IPOIB_LINK_DOWN);
	link_explain(priv, IPOIB_REASON_ADMIN_DOWN);
	priv->transport->stop(priv);
	/* Pairs with ipoib_link_flush(), whose caller may free the rings after it has seen this */
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
	/* A retry keeps the reason of the failure before it, until that is known to be over */
	if (priv->link.state == IPOIB_LINK_WAIT_JOIN && priv->link.reason < IPOIB_REASON_JOINING)
		link_explain(priv, IPOIB_REASON_JOINING);
	ipoib_groups_start(priv);
}

static void link_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, link.work.work);
	unsigned long events = xchg(&priv->link.events, 0);
	enum ipoib_reason reason;
	bool present, moved;

	reason = link_look_at_port(priv);
	events |= link_new_address(priv);
	if (!READ_ONCE(priv->admin_up)) {
		link_down(priv);
		return;
	}
	present = link_pkey_present(priv, &moved);
	if (moved)
		events |= BIT(IPOIB_EVENT_HEAVY);
	trace_ipoib_flush(priv, events, !reason, present);
	ipoib_debug(priv, "looking at the port: events %#lx, %sready, P_Key %#06x %s\n", events,
		    reason ? "not " : "", priv->pkey, present ? "present" : "missing");
	link_flush(priv, events);
	if (!reason && !present)
		reason = IPOIB_REASON_NO_PKEY;
	if (reason) {
		link_suspend(priv, IPOIB_LINK_WAIT_PORT);
		link_explain(priv, reason);
	} else {
		link_bring_up(priv);
	}
	queue_delayed_work(priv->wq, &priv->link.work,
			   link_lacks_gid(reason) ? IPOIB_LINK_LOOK_GID : IPOIB_LINK_LOOK);
}

/**
 * ipoib_link_flush() - wait until the link is down
 * @priv: the device; ipoib_dev.admin_up was cleared
 *
 * On return the QP is stopped, and neither paths nor groups exist.
 *
 * Context: may sleep; rtnl may be held.
 */
void ipoib_link_flush(struct ipoib_dev *priv)
{
	WRITE_ONCE(priv->link.is_down, false);
	/* Another CPU may be just about to requeue the work for an event. Then the flush finds
	 * nothing to wait for, although the work has not run.
	 */
	do {
		ipoib_link_event(priv, IPOIB_EVENT_CHECK);
		flush_delayed_work(&priv->link.work);
	} while (!smp_load_acquire(&priv->link.is_down)); /* pairs with link_down() */
}

/**
 * ipoib_link_set_guid() - choose which of the port's GIDs the link uses
 * @priv: the device; administratively down
 * @guid: the GUID (interface ID) of the GID. The GUID of the port's first GID undoes an
 *	earlier choice: the link follows the first GID again, whatever it is
 *
 * While the port does not have such a GID, the link does not run.
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
	priv->link.reason = IPOIB_REASON_ADMIN_DOWN;
	priv->link.joined = link_joined;
	priv->link.not_joined = link_not_joined;
	INIT_DELAYED_WORK(&priv->link.work, link_work);
}

/**
 * ipoib_link_destroy() - shut the state machine down
 * @priv: the device; no source of events is left
 *
 * Context: may sleep.
 */
void ipoib_link_destroy(struct ipoib_dev *priv)
{
	cancel_delayed_work_sync(&priv->link.work);
}
