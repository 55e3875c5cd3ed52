# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Programs that monitor interfaces show the same with the in-tree driver and with this one, and
# count what the interface sends and receives: files below /sys, SNMP, the node exporter of
# Prometheus, sar, nstat.
# timeout: 240
# root: daemons

. /cases/lib.sh
. /cases/lib-daemons.sh
driver=''

mkdir -p /etc/snmp
cat >/etc/snmp/snmpd.conf <<'CONF'
agentaddress udp:127.0.0.1:161
rocommunity public 127.0.0.1
CONF
if_entry=.1.3.6.1.2.1.2.2.1
ifx_entry=.1.3.6.1.2.1.31.1.1.1

# octets WAY: prints what ib0 has counted so far; WAY is rx or tx.
octets()
{
	cat "/sys/class/net/ib0/statistics/$1_bytes"
}

# count_between WHAT LEAST WAY CMD...: CMD prints at least LEAST octets, and not more than ib0 has
# counted.
count_between()
{
	_what=$1 _least=$2 _way=$3
	shift 3
	_count=$("$@")
	assert_between "$_what" "$_count" "$_least" "$(octets "$_way")"
	note "$_what $_count"
}

pings_big()
{
	ping -q -c "$1" -i 0.01 -s 1000 10.0.0.1 >/run/ping.log || fail "$(cat /run/ping.log)"
	assert_match "pings" "$(cat /run/ping.log)" " $1 received, 0% packet loss"
}

# files_of FOLDER FILE...: prints each file's content.
files_of()
{
	_folder=$1
	shift
	for _file; do
		echo "$_file $(cat "$_folder/$_file" 2>&1)"
	done
}

# snmp_get COLUMN
snmp_get()
{
	snmpget -v 2c -c public -O qv 127.0.0.1 "$1.$(cat /sys/class/net/ib0/ifindex)"
}

snmpd_start()
{
	traffic_start snmpd snmpd -f -Le -C -c /etc/snmp/snmpd.conf
	wait_for 20 snmp_get $if_entry.2
}

# snmp_columns: prints the columns of ib0 that have no counters and no times.
snmp_columns()
{
	for _column in 2 3 4 5 7 8; do
		echo "ifEntry.$_column $(snmp_get $if_entry.$_column)"
	done
	for _column in 1 15 16 17 18; do
		echo "ifXEntry.$_column $(snmp_get $ifx_entry.$_column)"
	done
	# ifPhysAddress has only the first 6 of 20 octets
	echo "ifPhysAddress $(snmp_get $if_entry.6 | tr -d '"' | wc -w)"
}

metrics()
{
	/busybox/wget -q -O - http://127.0.0.1:9100/metrics
}

# metric_of REGEX: prints its value as an integer.
metric_of()
{
	metrics | awk -v regex="^$1 " '$0 ~ regex { printf "%d\n", $2; n++ } END { exit n != 1 }'
}

monitoring_goes()
{
	ip address add 10.0.0.2/24 dev ib0
	ip link set ib0 up
	wait_for 20 up_and_running ib0
	# Few packets wait for a path with the in-tree driver
	wait_for 20 ping -q -c 1 10.0.0.1
	pings_big 20

	step "$driver: files below /sys"
	{
		files_of /sys/class/net/ib0 type addr_len addr_assign_type broadcast carrier dev_id \
			dev_port dormant duplex flags link_mode mode mtu operstate pkey speed umcast
		cut -c 1-2,13- /sys/class/net/ib0/address
		# The in-tree driver does not tell why there is no carrier, nor the port's ID, which
		# Linux 7.3 shows only for drivers that do
		printf '%s\n' /sys/class/net/ib0/* /sys/class/net/ib0/statistics/* |
			sed '/no_carrier_reason$/d; /phys_port_id$/d'
		readlink /sys/class/net/ib0/device
	} | same_with_both files

	step "$driver: SNMP"
	snmpd_start
	snmp_columns | same_with_both snmp
	cat "/run/snmp.$driver"
	_was=$(snmp_get $ifx_entry.6)
	traffic_stop snmpd
	pings_big 50
	rx=$(octets rx) tx=$(octets tx)
	# It caches counters, so it is started again
	snmpd_start
	count_between ifInOctets "$rx" rx snmp_get $if_entry.10
	count_between ifOutOctets "$tx" tx snmp_get $if_entry.16
	count_between ifHCInOctets $((_was + 50 * 1000)) rx snmp_get $ifx_entry.6
	count_between ifHCOutOctets "$tx" tx snmp_get $ifx_entry.10
	traffic_stop snmpd

	step "$driver: the node exporter"
	traffic_start exporter prometheus-node-exporter --web.listen-address=127.0.0.1:9100 \
		--collector.disable-defaults --collector.netdev --collector.netclass
	wait_for 20 metrics
	metrics | grep -E '^node_network_[a-z_]*\{.*device="ib0"' |
		sed 's/ [^ ]*$//; s/address="..:..:..:..:/address="/' | same_with_both exporter
	cat "/run/exporter.$driver"
	count_between node_network_receive_bytes_total "$rx" rx metric_of \
		'node_network_receive_bytes_total.device="ib0".'
	count_between node_network_transmit_bytes_total "$tx" tx metric_of \
		'node_network_transmit_bytes_total.device="ib0".'
	traffic_stop exporter >/run/exporter.end

	step "$driver: sar and nstat"
	nstat -n
	sar.sysstat -n DEV,EDEV 2 2 >/run/sar &
	sar=$!
	pings_big 300
	wait $sar
	grep -E 'IFACE|ib0' /run/sar
	awk '$2 == "IFACE" { print }' /run/sar | cut -c 9- | same_with_both sar
	assert_between "packets a second" "$(awk '$1 == "Average:" && $2 == "ib0" {
		print int($4); exit }' /run/sar)" 20 1000
	assert_between "answers" "$(nstat -sz IcmpInEchoReps | awk '/^Icmp/ { print $2 }')" 300 300
	ip link set ib0 down
	ip address flush dev ib0
}

with_each_driver monitoring_goes
