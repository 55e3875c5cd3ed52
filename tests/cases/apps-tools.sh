# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Tools that examine an interface and a link: all queries of ethtool, all files in sysfs, sar,
# mtr, sockperf, qperf, nuttcp.
# timeout: 240
# soak: 240
# when: soak

. /cases/lib.sh

# answers OPTION...: ethtool succeeds with some output.
answers()
{
	for _option; do
		on h0 ethtool "$_option" "$dev0" >/run/ethtool 2>&1 ||
			fail "ethtool $_option: $(cat /run/ethtool)"
		assert grep -q . /run/ethtool
	done
}

# has_none_of OPTION...: ethtool reports that the device does not support this.
has_none_of()
{
	for _option; do
		_said=$(on h0 ethtool "$_option" "$dev0" 2>&1) && fail "ethtool $_option: $_said"
		assert_match "ethtool $_option" "$_said" 'not supported|[Nn]o data|no stats available'
	done
}

# files_read: each file of the interface in sysfs can be read, or returns an expected error.
files_read()
{
	cd /sys/class/net/"$1"/ || exit
	find . -type f -perm -400 | while read -r _file; do
		if timeout 5 cat "$_file" >/run/file 2>/run/file.log; then
			echo "read $_file"
		elif echo "$_file $(cat /run/file.log)" | grep -qE \
			'Invalid argument|not supported|No such|power/.* Input/output error'; then
			echo "none $_file"
		else
			echo "bad $_file: $(cat /run/file.log)"
		fi
	done
}

fabric_start hcas=2
opensm_start
ipoib_load
hosts_make 2
dev0=$(dev_of h0)
pings_all h0 2 10.0.0.2
pings_all h0 2 fd00::2

step "Each query of ethtool"
answers -i -k -c -g -l -S -T -P --show-priv-flags --show-features
has_none_of -a -d -e -m -n -x --show-fec --show-eee --phy-statistics
has_none_of --show-tunnels -w

step "Each file of its folder in sysfs"
on h0 sh -euc ". /cases/lib.sh; $(sed -n '/^files_read/,/^}/p' "$0"); files_read $dev0" \
	>/run/files /sys || fail "$(cat /run/files)"
refute file_says '^bad' /run/files
assert [ "$(grep -c '^read' /run/files)" -gt 60 ]
note "$(grep -c '^read' /run/files) read, without a value: $(grep '^none' /run/files | tr '\n' ' ')"

step "sar sees what is sent"
on h0 sar.sysstat -n DEV,EDEV 2 2 >/run/sar &
sar=$!
pings_all h0 300 -i 0.01 -s 1000 10.0.0.2
wait $sar
grep Average /run/sar
assert_between "packets a second" "$(awk -v dev="$dev0" '$1 == "Average:" && $2 == dev {
	print int($4); exit }' /run/sar)" 20 1000

step "The way to the peer"
assert_match "mtr" "$(on h0 mtr -n -r -c 3 -i 0.2 10.0.0.2 | tail -n 1)" '10\.0\.0\.2 +0\.0% +3 '
assert_match "mtr" "$(on h0 mtr -n -r -c 3 -i 0.2 fd00::2 | tail -n 1)" 'fd00::2 +0\.0% +3 '

step "sockperf, qperf, nuttcp"
traffic_start sockperf on h1 sockperf server -i 10.0.0.2 -p 5001
wait_for 10 listening h1 5001 u
on h0 sockperf ping-pong -i 10.0.0.2 -p 5001 -t 2 -m 1400 --full-rtt >/run/sockperf 2>&1 ||
	fail "$(cat /run/sockperf)"
grep -E 'avg-|dropped' /run/sockperf
assert grep -q 'dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0' \
	/run/sockperf
traffic_stop sockperf
traffic_start qperf on h1 qperf
wait_for 10 listening h1 19765
on h0 qperf -t 1 10.0.0.2 tcp_bw udp_lat >/run/qperf || fail "$(cat /run/qperf)"
cat /run/qperf
assert_eq "figures of qperf" "$(grep -cE ' = +[0-9.]+ ' /run/qperf)" 2
traffic_stop qperf
traffic_start nuttcp on h1 nuttcp -S --nofork
wait_for 10 listening h1 5000
on h0 nuttcp -T 1 10.0.0.2 >/run/nuttcp || fail "$(cat /run/nuttcp)"
note "$(cat /run/nuttcp)"
assert_match "nuttcp" "$(cat /run/nuttcp)" '[1-9][0-9.]* MB / +[0-9.]+ sec'
traffic_stop nuttcp

step "Nothing was lost on the way"
for host in h0 h1; do
	netdev_has_none $host rx_errors tx_errors tx_dropped
done
