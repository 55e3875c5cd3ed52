# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# A TCP connection survives everything that a fabric and an HCA can do short of going away,
# and each event is shown by its trace.
# timeout: 900
# profiles: connectx5 connectx3 small virtual
# allow: ib1: NETDEV WATCHDOG: .* transmit queue 0 timed out
# kernel: stock 6.12 newest

. /cases/lib.sh

tracing=/sys/kernel/tracing

pings()
{
	on h0 ping -q -c 1 -W 1 10.0.0.2
}

# flushed LEVEL HOST: the trace shows a flush of this level.
flushed()
{
	file_says "ipoib_flush: $(dev_of "$2") .*$1" "$tracing/trace"
}

# event NAME: begins a step with an empty trace.
event()
{
	step "$*"
	: >"$tracing/trace"
}

# goes_on: pings are answered, and the connection makes progress.
goes_on()
{
	wait_for 60 pings
	_got=$(netdev_counter h1 "$(dev_of h1)" rx_bytes)
	wait_for 90 grown h1 $((_got + 200000))
	assert connected
}

grown()
{
	[ "$(netdev_counter "$1" "$(dev_of "$1")" rx_bytes)" -ge "$2" ]
}

connected()
{
	[ "$(on h0 ss -Htn state established "dport = :5201" | wc -l)" -ge 2 ]
}

mount -t tracefs tracefs "$tracing"
fabric_start hcas=2
cat >/run/partitions.conf <<'CONF'
Default=0x7fff, ipoib : ALL=full;
CONF
opensm_start -P /run/partitions.conf
ipoib_load
hosts_make 2
wait_for 20 pings
echo 1 >"$tracing/events/ipoib/ipoib_flush/enable"
echo 1 >"$tracing/events/ipoib/ipoib_port_event/enable"
iperf_server h1
traffic_start stream on h0 iperf3 -c 10.0.0.2 -t 3600 -b 5M -l 8000
wait_for 20 connected
goes_on

event "The cable pulled, and plugged in"
echo "switch0 2 down" >"$ibfab/cable"
wait_for 10 not has_carrier h1 "$(dev_of h1)"
echo "switch0 2 up" >"$ibfab/cable"
wait_for 60 has_carrier h1 "$(dev_of h1)"
goes_on
refute flushed heavy h1

event "The SM is restarted: paths are refreshed, groups are joined again, and nothing is flushed"
queries=$(stat_of h1 path_queries) joins=$(stat_of h1 group_joins)
opensm_kill
opensm_start -P /run/partitions.conf
wait_for 30 flushed light h1
joined_again()
{
	[ "$(stat_of h1 path_queries)" -gt "$queries" ] &&
		[ "$(stat_of h1 group_joins)" -gt "$joins" ] &&
		says 'PortGid.*fe80::21b:fa01:0:101' saquery -C ibfab0 --smkey 1 -m
}
wait_for 30 joined_again
goes_on
refute flushed heavy h1
refute flushed normal h1

event "Another LID, until the SM corrects it"
echo "1 lid 0x4d" >"$ibfab/ibfab1/change"
wait_for 30 flushed light h1
kill -HUP "$opensm_pid"
goes_on
refute flushed heavy h1

event "P_Keys that move in the port's table: only the QP must be changed"
resets=$(stat_of h1 qp_resets)
echo "1 rotate_pkeys 5" >"$ibfab/ibfab1/change"
wait_for 30 flushed heavy h1
goes_on
refute [ "$(stat_of h1 qp_resets)" -eq "$resets" ]
echo "1 rotate_pkeys 27" >"$ibfab/ibfab1/change"
goes_on

event "Another subnet prefix: another address, and the peer learns it"
address=$(on h1 cat "/sys/class/net/$(dev_of h1)/address")
address_is_other()
{
	differs "$address" on h1 cat "/sys/class/net/$(dev_of h1)/address"
}
address_is_old()
{
	not address_is_other
}
# ib_core reports no event of a new prefix: it takes effect with the next event, if ib_core has
# read it by then, or within a minute.
echo "1 gid_prefix 0xfec0000000000001" >"$ibfab/ibfab1/change"
wait_for 10 says '^fec0:' cat "$ib/ibfab1/ports/1/gids/0"
echo "switch0 2 down" >"$ibfab/cable"
wait_for 20 address_is_other
wait_for 10 flushed normal h1
echo "switch0 2 up" >"$ibfab/cable"
wait_for 60 address_is_old
wait_for 60 has_carrier h1 "$(dev_of h1)"
goes_on

! brief || exit 0

event "Sends and receives that the HCA refuses"
for host in h0 h1; do
	hca=ibfab${host#h}
	for verb in post_send post_recv; do
		resets=$(stat_of "$host" qp_resets)
		verb_fails "$hca" "$verb" 1 -12
		goes_on
		assert_eq "failures of $verb" "$(verb_failed "$hca" "$verb")" 1
		refute [ "$(stat_of "$host" qp_resets)" -eq "$resets" ]
	done
done

event "Completions that are missing: the watchdog resets the QP"
# Not on the HCA of the SM.
echo "late 25000" >"$ibfab/ibfab1/completions"
traffic_start stuck on h1 ping -q -f 10.0.0.1
timed_out()
{
	[ "$(stat_of h1 tx_timeouts)" -gt 0 ]
}
wait_for 60 timed_out
echo "late 0" >"$ibfab/ibfab1/completions"
traffic_stop stuck
goes_on

event "A CQ that overruns: it is replaced, with the QP"
replaced()
{
	differs "$qpn" qpn_of h1
}
for which in send recv; do
	qpn=$(qpn_of h1)
	echo "overrun $qpn $which" >"$ibfab/ibfab1/completions"
	wait_for 30 replaced
	wait_for 60 has_carrier h1 "$(dev_of h1)"
	goes_on
done

event "A QP in the error state without an event: it is reset"
resets=$(stat_of h1 qp_resets)
echo "error $(qpn_of h1)" >"$ibfab/ibfab1/completions"
wait_for 30 stat_reaches h1 qp_resets $((resets + 1))
goes_on
tail -n 3 /run/traffic.stream.log
traffic_stop stream
traffic_stop iperf.h1
