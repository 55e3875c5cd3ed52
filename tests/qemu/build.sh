#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Builds the tools into build/tools, the cases' own tools into build/test-tools, and all
# modules for a kind of kernel, and prints the modules' folder, with the subfolders driver/,
# ats/, fabric/, probes/ and, for the debug kernel, kunit/, kunit-ats/ and kunit-eth/. A
# warning is an error. The compiler's output goes to build/build.log. Usage: build.sh [KIND
# [coverage]]. For the debug kernel modules are built with UBSAN and, for "coverage", with gcov,
# whose counters are in /sys/kernel/debug/gcov. For 6.12, sparse checks the modules. make lint
# checks kernel-doc.

. "$(dirname "$0")/common.sh"

kind=$("$qemu_dir/kernel.sh" kind "${1:-stock}")
targets=(driver ats eth fabric probes)
case $kind in
stock) options=() ;;
debug)
	targets+=(kunit)
	options=(UBSAN_SANITIZE=y)
	[ "${2:-}" != coverage ] || options+=(GCOV_PROFILE=y)
	;;
6.12)
	targets+=(kunit-objects)
	options=(C=1 CF="-D__CHECK_ENDIAN__ -Wsparse-error")
	;;
newest)
	# Its headers lack the script by which the kernel's makefiles look for sparse
	targets+=(kunit-objects)
	options=()
	;;
esac

build()
{
	make -s -C "$top" tools test-tools &&
		"$qemu_dir/kernel.sh" enter "$kind" make -k -s -C "$top" KDIR="$kdir" \
			JOBS="$(nproc)" STRICT=1 "${options[@]}" "${targets[@]}"
}

release=$("$qemu_dir/kernel.sh" release "$kind")
kdir=$("$qemu_dir/kernel.sh" kdir "$kind")
mkdir -p "$top/build"
# The output of this preparation is not the compiler's
"$qemu_dir/kernel.sh" enter "$kind" true
with_lock "$(build_lock)" build >"$top/build/build.log" 2>&1 || failed=yes
if [ -n "${failed:-}" ] || [ -s "$top/build/build.log" ]; then
	cat "$top/build/build.log" >&2
	die "the modules do not build without a warning"
fi
echo "$top/build/$release"
