# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Ethernet over IPoIB: hosts behind a bridge get their addresses by DHCP from a server on the
# InfiniBand side, in each mode, with and without the broadcast flag, and renew them; and a server
# behind the bridge serves hosts on the InfiniBand side and behind another bridge.
# timeout: 300

. /cases/lib.sh
# shellcheck source=lib-eipoib.sh
. /cases/lib-eipoib.sh
# shellcheck source=lib-dhcp.sh
. /cases/lib-dhcp.sh

# mode HOST MODE: sets what its Ethernet netdevice does with DHCP.
mode()
{
	on "$1" eipoib set dev eth5 dhcp "$2"
}

# mac_of GUEST: prints its MAC address in hexadecimal, without colons.
mac_of()
{
	on "$1" cat /sys/class/net/eth0/address | tr -d :
}

# lease GUEST OPTION...: the guest gets an address, which becomes $address, and $own in hexadecimal.
lease()
{
	udhcpc "$@" -q >/run/udhcpc.log 2>&1 || fail "no lease: $(cat /run/udhcpc.log)"
	address=$(sed -n 's/^bound //p' /run/udhcpc.log)
	own=$(hex_address "$address")
	note "$1 has $address"
}

# no_lease GUEST OPTION...: the guest gets no address, although the server offers one.
no_lease()
{
	must_fail udhcpc "$@" -q >/run/udhcpc.log 2>&1
	assert grep -q 'no lease' /run/udhcpc.log
	assert grep -qi "DHCPOFFER(.*$(on "$1" cat /sys/class/net/eth0/address)" \
		/run/traffic.server.log
}

# said WORD: the client in the background says this of its lease.
said()
{
	grep -q "^$1 " /run/traffic.client.log
}

watch_begin()
{
	dhcp_watch h1 "$dev1"
	dhcp_watch g1 eth0
	dhcp_watch g2 eth0
}

watch_end()
{
	dhcp_watch_end h1 "$dev1"
	dhcp_watch_end g1 eth0
	dhcp_watch_end g2 eth0
}

# renews SENT: g1 gets a lease, and renews it by a unicast, which looks so at the server. This client
# does so at half of the time only, or when it is told.
renews()
{
	traffic_start client on g1 busybox udhcpc -i eth0 -f -s /run/udhcpc.sh -p /run/udhcpc.pid
	wait_for 20 said bound
	kill -USR1 "$(cat /run/udhcpc.pid)"
	wait_for 20 said renew
	own=$(hex_address "$(address_of g1 eth0)")
	assert dhcp_saw h1 "$dev1" "^REQUEST $own $server $1 $own $zero "
	assert dhcp_saw g1 eth0 "^ACK $server $own 01 06 .... $own $own $chaddr "
	traffic_stop client
}

fabric_start hcas=3
opensm_start
ipoib_load
hosts_make 3
module_insert /modules/eth_ipoib.ko
dev0=$(dev_of h0) dev1=$(dev_of h1) dev2=$(dev_of h2)
eth_make h0
bridge_make h0
wait_for 10 has_carrier h0 eth5
guest_make g1 h0 61
guest_make g2 h0 62
ip -n g1 address flush dev eth0 scope global
udhcpc_prepare
dhcp_server h1 10.0.0.100 10.0.0.110 --interface="$dev1"
server=$(hex_address 10.0.0.2)
chaddr=$(mac_of g1)00000000000000000000

step "Off: a client that does not ask for broadcasts gets no answer"
mode h0 off
no_lease g1
lease g1 -B
assert_eq "requests that were changed" "$(eth_stat h0 dhcp_flagged)" 0
assert_eq "requests that were remembered" "$(eth_stat h0 dhcp_answered)" 0

step "Flag: it gets one, as its request asks for broadcasts on the InfiniBand side"
mode h0 flag
watch_begin
lease g1
pings_all g1 2 10.0.0.2
wait_for 10 dhcp_saw g1 eth0 "^ACK $server $all 01 06 8000 $zero $own $chaddr "
assert dhcp_saw g1 eth0 "^DISCOVER $zero $all 01 06 0000 $zero $zero $chaddr "
assert dhcp_saw h1 "$dev1" "^DISCOVER $zero $all 01 06 8000 $zero $zero $chaddr "
assert dhcp_saw h1 "$dev1" "^REQUEST $zero $all 01 06 8000 $zero $zero $chaddr "
assert [ "$(eth_stat h0 dhcp_flagged)" -ge 2 ]
assert [ "$(eth_stat h0 dhcp_bound)" -ge 1 ]

step "The answers reach nobody else"
wait_for 10 dhcp_saw g2 eth0 "^REQUEST $zero $all 01 06 0000 "
refute dhcp_saw g2 eth0 '^(OFFER|ACK) '
lease g1 -B
assert dhcp_saw h1 "$dev1" "^DISCOVER $zero $all 01 06 8000 $zero $zero $chaddr "
refute dhcp_saw g2 eth0 '^(OFFER|ACK) '

step "It is renewed, without the flag"
renews "01 06 0000"
watch_end

step "The ACK tells where the address is, before its host has sent any ARP"
ip -n g1 address flush dev eth0 scope global
ip -n g1 link set eth0 address 52:54:00:00:00:99
sed '/^case/,/^esac/d' /run/udhcpc.sh >/run/silent.sh
chmod +x /run/silent.sh
lease g1 -s /run/silent.sh
ip -n h1 neigh replace "$address" lladdr "$(on h0 cat "/sys/class/net/$dev0/address")" \
	dev "$dev1" nud permanent
