# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-scale.sh
# 4,000 neighbours on one interface, and 10,000 in the long form: memory, SA queries, the
# instructions of a lookup and of removing them; and paths that lead nowhere are removed.
# timeout: 400
# soak: 400
# mem: 1024
# icount: yes

. /cases/lib-scale.sh

neighbours=$(full_or 4000 10000)
tracing=/sys/kernel/tracing

# ping_from COUNT: sends an echo request from each of them. The checksum of the IP header
# decreases by one as the sender's address increases.
ping_from()
{
	_sum=$((0x4500 + 0x001c + 0x4001 + 0x0a01 + 0x0101 + 0x0a01 + 0x0001))
	_ip=$(printf '4500001c000000004001%04x0a0101010a010001' \
		$((0xffff - (_sum & 0xffff) - (_sum >> 16))))
	send "$1" "08000000${_ip}0800f7ff00000000" -12,16
}

# GIDs of peers that do not exist; they differ from those of the fabric's ports in the last octets
gids=fe80000000000000021bfa0110000000

# claim_gids COUNT: the GIDs appear in ARP packets only.
claim_gids()
{
	say "$1" "$gids" 28
}

# prove_gids COUNT: also in the GRH, which the HCA forges.
prove_gids()
{
	rule ibfab2 dir=out what=data do=sgid value=28
	say "$1" "$gids" 28 "dgid=$(cat "$ib/ibfab1/ports/1/gids/0")"
	rules_clear ibfab2
}

paths()
{
	grep -c GID "/sys/kernel/debug/ipoib/${dev}_path"
}

paths_at_most()
{
	[ "$(paths)" -le "$1" ]
}

# traced FUNCTION CMD...: sets $instructions to the average of the function's calls, and
# $calls to their number.
traced()
{
	echo "$1" >"$tracing/set_ftrace_filter"
	echo x86-tsc >"$tracing/trace_clock"
	echo function_graph >"$tracing/current_tracer"
	_function=$1
	shift
	"$@"
	echo 0 >"$tracing/tracing_on"
	# "1.234 us" of a TSC that counts instructions is 1234 instructions
	sed -n "s/^.*) *[^0-9]* \([0-9.]*\) us *|  *\(}\|$_function\).*/\1/p" "$tracing/trace" >/run/traced
	instructions=$(awk '{ sum += $1 } END { printf "%d", NR ? sum * 1000 / NR : 0 }' /run/traced)
	calls=$(wc -l </run/traced)
	echo nop >"$tracing/current_tracer"
	echo >"$tracing/set_ftrace_filter"
	echo 1 >"$tracing/tracing_on"
}

# many WHAT LOOKUP SAY: creates the neighbours by SAY, and removes them. LOOKUP is the
# function of the driver that looks up the path of a packet.
many()
{
	_what=$1 _lookup=$2 _say=$3
	# The tracer of newer kernels misses the first call
	"$_say" 10
	wait_for 5 neighbours_are 10
	ping_from 10
	traced "$_lookup" ping_from 10
	_few=$instructions
	traced ipoib_hard_header ping_from 10
	_least=$instructions
	slab_list /run/slab.before
	sa_count_begin
	"$_say" "$neighbours"
	wait_for 20 neighbours_are "$neighbours"
	ping_from "$neighbours"
	slab_list /run/slab.after
	_bytes=$(slab_growth /run/slab.before /run/slab.after)
	note "$_what: $neighbours neighbours, $((_bytes / neighbours)) octets each with the" \
		"kernel's own entry ($(slab_growth_by /run/slab.before /run/slab.after "$neighbours")" \
		"octets in all $_bytes)"
	traced "$_lookup" ping_from "$neighbours"
	note "$_what: a lookup takes $instructions instructions ($calls traced), with ten neighbours $_few;" \
		"of these the tracer's own and a few are $_least"
	assert test "$calls" -ge $((neighbours * 99 / 100))
	# Some hash chains may be longer, but must not grow with the number of neighbours
	assert_between "instructions of a lookup" "$instructions" "$_least" $((_few + 200))
	_asked=$(sa_asked_paths)
	note "$_what: $_asked questions to the SA for paths"
	[ "$_say" != prove_gids ] || assert_eq "questions for what is learned, and trusted" "$_asked" 0
	traced ipoib_stop ip -n h1 link set "$dev" down
	note "$_what: taken down in $((instructions / 1000)) us of an instruction a nanosecond"
	wait_for 20 slab_returned /run/slab.before $((_bytes / 20))
	ip -n h1 link set "$dev" up
	wait_for 20 has_carrier h1 "$dev"
}

# through WHAT LOOKUP LOAD...
through()
{
	step "$1"
	_name=$1 _find=$2
	shift 2
	fabric_start hcas=3 dma=0
	opensm_start
	module_insert /modules/ibraw.ko
	"$@"
	host_make h1 ibfab1 1
	dev=$(dev_of h1)
	ip -n h1 address add 10.1.0.1/16 dev "$dev"
	wait_for 20 has_carrier h1 "$dev"
	raw_listen ibfab2 "qkey=0xb1b posted=1024"
	many "$_name, of one GID" "$_find" say_qpns
}

end()
{
	ip netns del h1
	rmmod ibraw
	wait_for 20 rmmod ib_ipoib
	opensm_stop
	fabric_stop
}

[ -d "$tracing/events" ] || mount -t tracefs tracefs "$tracing"
echo 16384 >"$tracing/buffer_size_kb"
neighbours_unbounded

through "this driver" ipoib_path_xmit ipoib_load
# The SA does not know these GIDs, so it must not be queried
on h1 ethtool --set-priv-flags "$dev" trust-learned on
many "this driver, of as many GIDs" ipoib_path_xmit prove_gids
on h1 ethtool --set-priv-flags "$dev" trust-learned off

step "Paths to GIDs that were only claimed lead nowhere, and are removed"
claimed=$(full_or 2000 4000)
queries=$(stat_of h1 path_queries)
claim_gids "$claimed"
wait_for 20 neighbours_are "$claimed"
note "of $claimed peers that claim GIDs, $(paths) have a path"
assert [ "$(paths)" -gt 20 ]
host_make h2 ibfab0 2
ip -n h2 address add 10.1.0.2/16 dev "$(dev_of h2)"
wait_for 20 has_carrier h2 "$(dev_of h2)"
pings_all h2 3 10.1.0.1
wait_for 20 paths_at_most 20
note "$(paths) paths are left; the SA was asked for $(($(stat_of h1 path_queries) - queries))"
ip netns del h2
end

through "in-tree driver" ipoib_neigh_get intree_load
end
