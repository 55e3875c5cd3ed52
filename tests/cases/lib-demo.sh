# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The library of demonstrations.

. /cases/lib.sh

# show CMD...: shows the command and its output, which is also in $shown.
show()
{
	printf '\n$ %s\n' "$*"
	shown=$("$@" 2>&1) || {
		printf '%s\n' "$shown"
		fail "status $?: $*"
	}
	[ -z "$shown" ] || printf '%s\n' "$shown"
}
