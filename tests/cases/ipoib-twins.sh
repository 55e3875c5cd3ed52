# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Containers that each have an interface in one partition, as a plug-in makes them: they reach
# each other, their host and another host in both families, by multicast and broadcast; they
# are moved and deleted under traffic.
# timeout: 500
# profiles: small connectx3 connectx5 virtual

. /cases/lib.sh

pods="p1 p2 p3 p4"
everybody="$pods h0 h1"
others=$(($(echo "$everybody" | wc -w) - 1))

number_of()
{
	case $1 in
	h0) echo 1 ;;
	h1) echo 2 ;;
	p*) echo "1${1#p}" ;;
	esac
}

# addressed HOST DEVICE: adds its addresses and sets it up.
addressed()
{
	_n=$(number_of "$1")
	ip -n "$1" address add "10.0.0.$_n/24" brd + dev "$2"
	ip -n "$1" address add "fd00::$_n/64" dev "$2" nodad
	ip -n "$1" link set "$2" up
	wait_for 20 has_carrier "$1" "$2"
}

# pod_make POD: makes a container and, like the plug-in, an interface in the default partition
# with a temporary name, which is renamed there.
pod_make()
{
	ip netns add "$1"
	ip -n "$1" link set lo up
	pod_interface "$1"
}

pod_interface()
{
	ip -n h0 link add link ib name passing netns "$1" type ipoib \
		pkey 0x7fff mode datagram umcast 1
	# The link-local address derived from the GUID would be the same for all interfaces of
	# the port
	ip -n "$1" link set passing name ib addrgenmode random
	addressed "$1" ib
}

# pings HOST COUNT PERIOD OCTETS ADDRESS...: COUNT pings to each address, PERIOD milliseconds
# apart; all are answered. It uses fping, as ping waits for its last answer only twice as long
# as for the others.
pings()
{
	_from=$1 _count=$2 _period=$3 _octets=$4
	shift 4
	_said=$(on "$_from" fping -q -c "$_count" -p "$_period" -i 1 -t 5000 -b "$_octets" \
		"$@" 2>&1) || :
	[ "$(echo "$_said" | grep -c "xmt/rcv/%loss = $_count/$_count/0%")" -eq $# ] || {
		echo "$_from: $_said"
		return 1
	}
}

# addresses_of HOST...
addresses_of()
{
	for _of; do
		echo "10.0.0.$(number_of "$_of") fd00::$(number_of "$_of")"
	done
}

# others_than HOST
others_than()
{
	for _other in $everybody; do
		[ "$_other" = "$1" ] || echo "$_other"
	done
}

# everybody_pings OCTETS: each host pings all others, in both families.
everybody_pings()
{
	for _pinger in $everybody; do
		# shellcheck disable=SC2046  # words
		pings "$_pinger" 3 100 "$1" $(addresses_of $(others_than "$_pinger")) ||
			fail "$1 octets"
	done
}

# hears HOST COUNT TAG: the host has received this tag COUNT times.
hears()
{
	[ "$(grep -cx "$3" "/run/heard.$1")" -eq "$2" ]
}

# own HOST TARGET: prints TARGET with the host's address in place of OWN.
own()
{
	echo "$2" | sed "s/OWN/10.0.0.$(number_of "$1")/"
}

# listeners_start SOURCE
listeners_start()
{
	for _host in $everybody; do
		: >"/run/heard.$_host"
		traffic_start "listen.$_host" on "$_host" socat -u "$(own "$_host" "$1")" \
			"OPEN:/run/heard.$_host,append"
		wait_for 10 listening "$_host" 5000 u
	done
}

listeners_stop()
{
	for _host in $everybody; do
		traffic_stop "listen.$_host"
	done
}

# tells HOST TAG TARGET
tells()
{
	echo "$2" | on "$1" socat -u STDIN "$3"
}

# warm HOST TARGET: all others receive the host's packets by now.
warm()
{
	tells "$1" warm "$2"
	sleep 0.1
	for _listener in $everybody; do
		[ "$_listener" = "$1" ] ||
			[ "$(grep -c warm "/run/heard.$_listener")" -gt 0 ] || return
	done
}

# says_five HOST TAG TARGET: sends five datagrams.
says_five()
{
	for _ in 1 2 3 4 5; do
		echo "$2"
		sleep 0.05
	done | on "$1" socat -u STDIN "$3"
}

# everybody_says TARGET: each host sends five datagrams, and each of the others receives
# exactly five.
everybody_says()
{
	for _speaker in $everybody; do
		_own=$(own "$_speaker" "$1")
		for _listener in $everybody; do
			: >"/run/heard.$_listener"
		done
		wait_for 20 warm "$_speaker" "$_own"
		says_five "$_speaker" "of $_speaker" "$_own"
		for _listener in $everybody; do
			[ "$_listener" != "$_speaker" ] || continue
			wait_for 5 hears "$_listener" 5 "of $_speaker"
		done
	done
	sleep 0.5
	for _listener in $everybody; do
		[ "$_listener" = "$_speaker" ] || hears "$_listener" 5 "of $_speaker" ||
			fail "$_listener heard $(grep -c "of $_speaker" "/run/heard.$_listener")"
	done
}

# pings_begin HOST COUNT PEER...: starts pings in the background, fifty per second to each peer.
pings_begin()
{
	_host=$1 _often=$2
	shift 2
	# shellcheck disable=SC2046  # words
	pings "$_host" "$_often" 20 56 $(addresses_of "$@") >"/run/pings.$_host" &
	echo $! >>/run/pings.pids
}

