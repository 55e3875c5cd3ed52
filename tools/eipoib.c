// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * eipoib shows and changes the settings and tables of Ethernet netdevices over IPoIB ones. Its
 * manual page, eipoib(8), describes the commands.
 */
#include "eipoib.h"

#define SETTING_WORDS	"[learning on|off] [dhcp off|flag|rfc4390] [querier on|off] " \
			"[max_ips N] [max_ips_per_mac N]"

/* As many words as a command may have, to leave the error message to it */
#define ANY		32

#define LOCAL_WORDS	"[show] [dev DEV] | add IP lladdr MAC dev DEV [vlan VLAN] | del IP [lladdr MAC] dev DEV [vlan VLAN]"

static const struct command commands[] = {
	{ "show", "[dev DEV]", "the settings, and how full the tables are", 0, ANY,
	  "jp", .run = run_show },
	{ "set", "dev DEV " SETTING_WORDS, "change settings", 0, ANY, "jp", .run = run_set },
	{ "add", "link LOWER name DEV [address MAC] " SETTING_WORDS,
	  "make an Ethernet interface over an IPoIB one", 0, ANY, "jp", .run = run_add },
	{ "slave", "[dev LOWER vlan VLAN | dev LOWER mac MAC]",
	  "what further IPoIB interfaces are for", 0, ANY, "jp", .run = run_slave },
	{ "local", LOCAL_WORDS,
	  "IP addresses on the Ethernet side", 0, ANY, "jp", .run = run_local },
	{ "heard", "[show] [dev DEV]", "IP addresses on the IPoIB side", 0, ANY,
	  "jp", .run = run_heard },
	{ "remote", "[show] [dev DEV]", "interfaces on the IPoIB side", 0, ANY,
	  "jp", .run = run_remote },
	{ "group", "[show] [dev DEV]", "groups reported on the Ethernet side", 0, ANY,
	  "jp", .run = run_group },
	{ "monitor", "[dev DEV]", "print each local IP address that changes", 0, ANY,
	  "j", .run = run_monitor, .prints_lines = true },
	{ "help", "[COMMAND]", "the arguments and options of a command", 0, 1,
	  "jp", .run = run_help },
};

int main(int argc, char **argv)
{
	const struct tool tool = {
		.commands = commands,
		.command_count = ARRAY_SIZE(commands),
		.help = "The exit status is 0 if it was done,\n"
			"1 for not found, 2 for wrong usage, and 4 for anything else. See eipoib(8).",
	};

	return tool_run(&tool, argc, argv);
}
