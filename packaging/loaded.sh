#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Prints what to do next if the modules that were just installed cannot be loaded before they are
# signed, or if others of the same names are loaded. Usage: loaded.sh FOLDER, which has the modules.
# Tests set SYSFS and RELEASE, which replace /sys and the release of the running kernel.

set -eu

folder=$1 sysfs=${SYSFS:-/sys}
# In the order in which they can be unloaded
modules=(eth_ipoib ib_ats ib_ipoib)

# is_for_here: the modules are for the running kernel, and not in the image of another system.
is_for_here()
{
	[ -n "${SYSFS:-}" ] || [[ $folder == /lib/modules/* ]] || return
	[[ $(modinfo -F vermagic "$folder/ib_ipoib.ko") == "${RELEASE:-$(uname -r)} "* ]]
}

# is_refused: the kernel only loads signed modules, and these are not.
is_refused()
{
	grep -Eqs '\[(integrity|confidentiality)\]' "$sysfs/kernel/security/lockdown" ||
		grep -qsx Y "$sysfs/module/module/parameters/sig_enforce" || return
	[ -z "$(modinfo -F signer "$folder/ib_ipoib.ko")" ]
}

# loaded_version MODULE: prints the srcversion of a loaded module. An in-tree one has none on Debian.
loaded_version()
{
	cat "$sysfs/module/$1/srcversion" 2>/dev/null || echo none
}

# interfaces: prints the interfaces with InfiniBand addresses.
interfaces()
{
	grep -lx 32 "$sysfs"/class/net/*/type 2>/dev/null | awk -F / '{ print $(NF - 1) }' | sort
}

is_for_here || exit 0
if is_refused; then
	cat <<-'E'

		This kernel only loads signed modules (Secure Boot), and these are not signed: sign them first, as
		Documentation/packages.rst says in "Secure Boot". Until then, modprobe fails, and after a reboot
		there is no IPoIB interface.
	E
fi
loaded='' again='' others=''
for module in "${modules[@]}"; do
	[ -e "$sysfs/module/$module" ] || continue
	loaded+=" $module"
	again=" $module$again"
	[ "$(loaded_version "$module")" = "$(modinfo -F srcversion "$folder/$module.ko")" ] ||
		others+=" $module"
done
[ -n "$others" ] || exit 0

names=$(interfaces | paste -sd ' ')
cat <<-E

	Other builds of these modules are loaded, or in-tree ones:$others. They stay in use until they
	are unloaded. To use those that have just been installed, do one of these:

	    modprobe -r$loaded; modprobe -a$again
	    reboot    # if the initramfs contains them, update it before

	The first command removes these interfaces, which breaks connections over them: ${names:-(none)}
	They are created again, but without addresses and without children; the network configuration must
	restore these. If you are connected over one of these interfaces, run the command as one line.
	E
