# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The packages of `make rpm` pass rpmlint, and have the same sources for DKMS as the Debian packages.
# With Debian's rpm and dkms they can be installed, upgraded and removed, while any kernel runs.
# runs: host
# timeout: 600
# when: soak
# soak: 600

# shellcheck source=lib-package.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib-package.sh"

# same_sources NAME: the package contains the sources that `make install-dkms-NAME` installs.
same_sources()
{
	make -s -C "$top" "install-dkms-$1" DESTDIR="$work/wanted"
	mkdir "$work/$1"
	rpm2cpio "$top/build/rpm/$1-dkms-$version-1.noarch.rpm" | (cd "$work/$1" && cpio --quiet -id)
	diff -r "$work/wanted/usr/src/$1-$version" "$work/$1/usr/src/$1-$version"
}

outside()
{
	step "the packages of version $version, and those of $newer"
	make -s -C "$top" rpm
	"$qemu/deps.sh" package
	rpmlint -c "$top/packaging/rpmlint.toml" "$top"/build/rpm/*.rpm \
		"$top/packaging/ib-ipoib.spec"
	same_sources ib-ipoib
	same_sources ibfab
	"$top/packaging/copy.sh" "$work/newer"
	make -s -C "$work/newer" release VERSION="$newer"
	make -s -C "$work/newer" rpm
}

# rpm does not know which Debian packages are installed, so it cannot check dependencies.
rpm_do()
{
	inside rpm --nodeps "$@"
}

check_install()
{
	loads_in_tree "before" "$release"
	cp "$top"/build/rpm/*-"$version"-1.{noarch,x86_64}.rpm "$system/packages"
	# Built for a kernel that does not run
	kernel_runs 6.1.0-none
	rpm_do -i "/packages/ib-ipoib-dkms-$version-1.noarch.rpm" \
		"/packages/ibfab-dkms-$version-1.noarch.rpm" \
		"/packages/ib-ipoib-tools-$version-1.x86_64.rpm"
	dkms_has "ib-ipoib/$version, $release, x86_64: installed" \
		"ibfab/$version, $release, x86_64: installed"
	loads_own "$release" ibfab "$version"
	loads_own "$release" ib_ipoib "$version"
	loads_own "$release" ib_ats "$version"
	loads_own "$release" eth_ipoib "$version"
	same "ibats -V" "$(inside ibats -V)" "ibats $version"
	kernel_runs "$release"
}

check_upgrade()
{
	cp "$work"/newer/build/rpm/*.rpm "$system/packages"
	rpm_do -U "/packages/ib-ipoib-dkms-$newer-1.noarch.rpm" \
		"/packages/ib-ipoib-tools-$newer-1.x86_64.rpm"
	dkms_has "ib-ipoib/$newer, $release, x86_64: installed" \
		"ibfab/$version, $release, x86_64: installed"
	same "ibats -V" "$(inside ibats -V)" "ibats $newer"
	loads_own "$release" ib_ipoib "$newer"
	loads_own "$release" ib_ats "$newer"
	loads_own "$release" eth_ipoib "$newer"
	[ ! -e "$system/usr/src/ib-ipoib-$version" ] || fail "the old sources are still there"
}

# The release of a package may have other sources of the same version: DKMS builds them
check_release()
{
	local built=$system/lib/modules/$release/updates/dkms/ib_ats.ko

	rm "$built"
	rpm_do -U --replacepkgs "/packages/ib-ipoib-dkms-$newer-1.noarch.rpm"
	dkms_has "ib-ipoib/$newer, $release, x86_64: installed" \
		"ibfab/$version, $release, x86_64: installed"
	loads_own "$release" ib_ats "$newer"
}

check_removal()
{
	rpm_do -e ib-ipoib-dkms ib-ipoib-tools ibfab-dkms
	loads_in_tree "after" "$release"
	dkms_has
	nothing_left
}

package_case install upgrade release removal
