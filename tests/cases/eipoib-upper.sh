# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# What people put on Ethernet devices, on one over IPoIB: macvtap, macvlan, ipvlan, bridges, Open
# vSwitch, packet sockets, the networks of container runtimes, and bonding. Through each of them, a
# plain IPoIB host is reached, and reaches what is behind it, by IPv4, IPv6 and TCP.
# timeout: 300
# root: bridges

. /cases/lib.sh
# shellcheck source=lib-eipoib.sh
. /cases/lib-eipoib.sh

# both_ways HOST ADDRESS ADDRESS6: HOST, which has these addresses, and h1 reach each other.
both_ways()
{
	wait_for 20 pings "$1" 10.0.0.2
	wait_for 20 pings "$1" fd00::2
	# It may have used another address until this one was known to be no duplicate
	wait_for 20 pings h1 "$3"
	pings_all "$1" 2 10.0.0.2
	pings_all "$1" 2 fd00::2
	pings_all h1 2 "$2"
	pings_all h1 2 "$3"
	transfer "$1" h1 10.0.0.2
	transfer h1 "$1" "[$3]"
}

# host_up HOST NUMBER: sets its eth0 up, with 10.0.0.NUMBER and fd00::NUMBER.
host_up()
{
	ip -n "$1" link set lo up
	ip -n "$1" link set eth0 mtu "$mtu" up
	ip -n "$1" address add "10.0.0.$2/24" dev eth0
	ip -n "$1" address add "fd00::$2/64" dev eth0
}

# plugged HOST: makes a host whose eth0 is the end of a cable to the other end in h0, "port.HOST".
plugged()
{
	ip netns add "$1"
	ip -n h0 link add "port.$1" mtu "$mtu" type veth peer name eth0 mtu "$mtu" netns "$1"
	ip -n h0 link set "port.$1" up
}

# vm_start DEVICE: makes the namespace vm, whose eth0 has what ibvnet carries to and from DEVICE, as
# the network device of a virtual machine has.
vm_start()
{
	ip netns add vm
	traffic_start vm ibvnet pair "$1" tap:vm0
	wait_for 10 test -e /sys/class/net/vm0
	ip link set vm0 netns vm name eth0
}

vm_stop()
{
	traffic_stop vm
	ip netns delete vm
}

bridge_start()
{
	ip -n h0 link add br0 mtu "$mtu" type bridge "$@"
	ip -n h0 link set eth5 master br0
	ip -n h0 link set br0 up
}

bridge_stop()
{
	ip -n h0 link set eth5 nomaster
	ip -n h0 link delete br0
}

# on_eth5 KIND NUMBER [OPTION...]: a container with a device of this kind on eth5.
on_eth5()
{
	_kind=$1 _number=$2
	shift 2
	ip netns add c1
	ip -n h0 link add link eth5 name sub1 type "$_kind" "$@"
	ip -n h0 link set sub1 netns c1 name eth0
	host_up c1 "$_number"
	both_ways c1 "10.0.0.$_number" "fd00::$_number"
	ip netns delete c1
}

# cni ADD|DEL CONTAINER FILE: the plugin that this configuration names gives the container its eth0,
# or takes it away.
cni()
{
	_type=$(jq -r .type "$3")
	on h0 env CNI_COMMAND="$1" CNI_CONTAINERID="$2" CNI_NETNS="/run/netns/$2" CNI_IFNAME=eth0 \
		CNI_PATH=/usr/lib/cni "/usr/lib/cni/$_type" <"$3" >/run/cni.out ||
		fail "$1 of $3: $(cat /run/cni.out)"
}

# cni_conf TYPE FIRST WORDS: writes the configuration of a plugin whose containers have addresses
# from 10.0.0.FIRST and fd00::FIRST; WORDS are further members of the object.
cni_conf()
{
	cat >"/run/$1.json" <<-CONF
		{ "cniVersion": "0.4.0", "name": "$1", "type": "$1", "mtu": $mtu, $3,
		  "ipam": { "type": "host-local", "dataDir": "/run/cni", "ranges": [
			[{ "subnet": "10.0.0.0/24", "rangeStart": "10.0.0.$2", "rangeEnd": "10.0.0.99" }],
			[{ "subnet": "fd00::/64", "rangeStart": "fd00::$2", "rangeEnd": "fd00::99" }]]}}
	CONF
}

