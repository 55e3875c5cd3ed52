# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The packages of `make deb` pass lintian. In a Debian 12 system they can be installed without the
# kernel's headers. After an upgrade with headers DKMS has built and signed their modules, and
# modprobe prefers these. In the long form there are headers from the beginning, and an upgrade of the
# kernel before that of the packages. DKMS does not build the modules for kernels that are too old or
# have no InfiniBand. Removing the packages leaves nothing behind. The fabric's package is only built,
# except in the long form, which installs it as well.
# runs: host
# timeout: 600
# soak: 900

# shellcheck source=lib-package.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib-package.sh"

# packages FOLDER: prints its packages, except for the one with debugging information.
packages()
{
	find "$1" -maxdepth 1 -name '*.deb' ! -name '*dbgsym*'
}

# with_fabric WORD...: prints the words in the long form, one per line.
with_fabric()
{
	[ -z "${SOAK:-}" ] || printf '%s\n' "$@"
}

outside()
{
	step "the packages of version $version, and those of $newer"
	make -s -C "$top" deb
	packages "$top/build/deb" | xargs cp -t "$work"
	"$qemu/deps.sh" package
	lintian --allow-root --fail-on error,warning "$top"/build/deb/*.changes
	"$top/packaging/copy.sh" "$work/newer"
	make -s -C "$work/newer" release VERSION="$newer"
	make -s -C "$work/newer" deb
}

# apt_get WORD...: patterns are expanded in the system.
apt_get()
{
	inside sh -c "exec apt-get -q -y -o Dpkg::Use-Pty=0 $*"
}

# install FILE...: installs packages in the system.
install()
{
	cp "$@" "$system/packages"
	apt_get install '/packages/*.deb'
	rm "$system"/packages/*.deb
}

# own_sources NAME VERSION: the sources are there, without tests and tools.
own_sources()
{
	local sources

	[ -e "$system/usr/src/$1-$2/dkms.conf" ] || fail "no sources of $1 $2"
	sources=$(cd "$system/usr/src/$1-$2" && find .)
	if grep -E '/(cases|qemu|kunit|tools|debian|build)(/|$)' <<<"$sources"; then
		fail "$1 has unneeded sources"
	fi
}

# built VERSION: DKMS built and installed this version for each kernel, and modprobe would load its
# modules.
built()
{
	local kernel lines=()

	for kernel in $kernels; do
		lines+=("ib-ipoib/$1, $kernel, x86_64: installed"
			"$(with_fabric "ibfab/$version, $kernel, x86_64: installed")")
	done
	dkms_has "${lines[@]}"
	for kernel in $kernels; do
		loads_own "$kernel" ib_ipoib "$1"
		loads_own "$kernel" ib_ats "$1"
		loads_own "$kernel" eth_ipoib "$1"
		[ -z "${SOAK:-}" ] || loads_own "$kernel" ibfab "$version"
	done
	no_ignored_jobs
}

# no_ignored_jobs: make warns if it does not use the number of jobs that DKMS sets.
no_ignored_jobs()
{
	local logs status=0

	mapfile -t logs < <(find "$system/var/lib/dkms" -name make.log)
	[ ${#logs[@]} -gt 0 ] || fail "no logs of the builds"
	grep -n jobserver "${logs[@]}" || status=$?
	same "the status of looking for jobs that are ignored" "$status" 1
}

# unpacked VERSION: the files of this version are there.
unpacked()
{
	own_sources ib-ipoib "$1"
	[ -z "${SOAK:-}" ] || own_sources ibfab "$version"
	same "ibats -V" "$(inside ibats -V)" "ibats $1"
	same "eipoib -V" "$(inside eipoib -V)" "eipoib $1"
	inside dpkg -L ib-ipoib-tools | grep -x /usr/share/man/man8/ibats.8.gz >/dev/null
	inside dpkg -L ib-ipoib-dkms | grep -x /usr/share/man/man4/ib_ipoib.4.gz >/dev/null
	inside dpkg -L ib-ipoib-tools | grep -x /usr/share/bash-completion/completions/ibats >/dev/null
}

check_install()
{
	kernels=$release
	loads_in_tree "before" "$release"
	# shellcheck disable=SC2046  # words
	install $(packages "$work")
	unpacked "$version"
	built "$version"
}

# The packages can be installed before the kernel's headers, and modprobe then loads the in-tree
# driver. It takes no time, as DKMS builds nothing.
check_install_without_headers()
{
	local headers=$system/lib/modules/$release/build

	kernels=$release
	loads_in_tree "before" "$release"
	rm "$work"/ibfab-dkms_*.deb
	mv "$headers" "$headers.hidden"
	# shellcheck disable=SC2046  # words
	install $(packages "$work")
	mv "$headers.hidden" "$headers"
	unpacked "$version"
	dkms_has "ib-ipoib/$version: added"
	loads_in_tree "without headers" "$release"
}

check_upgrade()
{
	install "$work"/newer/build/deb/ib-ipoib-{dkms,tools}_*.deb
	unpacked "$newer"
	built "$newer"
	[ ! -e "$system/usr/src/ib-ipoib-$version" ] || fail "the old sources are still there"
}

# The hooks in the packages of the kernel and its headers make DKMS build the modules. Then the new
# kernel runs, so that an upgrade finds a kernel that is neither running nor the newest one.
check_kernel_upgrade()
{
	apt_get install '/var/local/newer/*.deb'
	next=$(find "$system/lib/modules" -mindepth 1 -maxdepth 1 ! -name "$release" -printf %f)
	kernels="$release $next"
	built "$version"
	kernel_runs "$next"
}

# exclusive RELEASE HEADERS: DKMS refuses to build for this kernel.
exclusive()
{
	local status=0

	mkdir "$system/lib/modules/$1"
	ln -s "$2" "$system/lib/modules/$1/build"
	inside dkms build -m ib-ipoib -v "$newer" -k "$1" || status=$?
	same "the status of a build for $1" "$status" 77
	rm -r "$system/lib/modules/$1"
}

# Two old kernels, with the headers of a newer one, and a kernel without InfiniBand.
check_exclusive()
{
	local headers=usr/src/linux-headers-$release-cloud

	exclusive 5.10.0-1-amd64 "/usr/src/linux-headers-$release"
	exclusive 6.0.0-1-amd64 "/usr/src/linux-headers-$release"
	mkdir -p "$system/$headers/include"
	sed '/^CONFIG_INFINIBAND=/d' "$system/boot/config-$release" >"$system/$headers/.config"
	exclusive "$release-cloud" "/$headers"
}

check_removal()
{
	apt_get purge ib-ipoib-dkms ib-ipoib-tools "$(with_fabric ibfab-dkms)"
	loads_in_tree "after" "$release"
	[ -z "${next:-}" ] || loads_in_tree "after" "$next"
	dkms_has
	nothing_left
}

if [ -n "${SOAK:-}" ]; then
	package_case install kernel_upgrade upgrade exclusive removal
else
	package_case install_without_headers upgrade exclusive removal
fi
