// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Why an interface has no carrier, in words for an administrator who knows no InfiniBand. The
 * reason is the driver's, if that has a name for it, and otherwise found from what /sys shows.
 */
#include <string.h>

#include "ipoib.h"

/* These are replaced in the texts below:
 *   %d	the interface, %h its HCA and port, %g the GUID of the port
 *   %k	the P_Key, %n the partition's number, which is the P_Key without the full-member bit
 *   %s	the physical state of the port, %l the LID of the SM, %r the port's rate
 */
struct words {
	const char *reason;
	const char *text;
	const char *advice;		/* NULL: nothing has to be done */
};

static const struct words all_words[] = {
	{
		"none",
		"has carrier",
		NULL,
	},
	{
		"admin-down",
		"is not set up",
		"Set it up by 'ip link set %d up'.",
	},
	{
		"hca-failed",
		"cannot work: the HCA of the port %h does not answer its driver",
		"'dmesg' has the errors of the HCA's driver. If it does not recover by itself, reset the HCA or restart the host.",
	},
	{
		"vf-down",
		"has no link: the port %h of a virtual function is down",
		"Look on the host of this virtual machine: it has to give the virtual function a GUID and a link state ('ip link set ... vf N node_guid ... port_guid ... state auto'), and its own port has to be active.",
	},
	{
		"vf-init",
		"waits for a subnet manager: nobody has configured the port %h of a virtual function",
		"The subnet manager has to support virtual functions (for example NVIDIA's OpenSM, with 'virt_enabled 2' in opensm.conf).",
	},
	{
		"port-down",
		"has no link: the port %h is down (%s)",
		"Check that the cable is plugged in at both ends, and that the switch or host at the other end is on. The port's state 'Polling' means that it finds nobody there, and 'Disabled' that a subnet manager or ibportstate has switched the port off.",
	},
	{
		"port-init",
		"waits for a subnet manager: the cable works, but nobody has configured the port %h",
		"Start a subnet manager (for example the service opensm) on one host of the InfiniBand network, or on a switch that has one. If one runs, 'sminfo' tells whether it can be reached.",
	},
	{
		"port-armed",
		"waits for the subnet manager to activate the port %h",
		"This takes a moment. If it lasts, look into the subnet manager's log.",
	},
	{
		"ethernet-down",
		"has no link: the Ethernet interface of the RoCE port %h is down or has no carrier",
		"Set that Ethernet interface up, and check its cable.",
	},
	{
		"no-address",
		"has no address: no GID of the RoCE port %h is an IPv6 address of its Ethernet interface",
		"Set that Ethernet interface up, with IPv6 enabled and with its usual link-local address (addrgenmode eui64).",
	},
	{
		"no-gid",
		"has no address: the port %h has no GID",
		"Reload the driver of that HCA.",
	},
	{
		"no-guid",
		"has no address: the port %h does not have the GUID that was chosen for %d",
		"Have the subnet manager give the port that GUID as an alias, or set %d down and give it an address with a GUID that the port has.",
	},
	{
		"no-pkey",
		"is not allowed here: the port %h is not in the partition with P_Key %k",
		"Add the port's GUID %g to partition 0x%n in the subnet manager's configuration (OpenSM: partitions.conf, 'name=0x%n, ipoib : 0x%g=full;'). If the P_Key is wrong, delete %d and add it with another.",
	},
	{
		"no-qp",
		"cannot start: the HCA of the port %h refuses to start the queues of %d",
		"The driver tries again by itself. 'dmesg' has the error. If it lasts, make the rings smaller (ethtool -G %d rx 256 tx 256), or reset the HCA.",
	},
	{
		"joining",
		"is just joining the broadcast group of partition %k",
		"This takes a moment. Ask again in a few seconds.",
	},
	{
		"no-sm",
		"waits for a subnet manager: the port %h is active, but does not know one",
		"Start a subnet manager (for example the service opensm) on one host of the InfiniBand network, or on a switch that has one.",
	},
	{
		"no-answer",
		"waits for the subnet manager, which does not answer the port %h (it was last seen at LID %l)",
		"Check that the subnet manager (for example the service opensm) still runs. 'sminfo' tells whether it can be reached.",
	},
	{
		"refused",
		"was refused: the host of the subnet manager (LID %l) does not let the port %h into the broadcast group of partition %k",
		"Check with 'sminfo' that the subnet manager still runs: a host on which it has ended refuses everything. If it runs, the group most often does not exist: the partition 0x%n needs the word 'ipoib' in OpenSM's partitions.conf. Otherwise the group's 'mtu' or 'rate' is larger than the port supports (%r), or the port is not a member of the partition. The subnet manager's log tells which.",
	},
	{
		"bad-group",
		"cannot use the broadcast group of partition %k: its MTU, rate or MLID is not possible for the port %h",
		"Correct 'mtu' and 'rate' of partition 0x%n in the subnet manager's configuration. On RoCE, set the Ethernet interface's MTU to 1500 or more. 'dmesg' has the values.",
	},
	{
		"join-failed",
		"cannot ask for the broadcast group of partition %k",
		"The driver tries again by itself. 'dmesg' has the error.",
	},
	{
		"not-attached",
		"cannot use the broadcast group: the HCA of the port %h refuses to receive from it, or to send to it",
		"The driver tries again by itself. 'dmesg' has the error. The HCA may have no room for further multicast groups, or for further interfaces in one (max_mcast_qp_attach of 'ibv_devinfo -v').",
	},
	{
		"no-buffers",
		"cannot receive: there is no memory for packets of the group's MTU",
		"The driver tries again by itself. Make the receive ring smaller, for example by 'ethtool -G %d rx 256'.",
	},
	{
		"no-qkey",
		"cannot send: the HCA of the port %h does not take the group's Q_Key",
		"The driver tries again by itself. 'dmesg' has the error. If it lasts, reset the HCA.",
	},
	/* The driver does not tell why, and nothing that /sys shows is in the way */
	{
		"not-joined",
		"has not joined the broadcast group of partition %k, and its driver does not tell why",
		"Check with 'sminfo' that the subnet manager answers, and that the partition 0x%n has the word 'ipoib' in OpenSM's partitions.conf. 'dmesg' may tell more.",
	},
};

