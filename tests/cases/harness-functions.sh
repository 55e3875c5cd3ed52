# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The counting of instructions in QEMU's log: by function and owner, memory copies by their
# callers, without instructions that were not executed.
# runs: host
# timeout: 60

work=$1
bench=$(cd "$(dirname "${BASH_SOURCE[0]}")/../bench" && pwd)

# functions COUNT
functions()
{
	awk -v "transcript=$work/transcript" -v "count=$1" -f "$bench/functions.awk" \
		"$work/log"
}

# The serial port ends lines with CR LF, and modules are listed after everything else.
printf '%s\r\n' '==> Another line' 'symbol ffffffffc0001000 ibfab_send [ibfab]' \
	'symbol ffffffff81000000 tcp_ack' 'symbol ffffffff81000100 memcpy' \
	'symbol ffffffff81000200 memcpy_not' 'symbol ffffffffc0000000 ipoib_poll [ib_ipoib]' \
	>"$work/transcript"
# A timer interrupt comes before the next instruction of tcp_ack, which is then executed.
for pc in 0000000000401000 ffffffff81000000 ffffffff81000004 ffffffffc0000008 \
	ffffffff81000100 ffffffff81000108 ffffffffc0001020 ffffffff810001ff \
	ffffffff81000200 ffffffff810000ff stopped ffffffff810000ff; do
	if [ "$pc" = stopped ]; then
		echo "Stopped execution of TB chain before 0x7f5adc0fb700 [ffffffff810000ff] "
	else
		echo "Trace 0: 0x7f5adc0fb700 [0000000000000000/$pc/00c0c2b0/ff020201] "
	fi
done >"$work/log"

sort >"$work/expected" <<-'E'
	5.0000  in all
	2.0000  the kernel
	1.0000  copies, sums, clearing
	0.5000  user space
	0.5000  the fabric's copies
	0.5000  the fabric
	0.5000  the driver

	1.5000  tcp_ack
	1.0000  memcpy for ipoib_poll [ib_ipoib]
	0.5000  user space
	0.5000  memcpy_not
	0.5000  memcpy for ibfab_send [ibfab]
	0.5000  ipoib_poll [ib_ipoib]
	0.5000  ibfab_send [ibfab]
	E
functions 2 | sed 's/^ *//' >"$work/counted"
sort "$work/counted" | diff - "$work/expected" || exit
[ "$(head -n 1 "$work/counted")" = "5.0000  in all" ]

# An empty log is an error, and so is one without symbols.
sed -i 's/^symbol/cymbal/' "$work/transcript"
if functions 2 2>"$work/error"; then
	echo "counted without symbols"
	exit 1
fi
grep -q 'no symbols' "$work/error"
: >"$work/log"
if functions 2 2>"$work/error"; then
	exit 1
fi
grep -q 'nothing was logged' "$work/error"
