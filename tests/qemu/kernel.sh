#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The kernels for guests, in the cache. Usage: kernel.sh COMMAND [KIND [ARGUMENT...]]
#   prepare  puts kernel and modules into the cache
#   kind     prints the kind's own name
#   release  prints the kernel release (as uname -r)
#   dir      prints the folder with vmlinux, config and modules.cpio
#   kdir     prints the folder for building modules
#   headers  like kdir, but only for compiling, which does not require a built kernel
#   enter    runs the command ARGUMENT... where that folder and its compiler are
# A kind of kernel is defined by kernel-KIND.sh, which has read_version, kernel_key,
# kernel_tree, kdir, headers and, unless its modules are built like any others, enter. The
# kinds are stock (the default), debug, 6.12 and newest, which may also be named by its
# version, as in 7.3.

. "$(dirname "$0")/common.sh"

# The newest kernel may be named by its version.
find_newest()
{
	local name=$kind

	kind=newest
	. "$qemu_dir/kernel-newest.sh"
	read_version
	[[ $release == "$name".* ]] ||
		die "no such kind of kernel: $name (the newest is $release)"
}

command=${1:-} kind=${2:-stock}
shift $(($# < 2 ? $# : 2))
[ -e "$qemu_dir/kernel-$kind.sh" ] || find_newest

# enter CMD...: as for kernels that this system builds modules for.
enter()
{
	"$@"
}

# shellcheck source=kernel-debug.sh
. "$qemu_dir/kernel-$kind.sh"

# Prints the names of the modules listed for this kind of kernel.
modules_listed()
{
	sed 's/#.*//' "$qemu_dir/modules" | awk -v kind="$kind" '
		function has_kind(	i) {
			for (i = 2; i <= NF; i++)
				if ($i == kind || $i == "debian" && kind != "debug")
					return 1
			return NF == 1
		}
		NF && has_kind() { print $1 }'
}

# Prints the paths, relative to the root, of the modules listed for this kind of kernel and of
# those that they need.
module_files()
{
	local root=$1

	# shellcheck disable=SC2046  # words
	modprobe -d "$root" -S "$release" -a --show-depends $(modules_listed) >"$root/shown" ||
		die "$release lacks modules"
	awk -v root="$root/" '$1 == "insmod" { sub(root, "", $2); print $2 }' "$root/shown" | sort -u
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

# The name is asked for before anything is installed.
[ "$command" != kind ] || {
	echo "$kind"
	exit
}
find_dir
case $command in
prepare) with_lock "kernel-$kind" prepare ;;
release) echo "$release" ;;
dir) echo "$dir" ;;
kdir) kdir ;;
headers) headers ;;
enter) enter "$@" ;;
*) die "usage: kernel.sh prepare|kind|release|dir|kdir|headers|enter [KIND [ARGUMENT...]]" ;;
esac
