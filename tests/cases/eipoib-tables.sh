# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The tables and settings of Ethernet over IPoIB, as eipoib and bridge show and change them: who may
# do so, what is refused, static entries against forgers on both sides, and 4,096 hosts.
# timeout: 240
# kernel: stock
# soak-kernel: stock 6.12 newest
# soak: 240

. /cases/lib.sh
# shellcheck source=lib-eipoib.sh
. /cases/lib-eipoib.sh
# shellcheck disable=SC2034  # for lib-tool.sh
program=eipoib
# shellcheck source=lib-tool.sh
. /cases/lib-tool.sh

# json WHAT FILTER: the filter is true for the output of the last run.
json()
{
	jq -e "$2" /run/out >/run/verdict || fail "$1: $2: $(head -c 2000 /run/out)"
}

# local_is FILTER: h0's local IP addresses are so, all tables of which are dumped as JSON.
local_is()
{
	on h0 eipoib -j local show dev eth5 >/run/local || return 2
	jq -e "$1" /run/local >/run/verdict
}

# address_is ADDRESS FILTER: likewise one of them.
address_is()
{
	local_is "[.[] | select(.address == \"$1\")] | length == 1 and (.[0] | $2)"
}

# count_is COUNT: h0 has so many local IP addresses of 10.1.0.0/16.
count_is()
{
	local_is "[.[] | select(.address | startswith(\"10.1.\"))] | length == $1"
}

# counts_agree: the interface has as many entries as the table. Guests may say something meanwhile.
counts_agree()
{
	on h0 eipoib -j local >/run/local || return 2
	on h0 eipoib -j show dev eth5 >/run/show || return 2
	jq -e "length == 1 and .[0].local.entries == $(jq length /run/local)" /run/show >/run/verdict
}

# fdb: prints h0's entries that have an IP address.
fdb()
{
	on h0 bridge fdb show dev eth5 >/run/fdb || return 2
	awk '/ dst / { $1 = $1; print }' /run/fdb
}

# says_once LINE FILE
says_once()
{
	assert_eq "lines '$1'" "$(awk -v line="$1" '$0 == line { n++ } END { print n + 0 }' "$2")" 1
}

# claims_make COUNT FIRST-MAC: writes ARP announcements of that many addresses of 10.1.0.0/16. Each
# has a MAC address of its own, or all have that of FIRST-MAC=same.
claims_make()
{
	awk -v count="$1" -v same="$2" 'BEGIN {
		for (n = 0; n < count; n++) {
			mac = sprintf("520000%06x", same == "same" ? 0xabcdef : n + 1)
			ip = sprintf("0a01%04x", n + 256)
			print "ffffffffffff" mac "08060001080006040001" mac ip "000000000000" ip
		} }' | xxd -r -p >/run/claims
}

# claims_send: sends them, a frame of 42 octets at a time.
claims_send()
{
	on g2 socat -u -b 42 OPEN:/run/claims INTERFACE:eth0
}

# claims_count COUNT: sends them, and then as many are known. A queue may have been too short.
claims_count()
{
	claims_send
	count_is "$1"
}

# monitors_hear: both monitors have printed what happens now.
monitors_hear()
{
	on h0 eipoib local add 10.9.9.9 lladdr 02:00:00:00:00:09 dev eth5
	on h0 eipoib local del 10.9.9.9 dev eth5
	sleep 0.2
	grep -q 10.9.9.9 /run/traffic.monitor.log && grep -q 10.9.9.9 /run/traffic.lines.log
}

fabric_start hcas=3
opensm_start
ipoib_load
hosts_make 3
dev0=$(dev_of h0)
dev1=$(dev_of h1)

step "Without the module, and without an interface"
tool 4 -j show
err_matches "module eth_ipoib is not loaded; load it with 'modprobe eth_ipoib'"
tool 4 add link "$dev0" name eth5
err_matches 'not loaded'
module_insert /modules/eth_ipoib.ko
tool 0 -j show
json "no interfaces" '. == []'
tool 0 local
tool 1 show dev eth5
err_matches '^eipoib: eth5: there is no such interface$'
tool 1 show dev lo:eth5
err_matches '^eipoib: lo:eth5: there is no such interface$'
tool 1 -j local dev lo
err_matches 'not an interface of eth_ipoib'
ends 1 on h0 timeout 10 eipoib monitor dev lo
err_matches 'not an interface of eth_ipoib'
tool 1 local add 10.0.0.1 lladdr 02:00:00:00:00:01 dev lo
err_matches 'not an interface of eth_ipoib'
tool 2 set dev lo learning off
err_matches 'no interface of eth_ipoib'

