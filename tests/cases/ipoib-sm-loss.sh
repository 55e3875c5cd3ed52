# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The SM is killed under traffic, restarts without its state, hands over, and assigns other
# LIDs: the packets that are lost with this driver and with the in-tree driver.
# timeout: 240
# profiles: connectx3 connectx5 virtual

. /cases/lib.sh

pings()
{
	on "$1" ping -q -c 1 -W 1 "$2"
}

# outage_start: starts pings from h1 to h2, ten per second.
outage_start()
{
	traffic_start outage on h1 ping -n -i 0.1 10.0.0.3
	sleep 1
}

# outage_end: sets $lost to the number of pings that were not answered in time.
outage_end()
{
	sleep 1
	traffic_stop outage
	read -r _sent lost <<-E2
		$(sed -n 's/^\([0-9]*\) packets transmitted, \([0-9]*\) received.*/\1 \2/p' /run/traffic.outage.log)
	E2
	assert test "$_sent" -ge 20
	lost=$((_sent - lost))
}

# memberships HOST: prints the MGIDs of which its port is a member, according to the SA.
memberships()
{
	# shellcheck disable=SC2046,SC2183  # a word for each group of digits
	_gid=$(printf '%x:%x:%x:%x' $(cut -d: -f5-8 "$ib/ibfab${1#h}/ports/1/gids/0" |
		sed 's/^/0x/; s/:/ 0x/g'))
	saquery -C ibfab0 --smkey 1 MCMR >/run/records.new || return
	awk -F '\\.\\.+' -v gid=":$_gid\$" '/MGID/ { mgid = $2 }
		/PortGid/ && $2 ~ gid { print mgid }' /run/records.new | sort
}

# The in-tree driver joins groups that it only sends to again only when it sends to them. For
# that driver the missing groups are only noted.
are_members_again()
{
	for _host in h1 h2; do
		memberships "$_host" >/run/members.now || return
		diff "/run/members.$_host" /run/members.now >/run/members.diff || return
	done
}

# members_last: the memberships are the same five seconds later.
members_last()
{
	for _host in h1 h2; do
		memberships "$_host" >"/run/members.$_host" || return
	done
	sleep 5
	are_members_again
}

# lids_swap: exchanges the LIDs of ibfab1 and ibfab2 in the SM's file.
lids_swap()
{
	_file=/run/sm.ibfab0/guid2lid
	_one=$(printf '0x%04x' "$(lid_of ibfab1)") _two=$(printf '0x%04x' "$(lid_of ibfab2)")
	sed "s/ $_one $_one/ one/; s/ $_two $_two/ $_one $_one/; s/ one/ $_two $_two/" \
		"$_file" >"$_file.new"
	mv "$_file.new" "$_file"
	grep . "$_file"
}

lids_are()
{
	[ "$(lid_of ibfab1) $(lid_of ibfab2)" = "$*" ]
}

# lost_at_most N: the limit for this driver; the losses of the other one are only for comparison.
lost_at_most()
{
	[ "$what" != "this driver" ] || assert_between "lost" "$lost" 0 "$1"
}

members_settle()
{
	if [ "$what" = "this driver" ]; then
		wait_for 60 are_members_again
		return
	fi
	uptime_s
	_until=$((uptime_s + 15))
	until are_members_again || [ "$uptime_s" -ge "$_until" ]; do
		sleep 0.2
		uptime_s
	done
	cat /run/members.diff
}

# through WHAT LOAD...
through()
{
	what=$1
	shift
	fabric_start hcas=4
	sm_start ibfab0 5 -F /run/opensm.conf
	wait_for 30 fabric_ports_active
	"$@"
	hosts_make 4
	wait_for 20 pings h1 10.0.0.3
	wait_for 20 pings h1 fd00::3
	wait_for 20 pings h3 10.0.0.2
	# Routers are solicited for some seconds; after that each host is in all its groups
	wait_for 20 members_last
	assert test "$(wc -l </run/members.h1)" -ge 4
	note "$what: h1 is in $(wc -l </run/members.h1) groups"

	step "$what: the SM is killed, traffic goes on, neighbours are resolved anew"
	outage_start
	opensm_kill "$sm_pid"
	ip -n h1 neigh flush all
	ip -n h2 neigh flush all
	sleep 3
	outage_end
	note "$what: $lost pings lost"
	lost_at_most 3
	newcomer=no
	! pings h3 10.0.0.3 && ! pings h3 10.0.0.3 || newcomer=yes
	note "$what: who has never spoken with a host before reaches it without an SM: $newcomer"

	step "$what: another SM, without memory: every group is joined again"
	outage_start
	sm_start ibfab0 5 -F /run/opensm.conf
	now_ms
	begin=$now_ms
	members_settle
	now_ms
	outage_end
	note "$what: members of all groups again after $((now_ms - begin)) ms, $lost pings lost"
	lost_at_most 10

	step "$what: hand-over to an SM of higher priority, and back when that dies"
	standby=$sm_pid
	outage_start
	sm_start ibfab3 9 -F /run/opensm.conf
	wait_for 30 served_by ibfab3
	opensm_kill "$sm_pid"
	wait_for 60 served_by ibfab0
	sm_pid=$standby
	members_settle
	outage_end
	note "$what: $lost pings lost"
	lost_at_most 10

	step "$what: other LIDs under traffic"
	opensm_kill "$sm_pid"
	lid1=$(lid_of ibfab1) lid2=$(lid_of ibfab2)
	lids_swap
	outage_start
	sm_start ibfab0 5 -F /run/opensm.conf
	wait_for 60 lids_are "$lid2" "$lid1"
	wait_for 60 pings h1 10.0.0.3
	members_settle
	outage_end
	note "$what: LIDs $lid1 and $lid2 swapped, $((lost * 100)) ms without an answer"
	lost_at_most 60
	wait_for 60 pings h1 fd00::3

	for host in h0 h1 h2 h3; do
		ip netns del $host
	done
	opensm_kill "$sm_pid"
	wait_for 20 rmmod ib_ipoib
	fabric_stop
}

sm_conf_brisk

through "this driver" ipoib_load
assert_eq "a newcomer is reached without an SM" "$newcomer" yes
through "in-tree driver" intree_load
