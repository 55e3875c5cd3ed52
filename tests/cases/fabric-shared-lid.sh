# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Virtual ports share the LID of a physical port: they are distinguished by DGID, known to the
# SM as alias GUIDs, and reach each other and other ports; settings of the SM apply to them,
# too.
# timeout: 200

. /cases/lib.sh

everybody="0 1 2 3"

gid_of()
{
	cat "$ib/ibfab$1/ports/1/gids/0"
}

# listeners: creates a receiver at each port, whose QPN is $qpn_N.
listeners()
{
	for n in $everybody; do
		raw_listen "ibfab$n" "qkey=0x1bfa $*"
		eval "qpn_$n=$qpn"
	done
}

# sends FROM TO [WORDS]: sends a packet to TO's LID and QPN, without a GRH unless WORDS has one.
sends()
{
	_from=$1 _to=$2
	shift 2
	eval "_qpn=\$qpn_$_to"
	# shellcheck disable=SC2154  # by eval
	echo "dlid=$(lid_of "ibfab$_to") qpn=$_qpn qkey=0x1bfa payload=0102 $*" >/run/line
	cat /run/line >"$raw/ibfab$_from/send" 2>/run/send.log
}

# got COUNT...: each port has received this number of packets since `listeners`, and no more
# arrive.
got()
{
	_n=0
	for _count; do
		wait_for 5 raw_reaches "ibfab$_n" packets "$_count"
		_n=$((_n + 1))
	done
	sleep 0.1
	_n=0
	for _count; do
		assert_eq "packets at ibfab$_n" "$(raw_received "ibfab$_n" packets)" "$_count"
		_n=$((_n + 1))
	done
}

# path_to N: prints the SA's path from ibfab0 to that port's GID.
path_to()
{
	saquery -C ibfab0 --sgid "$(gid_of 0)" --dgid "$(gid_of "$1")" PathRecord
}

# knows LID N: the SA has a path to the port's GID with this LID, which does not require a GRH.
knows()
{
	path_to "$2" | awk -F '[. \t]+' -v lid="$1" '
		$2 == "dlid" && $3 != lid { exit 1 }
		$2 == "hop_flow_raw" && $3 != "0x0" { exit 1 }
		$2 == "dlid" { found = 1 }
		END { exit !found }'
}

aliases_known()
{
	for _n in 1 2 3; do
		knows "$(lid_of ibfab1)" $_n || return
	done
}

modprobe ib_core
step "Invalid pairs are refused"
for bad in 1 1:1 0:1 2:0,2:1 2:1,3:2 3:2,2:1 4:1 2:1x x; do
	must_fail insmod /modules/ibfab.ko hcas=4 "vport=$bad"
done
assert test "$(dmesg | grep -c 'ibfab: vport=.* is not an HCA')" -ge 9

step "One LID, and three GIDs"
fabric_start hcas=4 vport=2:1,3:1
module_insert /modules/ibraw.ko
opensm_start
for n in 2 3; do
	assert_eq "LID of ibfab$n" "$(lid_of ibfab$n)" "$(lid_of ibfab1)"
	assert_match "place of ibfab$n" "$(cat "$ibfab/topology")" "^ibfab$n .* ACTIVE on ibfab1 1\$"
done
assert_eq "GIDs" "$(cat "$ib"/ibfab*/ports/1/gids/0 | sort -u | wc -l)" 4
cat "$ibfab/topology"

step "Management tools see the physical ports, and the SA knows the virtual ones' GUIDs"
assert_eq "cables" "$(found_cables)" "$(table_cables)"
ibnetdiscover -C ibfab0 -l >/run/found
assert grep ibfab1 /run/found
refute grep -E 'ibfab(2|3)' /run/found
wait_for 10 aliases_known
path_to 2
saquery -C ibfab0 GUIDInfoRecord "$(lid_of ibfab1)/0"

step "With a GRH a packet reaches the port that it names, without one the physical port"
listeners
sends 0 1
got 0 1 0 0
for n in 1 2 3; do
	sends 0 $n "dgid=$(gid_of $n)"
done
got 0 2 1 1
# A packet without a GRH is for the physical port, even if a virtual port's QP has the QPN
sends 0 2
sends 0 3
assert_eq "of ibfab2 and ibfab3" "$(raw_received ibfab2 packets) $(raw_received ibfab3 packets)" "1 1"

