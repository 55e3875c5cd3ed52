# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=../cases/lib-scale.sh
# The guest's part of bench.sh: the figures of one driver. DRIVER is ours, intree or veth,
# PART selects the figures. Prints lines "figure NAME VALUE".

. /cases/lib-scale.sh
# shellcheck source=../cases/lib-perf.sh
. /cases/lib-perf.sh

driver=${DRIVER:?} part=${PART:?}
# The function that starts the fabric
fabric=fabric_plain

# driver_load ARGUMENT...: the arguments are for this driver only.
driver_load()
{
	case $driver in
	ours) ipoib_load "$@" ;;
	intree) intree_load ;;
	esac
}

# long_pings HOST ADDRESS: whether a ping of 60000 octets that must not be cut is answered.
long_pings()
{
	on "$1" ping -q -c 1 -W 1 -M "do" -s 60000 "$2"
}

# connect HOST...: switches these to connected mode.
connect()
{
	for _host; do
		_dev=$(dev_of "$_host")
		on "$_host" sh -c "echo connected >/sys/class/net/$_dev/mode"
		ip -n "$_host" link set "$_dev" mtu 65520
	done
}

# link_start IB_MTU OFFLOAD [QUEUES|- [connected [PARAMETER]]]: makes two hosts. IB_MTU is 4 (2048
# octets) or 5 (4096). QUEUES, the number of send queues, and PARAMETER are for this driver only. In
# connected mode, both hosts have opened their connections.
link_start()
{
	if [ "$driver" = veth ]; then
		link_of_veth $((128 << $1))
		return
	fi
	echo "Default=0x7fff, ipoib, mtu=$1 : ALL=full;" >/run/partitions.conf
	"$fabric" hcas=2 offload="$2"
	opensm_start -P /run/partitions.conf
	driver_load ${5:+"$5"}
	hosts_make 2
	for _host in h0 h1; do
		ip -n "$_host" link set "$(dev_of "$_host")" mtu $(((128 << $1) - 4))
		[ "${3:--}" = - ] || on "$_host" ethtool -L "$(dev_of "$_host")" tx "$3"
	done
	wait_for 20 on h0 ping -q -c 1 -W 1 10.0.0.2
	if [ "${4:-}" = connected ]; then
		connect h0 h1
		wait_for 20 long_pings h0 10.0.0.2
		wait_for 20 long_pings h1 10.0.0.1
	fi
	# OpenSM must not sweep during a measurement; and reading random numbers is expensive
	# until the kernel has enough entropy
	sleep 5
	head -c 1 /dev/random >/dev/null
	opensm_stop
}

link_of_veth()
{
	for _k in 0 1; do
		ip netns add "h$_k"
		ip -n "h$_k" link set lo up
	done
	ip link add veth0 netns h0 mtu $(($1 - 4)) type veth peer veth1 netns h1 mtu $(($1 - 4))
	for _k in 0 1; do
		ip -n "h$_k" address add "10.0.0.$((_k + 1))/24" dev "veth$_k"
		ip -n "h$_k" link set "veth$_k" up
	done
	wait_for 20 on h0 ping -q -c 1 -W 1 10.0.0.2
	head -c 1 /dev/random >/dev/null
}

link_stop()
{
	if [ "$driver" = veth ]; then
		ip -n h0 link delete veth0
	else
		wait_for 20 rmmod ib_ipoib
		fabric_stop
	fi
	for _host in $(ip netns list | awk '{ print $1 }'); do
		ip netns delete "$_host"
	done
}

# median NAME [COLUMN]: prints the median of the five values in this column of /run/runs. Not a
# pipeline, which would hide a failed run.
median()
{
	awk -v "column=${2:-1}" '{ print $column }' /run/runs >/run/column
	sort -n /run/column | sed -n "3s/^/figure $1 /p"
}

# has_meter: whether the fabric counts the instructions of the HCAs.
has_meter()
{
	[ -e /sys/kernel/debug/ibfab/meter ]
}

