# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Records of dead hosts: those of an earlier boot are deleted at first contact, in any
# partition; an address that another host also has is shown; with a lease the records of dead
# hosts expire, and those of live hosts do not.
# timeout: 200

. /cases/lib.sh
# shellcheck source=lib-ats.sh
. /cases/lib-ats.sh

dev0=
ats_setup ipoib_load sa_timeout_ms=500
ipv6_off
wait_for 20 sr_count 1 2

# sr_any TEXT: the SA has a record whose line contains TEXT, whatever its lease.
sr_any()
{
	sr_read && grep -q "$1" /run/sr
}

# sr_all_gone: the SA has no record of h1.
sr_all_gone()
{
	sr_read && not file_says ' 101 ' /run/sr
}

# stats FIGURE: prints a statistic of the first HCA.
stats()
{
	ibats -j -d ibfab0 stats | jq ".[0].$1"
}

stats_reach()
{
	[ "$(stats "$1")" -ge "$2" ]
}

# dies: ib_ats is removed, and as none of its MADs reaches the SA, its records stay there.
dies()
{
	for _hca in ibfab0 ibfab1; do
		rule "$_hca" dir=out class=3 attr=0x31 do=drop
	done
	rmmod ib_ats
	for _hca in ibfab0 ibfab1; do
		rules_clear "$_hca"
	done
}

step "A host that dies leaves its records, in each partition; after its reboot they are deleted"
ip0 link add link "$dev0" name ib0.8001 type ipoib pkey 0x8001
ip0 address add 10.1.0.1/24 dev ib0.8001
ip0 link set ib0.8001 up
wait_for 20 sr_has '53 1 0x8001 10.1.0.1'
dies
ip0 link delete ib0.8001
ip0 address flush dev "$dev0"
assert sr_has '53 1 0x8001 10.1.0.1'
assert sr_has '53 1 0xFFFF 10.0.0.1'
ats_load sa_timeout_ms=500
wait_for 20 sr_none 1
assert sr_has '53 101 0xFFFF 10.0.0.2'
assert_eq "partitions with leftovers" "$(stats leftovers)" 2

step "Records that it left for addresses that it has again are kept"
ip0 address add 10.0.0.1/24 dev "$dev0"
wait_for 10 sr_of 1 '53 1 0xFFFF 10.0.0.1'
dies
assert sr_has '53 1 0xFFFF 10.0.0.1'
mads_count ibfab0 0x15
# While the module is being loaded, the SA, and the works that ask it, run first
mkdir /run/cgroups
mount -t cgroup2 none /run/cgroups
echo +cpu >/run/cgroups/cgroup.subtree_control
mkdir /run/cgroups/idle
echo 1 >/run/cgroups/idle/cpu.idle
(
	echo 0 >/run/cgroups/idle/cgroup.procs
	ats_load sa_timeout_ms=500
)
# The record may be found before it is registered again, and then that is not needed
wait_for 20 state_is h0 10.0.0.1 registered
sleep 2
assert_eq "deletions" "$(mads_counted ibfab0)" 0
rules_clear ibfab0
assert sr_of 1 '53 1 0xFFFF 10.0.0.1'

step "h1 dies for good, and h0 takes its address over: the SA has both, and an audit says so"
unplug ibfab1
ip0 address add 10.0.0.2/24 dev "$dev0"
wait_for 10 sr_of 1 '53 1 0xFFFF 10.0.0.1' '54 1 0xFFFF 10.0.0.2'
assert sr_has '53 101 0xFFFF 10.0.0.2'
assert_eq "conflicts" "$(stats conflicts)" 0
on h0 ibats audit
wait_for 20 stats_reach conflicts 1
assert_eq "the rival" \
	"$(on h0 ibats -j list | jq -r '.[] | select(.address == "10.0.0.2").rival')" \
	fe80::21b:fa01:0:101
assert_eq "the rivals of others" \
	"$(on h0 ibats -j list | jq -r '.[] | select(.address == "10.0.0.1").rival')" null
assert_eq "lines in the log" "$(dmesg | grep -c '10.0.0.2 is registered by fe80::21b:fa01:0:101')" 1
on h0 ibats audit
sleep 3
assert_eq "conflicts" "$(stats conflicts)" 1

# leases: prints the leases of all records at the SA.
leases()
{
	saquery -C ibfab2 SR | awk -F '\\.\\.+' '{ gsub(/[ \t]/, "", $1) } $1 == "ServiceLease" { print $2 }' |
		sort -u
}

step "With a lease: records that are renewed stay, others expire"
rmmod ib_ats
plug ibfab1
wait_for 20 fabric_ports_active
wait_for 20 netdev_of ibfab1
must_fail insmod /modules/ib_ats.ko lease=29
ats_load sa_timeout_ms=500 lease=30 audit_interval=0
host_give h1 ibfab1 3
wait_for 20 sr_any ' 101 0xFFFF 10.0.0.3'
leases >/run/leases
assert test -s /run/leases
refute file_says 0xFFFFFFFF /run/leases
unplug ibfab1
ip0 address add 10.0.0.3/24 dev "$dev0"
assert sr_any ' 101 0xFFFF 10.0.0.3'
wait_for 60 sr_all_gone
# After as long again its records only exist because they were renewed
sleep 32
assert sr_any ' 1 0xFFFF 10.0.0.1'
assert sr_any ' 1 0xFFFF 10.0.0.3'
rmmod ib_ats
opensm_stop