# cni_passes TYPE NUMBER: a container of the plugin gets these addresses, and is reached.
cni_passes()
{
	ip netns add "$1"
	cni ADD "$1" "/run/$1.json"
	assert_eq "addresses by the plugin" "$(jq -r '[.ips[].address] | join(" ")' /run/cni.out)" \
		"10.0.0.$2/24 fd00::$2/64"
	both_ways "$1" "10.0.0.$2" "fd00::$2"
	cni DEL "$1" "/run/$1.json"
	assert_none "devices that are left" ip -n "$1" -o link show type "${3:-$1}"
	ip netns delete "$1"
}

# routed CONTAINER NAT: a container behind a bridge of its host, which forwards for it: with NAT
# (true) or without (false).
routed()
{
	cat >"/run/$1.json" <<-CONF
		{ "cniVersion": "0.4.0", "name": "inside", "type": "bridge", "bridge": "cni0",
		  "isGateway": true, "ipMasq": $2,
		  "ipam": { "type": "host-local", "dataDir": "/run/cni",
			"routes": [{ "dst": "0.0.0.0/0" }, { "dst": "::/0" }],
			"ranges": [[{ "subnet": "172.17.0.0/24" }], [{ "subnet": "fd17::/64" }]]}}
	CONF
	ip netns add "$1"
	cni ADD "$1" "/run/$1.json"
}

ovs_start()
{
	_socket=/var/run/openvswitch/db.sock
	mkdir -p "${_socket%/*}"
	ovsdb-tool create /run/ovs.db /usr/share/openvswitch/vswitch.ovsschema
	traffic_start ovsdb on h0 ovsdb-server "--remote=punix:$_socket" /run/ovs.db
	wait_for 10 test -S "$_socket"
	ovs-vsctl --timeout=60 --no-wait init
	traffic_start vswitchd on h0 /usr/lib/openvswitch-switch/ovs-vswitchd "unix:$_socket"
}

fabric_start hcas=3
opensm_start
ipoib_load
hosts_make 2
module_insert /modules/eth_ipoib.ko
modprobe tun
dd if=/dev/urandom of=/run/sent bs=256k count=4 status=none
dev0=$(dev_of h0)
mtu=$(on h0 cat "/sys/class/net/$dev0/mtu")
ip -n h0 address flush dev "$dev0"
ip -n h0 link add link "$dev0" name eth5 type eipoib
ip -n h0 link set eth5 up
wait_for 10 has_carrier h0 eth5

# It receives the groups of its own filter only, which does not follow those of the virtual machine
step "macvtap, for a virtual machine without a bridge"
ip -n h0 link add link eth5 name macvtap0 type macvtap mode bridge
ip -n h0 link set macvtap0 allmulticast on up
vm_start "/dev/tap$(on h0 cat /sys/class/net/macvtap0/ifindex)"
ip -n vm link set eth0 address "$(on h0 cat /sys/class/net/macvtap0/address)"
host_up vm 51
both_ways vm 10.0.0.51 fd00::51
vm_stop
ip -n h0 link delete macvtap0

step "macvlan, for a container"
on_eth5 macvlan 52 mode bridge

step "ipvlan, for a container: it has the MAC address of eth5"
on_eth5 ipvlan 53 mode l2

step "A tap in a bridge, as libvirt makes it"
bridge_start
vm_start tap:vnet0
ip link set vnet0 netns h0
ip -n h0 link set vnet0 master br0 mtu "$mtu" up
host_up vm 54
both_ways vm 10.0.0.54 fd00::54
vm_stop
bridge_stop

step "A bridge with VLANs: the one of eth5 passes without a tag, the other stays behind the bridge"
bridge_start vlan_filtering 1 vlan_default_pvid 0
on h0 bridge vlan add dev eth5 vid 10 pvid untagged
for pair in "g1 10" "g2 20"; do
	host=${pair% *}
	plugged "$host"
	ip -n h0 link set "port.$host" master br0
	on h0 bridge vlan add dev "port.$host" vid "${pair#* }" pvid untagged
done
host_up g1 55
host_up g2 56
both_ways g1 10.0.0.55 fd00::55
refute pings g2 10.0.0.2
refute pings h1 10.0.0.56
for host in g1 g2; do
	ip netns delete $host
done
bridge_stop

