# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Ports that have several LIDs each (LMC): unicast and multicast arrive, and what a host sent to all does not come back to it.
# kernel: both
# timeout: 120
# profiles: connectx3 connectx5 small virtual

. /cases/lib.sh

pings()
{
	on h0 ping -q -c 1 -W 1 "$@"
}

# loopbacks: own packets that h0 threw away.
loopbacks()
{
	on h0 ethtool -S "$(dev_of h0)" | awk '$1 == "rx_loopback:" { print $2 }'
}

fabric_start hcas=2
opensm_start -l 2
ipoib_load
hosts_make 2
assert_eq "LMC" "$(printf '%d' "$(cat "$ib/ibfab0/ports/1/lid_mask_count")")" 2
dev=$(dev_of h0)

step "Unicast, both families: the SA is asked once for a path, whichever LID packets come from"
rule ibfab0 what=gmp class=0x03 attr=0x35 do=drop every=4294967295
wait_for 20 pings 10.0.0.2
wait_for 20 pings fd00::2
said=$(on h0 ping -q -c 20 -i 0.1 -W 2 10.0.0.2) || fail "no answer: $said"
assert_match "pings" "$said" '20 packets transmitted, 20 received'
assert_between "questions of h1" "$(rule_figure ibfab0 seen)" 1 2

step "Broadcast: the other hears it, the sender does not hear itself"
# A duplicate of one's own address would show as its owner's answer
on h0 sh -c 'echo 0 >/proc/sys/net/ipv4/icmp_echo_ignore_broadcasts'
on h1 sh -c 'echo 0 >/proc/sys/net/ipv4/icmp_echo_ignore_broadcasts'
before=$(netdev_counter h0 "$dev" multicast)
out=$(on h0 ping -b -c 20 -i 0.2 -W 2 10.0.0.255)
assert_match "the answers" "$out" 'from 10.0.0.2'
after=$(netdev_counter h0 "$dev" multicast)
assert_between "multicast packets that h0 took" $((after - before)) 0 12
note "own packets that came back: $(loopbacks)"
netdev_has_none h0 rx_errors tx_errors
