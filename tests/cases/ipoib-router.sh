# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# A multicast router between two partitions receives from all groups as long as they exist,
# without keeping them alive; also after a change of the SM.
# timeout: 240
# profiles: connectx5 connectx3 small virtual

. /cases/lib.sh
# shellcheck source=lib-groups.sh
. /cases/lib-groups.sh

# h0 is in partition A, the router h1 and h2 in both
a=ffff b=8001

# mgid4 PARTITION N: prints the MGID of 239.7.7.N; mgid6: of ff05::7:N.
mgid4()
{
	printf 'ff12:401b:%s::f07:70%s' "$1" "$2"
}

mgid6()
{
	printf 'ff12:601b:%s::7:%s' "$1" "$2"
}

# join_state HCA MGID: prints the JoinState at the SA in hexadecimal, or nothing.
join_state()
{
	saquery -C ibfab0 --smkey 1 MCMR --mgid "$2" >/run/records || return 2
	awk -F '[.][.]+' -v gid="$(cut -d : -f 5-8 "$ib/$1/ports/1/gids/0" | sed 's/^0*//; s/:0*/:/g; s/::/:0:/g')" '
		/PortGid/ { ours = $2 ~ gid "$" }
		/JoinState/ && ours { print $2 }' /run/records
}

state_is()
{
	_state=$(join_state "$1" "$2") || return 2
	[ "$_state" = "$3" ]
}

# hears MGID...: the router is a NonMember of all of these groups.
hears()
{
	for _mgid; do
		state_is ibfab1 "$_mgid" 0x2 || return
	done
}

stat_of()
{
	on h1 ethtool -S "$1" | field_of "$2:"
}

stat_is()
{
	[ "$(stat_of "$1" "$2")" = "$3" ]
}

# listen HOST DEVICE N: listens to 239.7.7.N and ff05::7:N.
listen()
{
	: >"/run/heard4.$3"
	: >"/run/heard6.$3"
	traffic_start "four.$1.$3" on "$1" socat -u \
		"UDP4-RECV:500$3,reuseaddr,ip-add-membership=239.7.7.$3:$2" "OPEN:/run/heard4.$3,append"
	traffic_start "six.$1.$3" on "$1" socat -u \
		"UDP6-RECV:500$3,reuseaddr,ipv6-join-group=[ff05::7:$3]:$2" "OPEN:/run/heard6.$3,append"
}

unlisten()
{
	traffic_stop "four.$1.$2"
	traffic_stop "six.$1.$2"
}

# say HOST DEVICE N: sends to both.
say()
{
	echo "four" | on "$1" socat -u - \
		"UDP4-DATAGRAM:239.7.7.$3:500$3,so-bindtodevice=$2,ip-multicast-ttl=5" &&
		echo "six" | on "$1" socat -u - \
			"UDP6-DATAGRAM:[ff05::7:$3]:500$3,so-bindtodevice=$2,setsockopt-int=41:18:5"
}

# forwarded N: packets of h0 in partition A arrive at the listener in B.
forwarded()
{
	say h0 ib0 "$1"
	sleep 0.2
	grep -q four "/run/heard4.$1" && grep -q six "/run/heard6.$1"
}

forwards()
{
	: >"/run/heard4.$1"
	: >"/run/heard6.$1"
	wait_for 20 forwarded "$1"
}

router_start()
{
	traffic_start smcrouted on h1 smcrouted -n -N -l debug -f /run/smcroute.conf \
		-P /run/smcroute.pid -u /run/smcroute.sock
}

sm_restart()
{
	opensm_kill
	opensm_start -P /run/partitions.conf
}

fabric_start hcas=3
cat >/run/partitions.conf <<'CONF'
Default=0x7fff, ipoib : ALL=full;
other=0x1, ipoib : ALL=full;
CONF
cat >/run/smcroute.conf <<'CONF'
phyint ib1 enable ttl-threshold 1
phyint b1 enable ttl-threshold 1
mroute from ib1 group 239.7.7.0/24 to b1
mroute from ib1 source fd00::1 group ff05::7:1 to b1
CONF
opensm_start -P /run/partitions.conf
ipoib_load
hosts_make 3
for n in 1 2; do
	ip -n h$n link add link ib$n name b$n type ipoib pkey 0x8001
	ip -n h$n address add "10.0.1.$n/24" dev b$n
	ip -n h$n link set b$n up
done
for n in 1 2; do
	wait_for 20 has_carrier h$n b$n
done
assert subscribed_to ""

step "Existing groups and a new one are received from, as a NonMember"
listen h2 b2 1
wait_for 20 sa_has_group "$(mgid4 $b 1)"
wait_for 20 sa_has_group "$(mgid6 $b 1)"
router_start
wait_for 30 hears "$(mgid4 $b 1)" "$(mgid6 $b 1)"
listen h2 b2 2
wait_for 20 hears "$(mgid4 $b 2)" "$(mgid6 $b 2)"
refute [ "$(stat_of b1 reports_created)" -eq 0 ]
# Both interfaces share one subscription
assert subscribed_to "66 67 "
assert_eq "lists read by b1" "$(stat_of b1 group_lists)" 1
assert group_has b1 ff12:401b:8001:0:0:0:f07:701 'router: *yes'

