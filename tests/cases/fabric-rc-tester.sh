# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The tester of reliable connections finds no error in the kernel's software RoCE, and finds
# those made on purpose.
# timeout: 180

. /cases/lib.sh

# on_rxe WORDS: runs it on the rxe device, from and to itself.
on_rxe()
{
	rc_run from=rxe0 to=rxe0 "$@"
}

# finds WORDS: the run fails.
finds()
{
	refute on_rxe "$@"
}

rxe_start
module_insert /modules/ibrc.ko

step "Messages of all kinds arrive as they were sent"
for words in 'size=0 imm=1' 'size=1' 'size=5000 sge=4 imm=1' \
	'size=random sge=5 imm=1 bidir=1' \
	'size=random max=65536 qps=3 signal=4 bidir=1 srq=1' \
	'size=random max=64 inline=64 sge=3 signal=16' \
	'size=random max=9000 depth=4 credits=0 psn=0xfffff8'; do
	on_rxe count=100 "$words"
	rc_whole
done

step "A message that was changed on its way is found, and no other"
finds size=3000 sge=3 flaw=7 count=20
assert_eq received "$(rc_result received)" 20
assert_eq spoilt "$(rc_result spoilt)" 1
assert_eq "contents" "$(rc_result spoilt.contents)" 1
finds size=0 imm=1 flaw=8 count=20
assert_eq spoilt "$(rc_result spoilt)" 1
assert_eq "immediate data" "$(rc_result spoilt.imm)" 1

step "It is found in a scenario, too"
finds do=rnr flaw=3
assert_eq "contents" "$(rc_result spoilt.contents)" 1
assert_eq "wrong" "$(rc_result wrong)" 0
assert_match "why" "$(cat /run/rc.log)" 'Bad message'

step "Scenarios whose outcome is the same on any device"
on_rxe do=rnr
on_rxe do=rnr rnr=2 rnr_timer=14
on_rxe do=gone retry=3 timeout=10
on_rxe do=gone timeout=0
on_rxe do=flush
on_rxe do=drain
case $(uname -r) in
6.1.*)
	on_rxe do=srq_limit srq=1
	;;
*)
	# Newer ones of this device report a limit only once, and not when it is set again
	finds do=srq_limit srq=1
	assert_eq "limits reported" "$(rc_result event.SRQ_LIMIT_REACHED)" 1
	;;
esac
on_rxe do=full
on_rxe do=too_large
on_rxe do=attrs

step "A scenario with another outcome fails"
# This device reports other errors for a message that is too long.
finds do=short recv=100
assert test "$(rc_result wrong)" -gt 0
note "$(grep '^wrong' "$rc/result")"

step "Invalid lines"
for words in size=1048577 do=nothing mtu=1000 qps=0 'depth=4 signal=5' retry=8 \
	sise=3 from 'size=1048576 depth=4096'; do
	finds "$words"
	assert_match "why '$words'" "$(cat /run/rc.log)" 'Invalid argument'
done
finds to=rxe1
finds cm=1
assert_eq "stage" "$(rc_word stage)" connect

step "The module is unloaded and loaded"
rmmod ibrc
module_insert /modules/ibrc.ko
on_rxe size=random
rc_whole
