# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# ibats on two hosts: every command, its exit status and JSON, who may do what, and that no namespace sees another's; what it changes is seen in the SA.
# kernel: both
# timeout: 240

. /cases/lib.sh
# shellcheck source=lib-ats.sh
. /cases/lib-ats.sh

gid0=fe80::21b:fa01:0:1
gid1=fe80::21b:fa01:0:101

# tool STATUS [ARGUMENT...]: ibats in h0 ends with that status; what it says is in
# /run/out and /run/err.
tool()
{
	tool_in h0 "$@"
}

# tool_in HOST STATUS [ARGUMENT...]
tool_in()
{
	_host=$1 _wanted=$2 _status=0
	shift 2
	on "$_host" ibats "$@" >/run/out 2>/run/err || _status=$?
	[ "$_status" = "$_wanted" ] ||
		fail "ibats $*: status $_status, wanted $_wanted: $(cat /run/out /run/err)"
}

# said WHAT LINE...: the last one's lines.
said()
{
	_what=$1
	shift
	printf '%s\n' "$@" | diff - /run/out || fail "$_what"
}

# json FILTER: of what it said; a line for each.
json()
{
	jq -r "$1" /run/out
}

# state_is HOST ADDRESS STATE
state_is()
{
	[ "$(on "$1" ibats -j list | jq -r ".[] | select(.address == \"$2\").state")" = "$3" ]
}

# monitored LINE: the monitor has printed that.
monitored()
{
	grep -qx "$1" /run/monitor
}

# monitor_small FILE [OPTION]: a monitor of h0 that prints there, and to FILE.err, whose
# socket has room for a few changes only. Its process ID is in FILE.pid.
monitor_small()
{
	_file=$1 _room=$(cat /proc/sys/net/core/rmem_default)
	shift
	echo 4096 >/proc/sys/net/core/rmem_default
	# shellcheck disable=SC2016  # for the inner shell to expand
	on h0 sh -c 'echo $$ >"$0.pid"; exec ibats "$@" monitor >"$0" 2>"$0.err"' "$_file" "$@" &
	wait_for 10 grep -q 10.0.0.13 "$_file"
	echo "$_room" >/proc/sys/net/core/rmem_default
}

# settled_at ADDRESSES: by the last line about each, both small monitors have these.
settled_at()
{
	[ "$(awk '{ state[$2] = $3 } END { for (ip in state) if (state[ip] != "gone") print ip }' \
		/run/small | sort | tr '\n' ' ')" = "$1 " ] || return
	[ "$(jq -rs 'map({ (.address): .state }) | add | to_entries[] |
		select(.value == "registered").key' /run/small.json | sort | tr '\n' ' ')" = "$1 " ]
}

# queries_are NUMBER: asked by the first HCA, in all.
queries_are()
{
	[ "$(ibats -j stats | jq '.[0].queries')" -ge "$1" ]
}

# nobody STATUS ARGUMENT...: as tool, but without any capability.
nobody()
{
	_wanted=$1 _status=0
	shift
	on h0 sh -c '. /cases/lib.sh; as_user ibats "$@"' sh "$@" >/run/out 2>/run/err || _status=$?
	[ "$_status" = "$_wanted" ] ||
		fail "$*: status $_status, wanted $_wanted: $(cat /run/out /run/err)"
}

dev0=
ats_setup ipoib_load sa_timeout_ms=500
dev1=$(dev_of h1)
module_insert /modules/ibrawmad.ko
ip0 address add 10.0.0.2/32 dev "$dev0"
sid=0x10000ce1004154
wait_for 10 sr_count 1 3
wait_for 10 sr_count 101 2

step "resolve: an address of two hosts, first the one whose primary it is"
tool 0 resolve 10.0.0.2
cat /run/out
assert_eq heading "$(head -n 1 /run/out | tr -s ' ')" "address gid pkey sid primary"
assert_eq "first GID" "$(awk 'NR == 2 { print $2, $5 }' /run/out)" "$gid1 primary"
tool 0 --json resolve 10.0.0.2
assert_eq "GIDs" "$(json '.[].gid' | tr '\n' ' ')" "$gid1 $gid0 "
assert_eq "primary" "$(json '.[].primary' | tr '\n' ' ')" "true false "
assert_eq "record" "$(json '.[1] | "\(.address) \(.pkey) \(.sid)"')" "10.0.0.2 0xffff ${sid}55"
tool 0 -j -k 0xffff -d ibfab0 -p 1 -t 30000 resolve fd00::2
assert_eq "record" "$(json '.[] | "\(.address) \(.gid)"')" "fd00::2 $gid1"
tool 1 resolve 10.0.0.99
assert_match "what it says" "$(cat /run/err)" '^ibats: 10.0.0.99: nobody has it$'
tool 1 -j resolve 10.0.0.99
said "JSON without records" '[]'
tool 1 -k 0x8001 resolve 10.0.0.2

step "reverse, and sid"
tool 0 -j reverse "$gid0"
assert_eq "addresses" "$(json '.[].address' | tr '\n' ' ')" "10.0.0.1 fd00::1 10.0.0.2 "
tool 0 reverse "$gid0" --primary
assert_eq "the primary one" "$(awk 'NR > 1 { print $1, $5 }' /run/out)" "10.0.0.1 primary"
tool 1 reverse fe80::99
tool 0 -j sid ${sid}53
assert_eq "hosts" "$(json '.[].address' | tr '\n' ' ')" "10.0.0.1 10.0.0.2 "

step "What makes no sense"
for words in '' nonsense resolve 'resolve a b' 'resolve nonsense' 'reverse 10.0.0.1' \
	'sid 1x' '-k 0 resolve 10.0.0.1' '-p 1 list' '--what list' "primary $dev0 10" \
	'sid 0x1000' 'resolve ::' '-t 60001 resolve 10.0.0.1'; do
	# shellcheck disable=SC2086  # words
	tool 2 $words
	assert test -s /run/err
done
tool 2 sid 0x1000
assert_match "the kernel's words" "$(cat /run/err)" 'Give a Service ID from 0x10000ce100415400'
tool 3 -d nonsense resolve 10.0.0.1
assert_match "the kernel's words" "$(cat /run/err)" 'There is no such HCA'

step "list, and stats: a namespace has its own interfaces only"
wait_for 10 state_is h0 10.0.0.2 registered
tool 0 -j list
assert_eq "addresses" "$(json '.[] | "\(.interface) \(.address) \(.state) \(.primary)"')" \
	"$dev0 10.0.0.1 registered true
$dev0 10.0.0.2 registered false
$dev0 fd00::1 registered false"
assert_eq "port" "$(json '.[0] | "\(.device) \(.port) \(.gid) \(.pkey) \(.sid)"')" \
	"ibfab0 1 $gid0 0xffff ${sid}53"
tool_in h1 0 list
cat /run/out
assert_eq "addresses" "$(awk 'NR > 1 { print $1, $2 }' /run/out)" "$dev1 10.0.0.2
$dev1 fd00::2"
ibats -j list >/run/out
said "what is nobody's here" '[]'
tool 0 stats
cat /run/out
tool 0 -j stats
assert_eq "ports" "$(json '.[] | "\(.device) \(.port) \(.sa)"')" "ibfab0 1 online
ibfab1 1 online
ibfab2 1 online"
assert test "$(json '.[0].sets')" -ge 3
assert test "$(json '.[0].queries')" -ge 1

step "monitor: what there is, then what changes, in this namespace"
on h0 ibats monitor >/run/monitor &
monitor=$!
on h0 ibats --json monitor >/run/monitor.json &
monitor_json=$!
line="sid ${sid}[0-9a-f]* pkey 0xffff gid $gid0"
wait_for 10 monitored "$dev0 10.0.0.1 registered primary $line"
wait_for 10 test -s /run/monitor.json
ip0 address add 10.0.0.11/24 dev "$dev0"
wait_for 10 monitored "$dev0 10.0.0.11 registered - $line"
assert monitored "$dev0 10.0.0.11 pending - $line"
ip -n h1 address add 10.0.0.77/24 dev "$dev1"
wait_for 10 state_is h1 10.0.0.77 registered
ip -n h1 address delete 10.0.0.77/24 dev "$dev1"
ip0 address add 10.0.0.12/24 dev "$dev0"
ip0 address delete 10.0.0.12/24 dev "$dev0"
ip0 address delete 10.0.0.2/32 dev "$dev0"
wait_for 10 monitored "$dev0 10.0.0.2 gone - $line"
assert_eq "the last one" "$(jq -r '"\(.address) \(.state)"' /run/monitor.json | tail -n 1)" \
	"10.0.0.2 gone"
refute grep -E "10.0.0.77|$gid1" /run/monitor /run/monitor.json

step "monitor, when more changes than its socket holds: it says so, and ends up right"
ip0 address add 10.0.0.13/24 dev "$dev0"
wait_for 20 sr_count 1 4
monitor_small /run/small.json -j
monitor_small /run/small
kill -STOP "$(cat /run/small.pid)" "$(cat /run/small.json.pid)"
seq 20 49 | sed "s,.*,address add 10.0.0.&/24 dev $dev0," >/run/batch
ip0 address delete 10.0.0.13/24 dev "$dev0"
ip0 -batch /run/batch
wait_for 20 sr_count 1 33
sed 's/address add/address delete/; /10.0.0.30/d' /run/batch >/run/batch.delete
ip0 -batch /run/batch.delete
wait_for 20 sr_count 1 4
kill -CONT "$(cat /run/small.pid)" "$(cat /run/small.json.pid)"
wait_for 10 grep -q 'changes were lost' /run/small.err
wait_for 10 grep -q 'changes were lost' /run/small.json.err
ip0 address add 10.0.0.60/24 dev "$dev0"
wait_for 10 settled_at '10.0.0.1 10.0.0.11 10.0.0.30 10.0.0.60 fd00::1'
assert grep -q "^$dev0 10.0.0.60 registered" /run/small
for file in /run/small /run/small.json; do
	assert kill -0 "$(cat $file.pid)"
	kill "$(cat $file.pid)"
done
for ip in 30 60; do
	ip0 address delete "10.0.0.$ip/24" dev "$dev0"
done

step "primary: the administrator's choice, as the SA has it"
wait_for 10 sr_of 1 '53 1 0xFFFF 10.0.0.1' '54 1 0xFFFF fd000000000000000000000000000001' \
	'56 1 0xFFFF 10.0.0.11'
tool 0 primary "$dev0" 10.0.0.11
wait_for 10 sr_of 1 '53 1 0xFFFF 10.0.0.11' '54 1 0xFFFF fd000000000000000000000000000001' \
	'55 1 0xFFFF 10.0.0.1'
wait_for 10 monitored "$dev0 10.0.0.11 registered primary $line"
tool 0 primary "$dev0" fd00::1
wait_for 10 sr_has '53 1 0xFFFF fd000000000000000000000000000001'
ip0 link set "$dev0" down
wait_for 10 sr_none 1
ip0 link set "$dev0" up
ip0 address add fd00::1/64 dev "$dev0" nodad
wait_for 10 sr_has '53 1 0xFFFF fd000000000000000000000000000001'
tool 0 primary "$dev0"
wait_for 10 sr_has '53 1 0xFFFF 10.0.0.1'
tool 1 primary "$dev0" 10.0.0.99
assert_match "the kernel's words" "$(cat /run/err)" 'Give an address of this interface'
tool 1 primary nonsense 10.0.0.1
tool 2 primary lo 127.0.0.1

step "audit: what was deleted behind its back is there again"
sa_delete 53 ibfab0
refute sr_has '53 1 0xFFFF 10.0.0.1'
tool 0 audit -d ibfab0 -p 1
wait_for 10 sr_has '53 1 0xFFFF 10.0.0.1'
tool 0 -j stats
assert_eq "repairs" "$(json '.[0].repairs')" 1
tool 3 audit -d ibfab1

step "Without capabilities: ask and look, no more"
nobody 0 resolve 10.0.0.2
nobody 0 list
nobody 0 stats
nobody 4 primary "$dev0" 10.0.0.11
nobody 4 audit
assert sr_has '53 1 0xFFFF 10.0.0.1'

step "The administrator of a namespace that a user made: of what is in it"
user_netns_start
dev2=$(netdev_of ibfab2)
ip link set "$dev2" netns "$user_netns"
in_user_netns ip address add 10.0.0.3/24 dev "$dev2"
in_user_netns ip address add 10.0.0.4/24 dev "$dev2"
in_user_netns ip link set "$dev2" up
wait_for 20 sr_count 201 2
in_user_netns ibats -j list >/run/out
assert_eq "addresses" "$(json '.[].address' | tr '\n' ' ')" "10.0.0.3 10.0.0.4 "
in_user_netns ibats primary "$dev2" 10.0.0.4
wait_for 10 sr_has '53 201 0xFFFF 10.0.0.4'
in_user_netns ibats audit
in_user_netns ibats resolve 10.0.0.2
kill "$user_netns"
wait_for 20 sr_none 201

step "The interface goes: so do its records"
ip0 link set "$dev0" netns h1
wait_for 10 monitored "$dev0 10.0.0.1 gone primary $line"
tool 0 list
refute test -s /run/out
ip -n h1 link set "$dev0" netns 1
host_give h0 ibfab0 1
wait_for 20 state_is h0 10.0.0.1 registered
kill "$monitor" "$monitor_json"
wait "$monitor" "$monitor_json" || :

step "No SA, none that answers, no module"
kill -STOP "$opensm_pid"
tool 3 -t 1 resolve 10.0.0.2
assert_match "what it says" "$(cat /run/err)" 'does not answer'
queries=$(ibats -j stats | jq '.[0].queries')
# shellcheck disable=SC2016  # for the inner shell to expand
on h0 sh -c 'echo $$ >/run/asking; exec ibats -t 60000 resolve 10.0.0.2' >/run/out 2>/run/err &
wait_for 10 queries_are $((queries + 1))
kill -KILL "$(cat /run/asking)"
wait "$!" || :
kill -CONT "$opensm_pid"
# The kernel ends the question a moment after the process
wait_for 10 rmmod ib_ats
tool 4 list
assert_match "what it says" "$(cat /run/err)" 'ib_ats is not loaded'
opensm_stop
