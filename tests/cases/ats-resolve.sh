# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Two hosts find each other's GIDs and addresses through the SA, by the functions that the
# module exports; also with lost answers, cancelled queries, without an SA, and while an HCA
# or the module's user is removed.
# kernel: stock debug 6.12 newest
# soak: 300
# timeout: 180

. /cases/lib.sh
# shellcheck source=lib-ats.sh
. /cases/lib-ats.sh

gid0=fe80::21b:fa01:0:1
gid1=fe80::21b:fa01:0:101

# ask_fails TEXT WORDS: the query fails with that error.
ask_fails()
{
	_text=$1
	shift
	refute ask "$@"
	assert_match "the error of $*" "$(cat /run/ask.log)" "$_text"
}

# changed NUMBER: the module has reported more than NUMBER changes, the last one of 10.0.0.4.
changed()
{
	read -r _changes _state _addr <"$ask/changes"
	[ "$_changes" -gt "$1" ] && [ "$_addr" = ::ffff:10.0.0.4 ]
}

# dropped: whether answers to ibfab1 were dropped.
dropped()
{
	[ "$(rule_figure ibfab1 hits)" -ge 1 ]
}

# all_asked N: the module's last line has sent N queries, which need not have ended.
all_asked()
{
	[ "$(cat "$ask/asked")" -eq "$1" ]
}

dev0=
ats_setup ipoib_load sa_timeout_ms=500
module_insert /modules/ibatsask.ko
ip0 address add 10.0.0.2/32 dev "$dev0"
sid=0x10000ce1004154
wait_for 10 sr_count 1 3
wait_for 10 sr_count 101 2

step "An address of two hosts: first the one whose primary it is"
ask hca=ibfab0 addr=10.0.0.2
answered "$gid1 0xffff ${sid}53 10.0.0.2 primary" "$gid0 0xffff ${sid}55 10.0.0.2"
ask hca=ibfab2 addr=fd00::2 pkey=0xffff
answered "$gid1 0xffff ${sid}54 fd00::2"

step "A GID's addresses, and its primary one"
# three_answered: the answers were the three records of gid0.
three_answered()
{
	answered "$gid0 0xffff ${sid}53 10.0.0.1 primary" "$gid0 0xffff ${sid}54 fd00::1" \
		"$gid0 0xffff ${sid}55 10.0.0.2"
}
ask hca=ibfab1 "gid=$gid0"
three_answered
ask hca=ibfab1 "primary=$gid0" pkey=0xffff
answered "$gid0 0xffff ${sid}53 10.0.0.1 primary"
ask "primary=$gid1"
answered "$gid1 0xffff ${sid}53 10.0.0.2 primary"

step "All hosts' records with one Service ID"
ask "sid=${sid}53"
answered "$gid0 0xffff ${sid}53 10.0.0.1 primary" "$gid1 0xffff ${sid}53 10.0.0.2 primary"

step "Addresses that are not registered, and invalid queries"
ask_fails 'No such file' addr=10.0.0.99
ask_fails 'No such file' addr=10.0.0.2 pkey=0x8001
ask_fails 'No such file' primary=fe80::99 pkey=0xffff
ask_fails 'Invalid argument' sid=0x1000
ask_fails 'Invalid argument' addr=::

step "The GID of a port without records is its address, if the port exists"
gid2=fe80::21b:fa01:0:201
ask hca=ibfab0 "addr=$gid2"
answered "$gid2 0xffff ${sid}53 $gid2 primary"
ask hca=ibfab0 "primary=$gid2"
answered "$gid2 0xffff ${sid}53 $gid2 primary"
ask_fails 'No such file' hca=ibfab0 addr=fe80::99

step "More records than fit into a packet, and then into ten"
many=200
! on_debug_kernel || many=30
seq 1 $many | sed "s,.*,address add 10.2.0.&/32 dev $dev0," >/run/batch
ip0 -batch /run/batch
wait_for 60 sr_count 1 $((many + 3))
ask hca=ibfab1 "gid=$gid0"
assert_eq "addresses" "$(sed 1d "$ask/answer" | sort -u | wc -l)" $((many + 3))
assert_eq "the first" "$(sed -n 2p "$ask/answer")" \
	"$gid0 0xffff ${sid}53 10.0.0.1 ibfab1/1 primary"
sed 's/address add/address delete/' /run/batch >/run/batch.delete
ip0 -batch /run/batch.delete
wait_for 60 sr_count 1 3

step "Answers that are lost, an SA that is busy, one that refuses"
rule ibfab0 what=sa_answer attr=0x31 do=drop count=2
ask hca=ibfab0 addr=10.0.0.2 pkey=0xffff timeout=60000
assert_eq "answers lost" "$(rule_figure ibfab0 hits)" 2
rules_clear ibfab0
rule ibfab0 what=sa_answer attr=0x31 do=status value=0x0001 count=2
ask hca=ibfab0 "primary=$gid1" pkey=0xffff timeout=60000
answered "$gid1 0xffff ${sid}53 10.0.0.2 primary"
assert_eq "answers that said busy" "$(rule_figure ibfab0 hits)" 2
rules_clear ibfab0
rule ibfab0 what=sa_answer attr=0x31 do=status value=0x0200
ask_fails 'Remote I/O' hca=ibfab0 addr=10.0.0.2
rules_clear ibfab0

