#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The demonstration: builds, boots, and shows two hosts that communicate through the driver,
# and how one finds the other by the Address Translation Service. DRIVER=intree shows the
# in-tree driver instead, for comparison.

. "$(dirname "$0")/common.sh"

run=$top/build/demo

"$qemu_dir/deps.sh" build guest
say "building the modules"
modules=$("$qemu_dir/build.sh")
say "booting"
if "$qemu_dir/guest.sh" --live --timeout 180 \
	--modules "$modules/driver" --modules "$modules/fabric" \
	--modules "$modules/ats" --tools "$top/build/tools" \
	${DRIVER:+--append "DRIVER=$DRIVER"} \
	"$qemu_dir/guest/demo.sh" "$run"; then
	echo "Every step worked, and the kernel's log is clean."
	exit 0
fi
echo "The demonstration failed:"
cat "$run/result"
echo "The logs are in build/demo/; the kernel's ends so:"
tail -n 40 "$run/console.log" | tr -d '\r'
exit 1