static const struct words *words_find(const char *reason)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all_words); i++)
		if (!strcmp(all_words[i].reason, reason))
			return &all_words[i];
	return NULL;
}

/* ---- The reason ---- */

static const char *reason_of_port(const struct port *port)
{
	if (!port->state[0])
		return NULL;
	if (!strcmp(port->state, "INIT"))
		return "port-init";
	if (!strcmp(port->state, "ARMED"))
		return "port-armed";
	if (!strcmp(port->state, "ACTIVE"))
		return NULL;
	return strcmp(port->layer, "Ethernet") ? "port-down" : "ethernet-down";
}

/* What /sys shows, in the order in which a link comes up */
static const char *reason_seen(const struct link *link)
{
	const char *reason = reason_of_port(&link->port);

	if (reason)
		return reason;
	if (link->membership == MEMBER_NOT)
		return "no-pkey";
	if (!strcmp(link->port.layer, "InfiniBand") && !link->port.sm_lid)
		return "no-sm";
	return "not-joined";
}

/**
 * reason_of() - why an interface has no carrier
 * @link: the interface
 *
 * Return: the name of the reason; "none" if it has carrier.
 */
const char *reason_of(const struct link *link)
{
	if (link->carrier)
		return "none";
	if (!link->up)
		return "admin-down";
	if (!link->reason[0])
		return reason_seen(link);
	/* The state may have changed between two reads, and the carrier follows the link */
	if (!strcmp(link->reason, "none") || !strcmp(link->reason, "admin-down"))
		return "joining";
	return link->reason;
}

/* ---- Texts ---- */

