# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Two fabrics in one guest, each with its own SM. An address is found on either rail, answers
# tell by which port, "not found" needs the answers of both SAs, and a rail without an SA does
# not delay the answers of the other.
# kernel: both
# soak-kernel: debug
# soak: 300
# timeout: 150

. /cases/lib.sh
# shellcheck source=lib-ats.sh
. /cases/lib-ats.sh

# The first fabric has ibfab0 and ibfab2, the second ibfab1 and ibfab3
fabric_start hcas=4 switches=2
cable=$(awk '$1 == "switch0" && $9 == "switch1" { print $3 }' "$ibfab/topology")
echo "switch0 $cable down" >"$ibfab/cable"
sm_start ibfab2 1
sm_of_first=$sm_pid
sm_start ibfab3 1
sm_of_second=$sm_pid
wait_for 60 fabric_ports_active
ipoib_load
ats_load sa_timeout_ms=500
module_insert /modules/ibatsask.ko

# rail HCA ADDRESS: adds an address to the HCA's interface in the guest's own namespace.
rail()
{
	wait_for 20 netdev_of "$1"
	_dev=$(netdev_of "$1")
	ip address add "$2" dev "$_dev"
	ip link set "$_dev" up
}

ipv6_off
rail ibfab0 10.0.0.1/24
rail ibfab2 10.0.0.2/24
rail ibfab1 10.1.0.1/24
rail ibfab3 10.1.0.2/24
# An address on both rails
rail ibfab3 10.9.0.9/32
rail ibfab2 10.9.0.9/32

registered()
{
	[ "$(ibats -j list | jq '[.[] | select(.state == "registered")] | length')" = "$1" ]
}
wait_for 20 registered 6
gid1=fe80::21b:fa01:0:101
gid2=fe80::21b:fa01:0:201 gid3=fe80::21b:fa01:0:301
sid=0x10000ce1004154

# by_ports LINE...: the last answers were these, with the ports that they came by.
by_ports()
{
	sed 1d "$ask/answer" >/run/answers
	printf '%s\n' "$@" | diff - /run/answers || fail "answers"
}

step "Each SA knows its own rail's records; both are queried, and answers have the port"
ask addr=10.0.0.2
by_ports "$gid2 0xffff ${sid}53 10.0.0.2 ibfab0/1 primary" \
	"$gid2 0xffff ${sid}53 10.0.0.2 ibfab2/1 primary"
ask addr=10.1.0.1
by_ports "$gid1 0xffff ${sid}53 10.1.0.1 ibfab1/1 primary" \
	"$gid1 0xffff ${sid}53 10.1.0.1 ibfab3/1 primary"
ask "primary=$gid3"
by_ports "$gid3 0xffff ${sid}53 10.1.0.2 ibfab1/1 primary" \
	"$gid3 0xffff ${sid}53 10.1.0.2 ibfab3/1 primary"

step "An address of both rails is found on both"
ask addr=10.9.0.9
by_ports "$gid2 0xffff ${sid}54 10.9.0.9 ibfab0/1" "$gid2 0xffff ${sid}54 10.9.0.9 ibfab2/1" \
	"$gid3 0xffff ${sid}54 10.9.0.9 ibfab1/1" "$gid3 0xffff ${sid}54 10.9.0.9 ibfab3/1"

step "A query by one HCA goes to its rail only"
refute ask hca=ibfab0 addr=10.1.0.1
assert_match "the error" "$(cat /run/ask.log)" 'No such file'
ask hca=ibfab1 addr=10.1.0.1

step "Not found, if both SAs say so"
refute ask addr=10.0.0.99
assert_match "the error" "$(cat /run/ask.log)" 'No such file'
for hca in ibfab1 ibfab3; do
	rule $hca what=sa_answer attr=0x31 do=drop
done
refute ask addr=10.0.0.99 timeout=700
assert_match "the error" "$(cat /run/ask.log)" 'timed out'

step "The second rail's SA does not answer, then is gone: the first one's answers are not delayed"
now_ms
begin=$now_ms
ask addr=10.0.0.2
now_ms
silent=$((now_ms - begin))
note "with a silent one: $silent ms"
# A request to the silent SA times out after half a second; the query has five seconds
assert_between "milliseconds" "$silent" 500 4000
for hca in ibfab1 ibfab3; do
	rules_clear $hca
done
for port in 1 2; do
	echo "switch1 $port down" >"$ibfab/cable"
done
kill "$sm_of_second"
sa_away()
{
	[ "$(ibats -j stats | jq -r '[.[] | select(.sa == "away").device] | join(" ")')" = \
		"ibfab1 ibfab3" ]
}
wait_for 20 sa_away
now_ms
begin=$now_ms
ask addr=10.0.0.2
now_ms
note "without: $((now_ms - begin)) ms"
assert [ $((now_ms - begin)) -lt "$silent" ]
ask addr=10.0.0.1
kill "$sm_of_first"
rmmod ibatsask
rmmod ib_ats