# measure NAME ARGUMENT...: runs ibbench and prints the instructions per unit that it counts, and
# if the fabric has a meter, as NAME.host those without the HCAs'. The times of timers and ACKs
# vary, and with them the number of packets that are processed at once; medians of five runs vary
# less.
measure()
{
	_what=$1
	shift
	: >/run/runs
	for _n in 1 2 3 4 5; do
		/bench/ibbench "$@" >/run/ibbench.out 2>/run/ibbench.err ||
			fail "$_what: $(tail -n 3 /run/ibbench.err)"
		awk '{ printf "%.4f %.4f\n", $6 / $2, ($6 - $8) / $2 }' /run/ibbench.out >>/run/runs
	done
	median "$_what"
	! has_meter || median "$_what.host" 2
}

# figure NAME MODE COUNT [SIZE [STREAMS]]: measures traffic from h0 to h1.
figure()
{
	_figure=$1
	shift
	measure "$_figure" h0 h1 10.0.0.2 "$@"
}

# streams NAME: NAME is part of the figures' names, such as the MTU and the offload.
streams()
{
	figure "tcp.$1" tcp $((24 << 20))
	figure "tcp8.$1" tcp $((24 << 20)) 65536 8
}

# datagrams SUFFIX
datagrams()
{
	figure "udp64$1" udp 8000 64
	figure "udp1400$1" udp 8000 1400
	figure "rr$1" rr 4000 1
	measure "ping$1" run 3000 ip netns exec h0 ping -f -q -c 3000 10.0.0.2
}

# A router between two hosts; h0 is the same as for the other figures.
forward_start()
{
	if [ "$driver" = veth ]; then
		link_of_veth 2048
		ip netns add h2
		ip link add veth2 netns h1 mtu 2044 type veth peer veth3 netns h2 mtu 2044
		_in=veth2 _out=veth3
	else
		partitions_write 0
		fabric_plain hcas=4
		opensm_start -P /run/partitions.conf
		driver_load
		hosts_make 2
		ip netns add h2
		_in=$(netdev_of ibfab2) _out=$(netdev_of ibfab3)
		ip link set "$_in" netns h1
		ip link set "$_out" netns h2
	fi
	ip -n h1 address add 10.1.0.1/24 dev "$_in"
	ip -n h2 address add 10.1.0.2/24 dev "$_out"
	ip -n h1 link set "$_in" up
	ip -n h2 link set "$_out" up
	ip -n h2 link set lo up
	ip -n h0 route add 10.1.0.0/24 via 10.0.0.2
	ip -n h2 route add 10.0.0.0/24 via 10.1.0.1
	on h1 sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
	wait_for 30 on h0 ping -q -c 1 -W 1 10.1.0.2
	[ "$driver" = veth ] || sleep 5
	head -c 1 /dev/random >/dev/null
	[ "$driver" = veth ] || opensm_stop
}

# fabric_bounced WORDS...: starts a fabric whose HCAs use DMA addresses; each mapping takes a
# bounce buffer.
fabric_bounced()
{
	fabric_start "$@" garbage=0
}

# fabric_metered WORDS...: starts a fabric that counts the instructions of its HCAs.
fabric_metered()
{
	fabric_plain "$@" meter=1
}

# first_ping NAME: from h1 to h2, which do not know each other: microseconds, including ARP
# and path, and the number of SA queries.
first_ping()
{
	sa_count_begin
	_us=$(on h1 ping -c 1 -W 5 10.0.0.3 | sed -n 's/.* time=\([0-9.]*\) ms$/\1/p')
	sleep 1
	[ -n "$_us" ] || fail "$1: no reply"
	echo "figure first.$1 $(echo "$_us" | awk '{ print $1 * 1000 }')"
	echo "figure queries.$1 $(sa_asked_paths)"
}

# pair_start ARGUMENT...: arguments of the driver. Makes h1 and h2; only the SM uses ibfab0.
pair_start()
{
	fabric_plain hcas=3 pkeys=96
	opensm_start -P /run/partitions.conf
	driver_load "$@"
	for _k in 1 2; do
		host_make "h$_k" "ibfab$_k" "$((_k + 1))"
	done
	for _k in 1 2; do
		wait_for 30 has_carrier "h$_k" "$(dev_of "h$_k")"
	done
	sleep 5
	head -c 1 /dev/random >/dev/null
}

