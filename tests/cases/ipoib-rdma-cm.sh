# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The kernel's RDMA CM connects addresses on parents, children, several interfaces with one
# P_Key, a bond and a VRF, in namespaces; and joins groups.
# timeout: 500
# soak: 1000
# profiles: connectx3 connectx5 virtual

. /cases/lib.sh

cma=/sys/kernel/debug/ibcma

# cma HOST FILE WORDS: runs a command of ibcma. Errors of the write are in /run/cma.log.
cma()
{
	echo "$3" >/run/cma.line
	in_netns "$1" dd if=/run/cma.line of="$cma/$2" bs=4k status=none 2>/run/cma.log && return
	note "$1 $2 $3: $(cat /run/cma.log) $(tr '\n' ' ' <"$cma/result")"
	return 1
}

# cma_word NAME WORD: prints a word of a service or membership.
cma_word()
{
	awk -v name="$1" -v word="$2" '$1 == name { for (i = 2; i < NF; i += 2)
		if ($i == word) print $(i + 1) }' "$cma/names"
}

# cma_result WORD: prints a word of the last connection's result.
cma_result()
{
	awk -v word="$1" '$1 == word { print $2 }' "$cma/result"
}

# serve HOST: starts one service of each kind, for all addresses. They are not bound to an
# interface or address, so only the driver determines which interface a request is for.
serve()
{
	cma "$1" listen "name=rc.$1 address=:: port=7000" || fail "no service on $1"
	cma "$1" listen "name=ud.$1 address=:: port=7000 ud=1" || fail "no service on $1"
}

# connect_by KIND FROM TO: connects FROM with TO, each of which is "HOST,DEVICE,ADDRESS".
connect_by()
{
	_kind=$1
	IFS=, read -r _host _dev _address <<-END
		$2
	END
	IFS=, read -r _to_host _to_dev _to_address <<-END
		$3
	END
	_service=$_kind.$_to_host _ud=0
	[ "$_kind" = rc ] || _ud=1
	_requests=$(cma_word "$_service" requests)
	_messages=$(cma_word "$_service" messages)
	cma "$_host" connect "from=$_address to=$_to_address port=7000 ud=$_ud count=5" ||
		fail "$_kind from $2 to $3"
	assert_eq "the connecting end's interface" "$(cma_result dev)" "$_dev"
	assert_eq "messages that came back" "$(cma_result received)" 5
	assert_eq "requests of $_service, from $2 to $3" \
		"$(cma_word "$_service" requests)" $((_requests + 1))
	assert_eq "the interface that $2 reached at $3" \
		"$(cma_word "$_service" dev)" "$_to_dev"
	assert_eq "messages that $_service got" "$(cma_word "$_service" messages)" \
		$((_messages + 5))
	assert_eq "errors of $_service" "$(cma_word "$_service" errors)" 0
}

connects()
{
	connect_by rc "$1" "$2"
	connect_by ud "$1" "$2"
}

