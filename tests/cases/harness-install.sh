# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# After `make install` modprobe prefers this driver to the in-tree one, and the tools are
# installed; `make uninstall` undoes both. If another ib_ipoib is loaded,
# `make install` says what to do next.
# runs: host
# timeout: 120

# shellcheck source=lib-package.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib-package.sh"
release=$("$top/tests/qemu/kernel.sh" release)
root=$work/root/usr

# wanted WHEN FILE: modprobe would load FILE, a path in the modules' folder.
wanted()
{
	local got

	got=$(modprobe -d "$root" -S "$release" --show-depends ib_ipoib |
		sed -n "s,^insmod $root/lib/modules/$release/\(.*ib_ipoib.ko\).*,\1,p")
	same "$1: what modprobe would load" "$got" "$2"
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

# modules_installed: prints our modules' files.
modules_installed()
{
	find "$root/lib/modules/$release" -path '*/updates/*' -printf '%f ' | tr ' ' '\n' | sort |
		paste -sd ' '
}

# sysfs_make SRCVERSION [MODULE...]: makes a /sys with a loaded ib_ipoib of this srcversion, which has
# two interfaces, and other modules of an older build.
sysfs_make()
{
	local module

	rm -rf "$work/sys"
	mkdir -p "$work/sys/module/ib_ipoib" "$work"/sys/class/net/{eth0,ib0,ib0.8001}
	[ -z "$1" ] || echo "$1" >"$work/sys/module/ib_ipoib/srcversion"
	for module in "${@:2}"; do
		mkdir "$work/sys/module/$module"
		echo 0123456789ABCDEF0123456 >"$work/sys/module/$module/srcversion"
	done
	echo 1 >"$work/sys/class/net/eth0/type"
	echo 32 >"$work/sys/class/net/ib0/type"
	echo 32 >"$work/sys/class/net/ib0.8001/type"
}

# next_where SRCVERSION RELEASE [MODULE...]: prints what to do next if such modules are loaded in this
# kernel.
next_where()
{
	sysfs_make "$1" "${@:3}"
	SYSFS=$work/sys RELEASE=$2 "$top/packaging/loaded.sh" "$updates"
}

# says_what_is_next TEXT COMMAND
says_what_is_next()
{
	grep -qxF "    $2" <<<"$1" && grep -q 'connections over them: ib0 ib0.8001$' <<<"$1" && return
	echo "this does not say what to do next: $1"
	exit 1
}

# says_to_sign COUNT: so many lines say, in the kernel whose /sys was made, that modules must be signed.
says_to_sign()
{
	local text

	text=$(SYSFS=$work/sys RELEASE=$release "$top/packaging/loaded.sh" "$updates")
	same "$(paste -sd ' ' "$lockdown"): lines that say to sign" \
		"$(grep -c 'sign them first' <<<"$text")" "$1"
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
same "the modules" "$(modules_installed)" "eth_ipoib.ko ib_ats.ko ib_ipoib.ko"
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
reload='modprobe -r ib_ipoib; modprobe -a ib_ipoib'
says_what_is_next "$(SYSFS=$work/sys RELEASE=$release run_make install)" "$reload"
updates=$root/lib/modules/$release/updates
says_what_is_next "$(next_where 0123456789ABCDEF0123456 "$release")" "$reload"
own=$(modinfo -F srcversion "$updates/ib_ipoib.ko")
[ -n "$own" ]
same "with the same build" "$(next_where "$own" "$release")" ""
same "in another kernel" "$(next_where '' 5.10.0-1-amd64)" ""
says_what_is_next "$(next_where "$own" "$release" ib_ats eth_ipoib)" \
	'modprobe -r eth_ipoib ib_ats ib_ipoib; modprobe -a ib_ipoib ib_ats eth_ipoib'

# A kernel that loads only signed modules, whatever is loaded now
sysfs_make "$own"
lockdown=$work/sys/kernel/security/lockdown
mkdir -p "${lockdown%/*}"
echo 'none [integrity] confidentiality' >"$lockdown"
says_to_sign 1
echo '[none] integrity confidentiality' >"$lockdown"
says_to_sign 0
mkdir -p "$work/sys/module/module/parameters"
echo Y >"$work/sys/module/module/parameters/sig_enforce"
says_to_sign 1

# A module that DKMS has installed
mkdir "$updates/dkms"
touch "$updates/dkms/ib_ipoib.ko.xz"
status=0
run_make install 2>"$work/refused" || status=$?
same "the status of an installation beside DKMS" "$status" 2
grep -q 'dkms/ib_ipoib.ko.xz is there' "$work/refused"
rm -r "$updates/dkms"

run_make uninstall
wanted "uninstalled" "$stock"
same "the modules that are left" "$(modules_installed)" ""
same "the tools that are left" "$(tools_installed)" ""
