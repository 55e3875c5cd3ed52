# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# DHCPv4 according to RFC 4390: a lease is obtained, renewed and released, by an interface and
# by its child in another partition.
# timeout: 240
# profiles: small connectx3 connectx5 virtual

. /cases/lib.sh
# shellcheck source=lib-dhcp.sh
. /cases/lib-dhcp.sh

# What RFC 4390 section 2.1 requires of each message: htype 32, hlen 0, chaddr 0, and an
# identifier according to RFC 4361: 255, IAID, DUID.
id='ff[0-9a-f]{8}000[1-4][0-9a-f]+'

# leased DEVICE SERVER-DEVICE SERVER: an address is obtained by broadcasts in both directions
# (section 2.2), and renewed by unicasts. This client sets the BROADCAST flag in the latter,
# which section 2.2 forbids; the server answers by unicast all the same.
leased()
{
	wait_for 20 address_of h1 "$1"
	_address=$(address_of h1 "$1")
	_own=$(hex_address "$_address") _server=$(hex_address "$3")
	note "$1 has $_address"
	pings_all h1 2 "$3"
	wait_for 20 dhcp_saw h0 "$2" "^ACK $_server $_own"
	_head="$zero $all 20 00 8000 $zero $zero $zeros $id"
	assert dhcp_saw h0 "$2" "^DISCOVER $_head\$"
	assert dhcp_saw h0 "$2" "^REQUEST $_head\$"
	assert dhcp_saw h0 "$2" "^OFFER $_server $all 20 00 8000 $zero $_own $zeros "
	assert dhcp_saw h0 "$2" "^ACK $_server $all 20 00 8000 $zero $_own $zeros "
	assert dhcp_saw h0 "$2" "^REQUEST $_own $_server 20 00 .... $_own $zero $zeros $id\$"
	assert dhcp_saw h0 "$2" "^ACK $_server $_own 20 00 .... $_own $_own $zeros "
	refute dhcp_saw h0 "$2" "^[A-Z]+ [^ ]+ [^ ]+ ([^2]|2[^0]|20 [^0]|20 0[^0])"
}

# released DEVICE ADDRESS SERVER: the address is released by unicast. This client violates the
# standards: chaddr holds the beginning of its link-layer address instead of zeroes, and the
# server identifier is missing (RFC 2131 section 4.4.6). The message arrives, and dnsmasq
# ignores it.
released()
{
	_own=$(hex_address "$2") _server=$(hex_address "$3")
	wait_for 20 dhcp_saw h0 "$1" \
		"^RELEASE $_own $_server 20 00 .... $_own $zero [0-9a-f]{32} $id\$"
	note "$(grep '^RELEASE' "/run/h0.$1.messages")"
}

fabric_start hcas=2
cat >/run/partitions.conf <<'CONF'
Default=0x7fff, ipoib : ALL=full;
other=0x1, ipoib : ALL=full;
CONF
opensm_start -P /run/partitions.conf
ipoib_load
hosts_make 2
dev0=$(dev_of h0) dev1=$(dev_of h1)
ip -n h1 address flush dev "$dev1" scope global
for n in 0 1; do
	eval "dev=\$dev$n"
	ip -n "h$n" link add link "$dev" name "$dev.8001" type ipoib pkey 0x8001
	ip -n "h$n" link set "$dev.8001" up
	wait_for 20 has_carrier "h$n" "$dev.8001"
done
ip -n h0 address add 10.1.0.1/24 dev "$dev0.8001"

step "A lease for the interface, and one of another pool for its child"
dhcp_watch h0 "$dev0"
dhcp_watch h0 "$dev0.8001"
dhcp_server h0 10.0.0.100 10.0.0.110 --interface="$dev0" --interface="$dev0.8001" \
	--dhcp-range=10.1.0.200,10.1.0.210,2m
dhcp_networkd h1 infiniband '*'
leased "$dev1" "$dev0" 10.0.0.1
address=$_address
assert_match "the address" "$address" '^10\.0\.0\.1(0[0-9]|10)$'
leased "$dev1.8001" "$dev0.8001" 10.1.0.1
child_address=$_address
assert_match "the child's" "$child_address" '^10\.1\.0\.2(0[0-9]|10)$'
pings_all h0 2 "$address"
pings_all h0 2 "$child_address"

step "Each has an identifier of its own, the same all the time"
for dev in "$dev0" "$dev0.8001"; do
	grep -E '^(DISCOVER|REQUEST)' "/run/h0.$dev.messages" |
		awk '{ print $10 }' | sort -u >"/run/$dev.ids"
	assert_eq "identifiers at $dev" "$(wc -l <"/run/$dev.ids")" 1
done
refute cmp -s "/run/$dev0.ids" "/run/$dev0.8001.ids"
sort -u "/run/h0.$dev0.messages"

step "Both are released"
traffic_stop client
released "$dev0" "$address" 10.0.0.1
released "$dev0.8001" "$child_address" 10.1.0.1
wait_for 10 has_none h1 "$dev1"
wait_for 10 has_none h1 "$dev1.8001"
dhcp_watch_end h0 "$dev0"
dhcp_watch_end h0 "$dev0.8001"
traffic_stop server
