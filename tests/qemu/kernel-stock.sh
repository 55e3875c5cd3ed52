# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154  # what common.sh sets
# Debian's own kernel, for kernel.sh: the version that the installed
# linux-headers-amd64 is for, so that the modules built here load there.

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

# kernel_key FILE...: prints the short key of these files' contents and of all
# else that the kernel is made by.
kernel_key()
{
	hash_of "$@" "$qemu_dir/kernel-stock.sh"
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

# The archive holds only the newest versions: headers that are older than
# what it has are brought up to date, for there is no kernel for them.
download()
{
	fetch "$1" 2>"$1/fetch.log" && return
	apt_update
	apt_install linux-headers-amd64
	read_version
	fetch "$1"
}

# Reads an unsigned number of SIZE bytes at OFFSET of FILE.
number_at()
{
	od -A n -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# QEMU's direct start of an ELF image spares the guest unpacking itself. The
# payload's place is told by the x86 boot protocol's header: setup_sects,
# payload_offset, payload_length (whose last 4 bytes are the unpacked size).
unpack_vmlinux()
{
	local image=$1 sectors offset length

	sectors=$(number_at "$image" 0x1f1 1)
	offset=$(number_at "$image" 0x248 4)
	length=$(number_at "$image" 0x24c 4)
	dd if="$image" bs=1M iflag=skip_bytes,count_bytes status=none \
		skip=$(((sectors + 1) * 512 + offset)) count=$((length - 4)) |
		xz -dc
}

# kernel_tree WORK ROOT OUT: vmlinux and config into OUT, lib/modules below ROOT.
kernel_tree()
{
	local work=$1 root=$2 out=$3

	download "$work"
	dpkg-deb --fsys-tarfile "$work"/linux-image-*.deb |
		tar -x -C "$root" ./boot ./lib
	unpack_vmlinux "$root/boot/vmlinuz-$release" >"$out/vmlinux"
	cp "$root/boot/config-$release" "$out/config"
}
