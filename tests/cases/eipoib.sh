# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Ethernet over IPoIB: the Ethernet netdevice by itself, and hosts behind a bridge over it, which
# reach plain IPoIB hosts and hosts behind another such bridge, by IPv4 and IPv6.
# timeout: 240

. /cases/lib.sh
# shellcheck source=lib-eipoib.sh
. /cases/lib-eipoib.sh

# eth_renew: h0 gets another Ethernet netdevice instead of its own, which knows nothing yet.
eth_renew()
{
	ip -n h0 link delete eth5
	ip -n h0 link add link "$dev0" name eth5 type eipoib
	ip -n h0 link set eth5 master br0 up
	wait_for 10 has_carrier h0 eth5
}

# passes_long tx|rx CMD...: the packets that eth5 of h0 sends or receives meanwhile are longer on
# average than its MTU, since they are not cut before it, or were merged before it.
passes_long()
{
	_way=$1
	shift
	_packets=$(netdev_counter h0 eth5 "${_way}_packets")
	_octets=$(netdev_counter h0 eth5 "${_way}_bytes")
	"$@"
	_packets=$(($(netdev_counter h0 eth5 "${_way}_packets") - _packets))
	_octets=$(($(netdev_counter h0 eth5 "${_way}_bytes") - _octets))
	note "$_way: $_packets packets, $_octets octets"
	assert [ "$_octets" -gt $((_packets * mtu)) ]
}

fabric_start hcas=3
opensm_start
ipoib_load
hosts_make 3
module_insert /modules/eth_ipoib.ko
dev0=$(dev_of h0)
mtu=$(ip -n h0 -o link show "$dev0" | sed -n 's/.* mtu \([0-9]*\) .*/\1/p')

step "What cannot be is refused, and says why"
must_say 'Give an IPoIB device' ip -n h0 link add name eth5 type eipoib
must_say 'must be an IPoIB device' ip -n h0 link add link lo name eth5 type eipoib
must_say 'MTU is larger' ip -n h0 link add link "$dev0" name eth5 mtu 9000 type eipoib
must_say 'six octets' ip -n h0 link add link "$dev0" name eth5 \
	address 00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:01 type eipoib
must_say 'must be that of one station' \
	ip -n h0 link add link "$dev0" name eth5 address ff:ff:ff:ff:ff:ff type eipoib
eth_make h0
must_say 'is in use' ip -n h0 link add link "$dev0" name eth6 type eipoib

step "The netdevice is an Ethernet one, with the MAC address of the port's GUID"
guid=$(port_guid ibfab0)
assert_eq "MAC address" "$(on h0 cat /sys/class/net/eth5/address)" \
	"$(printf '%s\n' "$guid" | sed -E 's/^(..)(..)(..)(..)(..)(..)(..)(..)$/\1 \2 \3 \6 \7 \8/' |
		{ read -r a b c d e f && printf '%02x:%s:%s:%s:%s:%s' $((0x$a | 2)) "$b" "$c" "$d" "$e" "$f"; })"
assert_match "ethtool -i" "$(on h0 ethtool -i eth5)" "driver: eipoib"
assert_match "ethtool -i" "$(on h0 ethtool -i eth5)" "bus-info: $dev0"
assert_eq "type" "$(on h0 cat /sys/class/net/eth5/type)" 1
assert_eq "MTU" "$(on h0 cat /sys/class/net/eth5/mtu)" "$mtu"
wait_for 10 has_carrier h0 eth5

step "Its host reaches another one, and is reached"
ip -n h0 address add 10.0.0.50/24 dev eth5
ip -n h0 address add fd00::50/64 dev eth5
pings_all h0 5 10.0.0.2
pings_all h1 5 10.0.0.50
wait_for 10 pings h0 fd00::2
reach h0 fd00::2
reach h1 fd00::50
assert_eq "its address at the other host" \
	"$(lladdr_of h1 "$(dev_of h1)" 10.0.0.50)" "$(on h0 cat "/sys/class/net/$dev0/address")"
assert_match "the other's MAC address" "$(lladdr_of h0 eth5 10.0.0.2)" '^.2:'
assert_eq "the same by IPv6" "$(lladdr_of h0 eth5 fd00::2)" "$(lladdr_of h0 eth5 10.0.0.2)"

step "Hosts behind a bridge, and behind the bridge of another host"
ip -n h0 address flush dev eth5
bridge_make h0
guest_make g1 h0 61
guest_make g2 h0 62
eth_make h2
bridge_make h2
guest_make g3 h2 63
for host in g1 g2 g3; do
	wait_for 20 pings $host fd00::2
	reach $host 10.0.0.2 fd00::2
done
reach h1 10.0.0.61 10.0.0.62 10.0.0.63 fd00::61 fd00::62 fd00::63
reach g1 10.0.0.62 10.0.0.63 fd00::62 fd00::63
reach g3 10.0.0.61 10.0.0.62 fd00::61 fd00::62
assert_eq "MAC addresses of h1 at both" "$(lladdr_of g1 eth0 10.0.0.2)" \
	"$(lladdr_of g3 eth0 10.0.0.2)"

