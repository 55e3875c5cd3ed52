// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What an Ethernet netdevice knows of a link, which it reaches by one lower netdevice or, if each
 * of some hosts has a QPN of its own, by several.
 */
#include "eipoib.h"

/* IP addresses of the IPoIB side that are known at most, and those of one interface: half of them,
 * since all hosts behind another host of this kind have the same one
 */
#define HEARD_MAX		16384
#define HEARD_MAX_PER_MAC	(HEARD_MAX / 2)

/* Addresses without any packet for this time are forgotten; how often this is looked at */
#define AGE_MAX		(20 * 60 * HZ)
#define AGE_LOOK	(60 * HZ)

/* Not all hosts report the groups by which their IPv6 addresses are asked for */
static bool join_solicited(void *context, const struct eipoib_ip_info *info)
{
	local_bh_disable();
	eipoib_snoop_solicited(context, &info->ip, info->mac);
	local_bh_enable();
	return true;
}

static void age_work(struct work_struct *work)
{
	struct eipoib_dev *eth = container_of(work, struct eipoib_dev, age_work.work);

	eipoib_ip_expire(&eth->local, AGE_MAX);
	eipoib_ip_expire(&eth->heard, AGE_MAX);
	eipoib_remotes_expire(&eth->remotes, AGE_MAX);
	eipoib_dhcp_table_expire(&eth->dhcp);
	eipoib_ip_walk(&eth->local, 0, join_solicited, eth);
	schedule_delayed_work(&eth->age_work, AGE_LOOK);
}

/**
 * eipoib_tables_init() - prepare the tables of a link, and the packets that wait
 * @eth: the first one of those who share them
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int eipoib_tables_init(struct eipoib_dev *eth)
{
	int err;

	err = eipoib_ip_table_init(&eth->local, eth, EIPOIB_STAT_LOCAL_EVICTED);
	if (err)
		return err;
	eth->local.tell = eipoib_netlink_tell;
	err = eipoib_ip_table_init(&eth->heard, eth, EIPOIB_STAT_HEARD_EVICTED);
	if (err)
		goto err_local;
	eipoib_ip_set_limits(&eth->heard, HEARD_MAX, HEARD_MAX_PER_MAC);
	err = eipoib_remotes_init(&eth->remotes, eth);
	if (err)
		goto err_heard;
	err = eipoib_members_init(eth);
	if (err)
		goto err_remotes;
	eth->domain = eth;
	eipoib_wait_init(&eth->to_ib, eth, EIPOIB_STAT_TX_UNANSWERED, eipoib_send_waiting);
	eipoib_wait_init(&eth->to_eth, eth, EIPOIB_STAT_RX_UNANSWERED, eipoib_deliver_waiting);
	eipoib_announce_init(eth);
	eipoib_dhcp_table_init(&eth->dhcp);
	INIT_DELAYED_WORK(&eth->age_work, age_work);
	schedule_delayed_work(&eth->age_work, AGE_LOOK);
	return 0;

err_remotes:
	eipoib_remotes_destroy(&eth->remotes);
err_heard:
	eipoib_ip_table_destroy(&eth->heard);
err_local:
	eipoib_ip_table_destroy(&eth->local);
	return err;
}

/**
 * eipoib_tables_destroy() - undo eipoib_tables_init()
 * @eth: the first one of those who share them; nothing is sent or received any more
 *
 * Context: may sleep.
 */
void eipoib_tables_destroy(struct eipoib_dev *eth)
{
	eipoib_wait_destroy(&eth->to_eth);
	eipoib_wait_destroy(&eth->to_ib);
	eipoib_announce_destroy(eth);
	cancel_delayed_work_sync(&eth->age_work);
	eipoib_members_destroy(eth);
	eipoib_dhcp_table_destroy(&eth->dhcp);
	eipoib_remotes_destroy(&eth->remotes);
	eipoib_ip_table_destroy(&eth->heard);
	eipoib_ip_table_destroy(&eth->local);
}

/**
 * eipoib_follow_address() - note the link-layer address of the lower netdevice
 * @eth: what sends and receives by it
 *
 * The MAC address that other hosts compute from it is nobody's on the Ethernet side. What has no
 * known sender gets it as its source, and a packet for it is sent by its IP address.
 *
 * Context: rtnl held.
 */
void eipoib_follow_address(struct eipoib_dev *eth)
{
	eipoib_remote_mac_of(eipoib_own_lladdr(eth), eth->own_mac);
}
