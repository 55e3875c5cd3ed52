# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-streams.sh
# Each of the kernel's tunnels over IPoIB: pings of all sizes and a TCP stream arrive
# unchanged, by IPv4 and IPv6, with the driver's offloads, the HCA's, and none.
# timeout: 300
# soak: 2000

. /cases/lib-streams.sh

add()
{
	here link add tunnel "$@"
}

# ---- Tunnels ----

gre() { add type gre local "10.0.0.$n" remote "10.0.0.$m" ttl 64; }
gre_keyed() { add type gre local "10.0.0.$n" remote "10.0.0.$m" ttl 64 key 7 csum seq; }
gretap() { add type gretap local "10.0.0.$n" remote "10.0.0.$m" ttl 64; }
# The inner packets are longer, so outer packets are fragmented
gre_longer()
{
	add type gre local "10.0.0.$n" remote "10.0.0.$m" ttl 64 nopmtudisc ignore-df
	here link set tunnel mtu 4000
}
ip6gre() { add type ip6gre local "fd00::$n" remote "fd00::$m" hoplimit 64; }
ip6gretap() { add type ip6gretap local "fd00::$n" remote "fd00::$m" hoplimit 64; }
ipip() { add type ipip local "10.0.0.$n" remote "10.0.0.$m" ttl 64; }
sit() { add type sit local "10.0.0.$n" remote "10.0.0.$m" ttl 64; }
ip6tnl() { add type ip6tnl mode any local "fd00::$n" remote "fd00::$m" hoplimit 64; }
vxlan() { add type vxlan id 7 dstport 4789 local "10.0.0.$n" remote "10.0.0.$m" dev "$under"; }
vxlan_sums()
{
	add type vxlan id 7 dstport 4789 local "10.0.0.$n" remote "10.0.0.$m" dev "$under" udpcsum
}
vxlan6() { add type vxlan id 7 dstport 4789 local "fd00::$n" remote "fd00::$m" dev "$under"; }
vxlan_group() { add type vxlan id 7 dstport 4789 group 239.7.7.7 dev "$under" ttl 4; }
vxlan6_group() { add type vxlan id 7 dstport 4789 group ff05::7:7 dev "$under" ttl 4; }
vxlan_child() { add type vxlan id 7 dstport 4789 group 239.7.7.8 dev "$under" ttl 4; }
geneve() { add type geneve id 7 remote "10.0.0.$m"; }
geneve6() { add type geneve id 7 remote "fd00::$m"; }

wireguard()
{
	add type wireguard
	in_netns "h$((n - 1))" wg set tunnel private-key "/run/key.$n" listen-port 51820 \
		peer "$(wg pubkey <"/run/key.$m")" endpoint "10.0.0.$m:51820" \
		allowed-ips "10.7.0.$m/32,fd07::$m/128"
}

# ---- What must come through ----

# Nothing is sent before both ends are up: Linux 7.3 has the interface below count what comes for a GRE
# tunnel that is not there as dropped.
tunnel_up()
{
	ipv6_disable 1
	here link set tunnel up
}

# ipv6_disable 0|1
ipv6_disable()
{
	# shellcheck disable=SC2016  # for the inner shell to expand
	on "h$((n - 1))" sh -c 'echo "$1" >/proc/sys/net/ipv6/conf/tunnel/disable_ipv6' sh "$1"
}

tunnel_address()
{
	ipv6_disable 0
	here address add "10.7.0.$n/24" dev tunnel
	here address add "fd07::$n/64" dev tunnel nodad
}

tunnel_down()
{
	here link delete tunnel
}

tunnel_mtu()
{
	on "h$((a - 1))" cat /sys/class/net/tunnel/mtu
}

# through ADDRESS4|- ADDRESS6|-: the families that the tunnel carries.
through()
{
	_first=h$((a - 1)) _mtu=$(tunnel_mtu)
	_dev=$(under_of "$a")
	for _to; do
		case $_to in
		-) continue ;;
		*:*) _headers=48 _url="[$_to]" ;;
		*) _headers=28 _url=$_to ;;
		esac
		echoes "$_first" "$_to" 16
		echoes "$_first" "$_to" $((_mtu - _headers))
		echoes "$_first" "$_to" 5000
		stream_over "$_first" "$_dev" "$_url"
	done
}

# carries TUNNEL MTU [4|6]: both families, or one; MTU is what the headers leave.
carries()
{
	step "$1, hosts $a and $b"
	both "$1"
	both tunnel_up
	both tunnel_address
	assert_eq "the tunnel's MTU" "$(tunnel_mtu)" "$2"
	case ${3:-both} in
	4) through "10.7.0.$b" - ;;
	6) through - "fd07::$b" ;;
	both) through "10.7.0.$b" "fd07::$b" ;;
	esac
	both tunnel_down
}

# ---- Hosts ----

child_make()
{
	here link add link "$under" name child type ipoib pkey 0x8001
	here link set child up
}

child_ready()
{
	wait_for 20 has_carrier "h$((n - 1))" child
	here address add "10.1.0.$n/24" dev child
}

offloads()
{
	on "h$((n - 1))" ethtool -K "$under" tx "$1" sg "$1" tso "$1" gso "$1" gro "$1" \
		tx-udp-segmentation "$1" >/run/ethtool.log
	assert_eq "segmentation" "$(on "h$((n - 1))" ethtool -k "$under" |
		awk '$1 == "tcp-segmentation-offload:" { print $2 }')" "$1"
}

fabric_start hcas=6 profile=virtual,virtual,connectx3,connectx3,connectx5,small
partitions_write 1
opensm_start -P /run/partitions.conf
ipoib_load
hosts_make 6
stream_prepare "$(full_or 100000 50000000)" h0 h1 h2 h3 h4 h5
for k in 1 2 3 4 5 6; do
	(umask 077; wg genkey >/run/key.$k)
done

between 1 2
carries gre 2020
carries gretap 2006
carries gre_longer 4000
carries ip6gre 1992
carries ip6gretap 1978
carries ipip 2024 4
carries sit 2024 6
carries ip6tnl 1996
carries vxlan 1994
carries vxlan6 1974
carries vxlan_group 1994
carries vxlan6_group 1974
carries geneve 1994
carries geneve6 1974
carries wireguard 1420

between 3 4
carries gre_keyed 2008
carries gretap 2006
carries vxlan_sums 1994
carries vxlan6 1974
carries wireguard 1420

step "All offloads off"
both offloads off
carries gre 2020
carries vxlan_sums 1994
carries wireguard 1420
both offloads on

between 5 6
carries gre 2020
carries vxlan6 1974

between 2 3
step "A child each, in another partition"
both child_make
both child_ready
child=child
carries vxlan_child 1994

for k in 2 3 4; do
	assert_eq "sums that host $((k + 1))'s HCA found wrong" \
		"$(fabric_counter ibfab$k port1.offload.rx_csum_bad)" 0
done
nothing_lost h0 h1 h2 h3 h4 h5
