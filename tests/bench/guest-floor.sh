# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=../cases/lib-perf.sh
# The guest's part of floor.sh. Prints a line "figure PAYLOAD CHAIN INSTRUCTIONS" for each
# run, and on the second boot the functions in which they were spent, on lines that begin with
# "profile".

. /cases/lib-perf.sh

bench=/sys/kernel/debug/ibudbench
count=200000

result()
{
	awk -v name="$1" '$1 == name { print $2 }' "$bench/result"
}

# words SIZE CHAIN
words()
{
	echo "from=ibfab0 to=ibfab1 size=$1 chain=$2 signal=$2 count=$count"
}

# run_bench SIZE CHAIN
run_bench()
{
	words "$1" "$2" >"$bench/run"
	assert_eq received "$(result received)" "$count"
}

figure()
{
	run_bench "$1" "$2"
	awk -v size="$1" -v chain="$2" '$1 == "cycles" { cycles = $2 }
		$1 == "received" { packets = $2 }
		END { printf "figure %d %d %.2f\n", size, chain, cycles / packets }' \
		"$bench/result"
}

profile()
{
	step "Profile of $1 octets, chain of $2"
	echo "profile"
	echo "profile The top 20 functions, $1 octets, chains of $2:"
	perf_profile 20 sh -c "echo '$(words "$1" "$2")' >$bench/run"
}

fabric_plain hcas=2
module_insert /modules/ibudbench.ko
opensm_start
# After the SM's first sweep it is stopped, so that it does not sweep again.
opensm_stop
sleep 2

run_bench 64 16
for _ in 1 2; do
	for size in 64 2044; do
		for chain in 1 16; do
			figure "$size" "$chain"
		done
	done
done
if grep -qw BOOT=two /proc/cmdline; then
	profile 64 16
	profile 2044 16
fi
