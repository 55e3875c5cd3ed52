# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Shared by all scripts of the harness that run on the host: folders, the cache, and apt-get.
# To be sourced.

set -euo pipefail

# The caller may be make. Its flags and variables must not affect the builds that are started here.
unset MAKEFLAGS MFLAGS MAKELEVEL O

# Users other than root do not have these by default, but they run programs from there.
export PATH=$PATH:/usr/sbin:/sbin

# Byte order for sorting and matching: cache keys must not depend on a locale.
export LC_ALL=C

qemu_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034  # used by the scripts that source this one
top=$(cd "$qemu_dir/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ib-ipoib

# shellcheck source=progress.sh
. "$qemu_dir/progress.sh"

die()
{
	progress_aside printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

say()
{
	progress_event say "$*"
	progress_aside printf '%s\n' "$*" >&2
}

# as_root CMD...: runs the few commands that change the host. sudo may ask for a password.
as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		progress_aside sudo -- "$@"
	fi
}

# apt_install PACKAGE...: updates the package lists only if the installation fails without
# that, because a name is unknown or a version has been removed from the archive.
apt_install()
{
	local cmd=(env DEBIAN_FRONTEND=noninteractive apt-get
		-o DPkg::Lock::Timeout=600 -o Acquire::Retries=3
		-qq -y --no-install-recommends install "$@")

	as_root "${cmd[@]}" >"$cache/apt.log" 2>&1 && return
	apt_update
	as_root "${cmd[@]}" >"$cache/apt.log" 2>&1 && return
	cat "$cache/apt.log" >&2
	die "cannot install: $*"
}

apt_update()
{
	say "fetching the package lists"
	as_root apt-get -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 \
		-qq update
}

# with_lock NAME CMD...: serializes preparations, also of several clones.
with_lock()
{
	local name=$1

	shift
	(
		flock 9
		"$@"
	) 9>"$cache/$name.lock"
}

# build_lock: prints the lock's name for whoever builds in this checkout.
build_lock()
{
	echo "build-$(hash_of <(echo "$top"))"
}

# unpack_debs FOLDER ROOT: the contents of FOLDER's .deb files, in a root file system whose
# /bin, /sbin and /lib are links.
unpack_debs()
{
	local folder=$1 root=$2 deb dir

	for dir in bin sbin lib lib64; do
		mkdir -p "$root/usr/$dir"
		ln -s "usr/$dir" "$root/$dir"
	done
	for deb in "$folder"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x --keep-directory-symlink -C "$root"
	done
}

# hash_of FILE...: prints a short hash of the files' contents.
hash_of()
{
	cat -- "$@" | sha256sum | cut -c1-16
}

mkdir -p "$cache"
