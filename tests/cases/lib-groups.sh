# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
# A device's groups as debugfs lists them. Sourced after lib.sh.

# group_entry DEVICE GID: its lines.
group_entry()
{
	awk -v gid="$2" '/^GID:/ { shown = $2 == gid } shown' \
		"/sys/kernel/debug/ipoib/$1_mcg"
}

# group_has DEVICE GID REGEX: a line like that.
group_has()
{
	says "$3" group_entry "$1" "$2"
}

# group_gone DEVICE GID
group_gone()
{
	not group_has "$1" "$2" GID
}
