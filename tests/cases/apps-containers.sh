# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Container networking: bridges, macvlan, VLANs and other uses that need Ethernet are refused
# with a reason and have no effect; a bridge behind NAT works.
# timeout: 240
# soak: 240
# when: soak

. /cases/lib.sh

size=$((8 << 20))

pings()
{
	on "$1" ping -q -c 1 -W 1 "$2" >/run/pings
}

# answers: h0 reaches h1 in both families.
answers()
{
	wait_for 20 pings h0 10.0.0.2
	wait_for 20 pings h0 fd00::2
}

# refused SENTENCE CMD...: CMD fails with this message of the kernel, and the interface does
# not change.
refused()
{
	_sentence=$1
	shift
	_before=$(ip -n h0 -d link show dev ib0)
	_said=$("$@" 2>&1) && fail "succeeded, but must fail: $*"
	note "$*: $_said"
	assert_match "what the kernel says" "$_said" "$_sentence"
	assert_eq "the interface" "$(ip -n h0 -d link show dev ib0)" "$_before"
	assert pings h0 10.0.0.2
}

# transfer FROM TO ADDRESS: sends a file by TCP and compares the contents.
transfer()
{
	on "$2" socat -u TCP6-LISTEN:6000,reuseaddr,ipv6only=0 OPEN:/run/got,creat,trunc &
	_sink=$!
	wait_for 10 listening "$2" 6000
	on "$1" socat -u OPEN:/run/sent "TCP:$3:6000" || fail "the transfer broke"
	wait "$_sink" || fail "the receiver: status $?"
	assert same_file /run/sent /run/got
}

# needs_ethernet SENTENCE TYPE...: creating such a device works on Ethernet, and is refused on
# IPoIB.
needs_ethernet()
{
	_reason=$1
	shift
	ip -n h0 link add link e0 name x type "$@"
	ip -n h0 link delete x
	refused "$_reason" ip -n h0 link add link ib0 name x type "$@"
}

ethernet_only()
{
	step "What needs Ethernet is refused, with a reason"
	ip -n h0 link add e0 type dummy
	ip -n h0 link add br0 type bridge
	ip -n h0 link set e0 master br0
	ip -n h0 link set e0 nomaster
	refused 'Invalid argument' ip -n h0 link set ib0 master br0
	ip -n h0 link delete br0
	for _kind in macvlan macvtap; do
		needs_ethernet 'Invalid argument' $_kind
	done
	needs_ethernet 'VLANs not supported' vlan id 5
	for _mode in l2 l3 l3s; do
		needs_ethernet 'Invalid argument' ipvlan mode $_mode
	done
	refute ip -n h0 link show dev x
	ip -n h0 link delete e0
	answers
}

# container_make HOST N: makes a container with the interface c, behind a bridge of the host.
container_make()
{
	ip netns add c
	ip -n "$1" link add br0 type bridge
	ip -n "$1" link add v0 type veth peer name eth0 netns c
	ip -n "$1" link set v0 master br0 up
	ip -n "$1" link set br0 up
	ip -n "$1" address add 172.17.0.1/24 dev br0
	ip -n "$1" address add fd17::1/64 dev br0 nodad
	ip -n c link set lo up
	ip -n c link set eth0 up
	ip -n c address add 172.17.0.2/24 dev eth0
	ip -n c address add fd17::2/64 dev eth0 nodad
	ip -n c route add default via 172.17.0.1
	ip -n c -6 route add default via fd17::1
	on "$1" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
	on "$1" nft -f - <<-RULES
		table inet nat {
			chain out {
				type nat hook postrouting priority 100
				oifname ib0 masquerade
			}
			chain in {
				type nat hook prerouting priority -100
				iifname ib0 tcp dport 6000 dnat ip to 172.17.0.2
				iifname ib0 tcp dport 6000 dnat ip6 to fd17::2
			}
		}
	RULES
}

behind_nat()
{
	step "A container behind a bridge and NAT, as Docker has it: out, and in by a port"
	container_make h0
	wait_for 20 pings c 10.0.0.2
	wait_for 20 pings c fd00::2
	for _pair in "c h1 10.0.0.2" "c h1 [fd00::2]" "h1 c 10.0.0.1" "h1 c [fd00::1]"; do
		# shellcheck disable=SC2086  # a word for each
		transfer $_pair
	done
	ip netns delete c
	ip -n h0 link delete br0
	on h0 nft delete table inet nat
}

fabric_start hcas=2
opensm_start
ipoib_load
hosts_make 2
head -c $size /dev/urandom >/run/sent
ethernet_only
behind_nat
