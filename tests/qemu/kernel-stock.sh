# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154  # what common.sh sets
# Debian's own kernel, for kernel.sh: the version of the installed linux-headers-amd64, so
# that modules built here can be loaded.

# shellcheck source=vmlinux.sh
. "$qemu_dir/vmlinux.sh"

# Prints "RELEASE VERSION" of the installed header package.
header_package()
{
	dpkg-query -W -f '${Depends}' linux-headers-amd64 |
		sed -n 's/^linux-headers-\([^ ]*\) (= \([^)]*\)).*/\1 \2/p'
}

# Sets $release and $version.
read_version()
{
	local found

	found=$(header_package) || die "linux-headers-amd64 is not installed"
	read -r release version <<<"$found"
	[ -n "${version:-}" ] ||
		die "linux-headers-amd64 does not name its kernel"
}

# kernel_key FILE...: prints a short hash of these files' contents and of everything else that
# determines the kernel.
kernel_key()
{
	hash_of "$@" "$qemu_dir/kernel-stock.sh" "$qemu_dir/vmlinux.sh"
}

kdir()
{
	echo "/lib/modules/$release/build"
}

headers()
{
	kdir
}

fetch()
{
	(cd "$1" && apt-get -qq -o APT::Sandbox::User=root \
		download "linux-image-$release=$version")
}

# The archive only has the newest versions. There is no kernel for older headers, so these are
# upgraded.
download()
{
	fetch "$1" 2>"$1/fetch.log" && return
	apt_update
	apt_install linux-headers-amd64
	read_version
	fetch "$1"
}

# kernel_tree WORK ROOT OUT: puts vmlinux and config into OUT, and lib/modules into ROOT.
kernel_tree()
{
	local work=$1 root=$2 out=$3

	download "$work"
	dpkg-deb --fsys-tarfile "$work"/linux-image-*.deb |
		tar -x -C "$root" ./boot ./lib
	unpack_vmlinux "$root/boot/vmlinuz-$release" >"$out/vmlinux"
	cp "$root/boot/config-$release" "$out/config"
}
