#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Prints the files that state another version than version.h, and fails if there are any.
# Usage: versions.sh [VERSION-OF-THE-DEBIAN-PACKAGE]
# The version of the Debian package may have a suffix that begins with + or ~, as in 2.0~bpo12+1.

set -eu

# compare FILE VERSION
compare()
{
	[ "$2" != "$version" ] || return 0
	echo "$1 states version '$2', but version.h states '$version'"
	status=1
}

changelog_version()
{
	sed -n '1s/^[^ ]* (\(.*\)) .*/\1/p' debian/changelog
}

cd "$(dirname "$0")/.."
status=0
version=$(sed -n 's/^#define IB_IPOIB_VERSION "\(.*\)"/\1/p' version.h)
debian=${1:-$(changelog_version)}
[[ $debian != "$version"[+~]* ]] || debian=$version

compare debian/changelog "$debian"
compare dkms.conf "$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)"
compare packaging/ib-ipoib.spec "$(sed -n 's/^Version: *//p' packaging/ib-ipoib.spec)"
exit "$status"