pair_stop()
{
	for _k in 1 2; do
		ip netns delete "h$_k"
	done
	wait_for 20 rmmod ib_ipoib
	opensm_stop
	fabric_stop
}

# took NAME CMD...: prints how many milliseconds CMD takes.
took()
{
	_what=$1
	shift
	now_ms
	# shellcheck disable=SC2154  # set by that
	_begin=$now_ms
	"$@"
	now_ms
	echo "figure $_what $((now_ms - _begin))"
}

joined()
{
	[ "$(groups_joined ':f10:' "/sys/kernel/debug/ipoib/$(dev_of h1)_mcg")" -ge 500 ]
}

groups_join()
{
	on h1 sh -c 'echo 1000 >/proc/sys/net/ipv4/igmp_max_memberships'
	echo 1000000 >/proc/sys/net/core/optmem_max
	for _n in $(seq 500); do
		echo "address add 239.16.$((_n / 250)).$((_n % 250 + 1))/32 dev $(dev_of h1) autojoin"
	done | ip -n h1 -batch -
	wait_for 60 joined
}

interface_up()
{
	ip -n h1 link set "$1" up
	until has_carrier h1 "$1"; do :; done
}

children_of_h1()
{
	_parent=$(dev_of h1)
	for _k in $(seq 64); do
		printf 'link add link %s name c%d type ipoib pkey 0x%04x\nlink set c%d up\n' \
			"$_parent" "$_k" $((0x8000 + _k)) "$_k"
	done | ip -n h1 -batch -
	for _k in $(seq 64); do
		wait_for 60 has_carrier h1 "c$_k"
	done
}

# memory_of_neighbours: the neighbours are learned by ARP; each has a QPN of its own on one port.
memory_of_neighbours()
{
	neighbours_unbounded
	fabric_plain hcas=3
	opensm_start
	module_insert /modules/ibraw.ko
	driver_load
	host_make h1 ibfab1 1
	ip -n h1 address add 10.1.0.1/16 dev "$(dev_of h1)"
	wait_for 30 has_carrier h1 "$(dev_of h1)"
	raw_listen ibfab2 "qkey=0xb1b posted=1024"
	say_qpns 1
	wait_for 5 neighbours_are 1
	slab_list /run/slab.before
	say_qpns 4000
	wait_for 60 neighbours_are 4000
	slab_list /run/slab.after
	echo "figure memory.neighbour $(($(slab_growth /run/slab.before /run/slab.after) / 4000))"
}

# wall NAME WORD ARGUMENT...: prints the median of five runs of iperf3; WORD selects a value
# of its JSON.
wall()
{
	_what=$1 _word=$2
	shift 2
	: >/run/runs
	for _n in 1 2 3 4 5; do
		on h0 iperf3 -J -c 10.0.0.2 -t 2 "$@" >/run/wall.json ||
			fail "$_what: $(jq -r .error /run/wall.json)"
		jq ".end.$_word.bits_per_second / 1e6" /run/wall.json >>/run/runs
	done
	median "$_what"
}

wall_servers()
{
	iperf_server h1
	traffic_start iperf.second on h1 iperf3 -s -p 5202
	wait_for 10 listening h1 5202
}

# wall_two NAME: the same with two processes that send at once.
wall_two()
{
	: >/run/runs
	for _n in 1 2 3 4 5; do
		on h0 iperf3 -J -c 10.0.0.2 -p 5202 -t 2 >/run/wall.2.json &
		_second=$!
		on h0 iperf3 -J -c 10.0.0.2 -t 2 >/run/wall.1.json ||
			fail "$1: $(jq -r .error /run/wall.1.json)"
		wait "$_second" || fail "$1: $(jq -r .error /run/wall.2.json)"
		jq -s '[.[].end.sum_received.bits_per_second] | add / 1e6' /run/wall.[12].json \
			>>/run/runs
	done
	median "$1"
}

