# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# HCAs of four kinds on one fabric: each interface stays within the limits of its HCA, and all
# reach each other.
# timeout: 180

. /cases/lib.sh

hosts='0 1 2 3'
kinds=virtual,connectx3,connectx5,small

offloaded()
{
	fabric_counter "ibfab$1" "port1.offload.$2"
}

echo "Default=0x7fff, ipoib, mtu=5 : ALL=full;" >/run/partitions.conf
fabric_start hcas=4 profile=$kinds
opensm_start -P /run/partitions.conf
ipoib_load send_queue_size=8192 recv_queue_size=1024
hosts_make 4

step "Rings of the maximum size for each HCA"
assert_eq "sends, virtual" "$(ring_of h0 TX)" 8192
assert_eq "sends, connectx3" "$(ring_of h1 TX)" 8192
# A WR with 19 SGEs takes 384 octets, i.e. 6 blocks of 64: 8192 such WRs exceed the 32768 blocks
assert_eq "sends, connectx5" "$(ring_of h2 TX)" 4096
assert_eq "sends, small" "$(ring_of h3 TX)" 512
assert_eq "receives, virtual" "$(ring_of h0 RX)" 1024
assert_eq "receives, small" "$(ring_of h3 RX)" 512
dmesg | grep 'ib2.*: the HCA refuses rings of 8192' || fail "no line in the log"
must_fail on h2 ethtool -G "$(dev_of h2)" tx 8192
assert_eq "sends, connectx5" "$(ring_of h2 TX)" 4096

step "Moderation that the HCA does not support is refused, and none of it is set"
must_fail on h2 ethtool -C "$(dev_of h2)" rx-usecs 100 tx-usecs 5000 tx-frames 9
on h2 ethtool -c "$(dev_of h2)" >/run/moderation
assert_eq "rx-usecs" "$(field_of rx-usecs: /run/moderation)" 0
assert_eq "tx-usecs" "$(field_of tx-usecs: /run/moderation)" 0
on h0 ethtool -C "$(dev_of h0)" rx-usecs 0 tx-usecs 5000 tx-frames 9
on h0 ethtool -C "$(dev_of h0)" rx-usecs 0 tx-usecs 0 tx-frames 0

step "All sizes, whole and in fragments, between all kinds"
for from in $hosts; do
	for to in $hosts; do
		[ "$from" != "$to" ] || continue
		for size in 0 1000 4000 4064 4065 9000; do
			pings_all "h$from" 2 -s $size "10.0.0.$((to + 1))"
			pings_all "h$from" 1 -s $size "fd00::$((to + 1))"
		done
	done
done

step "A megabyte by TCP between all kinds, unharmed, with checksums and large sends where the HCA makes them"
head -c 1000000 /dev/urandom >/run/data
for from in $hosts; do
	for to in $hosts; do
		[ "$from" != "$to" ] || continue
		traffic_start sink on "h$to" socat -u TCP4-LISTEN:5000 OPEN:/run/got,creat,trunc
		wait_for 10 listening "h$to" 5000
		on "h$from" socat -u OPEN:/run/data "TCP4:10.0.0.$((to + 1)):5000"
		wait_for 10 cmp -s /run/data /run/got
	done
done
assert test "$(offloaded 1 tx_lso)" -gt 0
for hca in 2 3; do
	assert_eq "checksums of ibfab$hca" "$(offloaded $hca tx_csum)" 0
done
for host in $hosts; do
	netdev_has_none "h$host" rx_errors tx_errors tx_dropped
done

step "The sixteenth child is one more than the small HCA has QPs; the others go on"
dev=$(dev_of h3)
made=0
while ip -n h3 link add link "$dev" name "ib.$made" type ipoib 2>/run/refused; do
	ip -n h3 link set "ib.$made" up
	made=$((made + 1))
	[ "$made" -lt 20 ] || break
done
cat /run/refused
assert_eq "children" "$made" 15
for n in 0 14; do
	wait_for 20 has_carrier h3 "ib.$n"
done
pings_all h0 3 10.0.0.4
ip -n h3 link del ib.7
assert ip -n h3 link add link "$dev" name ib.7 type ipoib
