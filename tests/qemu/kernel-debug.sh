# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154  # what common.sh sets
# The debug kernel, for kernel.sh: built once from Debian's linux-source-6.1 and
# debug.config. What the build leaves is kept apart from the archive of modules,
# so that another list of modules needs no other build.

source_package=linux-source-6.1

# what_counts: this script and the configuration, without remarks.
what_counts()
{
	grep -v '^#' "$qemu_dir/kernel-debug.sh"
	grep -E '^(# )?CONFIG_' "$qemu_dir/debug.config"
}

# Sets $release, $version, and where in the cache the build is and what is prepared for one:
# $built and $prepared. Code that is instrumented calls into the kernel as its compiler's
# version has it.
read_version()
{
	local key

	version=$(dpkg-query -W -f '${Version}' "$source_package") ||
		die "$source_package is not installed"
	release=${version%%-*}-debug
	key=$release-$version-gcc-$(gcc -dumpfullversion)-$(what_counts | hash_of -)
	built=$cache/built-$key
	prepared=$cache/prepared-$key
}

# kernel_key FILE...: prints the short key of these files' contents and of all
# else that the kernel is made by.
kernel_key()
{
	{
		cat -- "$@"
		basename "$built"
	} | hash_of -
}

kdir()
{
	echo "$built/build"
}

# The headers, of the build if there is one.
headers()
{
	[ ! -e "$built" ] || {
		kdir
		return
	}
	with_lock headers-debug prepare_headers
	echo "$prepared"
}

# Options that Kconfig does not know, or whose conditions are not met, vanish
# without a word.
make_config()
{
	local lost

	make -s -C "$1" allnoconfig KCONFIG_ALLCONFIG="$qemu_dir/debug.config"
	lost=$(grep -E '^(# )?CONFIG_' "$qemu_dir/debug.config" |
		grep -vxFf "$1/.config") || return 0
	die "options that did not take: $lost"
}

# What a module is built by, with the paths that a kernel's tree has.
copy_kdir()
{
	local from=$1 to=$2

	mkdir "$to"
	(
		cd "$from" || exit
		printf '%s\0' .config Makefile Module.symvers \
			tools/objtool/objtool
		find arch/x86 -maxdepth 1 -name 'Makefile*' -print0
		find include scripts arch/x86/include \
			! -type d ! -name '*.cmd' -print0
	) | tar -C "$from" --null -T - -c | tar -C "$to" -x
}

# What QEMU enters the kernel by (arch/x86/platform/pvh/enlighten.c) runs before
# there is any memory for KASAN to look into, and 6.1 does not exempt it, nor the
# memcmp() that it calls (lib/string.c). kmemleak is twice as fast unchecked.
unchecked=(
	KASAN_SANITIZE_enlighten.o=n KASAN_SANITIZE_string.o=n
	KASAN_SANITIZE_kmemleak.o=n
)

compile()
{
	local tree=$1 root=$2

	make -s -C "$tree" -j"$(nproc)" "${unchecked[@]}" vmlinux modules &&
		make -s -C "$tree" INSTALL_MOD_PATH="$root" modules_install
}

# unpack_source WORK: configured, below the folder given.
unpack_source()
{
	tar -xJf "/usr/src/$source_package.tar.xz" -C "$1"
	make_config "$1/$source_package"
}

# A kernel that is not compiled has no symbols.
prepare_headers()
{
	local work tree

	[ ! -e "$prepared" ] || return 0
	say "preparing the debug kernel's headers"
	work=$(mktemp -d "$cache/tmp.XXXXXX")
	# shellcheck disable=SC2064  # the folder of now, not of then
	trap "rm -rf '$work'" EXIT
	tree=$work/$source_package
	unpack_source "$work"
	make -s -C "$tree" -j"$(nproc)" modules_prepare >"$work/prepare.log" 2>&1 || {
		tail -n 40 "$work/prepare.log" >&2
		die "the debug kernel's headers cannot be prepared"
	}
	: >"$tree/Module.symvers"
	copy_kdir "$tree" "$work/headers"
	mv "$work/headers" "$prepared"
}

build()
{
	local work=$1 tree=$1/$source_package out=$1/built made

	say "building the debug kernel, some minutes"
	mkdir "$out"
	unpack_source "$work"
	compile "$tree" "$out" >"$work/compile.log" 2>&1 || {
		tail -n 40 "$work/compile.log" >&2
		die "the debug kernel does not build"
	}
	made=$(cat "$tree/include/config/kernel.release")
	[ "$made" = "$release" ] || die "it is $made, not $release"
	strip -o "$out/vmlinux" "$tree/vmlinux"
	cp "$tree/.config" "$out/config"
	copy_kdir "$tree" "$out/build"
	rm -rf "$tree" "$built" "$prepared"
	mv "$out" "$built"
}

# kernel_tree WORK ROOT OUT: vmlinux and config into OUT, lib/modules below ROOT.
kernel_tree()
{
	local work=$1 root=$2 out=$3

	[ -e "$built" ] || build "$work"
	cp -a "$built/lib" "$root/"
	cp "$built/vmlinux" "$built/config" "$out/"
}
