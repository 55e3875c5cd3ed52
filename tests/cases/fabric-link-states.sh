# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# A port that is not ACTIVE only passes SMPs; disabling a link brings down both its ends.
# timeout: 90

. /cases/lib.sh

state_is()
{
	grep -q "$2" "$ib/$1/ports/1/state"
}

# carrier_is STATE: of the in-tree driver's netdevice on ibfab1, which shows that events reach
# ULPs.
carrier_is()
{
	[ "$(cat "/sys/class/net/$dev/carrier")" = "$1" ]
}

fabric_start hcas=2
module_insert /modules/ibraw.ko
raw_listen ibfab1 "qkey=0x1bfa"

step "INIT: SMPs pass, a datagram does not leave the port"
assert state_is ibfab0 INIT
assert smpquery -C ibfab0 -D nodedesc 0,1,2
discards=$(fabric_counter ibfab0 port1.xmit_discards)
echo "dlid=3 qpn=$qpn qkey=0x1bfa count=7" >"$raw/ibfab0/send"
assert_eq "drops" "$(fabric_counter ibfab0 port1.drop.tx_inactive)" 7
assert_eq PortXmitDiscards "$(fabric_counter ibfab0 port1.xmit_discards)" \
	$((discards + 7))
assert_eq "packets received" "$(raw_received ibfab1 packets)" 0
assert_match "ibping" "$(ibping -C ibfab0 -c 1 -t 200 -L 3 2>&1)" \
	'1 packets transmitted, 0 received'

step "ACTIVE: it arrives"
opensm_start
lid=$(lid_of ibfab1)
echo "dlid=$lid qpn=$qpn qkey=0x1bfa" >"$raw/ibfab0/send"
wait_for 5 raw_is ibfab1 packets 1
intree_load
wait_for 5 netdev_of ibfab1
dev=$(netdev_of ibfab1)
ip link set "$dev" up
wait_for 10 carrier_is 1

step "One end of the link not ACTIVE: the switch's port discards"
sw=$(smpquery -C ibfab0 -D portinfo 0,1 0 | sed -n 's/^Lid:\.*//p')
downed=$(fabric_counter ibfab1 port1.link_downed)
opensm_stop
ibportstate -C ibfab0 "$sw" 2 disable >/run/disable
assert_match "the switch's port" "$(smpquery -C ibfab0 portinfo "$sw" 2)" \
	'PhysLinkState:\.+Disabled'
assert state_is ibfab1 DOWN
assert_eq LinkDowned "$(fabric_counter ibfab1 port1.link_downed)" $((downed + 1))
wait_for 5 carrier_is 0
discards=$(fabric_counter switch0 port2.xmit_discards)
echo "dlid=$lid qpn=$qpn qkey=0x1bfa count=3" >"$raw/ibfab0/send"
assert_eq PortXmitDiscards "$(fabric_counter switch0 port2.xmit_discards)" \
	$((discards + 3))
must_fail smpquery -C ibfab0 -t 200 -D nodeinfo 0,1,2

step "Enabled: INIT, and ACTIVE again under a new OpenSM"
ibportstate -C ibfab0 "$sw" 2 enable >/run/enable
assert state_is ibfab1 INIT
opensm_start -s 0
wait_for 10 carrier_is 1
echo "dlid=$lid qpn=$qpn qkey=0x1bfa" >"$raw/ibfab0/send"
wait_for 5 raw_is ibfab1 packets 2

# OpenSM does not sweep periodically here, so without the switch's trap it would see neither
# change.
step "A cable is unplugged and plugged in: OpenSM is notified at once"
assert sa_knows ibfab1
echo "switch0 2 down" >"$ibfab/cable"
assert state_is ibfab1 DOWN
assert_match "the topology table" "$(cat "$ibfab/topology")" \
	'^ibfab1 .* DOWN switch0 .* cable down$'
wait_for 5 carrier_is 0
wait_for 6 not sa_knows ibfab1
# A sweep may have found the change before the trap was processed
wait_for 10 grep -q "num:128 .Link state change. Producer:2 .Switch. from LID:$sw " \
	/var/log/opensm.log
echo "switch0 2 up" >"$ibfab/cable"
wait_for 6 state_is ibfab1 ACTIVE
wait_for 10 carrier_is 1
echo "dlid=$lid qpn=$qpn qkey=0x1bfa" >"$raw/ibfab0/send"
wait_for 5 raw_is ibfab1 packets 3

step "Cables that do not exist, and invalid words"
must_fail sh -c "echo 'switch0 4 up' >$ibfab/cable"
must_fail sh -c "echo 'switch1 1 up' >$ibfab/cable"
must_fail sh -c "echo 'ibfab0 1 sideways' >$ibfab/cable"
