# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# ibats on two hosts: every command, its exit status and JSON, permissions, and that
# namespaces do not see each other; changes made with it are verified at the SA. The module is
# unloaded and loaded.
# timeout: 240

. /cases/lib.sh
# shellcheck source=lib-ats.sh
. /cases/lib-ats.sh
# shellcheck disable=SC2034  # for lib-tool.sh
program=ibats
# shellcheck source=lib-tool.sh
. /cases/lib-tool.sh

gid0=fe80::21b:fa01:0:1
gid1=fe80::21b:fa01:0:101
gid9=fe80::21b:fa01:0:901

# err_is LINE: the last run has printed exactly this to standard error.
err_is()
{
	assert_eq "what it says" "$(cat /run/err)" "$1"
}

# said WHAT LINE...: the last run has printed these lines.
said()
{
	_what=$1
	shift
	printf '%s\n' "$@" | diff - /run/out || fail "$_what"
}

# json FILTER: prints the results of the filter for its output, one per line.
json()
{
	jq -r "$1" /run/out
}

# row_of ADDRESS: prints its row of the table.
row_of()
{
	awk -v ip="$1" '$2 == ip { print; n++ } END { exit n != 1 }' /run/out
}

# primary_is ADDRESS WHY: it is h0's only primary address in the table, for this reason.
primary_is()
{
	on h0 ibats primary show >/run/primary || return 2
	awk -v wanted="$1 $2" 'NR > 1 { got = got $3 " " $4 } END { exit got != wanted }' \
		/run/primary
}

# sa_forge METHOD: sets (02) or deletes (15) a record at the SA, in the name of a host $gid9
# that does not exist, for 10.0.0.2. It has the last Service ID, which the hosts of this case
# do not use.
sa_forge()
{
	_name=$(printf 'DAPL Address Translation Service' | od -An -v -tx1 | tr -d ' \n')
	_mask=$((0x7ffff3))
	[ "$1" = 02 ] || _mask=3
	_mad=$(printf '010302%s%08x%016x00310000%08x%024x%016x%08x%016x' "$1" 0 0 0 0 0 0 $_mask)
	_mad=${_mad}10000ce1004154fffe80000000000000021bfa0100000901ffff0000ffffffff
	_mad=$_mad$(printf '%032x' 0)$(hex_pad 128 "$_name")$(printf '%024x' 0)0a000002
	mad_send ibfab2 qp=1 "dlid=$(lid_of ibfab2)" "mad=$_mad" || fail "no answer to the forgery"
	assert_eq "status of the forgery" "$(hex_at "$answer" 4 2)" 0000
}

# monitored LINE: the monitor has printed that.
monitored()
{
	grep -qx "$1" /run/monitor
}

# last_is ADDRESS STATE: the last lines of both monitors about the address have this state.
last_is()
{
	awk -v ip="$1" -v state="$2" '$2 == ip { last = $3 } END { exit last != state }' \
		/run/monitor || return
	jq -es --arg ip "$1" --arg state "$2" \
		'map(select(.address == $ip)) | last.state == $state' /run/monitor.json
}

# monitor_small FILE [OPTION]: starts a monitor in h0 whose socket has room for a few changes
# only. It prints to FILE and FILE.err; its process ID is in FILE.pid.
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

