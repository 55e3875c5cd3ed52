# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=../cases/lib.sh
# The guest's part of floor.sh. Prints a line "figure PAYLOAD CHAIN INSTRUCTIONS"
# for each run, and on the second boot the functions in which they were spent,
# each line after the word "profile".

. /cases/lib.sh

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

# Samples fall where interrupts are on: what runs with them off is counted where
# they are switched on again.
profile()
{
	step "Profile of $1 octets, chain of $2"
	LD_LIBRARY_PATH=/perf perf record -q -e cpu-clock -F 20000 -a \
		-o /run/perf.data -- sh -c "echo '$(words "$1" "$2")' >$bench/run"
	echo "profile"
	echo "profile The top 20 functions, $1 octets, chains of $2:"
	LD_LIBRARY_PATH=/perf perf report -i /run/perf.data --stdio --no-children \
		--sort symbol 2>/run/perf.log |
		awk '/^ +[0-9.]+%/ { printf "  %7s  %s\n", $1, $3 }' \
		>/run/perf.report
	assert test "$(wc -l </run/perf.report)" -ge 20
	head -n 20 /run/perf.report | sed 's/^/profile/'
}

fabric_start hcas=2
module_insert /modules/ibudbench.ko
opensm_start
# The SM's first sweep is over; it must not sweep again in between.
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
