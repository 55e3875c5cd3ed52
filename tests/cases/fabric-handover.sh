# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Several OpenSMs: the one with the highest priority becomes master, and a standby takes over
# when the master dies.
# timeout: 180

. /cases/lib.sh

# sm_is HCA STATE: the state in its SMInfo.
sm_is()
{
	sminfo -C "$1" "$(lid_of "$1")" \
		>/run/sminfo && grep -q "$2" /run/sminfo
}

# is_sm HCA: whether the port's IsSM bit is set.
is_sm()
{
	[ $(($(cat "$ib/$1/ports/1/cap_mask") & 2)) -ne 0 ]
}

fabric_start hcas=4 switches=2
sm_conf_brisk
sed -i 's/^sweep_interval .*/sweep_interval 0/' /run/opensm.conf

step "The first one, of priority 3"
refute is_sm ibfab1
sm_start ibfab1 3 -F /run/opensm.conf
first=$sm_pid
wait_for 20 fabric_ports_active
wait_for 5 sm_is ibfab1 MASTER
assert is_sm ibfab1
assert served_by ibfab1
note "$(cat /run/sminfo)"

step "A second one, of priority 1: standby"
sm_start ibfab2 1 -F /run/opensm.conf
second=$sm_pid
wait_for 10 sm_is ibfab2 STANDBY
assert is_sm ibfab2
assert sm_is ibfab1 MASTER
assert served_by ibfab1
note "$(cat /run/sminfo)"

step "A third one, of priority 9: the first hands over"
now_ms
begin=$now_ms
sm_start ibfab3 9 -F /run/opensm.conf
third=$sm_pid
wait_for 20 sm_is ibfab3 MASTER
wait_for 20 served_by ibfab3
now_ms
note "master of all ports $((now_ms - begin)) ms after its start"
wait_for 10 sm_is ibfab1 STANDBY
note "$(cat /run/sminfo)"

step "It dies: the standby of the higher priority takes over"
now_ms
begin=$now_ms
opensm_kill "$third"
refute is_sm ibfab3
wait_for 30 sm_is ibfab1 MASTER
wait_for 30 served_by ibfab1
now_ms
note "another master of all ports after $((now_ms - begin)) ms"
assert sm_is ibfab2 STANDBY
assert fabric_ports_active

step "It terminates regularly: the last one takes over"
now_ms
begin=$now_ms
kill "$first"
wait "$first" || :
wait_for 30 sm_is ibfab2 MASTER
wait_for 30 served_by ibfab2
now_ms
note "another master of all ports after $((now_ms - begin)) ms"
assert fabric_ports_active
kill "$second"
wait "$second" || :
