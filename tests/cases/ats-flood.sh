# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# A user without privileges sends queries from 1,000 sockets, forks, stops and never reads.
# Queries of another module take at most twice as long, and registering a generic netlink
# family is not delayed, also if the SA does not answer.
# kernel: stock
# soak-kernel: debug
# timeout: 180
# soak: 300
# smp: 2

. /cases/lib.sh
# shellcheck source=lib-ats.sh
. /cases/lib-ats.sh

# The debug kernel is too slow for that many, and its delays exceed the SA's
sockets=1000 turns=8 most=2
! on_debug_kernel || sockets=200 turns=5 most=10

dev0=
ats_setup ipoib_load sa_timeout_ms=2000
module_insert /modules/ibatsask.ko
wait_for 20 sr_count 1 2
# The SA takes its time, as on a real fabric; all queries go through one HCA's rules
for hca in ibfab0 ibfab1 ibfab2; do
	rule $hca what=sa_answer attr=0x31 do=delay ms=400
done

# module_asks: sends queries one after the other; sets $took to the milliseconds per query.
module_asks()
{
	ask addr=10.0.0.2 pkey=0xffff "turns=$turns" timeout=60000
	took=$(($(ask_figure us) / turns / 1000))
}

# registers: sets $registered to the milliseconds that registering a generic netlink family takes.
registers()
{
	registered=$(($(cat "$ask/family") / 1000))
}

flood()
{
	on h0 sh -c '. /cases/lib.sh; as_user atsflood "$@"' sh "$@" >/run/flood
}

step "Without a flood"
module_asks
idle=$took
note "a question takes $idle ms"
registers
note "a family is registered in $registered ms"

step "A flood"
flood $sockets $((idle * turns * 2 / 1000 + 12)) &
flooding=$!
sleep 4
module_asks
note "a question takes $took ms"
assert_between "milliseconds, at most $most times as many" "$took" 1 $((most * idle))
registers
note "a family is registered in $registered ms"
assert_between "milliseconds to register a family" "$registered" 0 $((most * 150))
wait "$flooding" || fail "the flood: status $?"
note "$(cat /run/flood)"
read -r _ asked _ refused _ answered </run/flood
assert_between "asked" "$asked" "$sockets" 100000000
assert_between "refused" "$refused" 1 "$asked"
assert_between "answered" "$answered" 10 "$asked"

step "A flood while the SA is silent"
kill -STOP "$opensm_pid"
flood $sockets 10 &
flooding=$!
sleep 4
registers
note "a family is registered in $registered ms"
assert_between "milliseconds to register a family" "$registered" 0 $((most * 150))
now_ms
begin=$now_ms
ibats list >/run/list
now_ms
assert_between "milliseconds to list" $((now_ms - begin)) 0 $((most * 2000))
wait "$flooding" || fail "the flood: status $?"
note "$(cat /run/flood)"
kill -CONT "$opensm_pid"

step "Their queries ended with them: the module can be unloaded"
for hca in ibfab0 ibfab1 ibfab2; do
	rules_clear $hca
done
rmmod ibatsask
wait_for 10 rmmod ib_ats
opensm_stop
