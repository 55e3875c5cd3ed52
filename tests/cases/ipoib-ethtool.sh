# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# ethtool: driver, speed, statistics that agree with the traffic, channels, and rings resized
# under traffic.
# timeout: 180
# smp: 2
# profiles: virtual connectx3 connectx5

. /cases/lib.sh

pings()
{
	on h0 ping -q -c 1 -W 1 10.0.0.2
}

fabric_start hcas=2
opensm_start
ipoib_load
hosts_make 2
dev=$(dev_of h0)

step "The driver's name and the speed"
info=$(on h0 ethtool -i "$dev")
assert_match "the driver" "$info" '^driver: ib_ipoib$'
assert_match "the bus" "$info" '^bus-info: ibfab.0$'
settings=$(on h0 ethtool "$dev")
rate=$(sed 's, Gb.*,,' "$ib/ibfab0/ports/1/rate")
assert_match "the speed" "$settings" "Speed: ${rate}000Mb/s"
assert_match "the duplex" "$settings" 'Duplex: Full'
assert_match "the link" "$settings" 'Link detected: yes'
assert_match "time stamps" "$(on h0 ethtool -T "$dev")" 'software-transmit'
assert_match "channels" "$(on h0 ethtool -l "$dev" | tr '\n' ' ')" 'RX:[[:space:]]+1 TX:[[:space:]]+1 '

step "Statistics: the kernel's, the rings' and the wire's agree"
wait_for 20 pings
sleep 2
before=$(stat_of h0 tx0_packets) bytes=$(stat_of h0 tx0_bytes)
wire=$(fabric_counter ibfab0 port1.xmit_packets)
pings_all h0 500 -i 0 -s 1000 10.0.0.2
assert_between "packets sent" $(($(stat_of h0 tx0_packets) - before)) 500 510
# 1000 octets plus the ICMP, IP and encapsulation headers
assert_between "octets sent" $(($(stat_of h0 tx0_bytes) - bytes)) 516000 518000
# One snapshot, as packets may arrive at any time.
on h0 ethtool -S "$dev" >/run/stats
stat_now()
{
	awk -v name="$1:" '$1 == name { print $2 }' /run/stats
}
for name in packets bytes; do
	assert_eq "rx0_$name" "$(stat_now "rx0_$name")" "$(stat_now "rx_$name")"
	assert_eq "tx0_$name" "$(stat_now "tx0_$name")" "$(stat_now "tx_$name")"
done
refute [ "$(stat_now rx0_polls)" -eq 0 ]
wire=$(($(fabric_counter ibfab0 port1.xmit_packets) - wire))
assert_between "packets on the wire" "$wire" 500 600

step "Rings: invalid sizes are refused"
must_fail on h0 ethtool -G "$dev" rx 100
must_fail on h0 ethtool -G "$dev" tx 32
must_fail on h0 ethtool -G "$dev" rx 16384
assert_eq "the receive ring" "$(ring_of h0 RX)" 512
assert_eq "the send ring" "$(ring_of h0 TX)" 256

step "Rings of other sizes, live: a new address, and the peer knows it"
address=$(on h0 cat "/sys/class/net/$dev/address")
iperf_server h1
on h0 iperf3 -c 10.0.0.2 -t 12 >/run/iperf.log &
iperf=$!
sleep 2
on h0 ethtool -G "$dev" rx 2048 tx 64
assert_eq "the receive ring" "$(ring_of h0 RX)" 2048
assert_eq "the send ring" "$(ring_of h0 TX)" 64
wait_for 20 has_carrier h0 "$dev"
assert differs "$address" on h0 cat "/sys/class/net/$dev/address"
wait_for 10 pings
assert_match "the peer's neighbour" "$(ip -n h1 neighbour show 10.0.0.1)" \
	"$(on h0 cat "/sys/class/net/$dev/address")"
on h0 ethtool -G "$dev" rx 256 tx 512
wait "$iperf" || fail "the stream broke: $(cat /run/iperf.log)"
tail -n 4 /run/iperf.log
traffic_stop iperf.h1
pings_all h0 3 10.0.0.2

step "Without memory, or if the HCA refuses, they do not change"
verb_fails ibfab0 create_qp 1 -12
must_fail on h0 ethtool -G "$dev" rx 128 tx 128
assert_eq "failures" "$(verb_failed ibfab0 create_qp)" 1
assert_eq "the receive ring" "$(ring_of h0 RX)" 256
assert_eq "the send ring" "$(ring_of h0 TX)" 512
wait_for 20 has_carrier h0 "$dev"
wait_for 10 pings

step "Moderation of completions, also of rings that are made later"
on h0 ethtool -C "$dev" adaptive-rx off rx-usecs 30000 rx-frames 32 tx-usecs 50 tx-frames 8
on h0 ethtool -G "$dev" rx 128 tx 128
wait_for 20 has_carrier h0 "$dev"
wait_for 10 pings
set_to()
{
	on h0 ethtool -c "$dev" | awk -v name="$1:" '$1 == name { print $2 }'
}
assert_eq "rx-usecs" "$(set_to rx-usecs)" 30000
assert_eq "rx-frames" "$(set_to rx-frames)" 32
assert_eq "tx-usecs" "$(set_to tx-usecs)" 50
assert_eq "tx-frames" "$(set_to tx-frames)" 8
# If h0 sent the requests, its sends would cause polls. A request that follows another packet
# waits for less time, so the median of five counts.
on h1 ping -c 5 -i 0.3 -W 5 10.0.0.1 >/run/ping
median=$(sed -n 's/.* time=\([0-9]*\).*/\1/p' /run/ping | sort -n | sed -n 3p)
note "a reply takes $median ms, most longer"
assert [ "$median" -ge 29 ]
must_fail on h0 ethtool -C "$dev" rx-usecs 70000
on h0 ethtool -C "$dev" rx-usecs 0 rx-frames 0 tx-usecs 0 tx-frames 0
wait_for 10 pings

step "Adaptive moderation, also of rings that are made later"
on h0 ethtool -C "$dev" adaptive-rx on rx-usecs 30000 rx-frames 32
assert_match "moderation" "$(on h0 ethtool -c "$dev")" 'Adaptive RX: on'
on h0 ethtool -G "$dev" rx 256 tx 128
wait_for 20 has_carrier h0 "$dev"
pings_all h0 2000 -i 0 10.0.0.2
on h1 ping -c 9 -i 0.3 -W 5 10.0.0.1 >/run/ping
median=$(sed -n 's/.* time=\([0-9]*\).*/\1/p' /run/ping | sort -n | sed -n 5p)
note "a reply takes $median ms, most less"
assert [ "$median" -lt 29 ]
on h0 ethtool -C "$dev" adaptive-rx off rx-usecs 0 rx-frames 0

step "Down, they are resized too"
ip -n h0 link set "$dev" down
on h0 ethtool -G "$dev" rx 64 tx 64
ip -n h0 link set "$dev" up
wait_for 20 has_carrier h0 "$dev"
wait_for 10 pings
assert_eq "the receive ring" "$(ring_of h0 RX)" 64
pings_all h0 1000 -i 0 10.0.0.2