# settled_at ADDRESSES: according to their last lines, both small monitors have exactly these
# addresses.
settled_at()
{
	[ "$(awk '{ state[$2] = $3 } END { for (ip in state) if (state[ip] != "gone") print ip }' \
		/run/small | sort | tr '\n' ' ')" = "$1 " ] || return
	[ "$(jq -rs 'map({ (.address): .state }) | add | to_entries[] |
		select(.value == "registered").key' /run/small.json | sort | tr '\n' ' ')" = "$1 " ]
}

# stat_is HCA FILTER: the filter is true for the statistics of the HCA's first port.
stat_is()
{
	ibats -j stats -d "$1/1" >/run/stats || return 2
	jq -e "length == 1 and (.[0] | $2)" /run/stats
}

# stat_of_hca HCA NAME
stat_of_hca()
{
	ibats -j stats -d "$1/1" | jq -e ".[0].$2"
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
assert_eq heading "$(head -n 1 /run/out | tr -s ' ')" "address gid pkey sid primary device/port"
assert_eq "first GID" "$(awk 'NR == 2 { print $2, $5, $6 }' /run/out)" "$gid1 primary ibfab0/1"
tool 0 --json resolve 10.0.0.2
assert_eq "GIDs" "$(json '.[].gid' | tr '\n' ' ')" "$gid1 $gid0 "
assert_eq "primary" "$(json '.[].primary' | tr '\n' ' ')" "true false "
assert_eq "record" "$(json '.[1] | "\(.address) \(.pkey) \(.sid) \(.device) \(.port)"')" \
	"10.0.0.2 0xffff ${sid}55 ibfab0 1"
tool 0 -j -k 0xffff -d ibfab0/1 -t 30000 resolve fd00::2
assert_eq "record" "$(json '.[] | "\(.address) \(.gid)"')" "fd00::2 $gid1"
tool 0 resolve fd00::2 --device ibfab0 -j --pretty
assert_eq "record" "$(json '.[] | "\(.address) \(.gid)"')" "fd00::2 $gid1"
assert test "$(wc -l </run/out)" -gt 3
tool 1 resolve 10.0.0.99
err_is 'ibats: 10.0.0.99: nobody has it'
tool 1 -j resolve 10.0.0.99
said "JSON without records" '[]'

step "resolve: host names"
echo 'hosts: files' >/etc/nsswitch.conf
echo 'multi on' >/etc/host.conf
cat >>/etc/hosts <<-'HOSTS'
	10.0.0.2 peer
	fd00::2 peer
	10.0.0.99 half
	10.0.0.2 half
	10.0.0.2 half
	10.0.0.99 lonely
HOSTS
tool 0 -j resolve peer
assert_eq "records" "$(json '.[] | "\(.address) \(.gid)"' | sort | tr '\n' ' ')" \
	"10.0.0.2 $gid0 10.0.0.2 $gid1 fd00::2 $gid1 "
tool 0 resolve half
assert_eq "lines" "$(wc -l </run/out)" 3
refute test -s /run/err
tool 1 -j resolve lonely
err_is 'ibats: lonely: nobody has it'
tool 1 -j resolve nonsense
err_is 'ibats: nonsense: no host of that name has an address'

step "reverse, and sid"
tool 0 -j reverse "$gid0"
assert_eq "addresses" "$(json '.[].address' | tr '\n' ' ')" "10.0.0.1 fd00::1 10.0.0.2 "
tool 0 reverse "$gid0" primary
assert_eq "the primary one" "$(awk 'NR > 1 { print $1, $5 }' /run/out)" "10.0.0.1 primary"
tool 1 -j reverse fe80::99
tool 0 -j sid ${sid}53
assert_eq "hosts" "$(json '.[].address' | tr '\n' ' ')" "10.0.0.1 10.0.0.2 "

step "Invalid arguments"
for words in '' nonsense 're 10.0.0.1' resolve 'resolve a b' 'resolve 10.0.0.300' 'resolve fd00::x' \
	'reverse 10.0.0.1' "reverse $gid0 nonsense" 'sid 1x' '-k 0 resolve 10.0.0.1' \
	'-k 0x10000 list' '-k 1 stats' '-t 5 list' '--what list' '-d' '-d /1 list' \
	'-d ibfab0/0 list' '-d ibfab0/x list' "list $dev0 x" 'primary nonsense' 'primary s' \
	'primary set' "primary set $dev0" "primary set $dev0 10" 'primary clear' \
	"primary clear $dev0 10.0.0.1" 'sid 0x1000' 'resolve ::' '-t 60001 resolve 10.0.0.1' \
	'help nonsense'; do
	# shellcheck disable=SC2086  # words
	tool 2 -j $words
	assert test -s /run/err
done
for words in 'monitor x' '-p monitor' '-d ibfab0 monitor' 'mon --what' '-k 0 monitor'; do
	# shellcheck disable=SC2086  # words
	tool 2 $words
	refute test -s /run/out
	# It prints JSON lines, and no array
	# shellcheck disable=SC2086  # words
	must_fail on h0 ibats -j $words >/run/out 2>/run/err
	refute test -s /run/out
done
tool 2 nonsense
err_is "ibats: 'nonsense' is not a command; see 'ibats help'"
tool 2 re 10.0.0.1
err_is "ibats: 're' may mean more than one word; see 'ibats help'"
tool 2 list --timeout 5
err_is "ibats: 'list' does not take the option --timeout; see 'ibats list help'"
tool 2 resolve 10.0.0.300
err_is "ibats: 10.0.0.300: not an IP address"
tool 2 sid 0x1000
err_matches 'Give a Service ID from 0x10000ce100415400'
for address in :: 0.0.0.0; do
	tool 2 resolve $address
	err_matches 'Give an address other than the unspecified one'
done

step "help, the version, and commands that are shortened"
tool 0 help
assert_match "the first line" "$(head -n 1 /run/out)" '^Usage: ibats '
for words in 'list help' 'help list' 'list -h' 'l --help'; do
	# shellcheck disable=SC2086  # words
	tool 0 $words
	assert_match "the first line" "$(head -n 1 /run/out)" '^Usage: ibats .* list \[IF\]$'
done
tool 0 -V
assert_match "the version" "$(cat /run/out)" '^ibats [0-9]+\.[0-9]+$'
tool 0 -j l
assert_eq "addresses" "$(json length)" 3

step "list, and stats: a namespace has its own interfaces only"
wait_for 10 state_is h0 10.0.0.2 registered
tool 0 -j list
assert_eq "addresses" "$(json '.[] | "\(.interface) \(.address) \(.state) \(.primary) \(.chosen)"')" \
	"$dev0 10.0.0.1 registered true false
$dev0 10.0.0.2 registered false false
$dev0 fd00::1 registered false false"
assert_eq "port" "$(json '.[0] | "\(.device) \(.port) \(.gid) \(.pkey) \(.sid)"')" \
	"ibfab0 1 $gid0 0xffff ${sid}53"
assert_eq "interface" "$(json '.[0].ifindex')" "$(on h0 cat "/sys/class/net/$dev0/ifindex")"
assert_eq "types" "$(json '.[0] | "\(.age_ms | type) \(.port | type)"')" "number number"
for words in "$dev0" '-d ibfab0' '-d ibfab0/1' '-k 0xffff'; do
	# shellcheck disable=SC2086  # words
	tool 0 -j list $words
	assert_eq "addresses of $words" "$(json length)" 3
done
for words in lo '-k 0x8001' '-d ibfab0/2'; do
	# shellcheck disable=SC2086  # words
	tool 0 -j list $words
	said "addresses of $words" '[]'
done
tool 1 -j list nonsense
err_is 'ibats: nonsense: there is no such interface'
ends 0 on h1 ibats list
cat /run/out
assert_eq "addresses" "$(awk 'NR > 1 { print $1, $2 }' /run/out)" "$dev1 10.0.0.2
$dev1 fd00::2"
ends 0 ibats -j list
said "what is nobody's here" '[]'
tool 0 stats
cat /run/out
tool 0 -j stats
assert_eq "ports" "$(json '.[] | "\(.device) \(.port) \(.sa)"')" "ibfab0 1 online
ibfab1 1 online
ibfab2 1 online"
assert test "$(json '.[0].sets')" -ge 3
assert test "$(json '.[0].queries')" -ge 1
tool 0 -j stats -d ibfab1
assert_eq "ports" "$(json '.[] | "\(.device) \(.port)"')" "ibfab1 1"

step "Who may ask by which port, and sees which partition"
ip netns add none
ends 3 on none ibats -j resolve 10.0.0.2
ends 0 on none ibats -j list
tool 3 -j -d nonsense resolve 10.0.0.1
err_matches 'no such (HCA|port) that this (network )?namespace may use'
tool 3 -j -d ibfab2 resolve 10.0.0.1
err_matches 'no such (HCA|port) that this (network )?namespace may use'
tool 3 -j -d ibfab0/2 resolve 10.0.0.1
tool 3 -j -k 0x8001 resolve 10.0.0.1
ip -n h1 link add link "$dev1" name ib.8001 type ipoib pkey 0x8001
ip -n h1 address add 10.1.0.2/24 dev ib.8001
ip -n h1 link set ib.8001 up
wait_for 20 sr_has '53 101 0x8001 10.1.0.2'
tool 1 -j resolve 10.1.0.2
ends 0 on h1 ibats -j -k 0x8001 resolve 10.1.0.2
ends 0 ibats -j -d ibfab2 resolve 10.1.0.2
assert_eq "record" "$(json '.[] | "\(.gid) \(.pkey) \(.device) \(.port)"')" "$gid1 0x8001 ibfab2 1"
ends 0 ibats resolve 10.1.0.2
ends 1 ibats -j -k 0x8001 -d ibfab2 resolve 10.0.0.2
ip -n h1 link delete ib.8001
wait_for 10 sr_count 101 2

step "The limits of users' outstanding queries, which the administrator is not subject to"
for name in max_user_questions max_questions; do
	most=/sys/module/ib_ats/parameters/$name
	usual=$(cat $most)
	echo 0 >$most
	nobody 4 -j resolve 10.0.0.2
	err_matches '[Tt]oo many questions are open'
	tool 0 resolve 10.0.0.2
	echo "$usual" >$most
	nobody 0 -j resolve 10.0.0.2
done

step "Another host has an address, too"
sa_forge 02
tool 0 audit
wait_for 10 listed h0 10.0.0.2 ".rival == \"$gid9\""
tool 0 list
assert_match "the table" "$(row_of 10.0.0.2)" " also at $gid9\$"
assert stat_is ibfab0 '.conflicts == 1'
sa_forge 15
tool 0 audit
wait_for 10 listed h0 10.0.0.2 'has("rival") | not'

step "monitor: what there is, then what changes, in this namespace"
on h0 ibats monitor >/run/monitor 2>/run/monitor.err &
monitor=$!
on h0 ibats --json monitor >/run/monitor.json 2>/run/monitor.json.err &
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
wait_for 10 last_is 10.0.0.2 gone
refute grep -E "10.0.0.77|$gid1" /run/monitor /run/monitor.json

step "refused: the SA's reason, in words and as a number"
wait_for 10 sr_count 1 3
rule ibfab0 what=sa_answer attr=0x31 do=status value=0x0200
ip0 address add 10.0.0.14/24 dev "$dev0"
wait_for 10 state_is h0 10.0.0.14 refused
tool 0 -j list
assert_eq "reason" "$(json '.[] | select(.address == "10.0.0.14") | "\(.refusal) \(.refusal_reason)"')" \
	"0x0200 the request is invalid"
tool 0 list
assert_match "the table" "$(row_of 10.0.0.14)" \
	' refused [0-9]+[sm] .* SA: the request is invalid \(0x0200\)$'
wait_for 10 monitored "$dev0 10.0.0.14 refused - $line SA: the request is invalid (0x0200)"
rules_clear ibfab0
wait_for 20 state_is h0 10.0.0.14 registered
wait_for 10 listed h0 10.0.0.14 'has("refusal") | not'
ip0 address delete 10.0.0.14/24 dev "$dev0"
wait_for 10 last_is 10.0.0.14 gone

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
wait_for 10 primary_is 10.0.0.1 first
tool 0 primary set "$dev0" 10.0.0.11
wait_for 10 sr_of 1 '53 1 0xFFFF 10.0.0.11' '54 1 0xFFFF fd000000000000000000000000000001' \
	'55 1 0xFFFF 10.0.0.1'
wait_for 10 monitored "$dev0 10.0.0.11 registered primary $line"
wait_for 10 primary_is 10.0.0.11 chosen
tool 0 -j primary show "$dev0"
assert_eq "the primary one" "$(json '.[] | "\(.interface) \(.pkey) \(.address) \(.chosen)"')" \
	"$dev0 0xffff 10.0.0.11 true"
tool 0 -j primary show lo
said "primary ones of lo" '[]'
tool 0 -j primary set "$dev0" fd00::1
said "JSON without records" '[]'
wait_for 10 sr_has '53 1 0xFFFF fd000000000000000000000000000001'
ip0 link set "$dev0" down
wait_for 10 sr_none 1
ip0 link set "$dev0" up
ip0 address add fd00::1/64 dev "$dev0" nodad
wait_for 10 sr_has '53 1 0xFFFF fd000000000000000000000000000001'
tool 0 primary clear "$dev0"
wait_for 10 sr_has '53 1 0xFFFF 10.0.0.1'
wait_for 10 primary_is 10.0.0.1 first
tool 1 -j primary set "$dev0" 10.0.0.99
err_matches 'Give an address of this interface'
tool 1 -j primary set nonsense 10.0.0.1
tool 1 -j primary show nonsense
tool 2 -j primary set lo 127.0.0.1

step "audit: a record that was deleted at the SA is registered again"
sa_delete 53 ibfab0
refute sr_has '53 1 0xFFFF 10.0.0.1'
tool 0 -j audit -d ibfab0/1
said "JSON without records" '[]'
wait_for 10 sr_has '53 1 0xFFFF 10.0.0.1'
wait_for 10 stat_is ibfab0 '.repairs == 1'
tool 3 -j audit -d ibfab1

step "Without capabilities: only queries and lists"
nobody 0 -j resolve 10.0.0.2
nobody 0 -j list
nobody 0 -j stats
nobody 0 -j primary show
for words in "primary set $dev0 10.0.0.11" "primary clear $dev0" audit; do
	# shellcheck disable=SC2086  # words
	nobody 4 -j $words
	err_matches 'needs CAP_NET_ADMIN$'
done
assert sr_has '53 1 0xFFFF 10.0.0.1'

step "The administrator of a user's namespace may change what is in it"
user_netns_start
dev2=$(netdev_of ibfab2)
ip link set "$dev2" netns "$user_netns"
in_user_netns ip address add 10.0.0.3/24 dev "$dev2"
in_user_netns ip address add 10.0.0.4/24 dev "$dev2"
in_user_netns ip link set "$dev2" up
wait_for 20 sr_count 201 2
ends 0 in_user_netns ibats -j list
assert_eq "addresses" "$(json '.[].address' | tr '\n' ' ')" "10.0.0.3 10.0.0.4 "
in_user_netns ibats primary set "$dev2" 10.0.0.4
wait_for 10 sr_has '53 201 0xFFFF 10.0.0.4'
in_user_netns ibats audit
in_user_netns ibats resolve 10.0.0.2
ends 3 in_user_netns ibats -j -d ibfab0 resolve 10.0.0.2
kill "$user_netns"
wait_for 20 sr_none 201

step "The interface is removed, and so are its records"
ip0 link set "$dev0" netns h1
wait_for 10 monitored "$dev0 10.0.0.1 gone primary $line"
tool 0 list
refute test -s /run/out
ip -n h1 link set "$dev0" netns 1
host_give h0 ibfab0 1
wait_for 20 state_is h0 10.0.0.1 registered
wait_for 10 last_is 10.0.0.1 registered

step "monitor, when the module is unloaded and loaded"
rmmod ib_ats
wait_for 10 grep -q 'the kernel.s module ib_ats is gone' /run/monitor.err
wait_for 10 grep -q 'the kernel.s module ib_ats is gone' /run/monitor.json.err
wait_for 10 last_is 10.0.0.1 gone
wait_for 10 last_is fd00::1 gone
ats_load sa_timeout_ms=500
wait_for 10 grep -q 'the kernel.s module ib_ats is loaded again' /run/monitor.err
wait_for 20 last_is 10.0.0.1 registered
wait_for 20 last_is fd00::1 registered
kill "$monitor" "$monitor_json"
wait "$monitor" "$monitor_json" || :

step "An SA that does not answer"
kill -STOP "$opensm_pid"
tool 3 -j -t 1 resolve 10.0.0.2
err_matches 'does not answer'
ip0 address add 10.0.0.15/24 dev "$dev0"
wait_for 10 listed h0 10.0.0.15 '.state == "pending" and .age_ms >= 1000'
tool 0 list
assert_match "the table" "$(row_of 10.0.0.15)" ' pending [0-9]+[sm] '
queries=$(stat_of_hca ibfab0 queries)
# shellcheck disable=SC2016  # for the inner shell to expand
on h0 sh -c 'echo $$ >/run/asking; exec ibats -t 60000 resolve 10.0.0.2' >/run/out 2>/run/err &
wait_for 10 stat_is ibfab0 ".queries > $queries"
kill -KILL "$(cat /run/asking)"
wait "$!" || :
kill -CONT "$opensm_pid"
wait_for 20 state_is h0 10.0.0.15 registered

step "No module"
# The kernel ends the query shortly after the process
wait_for 10 rmmod ib_ats
for words in list stats audit 'primary show' "primary clear $dev0" 'resolve 10.0.0.2'; do
	# shellcheck disable=SC2086  # words
	tool 4 -j $words
	err_is "ibats: the kernel's module ib_ats is not loaded; load it with 'modprobe ib_ats'"
done
tool 4 monitor
err_matches 'ib_ats is not loaded'
tool 2 -j resolve 10.0.0.300
err_is 'ibats: 10.0.0.300: not an IP address'
opensm_stop
