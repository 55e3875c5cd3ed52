# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Payloads of all sizes from 0 to the MTU, and one octet more (fragmented), arrive unchanged
# over IPv4 and IPv6.
# timeout: 300
# profiles: connectx3 connectx5 small virtual

. /cases/lib.sh

fabric_start hcas=2
opensm_start
ipoib_load
hosts_make 2
dev=$(dev_of h0)
mtu=$(on h0 cat "/sys/class/net/$dev/mtu")
before=$(netdev_counter h1 "$(dev_of h1)" rx_packets)

step "IPv6 in the background: 0 to $((mtu - 48)) octets whole, $((mtu - 47)) in two fragments"
on h1 ibecho fd00::1 0 $((mtu - 47)) >/run/sweep6.lost &
sweep6=$!

step "IPv4: 0 to $((mtu - 28)) octets whole, $((mtu - 27)) in two fragments"
on h0 ibecho 10.0.0.2 0 $((mtu - 27)) >/run/sweep4.lost
wait $sweep6
for family in 4 6; do
	assert_none "the sizes lost or harmed, IPv$family" cat /run/sweep$family.lost
done

step "The largest whole ones are not fragmented, the next size is"
on h0 ping -q -c 1 -W 2 -M "do" -s $((mtu - 28)) 10.0.0.2
refute on h0 ping -q -c 1 -W 1 -M "do" -s $((mtu - 27)) 10.0.0.2

step "The receiver has counted them all, and dropped none"
after=$(netdev_counter h1 "$(dev_of h1)" rx_packets)
assert test $((after - before)) -ge $((2 * mtu - 74))
for host in h0 h1; do
	netdev_has_none $host rx_errors rx_dropped tx_errors tx_dropped
done
