# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Checks of pings: an answer that comes after ping has ended counts, and one that is missing or comes
# twice fails the case.
# timeout: 60

. /cases/lib.sh

# fails CMD...: the command would fail the case.
fails()
{
	! (exec 7>/run/said && "$@") || return 1
	grep -q '^FAILED: ' /run/said && rmdir /run/failed
}

# second_is NETEM...: what becomes of the second answer of each ping command.
second_is()
{
	tc -n h1 qdisc replace dev v1 parent 1:3 handle 30: netem "$@"
}

ip link add v0 type veth peer name v1
for k in 0 1; do
	ip netns add "h$k"
	ip link set "v$k" netns "h$k"
	ip -n "h$k" address add "10.9.0.$((k + 1))/24" dev "v$k"
	ip -n "h$k" link set "v$k" up
done
tc -n h1 qdisc add dev v1 root handle 1: prio
second_is delay 0
tc -n h1 filter add dev v1 parent 1: protocol ip u32 \
	match ip protocol 1 0xff match u16 2 0xffff at 26 flowid 1:3
wait_for 10 on h0 ping -q -c 1 -W 1 10.9.0.2

step "All answers come in time"
pings_all h0 2 10.9.0.2

step "The last answer comes when ping waits no longer"
second_is delay 500ms
refute says ' 2 received' on h0 ping -q -c 2 -i 0.1 -W 10 10.9.0.2
sleep 1
pings_all h0 2 10.9.0.2
pings_all h0 3 10.9.0.2

step "It does not come, or comes twice"
second_is loss 100%
assert fails pings_all h0 2 10.9.0.2
assert fails pings_all h0 3 10.9.0.2
second_is duplicate 100%
assert fails pings_all h0 3 10.9.0.2
second_is delay 500ms duplicate 100%
assert fails pings_all h0 2 10.9.0.2

step "Nobody answers"
ip -n h1 link set v1 down
assert fails pings_all h0 1 -w 2 10.9.0.2