free_kb()
{
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	echo 3 >/proc/sys/vm/drop_caches
	awk '$1 == "MemFree:" { print $2 }' /proc/meminfo
}

# memory_of NAME COUNT CMD...: prints the memory that CMD takes, divided by COUNT.
memory_of()
{
	_what=$1 _count=$2 _before=$(free_kb)
	shift 2
	"$@"
	_after=$(free_kb)
	echo "figure $_what $(((_before - _after) * 1024 / _count))"
}

interfaces_up()
{
	for _k in $(seq 0 15); do
		ip link set "$(netdev_of "ibfab$_k")" up
	done
	for _k in $(seq 0 15); do
		wait_for 60 is_up "$(netdev_of "ibfab$_k")"
	done
}

is_up()
{
	ip -o link show dev "$1" | grep -q LOWER_UP
}

children_up()
{
	for _k in $(seq 24); do
		_pkey=$(printf '0x80%02x' "$_k")
		ip link add link "$1" name "child$_k" type ipoib pkey "$_pkey"
		ip link set "child$_k" up
	done
	for _k in $(seq 24); do
		wait_for 60 is_up "child$_k"
	done
}

# connected_children: makes 8 children of h1 and h2, in connected mode, and connects each pair.
connected_children()
{
	for _host in h1 h2; do
		_parent=$(dev_of $_host)
		for _k in $(seq 8); do
			ip -n $_host link add link "$_parent" name "${_host}c$_k" type ipoib \
				pkey "0x800$_k" mode connected
			ip -n $_host link set "${_host}c$_k" mtu 65520 up
			ip -n $_host address add "10.1.$_k.${_host#h}/24" dev "${_host}c$_k"
		done
	done
	for _k in $(seq 8); do
		wait_for 60 long_pings h1 "10.1.$_k.2"
		wait_for 60 long_pings h2 "10.1.$_k.1"
	done
}

# bridge_over HOST NETDEVICE NUMBER: puts it into a bridge with the address 10.2.0.NUMBER, and a
# namespace behind the bridge with 10.2.0.1NUMBER.
bridge_over()
{
	_mtu=$(on "$1" cat "/sys/class/net/$2/mtu")
	ip -n "$1" link add br0 mtu "$_mtu" type bridge
	ip -n "$1" link set "$2" master br0 up
	ip -n "$1" link set br0 up
	ip -n "$1" address add "10.2.0.$3/24" dev br0
	ip netns add "n$3"
	ip -n "n$3" link add eth0 mtu "$_mtu" type veth peer name port mtu "$_mtu" netns "$1"
	ip -n "$1" link set port master br0 up
	ip -n "n$3" link set eth0 up
	ip -n "n$3" address add "10.2.0.1$3/24" dev eth0
}

# bridged NAME NAME: measures streams from bridge to bridge, and between the namespaces behind them.
bridged()
{
	wait_for 20 on h0 ping -q -c 1 -W 1 10.2.0.2
	wait_for 20 on n1 ping -q -c 1 -W 1 10.2.0.12
	measure "tcp.$1" h0 h1 10.2.0.2 tcp $((24 << 20))
	measure "tcp.$2" n1 n2 10.2.0.12 tcp $((24 << 20))
	for _k in 0 1; do
		ip netns delete "n$((_k + 1))"
		ip -n "h$_k" link delete br0
	done
}

# over_vxlan: the way that Ethernet crosses an InfiniBand link without eth_ipoib.
over_vxlan()
{
	for _k in 0 1; do
		ip -n "h$_k" link add vxlan5 type vxlan id 5 dstport 4789 dev "$(dev_of "h$_k")" \
			local "10.0.0.$((_k + 1))" remote "10.0.0.$((2 - _k))"
		bridge_over "h$_k" vxlan5 "$((_k + 1))"
	done
	bridged vxlan vxlan.veth
	for _k in 0 1; do
		ip -n "h$_k" link delete vxlan5
	done
}

