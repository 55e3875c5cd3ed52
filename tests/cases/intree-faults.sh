# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The in-tree driver survives an unplugged cable, an SM that ends and returns, moved P_Keys,
# refused and lost joins, and failing verbs.
# timeout: 120

. /cases/lib.sh

pings()
{
	on h0 ping -q -c 1 -W 1 10.0.0.2
}

# counts NODE NAME CMD...: CMD fails, and the counter grows.
counts()
{
	_cnode=$1 _cname=$2 _was=$(fabric_counter "$1" "$2")
	shift 2
	refute "$@"
	counter_reaches "$_cnode" "$_cname" $((_was + 1)) ||
		fail "$_cname of $_cnode did not rise"
}

up_again()
{
	ip -n h1 link set "$dev" down
	ip -n h1 link set "$dev" up
}

fabric_start hcas=2
opensm_start
intree_load
hosts_make 2
dev=$(dev_of h1)
wait_for 10 pings

step "A cable pulled: no carrier; plugged in: it pings again"
echo "ibfab1 1 down" >"$ibfab/cable"
wait_for 5 not has_carrier h1 "$dev"
counts ibfab1 port1.fault.cable_up sh -ec \
	"echo 'ibfab1 1 up' >$ibfab/cable; false"
wait_for 10 has_carrier h1 "$dev"
wait_for 20 pings

step "Another SM is started: pings are answered all the time, and groups are joined again"
traffic_start ping on h0 ping -q -i 0.1 -W 1 10.0.0.2
opensm_stop
sleep 1
opensm_start
sleep 1
lost=$(traffic_stop ping | sed -n 's/.* \([0-9]*\)% packet loss.*/\1/p')
note "$lost % lost"
assert_eq "% lost" "$lost" 0
assert_match "the members of the group" \
	"$(saquery -C ibfab0 --smkey 1 -m 0xc000)" '\(ibfab1\)'

step "P_Keys that move: its P_Key is that at index 0, so there is no carrier until it is back"
echo "1 rotate_pkeys 5" >"$ibfab/ibfab1/change"
wait_for 5 grep -qx 0xffff "$ib/ibfab1/ports/1/pkeys/5"
wait_for 5 not has_carrier h1 "$dev"
refute pings
echo "1 rotate_pkeys 27" >"$ibfab/ibfab1/change"
wait_for 10 has_carrier h1 "$dev"
wait_for 20 pings

step "Joins refused, then lost: no carrier until the SA answers"
for words in 'do=status value=0x0100' do=drop; do
	ip -n h1 link set "$dev" down
	rule ibfab1 what=sa_answer attr=0x38 "$words"
	ip -n h1 link set "$dev" up
	sleep 2
	assert [ "$(rule_figure ibfab1 hits)" -ge 1 ]
	refute has_carrier h1 "$dev"
	rules_clear ibfab1
	wait_for 30 has_carrier h1 "$dev"
	wait_for 20 pings
done

step "A tenth of all datagrams lost, doubled or late: it still pings"
rule ibfab1 what=data do=drop ppm=100000
rule ibfab0 what=data do=duplicate every=10
rule switch0 port=1 dir=out what=data do=reorder every=10 ms=50
on h0 ping -q -c 100 -i 0.02 -W 1 10.0.0.2 >/run/ping || :
cat /run/ping
lost=$(sed -n 's/.* \([0-9]*\)% packet loss.*/\1/p' /run/ping)
assert_between "% lost" "$lost" 1 30
assert_match "ping" "$(cat /run/ping)" 'duplicates'
rules_clear ibfab1
rules_clear ibfab0
rules_clear switch0
wait_for 10 pings

step "Verbs that fail: each is counted; the driver tries again by itself, or after down and up"
errors=$(netdev_counter h0 "$(dev_of h0)" tx_errors)
verb_fails ibfab0 post_send 1
wait_for 10 pings
assert_eq "post_send failed" "$(verb_failed ibfab0 post_send)" 1
assert_eq tx_errors "$(netdev_counter h0 "$(dev_of h0)" tx_errors)" \
	$((errors + 1))
verb_fails ibfab1 attach_mcast 1
up_again
wait_for 20 has_carrier h1 "$dev"
assert_eq "attach_mcast failed" "$(verb_failed ibfab1 attach_mcast)" 1
verb_fails ibfab1 create_ah 1
up_again
sleep 2
assert_eq "create_ah failed" "$(verb_failed ibfab1 create_ah)" 1
refute has_carrier h1 "$dev"
up_again
wait_for 20 has_carrier h1 "$dev"
wait_for 20 pings
