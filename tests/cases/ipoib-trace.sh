# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The tracepoints show what happens to packets, paths, groups, the port and the link.
# timeout: 90
# profiles: connectx3 connectx5 small virtual

. /cases/lib.sh

tracing=/sys/kernel/tracing

# traced EVENT PATTERN: a line of that event matches.
traced()
{
	grep -E " $1: .*$2" "$tracing/trace" >/run/traced ||
		fail "no $1 with '$2' in: $(tail -n 30 "$tracing/trace")"
	note "$(head -n 1 /run/traced)"
}

pings()
{
	on h0 ping -q -c 1 -W 1 10.0.0.2
}

pings_not()
{
	not pings
}

[ -d "$tracing/events" ] || mount -t tracefs tracefs "$tracing"
fabric_start hcas=2
opensm_start
# Otherwise the path would be learned from the peer's packets
ipoib_load learn_paths=0
echo 1 >"$tracing/events/ipoib/enable"
hosts_make 2
dev=$(dev_of h0)
wait_for 20 pings
gid=fe80:0000:0000:0000:021b:fa01:0000:0101
mgid=ff12:401b:ffff:0000:0000:0000:ffff:ffff

step "The link, and the broadcast group"
traced ipoib_flush "$dev events=check port_active=1 pkey_present=1"
traced ipoib_link_state "$dev (DOWN|WAIT_PORT) -> WAIT_JOIN"
traced ipoib_group_state "$dev mgid=$mgid role=broadcast usable=0 .* err=-115"
traced ipoib_group_state "$dev mgid=$mgid role=broadcast usable=1 mlid=0xc.* err=0"
traced ipoib_link_state "$dev WAIT_JOIN -> RUNNING"

step "A path, and packets both ways"
traced ipoib_path_state "$dev gid=$gid usable=0 failures=0 err=-115"
traced ipoib_path_state "$dev gid=$gid usable=1 failures=0 err=0"
# 84 octets of IP, 4 of encapsulation, 20 of the link-layer address
traced ipoib_tx "$dev .* len=108 qpn=[0-9]+ gid=$gid"
traced ipoib_tx_complete "$dev queue=0 slot=[0-9]+ status=0"
# Plus 40 octets of room for a GRH
lid=$(printf '%d' "$(cat "$ib/ibfab1/ports/1/lid")")
traced ipoib_rx "$dev .* status=0 len=128 src_qp=[0-9]+ slid=$lid sl=0"

step "Errors"
echo >"$tracing/trace"
# The SA's answers to its own HCA cross no cable, so the other host queries it.
peer=$(dev_of h1)
rule ibfab1 "what=sa_answer attr=0x35 do=status value=0x0300"
ip -n h1 link set "$peer" down
ip -n h1 link set "$peer" up
wait_for 20 has_carrier h1 "$peer"
wait_for 10 pings_not
gid=fe80:0000:0000:0000:021b:fa01:0000:0001
traced ipoib_path_state "$peer gid=$gid usable=0 failures=[0-9]+ err=-[1-9]"
rules_clear ibfab1
wait_for 30 pings
echo "switch0 2 down" >"$ibfab/cable"
wait_for 10 grep -q 'port_active=0' "$tracing/trace"
echo "switch0 2 up" >"$ibfab/cable"
wait_for 30 has_carrier h1 "$peer"
traced ipoib_port_event "ibfab1 port=1 event=port error"
traced ipoib_port_event "ibfab1 port=1 event=port active"
traced ipoib_flush "port_active=0"
traced ipoib_link_state "RUNNING -> WAIT_PORT"
