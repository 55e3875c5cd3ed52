// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Setup of a netdevice: its operations, the creation of its tables and queues, and its binding
 * to a port.
 */
#include <linux/if_arp.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>

#include "ipoib.h"
#include "ipoib_qstats.h"

static unsigned int send_queue_size = IPOIB_TX_RING_DEFAULT;
module_param(send_queue_size, uint, 0444);
MODULE_PARM_DESC(send_queue_size, "Packets in the send queue (64 to 8192, a power of two)");

static unsigned int recv_queue_size = IPOIB_RX_RING_DEFAULT;
module_param(recv_queue_size, uint, 0444);
MODULE_PARM_DESC(recv_queue_size, "Packets in the receive queue (64 to 8192, a power of two)");

static bool learn_paths = true;
module_param(learn_paths, bool, 0644);
MODULE_PARM_DESC(learn_paths, "New interfaces reply to a peer by the addresses of its packets until the SA answers (ethtool --set-priv-flags learn-paths)");

static bool trust_learned;
module_param(trust_learned, bool, 0644);
MODULE_PARM_DESC(trust_learned, "New interfaces do not query the SA for paths learned from packets (ethtool --set-priv-flags trust-learned)");

static bool arp_verify;
module_param(arp_verify, bool, 0644);
MODULE_PARM_DESC(arp_verify, "New interfaces drop ARP and ND packets that claim a forged address (ethtool --set-priv-flags arp-verify)");

/* The sysfs files of a port's own netdevice, and of children */
static const struct attribute_group *port_files, *child_files;

static int ipoib_open(struct net_device *netdev)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);
	int err;

	err = ipoib_netdev_start(priv);
	if (err)
		return err;
	/* It may have failed before the netdevice was registered */
	if (READ_ONCE(priv->cq_failed))
		ipoib_netdev_repair(priv);
	if (!priv->parent)
		ipoib_children_up(priv->port);
	return 0;
}

static int ipoib_stop(struct net_device *netdev)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	if (!priv->parent)
		ipoib_children_down(priv->port);
	ipoib_netdev_stop(priv);
	return 0;
}

static void ipoib_set_rx_mode(struct net_device *netdev)
{
	ipoib_groups_changed(ipoib_priv(netdev));
}

static void ipoib_tx_timeout(struct net_device *netdev, unsigned int queue)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	ipoib_count(priv, IPOIB_STAT_TX_TIMEOUTS);
	ipoib_link_event(priv, IPOIB_EVENT_HEAVY);
	/* The watchdog also checks queues that have no ring */
	if (queue >= priv->queues.count)
		return;
	/* The CQ may have completions whose event was lost, for which the reset would wait */
	ipoib_tx_reap(&priv->channels[queue].tx);
	if (net_ratelimit())
		netdev_warn(netdev, "send queue %u stuck (head %u, tail %u), resetting QP\n",
			    queue, READ_ONCE(priv->channels[queue].tx.sq.head),
			    READ_ONCE(priv->channels[queue].tx.sq.tail));
}

static int ipoib_hard_header(struct sk_buff *skb, struct net_device *netdev,
			     unsigned short type, const void *daddr, const void *saddr,
			     unsigned int len)
{
	struct ipoib_header *header;

	/* Most callers have made room for the header. Netfilter's flow tables and its "fwd"
	 * statement have not: a packet received by Ethernet may have only 16 octets of headroom.
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
	const struct ipoib_dev *priv = ipoib_priv(netdev);

	return (priv->parent ?: netdev)->ifindex;
}

static int ipoib_set_vf_link_state(struct net_device *netdev, int vf, int state)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	return ib_set_vf_link_state(priv->ibdev, vf, priv->port->number, state);
}

static int ipoib_get_vf_config(struct net_device *netdev, int vf, struct ifla_vf_info *info)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);
	int err;

	err = ib_get_vf_config(priv->ibdev, vf, priv->port->number, info);
	if (err)
		return err;
	info->vf = vf;
	/* A virtual function has GUIDs, but no hardware address: show the interface's instead */
	memcpy(info->mac, netdev->dev_addr, netdev->addr_len);
	return 0;
}

