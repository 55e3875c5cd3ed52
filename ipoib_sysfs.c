// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The netdevice's sysfs files, which scripts used long before `ip link add type
 * ipoib` existed.
 */
#include <linux/device.h>
#include <linux/rtnetlink.h>
#include <linux/sysfs.h>

#include "ipoib.h"

/* Checks the permission and takes rtnl. Owning the file is not sufficient: as for the other files
 * of a netdevice, and for rtnetlink, CAP_NET_ADMIN is required. The removal of a file waits for its
 * users with rtnl held. To avoid a deadlock, users must not wait for rtnl, but restart the system
 * call.
 */
static int sysfs_lock(struct net_device *netdev)
{
	if (!ns_capable(dev_net(netdev)->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	if (!rtnl_trylock())
		return restart_syscall();
	if (netdev->reg_state == NETREG_REGISTERED)
		return 0;
	rtnl_unlock();
	return -ENODEV;
}

static ssize_t mode_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct ipoib_dev *priv = ipoib_priv(to_net_dev(dev));

	return sysfs_emit(buf, "%s\n", READ_ONCE(priv->connected) ? "connected" : "datagram");
}

static ssize_t mode_store(struct device *dev, struct device_attribute *attr, const char *buf,
			  size_t count)
{
	struct net_device *netdev = to_net_dev(dev);
	u16 mode;
	int err;

	if (sysfs_streq(buf, "datagram"))
		mode = IPOIB_MODE_DATAGRAM;
	else if (sysfs_streq(buf, "connected"))
		mode = IPOIB_MODE_CONNECTED;
	else
		return -EINVAL;
	err = sysfs_lock(netdev);
	if (err)
		return err;
	err = ipoib_set_mode(ipoib_priv(netdev), mode, NULL);
	rtnl_unlock();
	return err ?: count;
}
static DEVICE_ATTR_RW(mode);

static ssize_t umcast_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct ipoib_dev *priv = ipoib_priv(to_net_dev(dev));

	return sysfs_emit(buf, "%d\n", READ_ONCE(priv->umcast));
}

static ssize_t umcast_store(struct device *dev, struct device_attribute *attr, const char *buf,
			    size_t count)
{
	struct net_device *netdev = to_net_dev(dev);
	unsigned long umcast;
	int err;

	err = kstrtoul(buf, 0, &umcast);
	if (err)
		return err;
	err = sysfs_lock(netdev);
	if (err)
		return err;
	ipoib_set_umcast(ipoib_priv(netdev), umcast);
	rtnl_unlock();
	return count;
}
static DEVICE_ATTR_RW(umcast);

static ssize_t pkey_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct ipoib_dev *priv = ipoib_priv(to_net_dev(dev));

	return sysfs_emit(buf, "0x%04x\n", priv->pkey);
}
static DEVICE_ATTR_RO(pkey);

static ssize_t no_carrier_reason_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct ipoib_dev *priv = ipoib_priv(to_net_dev(dev));

	return sysfs_emit(buf, "%s\n", ipoib_reason_name(ipoib_reason_now(priv)));
}
static DEVICE_ATTR_RO(no_carrier_reason);

static ssize_t parent_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct ipoib_dev *priv = ipoib_priv(to_net_dev(dev));

	return sysfs_emit(buf, "%s\n", priv->parent->name);
}
static DEVICE_ATTR_RO(parent);

/* Parses a P_Key, and calls @make to create or delete the child that has it */
static ssize_t store_child(struct net_device *netdev, const char *buf, size_t count,
			   int (*make)(struct ipoib_dev *parent, u16 pkey))
{
	int pkey, err;

	/* Accepts any base, and any text after the number, since scripts have relied on that */
	if (sscanf(buf, " %i", &pkey) != 1 || pkey < 0 || pkey > U16_MAX)
		return -EINVAL;
	err = sysfs_lock(netdev);
	if (err)
		return err;
	err = make(ipoib_priv(netdev), pkey);
	rtnl_unlock();
	return err ?: count;
}

static ssize_t create_child_store(struct device *dev, struct device_attribute *attr,
				  const char *buf, size_t count)
{
	return store_child(to_net_dev(dev), buf, count, ipoib_child_create);
}
static DEVICE_ATTR_WO(create_child);

static ssize_t delete_child_store(struct device *dev, struct device_attribute *attr,
				  const char *buf, size_t count)
{
	return store_child(to_net_dev(dev), buf, count, ipoib_child_delete);
}
static DEVICE_ATTR_WO(delete_child);

/*
 * When a netdevice is moved to another user's namespace, the owner of its files is changed. In many
 * kernels this fails at the first file that is_visible() has left out. So there are two groups
 * instead of one with is_visible().
 */
static struct attribute *port_attrs[] = {
	&dev_attr_mode.attr,
	&dev_attr_umcast.attr,
	&dev_attr_pkey.attr,
	&dev_attr_no_carrier_reason.attr,
	&dev_attr_create_child.attr,
	&dev_attr_delete_child.attr,
	NULL
};

const struct attribute_group ipoib_sysfs_group = { .attrs = port_attrs };

static struct attribute *child_attrs[] = {
	&dev_attr_mode.attr,
	&dev_attr_umcast.attr,
	&dev_attr_pkey.attr,
	&dev_attr_no_carrier_reason.attr,
	&dev_attr_parent.attr,
	NULL
};

const struct attribute_group ipoib_sysfs_child_group = { .attrs = child_attrs };
