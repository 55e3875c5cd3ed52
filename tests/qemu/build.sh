#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Builds the tools into build/tools, the cases' own tools into build/test-tools, and all
# modules for the guest's kernel, and prints the modules' folder, with the subfolders driver/,
# ats/, fabric/, probes/ and, for the debug kernel, kunit/ and kunit-ats/. The compiler's
# output goes to build/build.log. Usage: build.sh [stock|debug]. For the debug kernel modules
# are built with UBSAN and gcov, whose counters are in /sys/kernel/debug/gcov.

. "$(dirname "$0")/common.sh"

kind=${1:-stock}
targets=(driver ats fabric probes tools test-tools) options=()
[ "$kind" != debug ] || {
	targets+=(kunit)
	options=(GCOV_PROFILE=y UBSAN_SANITIZE=y)
}

build()
{
	make -C "$top" KDIR="$kdir" JOBS="$(nproc)" "${options[@]}" \
		"${targets[@]}"
}

release=$("$qemu_dir/kernel.sh" release "$kind")
kdir=$("$qemu_dir/kernel.sh" kdir "$kind")
mkdir -p "$top/build"
# The lock is per checkout, as several may build at once
if ! with_lock "build-$(hash_of <(echo "$top"))" build >"$top/build/build.log" 2>&1; then
	cat "$top/build/build.log" >&2
	die "the modules do not build"
fi
echo "$top/build/$release"
