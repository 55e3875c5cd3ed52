#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The demonstrations. Each builds, boots, and shows something. Usage: demo.sh [vm]
#
#   without   two hosts that communicate through the driver, and how one finds the other by the
#             Address Translation Service. DRIVER=intree shows the in-tree driver instead, for
#             comparison
#   vm        a virtual machine behind an Ethernet device over IPoIB

. "$(dirname "$0")/common.sh"

name=demo${1:+-$1} root=${1:-base}
run=$top/build/$name

progress_start 1
trap progress_stop EXIT
progress_event steps 4
progress_event step "Debian packages"
"$qemu_dir/deps.sh" build guest
progress_event step "programs for guests ($root)"
"$qemu_dir/rootfs.sh" "$root" >/dev/null
progress_event step "kernel"
"$qemu_dir/kernel.sh" prepare
progress_event step "modules"
say "building the modules"
modules=$("$qemu_dir/build.sh")
progress_stop
say "booting"
if "$qemu_dir/guest.sh" --live --timeout 180 \
	--modules "$modules/driver" --modules "$modules/fabric" \
	--modules "$modules/ats" --modules "$modules/eth" --tools "$top/build/tools" \
	--root "$root" \
	${DRIVER:+--append "DRIVER=$DRIVER"} \
	"$qemu_dir/guest/$name.sh" "$run"; then
	echo "Every step worked, and the kernel's log is clean."
	exit 0
fi
echo "The demonstration failed:"
cat "$run/result"
echo "The logs are in build/$name/; the kernel's ends so:"
tail -n 40 "$run/console.log" | tr -d '\r'
exit 1