# pings_end: all these pings were answered.
pings_end()
{
	while read -r _pid; do
		wait "$_pid" || {
			cat /run/pings.*
			lost_where
			fail "pings were lost"
		}
	done </run/pings.pids
	rm /run/pings.*
}

# lost_where: prints the counters that show what was dropped and why.
lost_where()
{
	for _host in $everybody; do
		{
			on "$_host" ethtool -S ib | grep -vE ' 0$|packets|bytes|polls'
			ip -n "$_host" -s link show dev ib | tail -n 4
			tc -n "$_host" -s qdisc show dev ib
			on "$_host" cat /proc/net/raw
			on "$_host" grep '^Icmp:' /proc/net/snmp
		} | sed "s/^/$_host: /"
	done
	for _hca in ibfab0 ibfab1; do
		grep -v ' 0$' "$ibfab/$_hca/counters" | sed "s/^/$_hca: /"
	done
}

sockets_hold 4
fabric_start hcas=2
opensm_start
ipoib_load
hosts_make 2
for host in h0 h1; do
	ip -n "$host" link set "$(dev_of "$host")" down
	ip -n "$host" link set "$(dev_of "$host")" name ib
	ip -n "$host" link set ib up
	wait_for 20 has_carrier "$host" ib
	ip -n "$host" address replace "fd00::$(number_of "$host")/64" dev ib nodad
done

step "Containers get interfaces of their host's own partition"
for pod in $pods; do
	pod_make "$pod"
	assert_match "$pod" "$(ip -n "$pod" -d link show dev ib)" \
		'ipoib pkey +0xffff mode +datagram umcast +0001'
done
for host in $everybody; do
	on "$host" cat /sys/class/net/ib/address
done >/run/addresses
# shellcheck disable=SC2086  # words
assert_eq "addresses" "$(wc -l </run/addresses)" "$(echo $everybody | wc -w)"
sort /run/addresses | uniq -d >/run/twice
assert_none "addresses that two have" cat /run/twice
ip -n h0 link add link ib name same type ipoib
assert_match "without a P_Key" "$(ip -n h0 -d link show dev same)" 'pkey +0xffff'
ip -n h0 link delete same

step "Each reaches each, both families, small and large"
everybody_pings 56
everybody_pings 5000

# all_answer HOST: all other hosts answer its pings to the IPv6 all-nodes group. ping ends
# with the first answer to its last request, so the answers to the five before are counted.
all_answer()
{
	on "$1" ping -c 6 -i 0.2 -W 5 -L ff02::1%ib | tee /run/ping
	[ "$(grep -c 'icmp_seq=[1-5] ' /run/ping)" -eq $((5 * others)) ]
}

step "All IPv6 nodes answer each other: no driver takes the group for that of a program"
for host in $everybody; do
	# Waits until those that answer have resolved its link-local address
	wait_for 20 all_answer "$host"
done

step "Multicast and broadcast: each packet is received once by each"
for host in $everybody; do
	on "$host" ip route add 239.0.0.0/8 dev ib
done
listeners_start UDP4-RECV:5000,ip-add-membership=239.1.2.3:OWN
everybody_says UDP4-SENDTO:239.1.2.3:5000,ip-multicast-if=OWN,ip-multicast-loop=0
listeners_stop
listeners_start UDP4-RECV:5000
everybody_says UDP4-SENDTO:10.0.0.255:5000,broadcast
listeners_stop

step "All at once"
for pod in $pods; do
	# shellcheck disable=SC2046  # words
	pings_begin "$pod" 100 $(others_than "$pod")
done
pings_end

step "Others are made, moved and deleted: those that stay lose no packets"
pings_begin p1 400 p2 h0
pings_begin p2 400 h1
ip -n p3 link delete ib
refute ip -n p3 link show ib
ip netns delete p4
came_back()
{
	ip -d link show | grep -q 'ipoib pkey'
}
wait_for 10 came_back
back=$(ip -o -d link show | awk -F '[:@ ]+' '/ipoib pkey/ { print $2; exit }')
ip link delete "$back"
pod_interface p3
pod_make p4
ip -n p4 link set ib netns p3 name moved
ip -n p3 link set moved netns p4 name ib
addressed p4 ib
pings_end
for host in $everybody; do
	ip -n "$host" neigh flush dev ib
done
everybody_pings 56

# OpenSM keeps a group for ever whose last member, a port, leaves as a FullMember while it remains
# a SendOnlyFullMember.
step "A container's address is removed that another one has spoken to: its group ends"
echo 2 >/sys/module/ib_ipoib/parameters/sendonly_idle
group=ff12:601b:ffff::1:ff00:99
ip -n p4 address add fd00::99/64 dev ib nodad
wait_for 10 sa_has_group "$group"
pings p1 1 100 56 fd00::99
ip -n p4 address delete fd00::99/64 dev ib
wait_for 20 not sa_has_group "$group"
echo 300 >/sys/module/ib_ipoib/parameters/sendonly_idle

step "The parent goes down and up, and all others with it"
ip -n h0 link set ib down
for pod in $pods; do
	assert_match "$pod" "$(on "$pod" cat /sys/class/net/ib/flags)" '0x100[02]$'
done
ip -n h0 link set ib up
ip -n h0 address replace fd00::1/64 dev ib nodad
for pod in $pods; do
	wait_for 20 has_carrier "$pod" ib
	ip -n "$pod" address replace "fd00::$(number_of "$pod")/64" dev ib nodad
done
wait_for 20 has_carrier h0 ib
everybody_pings 56

step "The HCA is unplugged, and all its interfaces are removed"
unplug ibfab0
for host in $pods h0; do
	refute ip -n "$host" link show ib
done
rmmod ib_ipoib
