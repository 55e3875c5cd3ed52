# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154  # what common.sh and kernel-KIND.sh set
# A kernel of Debian's backports, for kernel-KIND.sh, which sets $base, the release of Debian
# that the kernel is for: the newest kernel that is there when it is fetched. It is built
# for with the compiler of that release, in a root file system of its own that holds no more
# than what a module is built by.

# shellcheck source=suites.sh
. "$qemu_dir/suites.sh"
# shellcheck source=vmlinux.sh
. "$qemu_dir/vmlinux.sh"

# Remembered from one run to the next, so that a run with a full cache asks no mirror
chosen=$cache/backports-$base

open_backports()
{
	suites_open "$chosen.apt" "$base" "$base-backports"
}

choose()
{
	open_backports
	suites_apt apt-cache show --no-all-versions linux-headers-amd64 | sed -n \
		's/^Depends:.* linux-headers-\([0-9][^ ]*\) (= \([^)]*\)).*/\1 \2/p' >"$chosen.new"
	[ -s "$chosen.new" ] || die "$base-backports has no kernel"
	mv "$chosen.new" "$chosen"
}

# Sets $release and $version, and where what modules are built by is: $toolchain.
read_version()
{
	[ -e "$chosen" ] || with_lock "backports-$base" choose
	read -r release version <"$chosen"
	toolchain=$cache/toolchain-$release-$version-$(
		hash_of "$qemu_dir/kernel-backports.sh" "$qemu_dir/suites.sh")
}

# kernel_key FILE...: prints the short key of these files' contents and of all
# else that the kernel is made by.
kernel_key()
{
	hash_of "$@" "$qemu_dir/kernel-backports.sh" "$qemu_dir"/{suites,vmlinux}.sh
}

# The archive only has the newest versions. If it does not have the chosen one any more, another is
# chosen next time.
forget()
{
	say "the archive does not have kernel $release ($version) any more"
	rm -rf "$chosen" "$chosen.apt"
}

# Where enter() runs
kdir()
{
	echo "/usr/src/linux-headers-$release"
}

headers()
{
	kdir
}

make_toolchain()
{
	local work

	[ ! -e "$toolchain" ] || return 0
	say "preparing the compiler and the headers of kernel $release"
	work=$(mktemp -d "$cache/tmp.XXXXXX")
	# shellcheck disable=SC2064  # the folder of now, not of then
	trap "rm -rf '$work'" EXIT
	open_backports
	suites_fetch "$work/debs" "linux-headers-$release=$version" make gcc dash mawk \
		coreutils findutils sed grep diffutils perl python3-minimal sparse || {
		forget
		die "the compiler cannot be fetched; run this again for a newer kernel"
	}
	mkdir "$work/root"
	unpack_debs "$work/debs" "$work/root"
	mkdir -p "$work/root"/{dev,proc,tmp}
	ln -sf dash "$work/root/usr/bin/sh"
	ln -sf mawk "$work/root/usr/bin/awk"
	rm -rf "$work/root"/usr/share/{doc,man,info,locale}
	mv "$work/root" "$toolchain"
}

# enter CMD...: runs in the compiler's root file system, which has this tree at the same place.
enter()
{
	local spaces=(--mount)

	[ "$(id -u)" -eq 0 ] || spaces+=(--map-root-user)
	with_lock "toolchain-$base" make_toolchain
	# shellcheck disable=SC2016  # the inner shell's variables
	unshare "${spaces[@]}" sh -euc '
		root=$1 top=$2
		shift 2
		mkdir -p "$root$top"
		for dir in /dev /proc "$top"; do
			mount --rbind "$dir" "$root$dir"
		done
		exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin LC_ALL=C "$@"' \
		sh "$toolchain" "$top" "$@"
}

# What a kernel's package is divided into differs between releases of Debian.
image_packages()
{
	suites_apt apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts \
		--no-breaks --no-replaces --no-enhances "linux-image-$release" |
		sed -n "s/^\(linux-.*$release\)\$/\1/p" | sort -u
}

# download FOLDER: fetches the kernel's packages.
download()
{
	local packages

	open_backports && mapfile -t packages < <(image_packages) && [ ${#packages[@]} -gt 0 ] &&
		suites_download "$1" "${packages[@]/%/=$version}"
}

# kernel_tree WORK ROOT OUT: vmlinux and config into OUT, lib/modules below ROOT.
kernel_tree()
{
	local work=$1 root=$2 out=$3 image

	download "$work/debs" || {
		forget
		read_version
		rm -rf "$work/debs"
		download "$work/debs"
	}
	unpack_debs "$work/debs" "$root"
	# Beside the modules, or in /boot
	image=$root/usr/lib/modules/$release/vmlinuz
	if [ -e "$image" ]; then
		cp "${image%/*}/config" "$out/config"
	else
		image=$root/boot/vmlinuz-$release
		cp "$root/boot/config-$release" "$out/config"
	fi
	unpack_vmlinux "$image" >"$out/vmlinux"
}
