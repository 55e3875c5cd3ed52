// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * IP over InfiniBand (RFC 4391, RFC 4392): the module, the ib_client, and the
 * life cycle and operations of the netdevice that each port gets.
 */
#include <linux/if_arp.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/rtnetlink.h>

#include "ipoib.h"
#define CREATE_TRACE_POINTS
#include "ipoib_trace.h"

MODULE_DESCRIPTION("IP over InfiniBand");
MODULE_AUTHOR("The ib-ipoib authors");
MODULE_LICENSE("Dual BSD/GPL");

static unsigned int send_queue_size = IPOIB_TX_RING_DEFAULT;
module_param(send_queue_size, uint, 0444);
MODULE_PARM_DESC(send_queue_size, "Packets in the send queue (64 to 8192, a power of two)");

static unsigned int recv_queue_size = IPOIB_RX_RING_DEFAULT;
module_param(recv_queue_size, uint, 0444);
MODULE_PARM_DESC(recv_queue_size, "Packets in the receive queue (64 to 8192, a power of two)");

static bool learn_paths = true;
module_param(learn_paths, bool, 0644);
MODULE_PARM_DESC(learn_paths, "New interfaces answer by what packets tell until the SA has said (ethtool --set-priv-flags learn-paths)");

static bool trust_learned;
module_param(trust_learned, bool, 0644);
MODULE_PARM_DESC(trust_learned, "New interfaces do not ask the SA where packets have told (ethtool --set-priv-flags trust-learned)");

static bool arp_verify;
module_param(arp_verify, bool, 0644);
MODULE_PARM_DESC(arp_verify, "New interfaces drop ARP and ND of forged addresses (ethtool --set-priv-flags arp-verify)");

int ipoib_debug_level;
module_param_named(debug_level, ipoib_debug_level, int, 0644);
MODULE_PARM_DESC(debug_level, "Log what links and paths do if > 0 (default 0)");

int ipoib_mcast_debug_level;
module_param_named(mcast_debug_level, ipoib_mcast_debug_level, int, 0644);
MODULE_PARM_DESC(mcast_debug_level, "Log what multicast groups do if > 0 (default 0)");

/* Configuration files that were written for connected mode have it */
static int max_nonsrq_conn_qp = 128;
module_param(max_nonsrq_conn_qp, int, 0444);
MODULE_PARM_DESC(max_nonsrq_conn_qp,
		 "Connections without a shared receive queue (connected mode only: no effect)");

/* This driver as a user of ib_sa: a query that is out keeps the module loaded */
struct ib_sa_client ipoib_sa_client;

static struct ib_client ipoib_client;

/* Peers are told of a new address more than once: an SM answers a join before the switches
 * forward to the new member.
 */
#define IPOIB_ANNOUNCE_GAP	(2 * HZ)

/* Work that needs rtnl, for which ndo_stop() cannot wait */
static struct workqueue_struct *ipoib_netdev_wq;

/* All netdevices of one HCA: its client data */
struct ipoib_hca {
	struct list_head netdevs;	/* ipoib_dev.siblings; add and remove alone touch it */
};

/**
 * ipoib_netdev_kick() - have the netdevice follow the link
 * @priv: the device
 *
 * Its address, MTU and carrier are set soon, under rtnl, to what the link has.
 *
 * Context: any.
 */
void ipoib_netdev_kick(struct ipoib_dev *priv)
{
	dev_hold(priv->netdev);
	if (!queue_work(ipoib_netdev_wq, &priv->netdev_work))
		dev_put(priv->netdev);
}

/* Has the announcements that are left made, if any are */
static void netdev_announce(struct ipoib_dev *priv, unsigned long delay)
{
	if (!priv->announcements)
		return;
	dev_hold(priv->netdev);
	if (!queue_delayed_work(ipoib_netdev_wq, &priv->announce_work, delay))
		dev_put(priv->netdev);
}

static void announce_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, announce_work.work);
	struct net_device *netdev = priv->netdev;

	rtnl_lock();
	if (netdev->reg_state == NETREG_REGISTERED && netif_carrier_ok(netdev) &&
	    priv->announcements) {
		call_netdevice_notifiers(NETDEV_NOTIFY_PEERS, netdev);
		priv->announcements--;
		netdev_announce(priv, IPOIB_ANNOUNCE_GAP);
	}
	rtnl_unlock();
	dev_put(netdev);
}