step "Open vSwitch, with the kernel's datapath"
ovs_start
plugged o1
ovs-vsctl --timeout=60 add-br ovs0 -- add-port ovs0 eth5 -- add-port ovs0 port.o1
host_up o1 57
both_ways o1 10.0.0.57 fd00::57
on h0 ovs-dpctl show >/run/datapath
assert file_says '^system@ovs-system:' /run/datapath
assert file_says 'port [0-9]*: eth5$' /run/datapath
ovs-vsctl --timeout=60 del-br ovs0
for name in vswitchd ovsdb; do
	traffic_stop $name
done
ip netns delete o1

step "Packet sockets: arping and tcpdump"
ip -n h0 address add 10.0.0.58/24 dev eth5
ip -n h0 address add fd00::58/64 dev eth5
traffic_start dump on h0 tcpdump -Z root -n -e -p -i eth5 -c 2 arp
wait_for 10 grep -q 'listening on' /run/traffic.dump.log
on h0 arping -c 1 -w 5 -I eth5 10.0.0.2 >/run/arping || fail "arping: $(cat /run/arping)"
remote=$(sed -nE 's/.* from 10\.0\.0\.2 \[(.*)\].*/\1/p' /run/arping | tr A-F a-f)
assert_match "the MAC address of h1" "$remote" '^.2(:[0-9a-f]{2}){5}$'
wait_for 10 grep -q '2 packets captured' /run/traffic.dump.log
assert file_says "$remote > $(on h0 cat /sys/class/net/eth5/address), ethertype ARP" \
	/run/traffic.dump.log
both_ways h0 10.0.0.58 fd00::58

step "A container runtime's bridge with NAT, out by the address of eth5"
for name in iptables ip6tables; do
	ln -s xtables-nft-multi "/usr/sbin/$name"
done
routed nat true
wait_for 20 pings nat 10.0.0.2
wait_for 20 pings nat fd00::2
transfer nat h1 10.0.0.2
transfer nat h1 '[fd00::2]'
cni DEL nat /run/nat.json
ip netns delete nat

step "The same with a route instead of NAT: the host answers for what is behind it"
routed route false
on h0 sh -c 'echo 1 >/proc/sys/net/ipv4/conf/eth5/proxy_arp
	echo 1 >/proc/sys/net/ipv6/conf/eth5/proxy_ndp'
ip -n h1 route add 172.17.0.0/24 via 10.0.0.58
ip -n h1 route add fd17::/64 via fd00::58
inside=$(jq -r '.ips[].address' /run/cni.out | sed -n 's/^172\.17\.0\.\(.*\)\/24$/\1/p')
ip -n h0 neigh add proxy "fd17::$inside" dev eth5
both_ways route "172.17.0.$inside" "fd17::$inside"
cni DEL route /run/route.json
ip netns delete route
ip -n h0 link delete cni0
ip -n h0 address flush dev eth5

step "Container runtimes' plugins that put containers onto the link: bridge, macvlan, ipvlan"
bridge_start
cni_conf bridge 61 '"bridge": "br0"'
cni_passes bridge 61 veth
bridge_stop
cni_conf macvlan 71 '"master": "eth5", "mode": "bridge"'
cni_passes macvlan 71
cni_conf ipvlan 81 '"master": "eth5", "mode": "l2"'
cni_passes ipvlan 81

step "Bonding of Ethernet devices over two HCAs: when one loses its link, the other takes over"
other=$(netdev_of ibfab2)
ip link set "$other" netns h0
ip -n h0 link set "$other" up
ip -n h0 link add link "$other" name eth6 type eipoib
ip -n h0 link add bond0 type bond mode active-backup miimon 100
for name in eth5 eth6; do
	ip -n h0 link set $name down
	ip -n h0 link set $name master bond0
done
ip -n h0 link set bond0 mtu "$mtu" up
ip -n h0 address add 10.0.0.59/24 dev bond0
ip -n h0 address add fd00::59/64 dev bond0
wait_for 30 has_carrier h0 eth6
both_ways h0 10.0.0.59 fd00::59
active()
{
	[ "$(on h0 cat /sys/class/net/bond0/bonding/active_slave)" = "$1" ]
}
assert active eth5
ip -n h0 link set "$dev0" down
wait_for 10 active eth6
wait_for 10 pings h1 10.0.0.59
wait_for 10 pings h1 fd00::59
both_ways h0 10.0.0.59 fd00::59
