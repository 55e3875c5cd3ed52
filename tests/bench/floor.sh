#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The lower limit of all measurements: how many instructions a datagram without any protocol
# costs, from post_send to the polled receive, and where they are spent. The guest is booted
# twice; the counts of all runs must agree to within 0.1 %. Usage: floor.sh

. "$(dirname "$0")/common.sh"

run=$top/build/floor

# boot NAME: writes lines "payload chain instructions" to NAME.figures.
boot()
{
	say "boot $1"
	"$qemu_dir/guest.sh" --icount --timeout 600 --append "BOOT=$1" \
		--modules "$modules/fabric" --modules "$modules/probes" --add "$run/perf.cpio" \
		"$bench_dir/guest-floor.sh" "$run/$1" || {
		tail -n 40 "$run/$1/transcript.log" "$run/$1/result" >&2
		die "the guest failed"
	}
	tr -d '\r' <"$run/$1/transcript.log" |
		sed -n 's/^figure //p' >"$run/$1.figures"
	[ -s "$run/$1.figures" ] || die "the guest measured nothing"
}

# Prints the figures; the spread is that of all runs of both boots.
summary()
{
	sort -k1,1n -k2,2n -s "$run"/*.figures | awk '
		{ key = $1 " " $2 }
		!(key in n) { order[++keys] = key; least[key] = $3 }
		{ n[key]++; sum[key] += $3 }
		$3 < least[key] { least[key] = $3 }
		$3 > most[key] { most[key] = $3 }
		END {
			printf "%8s %6s %5s %20s %9s\n", "payload", "chain",
				"runs", "instructions/packet", "spread"
			for (i = 1; i <= keys; i++) {
				key = order[i]
				split(key, word, " ")
				mean = sum[key] / n[key]
				spread = (most[key] - least[key]) / mean * 100
				printf "%8d %6d %5d %20.1f %7.3f %%\n",
					word[1], word[2], n[key], mean, spread
				if (n[key] < 4 || spread > 0.1)
					bad = 1
			}
			exit bad
		}'
}

rm -rf "$run"
mkdir -p "$run"
"$qemu_dir/deps.sh" build guest perf
modules=$("$qemu_dir/build.sh")
perf_archive
boot one
boot two
echo "UD, one sender, one receiver, one switch between them:"
summary || die "the runs differ by more than 0.1 %"
tr -d '\r' <"$run/two/transcript.log" | sed -n 's/^profile//p'
