# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-streams.sh
# Generic XDP as a gateway between IPoIB and Ethernet, and between partitions: headers of
# different lengths, redirection to another interface or another CPU. A program that changes
# the header and passes the packet loses it.
# timeout: 200
# soak: 900
# smp: 2

. /cases/lib-streams.sh

# is_ready NAME: whether the program is attached.
is_ready()
{
	cat "/run/$1.log"
	grep -qx ready "/run/$1"
}

# attach NAME HOST DEVICE WORDS...: attaches an XDP program with ibhooks.
attach()
{
	_name=$1 _host=$2
	shift 2
	: >"/run/$_name"
	# Not in a function, as the signal must go to ibhooks itself
	nsenter --net="/run/netns/$_host" ibhooks xdp "$@" \
		>"/run/$_name" 2>"/run/$_name.log" &
	eval "pid_$_name=\$!"
	wait_for 10 is_ready "$_name"
}

# detach NAME: detaches it, and sets $treated to the number of packets it handled.
detach()
{
	eval "kill \$pid_$1"
	eval "wait \$pid_$1" || fail "$1: $(cat "/run/$1.log")"
	treated=$(sed -n 's/^count=//p' "/run/$1")
}

# hwaddr HOST DEVICE: prints its hardware address in hexadecimal.
hwaddr()
{
	on "$1" cat "/sys/class/net/$2/address" | tr -d :
}

# answered HOST ADDRESS COUNT [OPTION...]: COUNT of three pings are answered.
answered()
{
	_from=$1 _to=$2 _count=$3
	shift 3
	_status=0
	_out=$(in_netns "$_from" ping -n -c 3 -i 0.1 -W 1 "$@" "$_to") || _status=$?
	assert_between "status of ping" "$_status" 0 1
	assert_match "pings" "$_out" "3 packets transmitted, $_count received"
	answers_whole "$_out"
}

fabric_start hcas=3
partitions_write 1
opensm_start -P /run/partitions.conf
ipoib_load
hosts_make 3
dev0=$(dev_of h0) dev1=$(dev_of h1)
ip -n h2 address flush dev "$(dev_of h2)"

# The host inner has Ethernet; h2 is in the other partition. IP forwarding is off on h1, so
# packets only get through by XDP.
ip netns add inner
ip -n h1 link add eth1 mtu 2044 type veth peer name eth0 mtu 2044 netns inner
ip -n h1 link set eth1 up
ip -n inner address add 192.168.5.2/24 dev eth0
ip -n inner link set eth0 up
ip -n inner neigh add 192.168.5.1 dev eth0 nud permanent \
	lladdr "$(on h1 cat /sys/class/net/eth1/address)"
ip -n inner route add default via 192.168.5.1
for n in 1 2; do
	ip -n h$n link add link "$(dev_of h$n)" name part type ipoib pkey 0x8001
	ip -n h$n address add "10.0.1.$((n + 1))/24" dev part
	ip -n h$n link set part up
done
for n in 1 2; do
	wait_for 20 has_carrier h$n part
done
for host in h0 h2; do
	ip -n $host route add 192.168.5.0/24 via "$([ $host = h0 ] && echo 10.0.0.2 || echo 10.0.1.2)"
done
ip -n h0 route add 10.0.1.0/24 via 10.0.0.2
ip -n h2 route add 10.0.0.0/24 via 10.0.1.2
answered h0 10.0.0.2 3
answered h2 10.0.1.2 3
assert_eq "forwarding" "$(on h1 cat /proc/sys/net/ipv4/ip_forward)" 0
ib0=$(hwaddr h0 "$dev0")08000000
ib2=$(hwaddr h2 part)08000000
ether=$(hwaddr inner eth0)$(hwaddr h1 eth1)0800

step "Native XDP is refused without effects"
must_fail in_netns h1 ibhooks xdp "$dev1" native icmp >/run/native 2>/run/native.log
assert_match "what is said" "$(cat /run/native.log)" 'Operation not supported'
refute grep -q ready /run/native
refute says xdp ip -n h1 link show dev "$dev1"

step "Nothing is forwarded yet"
answered inner 10.0.0.1 0
answered h0 10.0.1.3 0

step "From Ethernet to IPoIB and back"
attach there h1 eth1 gate icmp "$dev1" "$ib0"
attach back h1 "$dev1" gate reply eth1 "$ether"
answered inner 10.0.0.1 3
answered inner 10.0.0.1 3 -s 1900
detach there
assert_eq "requests" "$treated" 6
detach back
assert_eq "replies" "$treated" 6
answered inner 10.0.0.1 0

step "From partition to partition and back"
attach there h1 "$dev1" gate icmp part "$ib2"
attach back h1 part gate reply "$dev1" "$ib0"
answered h0 10.0.1.3 3
answered h0 10.0.1.3 3 -s 1900
detach there
assert_eq "requests" "$treated" 6
detach back
assert_eq "replies" "$treated" 6
answered h0 10.0.1.3 0

step "Received by another CPU"
attach cpu h1 "$dev1" cpu icmp
assert grep -q cpumap /proc/[0-9]*/comm
answered h0 10.0.0.2 3
answered h0 10.0.0.2 3 -s 1900
detach cpu
assert_eq "packets" "$treated" 6
attach cpu h1 "$dev1" cpu tcp
stream_prepare "$(full_or 300000 50000000)" h1
stream_over h0 "$dev0" 10.0.0.2
stream_over h0 "$dev0" '[fd00::2]'
detach cpu
assert test "$treated" -gt 10

step "On a child"
attach child h2 part drop icmp
answered h1 10.0.1.3 0
detach child
assert_eq "packets dropped" "$treated" 3
answered h1 10.0.1.3 3

# After the program the kernel takes the first 14 octets for a changed Ethernet header
step "A header that is changed: the packet goes where Ethernet would have it"
attach stain h1 "$dev1" stain icmp
answered h0 10.0.0.2 0
detach stain
assert_eq "packets" "$treated" 3
answered h0 10.0.0.2 3
answered h0 fd00::2 3
nothing_lost h0 h2
