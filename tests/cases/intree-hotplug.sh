# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The in-tree driver loses its HCA under traffic, many times, and has a netdevice again when
# the HCA returns.
# timeout: 120
# smp: 2
# allow: debugfs: File 'ib[0-9]*_(mcg|path)' in directory 'ipoib' already present

. /cases/lib.sh

pings()
{
	on h0 ping -q -c 1 -W 1 10.0.0.2
}

# round: the namespace stays, its netdevice is removed, and a new one is created.
round()
{
	traffic_start "flood" on h1 ping -q -f 10.0.0.1
	iperf_server h1
	traffic_start iperf on h0 iperf3 -t 60 -c 10.0.0.2
	sleep 1
	unplug ibfab1
	refute says link/infiniband ip -n h1 -o link show
	plug ibfab1
	wait_for 10 netdev_of ibfab1
	_ib=$(netdev_of ibfab1)
	ip link set "$_ib" netns h1
	ip -n h1 link set "$_ib" up
	ip -n h1 address add 10.0.0.2/24 dev "$_ib"
	wait_for 20 has_carrier h1 "$_ib"
	for _traffic in flood iperf iperf.h1; do
		traffic_end "$_traffic"
	done
	ip -n h0 neigh flush all
	wait_for 20 pings
}

# traffic_end NAME: ends traffic that may have given up already.
traffic_end()
{
	kill -s KILL -- "-$(cat "/run/traffic.$1.pid")" 2>/run/kill.log ||
		note "$1 had ended: $(tail -n 1 "/run/traffic.$1.log")"
}

fabric_start hcas=2
opensm_start
intree_load
hosts_make 2
wait_for 10 pings

for n in 1 2 3 4; do
	step "Out and in, time $n"
	round
done
assert_match hotplug "$(cat "$ibfab/hotplug")" '^ibfab1 in unplugged 4$'

step "The driver is unloaded while an HCA is unplugged"
unplug ibfab1
rmmod ib_ipoib
plug ibfab1
wait_for 10 fabric_ports_active
intree_load
wait_for 10 netdev_of ibfab1