/* As large as the link allows, but no larger than the administrator wants */
static u32 netdev_mtu(const struct ipoib_dev *priv)
{
	return min(priv->admin_mtu, READ_ONCE(priv->mtu));
}

static void netdev_follow_mtu(struct ipoib_dev *priv)
{
	u32 wanted = priv->admin_mtu, mtu = netdev_mtu(priv);
	int err;

	if (priv->netdev->mtu == mtu)
		return;
	err = dev_set_mtu(priv->netdev, mtu);
	if (err)
		netdev_warn(priv->netdev, "cannot set MTU to %u: error %d\n", mtu, err);
	priv->admin_mtu = wanted;
}

static int netdev_start(struct ipoib_dev *priv)
{
	int err;

	err = ipoib_rings_create(priv);
	if (err)
		return err;
	WRITE_ONCE(priv->admin_up, true);
	ipoib_link_event(priv, IPOIB_EVENT_CHECK);
	return 0;
}

static void netdev_stop(struct ipoib_dev *priv)
{
	WRITE_ONCE(priv->admin_up, false);
	ipoib_link_flush(priv);
	ipoib_rings_destroy(priv);
}

static int ipoib_open(struct net_device *netdev)
{
	struct ipoib_dev *priv = netdev_priv(netdev);
	int err;

	err = netdev_start(priv);
	if (!err)
		ipoib_children_up(priv);
	return err;
}

static int ipoib_stop(struct net_device *netdev)
{
	struct ipoib_dev *priv = netdev_priv(netdev);

	ipoib_children_down(priv);
	netdev_stop(priv);
	return 0;
}

/**
 * ipoib_netdev_resize() - give a netdevice rings of other sizes, or more or fewer
 * @priv: the device, up or down
 * @tx_count: send rings
 * @tx_size: packets in each, a power of two
 * @rx_size: likewise
 *
 * Its link-layer address changes; peers are told once there is carrier again.
 *
 * Context: rtnl held, may sleep.
 * Return: 0, or a negative error; the rings are as they were then, unless there
 * was no memory even for these: then the link stays down until it is set up.
 */
int ipoib_netdev_resize(struct ipoib_dev *priv, u32 tx_count, u32 tx_size, u32 rx_size)
{
	bool running = netif_running(priv->netdev);
	int err, start_err = 0;

	if (running)
		netdev_stop(priv);
	err = ipoib_queues_resize(priv, tx_count, tx_size, rx_size);
	ipoib_address_follow(priv);
	if (running)
		start_err = netdev_start(priv);
	if (start_err) {
		netdev_err(priv->netdev, "no memory for the rings, going down\n");
		dev_close(priv->netdev);
	}
	return err ?: start_err;
}

/* A CQ that failed takes its QP with it */
static void netdev_repair(struct ipoib_dev *priv)
{
	const struct ipoib_queues *queues = &priv->queues;
	int err;

	if (!READ_ONCE(priv->cq_failed))
		return;
	ipoib_count(priv, IPOIB_STAT_QP_RESETS);
	err = ipoib_netdev_resize(priv, queues->tx_count, queues->tx_size, queues->rx_size);
	if (!err)
		return;
	netdev_warn(priv->netdev, "cannot replace the failed CQ: error %d, will try again\n",
		    err);
	queue_delayed_work(priv->wq, &priv->link_work, HZ);
}

static void netdev_work(struct work_struct *work)
{
	struct ipoib_dev *priv = container_of(work, struct ipoib_dev, netdev_work);

	rtnl_lock();
	if (priv->netdev->reg_state == NETREG_REGISTERED) {
		netdev_repair(priv);
		ipoib_address_follow(priv);
		netdev_follow_mtu(priv);
		ipoib_link_carrier(priv);
	}
	rtnl_unlock();
	dev_put(priv->netdev);
}

/* Up to the port's: what is more than the group's counts when that grows */
static int ipoib_change_mtu(struct net_device *netdev, int mtu)
{
	struct ipoib_dev *priv = netdev_priv(netdev);

	priv->admin_mtu = mtu;
	netdev->mtu = netdev_mtu(priv);
	return 0;
}

