# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Ethernet over the in-tree driver's IPoIB: hosts behind a bridge reach plain hosts and hosts behind
# another bridge, by IPv4, IPv6, multicast and TCP, in datagram mode and in connected mode with its
# MTU of 65520. The in-tree driver does not tell who has sent a packet, so this is learned from ARP
# and ND.
# timeout: 300
# kernel: stock 6.12 newest

. /cases/lib.sh
# shellcheck source=lib-eipoib.sh
. /cases/lib-eipoib.sh

# mtu_set MTU: all netdevices of all hosts, and of the guests behind them, get it.
mtu_set()
{
	for _host in h0 h1 h2; do
		ip -n "$_host" link set "$(dev_of "$_host")" mtu "$1"
	done
	for _host in h0 h2; do
		ip -n "$_host" link set eth5 mtu "$1"
	done
	for _pair in "h0 g1" "h0 g2" "h2 g3"; do
		ip -n "${_pair% *}" link set "port.${_pair#* }" mtu "$1"
		ip -n "${_pair#* }" link set eth0 mtu "$1"
	done
	for _host in h0 h2; do
		ip -n "$_host" link set br0 mtu "$1"
	done
}

# all_reach [OPTION...]: everybody reaches everybody else, by both protocols.
all_reach()
{
	for _host in h1 g1 g3; do
		for _to in 2 61 62 63; do
			case $_host.$_to in
			h1.2 | g1.61 | g3.63) continue ;;
			esac
			wait_for 20 pings "$_host" "fd00::$_to"
			pings_all "$_host" 3 "$@" "10.0.0.$_to"
			pings_all "$_host" 3 "$@" "fd00::$_to"
		done
	done
}

# group_answers HOST DEV COUNT: so many hosts, itself included, answer pings to all nodes.
group_answers()
{
	on "$1" ping -n -c 3 -W 1 "ff02::1%$2" >/run/echoes || return 1
	[ "$(sed -n 's/.*bytes from \(fe80:[^%]*\)%.*/\1/p' /run/echoes | sort -u | wc -l)" -eq "$3" ]
}

# group_hears HOST GROUP SENDER OPTION: the host gets packets that the other one sends to the group.
group_hears()
{
	traffic_start listen on "$1" socat -u "UDP4-RECV:5000,ip-add-membership=$2:$(group_dev "$1")" \
		OPEN:/run/heard,creat,trunc
	wait_for 10 says "inet.* $2" ip -n "$1" maddr show dev "$(group_dev "$1")"
	wait_for 20 group_heard "$3" "$2" "$4"
	traffic_stop listen
}

group_dev()
{
	case $1 in
	g*) echo eth0 ;;
	*) dev_of "$1" ;;
	esac
}

group_heard()
{
	echo "to the group" | on "$1" socat -u STDIN "UDP4-SENDTO:$2:5000,ip-multicast-if=$3"
	sleep 0.1
	[ -s /run/heard ]
}

# mode_set HOST MODE
mode_set()
{
	on "$1" sh -ec "echo $2 >/sys/class/net/$(dev_of "$1")/mode"
}

fabric_start hcas=3
opensm_start
intree_load
hosts_make 3
module_insert /modules/eth_ipoib.ko
for host in h0 h2; do
	eth_make $host
	bridge_make $host
done
guest_make g1 h0 61
guest_make g2 h0 62
guest_make g3 h2 63

step "Datagram mode: IPv4 and IPv6"
all_reach
assert_eq "MAC addresses of h1 at both" "$(lladdr_of g1 eth0 10.0.0.2)" \
	"$(lladdr_of g3 eth0 10.0.0.2)"
assert_eq "the same by IPv6" "$(lladdr_of g1 eth0 fd00::2)" "$(lladdr_of g1 eth0 10.0.0.2)"

step "Groups"
wait_for 20 group_answers h1 "$(dev_of h1)" 6
wait_for 20 group_answers g1 eth0 6
group_hears g1 239.1.1.1 h1 10.0.0.2
group_hears h1 239.1.1.2 g1 10.0.0.61
group_hears g3 239.1.1.3 g1 10.0.0.61

step "Files, by TCP"
dd if=/dev/urandom of=/run/sent bs=1M count=4 status=none
transfer g1 h1 10.0.0.2
transfer h1 g1 10.0.0.61
transfer g1 g3 "[fd00::63]"

step "A MAC address that is not known any more loses no packet"
ip -n h0 link delete eth5
eth_make h0
ip -n h0 link set eth5 master br0
wait_for 10 has_carrier h0 eth5
# This also tells it where these hosts are, so that it joins the groups by which they are asked for
reach g1 10.0.0.2 fd00::2
reach g2 10.0.0.2 fd00::2
reach h1 10.0.0.62 fd00::62

step "Connected mode, with an MTU of 65520"
for host in h0 h1 h2; do
	mode_set $host connected
done
mtu_set 65520
assert_eq "MTU of the Ethernet netdevice" "$(on h0 cat /sys/class/net/eth5/mtu)" 65520
# The flags of the link-layer addresses have changed, which are in the neighbours' entries
for host in h1 g1 g2 g3; do
	ip -n $host neigh flush all
done
all_reach -s 60000
assert says 'type RC' rdma resource show qp
transfer g1 h1 10.0.0.2
transfer h1 g1 10.0.0.61
transfer h1 g3 "[fd00::63]"

step "Nothing has been dropped that should not be"
for host in h0 h2; do
	for stat in tx_no_memory tx_lower tx_bad_arp tx_bad_nd rx_short rx_no_memory rx_bad_arp \
		rx_bad_nd rx_protocol; do
		assert_eq "$stat of $host" "$(eth_stat $host $stat)" 0
	done
done
rmmod eth_ipoib
intree_unload h0 h1 h2
