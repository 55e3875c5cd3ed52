// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads what /sys shows of IPoIB interfaces and of their ports. All of it may be missing: a driver
 * may have no such file, and anything may be removed meanwhile.
 */
#include <dirent.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "ipoib.h"

#define NET		"/sys/class/net"
#define RDMA		"/sys/class/infiniband"

/* The longest path of a file that is read */
#define PATH_LEN	256

/* The longest link-layer address as text, of 32 octets, and its end */
#define ADDRESS_LEN	(3 * 32 + 1)

/* ARPHRD_INFINIBAND */
#define TYPE_INFINIBAND	32

/* The GUID in a link-layer address of 20 octets, or in a GID, as text: its last 8 octets */
#define GUID_OF_ADDRESS	36
#define GUID_OF_GID	20

/* The P_Key in a broadcast address, as text: octets 8 and 9 */
#define PKEY_OF_ADDRESS	24
#define PKEY_DIGITS	4

/* ---- Files ---- */

/* Reads the first line of a file. The text is empty if there is none. */
static void line_read(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");

	text[0] = '\0';
	if (!file)
		return;
	if (!fgets(text, size, file))
		text[0] = '\0';
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
}

/* Reads a text from a file of a netdevice */
static void net_read(const char *name, const char *file, char *text, size_t size)
{
	char path[PATH_LEN];

	snprintf(path, sizeof(path), NET "/%s/%s", name, file);
	line_read(path, text, size);
}

/* Reads a number from a file of a netdevice; 0 if there is none */
static unsigned long number_read(const char *name, const char *file)
{
	char text[32];

	net_read(name, file, text, sizeof(text));
	return strtoul(text, NULL, 0);
}

static bool is_up(const char *name)
{
	return number_read(name, "flags") & IFF_UP;
}

/* Calls see() for each entry of a folder, until it returns true. Returns whether it has done so. */
static bool folder_find(const char *path, bool (*see)(const char *entry, void *context),
			void *context)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool found = false;

	if (!folder)
		return false;
	while (!found && (entry = readdir(folder)))
		found = entry->d_name[0] != '.' && see(entry->d_name, context);
	closedir(folder);
	return found;
}

static bool any_entry(const char *entry, void *context)
{
	(void)entry;
	(void)context;
	return true;
}

/* ---- The host ---- */

/**
 * sys_is_mounted() - whether /sys shows network interfaces, of whatever network namespace
 *
 * Return: true if it does.
 */
bool sys_is_mounted(void)
{
	return folder_find(NET, any_entry, NULL);
}

/**
 * sys_has_devices() - whether the host has an RDMA device
 *
 * Return: true if it has at least one that this network namespace may see.
 */
bool sys_has_devices(void)
{
	return folder_find(RDMA, any_entry, NULL);
}

/**
 * sys_has_driver() - whether a driver of IPoIB is loaded
 *
 * Return: true if it is.
 */
bool sys_has_driver(void)
{
	return folder_find("/sys/module/ib_ipoib", any_entry, NULL);
}

/**
 * sys_is_of_namespace() - whether /sys shows this interface of the process's network namespace
 * @name: the interface's name
 * @index: its number
 *
 * /sys belongs to the namespace in which it was mounted, which may be another one. Interfaces of
 * two namespaces may have the same name and number, but those of InfiniBand ports differ in their
 * addresses. An address may change between two looks at it.
 *
 * Return: true if it does.
 */
bool sys_is_of_namespace(const char *name, unsigned int index)
{
	unsigned int looks = 3;
	char address[ADDRESS_LEN];

	if (number_read(name, "ifindex") != index)
		return false;
	while (looks--) {
		net_read(name, "address", address, sizeof(address));
		if (net_has_address(index, address))
			return true;
	}
	return false;
}

/**
 * sys_is_ipoib() - whether an interface is an IPoIB interface
 * @name: its name
 *
 * A bond of such interfaces has their type, but no P_Key.
 *
 * Return: true if it is.
 */
bool sys_is_ipoib(const char *name)
{
	char path[PATH_LEN];

	snprintf(path, sizeof(path), NET "/%s/bonding", name);
	return number_read(name, "type") == TYPE_INFINIBAND && !folder_find(path, any_entry, NULL);
}

/* ---- Ports ---- */

/* Reads a text from a file of a port */
static void port_file_read(const struct port *port, const char *file, char *text, size_t size)
{
	char path[PATH_LEN];

	snprintf(path, sizeof(path), RDMA "/%s/ports/%u/%s", port->device, port->number, file);
	line_read(path, text, size);
}

/* Reads the second word of a file such as "4: ACTIVE" */
static void state_read(const struct port *port, const char *file, char *text, size_t size)
{
	char line[64];
	const char *word;

	port_file_read(port, file, line, sizeof(line));
	word = strchr(line, ' ');
	snprintf(text, size, "%.*s", (int)size - 1, word ? word + 1 : line);
}

static void port_read(struct port *port)
{
	char text[64];

	state_read(port, "state", port->state, sizeof(port->state));
	state_read(port, "phys_state", port->physical, sizeof(port->physical));
	port_file_read(port, "link_layer", port->layer, sizeof(port->layer));
	port_file_read(port, "rate", port->rate, sizeof(port->rate));
	port_file_read(port, "sm_lid", text, sizeof(text));
	port->sm_lid = strtoul(text, NULL, 0);
	port_file_read(port, "gids/0", text, sizeof(text));
	if (strlen(text) > GUID_OF_GID)
		snprintf(port->guid, sizeof(port->guid), "%.*s", (int)sizeof(port->guid) - 1,
			 text + GUID_OF_GID);
}

