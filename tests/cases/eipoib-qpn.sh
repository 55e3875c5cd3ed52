# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Ethernet over IPoIB with a QPN for a guest of its own: the guest routes for others, which are
# reached although nobody has claimed their addresses, while other guests share a QPN.
# timeout: 240

. /cases/lib.sh
# shellcheck source=lib-eipoib.sh
. /cases/lib-eipoib.sh

# at DEV ADDRESS: h1 has the link-layer address of this IPoIB netdevice of h0 for the IP address.
at()
{
	_lladdr=$(lladdr_of h1 "$dev1" "$2") || return 2
	[ "$_lladdr" = "$(on h0 cat "/sys/class/net/$1/address")" ]
}

fabric_start hcas=2
opensm_start
ipoib_load
hosts_make 2
module_insert /modules/eth_ipoib.ko
dev0=$(dev_of h0)
dev1=$(dev_of h1)
eth_make h0
bridge_make h0
guest_make g1 h0 61
guest_make g2 h0 62
mac=$(on g1 cat /sys/class/net/eth0/address)
for guest in g1 g2; do
	wait_for 20 pings $guest fd00::2
	reach $guest 10.0.0.2
done
# h1 knows all of their addresses
for address in fd00::61 fd00::62; do
	wait_for 20 pings h1 $address
done
reach h1 10.0.0.61 10.0.0.62

step "Before, what is behind a guest is not reached"
ip netns add inner
ip -n g1 link add inside mtu 2044 type veth peer name eth0 mtu 2044 netns inner
ip -n g1 link set inside up
ip -n inner link set eth0 up
ip -n g1 address add 10.9.0.1/24 dev inside
ip -n inner address add 10.9.0.2/24 dev eth0
ip -n inner route add default via 10.9.0.1
on g1 sysctl -q -w net.ipv4.ip_forward=1
ip -n h1 route add 10.9.0.0/24 via 10.0.0.61
wait_for 10 pings g1 10.9.0.2
status=0
on h1 ping -n -q -c 2 -i 0.3 -W 1 10.9.0.2 >/run/ping || status=$?
assert_eq "status of ping" $status 1

step "A netdevice of the same partition is for one MAC address"
ip -n h0 link add link "$dev0" name vm1 type ipoib pkey 0xffff
ip -n h0 link set vm1 up
wait_for 20 has_carrier h0 vm1
ip -n h0 link set vm1 master eth5
must_say 'has an address, not a VLAN' on h0 eipoib slave dev vm1 vlan 5
must_say 'must be that of one station' on h0 eipoib slave dev vm1 mac 01:00:00:00:00:01
on h0 eipoib slave dev vm1 mac "$mac"
on h0 eipoib slave -j >/run/slaves
assert_eq "the list" "$(jq -r '.[] | [.interface, .master, .mac] | join(" ")' /run/slaves)" \
	"vm1 eth5 $mac"

step "The guest has its own QPN, others that of the first netdevice"
wait_for 5 at vm1 10.0.0.61
wait_for 5 at vm1 fd00::61
assert at "$dev0" 10.0.0.62
reach h1 10.0.0.61 fd00::61 10.0.0.62 fd00::62
reach g1 10.0.0.2 fd00::2 10.0.0.62
reach g2 10.0.0.2 fd00::2 fd00::61

step "What is behind the guest is reached, though nobody has claimed it"
reach h1 10.9.0.2
reach inner 10.0.0.2
dd if=/dev/urandom of=/run/sent bs=1M count=2 status=none
transfer h1 inner 10.9.0.2
transfer inner h1 10.0.0.2
on h0 eipoib local -j >/run/locals
refute grep -q '10\.9\.0\.2' /run/locals

step "A broadcast comes once"
traffic_start copies on g2 tcpdump -Z root -n -i eth0 -w /run/copies.pcap arp
wait_for 10 grep -q 'listening on' /run/traffic.copies.log
on g1 arping -q -c 3 -w 3 -I eth0 10.0.0.99 && fail "an answer for 10.0.0.99"
reach h1 10.0.0.62
traffic_stop copies
assert_eq "requests of g1" "$(tcpdump -Z root -n -r /run/copies.pcap 2>/run/copies.err |
	grep -c 'who-has 10.0.0.99 ')" 3
assert [ "$(eth_stat h0 rx_repeated)" -gt 0 ]

step "A group of which both are members"
on h1 ping -n -c 3 -W 1 "ff02::1%$dev1" >/run/echoes || fail "no echo"
for guest in g1 g2; do
	own=$(ip -n $guest -o address show dev eth0 scope link | sed -n 's,.*inet6 \([^/]*\)/.*,\1,p')
	# ping ends with the first answer to its last request
	assert_between "echoes of $guest" "$(grep -c "from $own%" /run/echoes)" 2 3
done

step "Without it, the guest is reached by the first netdevice again"
ip -n h0 link set vm1 nomaster
wait_for 2 at "$dev0" 10.0.0.61
reach h1 10.0.0.61 fd00::61
