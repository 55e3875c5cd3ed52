# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Checksums and large sends are left to HCAs that support them, and done by the driver
# otherwise; data arrive unchanged, and ethtool switches the features.
# timeout: 240
# soak: 240
# profiles: virtual connectx3 connectx5
# kernel: stock 6.12 newest

. /cases/lib.sh

size=$(($(full_or 8 24) << 20))

# offloaded HCA NAME: prints a counter of the HCA's offloads.
offloaded()
{
	fabric_counter "$1" "port1.offload.$2"
}

feature()
{
	on "$1" ethtool -k "$(dev_of "$1")" | awk -v name="$2:" '$1 == name { print $2 }'
}

# blocks FROM TO UDP4|UDP6 ADDRESS SIZE: sends blocks that the kernel splits into datagrams of
# SIZE, each of which the receiver writes as a line of a file.
blocks()
{
	head -c $(($5 * 40 + 1)) /run/sent >/run/sent.udp
	traffic_start "udp.$2" on "$2" socat -u "$3-RECV:6001,rcvbuf=4000000" OPEN:/run/got.udp,creat,trunc
	wait_for 10 listening "$2" 6001 u
	on "$1" socat -u -b $(($5 * 20)) OPEN:/run/sent.udp \
		"$3:$4:6001,setsockopt-int=17:103:$5" || fail "no large send of UDP"
	wait_for 10 cmp /run/sent.udp /run/got.udp
	traffic_stop "udp.$2"
}

# machine_make HOST: a virtual machine vm behind the host, with a tap device whose large
# packets are untrusted: their headers are not verified, and their segments are not counted.
machine_make()
{
	modprobe tun
	traffic_start vnet ibvnet pair vm0 tap0
	wait_for 10 test -e /sys/class/net/vm0 -a -e /sys/class/net/tap0
	ip netns add vm
	ip link set vm0 netns vm
	ip link set tap0 netns "$1"
	ip -n vm address add 192.168.7.2/24 dev vm0
	ip -n vm address add fd07::2/64 dev vm0 nodad
	ip -n "$1" address add 192.168.7.1/24 dev tap0
	ip -n "$1" address add fd07::1/64 dev tap0 nodad
	ip -n vm link set vm0 up
	ip -n "$1" link set tap0 up
	# On a slow machine TCP would send only two segments at a time
	ip -n vm route add default via 192.168.7.1 initcwnd 400
	ip -n vm route add default via fd07::1 initcwnd 400
	on vm sh -c 'echo 200 >/proc/sys/net/ipv4/tcp_min_tso_segs'
	on "$1" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
}

# machine_sends TO ADDRESS GATEWAY ROUTE MSS: sends a file to a host with a small MSS.
machine_sends()
{
	ip -n "$1" route replace "$4" via "$3" advmss "$5"
	transfer vm "$1" "$2"
}

fabric_start hcas=3 offload=csum+lso,csum+lso,none
opensm_start
ipoib_load
hosts_make 3
head -c "$size" /dev/urandom >/run/sent

step "The features of the interfaces"
for host in h0 h2; do
	for name in tx-checksum-ip-generic scatter-gather tx-tcp-segmentation \
		tx-tcp6-segmentation tx-udp-segmentation; do
		assert_eq "$host's $name" "$(feature $host $name)" on
	done
done
assert_eq "h0's rx-checksumming" "$(feature h0 rx-checksumming)" on
assert_match "h2's rx-checksumming" "$(feature h2 rx-checksumming)" off

step "Between two HCAs that have them"
lso=$(offloaded ibfab0 tx_lso) segments=$(offloaded ibfab0 tx_lso_segments)
good=$(offloaded ibfab1 rx_csum_ok)
transfer h0 h1 10.0.0.2
lso=$(($(offloaded ibfab0 tx_lso) - lso))
segments=$(($(offloaded ibfab0 tx_lso_segments) - segments))
note "$lso large sends became $segments segments"
assert [ "$segments" -gt $((size * 9 / 20440)) ]
assert [ "$lso" -lt $((segments / 4)) ]
assert [ $(($(offloaded ibfab1 rx_csum_ok) - good)) -ge "$segments" ]
assert_eq "bad checksums" "$(offloaded ibfab1 rx_csum_bad)" 0

