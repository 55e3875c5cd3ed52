# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154  # what common.sh sets
# The debug kernel, for kernel.sh: built once from Debian's linux-source-6.1 and debug.config.
# The result of the build is kept apart from the archive of modules, so that a change of the
# list of modules does not require another build.

source_package=linux-source-6.1

# what_counts: prints this script and the configuration without comments.
what_counts()
{
	grep -v '^#' "$qemu_dir/kernel-debug.sh"
	grep -E '^(# )?CONFIG_' "$qemu_dir/debug.config"
}

# Sets $release, $version, and the folders in the cache for the build, $built, and for the
# headers only, $prepared. They depend on the compiler's version, as instrumented code calls
# functions of the kernel that must match it.
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

# kernel_key FILE...: prints a short hash of these files' contents and of everything else that
# determines the kernel.
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

# Prints the folder of the headers: the build, if it exists.
headers()
{
	[ ! -e "$built" ] || {
		kdir
		return
	}
	with_lock headers-debug prepare_headers
	echo "$prepared"
}

# Fails if an option is missing: Kconfig silently drops unknown options and those whose
# dependencies are not met.
make_config()
{
	local lost

	make -s -C "$1" allnoconfig KCONFIG_ALLCONFIG="$qemu_dir/debug.config"
	lost=$(grep -E '^(# )?CONFIG_' "$qemu_dir/debug.config" |
		grep -vxFf "$1/.config") || return 0
	die "options that did not take: $lost"
}

# Copies what is needed to build modules, in the layout of a kernel tree.
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

# QEMU's entry into the kernel (arch/x86/platform/pvh/enlighten.c) runs before KASAN's shadow
# memory exists, and 6.1 exempts neither it nor memcmp(), which it calls (lib/string.c).
# kmemleak is twice as fast without checks.
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

# unpack_source WORK: unpacks and configures the source in this folder.
unpack_source()
{
	tar -xJf "/usr/src/$source_package.tar.xz" -C "$1"
	make_config "$1/$source_package"
}

# Without a compiled kernel there is no Module.symvers.
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

# kernel_tree WORK ROOT OUT: puts vmlinux and config into OUT, and lib/modules into ROOT.
kernel_tree()
{
	local work=$1 root=$2 out=$3

	[ -e "$built" ] || build "$work"
	cp -a "$built/lib" "$root/"
	cp "$built/vmlinux" "$built/config" "$out/"
}
