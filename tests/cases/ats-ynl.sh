# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The kernel's own tools (ynl, of Linux 6.12) accept the specification of ib_ats's generic
# netlink family, and a program that uses only their generated code queries, lists and counts
# like ibats.
# runs: host
# timeout: 600
# when: soak
# soak: 600

work=$1
cases=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
qemu=$cases/../qemu
top=$cases/../..

# unpack: extracts ynl from the kernel's sources, and what it needs
unpack()
{
	tar -C "$work" -xf /usr/src/linux-source-6.12.tar.xz --strip-components 1 --wildcards \
		'*/tools/net/ynl/*' '*/Documentation/netlink/*' '*/MAINTAINERS'
	cp "$top/Documentation/netlink/specs/ib_ats.yaml" "$work/Documentation/netlink/specs"
}

# ynl_gen MODE FORM FILE: generates code, after validating the specification with its schema
ynl_gen()
{
	timeout 60 python3 "$work/tools/net/ynl/ynl-gen-c.py" --mode "$1" "--$2" -o "$3" \
		--spec "$work/Documentation/netlink/specs/ib_ats.yaml"
}

# enumerators HEADER: prints the enumerators of all enums that occur in messages
enumerators()
{
	sed '/^#include/d' "$1" | gcc -E -P - | sed 's/[{},]/\n/g' |
		sed -nE 's/^[[:space:]]*(IB_ATS_[A-Z_]+)( = 1)?[[:space:]]*$/\1/p' |
		grep -v '_UNSPEC$' | sort -s -t_ -k3,3
}

scenario()
{
	cat <<-'E'
	. /cases/lib.sh
	. /cases/lib-ats.sh

	dev0=
	ats_setup ipoib_load
	wait_for 20 sr_count 1 2
	wait_for 20 sr_count 101 2
	on h0 ynlats 10.0.0.2 >/run/ynl
	note "$(cat /run/ynl)"
	assert_eq "found" "$(sed -n 1p /run/ynl)" "found ibfab0/1 0xffff primary"
	assert_eq "ended" "$(sed -n 2p /run/ynl)" "ended 0"
	assert_eq "records by themselves" "$(grep -c '^same$' /run/ynl)" 1
	on h0 ibats -j list >/run/list
	jq -r '.[] | "\(.address) \(.state) \(.sid)"' /run/list >/run/list.ibats
	sed -n 's/^record [0-9]* //p' /run/ynl | sed 's/^::ffff://' >/run/list.ynl
	diff /run/list.ibats /run/list.ynl
	on h0 ibats -j stats >/run/stats
	jq -r '.[] | "\(.device)/\(.port) \(.sa) \(.sets)"' /run/stats >/run/stats.ibats
	sed -n 's/^port //p' /run/ynl | diff /run/stats.ibats -
	E
}

"$qemu/deps.sh" build ynl
unpack
mkdir -p "$work/made" "$work/bin"

echo "The header that programs include has what the specification says, in that order"
ynl_gen uapi header "$work/made/uapi.h"
enumerators "$work/made/uapi.h" >"$work/made/wanted"
[ -s "$work/made/wanted" ]
enumerators "$top/uapi/ib_ats_netlink.h" | diff "$work/made/wanted" -

echo "A program of what is made of it"
ynl_gen user header "$work/made/ib_ats-user.h"
ynl_gen user source "$work/made/ib_ats-user.c"
# The generated library has that warning itself
gcc -Wall -Werror -Wno-format-truncation -I"$work/tools/net/ynl/lib" -I"$work/made" -I"$top/uapi" -o "$work/bin/ynlats" \
	"$top/tests/tools/ynlats.c" "$work/made/ib_ats-user.c" \
	"$work/tools/net/ynl/lib/ynl.c" -lmnl
scenario >"$work/scenario.sh"
modules=$("$qemu/build.sh")
"$qemu/guest.sh" --timeout 300 --modules "$modules/driver" --modules "$modules/fabric" \
	--modules "$modules/ats" --tools "$top/build/tools" --tools "$work/bin" \
	"$work/scenario.sh" "$work/guest" || {
	cat "$work/guest/result" "$work/guest/transcript.log"
	exit 1
}
cat "$work/guest/transcript.log"
