# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Ethernet over IPoIB: a guest moves to the bridge of another host, which a hypervisor says by RARP,
# and an IPoIB netdevice gets another QPN. Each time, the other hosts are told where the guests'
# IP addresses are, although the guests do not say it.
# timeout: 240

. /cases/lib.sh
# shellcheck source=lib-eipoib.sh
. /cases/lib-eipoib.sh

# at HOST ADDRESS: h1 has the link-layer address of this host for the IP address.
at()
{
	_lladdr=$(lladdr_of h1 "$dev1" "$2") || {
		ip -n h1 -s neigh show dev "$dev1" >&2
		return 2
	}
	[ "$_lladdr" = "$(on "$1" cat "/sys/class/net/$(dev_of "$1")/address")" ] || {
		echo "$2 is at $_lladdr" >&2
		return 1
	}
}

# qpn_has_changed: h0 has another QPN than $qpn. Its CQ overruns when something comes.
qpn_has_changed()
{
	_status=0
	on h1 ping -n -q -c 1 -W 1 10.0.0.62 >/run/ping.overrun || _status=$?
	[ $_status -le 1 ] || fail "ping: status $_status"
	differs "$qpn" qpn_of h0
}

fabric_start hcas=3
opensm_start
ipoib_load
hosts_make 3
module_insert /modules/eth_ipoib.ko
dev1=$(dev_of h1)
for host in h0 h2; do
	eth_make $host
	bridge_make $host
done
guest_make g1 h0 61
guest_make g2 h0 62
for guest in g1 g2; do
	dad_ends $guest
	wait_for 20 pings $guest fd00::2
	reach $guest 10.0.0.2 fd00::2
	# It asks for nobody, so that it tells nobody where it is
	for address in 10.0.0.2 fd00::2; do
		ip -n $guest neigh replace $address dev eth0 nud permanent \
			lladdr "$(lladdr_of $guest eth0 $address)"
	done
done
assert at h0 10.0.0.61
assert at h0 fd00::61

step "A guest that has moved is found at once, by IPv4 and IPv6"
ip -n h0 link set port.g1 netns h2
ip -n h2 link set port.g1 master br0 up
wait_for 10 has_carrier g1 eth0
rarp_send g1 3
assert_eq "arrivals at h2" "$(eth_stat h2 rarp)" 3
on g1 ping -n -q -i 0.1 -c 30 -W 1 10.0.0.2 >/run/ping4 || fail "no answer by IPv4"
on g1 ping -n -q -i 0.1 -c 30 -W 1 fd00::2 >/run/ping6 || fail "no answer by IPv6"
cat /run/ping4 /run/ping6
# A second is ten packets of each
for file in /run/ping4 /run/ping6; do
	assert_between "answers" "$(sed -n 's/.* \([0-9]*\) received.*/\1/p' $file)" 20 30
done
assert at h2 10.0.0.61
assert at h2 fd00::61
assert [ "$(eth_stat h2 announced)" -ge 2 ]
reach h1 10.0.0.61 fd00::61

step "The addresses of guests that are known are announced again when they arrive once more"
announced=$(eth_stat h2 announced)
rarp_send g1 3
wait_for 1 eth_stat_reaches h2 announced $((announced + 2))

# h1 sends nothing, so it would keep the old place for ever
step "So is one that only answers, as it is asked for the addresses that it had elsewhere"
asked=$(eth_stat h0 asked_eth)
ip -n h2 link set port.g1 netns h0
ip -n h0 link set port.g1 master br0 up
wait_for 10 has_carrier g1 eth0
assert at h2 10.0.0.61
assert at h2 fd00::61
rarp_send g1 3
wait_for 2 at h0 10.0.0.61
wait_for 2 at h0 fd00::61
assert [ "$(eth_stat h0 asked_eth)" -ge $((asked + 2)) ]
reach h1 10.0.0.61 fd00::61

step "The host that it has left announces it once more, and is told where it is"
left=$(eth_stat h0 local_left)
rarp_send g1 1
ip -n h2 address add 10.0.0.61/24 dev "$(dev_of h2)"
on h2 arping -q -U -c 1 -I "$(dev_of h2)" 10.0.0.61
wait_for 2 eth_stat_reaches h0 local_left $((left + 1))
ip -n h2 address delete 10.0.0.61/24 dev "$(dev_of h2)"
wait_for 2 at h0 10.0.0.61
reach h1 10.0.0.61

step "Another QPN of the IPoIB netdevice is announced for all guests"
assert at h0 10.0.0.62
assert at h0 fd00::62
qpn=$(qpn_of h0)
echo "overrun $qpn recv" >"$ibfab/ibfab0/completions"
wait_for 30 qpn_has_changed
wait_for 10 at h0 10.0.0.62
wait_for 10 at h0 fd00::62
reach h1 10.0.0.62 fd00::62
reach g2 10.0.0.2 fd00::2
