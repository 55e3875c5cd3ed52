# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
# Reads a device's groups and paths from debugfs. Sourced after lib.sh.

# debugfs_entry FILE GID: prints the lines of this group or path.
debugfs_entry()
{
	awk -v gid="$2" '/^GID:/ { shown = $2 == gid } shown' "/sys/kernel/debug/ipoib/$1"
}

# group_entry DEVICE GID
group_entry()
{
	debugfs_entry "$1_mcg" "$2"
}

# group_has DEVICE GID REGEX: whether a line of the group matches.
group_has()
{
	says "$3" group_entry "$1" "$2"
}

# group_gone DEVICE GID
group_gone()
{
	not group_has "$1" "$2" GID
}