static int ipoib_get_vf_stats(struct net_device *netdev, int vf, struct ifla_vf_stats *stats)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	return ib_get_vf_stats(priv->ibdev, vf, priv->port->number, stats);
}

static int ipoib_get_vf_guid(struct net_device *netdev, int vf, struct ifla_vf_guid *node,
			     struct ifla_vf_guid *port)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	return ib_get_vf_guid(priv->ibdev, vf, priv->port->number, node, port);
}

static int ipoib_set_vf_guid(struct net_device *netdev, int vf, u64 guid, int type)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	return ib_set_vf_guid(priv->ibdev, vf, priv->port->number, guid, type);
}

/* There is no .parse, because its callers (nfnetlink_log, nfnetlink_queue, packet rings) have room
 * for an address of 8 octets only, and do not pass this length. The sender's 20 octets can be read
 * from the pseudo header in front of the packet.
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
	err = ipoib_peers_init(priv);
	if (err)
		goto err_paths;
	ipoib_long_init(priv);
	return 0;

err_paths:
	ipoib_paths_destroy(priv);
err_groups:
	ipoib_groups_destroy(priv);
err_learn:
	ipoib_learn_destroy(priv);
	return err;
}

/* Called after the QPs are destroyed and the port is left, whose events queue the link's work. That
 * work uses the tables, so it is cancelled first.
 */
static void netdev_free_tables(struct ipoib_dev *priv)
{
	ipoib_link_destroy(priv);
	ipoib_long_destroy(priv);
	ipoib_peers_destroy(priv);
	ipoib_paths_destroy(priv);
	ipoib_groups_destroy(priv);
	ipoib_learn_destroy(priv);
}

static int ipoib_init(struct net_device *netdev)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);
	int err;

	err = ipoib_stats_init(priv);
	if (err)
		return err;
	priv->wq = alloc_ordered_workqueue("ipoib-%s-%u-%04x", WQ_MEM_RECLAIM,
					   dev_name(&priv->ibdev->dev), priv->port->number,
					   priv->pkey);
	if (!priv->wq) {
		err = -ENOMEM;
		goto err_stats;
	}
	/* Before the QPs are created, since their events queue the link's work */
	ipoib_link_init(priv);
	ipoib_ahs_init(priv);
	err = netdev_init_tables(priv);
	if (err)
		goto err_wq;
	err = priv->transport->create(priv);
	if (err)
		goto err_tables;
	ipoib_cm_init(priv);
	ipoib_address_init(priv);
	ipoib_port_enter(priv);
	return 0;

err_tables:
	netdev_free_tables(priv);
err_wq:
	destroy_workqueue(priv->wq);
err_stats:
	ipoib_stats_destroy(priv);
	return err;
}

static void ipoib_uninit(struct net_device *netdev)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	ipoib_netdev_forget(priv);
	ipoib_port_leave(priv);
	ipoib_ahs_flush(priv);
	priv->transport->destroy(priv);
	netdev_free_tables(priv);
	destroy_workqueue(priv->wq);
	ipoib_stats_destroy(priv);
}

/* A child holds its parent until here, since the stack may call ndo_get_iflink() until then */
static void ipoib_free(struct net_device *netdev)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	netdev_put(priv->parent, &priv->parent_tracker);
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

/* Used for children. They have no operations for virtual functions, because a container that has
 * only a child must not be able to configure the port's virtual functions.
 */
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
 * ipoib_is_ours() - tell whether a netdevice belongs to this driver
 * @netdev: any netdevice
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
 * ipoib_setup() - initialize a netdevice, as far as this does not depend on its port
 * @netdev: the netdevice, just allocated
 *
 * Context: any.
 */
