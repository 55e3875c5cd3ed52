#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Builds the Debian packages in build/deb. Usage: deb.sh

. "$(dirname "$0")/../tests/qemu/common.sh"

out=$top/build/deb

build()
{
	cd "$out/tree" && dpkg-buildpackage -us -uc -j"$(nproc)"
}

"$qemu_dir/deps.sh" deb
rm -rf "$out"
"$top/packaging/copy.sh" "$out/tree"
(build) >"$out/build.log" 2>&1 || {
	cat "$out/build.log" >&2
	die "the packages do not build"
}
rm -rf "$out/tree"
ls "$out"/*.deb
