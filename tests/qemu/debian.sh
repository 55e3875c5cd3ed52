#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Prepares a Debian 12 system in the cache for cases that install packages, and prints its folder,
# which must not be changed. The system has dkms, ccache, a kernel and its headers. Its var/local/newer
# holds the packages of the kernel of Debian's backports and its headers, for a kernel upgrade.
# The kernels have no modules except those for InfiniBand.

. "$(dirname "$0")/common.sh"

packages=(ccache dkms linux-headers-amd64 kmod libjson-c5 libmnl0 linux-base openssl procps rpm)

# sources: prints the Debian sources of the host, and the backports of the same mirrors.
sources()
{
	local lines

	# shellcheck disable=SC2016  # for apt-get to expand
	lines=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Identifier: Packages' 'Origin: Debian' | grep ' bookworm[^ ]* main$' | sort -u)
	echo "$lines"
	sed -n 's/ bookworm main$/ bookworm-backports main/p' <<<"$lines"
}

# options: prints the options of the host's apt that are needed to reach the sources.
options()
{
	apt-config dump --format '%F "%v";%n' | sed -nE '/^Acquire::(http|https|Check-)/p'
}

# key: prints a short key of the versions of the packages, as the host's lists have them.
key()
{
	{
		cat "$0"
		apt-cache show --no-all-versions "${packages[@]}" |
			grep -E '^(Package|Version|Depends): '
	} | sha256sum | cut -c1-16
}

# get_image NAME[/SUITE] FOLDER: writes a kernel's package to FOLDER, without most of its modules
# and without the dependency on an initramfs. The package's scripts are Debian's.
get_image()
{
	local image=$work/image

	mkdir "$image"
	(cd "$image" && apt-get download "$1" && dpkg-deb -R ./*.deb tree)
	find "$image/tree" -name '*.ko*' ! -path '*/drivers/infiniband/*' -delete
	sed -i -E '/^(Recommends|Suggests|Breaks):/d; s/^Depends: .*/Depends: kmod, linux-base/' \
		"$image/tree/DEBIAN/control"
	rm "$image/tree/DEBIAN/md5sums"
	dpkg-deb -Zgzip -z1 -b "$image/tree" "$2"
	rm -rf "$image"
}

# newer_headers: prints the version of linux-headers-amd64 in the backports.
newer_headers()
{
	apt-cache madison linux-headers-amd64 |
		awk '$0 ~ / bookworm-backports\// { print $3; exit }'
}

# headers_of VERSION: prints the kernel release of this version of linux-headers-amd64.
headers_of()
{
	apt-cache show "linux-headers-amd64=$1" |
		sed -n 's/^Depends: linux-headers-\([^ ]*\) .*/\1/p'
}

# fill ROOT: the hook of mmdebstrap that adds the kernels to the new system.
fill()
{
	local root=$1 release version newer=$1/var/local/newer

	export APT_CONFIG=$MMDEBSTRAP_APT_CONFIG
	release=$(cd "$root/lib/modules" && echo *)
	mkdir "$newer"
	get_image "linux-image-$release" "$newer"
	chroot "$root" sh -c 'dpkg -i /var/local/newer/*.deb'
	rm "$newer"/*.deb "$root"/var/cache/apt/archives/*.deb

	version=$(newer_headers)
	release=$(headers_of "$version")
	get_image "linux-image-$release/bookworm-backports" "$newer"
	apt-get -y --no-install-recommends --download-only install "$newer"/*.deb \
		"linux-headers-amd64=$version" "linux-headers-$release/bookworm-backports"
	mv "$root"/var/cache/apt/archives/*.deb "$newer"
}

# Documentation and translations are left out, because they take time to write.
build()
{
	local root=$1

	options >"$work/options"
	sources >"$work/sources"
	as_root mmdebstrap --quiet --mode=root --variant=apt --format=directory \
		--aptopt="$work/options" --aptopt='APT::Install-Recommends "false"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt=force-unsafe-io \
		--skip=cleanup/reproducible --include="$(tr ' ' , <<<"${packages[*]}")" \
		--customize-hook="$qemu_dir/debian.sh hook '$work' \"\$1\"" \
		bookworm "$root" - <"$work/sources"
}

prepare()
{
	local dir

	apt-cache show dkms >"$cache/debian.log" 2>&1 || apt_update
	dir=$cache/debian-$(key)
	[ -e "$dir" ] || {
		say "preparing a Debian system to install packages in, some minutes"
		work=$(mktemp -d "$cache/tmp.XXXXXX")
		trap 'as_root rm -rf "$work"' EXIT
		build "$work/root" >"$work/log" 2>&1 || {
			cat "$work/log" >&2
			die "cannot prepare a Debian system"
		}
		as_root mv "$work/root" "$dir"
	}
	echo "$dir"
}

if [ "${1:-}" = hook ]; then
	work=$2
	fill "$3"
	exit
fi
"$qemu_dir/deps.sh" package
with_lock debian prepare
