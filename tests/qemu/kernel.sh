#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The kernels for guests, in the cache. Usage: kernel.sh COMMAND [stock|debug]
#   prepare  puts kernel and modules into the cache
#   release  prints the kernel release (as uname -r)
#   dir      prints the folder with vmlinux, config and modules.cpio
#   kdir     prints the folder for building modules
#   headers  like kdir, but only for compiling, which does not require a built kernel
# A kind of kernel (default: stock) is defined by kernel-KIND.sh, which has read_version,
# kernel_key, kernel_tree, kdir and headers.

. "$(dirname "$0")/common.sh"

command=${1:-} kind=${2:-stock}
[ -e "$qemu_dir/kernel-$kind.sh" ] || die "no such kind of kernel: $kind"
# shellcheck source=kernel-debug.sh
. "$qemu_dir/kernel-$kind.sh"

# Prints the paths, relative to the root, of the modules listed for this kind of kernel and of
# those that they need.
module_files()
{
	local root=$1 module

	while read -r module; do
		modprobe -d "$root" -S "$release" --show-depends "$module" ||
			die "no module $module in $release"
	done < <(sed 's/#.*//' "$qemu_dir/modules" |
		awk -v kind="$kind" 'NF == 1 || $2 == kind { print $1 }') |
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
	# lib is a link to usr/lib in the root file system.
	mkdir "$small/usr"
	mv "$small/lib" "$small/usr/"
	(cd "$small" && find usr -mindepth 2 -print0 |
		cpio --quiet --null -o -H newc -R 0:0) >"$out"
}

find_dir()
{
	read_version
	dir=$cache/kernel-$release-$version-$(kernel_key "$0" "$qemu_dir/modules")
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
	kernel_tree "$work" "$work/root" "$work/out"
	find_dir
	make_modules_cpio "$work/root" "$work/out/modules.cpio"
	touch "$work/out/complete"
	rm -rf "$dir"
	mv "$work/out" "$dir"
}

find_dir
case $command in
prepare) with_lock "kernel-$kind" prepare ;;
release) echo "$release" ;;
dir) echo "$dir" ;;
kdir) kdir ;;
headers) headers ;;
*) die "usage: kernel.sh prepare|release|dir|kdir|headers [stock|debug]" ;;
esac
