// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Why a netdevice has no carrier: the reason's name, for programs, and its message in the
 * kernel's log. The link (ipoib_link.c) keeps the reason; this file calls no other.
 */
#include <linux/ratelimit.h>

#include "ipoib.h"

/* A limit of their own, since other messages come in greater numbers just when the carrier is lost,
 * and say less
 */
static DEFINE_RATELIMIT_STATE(reasons_limit, DEFAULT_RATELIMIT_INTERVAL, DEFAULT_RATELIMIT_BURST);

/* Reasons without a text are not logged: the administrator's own doing, or passing */
static const struct {
	const char *name;
	const char *text;
} reasons[IPOIB_REASON_COUNT] = {
	[IPOIB_REASON_NONE] = { "none" },
	[IPOIB_REASON_ADMIN_DOWN] = { "admin-down" },
	[IPOIB_REASON_HCA_FAILED] = {
		"hca-failed",
		"the HCA does not tell the state of the port: look for errors of its driver in this log",
	},
	[IPOIB_REASON_VF_DOWN] = {
		"vf-down",
		"the virtual function's port is down: check the GUID and the link state that its host has set",
	},
	[IPOIB_REASON_VF_INIT] = {
		"vf-init",
		"no subnet manager has configured the virtual function's port: check that it supports virtualization",
	},
	[IPOIB_REASON_PORT_DOWN] = {
		"port-down",
		"the port is down: check the cable, and that the other end is on",
	},
	[IPOIB_REASON_PORT_INIT] = {
		"port-init",
		"no subnet manager has configured the port: start one on the fabric",
	},
	[IPOIB_REASON_PORT_ARMED] = {
		"port-armed",
		"the subnet manager has not activated the port: look into its log if this lasts",
	},
	[IPOIB_REASON_ETHERNET_DOWN] = {
		"ethernet-down",
		"the RoCE port's Ethernet interface is down or has no carrier",
	},
	[IPOIB_REASON_NO_ADDRESS] = {
		"no-address",
		"no GID of the RoCE port is an IPv6 address of its Ethernet interface: set that up",
	},
	[IPOIB_REASON_NO_GID] = {
		"no-gid",
		"the port has no GID",
	},
	[IPOIB_REASON_NO_GUID] = {
		"no-guid",
		"the port lacks the GUID that was chosen: set an address that it has",
	},
	[IPOIB_REASON_NO_PKEY] = {
		"no-pkey",
		"the port is not in this partition: add it in the subnet manager's configuration",
	},
	[IPOIB_REASON_NO_QP] = {
		"no-qp",
		"the HCA cannot start the queues; will try again",
	},
	[IPOIB_REASON_JOINING] = { "joining" },
	[IPOIB_REASON_NO_SM] = {
		"no-sm",
		"the port does not know a subnet manager: start one on the fabric",
	},
	[IPOIB_REASON_NO_ANSWER] = {
		"no-answer",
		"the subnet manager does not answer: check that it runs and can be reached",
	},
	[IPOIB_REASON_REFUSED] = {
		"refused",
		"the subnet manager's host refuses the broadcast group: check that the subnet manager runs, that the partition is enabled for IPoIB, and that its MTU and rate suit the port",
	},
	[IPOIB_REASON_BAD_GROUP] = {
		"bad-group",
		"the broadcast group's MTU, rate or MLID cannot be: correct the partition in the subnet manager's configuration",
	},
	[IPOIB_REASON_JOIN_FAILED] = {
		"join-failed",
		"the request for the broadcast group failed; will try again",
	},
	[IPOIB_REASON_NOT_ATTACHED] = {
		"not-attached",
		"the HCA cannot use the broadcast group; will try again",
	},
	[IPOIB_REASON_NO_BUFFERS] = {
		"no-buffers",
		"no memory for receive buffers of the broadcast group's MTU",
	},
	[IPOIB_REASON_NO_QKEY] = {
		"no-qkey",
		"the HCA does not take the broadcast group's Q_Key",
	},
};