static void ipoib_set_rx_mode(struct net_device *netdev)
{
	ipoib_groups_changed(netdev_priv(netdev));
}

static void ipoib_tx_timeout(struct net_device *netdev, unsigned int queue)
{
	struct ipoib_dev *priv = netdev_priv(netdev);

	ipoib_count(priv, IPOIB_STAT_TX_TIMEOUTS);
	/* The watchdog also looks at queues that have no ring */
	if (queue < priv->queues.tx_count && net_ratelimit())
		netdev_warn(netdev, "send queue %u stuck (head %u, tail %u), resetting QP\n",
			    queue, READ_ONCE(priv->tx[queue].head),
			    READ_ONCE(priv->tx[queue].tail));
	ipoib_link_event(priv, IPOIB_EVENT_HEAVY);
}

/**
 * ipoib_stat_read() - one counter, added up over all CPUs
 * @priv: the device
 * @stat: which
 *
 * Context: any.
 * Return: its value.
 */
u64 ipoib_stat_read(struct ipoib_dev *priv, enum ipoib_stat stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(priv->stats, cpu)->count[stat]);
	return sum;
}

static u64 stat_sum(struct ipoib_dev *priv, enum ipoib_stat first, enum ipoib_stat last)
{
	u64 sum = 0;

	for (; first <= last; first++)
		sum += ipoib_stat_read(priv, first);
	return sum;
}

static void ipoib_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *stats)
{
	struct ipoib_dev *priv = netdev_priv(netdev);

	dev_fetch_sw_netstats(stats, netdev->tstats);
	stats->multicast = ipoib_stat_read(priv, IPOIB_STAT_RX_MULTICAST);
	stats->rx_length_errors = stat_sum(priv, IPOIB_STAT_RX_SHORT, IPOIB_STAT_RX_TOO_LONG);
	stats->rx_errors = stats->rx_length_errors + ipoib_stat_read(priv, IPOIB_STAT_RX_ERROR);
	stats->rx_dropped = ipoib_stat_read(priv, IPOIB_STAT_RX_NO_MEMORY) +
			    ipoib_stat_read(priv, IPOIB_STAT_RX_FORGED_DROPPED);
	stats->tx_errors = stat_sum(priv, IPOIB_STAT_TX_DMA_MAP, IPOIB_STAT_TX_ERROR);
	stats->tx_dropped = stat_sum(priv, IPOIB_STAT_TX_SHORT, IPOIB_STAT_TX_NO_MEMORY) +
			    stat_sum(priv, IPOIB_STAT_TX_FLUSHED, IPOIB_STAT_TX_GROUP_BACKLOG);
	stats->tx_carrier_errors = ipoib_stat_read(priv, IPOIB_STAT_TX_NO_CARRIER);
}

static int ipoib_hard_header(struct sk_buff *skb, struct net_device *netdev,
			     unsigned short type, const void *daddr, const void *saddr,
			     unsigned int len)
{
	struct ipoib_header *header;

	/* Most callers have made room. Netfilter's flow tables and its "fwd" have not: a packet
	 * that came by Ethernet may have 16 octets.
	 */
	if (unlikely(skb_headroom(skb) < sizeof(*header)) &&
	    pskb_expand_head(skb, NET_SKB_PAD, 0, GFP_ATOMIC))
		return -ENOMEM;
	header = skb_push(skb, sizeof(*header));
	header->encap.ethertype = htons(type);
	header->encap.reserved = 0;
	if (!daddr) {
		memset(&header->hwaddr, 0, sizeof(header->hwaddr));
		return -(int)sizeof(*header);
	}
	memcpy(&header->hwaddr, daddr, sizeof(header->hwaddr));
	return sizeof(*header);
}

static int ipoib_get_iflink(const struct net_device *netdev)
{
	const struct ipoib_dev *priv = netdev_priv(netdev);

	return priv->parent ? priv->parent->netdev->ifindex : netdev->ifindex;
}

static int ipoib_set_vf_link_state(struct net_device *netdev, int vf, int state)
{
	struct ipoib_dev *priv = netdev_priv(netdev);

	return ib_set_vf_link_state(priv->ibdev, vf, priv->port, state);
}