step "Packets of h0 in one partition arrive in the other"
forwards 1
wait_for 20 state_is ibfab1 "$(mgid4 $a 1)" 0x2

step "Without listeners the group is deleted, and the router leaves it"
unlisten h2 2
wait_for 20 not sa_has_group "$(mgid4 $b 2)"
wait_for 20 group_gone b1 ff12:401b:8001:0:0:0:f07:702
wait_for 20 group_gone b1 ff12:601b:8001:0:0:0:7:2
refute [ "$(stat_of b1 reports_deleted)" -eq 0 ]

step "The router itself listens and stops: it receives from the group as long as others listen"
listen h2 b2 3
listen h1 b1 3
wait_for 20 state_is ibfab1 "$(mgid4 $b 3)" 0x1
unlisten h1 3
wait_for 20 hears "$(mgid4 $b 3)" "$(mgid6 $b 3)"
unlisten h2 3
wait_for 20 not sa_has_group "$(mgid4 $b 3)"
wait_for 20 group_gone b1 ff12:401b:8001:0:0:0:f07:703

step "Packets of the router to a group without listeners keep it, and the router could receive answers"
say h1 b1 4
wait_for 20 state_is ibfab1 "$(mgid4 $b 4)" 0xa
wait_for 20 state_is ibfab1 "$(mgid6 $b 4)" 0xa

step "Another SM: subscriptions and memberships are renewed"
lists=$(stat_of b1 group_lists)
sm_restart
wait_for 30 subscribed_to "66 67 "
wait_for 30 hears "$(mgid4 $b 1)" "$(mgid6 $b 1)"
refute [ "$(stat_of b1 group_lists)" -eq "$lists" ]
forwards 1
listen h2 b2 5
wait_for 20 hears "$(mgid4 $b 5)" "$(mgid6 $b 5)"

step "Another interface with the same P_Key receives from all groups, too"
ip -n h1 link add link ib1 name pod1 type ipoib pkey 0x8001
ip -n h1 link set pod1 up allmulticast on
wait_for 20 has_carrier h1 pod1
wait_for 20 group_has pod1 ff12:401b:8001:0:0:0:f07:701 'joined: *yes'
wait_for 20 group_has pod1 ff12:401b:8001:0:0:0:f07:705 'joined: *yes'
assert [ "$(stat_of pod1 group_joins)" -lt 30 ]
ip -n h1 link delete pod1
assert hears "$(mgid4 $b 1)" "$(mgid6 $b 1)"

step "Also on the port that OpenSM and saquery use"
ip -n h0 link set ib0 allmulticast on
wait_for 20 subscribed_to "66 66 67 67 "
listen h2 ib2 6
wait_for 20 state_is ibfab0 "$(mgid4 $a 6)" 0x2
unlisten h2 6
wait_for 20 group_gone ib0 ff12:401b:ffff:0:0:0:f07:706
ip -n h0 link set ib0 allmulticast off
wait_for 20 subscribed_to "66 67 "

step "Routing ends: nothing is left at the SA"
traffic_stop smcrouted
wait_for 20 state_is ibfab1 "$(mgid4 $b 5)" ""
wait_for 20 subscribed_to ""
assert state_is ibfab1 "$(mgid4 $b 1)" ""
wait_for 20 group_gone b1 ff12:401b:8001:0:0:0:f07:701
assert state_is ibfab2 "$(mgid4 $b 1)" 0x1

step "Another agent gets the SA's Reports: groups are found in the SA's list"
module_insert /modules/ibrawmad.ko
# Its agent exists from its first MAD on, here Get(ClassPortInfo)
assert mad_send ibfab1 qp=1 "dlid=$(lid_of ibfab0)" "mad=0103020100000000$(hex_pad 16 1)0001"
ip -n h1 link set b1 allmulticast on
wait_for 40 hears "$(mgid4 $b 1)" "$(mgid6 $b 5)"
refute [ "$(stat_of b1 subscribe_failures)" -eq 0 ]
assert subscribed_to ""
dmesg | grep "port 1: the SA's reports go to somebody else" || fail "no line in the log"
rmmod ibrawmad
wait_for 40 subscribed_to "66 67 "

step "An HCA is unplugged with everything on it, and gets it back"
unplug ibfab1
wait_for 20 subscribed_to ""
plug ibfab1
wait_for 20 netdev_of ibfab1
ip link add link "$(netdev_of ibfab1)" name b1 type ipoib pkey 0x8001
ip link set "$(netdev_of ibfab1)" up
ip link set b1 up allmulticast on
wait_for 30 hears "$(mgid4 $b 1)" "$(mgid6 $b 5)"
unplug ibfab1