/**
 * ipoib_reason_of_port() - tell whether the state of a port keeps the carrier off
 * @state: the state
 *
 * Context: any.
 * Return: the reason; IPOIB_REASON_NONE if the port is ACTIVE.
 */
enum ipoib_reason ipoib_reason_of_port(enum ib_port_state state)
{
	switch (state) {
	case IB_PORT_ACTIVE:
		return IPOIB_REASON_NONE;
	case IB_PORT_INIT:
		return IPOIB_REASON_PORT_INIT;
	case IB_PORT_ARMED:
		return IPOIB_REASON_PORT_ARMED;
	default:
		return IPOIB_REASON_PORT_DOWN;
	}
}

/**
 * ipoib_reason_of_idle() - ask the HCA why the port is not ACTIVE
 * @priv: the device, whose port was not ACTIVE
 *
 * Context: may sleep.
 * Return: the reason; IPOIB_REASON_NONE if the port is ACTIVE now.
 */
enum ipoib_reason ipoib_reason_of_idle(const struct ipoib_dev *priv)
{
	bool vf = ipoib_is_vf(priv->ibdev);
	struct ib_port_attr attr;
	enum ipoib_reason reason;

	if (ib_query_port(priv->ibdev, priv->port->number, &attr))
		return IPOIB_REASON_HCA_FAILED;
	reason = ipoib_reason_of_port(attr.state);
	if (vf && reason == IPOIB_REASON_PORT_DOWN)
		return IPOIB_REASON_VF_DOWN;
	if (vf && reason == IPOIB_REASON_PORT_INIT)
		return IPOIB_REASON_VF_INIT;
	return reason;
}

/**
 * ipoib_reason_now() - tell why there is no carrier, for users
 * @priv: the device
 *
 * Context: may sleep.
 * Return: the reason; IPOIB_REASON_NONE if the link runs.
 */
enum ipoib_reason ipoib_reason_now(const struct ipoib_dev *priv)
{
	enum ipoib_reason reason = ipoib_link_reason(priv);

	if (!ipoib_reason_is_of_port(reason))
		return reason;
	/* If it has become ACTIVE right now, its event is about to come */
	return ipoib_reason_of_idle(priv) ?: IPOIB_REASON_JOINING;
}

/**
 * ipoib_reason_of_join() - tell why the broadcast group could not be joined
 * @status: the negative error that ipoib_group_answer() was called with, or that
 *	ipoib_fabric_ops.join returned
 *
 * Context: any.
 * Return: the reason.
 */
enum ipoib_reason ipoib_reason_of_join(int status)
{
	switch (status) {
	case -EAGAIN:		/* of ib_sa, when it has no address of the SM */
		return IPOIB_REASON_NO_SM;
	case -ETIMEDOUT:
		return IPOIB_REASON_NO_ANSWER;
	case -EINVAL:		/* of ib_sa, for each status of an answer other than 0 */
		return IPOIB_REASON_REFUSED;
	case -EPROTO:
	case -EMSGSIZE:
		return IPOIB_REASON_BAD_GROUP;
	default:
		return IPOIB_REASON_JOIN_FAILED;
	}
}

/**
 * ipoib_reason_name() - get the name of a reason
 * @reason: the reason
 *
 * Context: any.
 * Return: a word that never changes, since programs compare it.
 */
const char *ipoib_reason_name(enum ipoib_reason reason)
{
	return reasons[reason].name;
}

/**
 * ipoib_reason_log() - write a reason that has just arisen to the kernel's log
 * @priv: the device
 * @reason: the reason
 *
 * Context: any.
 */
void ipoib_reason_log(struct ipoib_dev *priv, enum ipoib_reason reason)
{
	if (reasons[reason].text && __ratelimit(&reasons_limit))
		netdev_info(priv->netdev, "no carrier: %s\n", reasons[reason].text);
}