# connects_all END...: each END connects to the two that follow it, or in the long form to all
# others.
connects_all()
{
	_reach=$(full_or 2 $#) _ends=$# _source=0
	for _from; do
		_source=$((_source + 1)) _target=0
		for _to; do
			_target=$((_target + 1))
			_ahead=$(((_target - _source + _ends) % _ends))
			[ "$_ahead" -eq 0 ] || [ "$_ahead" -gt "$_reach" ] ||
				connects "$_from" "$_to"
		done
	done
	note "$_ends ends, each with $_reach others"
}

# child_make HOST NAME ADDRESS [WORD...]: makes a child of the host's own interface. Its
# link-local address is random, because the one derived from the GUID is the same for all
# interfaces of the port. A duplicate is not used, and the RDMA CM resolves IPv6 neighbours
# only from that address.
child_make()
{
	_host=$1 _name=$2 _address=$3
	shift 3
	ip -n "$_host" link add link "ib${_host#h}" name "$_name" type ipoib "$@"
	ip -n "$_host" link set "$_name" addrgenmode random
	child_up "$_host" "$_name" "$_address"
}

# child_up HOST DEVICE A.B.N: sets it up with 10.A.B.N and fd00:A:B::N, the last in hexadecimal.
child_up()
{
	ip -n "$1" address add "10.$3/24" dev "$2"
	ip -n "$1" address add "fd00:$(echo "${3%.*}" | tr . :)::$(printf %x "${3##*.}")/64" \
		dev "$2" nodad
	ip -n "$1" link set "$2" up
}

# pod_make POD HOST ADDRESS [WORD...]: makes a namespace with a child of the host's own
# interface in the same partition, as container plug-ins do.
pod_make()
{
	_pod=$1 _host=$2 _address=$3
	shift 3
	ip netns add "$_pod"
	ip -n "$_pod" link set lo up
	ip -n "$_host" link add link "ib${_host#h}" name "$_pod" type ipoib "$@"
	ip -n "$_host" link set "$_pod" netns "$_pod"
	ip -n "$_pod" link set "$_pod" addrgenmode random
	child_up "$_pod" "$_pod" "$_address"
}

fabric_start hcas=3
partitions_write 1
opensm_start -P /run/partitions.conf
ipoib_load
module_insert /modules/ibcma.ko
for n in 0 1 2; do
	ip netns add "h$n"
	ip -n "h$n" link set lo up
	wait_for 10 netdev_of "ibfab$n"
	dev=$(netdev_of "ibfab$n")
	ip link set "$dev" netns "h$n" name "ib$n"
done
for n in 0 1; do
	child_up "h$n" "ib$n" "0.0.$((n + 1))"
	child_make "h$n" "ib$n.8001" "1.0.$((n + 1))" pkey 0x8001
	child_make "h$n" twin.8001 "2.0.$((n + 1))" pkey 0x8001
	child_make "h$n" twin "3.0.$((n + 1))"
done
pod_make pod0 h0 0.0.10
pod_make pod1 h0 0.0.11 umcast 1
pod_make pod2 h1 0.0.12

ip -n h2 link add bond0 type bond mode active-backup fail_over_mac active miimon 100
ip -n h2 link set ib2 master bond0
child_up h2 bond0 0.0.3
pod_make pod3 h2 0.0.13

for n in 0 1; do
	for dev in "ib$n" "ib$n.8001" twin.8001 twin; do
		wait_for 30 has_carrier "h$n" "$dev"
	done
done
wait_for 30 has_carrier h2 bond0
for n in 0 1 2 3; do
	wait_for 30 has_carrier "pod$n" "pod$n"
done
for host in h0 h1 h2 pod0 pod1 pod2 pod3; do
	serve "$host"
done

step "Parents, a bond, and pods with the parent's P_Key, IPv4"
connects_all h0,ib0,10.0.0.1 h1,ib1,10.0.0.2 h2,bond0,10.0.0.3 pod0,pod0,10.0.0.10 \
	pod1,pod1,10.0.0.11 pod2,pod2,10.0.0.12 pod3,pod3,10.0.0.13

step "The same, IPv6"
connects_all h0,ib0,fd00:0:0::1 h2,bond0,fd00:0:0::3 pod0,pod0,fd00:0:0::a pod1,pod1,fd00:0:0::b \
	pod3,pod3,fd00:0:0::d

step "Children, several with one P_Key, in the parent's namespace"
connects_all h0,ib0.8001,10.1.0.1 h1,ib1.8001,10.1.0.2
connects_all h0,twin.8001,10.2.0.1 h1,twin.8001,10.2.0.2
connects_all h0,twin,10.3.0.1 h1,twin,10.3.0.2
connects_all h0,twin.8001,fd00:2:0::1 h1,twin.8001,fd00:2:0::2
connects_all h0,twin,fd00:3:0::1 h1,twin,fd00:3:0::2

step "An address that no interface with the P_Key has"
refused()
{
	refute cma "$@"
	assert_eq "stage" "$(cma_result stage)" connection
}
ip -n h1 address add 10.0.0.77/32 dev lo
ip -n h0 neighbour replace 10.0.0.77 dev ib0 \
	lladdr "$(in_netns h1 ip -o link show dev ib1 | sed -n 's/.*infiniband \([^ ]*\) .*/\1/p')"
refused h0 connect "to=10.0.0.77 port=7000"
refused h0 connect "to=10.0.0.77 port=7000 ud=1"
ip -n h1 address delete 10.0.0.77/32 dev lo

step "An address that moves to another namespace takes its connections with it"
ip -n pod0 address delete 10.0.0.10/24 dev pod0
ip -n pod1 address add 10.0.0.10/24 dev pod1
connects h0,ib0,10.0.0.1 pod1,pod1,10.0.0.10
connects pod2,pod2,10.0.0.12 pod1,pod1,10.0.0.10
ip -n pod1 address delete 10.0.0.10/24 dev pod1
ip -n pod0 address add 10.0.0.10/24 dev pod0

step "A VRF: addresses of its member, and its own"
ip -n h1 link add blue type vrf table 10
ip -n h1 link set blue up
ip -n h1 link set ib1 master blue
# They are set down and up together with it, and so are its children
wait_for 30 has_carrier h1 ib1
wait_for 30 has_carrier pod2 pod2
ip -n h1 address replace fd00:0:0::2/64 dev ib1 nodad
ip -n h1 address add 10.9.9.9/32 dev blue
# The RDMA CM does not resolve addresses behind a gateway on InfiniBand
ip -n h0 route add 10.9.9.9 dev ib0
connects_all h0,ib0,10.0.0.1 h1,ib1,10.0.0.2 pod2,pod2,10.0.0.12
connects_all h0,ib0,fd00:0:0::1 h1,ib1,fd00:0:0::2
connects h0,ib0,10.0.0.1 h1,ib1,10.9.9.9
ip -n h1 link delete blue
wait_for 30 has_carrier h1 ib1

# probe_heard FILE: whether socat has received the probe.
probe_heard()
{
	grep -q probe "$1"
}

# member_is NAME WORD VALUE: whether the membership has this value.
member_is()
{
	[ "$(cma_word "$1" "$2")" = "$3" ]
}

# group_listed DEVICE MGID: whether the driver has the group.
group_listed()
{
	grep -q "$2" "/sys/kernel/debug/ipoib/$1_mcg"
}

step "Groups of the RDMA CM's own"
for family in 239.1.1.5 ff15::5; do
	cma h1 join "name=a address=10.0.0.2 group=$family"
	cma pod0 join "name=b address=10.0.0.10 group=$family"
	cma pod1 join "name=c address=10.0.0.11 group=$family"
	assert_eq "mgid of b" "$(cma_word b mgid)" "$(cma_word a mgid)"
	for member in a,ib1 b,pod0 c,pod1; do
		assert_eq "dev of $member" "$(cma_word "${member%,*}" dev)" "${member#*,}"
	done
	cma h1 send "name=a payload=0102030405 count=3"
	for member in a b c; do
		wait_for 10 member_is $member packets 3
		assert_eq "what $member got" "$(cma_word $member last)" 0102030405
	done
	for member in a b c; do
		cma h1 end "name=$member"
	done
done

step "The IP layer's groups: members receive what sockets send, and vice versa"
cma pod1 join "name=pod address=10.0.0.11 group=239.1.1.1 ipoib=1"
cma h0 join "name=child address=10.1.0.1 group=239.1.1.1 ipoib=1"
assert_eq "the pod's dev" "$(cma_word pod dev)" pod1
assert_eq "the child's dev" "$(cma_word child dev)" ib0.8001
assert_eq "the pod's group" "$(cma_word pod mgid)" ff12:401b:ffff::f01:101
assert_eq "the child's group" "$(cma_word child mgid)" ff12:401b:8001::f01:101
send_probe()
{
	echo probe | on h1 socat -u - \
		"UDP4-DATAGRAM:239.1.1.1:5000,ip-multicast-if=10.0.0.2"
}
# probe_sent PACKETS: sends a probe; the pod's member has received more than PACKETS.
probe_sent()
{
	send_probe
	sleep 0.2
	[ "$(cma_word pod packets)" -gt "$1" ]
}
wait_for 10 probe_sent 0
assert_match "what the pod's member got" "$(cma_word pod last)" \
	'^0800000045000022.*0a000002ef010101....1388000e....70726f62650a$'
assert_eq "what the child's member got" "$(cma_word child packets)" 0

traffic_start heard on h1 socat -u \
	"UDP4-RECV:5001,ip-add-membership=239.1.1.1:ib1" OPEN:/run/heard.h1,creat
wait_for 20 group_listed ib1 ff12:401b:ffff:0:0:0:f01:101
# The datagram from 10.0.0.11:5001 to 239.1.1.1:5001 with "probe"
member_sent()
{
	cma pod1 send "name=pod payload=0800000045000021000000000111bfbf0a00000bef01010113891389000d000070726f6265"
	sleep 0.2
	probe_heard /run/heard.h1
}
wait_for 20 member_sent
traffic_stop heard

step "umcast: the driver does not join a group that was joined through the RDMA CM"
assert_eq "umcast" "$(in_netns pod1 ip -d link show pod1 | sed -n 's/.*umcast *\([^ ]*\) .*/\1/p')" 0001
traffic_start first on pod1 socat -u \
	UDP4-RECV:5002,ip-add-membership=239.1.1.1:pod1 OPEN:/run/heard.pod1,creat
wait_for 10 on pod1 grep -q 010101EF /proc/net/igmp
traffic_start second on pod1 socat -u \
	UDP4-RECV:5003,ip-add-membership=239.1.1.2:pod1 OPEN:/run/other.pod1,creat
# When the second group is there, the list has been processed
wait_for 20 group_listed pod1 f01:102
refute group_listed pod1 f01:101
# h1 is no member any more. OpenSM grants send-only membership before the switch has the route
packets=$(cma_word pod packets)
wait_for 10 probe_sent "$packets"
packets=$(cma_word pod packets)
repeat 3 send_probe
wait_for 10 member_is pod packets $((packets + 3))
refute group_listed pod1 f01:101
traffic_stop first
traffic_stop second

step "Everything is removed"
for host in h0 h1 h2 pod0 pod1 pod2 pod3; do
	cma "$host" end "name=rc.$host"
done
rmmod ibcma
