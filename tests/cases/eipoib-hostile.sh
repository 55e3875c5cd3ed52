# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Ethernet over IPoIB and a guest that is not as others are: one that routes to another subnet, whose
# hosts are reached if it answers for them; and one that claims what others have, which does what it
# does on any Ethernet, and no more.
# timeout: 240

. /cases/lib.sh
# shellcheck source=lib-eipoib.sh
. /cases/lib-eipoib.sh

# subnet_make: g2 routes to another subnet, with the host s1.
subnet_make()
{
	ip netns add s1
	ip -n g2 link add port.s1 mtu 2044 type veth peer name eth0 mtu 2044 netns s1
	ip -n g2 address add 10.1.0.1/24 dev port.s1
	ip -n g2 address add fd01::1/64 dev port.s1 nodad
	ip -n g2 link set port.s1 up
	ip -n s1 address add 10.1.0.2/24 dev eth0
	ip -n s1 address add fd01::2/64 dev eth0 nodad
	ip -n s1 link set eth0 up
	ip -n s1 route add default via 10.1.0.1
	ip -n s1 route add default via fd01::1
	on g2 sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	for _host in h1 h2 g1; do
		ip -n "$_host" route add 10.1.0.0/24 via 10.0.0.62
		ip -n "$_host" route add fd01::/64 via fd00::62
	done
}

# heard_at HOST: whether it has received what udp_send sends.
heard_at()
{
	[ -s "/run/heard.$1" ]
}

# at HOST ADDRESS LLADDR: the plain host has this link-layer address for an IP address.
at()
{
	_lladdr=$(lladdr_of "$1" "$(dev_of "$1")" "$2") || return 2
	[ "$_lladdr" = "$3" ]
}

# own_lladdr HOST: prints the link-layer address of its IPoIB netdevice.
own_lladdr()
{
	on "$1" cat "/sys/class/net/$(dev_of "$1")/address"
}

# arp_renew HOST ADDRESS: a plain host asks for another one again, by which all hear of it.
arp_renew()
{
	ip -n "$1" neigh flush dev "$(dev_of "$1")"
	wait_for 5 pings "$1" "$2"
}

fabric_start hcas=3
opensm_start
ipoib_load
hosts_make 3
module_insert /modules/eth_ipoib.ko
eth_make h0
bridge_make h0
guest_make g1 h0 61
guest_make g2 h0 62
guest_make g3 h0 63
subnet_make
for host in g1 g2 g3; do
	wait_for 20 pings $host fd00::2
	reach $host 10.0.0.2 10.0.0.3 fd00::2 fd00::3
done
reach g1 10.1.0.2 fd01::2

step "A guest forwards: what comes from the other subnet goes out"
traffic_start hear on h1 socat -u UDP4-RECV:5000 OPEN:/run/heard.h1,creat,trunc
wait_for 10 says ':5000 ' on h1 ss -lun
echo "from the other subnet" | on s1 socat -u STDIN UDP4-SENDTO:10.0.0.2:5000
wait_for 10 heard_at h1
traffic_stop hear

step "Its source has not been learned: what is for it is asked for, and delivered to nobody else"
unanswered=$(eth_stat h0 rx_unanswered)
refute on h1 ping -n -q -c 2 -i 0.2 -W 1 10.1.0.2
wait_for 10 eth_stat_reaches h0 rx_unanswered $((unanswered + 2))

step "A router that answers for the hosts behind it gets their packets"
on g2 sysctl -q -w net.ipv4.conf.eth0.proxy_arp=1 net.ipv4.neigh.eth0.proxy_delay=0 \
	net.ipv6.conf.eth0.proxy_ndp=1 net.ipv6.neigh.eth0.proxy_delay=0
ip -n g2 -6 neigh add proxy fd01::2 dev eth0
for host in h1 h2; do
	reach $host 10.1.0.2 fd01::2
done
reach s1 10.0.0.2 fd00::2 10.0.0.61 fd00::61
dd if=/dev/urandom of=/run/sent bs=1M count=2 status=none
transfer h1 s1 10.1.0.2
transfer s1 h2 "[fd00::3]"

step "A guest that claims the address of another guest gets its packets, until that one is heard"
mac3=$(on g3 cat /sys/class/net/eth0/address)
reach h1 10.0.0.61
moved=$(eth_stat h0 local_moved)
arp_claim g3 10.0.0.61 "$mac3"
assert_eq "addresses that have moved" "$(eth_stat h0 local_moved)" $((moved + 1))
refute on h1 ping -n -q -c 2 -i 0.2 -W 1 10.0.0.61
on g1 arping -q -U -c 1 -I eth0 10.0.0.61
reach h1 10.0.0.61

step "A guest that claims the address of a host of the IPoIB side"
reach h2 10.0.0.2
lladdr1=$(own_lladdr h1)
assert at h2 10.0.0.2 "$lladdr1"
# The locktime of a neighbour entry, for which it is not changed again
sleep 1.2
arp_claim g3 10.0.0.2 "$mac3"
wait_for 5 at h2 10.0.0.2 "$(own_lladdr h0)"
sleep 1.2
arp_renew h1 10.0.0.3
wait_for 5 at h2 10.0.0.2 "$lladdr1"
reach h2 10.0.0.2
wait_for 10 pings g1 10.0.0.2
reach g1 10.0.0.2

step "A guest that uses the MAC address of a host of the IPoIB side takes nothing from it"
remote=$(lladdr_of g1 eth0 10.0.0.2)
refused=$(eth_stat h0 local_refused)
loops=$(eth_stat h0 tx_loop)
arp_claim g3 10.0.0.99 "$remote"
assert_eq "frames with the MAC address of the IPoIB side" \
	"$(($(eth_stat h0 local_refused) + $(eth_stat h0 tx_loop) - refused - loops))" 1
refute pings h1 10.0.0.99
# The bridge has learned it, as any would, until h1 is heard there again
arp_renew h1 10.0.0.3
reach g1 10.0.0.2

step "Port security: without learning, a guest has the addresses of its static entries, and no others"
mac1=$(on g1 cat /sys/class/net/eth0/address)
link_local=$(ip -n g1 -o address show dev eth0 scope link | sed -n 's,.*inet6 \([^/]*\)/.*,\1,p')
for address in 10.0.0.61 fd00::61 "$link_local"; do
	on h0 eipoib local add "$address" lladdr "$mac1" dev eth5
done
on h0 eipoib set dev eth5 learning off
# The last one is its own, but nobody has said so. Packets of g2 are dropped as well.
for address in 10.0.0.61 10.0.0.2 10.0.0.63; do
	forged=$(eth_stat h0 tx_forged)
	arp_claim g3 $address "$mac3"
	assert [ "$(eth_stat h0 tx_forged)" -gt "$forged" ]
done
ip -n g3 address add fd00::61/64 dev eth0 nodad
ip -n g3 neigh flush dev eth0
forged=$(eth_stat h0 tx_forged)
refute on g3 ping -n -q -c 2 -i 0.2 -W 1 -I fd00::61 fd00::2
ip -n g3 address delete fd00::61/64 dev eth0
assert [ "$(eth_stat h0 tx_forged)" -gt "$forged" ]
on h0 eipoib -j local >/run/local
jq -e "length == 3 and all(.static and .mac == \"$mac1\")" /run/local >/run/verdict ||
	fail "$(cat /run/local)"
assert at h2 10.0.0.2 "$lladdr1"
for host in h1 h2; do
	ip -n $host neigh flush dev "$(dev_of $host)"
	reach $host 10.0.0.61 fd00::61
done
reach g1 10.0.0.2 fd00::2
rmmod eth_ipoib
