#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Builds the RPM packages in build/rpm. Usage: rpm.sh
# On Debian, rpmbuild cannot check build dependencies (--nodeps); deps.sh installs them. Elsewhere it
# checks them.

. "$(dirname "$0")/../tests/qemu/common.sh"

out=$top/build/rpm
spec=$top/packaging/ib-ipoib.spec
name=ib-ipoib-$(sed -n 's/^Version: *//p' "$spec")

build()
{
	"$top/packaging/versions.sh" &&
		"$top/packaging/copy.sh" "$out/work/$name" &&
		tar -C "$out/work" -czf "$out/work/$name.tar.gz" "$name" || return
	rpmbuild -ba "${unchecked[@]}" --define "_topdir $out/work" --define "_sourcedir $out/work" \
		--define "_rpmdir $out" --define "_srcrpmdir $out" \
		--define "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
		"$spec"
}

unchecked=()
if command -v apt-get >/dev/null; then
	"$qemu_dir/deps.sh" rpm
	unchecked=(--nodeps)
fi
rm -rf "$out"
mkdir -p "$out/work"
(build) >"$out/build.log" 2>&1 || {
	cat "$out/build.log" >&2
	die "the packages do not build"
}
rm -rf "$out/work"
ls "$out"/*.rpm
