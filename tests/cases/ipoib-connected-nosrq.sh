# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Connected mode on HCAs without shared receive queues: connections between these, and with others;
# the limit of those that are accepted; what is left when connections are closed under traffic.
# timeout: 240

. /cases/lib.sh
# shellcheck source=lib-connected.sh
. /cases/lib-connected.sh

# services HOST: prints the first octets of the Service IDs of the connections that it has opened.
services()
{
	conns "$1" >/run/conns || return 2
	awk '/service ID:/ { id = $3 } /opened by:/ && $3 == "self" { print substr(id, 1, 4) }' \
		/run/conns | sort -u
}

# Two receive SGEs at the last HCA: its buffers consist of larger pages
fabric_start hcas=5 srq=0,1,0,1,0 max_sge=32,32,32,32,2
opensm_start

step "Without any allowed, no address says that connections are accepted"
ipoib_load max_nonsrq_conn_qp=0
hosts_make 2
assert_eq "flags of h0" "$(address_flags h0)" 00
assert_eq "flags of h1" "$(address_flags h1)" 80
must_fail on h0 sh -c "echo connected >/sys/class/net/$(dev_of h0)/mode"
wait_for 10 pings h1 10.0.0.1
ip netns delete h0
ip netns delete h1
rmmod ib_ipoib

# The hosts are namespaces other than the HCA's, and leave half of what is allowed to others
step "With four, all do, and two are for the only namespace of an HCA"
ipoib_load max_nonsrq_conn_qp=4
hosts_make 5
for host in h0 h1 h2 h3 h4; do
	assert_eq "flags of $host" "$(address_flags $host)" 80
	mode_set $host connected
done

step "Packets of all sizes, by connections of both kinds of HCAs, in both directions"
connect h0 1 10.0.0.2
connect h0 2 10.0.0.3
connect h1 1 10.0.0.1
connect h2 1 10.0.0.1
assert_eq "Service IDs of h0" "$(services h0)" 0x10
assert_eq "Service IDs of h1" "$(services h1)" 0x01
assert_eq "Service IDs of h2" "$(services h2)" 0x10
fragmented=$(stat_of h0 tx_fragmented)
for size in 0 212 213 2016 9000 65464; do
	for peer in 2 3; do
		pings_all h0 5 -M "do" -s $size 10.0.0.$peer
	done
done
assert_eq "fragmented" "$(stat_of h0 tx_fragmented)" "$fragmented"

step "A third peer is refused, and sends datagrams until another one is idle"
refute opens h3 1 10.0.0.1
pings_all h3 20 10.0.0.1
pings_all h3 3 -M dont -s 9000 10.0.0.1
assert test "$(stat_of h0 conns_refused)" -gt 0
pings_all h1 20 -s 9000 10.0.0.1
pings_all h2 20 -s 9000 10.0.0.1
taken()
{
	pings h1 -s 9000 10.0.0.1 && opens h3 1 10.0.0.1
}
wait_for 6 taken
assert connected_to h1 ibfab0
assert accepted_is h0 2

step "Fewer and larger pages, if the HCA takes only two in a buffer"
reached()
{
	pings h0 -s 9000 10.0.0.5 && connected_to h0 ibfab4
}
wait_for 10 reached
for size in 213 2016 9000 65464; do
	pings_all h0 5 -M "do" -s $size 10.0.0.5
done

step "A file each way"
dd if=/dev/urandom of=/run/sent bs=1M count=8 status=none
transfer h0 h2 10.0.0.3
transfer h2 h0 10.0.0.1
transfer h1 h0 10.0.0.1
refute says 'refuses receive buffers' dmesg

step "Connections that are closed and opened under traffic leave nothing behind"
traffic_start flood on h1 ping -n -q -f -s 20000 10.0.0.1
for _ in 1 2 3 4 5 6 7 8; do
	mode_set h1 datagram
	wait_for 10 opened_is h1 0
	mode_set h1 connected
	wait_for 20 opened_is h1 1
done
for _ in 1 2 3; do
	ip -n h0 link set "$(dev_of h0)" down
	wait_for 10 conns_are h0 0
	was=$(stat_of h1 conns_opened)
	ip -n h0 link set "$(dev_of h0)" up
	wait_for 30 stat_reaches h1 conns_opened $((was + 1))
	wait_for 30 opened_is h1 1
done
traffic_stop flood
pings_all h1 5 -s 20000 10.0.0.1
for host in h0 h1 h2 h3 h4; do
	ip -n $host link set "$(dev_of $host)" down
done
wait_for 10 conns_are h0 0
rmmod ib_ipoib
all_drained