step "An interface with settings"
ip -n h0 address flush dev "$dev0"
tool 2 add link "$dev0" name eth5 learning perhaps
err_matches "'perhaps' is not a value of 'learning'"
tool 2 add link lo name eth5
err_matches 'must be an IPoIB device'
tool 2 add link "$dev0" name eth5 max_ips 10 max_ips_per_mac 11
err_matches 'limit of one MAC address is larger'
tool 0 add link "$dev0" name eth5 address 02:00:00:00:05:05 dhcp rfc4390 max_ips 5000
assert_eq "MAC address" "$(on h0 cat /sys/class/net/eth5/address)" 02:00:00:00:05:05
tool 0 -j show dev eth5
json "settings" ".[0] | .interface == \"eth5\" and .lower == \"$dev0\" and .learning == true and
	.dhcp == \"rfc4390\" and .querier == false and .local.limit == 5000 and .max_ips == 5000"
tool 0 set dev eth5 dhcp flag querier on max_ips 16384
tool 0 -j -p show
json "settings" 'length == 1 and (.[0] | .dhcp == "flag" and .querier == true and
	.local.limit == 16384)'
tool 0 show
assert_match "the table" "$(cat /run/out)" "^eth5 +$dev0 +on +flag +on +[0-9]+ +[0-9]+/16384 "
tool 0 set dev eth5 querier off
tool 0 set dev eth5 max_ips 16384 max_ips_per_mac 300
tool 0 set dev eth5 max_ips 100
tool 0 set dev eth5 max_ips 16384
tool 0 -j show dev eth5
json "the limit of a MAC address is kept" '.[0] | .max_ips == 16384 and .max_ips_per_mac == 300'
tool 0 set dev eth5 max_ips_per_mac 256
tool 2 set dev eth5
err_matches 'there is no setting'
tool 2 set dev eth5 max_ips 0
tool 2 set dev eth5 max_ips many
err_matches 'many: not a number'
tool 2 slave dev "$dev0" vlan 5 mac 02:00:00:00:00:05
err_matches 'a vlan or a mac, and not both'
ip -n h0 link set eth5 up
bridge_make h0
guest_make g1 h0 61
guest_make g2 h0 62
mac1=$(on g1 cat /sys/class/net/eth0/address)
mac2=$(on g2 cat /sys/class/net/eth0/address)
wait_for 10 has_carrier h0 eth5
for guest in g1 g2; do
	dad_ends $guest
	wait_for 20 pings $guest fd00::2
	reach $guest 10.0.0.2
done

step "A port of a bridge is no further interface, and stays as it is"
state=$(on h0 cat /sys/class/net/port.g1/brport/state)
for dev in port.g1 "$dev0" lo; do
	# This number of a VLAN would be the state 'blocking' of a bridge's port
	tool 2 slave dev "$dev" vlan 4
	err_matches "^eipoib: $dev: not a further interface under one of eth_ipoib"
done
assert_eq "the state of the port" "$(on h0 cat /sys/class/net/port.g1/brport/state)" "$state"

step "The tables have what was learned"
wait_for 10 address_is 10.0.0.61 ".mac == \"$mac1\" and .static == false and .age_ms < 60000"
wait_for 10 address_is fd00::62 ".mac == \"$mac2\" and .interface == \"eth5\""
tool 0 -j heard
json "heard" '[.[] | select(.address == "10.0.0.2")] | length == 1'
remote=$(jq -r '.[] | select(.address == "10.0.0.2").mac' /run/out)
assert_eq "MAC address of h1" "$remote" "$(lladdr_of g1 eth0 10.0.0.2)"
tool 0 -j remote show dev eth5
json "remote" "[.[] | select(.mac == \"$remote\")] | length == 1"
# The flags, the first octet, are what it has said of itself
assert_eq "link-layer address of h1" \
	"$(jq -r ".[] | select(.mac == \"$remote\").lladdr" /run/out | cut -d : -f 2-)" \
	"$(on h1 cat "/sys/class/net/$dev1/address" | cut -d : -f 2-)"
