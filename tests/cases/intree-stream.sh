# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The in-tree driver carries TCP in both directions over the fabric, and can be unloaded.
# timeout: 90

. /cases/lib.sh

# bits_received: prints the rate in an iperf3 report in JSON.
bits_received()
{
	jq '.end.sum_received.bits_per_second | floor' "$1"
}

fabric_start hcas=2
opensm_start
intree_load
hosts_make 2
iperf_server h1

for way in '' -R; do
	step "TCP ${way:-there}"
	# shellcheck disable=SC2086  # no word when empty
	on h0 iperf3 -J -t 3 -c 10.0.0.2 $way >/run/iperf.json
	rate=$(bits_received /run/iperf.json)
	note "$((rate / 1000000)) Mbit/s"
	assert test "$rate" -gt 10000000
done
traffic_stop iperf.h1 >/run/iperf.end

step "The module is unloaded, the ports stay"
rmmod ib_ipoib
refute netdev_of ibfab0
assert fabric_ports_active