static int ipoib_get_vf_config(struct net_device *netdev, int vf, struct ifla_vf_info *info)
{
	struct ipoib_dev *priv = netdev_priv(netdev);
	int err;

	err = ib_get_vf_config(priv->ibdev, vf, priv->port, info);
	if (err)
		return err;
	info->vf = vf;
	/* A virtual function has GUIDs but no hardware address: users are shown the port's */
	memcpy(info->mac, netdev->dev_addr, netdev->addr_len);
	return 0;
}

static int ipoib_get_vf_stats(struct net_device *netdev, int vf, struct ifla_vf_stats *stats)
{
	struct ipoib_dev *priv = netdev_priv(netdev);

	return ib_get_vf_stats(priv->ibdev, vf, priv->port, stats);
}

static int ipoib_get_vf_guid(struct net_device *netdev, int vf, struct ifla_vf_guid *node,
			     struct ifla_vf_guid *port)
{
	struct ipoib_dev *priv = netdev_priv(netdev);

	return ib_get_vf_guid(priv->ibdev, vf, priv->port, node, port);
}

static int ipoib_set_vf_guid(struct net_device *netdev, int vf, u64 guid, int type)
{
	struct ipoib_dev *priv = netdev_priv(netdev);

	return ib_set_vf_guid(priv->ibdev, vf, priv->port, guid, type);
}

/* There is no .parse: its callers (nfnetlink_log, nfnetlink_queue, packet rings) have room for
 * 8 octets of an address, and do not say so. The sender's 20 are in the pseudo header, in
 * front of the packet.
 */
static const struct header_ops ipoib_header_ops = {
	.create = ipoib_hard_header,
};

static int netdev_init_tables(struct ipoib_dev *priv)
{
	int err;

	err = ipoib_learn_init(priv);
	if (err)
		return err;
	err = ipoib_groups_init(priv);
	if (err)
		goto err_learn;
	err = ipoib_paths_init(priv);
	if (err)
		goto err_groups;
	return 0;

err_groups:
	ipoib_groups_destroy(priv);
err_learn:
	ipoib_learn_destroy(priv);
	return err;
}

/* Events of the QPs and of the port queue the link's work, which looks at the tables: it is
 * cancelled when there is neither any more.
 */
static void netdev_free_tables(struct ipoib_dev *priv)
{
	cancel_delayed_work_sync(&priv->link_work);
	ipoib_paths_destroy(priv);
	ipoib_groups_destroy(priv);
	ipoib_learn_destroy(priv);
}

static int netdev_init_stats(struct ipoib_dev *priv)
{
	priv->stats = alloc_percpu(struct ipoib_pcpu_stats);
	if (!priv->stats)
		return -ENOMEM;
	priv->netdev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	if (priv->netdev->tstats)
		return 0;
	free_percpu(priv->stats);
	return -ENOMEM;
}

static void netdev_free_stats(struct ipoib_dev *priv)
{
	free_percpu(priv->netdev->tstats);
	free_percpu(priv->stats);
}

static int ipoib_init(struct net_device *netdev)
{
	struct ipoib_dev *priv = netdev_priv(netdev);
	int err;

	err = netdev_init_stats(priv);
	if (err)
		return err;
	priv->wq = alloc_ordered_workqueue("ipoib-%s-%u-%04x", WQ_MEM_RECLAIM,
					   dev_name(&priv->ibdev->dev), priv->port, priv->pkey);
	if (!priv->wq) {
		err = -ENOMEM;
		goto err_stats;
	}
	/* What an event of the QP has run */
	ipoib_link_init(priv);
	ipoib_ahs_init(priv);
	netif_napi_add(netdev, &priv->napi, ipoib_poll);
	err = netdev_init_tables(priv);
	if (err)
		goto err_wq;
	err = ipoib_verbs_create(priv);
	if (err)
		goto err_tables;
	ipoib_address_init(priv);
	err = priv->fabric->start(priv);
	if (err)
		goto err_verbs;
	ipoib_child_link(priv);
	return 0;

err_verbs:
	ipoib_verbs_destroy(priv);
err_tables:
	netdev_free_tables(priv);
err_wq:
	destroy_workqueue(priv->wq);
err_stats:
	netdev_free_stats(priv);
	return err;
}

