# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Ethernet over IPoIB with a VLAN for each partition: children of the IPoIB netdevice are put under
# the Ethernet one, whose VLANs reach the hosts of their partitions and nobody else.
# timeout: 300

. /cases/lib.sh
# shellcheck source=lib-eipoib.sh
. /cases/lib-eipoib.sh

# partition HOST PARENT NUMBER: makes the host's netdevice in partition NUMBER.
partition()
{
	ip -n "$1" link add link "$2" name "part$3" type ipoib pkey "0x800$3"
	ip -n "$1" link set "part$3" up
	wait_for 20 has_carrier "$1" "part$3"
}

# silent HOST ADDRESS: nobody answers.
silent()
{
	_status=0
	_said=$(on "$1" ping -n -q -c 2 -i 0.3 -W 1 "$2") || _status=$?
	assert_eq "status of ping" "$_status" 1
	assert_match "ping" "$_said" ' 0 received'
}

partitions_write 3
fabric_start hcas=2
opensm_start -P /run/partitions.conf
ipoib_load
hosts_make 2
module_insert /modules/eth_ipoib.ko
dev0=$(dev_of h0)
dev1=$(dev_of h1)
eth_make h0
wait_for 10 has_carrier h0 eth5
for number in 1 2; do
	partition h0 "$dev0" $number
	partition h1 "$dev1" $number
	ip -n h1 address add "10.$number.0.2/24" dev part$number
	ip -n h1 address add "fd0$number::2/64" dev part$number
done

step "What cannot be a further lower netdevice is refused, and says why"
must_say 'Only an IPoIB device' ip -n h0 link set lo master eth5
must_say 'is in use' ip -n h0 link set "$dev0" master eth5

step "A VLAN for each partition, with the number of its P_Key"
ip -n h0 link set part1 master eth5
ip -n h0 link set part2 master eth5
must_say 'not the number of a VLAN' on h0 eipoib slave dev part1 vlan 0
ip -n h0 link add link eth5 name vlan1 type vlan id 1
ip -n h0 link set vlan1 up
ip -n h0 address add 10.1.0.50/24 dev vlan1
ip -n h0 address add fd01::50/64 dev vlan1
wait_for 20 pings h0 fd01::2
reach h0 10.1.0.2 fd01::2
reach h1 10.1.0.50 fd01::50
assert_eq "the address that h1 has of it" "$(lladdr_of h1 part1 10.1.0.50)" \
	"$(on h0 cat /sys/class/net/part1/address)"

step "A guest in a VLAN of a bridge, and one without"
bridge_make h0
ip -n h0 link set br0 type bridge vlan_filtering 1
guest_make g1 h0 61
guest_make g2 h0 62
ip -n g1 address flush dev eth0 scope global
ip -n g1 address add 10.2.0.61/24 dev eth0
ip -n g1 address add fd02::61/64 dev eth0
bridge -n h0 vlan add vid 2 dev eth5
bridge -n h0 vlan add vid 2 pvid untagged dev port.g1
wait_for 20 pings g1 fd02::2
reach g1 10.2.0.2 fd02::2
reach h1 10.2.0.61 fd02::61
wait_for 20 pings g2 fd00::2
reach g2 10.0.0.2 fd00::2
reach h1 10.0.0.62 fd00::62
dd if=/dev/urandom of=/run/sent bs=1M count=2 status=none
transfer g1 h1 10.2.0.2
transfer h1 g1 "[fd02::61]"

step "A static entry of a VLAN holds there, and nowhere else"
mac1=$(on g1 cat /sys/class/net/eth0/address)
must_say 'no partition for that VLAN' \
	on h0 eipoib local add 10.2.0.61 lladdr "$mac1" dev eth5 vlan 3
on h0 eipoib local add 10.2.0.61 lladdr "$mac1" dev eth5 vlan 2
on h0 eipoib local add 10.2.0.61 lladdr 02:00:00:00:00:09 dev eth5
assert_eq "static entries" "$(on h0 eipoib -j local | jq -r '.[] | select(.static) |
	[.address, .vlan // 0, .mac] | join(" ")' | sort)" \
	"10.2.0.61 0 02:00:00:00:00:09
10.2.0.61 2 $mac1"
forged=$(eth_stat h0 tx_forged)
arp_claim g1 10.2.0.61 02:00:00:00:00:09
assert_eq "packets of a forger" "$(eth_stat h0 tx_forged)" $((forged + 1))
reach h1 10.2.0.61
on h0 eipoib local del 10.2.0.61 lladdr "$mac1" dev eth5 vlan 2
assert_eq "static entries" "$(on h0 eipoib -j local | jq -r '.[] | select(.static) | .mac')" \
	02:00:00:00:00:09
on h0 eipoib local del 10.2.0.61 dev eth5
reach h1 10.2.0.61

step "Partitions stay apart"
# A host says otherwise that it has an address, on whatever link it is asked
on h1 sysctl -q -w net.ipv4.conf.all.arp_ignore=1
for guest in g1 g2; do
	ip -n $guest route add 10.0.0.0/8 dev eth0
	silent $guest 10.1.0.2
done
silent g1 10.0.0.2
silent g2 10.2.0.2

step "A group of each partition"
on h1 ping -n -c 3 -W 1 ff02::1%part2 >/run/echoes || fail "no echo"
assert_match "echoes" "$(cat /run/echoes)" "from $(ip -n g1 -o address show dev eth0 scope link |
	sed -n 's,.*inet6 \([^/]*\)/.*,\1,p')"

step "A VLAN without a partition is dropped"
dropped=$(eth_stat h0 tx_vlan)
bridge -n h0 vlan add vid 3 dev eth5
bridge -n h0 vlan add vid 3 pvid untagged dev port.g1
silent g1 10.2.0.2
assert [ "$(eth_stat h0 tx_vlan)" -gt "$dropped" ]
bridge -n h0 vlan add vid 2 pvid untagged dev port.g1
wait_for 10 pings g1 10.2.0.2

step "The MTU follows the smallest"
ip -n h0 link set part2 mtu 1500
assert_eq "MTU" "$(on h0 cat /sys/class/net/eth5/mtu)" 1500
must_fail ip -n h0 link set eth5 mtu 2000

step "A netdevice that is taken away is one of IPoIB again, and the others stay"
ip -n h0 link set part2 nomaster
silent g1 10.2.0.2
ip -n h0 address add 10.2.0.1/24 dev part2
wait_for 10 pings h0 10.2.0.2
reach h1 10.2.0.1
reach g2 10.0.0.2
ip -n h0 link set part2 master eth5
wait_for 10 pings g1 10.2.0.2

step "They go with their netdevices, and with the module"
ip -n h0 link delete part2
silent g1 10.2.0.2
reach g2 10.0.0.2
rmmod eth_ipoib
no_eth5
ip -n h0 address add 10.1.0.1/24 dev part1
wait_for 10 pings h0 10.1.0.2
