# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# DHCP clients and servers, and the messages that they send.

# dhcp_server HOST FIRST LAST [OPTION...]: starts a server with these addresses, as traffic "server".
# Clients renew their leases each three seconds.
dhcp_server()
{
	_host=$1 _range=$2,$3
	shift 3
	: >/run/leases
	traffic_start server on "$_host" dnsmasq --keep-in-foreground --port=0 \
		--conf-file=/dev/null --user=root --group=root --pid-file \
		--bind-interfaces --log-facility=- --log-dhcp --no-ping \
		--dhcp-leasefile=/run/leases \
		--dhcp-option-force=option:T1,3 \
		--dhcp-option-force=option:T2,60 \
		--dhcp-range="$_range,2m" "$@"
	wait_for 10 listening "$_host" 67 u
}

# dhcp_networkd HOST TYPE NAME: starts the only DHCP client in Debian that supports InfiniBand
# according to RFC 4390, for the host's netdevices of this type and name, as traffic "client".
# Without udev and systemd it needs a read-only /sys, as in a container.
dhcp_networkd()
{
	grep -q ^systemd-network: /etc/passwd || {
		echo 'systemd-network:x:998:998::/:/bin/sh' >>/etc/passwd
		echo 'systemd-network:x:998:' >>/etc/group
		echo 0123456789abcdef0123456789abcdef >/etc/machine-id
	}
	rm -rf /run/systemd/netif
	for _dir in links leases lldp; do
		mkdir -p "/run/systemd/netif/$_dir"
	done
	chown -R systemd-network:systemd-network /run/systemd/netif
	mkdir -p /run/systemd/network
	cat >/run/systemd/network/client.network <<-CONF
		[Match]
		Type=$2
		Name=$3
		[Network]
		DHCP=ipv4
		IPv6AcceptRA=no
	CONF
	traffic_start client on "$1" sh -c 'mount -o remount,ro,bind /sys &&
		container=yes exec /usr/lib/systemd/systemd-networkd'
}

# udhcpc_prepare: writes the script of busybox's client. What it says is in the client's output.
udhcpc_prepare()
{
	cat >/run/udhcpc.sh <<-'SCRIPT'
		#!/bin/sh
		echo "$1 ${ip:-}"
		case $1 in
		deconfig) ip -4 address flush dev "$interface" ;;
		bound | renew) ip address replace "$ip/$mask" dev "$interface" ;;
		esac
	SCRIPT
	chmod +x /run/udhcpc.sh
}

# udhcpc HOST OPTION...: gets a lease for eth0, and with -q ends. Fails if it gets none. This client
# asks for broadcasts only with -B, and names its MAC address as its identifier, except with -C.
udhcpc()
{
	_host=$1
	shift
	on "$_host" busybox udhcpc -i eth0 -f -t 5 -T 2 -n -s /run/udhcpc.sh "$@"
}

# dhcp_dhclient HOST DEVICE: starts the client of ISC, as traffic "client". It does not ask for
# broadcasts, has no identifier, and reads answers from a packet socket.
dhcp_dhclient()
{
	cat >/run/dhclient.sh <<-'SCRIPT'
		#!/bin/sh
		case $reason in
		BOUND | RENEW | REBIND | REBOOT)
			ip address replace "$new_ip_address/$new_subnet_mask" dev "$interface"
			;;
		EXPIRE | FAIL | RELEASE | STOP) ip -4 address flush dev "$interface" ;;
		esac
		echo "$reason ${new_ip_address:-}"
	SCRIPT
	chmod +x /run/dhclient.sh
	rm -f "/run/dhclient.$1.leases"
	traffic_start client on "$1" dhclient -4 -d -cf /dev/null -lf "/run/dhclient.$1.leases" \
		-pf "/run/dhclient.$1.pid" -sf /run/dhclient.sh "$2"
}

# dhcp_watch HOST DEVICE: captures the DHCP packets at the interface, until dhcp_watch_end.
dhcp_watch()
{
	traffic_start "tcpdump.$1.$2" on "$1" tcpdump -Z root -U -n --immediate-mode \
		-i "$2" -w "/run/$1.$2.pcap" udp port 67 or udp port 68
	wait_for 10 grep -q 'listening on' "/run/traffic.tcpdump.$1.$2.log"
}

dhcp_watch_end()
{
	traffic_stop "tcpdump.$1.$2"
}

# dhcp_messages HOST DEVICE: prints a line for each message: its type, then in hexadecimal source,
# destination, htype, hlen, flags, ciaddr, yiaddr, chaddr and the client identifier. The IPv4
# header has 20 octets.
dhcp_messages()
{
	tcpdump -Z root -n -r "/run/$1.$2.pcap" -x 2>/run/tcpdump.log |
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

# dhcp_saw HOST DEVICE REGEX: there is such a message.
dhcp_saw()
{
	dhcp_messages "$1" "$2" >"/run/$1.$2.messages"
	grep -qE "$3" "/run/$1.$2.messages"
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

# Parts of messages, for regular expressions
zero=00000000
# shellcheck disable=SC2034  # for the cases
zeros=$zero$zero$zero$zero
# shellcheck disable=SC2034
all=ffffffff