static void ipoib_uninit(struct net_device *netdev)
{
	struct ipoib_dev *priv = netdev_priv(netdev);

	if (cancel_delayed_work(&priv->announce_work))
		dev_put(netdev);
	ipoib_child_unlink(priv);
	priv->fabric->stop(priv);
	ipoib_ahs_flush(priv);
	ipoib_verbs_destroy(priv);
	netdev_free_tables(priv);
	netif_napi_del(&priv->napi);
	destroy_workqueue(priv->wq);
	netdev_free_stats(priv);
}

#define IPOIB_NETDEV_OPS						\
	.ndo_init = ipoib_init,						\
	.ndo_uninit = ipoib_uninit,					\
	.ndo_open = ipoib_open,						\
	.ndo_stop = ipoib_stop,						\
	.ndo_start_xmit = ipoib_start_xmit,				\
	.ndo_select_queue = ipoib_select_queue,				\
	.ndo_features_check = ipoib_features_check,			\
	.ndo_change_mtu = ipoib_change_mtu,				\
	.ndo_set_mac_address = ipoib_address_set,			\
	.ndo_set_rx_mode = ipoib_set_rx_mode,				\
	.ndo_tx_timeout = ipoib_tx_timeout,				\
	.ndo_get_stats64 = ipoib_get_stats64,				\
	.ndo_get_iflink = ipoib_get_iflink,				\
	.ndo_get_phys_port_id = ipoib_address_port_id

/* A container that has a child only must not reach the port's virtual functions by it */
static const struct net_device_ops ipoib_netdev_ops = {
	IPOIB_NETDEV_OPS,
};

static const struct net_device_ops ipoib_port_netdev_ops = {
	IPOIB_NETDEV_OPS,
	.ndo_set_vf_link_state = ipoib_set_vf_link_state,
	.ndo_get_vf_config = ipoib_get_vf_config,
	.ndo_get_vf_stats = ipoib_get_vf_stats,
	.ndo_get_vf_guid = ipoib_get_vf_guid,
	.ndo_set_vf_guid = ipoib_set_vf_guid,
};

/**
 * ipoib_is_ours() - whether a netdevice is this driver's
 * @netdev: any
 *
 * Context: any.
 * Return: true if its private part is a &struct ipoib_dev.
 */
bool ipoib_is_ours(const struct net_device *netdev)
{
	return netdev->netdev_ops == &ipoib_netdev_ops ||
	       netdev->netdev_ops == &ipoib_port_netdev_ops;
}

/**
 * ipoib_setup() - set up what all netdevices of this driver share
 * @netdev: just allocated
 *
 * Context: any.
 */
void ipoib_setup(struct net_device *netdev)
{
	struct ipoib_dev *priv = netdev_priv(netdev);

	netdev->netdev_ops = &ipoib_netdev_ops;
	netdev->ethtool_ops = &ipoib_ethtool_ops;
	netdev->header_ops = &ipoib_header_ops;
	netdev->type = ARPHRD_INFINIBAND;
	netdev->addr_len = INFINIBAND_ALEN;
	netdev->hard_header_len = IPOIB_HARD_LEN;
	netdev->min_header_len = IPOIB_HARD_LEN;
	netdev->flags = IFF_BROADCAST | IFF_MULTICAST;
	netdev->features = NETIF_F_VLAN_CHALLENGED;
	/* To make checksums the payload is read: it must have an address */
	if (!IS_ENABLED(CONFIG_HIGHMEM))
		netdev->features |= NETIF_F_HIGHDMA;
	netdev->watchdog_timeo = 5 * HZ;
	netdev->min_mtu = ETH_MIN_MTU;
	netdev->tx_queue_len = 2 * send_queue_size;
	netdev->needs_free_netdev = true;
	netdev->sysfs_groups[0] = &ipoib_sysfs_group;

	priv->netdev = netdev;
	spin_lock_init(&priv->lock);
	INIT_WORK(&priv->netdev_work, netdev_work);
	INIT_DELAYED_WORK(&priv->announce_work, announce_work);
	INIT_LIST_HEAD(&priv->siblings);
	INIT_LIST_HEAD(&priv->children);
	u64_stats_init(&priv->rx.stats.syncp);
}

