#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Prints what to do next if the loaded ib_ipoib is not the one that was just installed.
# Usage: loaded.sh MODULE-FILE
# Tests set SYSFS and RELEASE, which replace /sys and the release of the running kernel.

set -eu

module=$1 sysfs=${SYSFS:-/sys}

# loaded_version: prints the srcversion of the loaded module. The in-tree module has none on Debian.
loaded_version()
{
	cat "$sysfs/module/ib_ipoib/srcversion" 2>/dev/null || echo none
}

# is_for_here: the module is for the running kernel, and not in the image of another system.
is_for_here()
{
	[ -n "${SYSFS:-}" ] || [[ $module == /lib/modules/* ]] || return
	[[ $(modinfo -F vermagic "$module") == "${RELEASE:-$(uname -r)} "* ]]
}

# interfaces: prints the interfaces with InfiniBand addresses.
interfaces()
{
	grep -lx 32 "$sysfs"/class/net/*/type 2>/dev/null | awk -F / '{ print $(NF - 1) }' | sort
}

[ -e "$sysfs/module/ib_ipoib" ] && is_for_here || exit 0
[ "$(loaded_version)" != "$(modinfo -F srcversion "$module")" ] || exit 0

names=$(interfaces | paste -sd ' ')
cat <<-E

	Another ib_ipoib is loaded: the in-tree driver, or an earlier build of this one. It stays in use until
	it is unloaded. To use the driver that has just been installed, do one of these:

	    modprobe -r ib_ipoib && modprobe ib_ipoib
	    reboot

	The first command removes these interfaces, which breaks connections over them: ${names:-(none)}
	They are created again, but without addresses and without children; the network configuration must
	restore these. If you are connected over one of these interfaces, run the command as one line.
	E
