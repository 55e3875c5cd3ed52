# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Packets that a receiver must refuse are counted by reason and not delivered.
# timeout: 90

. /cases/lib.sh

# listen WORDS: creates a receiver at ibfab1; sets $qpn.
listen()
{
	raw_listen ibfab1 "$*"
}

# send WORDS: sends from ibfab0.
send()
{
	echo "$*" >"$raw/ibfab0/send"
}

# pkey_index HCA P_KEY
pkey_index()
{
	for _entry in "$ib/$1"/ports/1/pkeys/*; do
		if [ "$(cat "$_entry")" = "$2" ]; then
			echo "${_entry##*/}"
			return
		fi
	done
	fail "$1 has no P_Key $2"
}

# refused NODE REASON WORDS: the packet is counted once, at this node and for this reason, and
# does not arrive.
refused()
{
	_node=$1 _reason=$2
	shift 2
	_counted=$(fabric_counter "$_node" "$_reason") _packets=$(raw_received ibfab1 packets)
	send "$*"
	wait_for 5 counter_is "$_node" "$_reason" $((_counted + 1))
	assert_eq "packets received" "$(raw_received ibfab1 packets)" "$_packets"
}

# accepted WORDS
accepted()
{
	_packets=$(raw_received ibfab1 packets)
	send "$*"
	wait_for 5 raw_is ibfab1 packets $((_packets + 1))
}

fabric_start hcas=3
module_insert /modules/ibraw.ko
cat >/run/partitions.conf <<'CONF'
Default=0x7fff, ipoib : ALL=full;
alone=0x1 : 0x021bfa0100000001=full;
limited=0x2 : 0x021bfa0100000001=limited, 0x021bfa0100000101=limited;
mixed=0x3 : 0x021bfa0100000001=limited, 0x021bfa0100000101=full;
CONF
opensm_start -P /run/partitions.conf
wait_for 10 grep -qx 0x8003 "$ib"/ibfab1/ports/1/pkeys/*
wait_for 10 grep -qx 0x0003 "$ib"/ibfab0/ports/1/pkeys/*
lid=$(lid_of ibfab1)
gid=$(cat "$ib/ibfab1/ports/1/gids/0")

step "A good datagram arrives as it was sent"
listen "qkey=0x1bfa"
accepted "dlid=$lid qpn=$qpn qkey=0x1bfa sl=3 payload=0102030405"
assert_eq payload "$(raw_received ibfab1 last.payload)" 0102030405
assert_eq length "$(raw_received ibfab1 last.length)" 5
assert_eq "source LID" "$(raw_received ibfab1 last.slid)" 1
assert_eq SL "$(raw_received ibfab1 last.sl)" 3
assert_eq GRH "$(raw_received ibfab1 last.grh)" 0
accepted "dlid=$lid qpn=$qpn qkey=0x1bfa"
assert_eq "length of an empty one" "$(raw_received ibfab1 last.length)" 0
accepted "dlid=$lid qpn=$qpn qkey=0x1bfa dgid=$gid length=4096"
assert_eq GRH "$(raw_received ibfab1 last.grh)" 1
assert_eq length "$(raw_received ibfab1 last.length)" 4096

step "Q_Key"
violations=$(fabric_counter ibfab1 port1.qkey_violations)
refused ibfab1 port1.drop.rx_qkey "dlid=$lid qpn=$qpn qkey=0x1bfb"
assert_eq QkeyViolations "$(smpquery -C ibfab0 portinfo "$lid" 1 |
	sed -n 's/^QkeyViolations:\.*//p')" $((violations + 1))

step "P_Key: another partition, and two limited members of the same"
index=$(pkey_index ibfab0 0x8001)
violations=$(fabric_counter ibfab1 port1.pkey_violations)
refused ibfab1 port1.drop.rx_pkey \
	"dlid=$lid qpn=$qpn qkey=0x1bfa pkey_index=$index"
listen "qkey=0x1bfa pkey_index=$(pkey_index ibfab1 0x0002)"
refused ibfab1 port1.drop.rx_pkey \
	"dlid=$lid qpn=$qpn qkey=0x1bfa pkey_index=$(pkey_index ibfab0 0x0002)"
assert_eq PkeyViolations "$(smpquery -C ibfab0 portinfo "$lid" 1 |
	sed -n 's/^PkeyViolations:\.*//p')" $((violations + 2))
index=$(pkey_index ibfab1 0x8003)
listen "qkey=0x1bfa pkey_index=$index"
accepted "dlid=$lid qpn=$qpn qkey=0x1bfa pkey_index=$(pkey_index ibfab0 0x0003)"
assert_eq "P_Key index" "$(raw_received ibfab1 last.pkey_index)" "$index"

step "QPN, DLID and DGID"
listen "qkey=0x1bfa"
refused ibfab1 port1.drop.rx_no_qp "dlid=$lid qpn=0xabcdef qkey=0x1bfa"
refused ibfab1 port1.drop.rx_dgid \
	"dlid=$lid qpn=$qpn qkey=0x1bfa dgid=fe80::1"
relay=$(fabric_counter switch0 port1.rcv_switch_relay_errors)
refused switch0 port1.drop.fwd_no_route "dlid=4000 qpn=$qpn qkey=0x1bfa"
assert_eq PortRcvSwitchRelayErrors \
	"$(fabric_counter switch0 port1.rcv_switch_relay_errors)" $((relay + 1))

step "No receive posted"
listen "qkey=0x1bfa posted=0"
refused ibfab1 port1.drop.rx_no_wr "dlid=$lid qpn=$qpn qkey=0x1bfa"

step "More than the MTU: an error at the sender, counted at the receiver"
listen "qkey=0x1bfa"
refute send "dlid=$lid qpn=$qpn qkey=0x1bfa length=4097"
ibportstate -C ibfab0 "$lid" 1 mtu 3 >/run/mtu
assert_match "the active MTU" "$(smpquery -C ibfab0 portinfo "$lid" 1)" \
	'NeighborMTU:\.+1024'
errors=$(fabric_counter ibfab1 port1.rcv_errors)
refused ibfab1 port1.drop.rx_mtu "dlid=$lid qpn=$qpn qkey=0x1bfa length=1025"
accepted "dlid=$lid qpn=$qpn qkey=0x1bfa length=1024"
assert_eq PortRcvErrors "$(fabric_counter ibfab1 port1.rcv_errors)" $((errors + 1))

step "More than the buffer: the receive fails, and the QP with it"
listen "qkey=0x1bfa buffer=140"
accepted "dlid=$lid qpn=$qpn qkey=0x1bfa length=100"
refused ibfab1 port1.drop.rx_buffer "dlid=$lid qpn=$qpn qkey=0x1bfa length=101"
wait_for 5 raw_is ibfab1 errors 1
refused ibfab1 port1.drop.rx_qp_state "dlid=$lid qpn=$qpn qkey=0x1bfa length=100"
