# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Ethernet over IPoIB: groups of hosts behind a bridge are joined on the InfiniBand side when they
# are reported by IGMP and MLD of each version, stay while anybody is in them, are left after the
# last one, and survive that the IPoIB netdevice moves to another network namespace.
# timeout: 300

. /cases/lib.sh
# shellcheck source=lib-eipoib.sh
. /cases/lib-eipoib.sh

# joined GROUP: the IPoIB netdevice is in the group with these last octets, as ip maddr shows them.
joined()
{
	says "link .*$1" ip -n "$lower_host" maddr show dev "$dev0"
}

# listen GUEST VERSION GROUP: the guest joins the group, and writes what it receives to a file.
listen()
{
	: >"/run/heard.$1"
	case $2 in
	4) _socket="UDP4-RECV:5000,ip-add-membership=$3:eth0" ;;
	6) _socket="UDP6-RECV:5000,ipv6-join-group=[$3]:eth0" ;;
	esac
	traffic_start "listen.$1" on "$1" socat -u "$_socket" "OPEN:/run/heard.$1,append"
	wait_for 10 says "inet.* $3" ip -n "$1" maddr show dev eth0
}

# say GROUP COUNT: h1 sends packets to a group.
say()
{
	for _i in $(seq "$2"); do
		case $1 in
		*:*) echo "packet $_i" | on h1 socat -u STDIN "UDP6-SENDTO:[$1]:5000,so-bindtodevice=$dev1" ;;
		*) echo "packet $_i" | on h1 socat -u STDIN "UDP4-SENDTO:$1:5000,ip-multicast-if=10.0.0.2" ;;
		esac
	done
}

# received GUEST: prints how many packets the guest has received.
received()
{
	wc -l <"/run/heard.$1"
}

# reached GUEST GROUP: another packet reaches the guest.
reached()
{
	_before=$(received "$1")
	say "$2" 1
	sleep 0.2
	[ "$(received "$1")" -gt "$_before" ]
}

# hears GUEST GROUP: once the HCA is in the group, no packet is lost.
hears()
{
	wait_for 10 reached "$1" "$2"
	_wanted=$(($(received "$1") + 5))
	say "$2" 5
	wait_for 10 has_received "$1" $_wanted
}

has_received()
{
	[ "$(received "$1")" -eq "$2" ]
}

# join_and_leave VERSION GROUP OCTETS: two guests join a group, get its packets, and leave it one after
# the other.
join_and_leave()
{
	refute joined "$3"
	listen g1 "$1" "$2"
	wait_for 10 joined "$3"
	hears g1 "$2"
	listen g2 "$1" "$2"
	hears g2 "$2"
	hears g1 "$2"

	_left=$(eth_stat h0 group_leaves)
	traffic_stop listen.g1
	sleep 4
	assert joined "$3"
	hears g2 "$2"
	assert_eq "groups that were left" "$(eth_stat h0 group_leaves)" "$_left"
	traffic_stop listen.g2
	wait_for 10 not joined "$3"
	assert_eq "groups that were left" "$(eth_stat h0 group_leaves)" $((_left + 1))
}

# version GUEST-SYSCTL VALUE: sets the version of IGMP or MLD at both guests.
version()
{
	for _guest in g1 g2; do
		on $_guest sysctl -q -w "$1=$2"
	done
}

fabric_start hcas=2
opensm_start
ipoib_load
hosts_make 2
module_insert /modules/eth_ipoib.ko
dev0=$(dev_of h0)
dev1=$(dev_of h1)
lower_host=h0
eth_make h0
bridge_make h0
guest_make g1 h0 61
guest_make g2 h0 62
wait_for 20 pings g1 10.0.0.2
wait_for 20 pings g2 fd00::2

step "IGMPv3"
join_and_leave 4 239.5.5.5 '0f:05:05:05'

step "IGMPv2"
version net.ipv4.conf.eth0.force_igmp_version 2
join_and_leave 4 239.5.5.6 '0f:05:05:06'

step "MLDv2"
join_and_leave 6 ff15::5:5 '00:05:00:05'

step "MLDv1"
version net.ipv6.conf.eth0.force_mld_version 1
join_and_leave 6 ff15::5:6 '00:05:00:06'

step "Groups survive that the IPoIB netdevice moves to another network namespace, and back"
version net.ipv6.conf.eth0.force_mld_version 0
listen g1 6 ff15::5:7
wait_for 10 joined '00:05:00:07'
ip netns add elsewhere
ip -n h0 link set "$dev0" netns elsewhere
ip -n elsewhere link set "$dev0" up
lower_host=elsewhere
on h0 eipoib -j show >/run/show
assert jq -e '.[0] | .interface == "eth5" and (has("lower") or has("lower_ifindex") | not)' /run/show
assert joined '00:05:00:07'
wait_for 20 pings g2 10.0.0.2
wait_for 20 pings g2 fd00::2
hears g1 ff15::5:7
traffic_stop listen.g1
wait_for 10 not joined '00:05:00:07'
ip -n elsewhere link set "$dev0" netns h0

step "Groups are left when the Ethernet netdevice is deleted"
lower_host=h0
ip -n h0 link set "$dev0" up
listen g1 4 239.5.5.9
wait_for 10 joined '0f:05:05:09'
ip -n h0 link delete eth5
refute joined '0f:05:05:09'
traffic_stop listen.g1