/* What the HCA cannot do for a packet the driver does; both need several pieces in a
 * work request for large ones.
 */
static netdev_features_t hw_features(const struct ib_device *ibdev)
{
	netdev_features_t features = NETIF_F_HW_CSUM;

	if (ibdev->attrs.max_send_sge > 1)
		features |= NETIF_F_SG | NETIF_F_TSO | NETIF_F_TSO6 | NETIF_F_GSO_UDP_L4;
	if (ibdev->attrs.device_cap_flags & IB_DEVICE_UD_IP_CSUM)
		features |= NETIF_F_RXCSUM;
	return features;
}

/**
 * ipoib_bind() - tie a new netdevice to its port
 * @priv: not registered yet; its P_Key is set
 * @ibdev: the HCA
 * @port: its port
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int ipoib_bind(struct ipoib_dev *priv, struct ib_device *ibdev, u32 port)
{
	struct net_device *netdev = priv->netdev;
	struct ib_port_attr attr;
	int err;

	err = ib_query_port(ibdev, port, &attr);
	if (err)
		return err;
	err = rdma_query_gid(ibdev, port, 0, &priv->local_gid);
	if (err)
		return err;
	priv->ibdev = ibdev;
	priv->port = port;
	priv->fabric = rdma_protocol_ib(ibdev, port) ? &ipoib_sa_ops : &ipoib_roce_ops;
	priv->queues.tx_size = send_queue_size;
	priv->queues.rx_size = recv_queue_size;
	priv->rx.mtu = IPOIB_RX_MTU_DEFAULT;
	priv->admin_mtu = U32_MAX;
	priv->learn_paths = learn_paths;
	priv->trust_learned = trust_learned;
	priv->arp_verify = arp_verify;
	priv->max_mtu = attr.max_mtu;
	priv->mtu = ipoib_ib_mtu_to_mtu(attr.max_mtu);
	netdev->mtu = priv->mtu;
	netdev->max_mtu = priv->mtu;
	netdev->dev_port = port - 1;
	netdev->dev_id = port - 1;
	netdev->rtnl_link_ops = &ipoib_link_ops;
	if (!priv->parent && !ipoib_is_vf(priv->ibdev))
		netdev->netdev_ops = &ipoib_port_netdev_ops;
	SET_NETDEV_DEV(netdev, ibdev->dev.parent);
	netdev->hw_features = hw_features(ibdev);
	netdev->features |= netdev->hw_features;
	netif_carrier_off(netdev);
	return 0;
}

/* RoCE ports come and go with rxe devices, whose names must not shift those that
 * configuration files have
 */
static const char *port_name_format(struct ib_device *ibdev, u32 port)
{
	return rdma_protocol_ib(ibdev, port) ? "ib%d" : "roce%d";
}

static int ipoib_add_port(struct ipoib_hca *hca, struct ib_device *ibdev, u32 port)
{
	struct net_device *netdev;
	struct ipoib_dev *priv;
	int err;

	netdev = alloc_netdev_mqs(sizeof(*priv), port_name_format(ibdev, port), NET_NAME_UNKNOWN,
				  ipoib_setup, ipoib_queues_max(), 1);
	if (!netdev)
		return -ENOMEM;
	priv = netdev_priv(netdev);
	err = ipoib_pkey_default(ibdev, port, &priv->pkey);
	if (!err)
		err = ipoib_bind(priv, ibdev, port);
	if (!err)
		err = register_netdev(netdev);
	if (err) {
		free_netdev(netdev);
		return err;
	}
	list_add_tail(&priv->siblings, &hca->netdevs);
	return 0;
}

static int ipoib_add_one(struct ib_device *ibdev)
{
	struct ipoib_hca *hca;
	u32 port;
	int err;

	hca = kzalloc(sizeof(*hca), GFP_KERNEL);
	if (!hca)
		return -ENOMEM;
	INIT_LIST_HEAD(&hca->netdevs);
	rdma_for_each_port(ibdev, port) {
		if (!rdma_protocol_ib(ibdev, port) && !ipoib_roce_wants(ibdev, port))
			continue;
		err = ipoib_add_port(hca, ibdev, port);
		if (err)
			dev_err(&ibdev->dev, "no IPoIB netdevice for port %u: error %d\n",
				port, err);
	}
	if (list_empty(&hca->netdevs)) {
		kfree(hca);
		return -EOPNOTSUPP;
	}
	ib_set_client_data(ibdev, &ipoib_client, hca);
	return 0;
}