step "To and from an HCA without them: the driver segments"
transfer h0 h2 10.0.0.3
cut=$(stat_of h2 tx_segmented)
good=$(offloaded ibfab0 rx_csum_ok)
transfer h2 h0 10.0.0.1
transfer h2 h0 '[fd00::1]'
cut=$(($(stat_of h2 tx_segmented) - cut))
good=$(($(offloaded ibfab0 rx_csum_ok) - good))
note "$cut large packets became $good segments"
assert [ "$good" -gt $((2 * size * 9 / 20440)) ]
assert [ "$cut" -lt $((good / 4)) ]
assert [ "$cut" -gt $((2 * size / 65536)) ]
assert_eq "bad checksums" "$(offloaded ibfab0 rx_csum_bad)" 0

step "Large sends of UDP"
for gso in 1400 999 1; do
	blocks h2 h0 UDP4 10.0.0.1 $gso
	blocks h2 h0 UDP6 '[fd00::1]' $gso
	blocks h0 h1 UDP4 10.0.0.2 $gso
done
assert_eq "bad checksums" "$(offloaded ibfab0 rx_csum_bad) $(offloaded ibfab1 rx_csum_bad)" "0 0"

step "IPv6 and UDP"
cut=$(stat_of h0 tx_segmented)
made=$(offloaded ibfab0 tx_csum)
transfer h0 h1 '[fd00::2]'
# Not every HCA computes checksums for IPv6, and there is no capability flag for it
assert_eq "checksums asked of the HCA for IPv6" "$(offloaded ibfab0 tx_csum)" "$made"
assert [ "$(stat_of h0 tx_segmented)" -gt $((cut + size / 65536)) ]
iperf_server h1
on h0 iperf3 -u -b 50M -c 10.0.0.2 -t 2 -l 1400 >/run/udp || fail "$(cat /run/udp)"
tail -n 3 /run/udp
traffic_stop iperf.h1
refute [ "$(offloaded ibfab0 tx_csum)" -eq 0 ]
assert_eq "bad checksums" "$(offloaded ibfab1 rx_csum_bad)" 0

! brief || exit 0

step "Switched off"
on h0 ethtool -K "$(dev_of h0)" tso off
lso=$(offloaded ibfab0 tx_lso)
transfer h0 h1 10.0.0.2
assert_eq "large sends" "$(offloaded ibfab0 tx_lso)" "$lso"
on h0 ethtool -K "$(dev_of h0)" tx off rx off
made=$(offloaded ibfab0 tx_csum)
transfer h0 h1 10.0.0.2
transfer h1 h0 10.0.0.1
assert_eq "checksums made" "$(offloaded ibfab0 tx_csum)" "$made"
on h0 ethtool -K "$(dev_of h0)" tx on rx on tso on
transfer h0 h1 10.0.0.2
refute [ "$(offloaded ibfab0 tx_lso)" -eq "$lso" ]

step "Large packets of a virtual machine, of more segments than a ring takes"
size=$(full_or $((2 << 20)) $((24 << 20)))
head -c "$size" /dev/urandom >/run/sent
machine_make h2
long=$(stat_of h2 tx_too_long)
for mss in 88 536; do
	machine_sends h0 10.0.0.1 10.0.0.3 192.168.7.0/24 $mss
	machine_sends h0 '[fd00::1]' fd00::3 fd07::/64 $mss
done
assert_eq "dropped as too long" "$(stat_of h2 tx_too_long)" "$long"
assert_eq "bad checksums" "$(offloaded ibfab0 rx_csum_bad)" 0
traffic_stop vnet
many=$(sed -n 's/^many=//p' /run/traffic.vnet.log)
note "$many large packets of more than 64 segments"
assert [ "$many" -gt 20 ]
