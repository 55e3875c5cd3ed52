# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Ports with several LIDs (LMC): unicasts and multicasts arrive, and a host does not receive
# its own broadcasts.
# kernel: stock
# soak-kernel: debug
# timeout: 120
# profiles: connectx3 connectx5 small virtual

. /cases/lib.sh

pings()
{
	on h0 ping -q -c 1 -W 1 "$@"
}

# loopbacks: prints how many of its own packets h0 has dropped.
loopbacks()
{
	on h0 ethtool -S "$(dev_of h0)" | awk '$1 == "rx_loopback:" { print $2 }'
}

fabric_start hcas=2
opensm_start -l 2
ipoib_load
hosts_make 2
assert_eq "LMC" "$(printf '%d' "$(cat "$ib/ibfab0/ports/1/lid_mask_count")")" 2

step "Unicast, both families: the SA is asked once for a path, whichever LID packets come from"
rule ibfab0 what=gmp class=0x03 attr=0x35 do=drop every=4294967295
wait_for 20 pings 10.0.0.2
wait_for 20 pings fd00::2
pings_all h0 20 10.0.0.2
assert_between "questions of h1" "$(rule_figure ibfab0 seen)" 1 2

step "Broadcast: the other hears it, the sender does not hear itself"
# If h0 received its own request, it would answer it as well
on h0 sh -c 'echo 0 >/proc/sys/net/ipv4/icmp_echo_ignore_broadcasts'
on h1 sh -c 'echo 0 >/proc/sys/net/ipv4/icmp_echo_ignore_broadcasts'
witness_start h0 dst 10.0.0.255
witness_start h1 dst 10.0.0.255
out=$(on h0 ping -b -c 20 -i 0.2 -W 2 10.0.0.255)
assert_match "the answers" "$out" 'from 10.0.0.2'
assert_eq "broadcast packets that h1 took" "$(witness_stop h1)" 20
assert_eq "broadcast packets that h0 took, of its own" "$(witness_stop h0)" 0
note "own packets that came back: $(loopbacks)"
netdev_has_none h0 rx_errors tx_errors
