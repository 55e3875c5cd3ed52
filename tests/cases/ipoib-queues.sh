# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Several send queues: each CPU uses its own, and link-layer addresses have the first one's
# QPN; changes under traffic, and invalid ones.
# smp: 4
# timeout: 210
# profiles: connectx5 connectx3 virtual

. /cases/lib.sh

queues()
{
	on h0 ethtool -l "$dev" | awk '/^Current/ { current = 1 } current && $1 == "TX:" { print $2 }'
}

queues_set()
{
	on h0 ethtool -L "$dev" tx "$1"
	wait_for 20 has_carrier h0 "$dev"
	assert_eq "send queues" "$(queues)" "$1"
	wait_for 20 pings
}

pings()
{
	on h0 ping -q -c 1 -W 1 10.0.0.2 && on h1 ping -q -c 1 -W 1 fd00::1
}

# qps: prints the driver's QPs on the first HCA
qps()
{
	rdma resource show qp | grep '^link ibfab0/.*comm \[ib_ipoib\]'
}

# qpn_of_address: prints the QPN in h0's link-layer address
qpn_of_address()
{
	on h0 cat "/sys/class/net/$dev/address" | tr -d : | sed 's/^..\(......\).*/0x\1/'
}

# forget_neighbours: deletes the neighbour entries of both hosts.
forget_neighbours()
{
	for _host in h0 h1; do
		on "$_host" ip neighbour flush all
		on "$_host" ip -6 neighbour flush all
	done
}

fabric_start hcas=2
opensm_start
ipoib_load
hosts_make 2
dev=$(dev_of h0)
wait_for 20 pings

step "One queue; invalid numbers are refused"
assert_eq "send queues" "$(queues)" 1
assert_eq "QPs" "$(qps | wc -l)" 1
for wrong in "tx 0" "tx 5" "rx 2" "combined 1"; do
	# shellcheck disable=SC2086  # two words
	must_fail on h0 ethtool -L "$dev" $wrong
done
assert_eq "send queues" "$(queues)" 1

step "Four: each has a QP, and CPUs"
on h1 ethtool --set-priv-flags "$(dev_of h1)" arp-verify on
queues_set 4
assert_eq "QPs" "$(qps | wc -l)" 4
qpn=$(printf '%d' "$(qpn_of_address)")
assert_eq "the first QP" "$(qps |
	sed 's/.* lqpn \([0-9]*\) .*/\1/' | sort -n | head -n 1)" "$qpn"
for k in 0 1 2 3; do
	assert_eq "the CPU of queue $k" \
		"$(on h0 cat "/sys/class/net/$dev/queues/tx-$k/xps_cpus")" "$(printf '%x' $((1 << k)))"
done

step "Each CPU sends by its queue; ARP and ND use the QP in the link-layer address"
for k in 0 1 2 3; do
	forget_neighbours
	before=$(stat_of h0 "tx${k}_packets")
	for address in 10.0.0.2 fd00::2; do
		assert_match "pings" "$(on h0 taskset -c "$k" ping -q -c 20 -i 0.02 -W 10 $address)" \
			'20 packets transmitted, 20 received, 0% packet loss'
	done
	assert_between "packets of queue $k" $(($(stat_of h0 "tx${k}_packets") - before)) 40 70
done
assert_eq "forged" "$(stat_of h1 rx_forged)" 0

step "All queues at once, with streams, and the sum of their counters"
iperf_server h1
on h0 iperf3 -c 10.0.0.2 -P 8 -t "$(full_or 3 30)" >/run/iperf.log ||
	fail "the streams broke: $(cat /run/iperf.log)"
tail -n 4 /run/iperf.log
on h0 ethtool -S "$dev" >/run/stats
awk '
	$1 ~ /^tx[0-3]_packets:$/ { sum += $2; if (!$2) bad = 1 }
	$1 == "tx_packets:" { all = $2 }
	END { print sum, all; exit bad || sum != all }' /run/stats || fail "$(cat /run/stats)"

step "More and fewer while a stream lasts"
on h0 iperf3 -c 10.0.0.2 -t 20 -b 60M >/run/iperf.log &
iperf=$!
for count in 1 3 2 4; do
	sleep 1
	queues_set "$count"
	assert_eq "QPs" "$(qps | wc -l)" "$count"
done
wait "$iperf" || fail "the stream broke: $(cat /run/iperf.log)"
tail -n 4 /run/iperf.log
traffic_stop iperf.h1

step "More and fewer, under large packets that bypass the queueing discipline"
# ibvnet reads the broadcast address from /sys
ip netns exec h0 ibvnet flood "$dev" 20 >/run/flood.log &
flood=$!
for count in 1 4 1 2 1 4; do
	queues_set "$count"
	on h0 ethtool -G "$dev" tx $((64 * count))
	wait_for 20 has_carrier h0 "$dev"
done
wait "$flood" || fail "the flood broke: $(cat /run/flood.log)"
note "$(cat /run/flood.log)"
assert [ "$(sed -n 's/^sent=//p' /run/flood.log)" -gt 100 ]
on h0 ethtool -G "$dev" tx 256
wait_for 20 has_carrier h0 "$dev"
wait_for 20 pings

step "If the HCA refuses, the queues do not change"
queues_set 2
verb_fails ibfab0 create_qp 1 -12
must_fail on h0 ethtool -L "$dev" tx 4
assert_eq "failures" "$(verb_failed ibfab0 create_qp)" 1
assert_eq "send queues" "$(queues)" 2
wait_for 20 has_carrier h0 "$dev"
wait_for 20 pings

step "Down, and with rings of other sizes"
ip -n h0 link set "$dev" down
on h0 ethtool -L "$dev" tx 3
on h0 ethtool -G "$dev" tx 128
ip -n h0 link set "$dev" up
ip -n h0 address add fd00::1/64 dev "$dev" nodad
wait_for 20 has_carrier h0 "$dev"
assert_eq "send queues" "$(queues)" 3
wait_for 20 pings

step "The HCA is unplugged, and the driver unloaded"
on h1 ethtool -L "$(dev_of h1)" tx 4
wait_for 20 has_carrier h1 "$(dev_of h1)"
wait_for 20 pings
traffic_start flood sh -c 'while :; do
	ip netns exec h1 ping -q -f -w 2 10.0.0.1
	sleep 0.1
done'
wait_for 20 file_says ' [1-9][0-9]* received' /run/traffic.flood.log
# Not the HCA of the SM
unplug ibfab1
traffic_stop flood
rmmod ib_ipoib
refute says 'comm \[ib_ipoib\]' rdma resource show qp
opensm_stop
fabric_stop