over_eth()
{
	module_insert /modules/eth_ipoib.ko
	for _k in 0 1; do
		_dev=$(dev_of "h$_k")
		ip -n "h$_k" address flush dev "$_dev"
		ip -n "h$_k" link add link "$_dev" name eth5 type eipoib
		bridge_over "h$_k" eth5 "$((_k + 1))"
	done
	bridged bridge veth
}

# profile MODE COUNT [SIZE [STREAMS]]: prints the functions in which the instructions are spent.
profile()
{
	step "Profile of $*"
	echo "profile $driver, $*:"
	perf_profile 40 /bench/ibbench h0 h1 10.0.0.2 "$@"
}

# exact MODE COUNT [SIZE [STREAMS]]: QEMU logs the instructions, and the host assigns them to
# symbols.
exact()
{
	vport_start monitor
	awk '$2 ~ /^[tTwW]$/ { print "symbol", $1, $3, $4 }' /proc/kallsyms
	IBBENCH_MONITOR=$(vport_of monitor) /bench/ibbench h0 h1 10.0.0.2 "$@"
}

# words TEXT: splits it at commas.
words()
{
	echo "$1" | tr , ' '
}

case $part in
short)
	link_start 4 none
	streams 2044
	figure udp1400 udp 8000 1400
	measure ping run 3000 ip netns exec h0 ping -f -q -c 3000 10.0.0.2
	link_stop
	;;
traffic)
	link_start 4 none
	streams 2044
	datagrams ""
	[ "$driver" != ours ] || figure gso gso 300 63000 2000
	link_stop
	link_start 5 none
	streams 4092
	link_stop
	;;
offload)
	link_start 4 csum
	streams 2044.csum
	figure gso.csum gso 300 63000 2000
	link_stop
	link_start 4 csum+lso
	streams 2044.lso
	link_stop
	;;
dma)
	fabric=fabric_bounced
	link_start 4 none
	streams 2044.dma
	datagrams .dma
	link_stop
	;;
forward)
	forward_start
	measure forward h0 h2 10.1.0.2 udp 6000 64
	;;
control)
	partitions_write 64
	pair_start
	first_ping learned
	took groups groups_join
	pair_stop
	if [ "$driver" = ours ]; then
		pair_start learn_paths=0
		first_ping asked
		pair_stop
	fi
	pair_start
	ip -n h1 link set "$(dev_of h1)" down
	took up.one interface_up "$(dev_of h1)"
	took up.children children_of_h1
	;;
neighbours)
	memory_of_neighbours
	;;
connected)
	fabric=fabric_metered
	link_start 4 none - connected
	streams connected
	figure udp60000 udp 1000 60000
	measure ping.connected run 3000 ip netns exec h0 ping -f -q -c 3000 10.0.0.2
	link_stop
	link_start 4 none - connected omit_checksums=1
	streams unsummed
	figure udp60000.unsummed udp 1000 60000
	link_stop
	partitions_write 8
	pair_start
	memory_of memory.connected 2 connected_children
	;;
eth)
	link_start 4 none
	figure tcp.plain tcp $((24 << 20))
	over_vxlan
	over_eth
	link_stop
	;;
wall)
	link_start 4 none
	wall_servers
	wall wall.tcp sum_received
	wall wall.tcp8 sum_received -P 8
	wall wall.udp sum_received -u -b 0 -l 1400
	wall_two wall.two
	[ "$driver" = ours ] || exit 0
	for name in h1 second; do
		traffic_stop "iperf.$name"
	done
	link_stop
	link_start 4 none 2
	wall_servers
	wall_two wall.two.queues
	;;
memory)
	partitions_write 24
	fabric_plain hcas=16
	opensm_start -P /run/partitions.conf
	# Excludes what only the first interface and child allocate
	driver_load
	memory_of memory.interface 16 interfaces_up
	memory_of memory.child 24 children_up "$(netdev_of ibfab0)"
	opensm_stop
	;;
profile | exact)
	# shellcheck disable=SC2046  # words
	link_start $(words "${LINK:?}")
	# shellcheck disable=SC2046
	"$part" $(words "${WHAT:?}")
	link_stop
	;;
*)
	fail "no such part: $part"
	;;
esac
