# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# iperf3 over TCP and UDP, IPv4 and IPv6, in both directions, without losses that the driver
# would be responsible for.
# timeout: 180
# profiles: connectx3 connectx5 small virtual

. /cases/lib.sh

# run TEXT ARGUMENT...: runs an iperf3 client on h0; its JSON is in /run/iperf.json.
run()
{
	what=$1
	shift
	on h0 iperf3 -J "$@" >/run/iperf.json ||
		fail "$what: $(jq -r .error /run/iperf.json)"
}

# tcp TEXT ARGUMENT...
tcp()
{
	# shellcheck disable=SC2086  # words
	run "$@" $amount
	rate=$(jq '.end.sum_received.bits_per_second / 1e6 | floor' /run/iperf.json)
	retransmits=$(jq .end.sum_sent.retransmits /run/iperf.json)
	note "TCP $1: $rate Mbit/s, $retransmits retransmits"
	# Usually the rate is many times as high; a busy machine achieves at least this. On
	# the debug kernel the checks determine it
	on_debug_kernel || assert test "$rate" -ge 20
}

# udp TEXT ARGUMENT...
udp()
{
	run "$@" -u -b 20M -l 1400 -k 4000
	packets=$(jq .end.sum.packets /run/iperf.json)
	lost=$(jq .end.sum.lost_packets /run/iperf.json)
	note "UDP $1: $packets packets, $lost lost"
	assert test "$packets" -ge 4000
	assert_eq "the datagrams lost" "$lost" 0
}

# fabric_drops NODE: prints its drop counters that are not 0, except for multicasts without a
# listener there.
fabric_drops()
{
	awk '/\.drop\./ && $1 !~ /rx_no_group$/ && $2 != 0' \
		"/sys/kernel/debug/ibfab/$1/counters"
}

resets()
{
	echo "$(stat_of h0 qp_resets), $(stat_of h1 qp_resets)"
}

fabric_start hcas=2
opensm_start
# More receive buffers than a TCP window holds, as a datagram without a buffer is lost
ipoib_load recv_queue_size=4096
hosts_make 2
# On a slow machine the server is scheduled late
sockets_hold 64
iperf_server h1
amount='-t 3'
! on_debug_kernel || amount='-n 12M'
resets=$(resets)

for kind in tcp udp; do
	for address in 10.0.0.2 fd00::2; do
		step "$kind to $address"
		$kind "there" -c "$address"
		$kind "back" -c "$address" -R
	done
done
traffic_stop iperf.h1

step "No errors on either side, and nothing lost on the fabric"
for k in 0 1; do
	assert_none "what ibfab$k dropped" fabric_drops ibfab$k
done
for host in h0 h1; do
	netdev_has_none $host rx_errors rx_dropped tx_errors tx_carrier_errors
done
assert_eq "resets of the QPs" "$(resets)" "$resets"
