#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The guest's root file system: Debian's own binaries as cpio archives in the cache,
# which are made again when the version of a package changes. Prints their paths.
# Usage: rootfs.sh [GROUP]
# All guests have the first archive. With a group there is a second one, with the packages in the
# list of that name:
#   apps     third-party programs for apps-* cases
#   bridges  Open vSwitch, and the plugins by which container runtimes make networks
#   daemons  what configures, names and monitors interfaces
#   vm       QEMU, for a virtual machine in the guest

. "$(dirname "$0")/common.sh"

group=${1:-base}
packages=(
	busybox dash dnsmasq-base ethtool fping gojq infiniband-diags iperf3 iproute2
	iputils-arping iputils-ping isc-dhcp-client kmod libjson-c5 libmnl0 nftables opensm
	procps smcroute socat systemd tcpdump
)
apps=(
	avahi-daemon avahi-utils chrony conntrack corosync dbus ifupdown keepalived linuxptp
	lksctp-tools mptcpize mtr-tiny network-manager nfs-common nfs-kernel-server nuttcp
	qperf sockperf stress-ng sysstat udev wireguard-tools
)
bridges=(containernetworking-plugins iptables openvswitch-switch)
daemons=(
	dbus ifupdown netplan.io network-manager prometheus-node-exporter rdma-core snmp snmpd
	sysstat udev
)
vm=(qemu-system-x86)
case $group in
base) ;;
apps) packages+=("${apps[@]}") ;;
bridges) packages+=("${bridges[@]}") ;;
daemons) packages+=("${daemons[@]}") ;;
vm) packages+=("${vm[@]}") ;;
*) die "no such group of packages: $group" ;;
esac
work='' base=''

# Independent of the host's installed packages: with an empty status file apt-get lists all
# dependencies.
apt_fresh()
{
	apt-get -q -y --no-install-recommends \
		-o Dir::State::status="$work/status" \
		-o APT::Sandbox::User=root -o Debug::NoLocking=1 \
		-o Acquire::Retries=3 "$@"
}

# Prints "NAME VERSION" of each package wanted.
resolve()
{
	apt_fresh -s install "${packages[@]}" |
		sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1 \2/p' | sort
}

# The result of apt-get is cached as long as the host's package lists do not change, so that
# apt-get is not started if the cache is complete.
lists_key()
{
	{
		echo "$group"
		cat "$0"
		find /var/lib/apt/lists -name '*Packages*' \
			-printf '%p %s %T@\n' | sort
	} | sha256sum | cut -c1-16
}

fetch()
{
	mkdir -p "$work/debs/partial"
	apt_fresh -o Dir::Cache::archives="$work/debs" \
		install --download-only "${packages[@]}" >"$work/fetch.log" 2>&1
}

# Removes manuals, Perl and package management, which the guest does not need.
prune()
{
	local root=$1

	rm -rf "$root"/usr/share/{doc,man,info,locale,perl,perl5,lintian} \
		"$root"/usr/share/{bash-completion,bug,common-licenses,pam} \
		"$root"/usr/lib/x86_64-linux-gnu/{perl,perl5,perl-base,gconv} \
		"$root"/usr/bin/{perl,dpkg,debconf}* \
		"$root"/usr/lib/{dpkg,init,tmpfiles.d} \
		"$root"/usr/lib/x86_64-linux-gnu/systemd/libsystemd-core* \
		"$root"/var/lib/dpkg "$root"/var/cache "$root"/usr/lib/udev/hwdb.d
	prune_systemd "$root"
	find "$root/usr/bin" "$root/usr/sbin" -type f -size -200k -exec \
		grep -lZ '^#! */usr/bin/perl' {} + | xargs -0 -r rm
	"prune_$group" "$root"
}

# Of systemd only networkd is used, which is also the DHCP client, and in the group daemons its
# control program and the files by which udev gives names.
prune_systemd()
{
	local root=$1 kept=(! -name systemd-networkd)

	[ "$group" != daemons ] || kept+=(! -name networkctl ! -name '*.link')
	find "$root/usr/lib/systemd" "$root"/usr/bin/{systemd*,{system,journal,network,login}ctl} \
		! -type d "${kept[@]}" -delete
}

# Libraries that only Perl's programs need.
prune_base()
{
	rm -rf "$1"/usr/lib/x86_64-linux-gnu/lib{perl,db-5,gdbm}*
}

prune_python()
{
	rm -rf "$1"/usr/{lib,share}/python3* "$1"/usr/bin/{python,py,pdb}3*
}

# keepalived (through SNMP's libraries) and avahi-browse need some of those libraries. No case
# uses the other contents of the packages: Python, XML, and NSS for corosync's ciphers.
prune_apps()
{
	prune_python "$1"
	rm -rf "$1"/usr/lib/x86_64-linux-gnu/lib{icu,xml2,xslt,db-5}* \
		"$1"/usr/lib/x86_64-linux-gnu/lib{nss3,nssckbi,nsssysinit,softokn3,freebl}* \
		"$1"/usr/share/misc/pci.ids
}

