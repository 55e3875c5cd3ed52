#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# A prompt in a guest with the demonstration's fabric and hosts.

. "$(dirname "$0")/common.sh"

[ -t 0 ] || die "needs a terminal"
"$qemu_dir/deps.sh" build guest
modules=$("$qemu_dir/build.sh")
"$qemu_dir/guest.sh" --interactive --timeout 86400 \
	--modules "$modules/driver" --modules "$modules/fabric" \
	${DRIVER:+--append "DRIVER=$DRIVER"} \
	"$qemu_dir/guest/shell.sh" "$top/build/shell" && exit
say "This session's logs are in build/shell/:"
cat "$top/build/shell/result" >&2
exit 1
