# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-scale.sh
# 64 P_Key children on one port are created, set up, used and deleted; time and memory, with
# this driver and the in-tree driver.
# timeout: 240
# mem: 3072
# when: soak
# soak: 400

. /cases/lib-scale.sh

children=$(full_or 16 64)

# child_lines HOST FORMAT: prints a line for `ip -batch` for each child, with its P_Key and number.
child_lines()
{
	for _n in $(seq "$children"); do
		# shellcheck disable=SC2059  # a format
		printf "$1\n" "$_n" "$_n"
	done
}

carriers()
{
	on "$1" sh -c 'cat /sys/class/net/c*/carrier' | grep -cx 1
}

all_have_carrier()
{
	[ "$(carriers "$1")" -eq "$children" ]
}

# used_kib: sets $used_kib to the used memory, after memory that is freed late.
used_kib()
{
	echo 3 >/proc/sys/vm/drop_caches
	used_kib=$(awk '$1 == "MemTotal:" { total = $2 }
		$1 == "MemFree:" { print total - $2 }' /proc/meminfo)
}

# used_at_most KIB
used_at_most()
{
	used_kib
	[ "$used_kib" -le "$1" ]
}

# made HOST NUMBER: makes its children, adds addresses and sets them up.
made()
{
	_dev=$(dev_of "$1")
	child_lines "link add link $_dev name c%d type ipoib pkey 0x%04x" >"/run/add.$1"
	child_lines "address add 10.%d.0.$2/24 dev c%d" >"/run/addresses.$1"
	child_lines "link set c%d up #%d" | sed 's/ #.*//' >"/run/up.$1"
	for _batch in add addresses up; do
		ip -n "$1" -batch "/run/$_batch.$1" || fail "$_batch"
	done
}

# since: sets $now_ms to the milliseconds since $begin.
since()
{
	now_ms
	now_ms=$((now_ms - begin))
}

# through WHAT LOAD...
through()
{
	step "$1"
	_what=$1
	shift
	fabric_start hcas=3 pkeys=96 dma=0
	opensm_start -P /run/partitions.conf
	"$@"
	for _k in 1 2; do
		host_make h$_k ibfab$_k $_k
	done
	for _k in 1 2; do
		wait_for 20 has_carrier h$_k "$(dev_of h$_k)"
	done
	wait_for 20 grep -qx "$(printf '0x%04x' $((0x8000 + children)))" "$ib"/ibfab2/ports/1/pkeys/*
	made h2 2
	wait_for 60 all_have_carrier h2
	used_kib
	_used=$used_kib

	sa_count_begin
	now_ms
	begin=$now_ms
	made h1 1
	since
	_ms=$now_ms
	wait_for 60 all_have_carrier h1
	since
	note "$_what: $children children made in $_ms ms, all have carrier after $now_ms ms, $(sa_asked) MADs to the SA"
	seq "$children" | sed 's/.*/10.&.0.2/' >/run/everybody
	wait_for 20 on h1 fping -q -r 2 -t 1000 -f /run/everybody
	used_kib
	_each=$(((used_kib - _used) / children))
	note "$_what: $_each KiB each"

	child_lines "link delete c%d #%d" | sed 's/ #.*//' >/run/delete
	now_ms
	begin=$now_ms
	ip -n h1 -batch /run/delete
	since
	note "$_what: deleted in $now_ms ms"
	# Each CPU's free lists of the page allocator keep some memory
	wait_for 20 used_at_most $((_used + children * _each / 8 + 2048))
	for _k in 1 2; do
		ip netns del h$_k
	done
	wait_for 20 rmmod ib_ipoib
	opensm_stop
	fabric_stop
}

partitions_write "$children"

through "this driver" ipoib_load
through "in-tree driver" intree_load
