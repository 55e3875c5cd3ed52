#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Debian's stock kernel in the cache. Usage: kernel.sh prepare|release|dir
#   prepare  puts kernel and modules into the cache
#   release  prints the kernel release (as in uname -r)
#   dir      prints the folder that holds vmlinux and modules.cpio
# It is the version that the installed linux-headers-amd64 is for, so that the
# modules built here load there.

. "$(dirname "$0")/common.sh"

# Prints "RELEASE VERSION" of the installed header package.
headers()
{
	dpkg-query -W -f '${Depends}' linux-headers-amd64 |
		sed -n 's/^linux-headers-\([^ ]*\) (= \([^)]*\)).*/\1 \2/p'
}

read_headers()
{
	local found

	found=$(headers) || die "linux-headers-amd64 is not installed"
	read -r release version <<<"$found"
	[ -n "${version:-}" ] ||
		die "linux-headers-amd64 does not name its kernel"
	key=$(hash_of "$0" "$qemu_dir/modules")
	dir=$cache/kernel-$release-$version-$key
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
	read_headers
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

# Prints the paths, below the root given, of the listed modules and of all
# that they need.
module_files()
{
	local root=$1 module

	while read -r module; do
		modprobe -d "$root" -S "$release" --show-depends "$module" ||
			die "no module $module in $release"
	done < <(sed 's/#.*//; /^[[:space:]]*$/d' "$qemu_dir/modules") |
		awk -v root="$root/" '$1 == "insmod" { sub(root, "", $2);
			print $2 }' | sort -u
}

make_modules_cpio()
{
	local root=$1 out=$2 small=$1/small base=lib/modules/$release file

	depmod -b "$root" "$release"
	mkdir -p "$small/$base"
	cp "$root/$base"/modules.builtin* "$root/$base/modules.order" \
		"$small/$base/"
	module_files "$root" >"$root/wanted"
	while read -r file; do
		install -D -m 644 "$root/$file" "$small/$file"
	done <"$root/wanted"
	depmod -b "$small" "$release"
	# The root file system's lib is a link to usr/lib.
	mkdir "$small/usr"
	mv "$small/lib" "$small/usr/"
	(cd "$small" && find usr -mindepth 2 -print0 |
		cpio --quiet --null -o -H newc -R 0:0) >"$out"
}

prepare()
{
	local work

	[ ! -e "$dir/complete" ] || return 0
	say "preparing kernel $release ($version)"
	work=$(mktemp -d "$cache/tmp.XXXXXX")
	# shellcheck disable=SC2064  # the folder of now, not of then
	trap "rm -rf '$work'" EXIT
	mkdir "$work/root" "$work/out"
	download "$work"
	dpkg-deb --fsys-tarfile "$work"/linux-image-*.deb |
		tar -x -C "$work/root" ./boot ./lib
	unpack_vmlinux "$work/root/boot/vmlinuz-$release" >"$work/out/vmlinux"
	cp "$work/root/boot/config-$release" "$work/out/config"
	make_modules_cpio "$work/root" "$work/out/modules.cpio"
	touch "$work/out/complete"
	rm -rf "$dir"
	mv "$work/out" "$dir"
}

read_headers
case ${1:-} in
prepare) with_lock kernel prepare ;;
release) echo "$release" ;;
dir) echo "$dir" ;;
*) die "usage: kernel.sh prepare|release|dir" ;;
esac
