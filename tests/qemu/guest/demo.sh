# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=../../cases/lib-demo.sh
# The demonstration's script in the guest. Each step is shown and verified.

. /cases/lib-demo.sh

count_lines()
{
	printf '%s\n' "$shown" | grep -c "$1"
}

address='([0-9a-f]{2}:){19}[0-9a-f]{2}'

step "A subnet of two HCAs and a switch, and OpenSM to manage it"
fabric_start hcas=2
opensm_start
show ibnetdiscover -C ibfab0
assert_eq "the number of switches" "$(count_lines '^Switch')" 1
assert_eq "the number of HCAs" "$(count_lines '^Ca')" 2

step "Two hosts, each with an IPoIB netdevice"
"${DRIVER:-ipoib}_load"
hosts_make 2
for host in h0 h1; do
	show ip -n "$host" -d link show dev "$(dev_of "$host")"
	assert_match "the state of $host" "$shown" 'LOWER_UP'
	assert_match "the address of $host" "$shown" "link/infiniband $address"
done

step "Ping over IPv4 and IPv6"
show ip netns exec h0 ping -c 5 -i 0.2 10.0.0.2
assert_match "IPv4 ping" "$shown" ' 0% packet loss'
show ip netns exec h0 ping -c 5 -i 0.2 fd00::2
assert_match "IPv6 ping" "$shown" ' 0% packet loss'

step "The neighbours, with their 20-byte link-layer addresses"
show ip -n h0 neigh
assert_match "the IPv4 neighbour" "$shown" "^10\.0\.0\.2 .*lladdr $address"
assert_match "the IPv6 neighbour" "$shown" "^fd00::2 .*lladdr $address"

step "A TCP stream"
iperf_server h1
show ip netns exec h0 iperf3 -c 10.0.0.2 -t 3
assert_match "the receiver's rate" "$shown" '[1-9][0-9.]* [KMG]?bits/sec +receiver'
traffic_stop iperf.h1 >/run/iperf.h1.end

step "The SA's record of the broadcast group"
mgid=ff12:401b:ffff::ffff:ffff
show saquery -C ibfab0 MCMR --mgid "$mgid"
assert_match "the broadcast group" "$shown" "MGID\.*$mgid"
assert_match "the group's Q_Key" "$shown" 'qkey\.*0x[0-9a-f]*[1-9a-f]'

finds()
{
	on h0 ibats resolve "$1"
}

step "An address is added on one host: the other finds its GID, and the SA has its record"
module_insert /modules/ib_ats.ko
show ip -n h1 address add 10.0.0.99/24 dev "$(dev_of h1)"
wait_for 10 finds 10.0.0.99
show ip netns exec h0 ibats resolve 10.0.0.99
gid=$(on h1 ibats --json list | jq -r '.[] | select(.address == "10.0.0.99").gid')
assert_match "the GID" "$shown" "^10\.0\.0\.99 +$gid +0xffff "
show ip netns exec h1 ibats list
assert_match "its state" "$shown" '10\.0\.0\.99 +registered'
show sh -c "saquery -C ibfab0 SR |
	awk 'BEGIN { RS = \"ServiceRecord dump:\" } /ServiceData8.16[.]*0x63/' |
	grep -E 'Service(ID|GID|P_Key|Name|Data8.1[3-6])'"
assert_match "the SA's record" "$shown" "ServiceGID\.*$gid\$"
assert_eq "the address's octets" "$(printf '%s' "$shown" | sed -n 's/.*Data8.*0x//p' | tr '\n' ' ')" \
	"A 0 0 63"