step "Files, by TCP"
dd if=/dev/urandom of=/run/sent bs=1M count=4 status=none
transfer g1 h1 10.0.0.2
transfer h1 g1 10.0.0.61
transfer g1 g3 "[fd00::63]"
transfer h1 g3 "[fd00::63]"

step "Offloads: large segments and checksums are left to what is below, and packets are merged there"
on h0 ethtool -k eth5 >/run/features
for feature in tx-checksumming scatter-gather tcp-segmentation-offload; do
	assert file_says "^$feature: on" /run/features
done
passes_long tx transfer g1 h1 10.0.0.2
passes_long rx transfer h1 g1 10.0.0.61
passes_long tx transfer g1 h1 "[fd00::2]"
passes_long rx transfer h1 g1 "[fd00::61]"

step "tc on the Ethernet netdevice sees Ethernet frames"
ip -n h0 link add mirror0 type veth peer name mirror1
ip -n h0 link set mirror0 up
ip -n h0 link set mirror1 up
on h0 tc qdisc add dev eth5 clsact
on h0 tc filter add dev eth5 ingress protocol ip u32 match ip dst 10.0.0.61/32 \
	action mirred egress mirror dev mirror0
traffic_start mirror on h0 tcpdump -Z root -n -e -p -Q in -i mirror1 -c 3 icmp
wait_for 10 grep -q 'listening on' /run/traffic.mirror.log
reach h1 10.0.0.61
wait_for 10 grep -q '3 packets captured' /run/traffic.mirror.log
assert_eq "frames for g1" "$(grep -c "> $(on g1 cat /sys/class/net/eth0/address), ethertype IPv4 .* 10.0.0.2 > 10.0.0.61: ICMP echo request" \
	/run/traffic.mirror.log)" 3
on h0 tc qdisc delete dev eth5 clsact
ip -n h0 link delete mirror0

step "A group reaches all that have joined it"
for host in h1 g1; do
	dev=eth0
	[ $host = g1 ] || dev=$(dev_of h1)
	on $host ping -n -c 3 -W 1 "ff02::1%$dev" >/run/echoes || fail "no echo at $host"
	assert_eq "hosts that have answered $host" \
		"$(sed -n 's/.*bytes from \(fe80:[^%]*\)%.*/\1/p' /run/echoes | sort -u | wc -l)" \
		6
done

step "A MAC address that is not known any more loses no packet"
ip -n g1 neigh replace 10.0.0.2 lladdr 02:11:22:33:44:55 dev eth0 nud permanent
ip -n g1 neigh replace fd00::2 lladdr 02:11:22:33:44:55 dev eth0 nud permanent
reach g1 10.0.0.2 fd00::2
eth_renew
reach g1 10.0.0.2 fd00::2
assert [ "$(eth_stat h0 asked_ib)" -gt 0 ]
ip -n g1 neigh delete 10.0.0.2 dev eth0
ip -n g1 neigh delete fd00::2 dev eth0

step "An IP address that is not known locally is asked for, and the packet waits"
eth_renew
reach h1 10.0.0.62 fd00::62
assert [ "$(eth_stat h0 asked_eth)" -gt 0 ]
assert_eq "unanswered" "$(eth_stat h0 rx_unanswered)" 0

step "An address that moves to the other host's bridge is found there"
ip -n g2 address delete 10.0.0.62/24 dev eth0
ip -n g3 address add 10.0.0.62/24 dev eth0
on g3 arping -q -U -c 1 -I eth0 10.0.0.62
reach h1 10.0.0.62
reach g1 10.0.0.62
assert [ "$(eth_stat h0 local_left)" -gt 0 ]

step "What an IPoIB link does not have is dropped, and counted by kind"
ip -n h0 link add link eth5 name vlan5 type vlan id 5
ip -n h0 link set vlan5 up
counted()
{
	[ "$(eth_stat h0 "$1")" -gt 0 ]
}
wait_for 10 counted tx_vlan
ip -n h0 link delete vlan5
assert_eq "bad ARP" "$(eth_stat h0 tx_bad_arp)" 0
assert_eq "bad ND" "$(eth_stat h0 tx_bad_nd)" 0

step "The MTU and the carrier follow the lower netdevice"
ip -n h0 link set "$dev0" mtu 1500
assert_eq "MTU" "$(on h0 cat /sys/class/net/eth5/mtu)" 1500
must_fail ip -n h0 link set eth5 mtu 2000
ip -n h0 link set "$dev0" down
wait_for 10 not has_carrier h0 eth5
ip -n h0 link set "$dev0" up
wait_for 10 has_carrier h0 eth5
wait_for 10 pings g1 10.0.0.2

step "It goes with its lower netdevice, and with its module"
rmmod eth_ipoib
no_eth5
wait_for 10 on h0 sh -c "ip address add 10.0.0.1/24 dev $dev0 && ping -n -q -c 1 -W 1 10.0.0.2"
module_insert /modules/eth_ipoib.ko
ip -n h0 link add link "$dev0" name eth5 type eipoib
ip -n h0 link set eth5 up
rmmod ib_ipoib
no_eth5
rmmod eth_ipoib
