# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# DHCPv4 according to RFC 4390: a lease is obtained, renewed and released, by an interface and
# by its child in another partition.
# timeout: 240
# profiles: small connectx3 connectx5 virtual

. /cases/lib.sh

# client_start: starts the only DHCP client in Debian that supports InfiniBand according to
# RFC 4390. Without udev and systemd it needs a read-only /sys, as in a container.
client_start()
{
	echo 'systemd-network:x:998:998::/:/bin/sh' >>/etc/passwd
	echo 'systemd-network:x:998:' >>/etc/group
	echo 0123456789abcdef0123456789abcdef >/etc/machine-id
	for _dir in links leases lldp; do
		mkdir -p "/run/systemd/netif/$_dir"
	done
	chown -R systemd-network:systemd-network /run/systemd/netif
	mkdir -p /run/systemd/network
	cat >/run/systemd/network/ib.network <<-CONF
		[Match]
		Type=infiniband
		[Network]
		DHCP=ipv4
		IPv6AcceptRA=no
	CONF
	traffic_start client on h1 sh -c 'mount -o remount,ro,bind /sys &&
		container=yes exec /usr/lib/systemd/systemd-networkd'
}

# server_start: starts a server with a pool for each interface and short renewal times.
server_start()
{
	traffic_start server on h0 dnsmasq --keep-in-foreground --port=0 \
		--conf-file=/dev/null --user=root --group=root --pid-file \
		--interface="$dev0" --interface="$dev0.8001" \
		--bind-interfaces --log-facility=- --log-dhcp --no-ping \
		--dhcp-leasefile=/run/leases \
		--dhcp-option-force=option:T1,3 \
		--dhcp-option-force=option:T2,60 \
		--dhcp-range=10.0.0.100,10.0.0.110,2m \
		--dhcp-range=10.1.0.200,10.1.0.210,2m
}

# watch DEVICE: captures the DHCP packets of h0's interface to a file.
watch()
{
	traffic_start "tcpdump.$1" on h0 tcpdump -Z root -U -n -i "$1" \
		-w "/run/$1.pcap" udp port 67 or udp port 68
	wait_for 10 grep -q 'listening on' "/run/traffic.tcpdump.$1.log"
}

# messages DEVICE: prints a line for each message: its type, then in hexadecimal source,
# destination, htype, hlen, flags, ciaddr, yiaddr, chaddr and the client identifier. The IPv4
# header has 20 octets.
messages()
{
	tcpdump -Z root -n -r "/run/$1.pcap" -x 2>/run/tcpdump.log |
		awk '/^[^\t]/ { print "" } /^\t/ { sub(/.*: /, "");
			gsub(/ /, ""); printf "%s", $0 } END { print "" }' |
		awk '
		function number(at) {
			return 16 * (index(digits, substr($0, at, 1)) - 1) +
				index(digits, substr($0, at + 1, 1)) - 1
		}
		function octets(offset, count) {
			return substr($0, 2 * offset + 1, 2 * count)
		}
		function option(code,	at) {
			at = 2 * 268 + 1
			while (at < length($0) && number(at) != 255) {
				if (number(at) == code)
					return substr($0, at + 4,
						2 * number(at + 2))
				at += number(at) ? 4 + 2 * number(at + 2) : 2
			}
			return "none"
		}
		BEGIN {
			digits = "0123456789abcdef"
			split("DISCOVER OFFER REQUEST DECLINE ACK NAK RELEASE",
				names, " ")
		}
		NF {
			print names[option(53) + 0], octets(12, 4),
				octets(16, 4), octets(29, 1), octets(30, 1),
				octets(38, 2), octets(40, 4), octets(44, 4),
				octets(56, 16), option(61)
		}'
}

# saw DEVICE REGEX: there is such a message.
saw()
{
	messages "$1" >"/run/$1.messages"
	grep -qE "$2" "/run/$1.messages"
}

# hex_address 10.0.0.1: prints it in hexadecimal, as in a packet.
hex_address()
{
	# shellcheck disable=SC2046  # a word for each octet
	printf '%02x' $(echo "$1" | tr . ' ')
}

# address_of HOST DEVICE: prints its IPv4 address; fails if there is none.
address_of()
{
	ip -n "$1" -4 -o address show dev "$2" >/run/addresses || return 2
	awk '{ sub("/.*", "", $4); print $4; n++ } END { exit !n }' /run/addresses
}

has_none()
{
	not address_of "$1" "$2"
}

# What RFC 4390 section 2.1 requires of each message: htype 32, hlen 0, chaddr 0, and an
# identifier according to RFC 4361: 255, IAID, DUID.
zero=00000000
zeros=$zero$zero$zero$zero
id='ff[0-9a-f]{8}000[1-4][0-9a-f]+'
all=ffffffff

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
	wait_for 20 saw "$2" "^ACK $_server $_own"
	_head="$zero $all 20 00 8000 $zero $zero $zeros $id"
	assert saw "$2" "^DISCOVER $_head\$"
	assert saw "$2" "^REQUEST $_head\$"
	assert saw "$2" "^OFFER $_server $all 20 00 8000 $zero $_own $zeros "
	assert saw "$2" "^ACK $_server $all 20 00 8000 $zero $_own $zeros "
	assert saw "$2" "^REQUEST $_own $_server 20 00 .... $_own $zero $zeros $id\$"
	assert saw "$2" "^ACK $_server $_own 20 00 .... $_own $_own $zeros "
	refute saw "$2" "^[A-Z]+ [^ ]+ [^ ]+ ([^2]|2[^0]|20 [^0]|20 0[^0])"
}

# released DEVICE ADDRESS SERVER: the address is released by unicast. This client violates the
# standards: chaddr holds the beginning of its link-layer address instead of zeroes, and the
# server identifier is missing (RFC 2131 section 4.4.6). The message arrives, and dnsmasq
# ignores it.
released()
{
	_own=$(hex_address "$2") _server=$(hex_address "$3")
	wait_for 20 saw "$1" \
		"^RELEASE $_own $_server 20 00 .... $_own $zero [0-9a-f]{32} $id\$"
	note "$(grep '^RELEASE' "/run/$1.messages")"
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
watch "$dev0"
watch "$dev0.8001"
server_start
client_start
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
	grep -E '^(DISCOVER|REQUEST)' "/run/$dev.messages" |
		awk '{ print $10 }' | sort -u >"/run/$dev.ids"
	assert_eq "identifiers at $dev" "$(wc -l <"/run/$dev.ids")" 1
done
refute cmp -s "/run/$dev0.ids" "/run/$dev0.8001.ids"
sort -u "/run/$dev0.messages"

step "Both are released"
traffic_stop client
released "$dev0" "$address" 10.0.0.1
released "$dev0.8001" "$child_address" 10.1.0.1
wait_for 10 has_none h1 "$dev1"
wait_for 10 has_none h1 "$dev1.8001"
traffic_stop "tcpdump.$dev0"
traffic_stop "tcpdump.$dev0.8001"
traffic_stop server
