# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Groups that wait for a join, that are refused, that are not used any more; and a broadcast
# group whose MTU changes.
# timeout: 420
# profiles: small connectx3 connectx5 virtual
# kernel: stock 6.12 newest

. /cases/lib.sh
# shellcheck source=lib-groups.sh
. /cases/lib-groups.sh

lines()
{
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# say HOST GROUP COUNT: sends datagrams to the group, all by one socat.
say()
{
	seq "$3" | on "$1" socat -u - "UDP4-DATAGRAM:$2:5000,so-bindtodevice=$(dev_of "$1")" ||
		fail "cannot send"
}

# say_each HOST GROUP COUNT: sends datagrams, each by its own socat.
say_each()
{
	for _n in $(seq "$3"); do
		say "$1" "$2" 1
	done
}

# listen HOST GROUP FILE
listen()
{
	: >"$3"
	traffic_start "listen.$1" on "$1" socat -u \
		"UDP4-RECV:5000,ip-add-membership=$2:$(dev_of "$1")" "OPEN:$3,append"
}

mtu_is()
{
	[ "$(on "$1" cat "/sys/class/net/$(dev_of "$1")/mtu")" -eq "$2" ]
}

pings()
{
	on h0 ping -q -c 1 -W 1 "$@" 10.0.0.2
}

# refused: whether there were more than $failed failures.
refused()
{
	[ "$(stat_of h0 group_failures)" -gt "$failed" ]
}

# listen_all NAME PORT PREFIX COUNT FILE: h0 listens to the groups PREFIX.1 to PREFIX.COUNT.
listen_all()
{
	_memberships=
	for _n in $(seq "$4"); do
		_memberships="$_memberships,ip-add-membership=$3.$_n:$(dev_of h0)"
	done
	traffic_start "$1" on h0 socat -u "UDP4-RECV:$2$_memberships" "OPEN:$5,creat,append"
}

# joined_all REGEX COUNT: COUNT of h0's groups whose GID matches are joined.
joined_all()
{
	[ "$(awk -v ours="$1" '/^GID:/ { is_ours = $2 ~ ours }
		is_ours && /complete:.*yes/ { n++ } END { print n + 0 }' \
		"/sys/kernel/debug/ipoib/$(dev_of h0)_mcg")" -eq "$2" ]
}

fabric_start hcas=3
opensm_start
ipoib_load sendonly_idle=10
hosts_make 3
for n in 0 1 2; do
	ip -n "h$n" route add 239.0.0.0/8 dev "$(dev_of "h$n")"
done

used()
{
	say h1 239.9.9.9 1
	group_has "$(dev_of h1)" ff12:401b:ffff:0:0:0:f09:909 'send_only:      yes'
}

expires()
{
	step "A group that was only sent to is left when it is not used for a while"
	wait_for 10 used
	wait_for 10 sa_has_group ff12:401b:ffff::f09:909
	created=$(group_entry "$(dev_of h1)" ff12:401b:ffff:0:0:0:f09:909 | grep created)
	# It stays while it is used
	for _ in 1 2 3 4 5 6; do
		sleep 2
		say h1 239.9.9.9 1
	done
	assert_eq "when it was made" "$(group_entry "$(dev_of h1)" ff12:401b:ffff:0:0:0:f09:909 | grep created)" "$created"
	wait_for 30 group_gone "$(dev_of h1)" ff12:401b:ffff:0:0:0:f09:909
	wait_for 10 not sa_has_group ff12:401b:ffff::f09:909
	refute [ "$(stat_of h1 group_expiries)" -eq 0 ]
}

if ! brief; then
	expires
fi
echo 600 >/sys/module/ib_ipoib/parameters/sendonly_idle

step "The first packet arrives, although the SA answers before it has changed the switches"
listen_all first 5000 239.1.4 8 /run/first
wait_for 20 joined_all ':f01:40[0-9a-f]$' 8
for n in 1 2 3 4 5 6 7 8; do
	say h1 "239.1.4.$n" 1
done
wait_for 20 lines /run/first 8
traffic_stop first

step "64 packets wait for a group, more are dropped and counted"
sockets_hold 4
listen h0 239.1.1.1 /run/heard
wait_for 10 group_has "$(dev_of h0)" ff12:401b:ffff:0:0:0:f01:101 'complete:       yes'
rule ibfab1 what=sa_answer attr=0x38 do=delay ms=4000
before=$(stat_of h1 tx_group_queue_full)
head -c 400 /dev/zero | on h1 socat -b 4 -u - \
	"UDP4-DATAGRAM:239.1.1.1:5000,so-bindtodevice=$(dev_of h1)"
assert_eq "packets dropped" $(($(stat_of h1 tx_group_queue_full) - before)) 36
# Of four octets each
got_64()
{
	[ "$(wc -c </run/heard)" -eq 256 ]
}
wait_for 20 group_has "$(dev_of h1)" ff12:401b:ffff:0:0:0:f01:101 'complete:       yes'
wait_for 10 got_64
rules_clear ibfab1

step "Packets to a group that the SA refuses go to all hosts, and its members receive them"
rule ibfab1 what=sa_answer attr=0x38 do=status value=0x0200
traffic_stop listen.h0
listen h0 239.2.2.2 /run/heard
wait_for 10 group_has "$(dev_of h0)" ff12:401b:ffff:0:0:0:f02:202 'complete:       yes'
witness_start h2 udp and dst 239.2.2.2
say_each h1 239.2.2.2 20
wait_for 20 lines /run/heard 20
assert_eq "packets that h2 took, no member" "$(witness_stop h2)" 20
refute [ "$(stat_of h1 group_fallbacks)" -eq 0 ]

step "The join is repeated, and later only members receive the packets"
rules_clear ibfab1
failed=$(stat_of h1 group_failures)
joined_itself()
{
	witness_start h2 udp and dst 239.2.2.2
	say_each h1 239.2.2.2 10
	[ "$(witness_stop h2)" = 0 ]
}
wait_for 60 joined_itself
note "refused $failed times"
: >/run/heard
say_each h1 239.2.2.2 10
wait_for 10 lines /run/heard 10
traffic_stop listen.h0

! brief || exit 0

step "A group that is not usable because of its Q_Key does not delay others"
opensm_kill
cat >/run/partitions.conf <<CONF
Default=0x7fff, ipoib :
	mgid=ff12:401b::f05:505, Q_Key=0x1234
	ALL=full;
CONF
opensm_start -P /run/partitions.conf
wait_for 10 pings
failed=$(stat_of h0 group_failures)
listen h0 239.5.5.5 /run/heard
wait_for 20 refused
listen_all others 5100 239.6.6 8 /run/others
wait_for 20 joined_all ':f06:60[0-9a-f]$' 8
failed=$(stat_of h0 group_failures)
wait_for 20 refused
traffic_stop others
# Meanwhile its packets go to the broadcast group
say_each h1 239.5.5.5 5
wait_for 20 lines /run/heard 5
traffic_stop listen.h0

step "A broadcast group with another MTU: the limit changes, the administrator's setting stays"
wait_for 10 pings
ip -n h1 link set "$(dev_of h1)" mtu 1500
# A host with many groups may ask for some of them before its broadcast group is revoked. None may
# be created with the old MTU, as other hosts could not join it.
on h0 sh -c 'echo 1000 >/proc/sys/net/ipv4/igmp_max_memberships'
for n in $(seq 250); do
	echo "address add 239.7.7.$n/32 dev $(dev_of h0) autojoin"
done >/run/batch
ip -n h0 -batch /run/batch
wait_for 30 joined_all ':f07:7[0-9a-f]*$' 250
# mtus_at_sa COUNT MTU: the SA has so many of these groups, all with this MTU's code. Its selector,
# the two upper bits of the octet, is "exactly".
mtus_at_sa()
{
	saquery -C ibfab0 -g >/run/sa.groups || return
	awk -F '\\.\\.+' '/MGID/ { ours = $2 ~ /^ff12:401b:ffff::f07:7[0-9a-f]*$/ }
		ours && /Mtu/ { n[$2]++ }
		END { for (mtu in n) print n[mtu], mtu }' /run/sa.groups >/run/mtus
	cat /run/mtus
	[ "$(cat /run/mtus)" = "$1 $2" ]
}
# Restarted SMs whose groups have other parameters
for limit in 4092 2044; do
	opensm_kill
	echo "Default=0x7fff, ipoib, mtu=$((limit / 2044 + 3)) : ALL=full;" >/run/partitions.conf
	opensm_start -P /run/partitions.conf
	wait_for 60 mtu_is h0 "$limit"
	assert mtu_is h1 1500
	wait_for 30 pings -s 1000
	must_fail ip -n h0 link set "$(dev_of h0)" mtu 4093
	dmesg | grep -E "$(dev_of h0): the broadcast group allows an MTU of $limit, before" ||
		fail "no line in the log"
	wait_for 30 joined_all ':f07:7[0-9a-f]*$' 250
	wait_for 10 mtus_at_sa 250 "0x8$((limit / 2044 + 3))"
done
sed 's/ add / delete /' /run/batch >/run/batch.end
ip -n h0 -batch /run/batch.end
wait_for 20 joined_all ':f07:7[0-9a-f]*$' 0

step "A scan of 1100 IPv6 addresses: 1024 groups at most, packets to others go to all hosts"
echo 8192 >/proc/sys/net/ipv6/neigh/default/gc_thresh3
echo 8192 >/proc/sys/net/ipv6/neigh/default/gc_thresh2
# scanned_read: writes the numbers of the addresses below whose groups the SA has to /run/scanned.
scanned_read()
{
	saquery -C ibfab0 -g >/run/sa.groups || return
	sed -n 's/.*MGID\.*ff12:601b:ffff::1:ff5c:\([0-9a-f]*\).*/\1/p' /run/sa.groups >/run/scanned
}
# scanned: prints how many these are.
scanned()
{
	scanned_read && wc -l </run/scanned
}
# h1_settled: all joins of h1 have been granted.
h1_settled()
{
	not file_says 'complete: *no' "/sys/kernel/debug/ipoib/$(dev_of h1)_mcg"
}
listen_all many 5000 239.1.3 20 /run/many
wait_for 20 joined_all ':f01:3[0-9a-f]+$' 20
# No group is idle, however long the scans take
echo 0 >/sys/module/ib_ipoib/parameters/sendonly_idle
# These addresses do not exist. Packets that wait for a neighbour are charged to the sender's
# socket, so each fping sends to a hundred only.
scan()
{
	for n in $(seq "$1" $(($1 + 99))); do
		printf 'fd00::5c:%x\n' "$n"
	done >/run/scan
	must_fail on h1 fping -6 -q -r 0 -t 100 -i 1 -f /run/scan
}
for first in $(seq 0 100 1000); do
	scan "$first"
done
wait_for 10 stat_reaches h1 tx_group_limit 1
wait_for 60 h1_settled
note "$(scanned) groups, $(stat_of h1 tx_group_limit) packets to all"
assert_between "groups that were only sent to" "$(scanned)" 900 1024

step "... and listeners receive packets to groups beyond the limit"
scan 1100
limited=$(stat_of h1 tx_group_limit)
# shellcheck disable=SC2016  # for the inner shell to expand
on h1 sh -euc 'for n in $(seq 20); do
	echo "$n" | socat -u - "UDP4-DATAGRAM:239.1.3.$n:5000,so-bindtodevice=$1"
done' sh "$(dev_of h1)" || fail "cannot send"
assert stat_reaches h1 tx_group_limit $((limited + 20))
wait_for 20 lines /run/many 20
traffic_stop many

step "At the limit, a new group causes idle ones to be left after 30 s instead of 300 s"
# few_left: the groups of the former scans have been left, and those of this one have got their places.
# When the first ones were left, the others may have been younger than 30 s, and there was room then.
# Each scan is of other groups, so that the limit is reached again.
few_left()
{
	scan $next
	next=$((next + 100)) old=0 new=0
	scanned_read || return
	while read -r number; do
		if [ $((0x$number)) -lt 1200 ]; then
			old=$((old + 1))
		else
			new=$((new + 1))
		fi
	done </run/scanned
	[ "$old" -lt 100 ] && [ "$new" -ge 50 ]
}
next=1200
echo 300 >/sys/module/ib_ipoib/parameters/sendonly_idle
sleep 40
wait_for 20 few_left
note "$old former groups, $new new ones"
