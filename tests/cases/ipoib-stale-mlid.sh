# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# A group is deleted while a SendOnlyNonMember sends to it, and its MLID is assigned to
# another group: no packet goes there.
# timeout: 90
# profiles: connectx3 connectx5 small virtual

. /cases/lib.sh

first=ff12:401b:ffff::f09:901
second=ff12:401b:ffff::f09:902

# mlid_of MGID: prints its MLID, or nothing if there is no such group.
mlid_of()
{
	saquery -C ibfab0 MCMR --mgid "$1" >/run/records || return 2
	sed -n 's/.*mlid\.*//p' /run/records
}

mlid_is()
{
	_mlid=$(mlid_of "$1") || return 2
	[ "$_mlid" = "$2" ]
}

has_mlid()
{
	[ -n "$(mlid_of "$1")" ]
}

listen()
{
	: >"/run/heard.$1"
	traffic_start "$1" on "$1" socat -u \
		"UDP4-RECV:5000,ip-add-membership=$2:$(dev_of "$1")" "OPEN:/run/heard.$1,append"
}

# say: sends a datagram to the first group.
say()
{
	echo probe | on h1 socat -u - UDP4-DATAGRAM:239.9.9.1:5000,so-bindtodevice=ib1
}

heard()
{
	: >"/run/heard.$1"
	say || return 2
	sleep 0.2
	[ -s "/run/heard.$1" ]
}

# So that nothing else is sent to groups
ipv6_off
fabric_start hcas=3
opensm_start
ipoib_load
hosts_make 3
# IGMP repeats its reports. A repetition a second later would be counted as a packet of h1:
# because h2 is a sender in IGMP's group, OpenSM routes its packets to h2, where no QP is
# attached to it
on h0 sysctl -qw "net.ipv4.conf.$(dev_of h0).igmpv3_unsolicited_report_interval=1"

step "An SA that grants h1 only SendOnlyNonMember: h1 subscribes to deletions"
listen h0 239.9.9.1
wait_for 20 has_mlid "$first"
old=$(mlid_of "$first")
rule ibfab1 what=sa_answer attr=0x38 do=status value=0x0200 count=1
wait_for 20 heard h0
rules_clear ibfab1
wait_for 20 subscribed_to "67 "
state=$(saquery -C ibfab0 --smkey 1 MCMR --mgid "$first" | sed -n 's/.*JoinState\.*//p' | tr '\n' ' ')
note "JoinStates $state"
assert_match "the JoinStates" "$state" 0x4
wait_for 5 heard h0

step "The group is deleted, and its MLID reused: packets of h1 do not go there"
deleted=$(stat_of h1 reports_deleted)
traffic_stop h0
wait_for 20 stat_reaches h1 reports_deleted $((deleted + 1))
listen h2 239.9.9.2
wait_for 20 mlid_is "$second" "$old"
# A packet of the first group at h2's port is counted there, as no QP is attached to the MGID
# in its GRH
before=$(fabric_counter ibfab2 port1.drop.rx_no_group)
repeat 20 say
wait_for 20 has_mlid "$first"
refute mlid_is "$first" "$old"
sleep 0.5
assert_eq "packets to the MLID's new group" \
	$(($(fabric_counter ibfab2 port1.drop.rx_no_group) - before)) 0
# The membership that the SA grants now keeps the group
wait_for 20 subscribed_to ""
listen h0 239.9.9.1
wait_for 20 heard h0
