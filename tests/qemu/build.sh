#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Builds all modules for the guest's kernel and prints their folder (of which
# driver/ and fabric/ hold them). The compiler's output goes to build/build.log.

. "$(dirname "$0")/common.sh"

build()
{
	make -C "$top" KDIR="/lib/modules/$release/build" JOBS="$(nproc)" \
		driver fabric
}

release=$("$qemu_dir/kernel.sh" release)
mkdir -p "$top/build"
if ! with_lock build build >"$top/build/build.log" 2>&1; then
	cat "$top/build/build.log" >&2
	die "the modules do not build"
fi
echo "$top/build/$release"
