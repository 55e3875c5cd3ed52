# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The performance counters that perfquery reads count exactly the packets that were sent.
# timeout: 60

. /cases/lib.sh

# grown LID PORT FIELD FROM: prints by how much it exceeds FROM.
grown()
{
	echo "$(($(pma "$1" "$2" "$3") - $4))"
}

# settled: nothing crosses the switch's ports 2 and 3 unasked. The kernel's SA clients query
# the SA's capabilities when their port comes up.
settled()
{
	_was=$(pma "$sw" 2 PortRcvPkts) _was_3=$(pma "$sw" 3 PortRcvPkts)
	sleep 1
	[ "$(pma "$sw" 2 PortRcvPkts) $(pma "$sw" 3 PortRcvPkts)" = "$_was $_was_3" ]
}

# Management uses ibfab0, test traffic the switch's ports 2 and 3, which lead to ibfab1 and
# ibfab2. OpenSM polls only the switch.
fabric_start hcas=3
module_insert /modules/ibraw.ko
opensm_start
sw=$(smpquery -C ibfab0 -D portinfo 0,1 0 | sed -n 's/^Lid:\.*//p')
wait_for 20 settled

step "1000 datagrams of 100 bytes"
packets=$(pma "$sw" 2 PortRcvPkts)
data=$(pma "$sw" 2 PortRcvData)
out_packets=$(pma "$sw" 3 PortXmitPkts)
out_data=$(pma "$sw" 3 PortXmitData)
mcast=$(pma "$sw" 3 PortMulticastXmitPkts)
raw_listen ibfab2 "qkey=0x1bfa posted=1024"
echo "dlid=$(lid_of ibfab2) qpn=$qpn qkey=0x1bfa length=100 count=1000" \
	>"$raw/ibfab1/send"
wait_for 5 raw_is ibfab2 packets 1000
# LRH 8, BTH 12, DETH 8, payload 100, ICRC 4: 33 words
assert_eq "PortRcvPkts" "$(grown "$sw" 2 PortRcvPkts "$packets")" 1000
assert_eq "PortRcvData" "$(grown "$sw" 2 PortRcvData "$data")" 33000
assert_eq "PortXmitPkts" "$(grown "$sw" 3 PortXmitPkts "$out_packets")" 1000
assert_eq "PortXmitData" "$(grown "$sw" 3 PortXmitData "$out_data")" 33000
assert_eq "PortMulticastXmitPkts" \
	"$(grown "$sw" 3 PortMulticastXmitPkts "$mcast")" 0

step "Padding and a GRH count too"
packets=$(pma "$sw" 2 PortRcvPkts)
data=$(pma "$sw" 2 PortRcvData)
gid=$(cat "$ib/ibfab2/ports/1/gids/0")
echo "dlid=$(lid_of ibfab2) qpn=$qpn qkey=0x1bfa dgid=$gid payload=aa" \
	>"$raw/ibfab1/send"
# LRH 8, GRH 40, BTH 12, DETH 8, payload 1, pad 3, ICRC 4: 19 words
assert_eq "PortRcvPkts" "$(grown "$sw" 2 PortRcvPkts "$packets")" 1
assert_eq "PortRcvData" "$(grown "$sw" 2 PortRcvData "$data")" 19

step "50 pings of ibping, there and back"
traffic_start ibping ibping -S -C ibfab2
sleep 1
there=$(pma "$sw" 3 PortXmitPkts)
back=$(pma "$sw" 3 PortRcvPkts)
data=$(pma "$sw" 3 PortXmitData)
pong=$(ibping -C ibfab1 -f -c 50 -L "$(lid_of ibfab2)")
note "$pong"
assert_match "ibping" "$pong" '50 packets transmitted, 50 received, 0% packet loss'
assert_eq "PortXmitPkts" "$(grown "$sw" 3 PortXmitPkts "$there")" 50
assert_eq "PortRcvPkts" "$(grown "$sw" 3 PortRcvPkts "$back")" 50
# A MAD: LRH 8, BTH 12, DETH 8, 256, ICRC 4: 72 words
assert_eq "PortXmitData" "$(grown "$sw" 3 PortXmitData "$data")" $((50 * 72))
traffic_stop ibping

step "An HCA's own counters, the reading itself apart"
lid=$(lid_of ibfab2)
a=$(pma "$lid" 1 PortRcvPkts)
b=$(pma "$lid" 1 PortRcvPkts)
echo "dlid=$lid qpn=$qpn qkey=0x1bfa length=4096 count=200" \
	>"$raw/ibfab1/send"
c=$(pma "$lid" 1 PortRcvPkts)
assert_eq "packets between two readings" "$((c - b - (b - a)))" 200

step "Resetting: the counters of one port only, and the classic ones apart"
perfquery -C ibfab0 -R "$sw" 2
classic=$(perfquery -C ibfab0 "$sw" 2)
assert_match "PortCounters" "$classic" '^PortRcvPkts:\.+0$'
assert_match "PortCounters" "$classic" '^PortXmitData:\.+0$'
refute [ "$(pma "$sw" 2 PortRcvPkts)" -eq 0 ]
perfquery -C ibfab0 -x -R "$sw" 2
assert_eq "PortRcvPkts" "$(pma "$sw" 2 PortRcvPkts)" 0
refute [ "$(pma "$sw" 3 PortRcvPkts)" -eq 0 ]
