# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The performance agents report all ports of a switch at once, datagrams that QP1 dropped, and
# the time that senders wait for credits.
# timeout: 600

. /cases/lib.sh

port_counters=0x12 port_counters_ext=0x1d class_port_info=0x01

# pma_send LID METHOD ATTRIBUTE DATA: sends a performance MAD; sets $answer.
pma_send()
{
	_mad=$(printf '010401%02x%08x%016x%04x0000%08x' "$2" 0 0 "$3" 0)
	mad_send ibfab0 qp=1 "dlid=$1" timeout=2000 \
		"mad=$(hex_pad 128 "$_mad")$(hex_pad 128 "$4")"
}

# unanswered: sends a Get(ClassPortInfo) whose answer is not awaited.
unanswered()
{
	refute mad_send ibfab0 qp=1 "dlid=$lid" timeout=1 \
		"mad=$(hex_pad 512 010401010000000000000000000000000001)"
}

status()
{
	hex_at "$answer" 4 2
}

cap_mask()
{
	pma_send "$1" 1 $class_port_info ''
	printf '%d' "0x$(hex_at "$answer" 66 2)"
}

# classic LID PORT FIELD: prints a field of PortCounters.
classic()
{
	perfquery -C ibfab0 "$1" "$2" | sed -n "s/^$3:\.*//p"
}

# qp1_dropped: prints octets 20 and 21 of PortCounters. perfquery prints VL15Dropped again instead.
qp1_dropped()
{
	pma_send "$lid" 1 $port_counters 0001
	printf '%d' "0x$(hex_at "$answer" $((64 + 20)) 2)"
}

relay=PortRcvSwitchRelayErrors

# relay_errors PORT...: prints the counter of each of the switch's ports, then of port 255,
# their sum.
relay_errors()
{
	for _port in 1 2 3 255; do
		classic "$sw" $_port $relay
	done | tr '\n' ' '
}

# stalls: packets held by a rule fill the input queue at once, so the engine that sends to it
# has to wait.
stalls()
{
	rule ibfab1 what=data do=delay ms=60000
	wait_for 10 rule_holds ibfab1 2000
	rules_clear ibfab1
	counter_reaches ibfab0 port1.xmit_wait 1
}

rule_holds()
{
	[ "$(rule_figure "$1" held)" -ge "$2" ]
}

# Gives QP1 64 receives
modprobe ib_core recv_queue_size=64
fabric_start hcas=3
module_insert /modules/ibraw.ko
module_insert /modules/ibrawmad.ko
opensm_start
sw=$(smpquery -C ibfab0 -D portinfo 0,1 0 | sed -n 's/^Lid:\.*//p')
lid=$(lid_of ibfab1)

step "CapabilityMask: AllPortSelect at the switch alone, the rest at all"
assert_eq "that of the switch" "$(($(cap_mask "$sw") & 0x9300))" $((0x9300))
assert_eq "that of an HCA" "$(($(cap_mask "$lid") & 0x9300))" $((0x9200))

step "A switch's port 255 is the sum of its ports"
for k in 0 1 2; do
	echo "dlid=4000 qpn=2 qkey=0x1bfa count=$(((k + 1) * 100))" \
		>"$raw/ibfab$k/send"
done
assert_eq $relay "$(relay_errors)" "100 200 300 600 "
assert_eq "$relay, 64 bits of it" "$(pma "$sw" 255 $relay)" 600

step "A Set there sets each port's counter, in that attribute only"
# CounterSelect 0x0020, and 7 in octets 12 and 13
pma_send "$sw" 2 $port_counters 00ff002000000000000000000007
assert_eq "status of Set" "$(status)" 0000
# Two other ports have no cable
assert_eq $relay "$(relay_errors)" "7 7 7 35 "
assert_eq "$relay, 64 bits of it" "$(pma "$sw" 255 $relay)" 600
perfquery -C ibfab0 -R "$sw" 255
assert_eq $relay "$(relay_errors)" "0 0 0 0 "
perfquery -C ibfab0 -x -R "$sw" 255
assert_eq "$relay, 64 bits of it" "$(pma "$sw" 255 $relay)" 0

step "An HCA has an agent for each port, and a switch no more ports than it has"
for attr in $port_counters $port_counters_ext; do
	pma_send "$lid" 1 "$attr" 00ff
	assert_eq "status at an HCA" "$(status)" 001c
	pma_send "$sw" 1 "$attr" 00fe
	assert_eq "status of port 254" "$(status)" 001c
done

step "QP1Dropped: more datagrams than QP1 has receives"
raw_listen ibfab1 "qkey=0x1bfa posted=0"
before=$(fabric_counter ibfab1 port1.drop.rx_no_wr)
# ib_mad posts receives again only for completions that it has seen
echo "late 60000" >"$ibfab/ibfab1/completions"
repeat 80 unanswered
echo "late 0" >"$ibfab/ibfab1/completions"
dropped=$(($(fabric_counter ibfab1 port1.drop.rx_no_wr) - before))
note "$dropped of 80 dropped"
assert_between "datagrams dropped" "$dropped" 10 20
assert_eq QP1Dropped "$(qp1_dropped)" "$dropped"
assert_eq "QP1Dropped, 64 bits of it" "$(pma "$lid" 1 QP1Dropped)" "$dropped"
# Drops at other QPs are not counted here
echo "dlid=$lid qpn=$qpn qkey=0x1bfa count=30" >"$raw/ibfab0/send"
wait_for 10 counter_reaches ibfab1 port1.drop.rx_no_wr $((before + dropped + 30))
assert_eq QP1Dropped "$(qp1_dropped)" "$dropped"
perfquery -C ibfab0 -R "$lid" 1
assert_eq QP1Dropped "$(qp1_dropped)" 0
assert_eq "QP1Dropped, 64 bits of it" "$(pma "$lid" 1 QP1Dropped)" "$dropped"
perfquery -C ibfab0 -x -R "$lid" 1
assert_eq "QP1Dropped, 64 bits of it" "$(pma "$lid" 1 QP1Dropped)" 0

step "PortXmitWait: the sender's, when the receiver has no room"
own=$(lid_of ibfab0)
assert_eq PortXmitWait "$(classic "$own" 1 PortXmitWait)" 0
# shellcheck disable=SC2016  # for the inner shell to expand
traffic_start flood sh -ec 'while :; do echo "$1" >"$2"; done' sh \
	"dlid=$lid qpn=$qpn qkey=0x1bfa length=8 count=1000" "$raw/ibfab0/send"
wait_for 12 stalls
traffic_stop flood
waits=$(fabric_counter ibfab0 port1.xmit_wait)
note "$waits turns without credits"
assert_eq PortXmitWait "$(classic "$own" 1 PortXmitWait)" "$waits"
assert_eq "PortXmitWait, 64 bits of it" "$(pma "$own" 1 PortXmitWait)" "$waits"
assert_eq "PortXmitWait of the receiver" "$(classic "$lid" 1 PortXmitWait)" 0
perfquery -C ibfab0 -R "$own" 1
assert_eq PortXmitWait "$(classic "$own" 1 PortXmitWait)" 0