tool 0 -j group
json "groups" 'any(.address == "ff02::1:ff00:61") and all(.mac | length == 17)'
tool 0 -j show
json "counts" '.[0] | .local.entries >= 4 and .heard.entries >= 2 and .remote.entries >= 1 and
	.group.entries >= 2'
ends 0 on h1 eipoib -j local
json "another namespace" '. == []'
nobody 0 -j local
json "a user" 'any(.address == "10.0.0.61")'
nobody 4 local add 10.0.0.70 lladdr 02:00:00:00:00:70 dev eth5
err_matches 'CAP_NET_ADMIN'
nobody 4 local del 10.0.0.61 dev eth5
nobody 4 set dev eth5 learning off

step "Entries of the administrator, and those who listen"
traffic_start monitor on h0 eipoib monitor
traffic_start lines on h0 eipoib -j monitor dev eth5
wait_for 10 monitors_hear
tool 0 local add 10.0.0.70 lladdr 02:00:00:00:00:70 dev eth5
tool 4 local add 10.0.0.70 lladdr 02:00:00:00:00:70 dev eth5
err_matches 'There is a static entry already; delete it first'
tool 0 local add fd00::70 lladdr 02:00:00:00:00:70 dev eth5
assert address_is fd00::70 '.static and .mac == "02:00:00:00:00:70"'
tool 2 local add 224.0.0.1 lladdr 02:00:00:00:00:70 dev eth5
err_matches 'Give an IP address of one host'
tool 2 local add 10.0.0.71 lladdr 01:00:00:00:00:70 dev eth5
err_matches 'Give a MAC address of one host'
tool 2 local add 10.0.0.71 lladdr "$remote" dev eth5
err_matches 'that of an interface on the InfiniBand link'
tool 2 local add 10.0.0.71 dev eth5
err_matches "'local lladdr' is missing"
tool 2 local add 10.0.0.71 lladdr 02:00:00:00:00 dev eth5
err_matches 'not a MAC address'
for vlan in 0 4095; do
	tool 2 local add 10.0.0.71 lladdr 02:00:00:00:00:71 dev eth5 vlan $vlan
	err_matches 'not the number of a VLAN'
	tool 2 local del 10.0.0.70 dev eth5 vlan $vlan
	err_matches 'not the number of a VLAN'
done
assert address_is 10.0.0.70 .static
tool 1 local del 10.0.0.70 lladdr 02:00:00:00:00:71 dev eth5
err_matches 'no such IP address with this MAC address'
tool 0 local del 10.0.0.70 dev eth5
tool 1 local del 10.0.0.70 dev eth5
err_matches 'no such IP address on the Ethernet side'
tool 0 local del fd00::70 lladdr 02:00:00:00:00:70 dev eth5
refute address_is fd00::70 true
wait_for 10 grep -qx 'deleted fd00::70 dev eth5 lladdr 02:00:00:00:00:70 static' \
	/run/traffic.monitor.log
says_once 'new 10.0.0.70 dev eth5 lladdr 02:00:00:00:00:70 static' /run/traffic.monitor.log
says_once 'deleted 10.0.0.70 dev eth5 lladdr 02:00:00:00:00:70 static' /run/traffic.monitor.log
wait_for 10 grep -q '"address":"fd00::70".*"event":"deleted"' /run/traffic.lines.log
jq -es 'all(.interface == "eth5" and (.address | length > 0))' /run/traffic.lines.log >/run/verdict
traffic_stop monitor
traffic_stop lines

