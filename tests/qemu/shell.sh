#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# A shell in a guest with the demonstration's fabric and hosts. Usage: shell.sh [KIND]

. "$(dirname "$0")/common.sh"

kernel=${1:-stock}
[ -t 0 ] || die "needs a terminal"
"$qemu_dir/deps.sh" build guest "$kernel"
"$qemu_dir/kernel.sh" prepare "$kernel"
modules=$("$qemu_dir/build.sh" "$kernel")
"$qemu_dir/guest.sh" --interactive --timeout 86400 --kernel "$kernel" \
	--modules "$modules/driver" --modules "$modules/fabric" \
	--modules "$modules/ats" --modules "$modules/probes" --tools "$top/build/tools" \
	${DRIVER:+--append "DRIVER=$DRIVER"} \
	"$qemu_dir/guest/shell.sh" "$top/build/shell" && exit
say "This session's logs are in build/shell/:"
cat "$top/build/shell/result" >&2
exit 1
