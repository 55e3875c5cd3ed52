# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-services.sh
# A corosync cluster of three nodes, by knet and by UDP multicast: it forms, continues without
# a node whose cable is unplugged, and takes the node back; knet finds the link's MTU.
# timeout: 300
# soak: 300
# when: soak

. /cases/lib-services.sh

# conf_write HOST TRANSPORT FORMAT: writes corosync.conf. h0 is node number 1. FORMAT makes an
# address of a node's number.
conf_write()
{
	_me=$((${1#h} + 1))
	{
		cat <<-CONF
			totem {
				version: 2
				cluster_name: test
				transport: $2
				token: 3000
				crypto_cipher: none
				crypto_hash: none
				interface {
					linknumber: 0
					$4
				}
			}
			quorum {
				provider: corosync_votequorum
				expected_votes: 3
			}
			logging {
				to_stderr: yes
				to_syslog: no
				to_logfile: no
			}
			system {
				sched_rr: no
			}
			nodelist {
		CONF
		for _n in 1 2 3; do
			# shellcheck disable=SC2059  # the format is the argument
			printf "\tnode {\n\t\tnodeid: $_n\n\t\tname: h$((_n - 1))\n\t\tring0_addr: $3\n\t}\n" $_n
		done
		echo '}'
	} >"/etc/corosync/h$((_me - 1)).conf"
}

# members HOST N yes|no: whether it has N members, and whether these are a quorum.
members()
{
	# It can block forever on a corosync that is just starting
	on "$1" timeout 5 corosync-quorumtool -s >/run/quorum 2>&1
	cat /run/quorum
	grep -qi "^Nodes: *$2\$" /run/quorum && grep -qi "^Quorate: *$3\$" /run/quorum
}

# cluster TRANSPORT FORMAT OPTIONS: all steps over this transport.
cluster()
{
	step "$1, $2: three nodes form a cluster"
	for _host in h0 h1 h2; do
		conf_write $_host "$@"
		eval "begun_$_host=$(netdev_counter $_host "$(dev_of $_host)" rx_packets)"
		service_start corosync.$_host $_host corosync -f -c /etc/corosync/$_host.conf
	done
	for _host in h0 h1 h2; do
		wait_for 40 members $_host 3 Yes
	done
	cat /run/quorum
	[ "$1" != knet ] || knet_mtu

	step "$1, $2: one loses its cable: two go on, one knows that it is alone"
	cable h2 down
	wait_for 30 members h0 2 Yes
	wait_for 30 members h1 2 Yes
	wait_for 30 members h2 1 No

	step "$1, $2: it comes back"
	cable h2 up
	for _host in h0 h1 h2; do
		wait_for 40 members $_host 3 Yes
		eval "_begun=\$begun_$_host"
		# shellcheck disable=SC2154  # of the line above
		assert test "$(netdev_counter $_host "$(dev_of $_host)" rx_packets)" -gt $((_begun + 50))
	done
	for _host in h0 h1 h2; do
		traffic_stop corosync.$_host
	done
}

# knet_has_mtu: knet has the MTU that the headers of IP, UDP and knet leave of 2044 octets, to
# both peers.
knet_has_mtu()
{
	on h0 corosync-cmapctl -m stats | grep 'link0.mtu ' >/run/mtu
	cat /run/mtu
	[ "$(awk '$NF > 1900 && $NF < 2044' /run/mtu | wc -l)" -ge 2 ]
}

# knet_mtu: waits for knet's path MTU discovery.
knet_mtu()
{
	wait_for 60 knet_has_mtu
	cat /run/mtu
}

fabric_start hcas=3
opensm_start
ipoib_load
hosts_make 3
# For its lock file
[ -e /var/run ] || ln -s /run /var/run
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm

cluster knet 10.0.0.%d ""
cluster knet fd00::%d ""
joined=$(stat_of h0 group_joins)
multicasts=$(fabric_counter ibfab0 port1.multicast_rcv_packets)
cluster udp 10.0.0.%d "bindnetaddr: 10.0.0.0
					mcastaddr: 239.255.1.1
					mcastport: 5405"
assert test "$(stat_of h0 group_joins)" -gt "$joined"
assert test "$(fabric_counter ibfab0 port1.multicast_rcv_packets)" -gt $((multicasts + 50))
