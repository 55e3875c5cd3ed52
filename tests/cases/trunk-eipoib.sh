# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-trunk.sh
# Ethernet over IPoIB of this driver in guest a, and of the in-tree driver in guest b. Behind each is
# a bridge with a host, g1, and beside each a plain IPoIB host, h0. All reach each other: IPv4, IPv6,
# groups, TCP. A host that moves from one bridge to the other goes on within a second.
# guests: 2
# timeout: 500

. /cases/lib-trunk.sh
# shellcheck source=lib-eipoib.sh
. /cases/lib-eipoib.sh

# The last parts of IP addresses: guest_make writes them as they are, host_make in hexadecimal
plain=$((part * 10 + 1)) behind=$((part * 10 + 3))
plain_there=$((other_part * 10 + 1)) behind_there=$((other_part * 10 + 3))
plain6=$(printf %x $plain) plain6_there=$(printf %x $plain_there)

# others HOST: prints the addresses that this guest's host must reach.
others()
{
	echo "10.0.0.$plain_there 10.0.0.$behind_there fd00::$plain6_there fd00::$behind_there"
	case $1 in
	h0) echo "10.0.0.$behind fd00::$behind" ;;
	g1) echo "10.0.0.$plain fd00::$plain6" ;;
	esac
}

# group_answers HOST DEV: six hosts, itself included, answer pings to all nodes.
group_answers()
{
	on "$1" ping -n -c 3 -W 1 "ff02::1%$2" >/run/echoes || return 1
	[ "$(sed -n 's/.*bytes from \(fe80:[^%]*\)%.*/\1/p' /run/echoes | sort -u | wc -l)" -eq 6 ]
}

# group_crosses GROUP: packets of this guest's h0 to the group reach the other guest's g1.
group_crosses()
{
	traffic_start listen on g1 socat -u "UDP4-RECV:5000,ip-add-membership=$1:eth0" \
		"OPEN:/run/heard.$1,creat,append"
	wait_for 10 says "inet.* $1" ip -n g1 maddr show dev eth0
	pair_barrier listening
	pair_talk "$1" "from part $part" 0.2 |
		on h0 socat -u STDIN "UDP4-DATAGRAM:$1:5000,ip-multicast-if=10.0.0.$plain" &
	_talker=$!
	wait_for 30 grep -qx "from part $other_part" "/run/heard.$1"
	pair_put "heard.$1" yes
	wait_for 20 pair_heard_twenty "from part $other_part" "/run/heard.$1"
	wait "$_talker"
	traffic_stop listen
	pair_barrier heard
}

# file_goes ROLE FROM TO ADDRESS: a file goes from that guest's host to the other guest's.
file_goes()
{
	files=$((files + 1))
	if pair_here "$1"; then
		dd if=/dev/urandom of=/run/file bs=1M count=2 status=none
		pair_put "sum.$files" "$(sha256sum </run/file)"
		pair_barrier ready
		on "$2" socat -u OPEN:/run/file "TCP:$4:5010"
	else
		on "$3" socat -u TCP6-LISTEN:5010,ipv6only=0,reuseaddr OPEN:/run/file,creat,trunc &
		_receiver=$!
		wait_for 10 listening "$3" 5010
		pair_barrier ready
		wait "$_receiver"
		assert_eq "the file" "$(sha256sum </run/file)" "$(pair_get "sum.$files")"
	fi
	pair_barrier file
}
files=0

# mover_make MAC: makes the host that moves, behind this guest's bridge. It has had its addresses
# before, so it does not look for duplicates.
mover_make()
{
	ip netns add g2
	on g2 sysctl -q -w net.ipv6.conf.default.accept_dad=0
	ip -n h1 link add port.g2 mtu 2044 type veth peer name eth0 mtu 2044 address "$1" netns g2
	ip -n h1 link set port.g2 master br0 up
	ip -n g2 link set lo up
	ip -n g2 link set eth0 up
	ip -n g2 address add 10.0.0.50/24 dev eth0
	ip -n g2 address add fd00::50/64 dev eth0 nodad
}

# mover_watched: pings the host that moves, thirty times in three seconds, from all hosts of this
# guest by both protocols, and expects that it answers for two thirds of that.
mover_watched()
{
	for _host in h0 g1; do
		for _ip in 10.0.0.50 fd00::50; do
			traffic_start "mover.$_host.$_ip" on "$_host" ping -n -q -i 0.1 -c 30 -W 1 "$_ip"
		done
	done
	for _host in h0 g1; do
		for _ip in 10.0.0.50 fd00::50; do
			_file=/run/traffic.mover.$_host.$_ip.log
			wait_for 20 grep -q received "$_file"
			note "$_host: $(grep received "$_file")"
			assert_between "answers to $_host" \
				"$(sed -n 's/.* \([0-9]*\) received.*/\1/p' "$_file")" 20 30
		done
	done
}

trunk_start hcas=2
subnet_up a
if pair_here a; then
	ipoib_load
else
	intree_load
fi
host_make h0 ibfab0 $plain
host_make h1 ibfab1 $((part * 10 + 2))
for host in h0 h1; do
	wait_for 30 has_carrier $host "$(dev_of $host)"
done
module_insert /modules/eth_ipoib.ko
eth_make h1
bridge_make h1
guest_make g1 h1 $behind
dev=$(dev_of h0)
pair_barrier hosts

step "IPv4 and IPv6"
for host in h0 g1; do
	for address in $(others $host); do
		wait_for 30 pings $host "$address"
	done
done
pair_barrier known
for host in h0 g1; do
	# shellcheck disable=SC2046  # a word for each
	reach $host $(others $host)
	for address in $(others $host); do
		pings_all $host 3 -s 6000 "$address"
	done
done
pair_put mac "$(lladdr_of g1 eth0 "10.0.0.$plain")"
assert_eq "MAC address of the other guest's h0, there and here" "$(pair_get mac)" \
	"$(lladdr_of g1 eth0 "10.0.0.$plain_there")"
pair_barrier reached

step "Groups"
wait_for 20 group_answers h0 "$dev"
wait_for 20 group_answers g1 eth0
group_crosses 239.1.2.3

step "Files, by TCP"
file_goes a g1 h0 10.0.0.21
file_goes b h0 g1 10.0.0.13
file_goes a g1 g1 10.0.0.23
file_goes b g1 g1 "[fd00::13]"

step "A host moves from guest a to guest b, and goes on within a second"
mac=52:54:00:12:34:56
! pair_here a || mover_make $mac
pair_barrier made
for host in h0 g1; do
	for address in 10.0.0.50 fd00::50; do
		wait_for 20 pings $host $address
	done
done
pair_barrier watched
! pair_here a || ip -n h1 link set port.g2 down
pair_barrier gone
if pair_here b; then
	mover_make $mac
	wait_for 10 has_carrier g2 eth0
	rarp_send g2 1
	on g2 ping -n -q -i 0.1 -c 3 10.0.0.21 >/run/moved4 || fail "no answer by IPv4"
	on g2 ping -n -q -i 0.1 -c 3 fd00::15 >/run/moved6 || fail "no answer by IPv6"
fi
pair_barrier moved
mover_watched
pair_barrier watched-again

step "Nothing has been dropped that should not be"
for stat in tx_no_memory tx_lower tx_bad_arp tx_bad_nd rx_short rx_no_memory rx_bad_arp rx_bad_nd \
	rx_protocol; do
	assert_eq "$stat" "$(eth_stat h1 $stat)" 0
done
rmmod eth_ipoib
pair_barrier end
