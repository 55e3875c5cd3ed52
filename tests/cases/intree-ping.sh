# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The in-tree driver comes up in datagram mode and pings over IPv4 and IPv6.
# timeout: 60
# kernel: stock 6.12 newest

. /cases/lib.sh

fabric_start hcas=2
opensm_start
intree_load
hosts_make 2

step "Datagram mode, with the broadcast group's MTU"
for host in h0 h1; do
	dev=$(dev_of "$host")
	link=$(ip -n "$host" -d link show dev "$dev")
	assert_match "the link of $host" "$link" 'mode datagram'
	assert_match "the link of $host" "$link" ' mtu 2044 '
done

step "Both families, small, whole-MTU and fragmented packets"
for size in 0 56 2016 8000; do
	pings_all h0 3 -s "$size" 10.0.0.2
	pings_all h1 3 -s "$size" fd00::1
done

step "The neighbours have each other's address"
dev=$(dev_of h1)
address=$(on h1 cat "/sys/class/net/$dev/address")
assert_match "the neighbour" "$(ip -n h0 neigh show 10.0.0.2)" \
	"lladdr $address "
