# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The costs of streams, large datagrams and pings compared with the in-tree driver have not
# grown; a figure that is worse, or missing, fails the bench.
# runs: host
# timeout: 240

run=$1
bench=$(cd "$(dirname "${BASH_SOURCE[0]}")/../bench" && pwd)

# holds NAME...: checks a table in which one figure is worse by 2 %, one by 4 %, and one is
# missing.
holds()
{
	printf 'good\t1.02\t2\t0.510\nworse\t1.04\t2\t0.520\nnone\t1\t-\t-\nbarless\t1\t1\t1\n' \
		>"$run/table"
	printf '# what\ngood 0.5\nworse 0.5\nnone 0.5\ngone 0.5\n' >"$run/bars"
	awk -v "names=$*" -f "$bench/bars.awk" "$run/bars" "$run/table" >"$run/said"
}

# holds_own NAME REGEX: checks those bars that match, which are relative to other figures.
holds_own()
{
	printf 'base\t10\t20\t-\nless\t5.1\t-\t-\nmore\t5.2\t-\t-\n' >"$run/table"
	printf '%s\n' 'less 0.5 base' 'less 0.25 intree:base' 'less 0.5 gone' \
		'more 0.6 base' 'more 0.5 base' 'more 0.25 intree:base' |
		grep "$2" >"$run/bars"
	awk -v said=1 -v "names=$1" -f "$bench/bars.awk" "$run/bars" "$run/table" >"$run/said"
}

holds_own less base
grep -qx 'less is 0.510 of base' "$run/said"
grep -qx 'less is 0.255 of intree:base' "$run/said"
for wrong in 'more 0.[56].base' 'more intree' 'less gone'; do
	# shellcheck disable=SC2086  # words
	if holds_own $wrong; then
		echo "'$wrong' passes"
		exit 1
	fi
done

holds good
for name in worse none gone barless; do
	if holds good "$name"; then
		echo "'$name' passes"
		exit 1
	fi
	[ "$(wc -l <"$run/said")" -eq 1 ]
	cat "$run/said"
	grep -q "^$name " "$run/said"
done
if holds; then
	echo "nothing passes"
	exit 1
fi

"$bench/bench.sh" --short "$run/short"
