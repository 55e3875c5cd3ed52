# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-trunk.sh
# The in-tree driver in connected mode, whose connections end at any loss, keeps a connection
# over a trunk whose Ethernet link loses frames.
# guests: 2
# timeout: 400

. /cases/lib-trunk.sh

trunk_start hcas=1
subnet_up a
intree_load
host_make h0 ibfab0 "$part"
dev=$(dev_of h0)
wait_for 20 has_carrier h0 "$dev"
on h0 sh -c "echo connected >/sys/class/net/$dev/mode"
ip -n h0 link set "$dev" mtu 65520
pair_barrier connected
wait_for 20 on h0 ping -q -c 1 -W 1 "10.0.0.$other_part"
pair_barrier pinged
ip link set "$trunk" mtu 1500
tc qdisc replace dev "$trunk" root netem loss 1% limit 4000
pair_barrier lossy
pings_all h0 5 -s 60000 "10.0.0.$other_part"
file_crosses 8 10.0.0.2
grep -v ' 0$' "$ibfab/trunk" | head -40
grep -h 'rc\|drop' "$ibfab"/*/counters | grep -v ' 0$'
assert test "$(trunk_figure packets_resent)" -gt 0
assert_eq "link_down" "$(trunk_figure link_down)" 0
pair_barrier end
