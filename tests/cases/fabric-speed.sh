# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The datagram benchmark neither loses nor corrupts packets, and its counts agree with the
# ports' counters.
# timeout: 60

. /cases/lib.sh

bench=/sys/kernel/debug/ibudbench

# result NAME
result()
{
	awk -v name="$1" '$1 == name { print $2 }' "$bench/result"
}

# drops NODE: prints the sum of all drop counters.
drops()
{
	awk '$1 ~ /\.drop\./ { sum += $2 } END { print sum + 0 }' \
		"$ibfab/$1/counters"
}

# measured COUNT WORDS: all packets of a run arrive unchanged.
measured()
{
	_count=$1
	shift
	_before=$(fabric_counter ibfab1 port1.rcv_packets)
	echo "from=ibfab0 to=ibfab1 count=$_count $*" >"$bench/run"
	assert_eq sent "$(result sent)" "$_count"
	assert_eq received "$(result received)" "$_count"
	assert_eq failed "$(result failed)" 0
	assert_eq spoilt "$(result spoilt)" 0
	assert test "$(result ns)" -gt 0
	# MADs are counted as well.
	assert_between "packets that came to the port" \
		$(($(fabric_counter ibfab1 port1.rcv_packets) - _before)) \
		"$_count" $((_count + 50))
	note "$*: $(($(result ns) / _count)) ns a packet"
}

# No checks whose cost would be measured; and buffers may be longer than the largest bounce buffer
fabric_plain hcas=2
module_insert /modules/ibudbench.ko
opensm_start
dropped="$(drops ibfab0) $(drops ibfab1) $(drops switch0)"

step "Every payload, chain and rate of completions"
for size in 0 1 64 2044 4096; do
	measured 20000 "size=$size chain=16 signal=16"
done
measured 20000 "size=64"
measured 20001 "size=64 chain=16 signal=64"
measured 20000 "size=64 chain=7 signal=3 depth=10"
measured 20000 "size=2044 chain=64 signal=1 depth=512"
assert_eq "packets dropped" \
	"$(drops ibfab0) $(drops ibfab1) $(drops switch0)" "$dropped"

step "A chain that the queue has no room for, and devices that are not there"
must_fail sh -c "echo 'from=ibfab0 to=ibfab1 chain=256' >$bench/run"
must_fail sh -c "echo 'from=ibfab0 to=ibfab7' >$bench/run"
must_fail sh -c "echo 'from=ibfab0' >$bench/run"
must_fail sh -c "echo 'from=ibfab0 to=ibfab1 sise=3' >$bench/run"

step "An unplugged cable is detected: nothing arrives, and the run reports it"
echo "ibfab1 1 down" >"$ibfab/cable"
must_fail sh -c "echo 'from=ibfab0 to=ibfab1 count=100' >$bench/run"
assert_eq sent "$(result sent)" 100
assert_eq received "$(result received)" 0