static void ipoib_remove_one(struct ib_device *ibdev, void *client_data)
{
	struct ipoib_hca *hca = client_data;
	struct ipoib_dev *priv;
	LIST_HEAD(gone);

	rtnl_lock();
	list_for_each_entry(priv, &hca->netdevs, siblings) {
		ipoib_children_remove(priv, &gone);
		unregister_netdevice_queue(priv->netdev, &gone);
	}
	unregister_netdevice_many(&gone);
	rtnl_unlock();
	kfree(hca);
}

/* Not before the stack has taken note of the carrier: till then its queue drops all */
static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(ptr);

	if (event == NETDEV_CHANGE && ipoib_is_ours(netdev) && netif_carrier_ok(netdev))
		netdev_announce(netdev_priv(netdev), 0);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

/* ib_core keeps the list of ports as it is meanwhile */
static struct net_device *ipoib_find_netdev(struct ib_device *ibdev, u32 port, u16 pkey,
					    const union ib_gid *gid, const struct sockaddr *addr,
					    void *client_data)
{
	const struct ipoib_hca *hca = client_data;

	return ipoib_rdma_cm_netdev(&hca->netdevs, port, pkey, gid, addr);
}

static struct ib_client ipoib_client = {
	.name = "ipoib",
	.add = ipoib_add_one,
	.remove = ipoib_remove_one,
	.get_net_dev_by_params = ipoib_find_netdev,
};

static unsigned int ring_size(const char *name, unsigned int size)
{
	unsigned int fit = roundup_pow_of_two(clamp(size, (unsigned int)IPOIB_RING_MIN,
						    (unsigned int)IPOIB_RING_MAX));

	if (fit != size)
		pr_info("ib_ipoib: %s is %u, not %u\n", name, fit, size);
	return fit;
}

/* What all netdevices need; HCAs and rtnetlink, which make them, come after */
static int services_begin(void)
{
	int err;

	ipoib_netdev_wq = alloc_workqueue("ipoib_netdev", 0, 0);
	if (!ipoib_netdev_wq)
		return -ENOMEM;
	ib_sa_register_client(&ipoib_sa_client);
	err = ipoib_debugfs_init();
	if (err)
		goto err_sa;
	err = register_netdevice_notifier(&netdev_notifier);
	if (err)
		goto err_debugfs;
	err = ipoib_roce_init();
	if (err)
		goto err_notifier;
	return 0;

err_notifier:
	unregister_netdevice_notifier(&netdev_notifier);
err_debugfs:
	ipoib_debugfs_exit();
err_sa:
	ib_sa_unregister_client(&ipoib_sa_client);
	destroy_workqueue(ipoib_netdev_wq);
	return err;
}

static void services_end(void)
{
	ipoib_roce_exit();
	unregister_netdevice_notifier(&netdev_notifier);
	ipoib_debugfs_exit();
	ib_sa_unregister_client(&ipoib_sa_client);
	destroy_workqueue(ipoib_netdev_wq);
}

static int __init ipoib_module_init(void)
{
	int err;

	send_queue_size = ring_size("send_queue_size", send_queue_size);
	recv_queue_size = ring_size("recv_queue_size", recv_queue_size);
	err = services_begin();
	if (err)
		return err;
	err = rtnl_link_register(&ipoib_link_ops);
	if (err)
		goto err_services;
	err = ib_register_client(&ipoib_client);
	if (err)
		goto err_link;
	return 0;

err_link:
	rtnl_link_unregister(&ipoib_link_ops);
err_services:
	services_end();
	return err;
}

static void __exit ipoib_module_exit(void)
{
	ib_unregister_client(&ipoib_client);
	rtnl_link_unregister(&ipoib_link_ops);
	services_end();
}

module_init(ipoib_module_init);
module_exit(ipoib_module_exit);