step "The same entries, by bridge"
on h0 bridge fdb add 02:00:00:00:00:70 dev eth5 self dst 10.0.0.70
on h0 bridge fdb add 02:00:00:00:00:70 dev eth5 self dst fd00::70
assert address_is 10.0.0.70 '.static and .mac == "02:00:00:00:00:70"'
fdb >/run/entries
says_once '02:00:00:00:00:70 dst 10.0.0.70 self permanent' /run/entries
says_once '02:00:00:00:00:70 dst fd00::70 self permanent' /run/entries
assert file_says "^$mac1 dst 10.0.0.61 self\$" /run/entries
must_say 'static entry already' on h0 bridge fdb add 02:00:00:00:00:71 dev eth5 self dst 10.0.0.70
on h0 bridge fdb replace 02:00:00:00:00:71 dev eth5 self dst 10.0.0.70
assert address_is 10.0.0.70 '.mac == "02:00:00:00:00:71"'
must_say 'with this MAC address' on h0 bridge fdb del 02:00:00:00:00:70 dev eth5 self dst 10.0.0.70
on h0 bridge fdb del 02:00:00:00:00:71 dev eth5 self dst 10.0.0.70
on h0 bridge fdb del 02:00:00:00:00:70 dev eth5 self dst fd00::70
refute address_is 10.0.0.70 true
must_say 'permanent' on h0 bridge fdb add 02:00:00:00:00:70 dev eth5 self dynamic dst 10.0.0.70
must_say 'Only dst' on h0 bridge fdb add 02:00:00:00:00:70 dev eth5 self dst 10.0.0.70 vni 5
must_say 'one host' on h0 bridge fdb add 02:00:00:00:00:70 dev eth5 self dst 0.0.0.0
# Entries without an IP address are addresses to be received, as those of any other interface
on h0 bridge fdb add 02:00:00:00:00:72 dev eth5 self
assert says '^02:00:00:00:00:72 self permanent *$' on h0 bridge fdb show dev eth5
on h0 bridge fdb del 02:00:00:00:00:72 dev eth5 self
refute says '^02:00:00:00:00:72 ' on h0 bridge fdb show dev eth5

step "A static entry wins over both sides"
tool 0 local add 10.0.0.61 lladdr "$mac1" dev eth5
assert address_is 10.0.0.61 .static
ip -n g2 address add 10.0.0.61/24 dev eth0
on g2 arping -q -U -c 1 -I eth0 10.0.0.61
wait_for 10 eth_stat_reaches h0 tx_forged 1
ip -n g2 address delete 10.0.0.61/24 dev eth0
assert address_is 10.0.0.61 ".static and .mac == \"$mac1\""
ip -n h2 address add 10.0.0.61/24 dev "$(dev_of h2)"
on h2 arping -q -U -c 1 -I "$(dev_of h2)" 10.0.0.61
wait_for 10 eth_stat_reaches h0 rx_forged 1
ip -n h2 address delete 10.0.0.61/24 dev "$(dev_of h2)"
assert address_is 10.0.0.61 ".static and .mac == \"$mac1\""
ip -n h1 neigh flush dev "$dev1"
reach h1 10.0.0.61

step "Without learning, only those with a static entry are heard"
tool 0 set dev eth5 learning off
assert local_is 'length == 1 and .[0].static'
ip -n h1 neigh flush dev "$dev1"
ip -n g1 neigh flush dev eth0
ip -n g2 neigh flush dev eth0
reach h1 10.0.0.61
reach g1 10.0.0.2
forged=$(eth_stat h0 tx_forged)
must_fail on g2 ping -n -q -c 2 -W 1 10.0.0.2
assert [ "$(eth_stat h0 tx_forged)" -gt "$forged" ]
ip -n g2 address add 10.0.0.61/24 dev eth0
on g2 arping -q -U -c 1 -I eth0 10.0.0.61
ip -n g2 address delete 10.0.0.61/24 dev eth0
assert local_is "length == 1 and .[0].mac == \"$mac1\""
reach h1 10.0.0.61
tool 0 set dev eth5 learning on
wait_for 10 pings g2 10.0.0.2

step "4,096 hosts, each with a MAC address of its own"
claims_make 4096 own
wait_for 20 claims_count 4096
jq -e '[.[] | select(.address | startswith("10.1."))] | map(.mac) | unique | length == 4096' \
	/run/local >/run/verdict || fail "not as many MAC addresses"
fdb >/run/entries
assert_eq "entries of bridge fdb" "$(grep -c ' dst 10\.1\.' /run/entries)" 4096
assert_eq "... without those that are twice" "$(sort -u /run/entries | grep -c ' dst 10\.1\.')" 4096
assert address_is 10.1.1.0 '.mac == "52:00:00:00:00:01"'
assert address_is 10.1.16.255 '.mac == "52:00:00:00:10:00"'
wait_for 10 counts_agree
reach h1 10.0.0.61

step "A dump has what is there all the time exactly once, whatever else changes"
for n in $(seq 50); do
	on h0 eipoib local add "10.2.0.$n" lladdr "02:00:00:00:02:$(printf %02x "$n")" dev eth5
