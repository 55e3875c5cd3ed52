# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# IPv4 and IPv6 multicasts reach all members, and only them, whether the sender is a member or not.
# timeout: 120
# profiles: connectx5 connectx3 small virtual

. /cases/lib.sh

received()
{
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# reaches SOCAT-ADDRESS FILE: a datagram sent there arrives at the listener.
reaches()
{
	echo probe | on h0 socat -u - "$1"
	sleep 0.2
	grep -q probe "$2"
}

# listen HOST FILE SOCAT-ADDRESS: writes received datagrams to FILE.
listen()
{
	traffic_start "socat.$1" on "$1" socat -u "$3" "OPEN:$2,append"
	wait_for 10 test -s "/run/traffic.socat.$1.pid"
}

# multicast FAMILY GROUP: h0 sends, h1 listens, h2 does not.
multicast()
{
	family=$1
	group=$2
	: >"/run/$family.got"
	case $family in
	4)
		listen h1 /run/4.got \
			"UDP4-RECV:5000,ip-add-membership=$group:$(dev_of h1)"
		to="UDP4-DATAGRAM:$group:5000,ip-multicast-if=10.0.0.1"
		;;
	6)
		listen h1 /run/6.got \
			"UDP6-RECV:5000,ipv6-join-group=[$group]:$(dev_of h1)"
		to="UDP6-DATAGRAM:[$group]:5000,so-bindtodevice=$(dev_of h0)"
		;;
	esac
	wait_for 10 is_member h1 "$group"
	# The SA answers a join before the switches forward packets to the new member.
	wait_for 20 reaches "$to" "/run/$family.got"
	sleep 0.5
	: >"/run/$family.got"
	witness_start h1 dst "$group"
	witness_start h2 dst "$group"
	: >/run/sent
	for n in $(seq 1 20); do
		echo "datagram $n" | tee -a /run/sent | on h0 socat -u - "$to"
	done
	wait_for 10 received "/run/$family.got" 20
	assert_eq "what h1 got" "$(cat "/run/$family.got")" "$(cat /run/sent)"
	assert_eq "packets that h1 took" "$(witness_stop h1)" 20
	assert_eq "packets that h2 took, no member" "$(witness_stop h2)" 0
	traffic_stop socat.h1
}

is_member()
{
	ip -n "$1" maddress show dev "$(dev_of "$1")" | grep -qF "$2"
}

fabric_start hcas=3
opensm_start
ipoib_load
hosts_make 3

step "IPv4, from a sender who is no member"
multicast 4 239.1.2.3

step "IPv6, from a sender who is no member"
multicast 6 ff15::1:2:3

step "From a sender who is a member too, which must not hear itself"
: >/run/own.got
listen h0 /run/own.got "UDP4-RECV:5001,ip-add-membership=239.1.2.3:$(dev_of h0)"
wait_for 10 is_member h0 239.1.2.3
witness_start h0 dst 239.1.2.3
multicast 4 239.1.2.3
assert_eq "packets that h0 took, of its own" "$(witness_stop h0)" 0

step "All hosts answer a ping to the all-nodes group"
# answers HOST: ping also counts h0's own answers, and may end before others arrive
answers()
{
	_link_local=$(ip -n "$1" -6 -o address show scope link |
		awk '{ sub("/.*", "", $4); print $4 }')
	[ -n "$_link_local" ] || return 2
	on h0 ping -c 5 -i 0.3 -W 2 "ff02::1%$(dev_of h0)" >/run/ping || return 2
	[ "$(grep -cF "from $_link_local" /run/ping)" -ge 4 ]
}
wait_for 10 answers h1
wait_for 10 answers h2

step "Broadcast, the subnet's and limited, reaches both"
for k in 1 2; do
	sysctl_file=/proc/sys/net/ipv4/icmp_echo_ignore_broadcasts
	on h$k sh -c "echo 0 >$sysctl_file"
done
for broadcast in 10.0.0.255 255.255.255.255; do
	for k in 1 2; do
		witness_start h$k icmp and dst $broadcast
	done
	out=$(on h0 ping -b -c 3 -i 0.3 -W 2 -I "$(dev_of h0)" $broadcast)
	assert_match "the answers" "$out" 'from 10.0.0.2'
	assert_match "the answers" "$out" 'from 10.0.0.3'
	for k in 1 2; do
		assert_eq "questions that came to h$k" "$(witness_stop h$k)" 3
	done
done