struct output {
	char *text;
	size_t size;
	size_t len;
};

static void put(struct output *out, const char *text)
{
	size_t room = out->size - out->len;
	int len = snprintf(out->text + out->len, room, "%s", text);

	out->len += len < (int)room ? (size_t)len : room - 1;
}

static void put_guid(struct output *out, const char *guid)
{
	char digit[2] = {};

	for (; *guid; guid++) {
		digit[0] = *guid;
		if (*guid != ':')
			put(out, digit);
	}
}

static void put_port(struct output *out, const struct port *port)
{
	char number[16];

	if (!port->device[0]) {
		put(out, "(unknown)");
		return;
	}
	snprintf(number, sizeof(number), "/%u", port->number);
	put(out, port->device);
	put(out, number);
}

static void put_number(struct output *out, const char *format, unsigned long number)
{
	char text[24];

	snprintf(text, sizeof(text), format, number);
	put(out, text);
}

static const char *or_unknown(const char *text)
{
	return text[0] ? text : "unknown";
}

static void put_value(struct output *out, char letter, const struct link *link)
{
	switch (letter) {
	case 'd':
		put(out, link->name);
		break;
	case 'h':
		put_port(out, &link->port);
		break;
	case 'g':
		put_guid(out, or_unknown(link->port.guid));
		break;
	case 'k':
		put_number(out, "0x%04lx", link->pkey);
		break;
	case 'n':
		put_number(out, "%04lx", link->pkey & 0x7fff);
		break;
	case 's':
		put(out, or_unknown(link->port.physical));
		break;
	case 'l':
		put_number(out, "%lu", link->port.sm_lid);
		break;
	case 'r':
		put(out, or_unknown(link->port.rate));
		break;
	default:
		break;
	}
}

static void words_put(struct output *out, const char *words, const struct link *link)
{
	char letter[2] = {};

	for (; *words; words++) {
		if (*words == '%' && words[1]) {
			put_value(out, *++words, link);
			continue;
		}
		letter[0] = *words;
		put(out, letter);
	}
}

/**
 * reason_text() - the sentence about an interface, without its name at the beginning
 * @link: the interface
 * @reason: why it has no carrier
 * @text: set to the sentence
 * @size: the size of @text
 */
void reason_text(const struct link *link, const char *reason, char *text, size_t size)
{
	struct output out = { .text = text, .size = size };
	const struct words *words = words_find(reason);

	text[0] = '\0';
	if (words) {
		words_put(&out, words->text, link);
		return;
	}
	/* A newer driver may have further reasons */
	put(&out, "has no carrier: ");
	put(&out, reason);
}

/* A blank comes first, for a hint that follows an advice */
#define HINT_PARENT " Setting its parent up does the same for all its children."
#define HINT_LIMITED " The port is only a limited member of the partition: it cannot talk to other limited members, but only to full ones."

/* Returns what else is worth knowing; NULL: nothing */
static const char *hint_of(const struct link *link, const char *reason)
{
	if (!strcmp(reason, "admin-down"))
		return link->parent_down ? HINT_PARENT : NULL;
	if (strcmp(reason, "none") && strcmp(reason, "refused"))
		return NULL;
	return link->membership == MEMBER_LIMITED ? HINT_LIMITED : NULL;
}

/**
 * reason_advice() - what an administrator can do about it
 * @link: the interface
 * @reason: why it has no carrier
 * @text: set to one or more sentences; empty if there is nothing to do
 * @size: the size of @text
 */
void reason_advice(const struct link *link, const char *reason, char *text, size_t size)
{
	struct output out = { .text = text, .size = size };
	const struct words *words = words_find(reason);
	const char *hint = hint_of(link, reason);

	text[0] = '\0';
	if (words && words->advice)
		words_put(&out, words->advice, link);
	else if (!words)
		put(&out, "Look into the driver's documentation, and at the output of 'dmesg'.");
	if (hint)
		put(&out, out.len ? hint : hint + 1);
}