# Of netplan only the generator is used, which is in C and runs at boot. snmpd needs Perl's library.
prune_daemons()
{
	prune_python "$1"
	rm -rf "$1"/usr/lib/x86_64-linux-gnu/lib{icu,xml2,xslt,db-5}* "$1"/usr/share/misc/pci.ids
}

# Each plugin is a program of several megabytes.
prune_bridges()
{
	prune_base "$1"
	prune_python "$1"
	find "$1/usr/lib/cni" -type f ! -name bridge ! -name host-local ! -name ipvlan \
		! -name macvlan -delete
}

# QEMU without the programs for other uses, the firmware of other machines, and all that shows screens
# and plays sounds.
prune_vm()
{
	prune_base "$1"
	rm -rf "$1"/usr/libexec "$1"/usr/bin/qemu-{storage-daemon,pr-helper} \
		"$1"/usr/bin/qemu-system-x86_64-microvm "$1"/usr/lib/{qemu,ipxe} \
		"$1"/usr/share/{alsa,gst-plugins-base,icons,iso-codes,libdrm,seabios,xml} \
		"$1"/usr/lib/x86_64-linux-gnu/lib{asound,epoxy,gst,opus,orc,spice}* \
		"$1"/usr/lib/x86_64-linux-gnu/lib{nss3,nssckbi,freebl,softokn3,sqlite3,stdc++}* \
		"$1"/usr/lib/x86_64-linux-gnu/gstreamer-1.0
	find "$1/usr/lib/x86_64-linux-gnu/qemu" -type f ! -name 'accel-*' -delete
	find "$1/usr/share/qemu" -type f ! -name qboot.rom -delete
}

# busybox's applets are at the end of PATH, after the real tools.
add_busybox()
{
	local root=$1 applet

	mkdir -p "$root/busybox"
	busybox_applets "$root" >"$work/applets"
	[ -s "$work/applets" ] || die "busybox names no applets"
	while read -r applet; do
		ln -s /usr/bin/busybox "$root/busybox/$applet"
	done <"$work/applets"
}

busybox_applets()
{
	local root=$1

	LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu \
		"$root/usr/lib64/ld-linux-x86-64.so.2" \
		"$root/usr/bin/busybox" --list
}

add_files()
{
	local root=$1

	mkdir -p "$root"/{dev,proc,sys,run,tmp,root,cases,modules,etc} \
		"$root"/var/{cache/opensm,log}
	ln -sf dash "$root/usr/bin/sh"
	# Debian's jq needs ten times as long to start
	ln -s gojq "$root/usr/bin/jq"
	echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
	echo 'root:x:0:' >"$root/etc/group"
	printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
}

# Makes the linker's cache, without which each program searches a dozen folders for each of
# its libraries.
add_linker_cache()
{
	echo 'include /etc/ld.so.conf.d/*.conf' >"$1/etc/ld.so.conf"
	ldconfig -r "$1"
}

# files FOLDER: prints the files of the archive. The second archive does not have those of the
# first one, except for the linker's cache, which must list the libraries of both.
files()
{
	(cd "$1" && find . -mindepth 1) | sort >"$work/files"
	[ -n "$base" ] || {
		cat "$work/files"
		return
	}
	cpio --quiet -t <"$base" | sed 's,^,./,' | sort >"$work/base"
	comm -23 "$work/files" "$work/base"
	echo ./etc/ld.so.cache
}

build()
{
	local out=$1 root=$work/root

	mkdir "$root"
	fetch || { apt_update && fetch; } || {
		cat "$work/fetch.log" >&2
		die "cannot fetch the guest's packages"
	}
	unpack_debs "$work/debs" "$root"
	prune "$root"
	add_busybox "$root"
	add_files "$root"
	add_linker_cache "$root"
	files "$root" >"$work/wanted"
	(cd "$root" && cpio --quiet -o -H newc -R 0:0) <"$work/wanted" >"$work/root.cpio"
	mv "$work/root.cpio" "$out"
}

prepare()
{
	local memo list key

	memo=$cache/root-lists-$(lists_key)
	if [ -e "$memo" ] && [ -e "$(cat "$memo")" ]; then
		cat "$memo"
		return
	fi
	work=$(mktemp -d "$cache/tmp.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	: >"$work/status"
	list=$(resolve 2>/dev/null) || {
		apt_update
		list=$(resolve)
	}
	key=$({ echo "$list" && cat "$0"; } | sha256sum | cut -c1-16)
	if [ ! -e "$cache/root-$key.cpio" ]; then
		say "preparing the guest's root file system"
		build "$cache/root-$key.cpio"
	fi
	echo "$cache/root-$key.cpio" >"$cache/root-lists-$(lists_key)"
	echo "$cache/root-$key.cpio"
}

base_of()
{
	[ "$group" = base ] || "$qemu_dir/rootfs.sh"
}

base=$(base_of)
[ -z "$base" ] || echo "$base"
with_lock "root-$group" prepare
