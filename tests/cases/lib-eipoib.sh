# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Hosts with an Ethernet netdevice over their IPoIB one, and hosts behind their bridges.

# eth_make HOST: puts an Ethernet netdevice over the host's IPoIB one.
eth_make()
{
	ip -n "$1" address flush dev "$(dev_of "$1")"
	ip -n "$1" link add link "$(dev_of "$1")" name eth5 type eipoib
	ip -n "$1" link set eth5 up
}

# guest_make GUEST HOST NUMBER: makes a host behind the other one's bridge.
guest_make()
{
	ip netns add "$1"
	ip -n "$2" link add "port.$1" mtu 2044 type veth peer name eth0 mtu 2044 netns "$1"
	ip -n "$2" link set "port.$1" master br0 up
	ip -n "$1" link set lo up
	ip -n "$1" link set eth0 up
	ip -n "$1" address add "10.0.0.$3/24" dev eth0
	ip -n "$1" address add "fd00::$3/64" dev eth0
}

bridge_make()
{
	ip -n "$1" link add br0 mtu 2044 type bridge
	ip -n "$1" link set eth5 master br0
	ip -n "$1" link set br0 up
}

# eth_stat HOST NAME: prints a counter of its Ethernet netdevice.
eth_stat()
{
	on "$1" ethtool -S eth5 | awk -v name="$2:" '$1 == name { print $2; found = 1 }
		END { exit !found }'
}

# lladdr_of HOST DEV ADDRESS: prints the link-layer address of a neighbour.
lladdr_of()
{
	ip -n "$1" neigh show "$3" dev "$2" | awk '{ for (i = 1; i < NF; i++)
		if ($i == "lladdr") { print $(i + 1); found = 1 } } END { exit !found }'
}

# dad_ends GUEST: waits until DAD is over. Before, a ping goes out from the guest's link-local
# address, and does not tell where its other address is.
dad_ends()
{
	wait_for 10 not says tentative ip -n "$1" -6 address show dev eth0
}

pings()
{
	on "$1" ping -n -q -c 1 -W 1 "$2"
}

# reach HOST ADDRESS...: each answers, and no packet is lost, not even the first one.
reach()
{
	_from=$1
	shift
	for _address; do
		pings_all "$_from" 3 "$_address"
	done
}

# eth_stat_reaches HOST NAME VALUE: a counter of its Ethernet netdevice is at least this.
eth_stat_reaches()
{
	_value=$(eth_stat "$1" "$2") || return 2
	[ "$_value" -ge "$3" ]
}

# must_say SENTENCE CMD...: CMD fails with this message of the kernel.
must_say()
{
	_sentence=$1
	shift
	_said=$("$@" 2>&1) && fail "succeeded, but must fail: $*"
	assert_match "what the kernel says" "$_said" "$_sentence"
}

# no_eth5: h0 has no such netdevice.
no_eth5()
{
	ip -n h0 -o link show >/run/links
	refute grep -q 'eth5[@:]' /run/links
}

# rarp_send GUEST COUNT: what a hypervisor sends for the guest when it has moved.
rarp_send()
{
	_mac=$(on "$1" cat /sys/class/net/eth0/address | tr -d :)
	printf 'ffffffffffff%s80350001080006040003%s00000000%s00000000%036d' \
		"$_mac" "$_mac" "$_mac" 0 | xxd -r -p >/run/rarp
	for _i in $(seq "$2"); do
		on "$1" socat -u OPEN:/run/rarp INTERFACE:eth0
	done
}

# arp_claim GUEST ADDRESS MAC: it says to all that this MAC address has the IP address.
arp_claim()
{
	_ip=$(echo "$2" | awk -F . '{ printf "%02x%02x%02x%02x", $1, $2, $3, $4 }')
	_claim=$(echo "$3" | tr -d :)
	printf 'ffffffffffff%s08060001080006040001%s%s000000000000%s%036d' \
		"$_claim" "$_claim" "$_ip" "$_ip" 0 | xxd -r -p >/run/claim
	on "$1" socat -u OPEN:/run/claim INTERFACE:eth0
}
