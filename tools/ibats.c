// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibats finds out who has an IP address in an InfiniBand subnet, and shows and changes which
 * addresses this host registers. Its manual page, ibats(8), describes the commands.
 */
#include "ibats.h"

static const struct command commands[] = {
	{ "resolve", "ADDR|HOSTNAME", "which GIDs have an IP address", 1, 1,
	  "dktjp", .run = run_resolve },
	{ "reverse", "GID [primary]", "which IP addresses a GID has, or its primary one", 1, 2,
	  "dktjp", .run = run_reverse },
	{ "sid", "SID", "all records with a Service ID", 1, 1, "dktjp", .run = run_sid },
	{ "list", "[IF]", "the records of this host's interfaces", 0, 1, "dkjp", .run = run_list },
	{ "monitor", "", "list them, and then each that changes", 0, 0, "j", .run = run_monitor,
	  .prints_lines = true },
	{ "stats", "", "the counters of each port", 0, 0, "djp", .run = run_stats },
	{ "primary", "[show [IF] | set IF ADDR | clear IF]", "interfaces' primary addresses", 0, 3,
	  "jp", .run = run_primary },
	{ "audit", "", "have the SA's records read back and repaired", 0, 0,
	  "djp", .run = run_audit },
	{ "help", "[COMMAND]", "the arguments and options of a command", 0, 1,
	  "jp", .run = run_help },
};

int main(int argc, char **argv)
{
	const struct tool tool = {
		.commands = commands,
		.command_count = ARRAY_SIZE(commands),
		.options = filter_options,
		.option_count = filter_option_count,
		.option_take = filter_take,
		.help = "The exit status is 0 for found or\n"
			"done, 1 for not found, 2 for wrong usage, 3 if no subnet administrator answers,\n"
			"and 4 for anything else. See ibats(8).",
	};

	return tool_run(&tool, argc, argv);
}