step "Truncated or spoilt answers end their queries, and have no effect on later ones"
# spoilt_asked: sends many queries while every fourth packet of the answers is spoilt. An
# answer has three packets, so some arrive unspoilt in any case. ib_mad does not check the length
# of a MAD, so a truncated answer is taken for a whole one.
spoilt_asked()
{
	ask hca=ibfab0 "gid=$gid0" timeout=4000 times=24 || note "some fail"
	assert_eq "ended" "$(($(ask_figure found) + $(ask_figure failed)))" 24
	assert_between "answers spoilt" "$(rule_figure ibfab0 hits)" 12 1000
	assert_between "found" "$(ask_figure found)" 1 24
	note "$(ask_figure failed) failed, $(ask_figure odd) had other records than the first one"
	rules_clear ibfab0
	ask hca=ibfab0 "gid=$gid0"
	three_answered
}
# From octet 16 on: the transaction ID before it says which client of ib_mad gets the answer, and
# ib_sa never frees one that it did not ask for if its RMPP header is active
rule ibfab0 what=sa_answer attr=0x31 do=garble at=16 every=4
spoilt_asked
rule ibfab0 what=sa_answer attr=0x31 do=truncate every=4
spoilt_asked

step "Many queries at once, and many that are cancelled"
times=$(full_or 2000 20000)
! on_debug_kernel || times=50
ask hca=ibfab0 addr=10.0.0.2 pkey=0xffff "times=$times" timeout=120000
assert_eq "answered" "$(ask_figure found)" "$times"
assert_eq "answered with other records" "$(ask_figure odd)" 0
answered "$gid1 0xffff ${sid}53 10.0.0.2 primary" "$gid0 0xffff ${sid}55 10.0.0.2"
note "$((times * 1000 / ($(ask_figure us) / 1000))) queries a second, to OpenSM on this machine"
# All may be answered before they are cancelled. Another error would leave the last query's figures.
ask hca=ibfab0 addr=10.0.0.2 "times=$times" timeout=120000 cancel=1 ||
	assert file_says 'canceled' /run/ask.log
assert_eq "ended" "$(($(ask_figure found) + $(ask_figure canceled)))" "$times"
rule ibfab0 what=sa_answer attr=0x31 do=drop
ask_fails 'canceled' hca=ibfab0 addr=10.0.0.2 "times=$times" timeout=120000 cancel=1
assert_eq "canceled" "$(ask_figure canceled)" "$times"
rules_clear ibfab0

# Its port is removed first, so queries that wait for a retry have no SA then
step "An HCA that goes takes its queries with it"
rule ibfab1 what=sa_answer attr=0x31 do=drop
echo hca=ibfab1 addr=10.0.0.1 timeout=600000 times=50 >/run/asked
dd if=/run/asked of="$ask/ask" bs=4k status=none 2>/run/asked.log &
asking=$!
wait_for 10 dropped
wait_for 10 all_asked 50
unplug ibfab1
must_fail wait "$asking"
assert_match "the queries' error" "$(cat /run/asked.log)" \
	'No such device|Network is unreachable'
assert_eq "ended" "$(ask_figure failed)" 50
ask_fails 'No such device' hca=ibfab1 addr=10.0.0.1

step "An SA that does not answer"
kill -STOP "$opensm_pid"
ask_fails 'timed out' hca=ibfab0 addr=10.0.0.2 timeout=300
kill -CONT "$opensm_pid"

step "Without an SA, when the query times out: local records, and a GID is its own address"
opensm_stop
ask hca=ibfab0 addr=10.0.0.2 timeout=700
answered "$gid0 0xffff ${sid}55 10.0.0.2"
plug ibfab1
wait_for 20 netdev_of ibfab1
host_give h1 ibfab1 3
wait_for 10 ask hca=ibfab1 addr=10.0.0.3 timeout=300
answered "$gid1 0xffff ${sid}53 10.0.0.3 primary"
ask hca=ibfab1 "addr=$gid1" timeout=300
answered "$gid1 0xffff ${sid}53 $gid1 primary"
ask hca=ibfab1 "primary=$gid0" timeout=300
answered "$gid0 0xffff ${sid}53 $gid0 primary"
ask_fails 'Network is unreachable' hca=ibfab1 addr=10.0.0.1 timeout=300

step "Other modules are notified of changes"
read -r changes _ <"$ask/changes"
ip -n h1 address add 10.0.0.4/24 dev "$(dev_of h1)"
wait_for 10 changed "$changes"
must_fail rmmod ib_ats
rmmod ibatsask
rmmod ib_ats
