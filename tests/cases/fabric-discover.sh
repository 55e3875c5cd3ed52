# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# ibnetdiscover, ibstat, ibtracert and smpquery agree with the fabric's topology table.
# timeout: 60
# kernel: stock 6.12 newest

. /cases/lib.sh

# smp FIELD QUERY...: prints one field of smpquery's output.
smp()
{
	_field=$1
	shift
	smpquery -C ibfab0 "$@" |
		sed -n "s/^$_field:\.*//p"
}

fabric_start hcas=6 switches=3

step "Before a subnet manager came: SMPs pass, and every link is INIT"
assert links_are INIT
found_cables >/run/found
table_cables >/run/table
note "$(wc -l </run/table) ends of cables"
assert diff /run/table /run/found

step "With OpenSM: every link is ACTIVE, the cables are the same"
opensm_start
assert links_are ACTIVE
found_cables >/run/found
assert diff /run/table /run/found

step "ibstat shows each HCA's GUIDs, LID and state"
for hca in ibfab0 ibfab3 ibfab5; do
	guid=$(awk -v n="$hca" '$1 == n { print $2 }' "$ibfab/topology")
	lid=$(awk -v n="$hca" '$1 == n { print $5 }' "$ibfab/topology")
	stat=$(ibstat "$hca")
	assert_match "$hca" "$stat" "Node GUID: 0x$guid"
	assert_match "$hca" "$stat" "Base lid: $lid\$"
	assert_match "$hca" "$stat" 'State: Active'
	assert_match "$hca" "$stat" 'Physical state: LinkUp'
	assert_match "$hca" "$stat" 'Rate: 100$'
	assert_match "$hca" "$stat" 'Link layer: InfiniBand'
done

step "smpquery: NodeInfo, PortInfo, P_Keys, SwitchInfo"
lid=$(awk '$1 == "ibfab4" { print $5 }' "$ibfab/topology")
assert_eq NodeType "$(smp NodeType nodeinfo "$lid")" "Channel Adapter"
assert_eq Guid "$(smp Guid nodeinfo "$lid")" 0x021bfa0100000400
assert_eq PortGuid "$(smp PortGuid nodeinfo "$lid")" 0x021bfa0100000401
assert_eq Lid "$(smp Lid portinfo "$lid" 1)" "$lid"
assert_eq LinkState "$(smp LinkState portinfo "$lid" 1)" Active
assert_eq NeighborMTU "$(smp NeighborMTU portinfo "$lid" 1)" 4096
assert_eq "the node's description" \
	"$(smpquery -C ibfab0 nodedesc "$lid" | sed 's/.*\.\.//')" ibfab4
assert_match "the P_Key table" "$(smpquery -C ibfab0 pkeys "$lid")" \
	'^ +0: 0xffff 0x0000'
# The route to the first switch is port 1 of ibfab0
assert_eq NodeType "$(smp NodeType -D nodeinfo 0,1)" Switch
assert_eq NumPorts "$(smp NumPorts -D nodeinfo 0,1)" 4
assert_eq LinearFdbCap "$(smp LinearFdbCap -D switchinfo 0,1)" 49152
assert_eq LinearFdbTop "$(smp LinearFdbTop -D switchinfo 0,1)" 9
assert_eq LinkState "$(smp LinkState -D portinfo 0,1 3)" Down

step "An invalid request is refused"
must_fail smpquery -C ibfab0 portinfo "$lid" 2
must_fail smpquery -C ibfab0 -D nodeinfo 0,1,3
must_fail smpquery -C ibfab0 -D nodeinfo 0,1,9

step "ibtracert: from the first switch through the second to the third"
trace=$(ibtracert -C ibfab0 1 "$(awk '$1 == "ibfab5" { print $5 }' "$ibfab/topology")")
note "$trace"
assert_eq "the switches on the way" \
	"$(printf '%s\n' "$trace" | grep -o 'ibfab switch[0-9]' | tr '\n' ' ')" \
	"ibfab switch0 ibfab switch1 ibfab switch2 "

step "saquery: the SA knows the same nodes, paths and the broadcast group"
assert_eq "the SA's nodes" \
	"$(saquery -C ibfab0 | sed -n 's/.*NodeDescription\.*//p' | sort | tr '\n' ,)" \
	"ibfab switch0,ibfab switch1,ibfab switch2,ibfab0,ibfab1,ibfab2,ibfab3,ibfab4,ibfab5,"
path=$(saquery -C ibfab0 --src-to-dst "1:$lid")
assert_match "the path" "$path" "dlid\.+$lid\$"
assert_match "the path" "$path" 'mtu\.+0x85$'
assert_match "the path" "$path" 'rate\.+0x90$'
assert_match "the groups" "$(saquery -C ibfab0 -g)" 'ff12:401b:ffff::ffff:ffff'