void ipoib_setup(struct net_device *netdev)
{
	struct ipoib_dev *priv = ipoib_priv(netdev);

	netdev->netdev_ops = &ipoib_netdev_ops;
	netdev->ethtool_ops = &ipoib_ethtool_ops;
	netdev->header_ops = &ipoib_header_ops;
	ipoib_qstats_init(netdev);
	netdev->type = ARPHRD_INFINIBAND;
	netdev->addr_len = INFINIBAND_ALEN;
	netdev->hard_header_len = IPOIB_HARD_LEN;
	netdev->min_header_len = IPOIB_HARD_LEN;
	netdev->flags = IFF_BROADCAST | IFF_MULTICAST;
	netdev->features = NETIF_F_VLAN_CHALLENGED;
	/* netpoll builds Ethernet frames, and sends with interrupts disabled, when no path can be
	 * created
	 */
	netdev->priv_flags |= IFF_DISABLE_NETPOLL;
	/* The payload is read for checksums, so its memory must have a kernel address */
	if (!IS_ENABLED(CONFIG_HIGHMEM))
		netdev->features |= NETIF_F_HIGHDMA;
	netdev->watchdog_timeo = 5 * HZ;
	netdev->min_mtu = ETH_MIN_MTU;
	netdev->tx_queue_len = 2 * send_queue_size;
	netdev->needs_free_netdev = true;
	netdev->priv_destructor = ipoib_free;
	netdev->sysfs_groups[0] = port_files;

	priv->netdev = netdev;
	ipoib_netdev_init(priv);
	ipoib_rx_init(&priv->rx, priv);
}

/* Returns the offloads of the netdevice. The driver itself performs those that the HCA lacks. Large
 * packets need several SGEs per WR in either case.
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
 * ipoib_bind() - bind a new netdevice to its port
 * @priv: the device, not registered yet; its P_Key is set
 * @port: the port
 *
 * Context: may sleep.
 * Return: 0 or a negative error.
 */
int ipoib_bind(struct ipoib_dev *priv, struct ipoib_port *port)
{
	struct net_device *netdev = priv->netdev;
	int err;

	err = rdma_query_gid(port->ibdev, port->number, 0, &priv->local_gid);
	if (err)
		return err;
	priv->ibdev = port->ibdev;
	priv->port = port;
	priv->transport = &ipoib_verbs_ops;
	priv->queues.tx_size = send_queue_size;
	priv->queues.rx_size = recv_queue_size;
	priv->admin_mtu = U32_MAX;
	priv->learn_paths = learn_paths;
	priv->trust_learned = trust_learned;
	priv->arp_verify = arp_verify;
	priv->mtu = ipoib_ib_mtu_to_mtu(port->max_mtu);
	netdev->mtu = priv->mtu;
	netdev->max_mtu = priv->mtu;
	netdev->dev_port = port->number - 1;
	netdev->dev_id = port->number - 1;
	if (priv->parent)
		netdev->sysfs_groups[0] = child_files;
	else if (!ipoib_is_vf(priv->ibdev))
		netdev->netdev_ops = &ipoib_port_netdev_ops;
	/* A rule of udev for the interface of an HCA must not give its name to children */
	if (!priv->parent)
		SET_NETDEV_DEV(netdev, port->ibdev->dev.parent);
	netdev->hw_features = hw_features(port->ibdev);
	netdev->features |= netdev->hw_features;
	netif_carrier_off(netdev);
	return 0;
}

static unsigned int ring_size(const char *name, unsigned int size)
{
	unsigned int fit = roundup_pow_of_two(clamp(size, (unsigned int)IPOIB_RING_MIN,
						    (unsigned int)IPOIB_RING_MAX));

	if (fit != size)
		pr_info("ib_ipoib: %s is %u, not %u\n", name, fit, size);
	return fit;
}

/**
 * ipoib_setup_begin() - prepare the setup of netdevices, and correct the module parameters
 * @port: sysfs files of a port's own netdevice
 * @child: sysfs files of a child
 *
 * Context: any, before the first netdevice is created.
 */
void ipoib_setup_begin(const struct attribute_group *port, const struct attribute_group *child)
{
	send_queue_size = ring_size("send_queue_size", send_queue_size);
	recv_queue_size = ring_size("recv_queue_size", recv_queue_size);
	port_files = port;
	child_files = child;
}
