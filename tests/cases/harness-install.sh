# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# After `make install` modprobe prefers this driver to the in-tree one, and the tools are
# installed; `make uninstall` undoes both. If another ib_ipoib is loaded,
# `make install` says what to do next.
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

# run_make TARGET: the modules are those that guests load, which are not made again.
run_make()
{
	make -C "$top" -o driver -o ats -o eth KDIR="/lib/modules/$release/build" \
		INSTALL_MOD_PATH="$root" DESTDIR="$work/dest" "$1"
}

# tools_installed: prints the installed files other than modules.
tools_installed()
{
	find "$work/dest" ! -type d -printf '%P %m\n' | sort
}

# sysfs_make SRCVERSION: makes a /sys with a loaded module of this srcversion, which has two interfaces.
sysfs_make()
{
	rm -rf "$work/sys"
	mkdir -p "$work/sys/module/ib_ipoib" "$work"/sys/class/net/{eth0,ib0,ib0.8001}
	[ -z "$1" ] || echo "$1" >"$work/sys/module/ib_ipoib/srcversion"
	echo 1 >"$work/sys/class/net/eth0/type"
	echo 32 >"$work/sys/class/net/ib0/type"
	echo 32 >"$work/sys/class/net/ib0.8001/type"
}

# next_where SRCVERSION RELEASE: prints what to do next if such a module is loaded in this kernel.
next_where()
{
	sysfs_make "$1"
	SYSFS=$work/sys RELEASE=$2 "$top/packaging/loaded.sh" "$installed"
}

# says_what_is_next TEXT
says_what_is_next()
{
	grep -q '^    modprobe -r ib_ipoib && modprobe ib_ipoib$' <<<"$1" &&
		grep -q 'connections over them: ib0 ib0.8001$' <<<"$1" && return
	echo "this does not say what to do next: $1"
	exit 1
}

"$top/tests/qemu/build.sh" stock
mkdir "$work/root"
"$top/tests/qemu/kernel.sh" prepare
(cd "$work/root" && mkdir usr usr/lib &&
	cpio --quiet -i <"$("$top/tests/qemu/kernel.sh" dir)/modules.cpio")
stock=kernel/drivers/infiniband/ulp/ipoib/ib_ipoib.ko

wanted "before" "$stock"
run_make install
wanted "installed" updates/ib_ipoib.ko
diff - <(tools_installed) <<-E
	usr/local/sbin/eipoib 755
	usr/local/sbin/ibats 755
	usr/local/sbin/ipoib 755
	usr/local/share/bash-completion/completions/eipoib 644
	usr/local/share/bash-completion/completions/ibats 644
	usr/local/share/bash-completion/completions/ipoib 644
	usr/local/share/man/man4/eth_ipoib.4 644
	usr/local/share/man/man4/ib_ats.4 644
	usr/local/share/man/man4/ib_ipoib.4 644
	usr/local/share/man/man8/eipoib.8 644
	usr/local/share/man/man8/ibats.8 644
	usr/local/share/man/man8/ipoib.8 644
E
for tool in eipoib ibats ipoib; do
	"$work/dest/usr/local/sbin/$tool" --help >"$work/help"
	grep -q "^Usage: $tool" "$work/help"
done

# The in-tree module has no srcversion; an earlier build of ours has another one
sysfs_make ''
says_what_is_next "$(SYSFS=$work/sys RELEASE=$release run_make install)"
installed=$root/lib/modules/$release/updates/ib_ipoib.ko
says_what_is_next "$(next_where 0123456789ABCDEF0123456 "$release")"
own=$(modinfo -F srcversion "$installed")
[ -n "$own" ]
diff /dev/null <(next_where "$own" "$release")
diff /dev/null <(next_where '' 5.10.0-1-amd64)

run_make uninstall
wanted "uninstalled" "$stock"
diff /dev/null <(tools_installed)
