// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The command why: why an interface, or any of them, has no carrier.
 */
#include <net/if.h>
#include <string.h>

#include "ipoib.h"

/* The longest sentence, and the longest advice */
#define TEXT_MAX	640

/* The width of advice that is printed */
#define LINE_MAX_LEN	78
#define INDENT		4

/* ---- Output ---- */

#define FROM_SYS "(Its driver gives no reasons: this is what the state of the port shows.)"

/* Prints a text with indentation, in lines that are broken at blanks */
static void text_print(const char *text)
{
	size_t column = 0, len;

	while (*text) {
		len = strcspn(text, " ");
		if (column && column + 1 + len > LINE_MAX_LEN - INDENT) {
			putchar('\n');
			column = 0;
		}
		if (column)
			column += printf(" %.*s", (int)len, text);
		else
			column = printf("%*s%.*s", INDENT, "", (int)len, text) - INDENT;
		text += len;
		text += strspn(text, " ");
	}
	if (column)
		putchar('\n');
}

static void add_known(struct json_object *row, const char *key, const char *text)
{
	if (text[0])
		add_text(row, key, text);
}

static void add_port(struct json_object *row, const struct port *port)
{
	char text[16];

	if (!port->device[0])
		return;
	add_text(row, "device", port->device);
	json_object_object_add(row, "port", json_object_new_int64(port->number));
	add_known(row, "state", port->state);
	add_known(row, "physical_state", port->physical);
	add_known(row, "link_layer", port->layer);
	if (!port->sm_lid)
		return;
	snprintf(text, sizeof(text), "0x%lx", port->sm_lid & 0xffff);
	add_text(row, "sm_lid", text);
}

static struct json_object *row_make(const struct link *link, const char *reason)
{
	static const char *const memberships[] = {
		[MEMBER_NOT] = "none", [MEMBER_LIMITED] = "limited", [MEMBER_FULL] = "full",
	};
	struct json_object *row = json_object_new_object();
	char text[TEXT_MAX];

	add_text(row, "interface", link->name);
	add_bool(row, "carrier", link->carrier);
	add_text(row, "reason", reason);
	add_text(row, "reason_from", link->reason[0] ? "driver" : "sysfs");
	reason_text(link, reason, text, sizeof(text));
	add_text(row, "text", text);
	reason_advice(link, reason, text, sizeof(text));
	if (text[0])
		add_text(row, "advice", text);
	if (link->pkey) {
		snprintf(text, sizeof(text), "0x%04lx", link->pkey & 0xffff);
		add_text(row, "pkey", text);
	}
	if (link->membership != MEMBER_UNKNOWN)
		add_text(row, "membership", memberships[link->membership]);
	if (link->parent[0])
		add_text(row, "parent", link->parent);
	add_port(row, &link->port);
	return row;
}

static void row_print(struct json_object *row)
{
	struct json_object *advice;

	printf("%s %s.\n", row_text(row, "interface"), row_text(row, "text"));
	if (json_object_object_get_ex(row, "advice", &advice))
		text_print(json_object_get_string(advice));
	if (!strcmp(row_text(row, "reason_from"), "sysfs") && !row_is(row, "carrier"))
		text_print(FROM_SYS);
}

/* ---- Interfaces ---- */

/* What an interface turns out to be */
enum found {
	FOUND_IPOIB,
	FOUND_OTHER,			/* no IPoIB interface */
	FOUND_ELSEWHERE,		/* /sys shows another network namespace */
	FOUND_GONE,
};

/* Reads all that is to be known of an interface. The files of one that disappears, or gets another
 * name meanwhile, look like those of one that is not set up.
 */
static enum found link_look(const char *name, unsigned int index, struct link *link)
{
	enum found found = FOUND_IPOIB;

	if (!sys_is_of_namespace(name, index))
		found = FOUND_ELSEWHERE;
	else if (!sys_is_ipoib(name))
		found = FOUND_OTHER;
	else
		sys_read_link(name, link);
	return if_nametoindex(name) == index ? found : FOUND_GONE;
}

static bool link_why(struct session *session, const struct link *link)
{
	struct json_object *row = row_make(link, reason_of(link));

	json_object_array_add(session->rows, row);
	if (!session->options.json)
		row_print(row);
	return link->carrier;
}

static enum status other_sys(const char *name)
{
	say(name, sys_is_mounted() ?
		  "/sys shows another network namespace; use 'ip netns exec'" :
		  "/sys is not mounted, which tells about interfaces");
	return STATUS_FAILED;
}

static enum status one_why(struct session *session, const char *given)
{
	unsigned int index = interface_find(given);
	enum found found = FOUND_GONE;
	char name[IF_NAMESIZE];
	struct link link;

	if (!index)
		return STATUS_FAILED;
	/* /sys does not have its alternative names, one of which may be given */
	if (if_indextoname(index, name))
		found = link_look(name, index, &link);
	switch (found) {
	case FOUND_IPOIB:
		return link_why(session, &link) ? STATUS_FOUND : STATUS_NOT_FOUND;
	case FOUND_OTHER:
		return misused(name, "this is no IPoIB interface");
	case FOUND_ELSEWHERE:
		return other_sys(name);
	case FOUND_GONE:
		break;
	}
	say(given, "it has just disappeared");
	return STATUS_FAILED;
}

#define NO_DEVICE "there is no InfiniBand device: check with 'lspci' that the host has an HCA, and with 'dmesg' that its driver is loaded"
#define NO_DRIVER "the driver is not loaded; load it with 'modprobe ib_ipoib'"
#define NO_INTERFACE "there is no IPoIB interface here: no port is an InfiniBand port, or its interface is in another network namespace"

/* There is no IPoIB interface: says why */
static enum status none_why(void)
{
	const char *text;

	if (!sys_has_devices())
		text = NO_DEVICE;
	else if (!sys_has_driver())
		text = NO_DRIVER;
	else
		text = NO_INTERFACE;
	fprintf(stderr, "%s: %s\n", program.name, text);
	return STATUS_NOT_FOUND;
}

static enum status all_why(struct session *session, const struct if_nameindex *interfaces)
{
	enum status status = STATUS_FOUND;
	enum found found;
	struct link link;

	for (; interfaces->if_index; interfaces++) {
		found = link_look(interfaces->if_name, interfaces->if_index, &link);
		if (found == FOUND_ELSEWHERE)
			return other_sys(interfaces->if_name);
		if (found == FOUND_IPOIB && !link_why(session, &link))
			status = STATUS_NOT_FOUND;
	}
	return json_object_array_length(session->rows) ? status : none_why();
}

/**
 * run_why() - the command: why interfaces have no carrier
 * @session: this run of the tool
 * @arguments: optionally the name of an interface
 *
 * Return: the exit status of the tool; STATUS_FOUND if all of them have carrier.
 */
enum status run_why(struct session *session, char **arguments)
{
	struct if_nameindex *interfaces;
	enum status status;

	if (arguments[0])
		return one_why(session, arguments[0]);
	interfaces = if_nameindex();
	if (!interfaces) {
		perror(program.name);
		return STATUS_FAILED;
	}
	status = all_why(session, interfaces);
	if_freenameindex(interfaces);
	return status;
}