done
tool 0 set dev eth5 max_ips 2000
claims_make "$(full_or 10000 40000)" own
traffic_start claims on g2 socat -u -b 42 OPEN:/run/claims INTERFACE:eth0
claims=$(cat /run/traffic.claims.pid)
wait_for 10 kill -s 0 -- "-$claims"
n=0
while not group_ended "$claims" 2>/run/kill.log; do
	assert local_is '[.[] | select(.static)] | length == 51 and (map(.address) | unique | length == 51)'
	n=$((n + 1))
done
note "$n dumps meanwhile"
assert [ "$n" -gt 1 ]

step "The limits are what they say"
# A dump has more if a guest says something meanwhile: one entry makes room for another
wait_for 10 local_is 'length == 2000'
assert [ "$(eth_stat h0 local_evicted)" -ge 4096 ]
tool 0 set dev eth5 max_ips_per_mac 10
claims_make 100 same
claims_send
wait_for 10 local_is '[.[] | select(.mac == "52:00:00:ab:cd:ef")] | length == 10'
wait_for 10 address_is 10.1.1.99 true
tool 0 set dev eth5 max_ips 51 max_ips_per_mac 51
assert local_is 'length == 51 and all(.static)'
tool 4 local add 10.3.0.1 lladdr 02:00:00:00:03:01 dev eth5
err_matches 'All entries are static; delete some, or raise max_ips'

step "All are shown, whichever disappears meanwhile"
ip -n h0 link add link "$dev0" name ib.8001 type ipoib pkey 0x8001
for n in $(seq 200); do
	printf 'link add link ib.8001 name eth6 type eipoib\nlink delete eth6\n'
done >/run/batch
traffic_start eth6 ip -n h0 -batch /run/batch
eth6=$(cat /run/traffic.eth6.pid)
wait_for 10 kill -s 0 -- "-$eth6"
n=0
while not group_ended "$eth6" 2>/run/kill.log; do
	tool 0 -j show
	json "those that are shown" 'any(.interface == "eth5") and all(.lower)'
	n=$((n + 1))
done
note "shown $n times meanwhile"
assert_eq "what ip says" "$(cat /run/traffic.eth6.log)" ""

step "The interface of the highest number is dumped once"
ip -n h0 link add link ib.8001 name eth6 index 2147483647 type eipoib
ends 0 on h0 timeout 20 eipoib -j show
json "both" '[.[].interface] | sort == ["eth5", "eth6"]'
tool 0 -j local dev eth6
json "no entries" '. == []'
tool 0 -j heard
ip -n h0 link delete ib.8001

step "Output that cannot be written"
ends 4 on h0 sh -c 'eipoib help >/dev/full'
err_matches '^eipoib: the output cannot be written$'
ends 4 on h0 sh -c 'eipoib monitor >&-'
err_matches '^eipoib: the output cannot be written$'

step "The module is unloaded while somebody listens, another does not, and an interface has entries"
tool 0 set dev eth5 max_ips 100
room=$(cat /proc/sys/net/core/rmem_default)
echo 4096 >/proc/sys/net/core/rmem_default
traffic_start monitor on h0 eipoib monitor
traffic_start lines on h0 eipoib -j monitor
wait_for 10 monitors_hear
echo "$room" >/proc/sys/net/core/rmem_default
kill -s STOP -- "-$(cat /run/traffic.lines.pid)"
for n in $(seq 40); do
	on h0 eipoib local del "10.2.0.$n" dev eth5
done
rmmod eth_ipoib
wait_for 10 grep -q 'module eth_ipoib is not loaded' /run/traffic.monitor.log
kill -s CONT -- "-$(cat /run/traffic.lines.pid)"
wait_for 10 grep -q 'changes were lost' /run/traffic.lines.log
wait_for 10 grep -q 'module eth_ipoib is not loaded' /run/traffic.lines.log
no_eth5

step "The module is unloaded and loaded again before monitors notice"
module_insert /modules/eth_ipoib.ko
tool 0 add link "$dev0" name eth5
traffic_start monitor on h0 eipoib monitor
traffic_start lines on h0 eipoib -j monitor dev eth5
wait_for 10 monitors_hear
for name in monitor lines; do
	kill -s STOP -- "-$(cat /run/traffic.$name.pid)"
done
rmmod eth_ipoib
module_insert /modules/eth_ipoib.ko
for name in monitor lines; do
	kill -s CONT -- "-$(cat /run/traffic.$name.pid)"
	wait_for 10 grep -q 'module eth_ipoib has been loaded again' /run/traffic.$name.log
done
rmmod eth_ipoib
