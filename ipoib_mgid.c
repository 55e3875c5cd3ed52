// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * MGIDs of IP multicast addresses (RFC 4391 section 4): building the broadcast group's
 * MGID, and checking whether an MGID belongs to a device's link.
 */
#include "ipoib.h"

/**
 * ipoib_broadcast_build() - build the link-layer address of a broadcast group
 * @hwaddr: filled in
 * @pkey: P_Key, with the full-member bit
 * @scope: scope of the MGID, 4 bits (RFC 4391 section 4)
 *
 * This is the group of the IPv4 limited broadcast address. Context: any.
 */
void ipoib_broadcast_build(struct ipoib_hwaddr *hwaddr, u16 pkey, u8 scope)
{
	struct ipoib_mgid mgid = {
		.prefix = IPOIB_MGID_PREFIX,
		.flags_scope = IPOIB_MGID_FLAG_TRANSIENT | scope,
		.signature = cpu_to_be16(IPOIB_MGID_SIGNATURE_IPV4),
		.pkey = cpu_to_be16(pkey),
		.group_id = { [6] = 0xff, [7] = 0xff, [8] = 0xff, [9] = 0xff },
	};
	union ib_gid gid;

	memcpy(gid.raw, &mgid, sizeof(gid));
	ipoib_hwaddr_build(hwaddr, IPOIB_QPN_MULTICAST, &gid);
}

static bool mgid_is_ip(const struct ipoib_mgid *mgid)
{
	return mgid->signature == cpu_to_be16(IPOIB_MGID_SIGNATURE_IPV4) ||
	       mgid->signature == cpu_to_be16(IPOIB_MGID_SIGNATURE_IPV6);
}

/**
 * ipoib_mgid_lacks_pkey() - tell whether an IP multicast MGID lacks the P_Key of the link
 * @priv: the device
 * @mgid: a multicast GID
 *
 * Context: any.
 * Return: true if the MGID belongs to an IP multicast address, but has another P_Key.
 */
bool ipoib_mgid_lacks_pkey(const struct ipoib_dev *priv, const struct ipoib_mgid *mgid)
{
	return unlikely(mgid->pkey != cpu_to_be16(priv->pkey)) && mgid_is_ip(mgid);
}

/**
 * ipoib_mgid_is_ours() - tell whether a GID is the MGID of an IP multicast address of the link
 * @priv: the device
 * @gid: any GID
 *
 * All groups of a link have the scope and the P_Key of its broadcast group.
 *
 * Context: any.
 * Return: true if it is.
 */
bool ipoib_mgid_is_ours(const struct ipoib_dev *priv, const union ib_gid *gid)
{
	const struct ipoib_hwaddr *broadcast = (const void *)priv->netdev->broadcast;
	const struct ipoib_mgid *link = (const void *)broadcast->gid;
	const struct ipoib_mgid *mgid = (const void *)gid->raw;

	return mgid->prefix == link->prefix && mgid->flags_scope == link->flags_scope &&
	       mgid->pkey == link->pkey && mgid_is_ip(mgid);
}

/**
 * ipoib_mgid_is_listed() - tell whether an entry of the multicast list has to be joined
 * @priv: the device
 * @addr: link-layer address of the entry, which may have any contents
 *
 * Context: any.
 * Return: true if it has a transient MGID with the P_Key of the link.
 */
bool ipoib_mgid_is_listed(const struct ipoib_dev *priv, const u8 *addr)
{
	const struct ipoib_hwaddr *hwaddr = (const struct ipoib_hwaddr *)addr;
	const struct ipoib_mgid *mgid = (const struct ipoib_mgid *)hwaddr->gid;

	return ipoib_hwaddr_qpn(hwaddr) == IPOIB_QPN_MULTICAST &&
	       mgid->prefix == IPOIB_MGID_PREFIX &&
	       mgid->flags_scope >> 4 == IPOIB_MGID_FLAG_TRANSIENT >> 4 &&
	       mgid->pkey == cpu_to_be16(priv->pkey);
}
