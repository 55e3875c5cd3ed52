#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Writes a new version to all files that state it, and adds an entry to debian/changelog.
# Usage: release.sh VERSION [WHAT-CHANGED]

set -eu

die()
{
	echo "release.sh: $*" >&2
	exit 1
}

# changelog_entry: prints an entry by the maintainer of the latest one.
changelog_entry()
{
	local maintainer

	maintainer=$(sed -n 's/^ -- \(.*>\)  .*/\1/p' debian/changelog | head -n 1)
	printf 'ib-ipoib (%s) unstable; urgency=medium\n\n  * %s\n\n -- %s  %s\n\n' \
		"$version" "$changes" "$maintainer" "$(LC_ALL=C date -R)"
}

cd "$(dirname "$0")/.."
version=${1:-} changes=${2:-New version $version.}
[[ $version =~ ^[0-9]+\.[0-9]+(\.[0-9]+)?([~+][a-z0-9.]+)?$ ]] ||
	die "'$version' is not a version like 2.1, 2.1.1 or 2.1~rc1"
old=$(sed -n 's/^#define IB_IPOIB_VERSION "\(.*\)"/\1/p' version.h)
[ "$version" != "$old" ] || die "the version is already $old; give another: make release VERSION=X"

entry=$(changelog_entry && cat debian/changelog)
echo "$entry" >debian/changelog
sed -i "s/^\(#define IB_IPOIB_VERSION\) .*/\1 \"$version\"/" version.h
sed -i "s/^\(PACKAGE_VERSION\)=.*/\1=\"$version\"/" dkms.conf
sed -i "s/^\(Version: *\).*/\1$version/" packaging/ib-ipoib.spec
packaging/versions.sh
