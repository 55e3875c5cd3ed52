# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Frames that are too short for their headers, or longer than the group's MTU, are dropped and
# counted without further effects.
# timeout: 60
# profiles: small connectx3 connectx5 virtual

. /cases/lib.sh

# frame OCTETS: sends a raw UD packet of OCTETS octets of 0x08 00 00 00 00 ... from the first
# HCA to the second one's IPoIB QP.
frame()
{
	payload=$(printf '0800%0*d' 120 0 | cut -c "1-$((2 * $1))")
	[ "$1" -gt 0 ] || payload=
	echo "dlid=$dlid qpn=0x$qpn qkey=$qkey pkey_index=0 payload=$payload" \
		>/sys/kernel/debug/ibraw/ibfab0/send
}

short_is()
{
	[ "$(stat_of h1 rx_short)" -eq "$1" ]
}

long_is()
{
	[ "$(stat_of h1 rx_too_long)" -eq "$1" ]
}

# long_frame OCTETS: the same with OCTETS zeroes after the encapsulation header.
long_frame()
{
	echo "dlid=$dlid qpn=0x$qpn qkey=$qkey pkey_index=0 payload=$(printf '0800%0*d' \
		$((2 * $1 - 4)) 0)" >/sys/kernel/debug/ibraw/ibfab0/send
}

packets_are()
{
	[ "$(netdev_counter h1 "$dev" rx_packets)" -ge "$1" ]
}

fabric_start hcas=2
opensm_start
ipoib_load
module_insert /modules/ibraw.ko
hosts_make 2
dev=$(dev_of h1)
address=$(on h1 cat "/sys/class/net/$dev/address")
qpn=$(echo "$address" | cut -d: -f2-4 | tr -d :)
dlid=$(($(cat "$ib/ibfab1/ports/1/lid")))
qkey=0xb1b

step "0 to 3 octets: no room for the encapsulation header"
assert short_is 0
for octets in 0 1 2 3; do
	frame $octets
done
wait_for 5 short_is 4
assert_eq "rx_length_errors" "$(netdev_counter h1 "$dev" rx_length_errors)" 4
assert_eq "rx_errors" "$(netdev_counter h1 "$dev" rx_errors)" 4

step "4 to 43 octets: an encapsulation header and less than an IPv4 and UDP header"
before=$(netdev_counter h1 "$dev" rx_packets)
for octets in $(seq 4 43); do
	frame "$octets"
done
wait_for 5 packets_are $((before + 40))
assert short_is 4

step "As long as the group's MTU, and longer, to what the link takes"
resets=$(stat_of h1 qp_resets)
before=$(netdev_counter h1 "$dev" rx_packets)
long_frame 2048
wait_for 5 packets_are $((before + 1))
for octets in 2049 2052 3000 4096; do
	long_frame $octets
done
wait_for 5 long_is 4
assert_eq "resets of the QP" "$(stat_of h1 qp_resets)" "$resets"
assert_eq "rx_length_errors" "$(netdev_counter h1 "$dev" rx_length_errors)" 8

step "The interface still works"
pings_all h0 5 10.0.0.2
pings_all h0 5 fd00::2
