// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The netdevices of one port: its first one, the parent, has a list of the others, which
 * rtnl guards and RCU readers may follow.
 */
#include "ipoib.h"

/* The control path, which must not wait for rtnl, looks at the groups of a port's other
 * netdevices. Those on the list have their tables; taken within rtnl.
 */
static DEFINE_MUTEX(siblings_lock);

/**
 * ipoib_sibling_link() - enter a child into its parent's list
 * @priv: about to be registered; nothing happens if it has no parent
 *
 * Context: rtnl held.
 */
void ipoib_sibling_link(struct ipoib_dev *priv)
{
	if (!priv->parent)
		return;
	netdev_hold(priv->parent->netdev, &priv->parent_tracker, GFP_KERNEL);
	mutex_lock(&siblings_lock);
	list_add_tail_rcu(&priv->siblings, &priv->parent->children);
	mutex_unlock(&siblings_lock);
	priv->parent->children_count++;
}

/**
 * ipoib_sibling_unlink() - undo ipoib_sibling_link()
 * @priv: the device
 *
 * Context: rtnl held.
 */
void ipoib_sibling_unlink(struct ipoib_dev *priv)
{
	if (!priv->parent)
		return;
	mutex_lock(&siblings_lock);
	list_del_rcu(&priv->siblings);
	mutex_unlock(&siblings_lock);
	priv->parent->children_count--;
	netdev_put(priv->parent->netdev, &priv->parent_tracker);
}

/**
 * ipoib_siblings_up() - set the children up with their parent
 * @parent: the device, being opened
 *
 * Context: rtnl held.
 */
void ipoib_siblings_up(struct ipoib_dev *parent)
{
	struct ipoib_dev *child;

	list_for_each_entry(child, &parent->children, siblings)
		dev_change_flags(child->netdev, child->netdev->flags | IFF_UP, NULL);
}

/**
 * ipoib_siblings_down() - set the children down with their parent
 * @parent: the device, being stopped
 *
 * Context: rtnl held.
 */
void ipoib_siblings_down(struct ipoib_dev *parent)
{
	struct ipoib_dev *child;

	list_for_each_entry(child, &parent->children, siblings)
		dev_change_flags(child->netdev, child->netdev->flags & ~IFF_UP, NULL);
}

/**
 * ipoib_siblings_follow_guid() - give the children the GUID that the parent was given
 * @parent: the device
 *
 * Context: rtnl held. Their addresses change soon, those that are up join their groups anew.
 */
void ipoib_siblings_follow_guid(struct ipoib_dev *parent)
{
	struct ipoib_dev *child;

	list_for_each_entry(child, &parent->children, siblings) {
		WRITE_ONCE(child->admin_guid, parent->admin_guid);
		ipoib_link_event(child, IPOIB_EVENT_CHECK);
	}
}

/**
 * ipoib_siblings_remove() - have all children unregistered
 * @parent: the device
 * @list: of those to be unregistered; added to
 *
 * Context: rtnl held.
 */
void ipoib_siblings_remove(struct ipoib_dev *parent, struct list_head *list)
{
	struct ipoib_dev *child;

	list_for_each_entry(child, &parent->children, siblings)
		unregister_netdevice_queue(child->netdev, list);
}

/**
 * ipoib_sibling_any() - whether something is true of another netdevice of the port
 * @priv: the device, of which it is not asked
 * @test: what
 * @arg: for @test
 *
 * Context: may sleep; without rtnl, or within.
 * Return: true if so.
 */
bool ipoib_sibling_any(struct ipoib_dev *priv,
		       bool (*test)(struct ipoib_dev *sibling, const void *arg), const void *arg)
{
	struct ipoib_dev *parent = priv->parent ?: priv, *child;
	/* A parent's tables live longer than its children */
	bool found = parent != priv && test(parent, arg);

	mutex_lock(&siblings_lock);
	list_for_each_entry(child, &parent->children, siblings) {
		if (found)
			break;
		found = child != priv && test(child, arg);
	}
	mutex_unlock(&siblings_lock);
	return found;
}
