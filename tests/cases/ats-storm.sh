# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# 200 random changes of addresses while OpenSM is stopped for 30 s, while another SM takes
# over, and while it loses its records: in the end the SA has what the interfaces have.
# timeout: 300
# smp: 2

. /cases/lib.sh
. /cases/lib-ats.sh

# storm N SEED: adds or deletes a random one of 40 addresses, N times.
storm()
{
	: >/run/storm.left
	awk -v left=/run/storm.left -v n="$1" -v seed="$2" -v dev="$dev0" 'BEGIN {
		srand(seed)
		while (n--) {
			i = int(rand() * 40)
			print "address " (had[i] ? "delete" : "add") " 10.5.0." i + 1 "/32 dev " dev
			had[i] = !had[i]
		}
		for (i = 0; i < 40; i++) if (had[i]) print "10.5.0." i + 1 >left
	}' >/run/storm
}

storm_undo()
{
	sed "s,.*,address delete &/32 dev $dev0," /run/storm.left >/run/undo
	ip0 -batch /run/undo
}

# sr_as_interface: each address of h0 has exactly one record, there are no others, and one is
# primary.
sr_as_interface()
{
	sr_read || return
	ip0 -4 -o address show dev "$dev0" | awk '{ sub("/.*", "", $4); print $4 }' |
		sort >/run/interface
	grep ' 1 0xFFFF [0-9.]*$' /run/sr >/run/sr.h0
	awk '{ print $4 }' /run/sr.h0 | sort | diff /run/interface - || return
	[ "$(awk '{ print $1 }' /run/sr.h0 | sort | uniq -d | wc -l)" -eq 0 ] || return
	grep -q '^53 1 ' /run/sr.h0
}

dev0=
ats_setup ipoib_load
ip0 -6 address flush dev "$dev0" scope global
wait_for 10 sr_of 1 '53 1 0xFFFF 10.0.0.1'

step "OpenSM stops for 30 seconds, and 200 addresses come and go"
mads_count ibfab0 0x02
kill -STOP "$opensm_pid"
uptime_s
until=$((uptime_s + 30))
storm 200 1
awk '{ print >sprintf("/run/storm.%02d", (NR - 1) / 20) }' /run/storm
for part in /run/storm.[0-9][0-9]; do
	ip0 -batch "$part"
	sleep 1
done
note "$(mads_counted ibfab0) registrations sent meanwhile, of $(grep -c " add "/run/storm) additions"
while uptime_s && [ "$uptime_s" -lt "$until" ]; do
	sleep 1
done
kill -CONT "$opensm_pid"
wait_for 60 sr_as_interface
rules_clear ibfab0
storm_undo
wait_for 60 sr_of 1 '53 1 0xFFFF 10.0.0.1'

step "Another SM without the records takes over in the middle"
storm 100 2
sm_start ibfab1 9 -P /run/partitions.conf
ip0 -batch /run/storm
wait_for 60 served_by ibfab1
wait_for 60 sr_as_interface
wait_for 60 sr_count 101 2

step "It dies: the first one has outdated records"
storm_undo
ip0 address delete 10.0.0.1/24 dev "$dev0"
ip0 address add 10.0.0.7/24 dev "$dev0"
wait_for 20 sr_as_interface
opensm_kill "$sm_pid"
wait_for 60 served_by ibfab2
wait_for 60 sr_of 1 '53 1 0xFFFF 10.0.0.7'
wait_for 60 sr_count 101 2
opensm_stop
