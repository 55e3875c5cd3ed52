# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# After `make install` modprobe prefers this driver to the in-tree one, and the tool is
# installed; `make uninstall` undoes both.
# runs: host
# timeout: 120

work=$1
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
release=$("$top/tests/qemu/kernel.sh" release)
root=$work/root/usr

# wanted WHEN FILE: modprobe would load FILE, a path in the modules' folder.
wanted()
{
	local got

	got=$(modprobe -d "$root" -S "$release" --show-depends ib_ipoib |
		sed -n "s,^insmod $root/lib/modules/$release/\(.*ib_ipoib.ko\).*,\1,p")
	if [ "$got" != "$2" ]; then
		echo "$1: modprobe would load '$got', wanted '$2'"
		exit 1
	fi
}

run_make()
{
	make -C "$top" KDIR="/lib/modules/$release/build" \
		INSTALL_MOD_PATH="$root" DESTDIR="$work/dest" "$1"
}

# installed: prints the installed files other than modules.
installed()
{
	find "$work/dest" ! -type d -printf '%P %m\n' | sort
}

mkdir "$work/root"
(cd "$work/root" && mkdir usr usr/lib &&
	cpio --quiet -i <"$("$top/tests/qemu/kernel.sh" dir)/modules.cpio")
stock=kernel/drivers/infiniband/ulp/ipoib/ib_ipoib.ko

wanted "before" "$stock"
run_make install
wanted "installed" updates/ib_ipoib.ko
diff - <(installed) <<-E
	usr/local/sbin/ibats 755
	usr/local/share/bash-completion/completions/ibats 644
	usr/local/share/man/man8/ibats.8 644
E
"$work/dest/usr/local/sbin/ibats" --help | grep -q '^Usage: ibats'
run_make uninstall
wanted "uninstalled" "$stock"
diff /dev/null <(installed)
