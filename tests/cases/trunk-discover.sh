# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-trunk.sh
# Two guests form one subnet under one OpenSM: tools in both see all nodes, routes cross the
# trunk, and its counters agree at both ends.
# guests: 2
# timeout: 400

. /cases/lib-trunk.sh

# refused PARAMETERS PATTERN: they are refused, with one line in the kernel log that matches.
refused()
{
	dmesg -c >/run/dmesg.old
	# shellcheck disable=SC2086  # words
	must_fail insmod /modules/ibfab.ko $1
	dmesg >/run/dmesg
	assert_eq "lines in the log for $1" "$(wc -l </run/dmesg)" 1
	assert_match "the log for $1" "$(cat /run/dmesg)" "$2"
}

# one_line FILE: prints it as one line, for the other guest.
one_line()
{
	tr '\n' ';' <"$1"
}

# own_nodes: prints the GUID and the number of connected ports of each node of this guest.
own_nodes()
{
	awk 'NF == 13 { ports[$2]++ } END { for (guid in ports) print guid, ports[guid] }' \
		"$ibfab/topology"
}

found_nodes()
{
	ibnetdiscover -C ibfab0 | awk '
		/^(caguid|switchguid)=0x/ { guid = $1; sub(/.*=0x/, "", guid)
			sub(/\(.*/, "", guid); guid = sprintf("%16s", guid)
			gsub(/ /, "0", guid) }
		/^\[/ { ports[guid]++ }
		END { for (guid in ports) print guid, ports[guid] }'
}

# switches_between LID LID: prints the names of the switches on the route.
switches_between()
{
	ibtracert -C ibfab0 "$1" "$2" |
		sed -n 's/.*"ibfab \(switch[0-9]*\) part \([12]\)"$/\2.\1/p' |
		uniq | tr '\n' ' '
}

# switch_lid PART SWITCH: prints its LID, according to the SA.
switch_lid()
{
	saquery -C ibfab0 NR | tr -d '\t' | awk -v name="ibfab $2 part $1" '
		/^lid\./ { lid = $1; sub(/^lid\.*/, "", lid) }
		sub(/^NodeDescription\.*/, "") && $0 == name { print lid }'
}

step "Invalid parameters"
modprobe ib_core
insmod /modules/ibfab.ko
rmmod ibfab
refused "subnet_part=256" 'ibfab: subnet_part=256 is more than 255'
refused "trunk=a/b" 'ibfab: trunk=a/b is no name of a network device'

step "The device comes after the module: no link, and then there is one"
ip link set "$trunk" down
ip link set "$trunk" name elsewhere
if pair_here a; then
	set -- hcas=3 switches=2
else
	set -- hcas=4 switches=5 shape=tree
fi
fabric_start "trunk=$trunk" "subnet_part=$part" "$@"
module_insert /modules/ibraw.ko
assert trunk_is down
trunk_port
assert trunk_state_is DOWN
assert_eq "frames so far" "$(trunk_figure hellos_received)" 0
pair_barrier loaded
ip link set elsewhere name "$trunk"
ip link set "$trunk" up
wait_for 20 trunk_is up
subnet_up a
note "at $trunk_switch port $trunk_num; instance $(trunk_figure instance)"

step "Both ends know each other's instance"
pair_put instance "$(trunk_figure instance)"
assert_eq "the other's instance" "$(trunk_figure peer)" "$(pair_get instance)"

step "All nodes, with all their cables, as two topologies and two tools say"
own_nodes >/run/own
pair_put nodes "$(one_line /run/own)"
pair_get nodes | tr ';' '\n' >/run/there
sort /run/own /run/there | sed '/^$/d' >/run/nodes
assert_eq nodes "$(wc -l </run/nodes)" 14
assert_eq "different GUIDs" "$(cut -d ' ' -f 1 /run/nodes | uniq | wc -l)" 14
found_nodes | sort >/run/found
assert diff /run/nodes /run/found
assert_eq "nodes that the SA knows" "$(saquery -C ibfab0 NR | grep -c 'NodeDescription')" 14
assert_eq "different descriptions" \
	"$(saquery -C ibfab0 NR | grep 'NodeDescription' | sort -u | wc -l)" 14

step "The way from HCA to HCA leads over the trunk's two switches"
pair_put lid "$(lid_of ibfab0)"
lid=$(pair_get lid)
pair_put switch "$trunk_switch"
far_switch=$(pair_get switch)
way=$(switches_between "$(lid_of ibfab0)" "$lid")
note "to LID $lid: $way"
assert_match "the way" "$way" \
	"$part\.$trunk_switch $other_part\.$far_switch "
way_back=$(switches_between "$lid" "$(lid_of ibfab0)")
assert_match "the way back" "$way_back" \
	"$other_part\.$far_switch $part\.$trunk_switch "

step "Datagrams both ways: perfquery of the trunk's ports agrees with what was sent"
raw_listen ibfab0 "qkey=0x1bfa posted=1024"
pair_put qpn "$qpn"
qpn=$(pair_get qpn)
near=$(switch_lid "$part" "$trunk_switch")
far=$(switch_lid "$other_part" "$far_switch")
pair_put num "$trunk_num"
far_num=$(pair_get num)
near_data=$(pma "$near" "$trunk_num" PortXmitData)
far_data=$(pma "$far" "$far_num" PortRcvData)
pair_barrier counted
echo "dlid=$lid qpn=$qpn qkey=0x1bfa length=2000 count=500" >"$raw/ibfab0/send"
wait_for 20 raw_is ibfab0 packets 500
pair_barrier arrived
near_data=$(($(pma "$near" "$trunk_num" PortXmitData) - near_data))
far_data=$(($(pma "$far" "$far_num" PortRcvData) - far_data))
note "$near_data words sent here, $far_data received there"
# LRH 8, BTH 12, DETH 8, payload 2000, ICRC 4: 508 words. perfquery's own packets are counted, too.
assert_between "words sent" "$near_data" $((500 * 508)) $((500 * 508 + 2000))
assert_between "words received" "$far_data" $((500 * 508)) $((500 * 508 + 2000))
assert raw_is ibfab0 errors 0

step "Without traffic, each end has received exactly the packets that the other has sent"
pair_barrier over
! pair_here a || opensm_stop
pair_barrier quiet
# A packet may still be crossing this guest
sleep 1
trunk_agrees
note "$sent packets sent, $received received"
assert_eq "port's PortXmitPkts" "$(trunk_counter xmit_packets)" "$sent"
assert_eq "port's PortRcvPkts" "$(trunk_counter rcv_packets)" "$received"
# shellcheck disable=SC2016  # awk's
assert_none "drops at the port" awk -v p="^port$trunk_num.drop" '$1 ~ p && $2 != 0' \
	"$ibfab/$trunk_switch/counters"

step "A rule and a capture at the trunk's port"
packets=$(raw_received ibfab0 packets)
rule "$trunk_switch" "port=$trunk_num" what=data do=drop every=2
echo on >"$ibfab/$trunk_switch/port$trunk_num.erf"
pair_barrier ruled
echo "dlid=$lid qpn=$qpn qkey=0x1bfa length=100 count=10" >"$raw/ibfab0/send"
wait_for 10 counter_is "$trunk_switch" "port$trunk_num.drop.fault" 5
wait_for 10 raw_is ibfab0 packets $((packets + 5))
echo off >"$ibfab/$trunk_switch/port$trunk_num.erf"
assert_between "packets captured" "$(trunk_counter capture.packets)" 15 20

step "The module goes: the other end's port is down at once"
pair_barrier last
if pair_here a; then
	rmmod ibraw
	fabric_stop
else
	wait_for 10 trunk_state_is DOWN
	assert_eq "links that silence ended" "$(trunk_figure silent)" 0
fi
pair_barrier gone