step "A packet whose GRH has the GID of none of them is dropped"
dropped=$(fabric_counter ibfab1 port1.drop.rx_dgid)
sends 0 2 dgid=fe80::21b:fa01:0:9901
wait_for 5 counter_is ibfab1 port1.drop.rx_dgid $((dropped + 1))

step "A virtual port sends nothing without a GRH"
sent=$(fabric_counter ibfab2 port1.xmit_packets)
refute sends 2 0
refute sends 2 3
assert_match "error" "$(cat /run/send.log)" 'Invalid argument'

step "From each to each, and from within the HCA over no cable"
listeners
crossed=$(fabric_counter ibfab1 port1.unicast_rcv_packets)
for from in 1 2 3; do
	for to in $everybody; do
		repeat 3 sends $from "$to" "dgid=$(gid_of "$to")"
	done
done
got 9 9 9 9
assert_eq "what crossed the cable" \
	"$(fabric_counter ibfab1 port1.unicast_rcv_packets)" "$crossed"
assert_eq "what ibfab2 sent" "$(fabric_counter ibfab2 port1.xmit_packets)" $((sent + 12))

step "To a group: one copy for each member, and none to a QP that blocks its own packets"
mgid=ff12:401b:ffff::ffff:ffff
echo 'Default=0x7fff, ipoib : ALL=full;' >/run/partitions.conf
for n in $everybody; do
	echo "mgid=$mgid" >"$raw/ibfab$n/join" || fail "ibfab$n cannot join"
done
mlid=$(saquery -C ibfab0 -g | awk -F '[. \t]+' '$2 == "Mlid" { print $3; exit }')
listeners "mgid=$mgid mlid=$mlid block_loopback=1"
# speaks N: sends to the group from the QP that listens.
speaks()
{
	echo "dlid=$mlid qpn=0xffffff qkey=0x1bfa dgid=$mgid from_listener=1 payload=0102" \
		>"$raw/ibfab$1/send" || fail "ibfab$1 cannot send"
}
speaks 0
got 0 1 1 1
speaks 1
got 1 1 2 2
speaks 2
got 2 2 2 3
speaks 3
got 3 3 3 3
saquery -C ibfab0 -m

step "... also if only a virtual port is a member"
for n in 1 3; do
	echo >"$raw/ibfab$n/join"
	echo >"$raw/ibfab$n/listen"
done
lost=$(fabric_counter ibfab1 port1.drop.rx_no_group)
speaks 0
wait_for 5 raw_is ibfab2 packets 4
assert_eq "lost" "$(fabric_counter ibfab1 port1.drop.rx_no_group)" "$lost"

step "P_Keys, LID and link are the physical port's"
echo "1 rotate_pkeys 5" >"$ibfab/ibfab1/change"
for n in 1 2 3; do
	assert_eq "P_Key 5 of ibfab$n" "$(cat "$ib/ibfab$n/ports/1/pkeys/5")" 0xffff
done
echo "1 rotate_pkeys 27" >"$ibfab/ibfab1/change"
echo "1 lid 0x77" >"$ibfab/ibfab1/change"
assert_eq "LID of ibfab3" "$(lid_of ibfab3)" 119
must_fail sh -c "echo '1 lid 0x78' >$ibfab/ibfab3/change"
echo "switch0 2 down" >"$ibfab/cable"
assert_match "state of ibfab2" "$(cat "$ib/ibfab2/ports/1/state")" DOWN
echo "switch0 2 up" >"$ibfab/cable"
wait_for 30 fabric_ports_active
wait_for 10 aliases_known

step "The GUIDs are reported to a new SM, and to one that knows them already"
opensm_kill
opensm_start
wait_for 10 aliases_known

step "Each is removed and added, and the physical port with all its virtual ports"
unplug ibfab2
# Its GUID is still in the physical port's table
dropped=$(fabric_counter ibfab1 port1.drop.rx_dgid)
echo "dlid=$(lid_of ibfab1) qpn=2 qkey=1 dgid=fe80::21b:fa01:0:201" >"$raw/ibfab0/send"
wait_for 5 counter_is ibfab1 port1.drop.rx_dgid $((dropped + 1))
unplug ibfab1
refute test -e "$ib/ibfab3"
must_fail sh -c "echo 'ibfab2 plug' >$ibfab/hotplug"
plug ibfab1
plug ibfab3
plug ibfab2
wait_for 30 fabric_ports_active
wait_for 10 aliases_known
listeners
for n in 1 2 3; do
	sends 0 $n "dgid=$(gid_of $n)"
done
got 0 1 1 1
opensm_stop