struct port_search {
	struct port *port;		/* what is found */
	const char *device;		/* at which the search is */
	unsigned int number;		/* of the port; 0: it is not known */
	char guid[ADDRESS_LEN];		/* in the interface's address, without colons */
	bool any;			/* a port with another GUID is better than none */
};

/* Copies a text without its colons */
static void colons_drop(const char *from, char *to)
{
	do {
		if (*from != ':')
			*to++ = *from;
	} while (*from++);
}

static bool port_see(const char *number, void *context)
{
	struct port port = { .number = strtoul(number, NULL, 10) };
	struct port_search *search = context;
	char guid[sizeof(port.guid)];
	bool matches;

	if (search->number && port.number != search->number)
		return false;
	snprintf(port.device, sizeof(port.device), "%.*s", (int)sizeof(port.device) - 1,
		 search->device);
	port_read(&port);
	if (!port.state[0])
		return false;
	colons_drop(port.guid, guid);
	matches = guid[0] && !strcmp(guid, search->guid);
	if (matches || search->any)
		*search->port = port;
	return matches;
}

/* Several RDMA devices may be parts of one device of a bus: the GUID tells which it is */
static bool device_see(const char *device, void *context)
{
	struct port_search *search = context;
	char path[PATH_LEN];

	snprintf(path, sizeof(path), RDMA "/%s/ports", device);
	search->device = device;
	return folder_find(path, port_see, search);
}

/* Finds the port, and the state of a parent. An interface with a GUID that the administrator has
 * chosen is still over its own device. A child has no device in /sys, but its parent has, and the
 * in-tree driver does not tell the port of a child either. The parent may be in another network
 * namespace, and another interface here may have its name: then only the GUID tells.
 */
static void port_find(struct link *link)
{
	const char *owner = link->parent[0] ? link->parent : link->name;
	struct port *port = &link->port;
	struct port_search search = { .port = port, .any = !link->parent[0] };
	char path[PATH_LEN], address[ADDRESS_LEN];
	bool matches;

	search.number = number_read(owner, "dev_port") + 1;
	net_read(link->name, "address", address, sizeof(address));
	if (strlen(address) > GUID_OF_ADDRESS)
		colons_drop(address + GUID_OF_ADDRESS, search.guid);
	snprintf(path, sizeof(path), NET "/%s/device/infiniband", owner);
	matches = folder_find(path, device_see, &search);
	link->parent_down = matches && link->parent[0] && !is_up(link->parent);
	if (port->device[0])
		return;
	search.number = 0;
	search.any = false;
	folder_find(RDMA, device_see, &search);
}

/* ---- Partitions ---- */

struct pkey_search {
	const struct port *port;
	unsigned long pkey;
	enum membership found;
};

static bool pkey_see(const char *entry, void *context)
{
	struct pkey_search *search = context;
	char file[32], text[32];
	unsigned long pkey;

	snprintf(file, sizeof(file), "pkeys/%.16s", entry);
	port_file_read(search->port, file, text, sizeof(text));
	pkey = strtoul(text, NULL, 0);
	if (search->found == MEMBER_UNKNOWN)
		search->found = MEMBER_NOT;
	if ((pkey & 0x7fff) != (search->pkey & 0x7fff))
		return false;
	search->found = pkey & 0x8000 ? MEMBER_FULL : MEMBER_LIMITED;
	return search->found == MEMBER_FULL;
}

/* Returns the P_Key of an interface. A child that was made by `ip link add` has no file for it with
 * the in-tree driver, but each broadcast address contains it (RFC 4391 section 4).
 */
static unsigned long pkey_read(const char *name)
{
	unsigned long pkey = number_read(name, "pkey");
	char address[64], digits[64];

	if (pkey)
		return pkey;
	net_read(name, "broadcast", address, sizeof(address));
	if (strlen(address) < PKEY_OF_ADDRESS)
		return 0;
	colons_drop(address + PKEY_OF_ADDRESS, digits);
	digits[PKEY_DIGITS] = '\0';
	return strtoul(digits, NULL, 16);
}

static enum membership membership_read(const struct port *port, unsigned long pkey)
{
	struct pkey_search search = { .port = port, .pkey = pkey };
	char path[PATH_LEN];

	if (!port->device[0] || !pkey)
		return MEMBER_UNKNOWN;
	snprintf(path, sizeof(path), RDMA "/%s/ports/%u/pkeys", port->device, port->number);
	folder_find(path, pkey_see, &search);
	return search.found;
}

/* ---- Interfaces ---- */

/**
 * sys_read_link() - read the state of an IPoIB interface and of its port
 * @name: its name
 * @link: filled in
 */
void sys_read_link(const char *name, struct link *link)
{
	*link = (struct link) { .name = name };
	link->up = is_up(name);
	/* Cannot be read while the interface is down */
	link->carrier = number_read(name, "carrier") == 1;
	net_read(name, "no_carrier_reason", link->reason, sizeof(link->reason));
	net_read(name, "parent", link->parent, sizeof(link->parent));
	link->pkey = pkey_read(name);
	port_find(link);
	link->membership = membership_read(&link->port, link->pkey);
}
