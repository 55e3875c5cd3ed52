# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Figures of the Address Translation Service: the time until the SA has an address, the MADs
# for a change, the resolves per second, and what limits them.
# icount: yes
# timeout: 240
# soak: 600
# when: soak

. /cases/lib.sh
# shellcheck source=lib-ats.sh
. /cases/lib-ats.sh

# ats_stat NAME: prints a statistic of the first HCA's port.
ats_stat()
{
	ibats -j stats | jq ".[0].$1"
}

# mads_note WHAT CMD...: notes the MADs that are sent until everything is registered.
mads_note()
{
	_what=$1
	shift
	_sets=$(ats_stat sets) _deletes=$(ats_stat deletes) _reads=$(ats_stat reads)
	"$@"
	wait_for 30 as_wanted
	note "$_what: $(($(ats_stat sets) - _sets)) registrations," \
		"$(($(ats_stat deletes) - _deletes)) deletions, $(($(ats_stat reads) - _reads)) reads"
}

# as_wanted: whether the SA has as many records as the interface has addresses.
as_wanted()
{
	_addresses=$(ip0 -o address show dev "$dev0" scope global | wc -l)
	[ "$(on h0 ibats -j list | jq '[.[] | select(.state == "registered")] | length')" \
		-eq "$_addresses" ] || return
	sr_count 1 "$_addresses"
}

# cpu_take: sets $cpu_sm to the CPU time of OpenSM, and $cpu_user, $cpu_kernel and $cpu_idle
# to that of all CPUs, in ticks of 10 ms.
cpu_take()
{
	cpu_sm=$(awk '{ print $14 + $15 }' "/proc/$opensm_pid/stat")
	read -r _ cpu_user _nice cpu_kernel cpu_idle _wait _irq _softirq _ </proc/stat
	cpu_kernel=$((cpu_kernel + _irq + _softirq))
}

# asked TIMES: sends queries by the module's functions; prints microseconds.
asked()
{
	ask hca=ibfab0 addr=10.0.0.2 pkey=0xffff "times=$1" timeout=60000
	ask_figure us
}

# rate WINDOW: notes the rate with WINDOW outstanding queries.
rate()
{
	rmmod ibatsask
	rmmod ib_ats
	ats_load "max_queries=$1" sa_timeout_ms=10000
	module_insert /modules/ibatsask.ko
	wait_for 10 sr_count 101 2
	cpu_take
	_sm=$cpu_sm _user=$cpu_user _kernel=$cpu_kernel _idle=$cpu_idle
	_us=$(asked "$times")
	cpu_take
	note "$1 under way: $((times * 1000000 / _us)) resolves a second;" \
		"CPU us each: OpenSM $(((cpu_sm - _sm) * 10000 / times)), the kernel" \
		"$(((cpu_kernel - _kernel) * 10000 / times)), all user space" \
		"$(((cpu_user - _user) * 10000 / times)); idle $(((cpu_idle - _idle) * 10000 / times))"
}

dev0=
ats_setup ipoib_load
module_insert /modules/ibatsask.ko
times=$(full_or 10000 50000)
wait_for 10 as_wanted

step "From ip address add until the SA has said that it has the record"
mkfifo /run/changes
on h0 ibats monitor >/run/changes &
monitor=$!
exec 3</run/changes
rounds=50
now_ms
begin=$now_ms
for n in $(seq 1 $rounds); do
	ip0 address add "10.7.0.$n/32" dev "$dev0"
	while read -r _ address state _ <&3; do
		[ "$address $state" != "10.7.0.$n registered" ] || break
	done
done
now_ms
took=$((now_ms - begin))
kill "$monitor"
wait "$monitor" || :
exec 3<&-
ip0 link add dummy0 type dummy
now_ms
begin=$now_ms
for n in $(seq 1 $rounds); do
	ip0 address add "10.8.0.$n/32" dev dummy0
done
now_ms
note "$((took * 1000 / rounds)) us, of which $(((now_ms - begin) * 1000 / rounds)) us for ip itself; a mean of $rounds"
assert sr_count 1 $((rounds + 2))
ip0 link delete dummy0

step "MADs a change"
seq 1 $rounds | sed "s,.*,address delete 10.7.0.&/32 dev $dev0," >/run/batch
mads_note "$rounds addresses deleted at once" ip0 -batch /run/batch
sed 's/delete/add/' /run/batch >/run/batch.add
mads_note "$rounds added at once" ip0 -batch /run/batch.add
mads_note "one deleted" ip0 address delete "10.7.0.$rounds/32" dev "$dev0"
mads_note "one added" ip0 address add "10.7.0.$rounds/32" dev "$dev0"
mads_note "the primary one deleted" ip0 address delete 10.0.0.1/24 dev "$dev0"
mads_note "another one named primary" on h0 ibats primary set "$dev0" fd00::1
mads_note "the interface down and up" sh -c "ip -n h0 link set $dev0 down; ip -n h0 link set $dev0 up"
mads_note "an audit" on h0 ibats audit

step "Resolves a second, by how many are under way at once"
for window in 1 4 8 16 32 64; do
	rate $window
done

step "And by ibats, one process each"
now_ms
begin=$now_ms
for n in $(seq 1 $rounds); do
	on h0 ibats resolve 10.0.0.2 >/run/out
done
now_ms
note "$(((now_ms - begin) / rounds)) ms each"