asked=$(eth_stat h0 asked_eth)
traffic_start seen on g1 tcpdump -Z root -n -e -p --immediate-mode -i eth0 -c 1 icmp
wait_for 10 grep -q 'listening on' /run/traffic.seen.log
must_fail on h1 ping -n -q -c 1 -W 1 "$address"
wait_for 10 grep -q '1 packet captured' /run/traffic.seen.log
assert grep -q "> 52:54:00:00:00:99, .* > $address: ICMP echo request" /run/traffic.seen.log
assert_eq "requests for it" "$(eth_stat h0 asked_eth)" "$asked"
ip -n h1 neigh delete "$address" dev "$dev1"

step "RFC 4390: the request is that of an InfiniBand client, with an identifier of the MAC address"
mode h0 rfc4390
watch_begin
mac=$(mac_of g1)
chaddr=${mac}00000000000000000000
lease g1 -C
pings_all g1 2 10.0.0.2
id=ff${mac#????}00030001$mac
wait_for 10 dhcp_saw g1 eth0 "^ACK $server $all 01 06 .... $zero $own $chaddr none\$"
assert dhcp_saw g1 eth0 "^DISCOVER $zero $all 01 06 0000 $zero $zero $chaddr none\$"
assert dhcp_saw g1 eth0 "^OFFER $server $all 01 06 .... $zero $own $chaddr none\$"
assert dhcp_saw h1 "$dev1" "^DISCOVER $zero $all 20 00 8000 $zero $zero $zeros $id\$"
assert dhcp_saw h1 "$dev1" "^REQUEST $zero $all 20 00 8000 $zero $zero $zeros $id\$"
assert dhcp_saw h1 "$dev1" "^ACK $server $all 20 00 8000 $zero $own $zeros "
refute dhcp_saw h1 "$dev1" "^[A-Z]+ [^ ]+ [^ ]+ 01 "
assert [ "$(eth_stat h0 dhcp_rewritten)" -ge 2 ]

step "An identifier of the client's own stays, and the lease is renewed"
renews "20 00 0000"
assert dhcp_saw h1 "$dev1" "^DISCOVER $zero $all 20 00 8000 $zero $zero $zeros 01$mac\$"
refute dhcp_saw g2 eth0 '^(OFFER|ACK) '
watch_end

step "Another client"
ip -n g1 address flush dev eth0 scope global
dhcp_networkd g1 ether eth0
wait_for 20 address_of g1 eth0
pings_all g1 2 10.0.0.2
traffic_stop client

step "A client that reads answers from a packet socket, in both forms; its leases are renewed"
for form in rfc4390 flag; do
	ip -n g1 address flush dev eth0 scope global
	mode h0 $form
	dhcp_dhclient g1 eth0
	wait_for 20 said BOUND
	wait_for 20 said RENEW
	pings_all g1 2 10.0.0.2
	traffic_stop client
done

step "What is no message of DHCP passes, and is counted"
mode h0 rfc4390
bad=$(eth_stat h0 dhcp_bad)
lease g1
traffic_stop server
traffic_start heard on h1 socat -u UDP4-RECV:67 OPEN:/run/heard,creat
wait_for 10 listening h1 67 u
echo short | on g1 socat -u STDIN \
	UDP4-DATAGRAM:255.255.255.255:67,broadcast,bind=:68,so-bindtodevice=eth0
wait_for 10 grep -q '^short$' /run/heard
assert_eq "bad messages" "$(eth_stat h0 dhcp_bad)" "$((bad + 1))"
traffic_stop heard

step "A server behind the bridge, and a client on the InfiniBand side"
mode h0 flag
dhcp_server g2 10.0.0.150 10.0.0.160 --interface=eth0
server=$(hex_address 10.0.0.62)
ip -n h2 address flush dev "$dev2" scope global
dhcp_watch g2 eth0
dhcp_networkd h2 infiniband '*'
wait_for 20 address_of h2 "$dev2"
own=$(hex_address "$(address_of h2 "$dev2")")
wait_for 20 dhcp_saw g2 eth0 "^ACK $server $own 20 00 .... $own $own $zeros "
assert dhcp_saw g2 eth0 "^DISCOVER $zero $all 20 00 8000 $zero $zero $zeros ff"
pings_all h2 2 10.0.0.62
traffic_stop client
dhcp_watch_end g2 eth0

step "A client behind another bridge, which does not ask for broadcasts"
eth_make h2
bridge_make h2
wait_for 10 has_carrier h2 eth5
guest_make g3 h2 63
ip -n g3 address flush dev eth0 scope global
mode h0 off
mode h2 off
no_lease g3
mode h0 flag
lease g3
pings_all g3 2 10.0.0.62
assert [ "$(eth_stat h0 dhcp_broadcast)" -ge 2 ]
assert_eq "requests that h2 has changed" "$(eth_stat h2 dhcp_flagged)" 0

step "The same in the form of RFC 4390"
mode h2 rfc4390
dhcp_watch g2 eth0
lease g3 -C
pings_all g3 2 10.0.0.62
wait_for 10 dhcp_saw g2 eth0 "^ACK $server $all 20 00 8000 $zero $own $zeros "
assert dhcp_saw g2 eth0 "^REQUEST $zero $all 20 00 8000 $zero $zero $zeros ff"
assert_eq "bad messages of h2" "$(eth_stat h2 dhcp_bad)" 0
assert_eq "requests of h2 that were not remembered" "$(eth_stat h2 dhcp_refused)" 0
