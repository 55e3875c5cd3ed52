# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Each verb that is told to fail does so, as often as requested and with the requested error.
# timeout: 60

. /cases/lib.sh

# tries WORDS FILE: prints the error of the write.
tries()
{
	echo "$1" | dd "of=$2" status=none 2>&1
}

# failing VERB ERRNO TEXT WORDS FILE: the operation fails once when the verb is told to, and
# then succeeds.
failing()
{
	_failed=$(verb_failed ibfab0 "$1")
	verb_fails ibfab0 "$1" 1 "$2"
	_said=$(tries "$4" "$5") && fail "$1 did not fail"
	assert_match "$1" "$_said" "$3"
	assert_eq "$1 failed" "$(verb_failed ibfab0 "$1")" $((_failed + 1))
	_said=$(tries "$4" "$5") || fail "$1 failed again: $_said"
	assert_eq "$1 failed" "$(verb_failed ibfab0 "$1")" $((_failed + 1))
	note "$1: ${_said:-done} after the failure"
}

fabric_start hcas=2
module_insert /modules/ibraw.ko
# With the SM gone, only this script creates AHs.
opensm_start
opensm_stop
lid=$(lid_of ibfab1)
raw_listen ibfab1 "qkey=0x1bfa"
send="dlid=$lid qpn=$qpn qkey=0x1bfa"
listen="qkey=0x1bfa posted=3"
group="qkey=0x1bfa posted=3 mgid=ff12:401b:ffff::1 mlid=0xc000"

step "The verbs that a line of ibraw calls"
failing create_ah -12 'Cannot allocate memory|memory' "$send" "$raw/ibfab0/send"
failing modify_qp -22 'Invalid argument|I/O error' "$send" "$raw/ibfab0/send"
failing post_send -5 'Input/output error|I/O error' "$send" "$raw/ibfab0/send"
failing create_qp -12 'memory|I/O error' "$listen" "$raw/ibfab0/listen"
# Without the previous receiver, which posts a receive while it is drained.
echo >"$raw/ibfab0/listen"
failing post_recv -12 'memory|I/O error' "$listen" "$raw/ibfab0/listen"
failing attach_mcast -12 'memory|I/O error' "$group" "$raw/ibfab0/listen"

step "After some that succeed, and more than one"
verb_fails ibfab0 post_send 2 -12 3
assert tries "$send" "$raw/ibfab0/send"
assert tries "$send" "$raw/ibfab0/send"
assert tries "$send" "$raw/ibfab0/send"
refute tries "$send" "$raw/ibfab0/send"
refute tries "$send" "$raw/ibfab0/send"
assert tries "$send" "$raw/ibfab0/send"
assert_eq "post_send failed" "$(verb_failed ibfab0 post_send)" 3

step "Cancelled"
verb_fails ibfab0 post_send 5
verb_fails ibfab0 post_send 0
assert tries "$send" "$raw/ibfab0/send"

step "A send that completes after its sender has given up"
raw_listen ibfab0 "qkey=0x1bfa"
echo "late 7000" >"$ibfab/ibfab0/completions"
for words in "" from_listener=1; do
	_said=$(tries "$send $words" "$raw/ibfab0/send") && fail "a late send succeeded: $words"
	assert_match "a late send" "$_said" 'timed out'
done
echo "late 0" >"$ibfab/ibfab0/completions"
assert_eq "the receiver, from which the last one was sent" "$(cat "$raw/ibfab0/received")" ""
assert tries "$send" "$raw/ibfab0/send"

step "The verbs that a client calls when it is added: it must do without the device"
rmmod ibraw
for verb in alloc_pd create_cq create_qp req_notify_cq; do
	failed=$(verb_failed ibfab0 "$verb")
	verb_fails ibfab0 "$verb" 1 -12
	module_insert /modules/ibraw.ko
	assert_eq "$verb failed" "$(verb_failed ibfab0 "$verb")" $((failed + 1))
	if [ "$verb" != req_notify_cq ]; then
		refute test -e "$raw/ibfab0"
		assert test -e "$raw/ibfab1"
	fi
	rmmod ibraw
	verb_fails ibfab0 "$verb" 0
done
module_insert /modules/ibraw.ko
assert test -e "$raw/ibfab0"

step "The other HCA's verbs did not fail"
# shellcheck disable=SC2016  # awk's
assert_none "failures of ibfab1" awk '$3 != 0 || $5 != 0' "$ibfab/ibfab1/verbs"

step "Invalid lines"
for words in 'post_bill 1' 'post_send' 'post_send 1 5' 'post_send 1 0'; do
	must_fail sh -c "echo '$words' >$ibfab/ibfab0/verbs"
done
