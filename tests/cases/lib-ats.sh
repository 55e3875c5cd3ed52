# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
# What the Address Translation Service must do over either driver's netdevices. Each step is
# verified in OpenSM's records, read from an HCA without an interface. Sourced after lib.sh.
# The hosts are h0 and h1 of ibfab0 and ibfab1; OpenSM is on ibfab2.

# sr_read: writes the SA's ServiceRecords to /run/sr, one per line and sorted: the last octet
# of the Service ID, the GUID's last four digits, P_Key, address. A line "odd" stands for a
# value that no record of this service may have.
sr_read()
{
	saquery -C ibfab2 SR >/run/sr.dump || return 2
	awk -F '\\.\\.+' '
		function flush() {
			if (sid == "") return
			if (other || lease != "0xFFFFFFFF" || name != "DAPL Address Translation Service" ||
			    sid !~ /^0x10000ce1004154[0-9a-f][0-9a-f]$/)
				print "odd", sid, gid, pkey, lease, name, other
			if (head ~ /^0+$/ && v6 !~ /^0+1$/) ip = v4
			else ip = v6
			n = split(gid, part, ":")
			print substr(sid, 17), part[n], pkey, ip
			sid = ""
		}
		{ gsub(/[ \t]/, "", $1) }
		/ServiceRecorddump/ { flush(); head = v4 = v6 = ""; other = 0 }
		$1 == "ServiceID" { sid = $2 }
		$1 == "ServiceGID" { gid = $2 }
		$1 == "ServiceP_Key" { pkey = $2 }
		$1 == "ServiceLease" { lease = $2 }
		$1 == "ServiceName" { name = $2 }
		/ServiceData8\./ {
			octet = substr($0, index($0, "0x") + 2)
			while (length(octet) < 2) octet = "0" octet
			octet = tolower(octet)
			v6 = v6 octet
			if (length(v6) <= 24) head = head octet
			else v4 = v4 (v4 == "" ? "" : ".") hex(octet)
		}
		/ServiceData(16|32|64)\./ { if ($0 !~ /0x0+$/) other = 1 }
		function hex(s) {
			return (index("0123456789abcdef", substr(s, 1, 1)) - 1) * 16 + index("0123456789abcdef", substr(s, 2, 1)) - 1
		}
		END { flush() }' /run/sr.dump | sort >/run/sr
}

# sr_are LINE...: the SA has exactly these records, in any order.
sr_are()
{
	sr_read || return
	printf '%s\n' "$@" | sed '/^$/d' | sort | diff - /run/sr
}

# sr_none HOST-GUID: the SA has no records of this GUID.
sr_none()
{
	sr_read || return
	not file_says " $1 " /run/sr
}

# sr_of GUID LINE...: the SA has exactly these records of this GUID.
sr_of()
{
	sr_read || return
	_guid=$1
	shift
	grep " $_guid " /run/sr >/run/sr.one
	printf '%s\n' "$@" | sort | diff - /run/sr.one
}

# sr_count GUID NUMBER: the SA has this number of records of this GUID.
sr_count()
{
	sr_read || return
	[ "$(grep -c " $1 " /run/sr)" -eq "$2" ]
}

# listed HOST ADDRESS FILTER: the address of the host is listed, and the filter is true for it.
listed()
{
	on "$1" ibats -j list >/run/listed || return 2
	jq -e --arg ip "$2" "[.[] | select(.address == \$ip)] | length == 1 and (.[0] | $3)" \
		/run/listed
}

# state_is HOST ADDRESS STATE
state_is()
{
	listed "$1" "$2" ".state == \"$3\""
}

# sa_delete OCTET HCA: another port has the SA delete the record with that last octet of the
# Service ID and the HCA's GID in the default partition.
sa_delete()
{
	_mad=$(printf '01030215%08x%016x00310000%08x%024x%016x%08x%016x10000ce1004154%s' \
		0 0 0 0 0 0 7 "$1")fe80000000000000$(port_guid "$2")ffff
	mad_send ibfab2 qp=1 "dlid=$(lid_of ibfab2)" "mad=$_mad" || fail "no answer to the deletion"
	# shellcheck disable=SC2154  # mad_send sets it
	assert_eq "status of the deletion" "$(hex_at "$answer" 4 2)" 0000
}

# mads_count HCA METHOD: starts to count MADs with that method that the HCA sends to the SA.
mads_count()
{
	rules_clear "$1"
	rule "$1" dir=out class=3 "method=$2" attr=0x31 do=delay every=1000000 ms=1
}

mads_counted()
{
	rule_figure "$1" seen
}

# ip0 COMMAND...: runs `ip` in h0, whose netdevice is $dev0.
ip0()
{
	ip -n h0 "$@"
}

# ats_load [PARAMETER...]: loads ib_ats. As the hosts are not in the HCAs' namespace their
# number of records is limited; this raises the limit, unless a parameter sets it.
ats_load()
{
	module_insert /modules/ib_ats.ko netns_records=1000 "$@"
}

# ats_setup DRIVER_LOAD [PARAMETER...]: starts everything; the parameters are those of ib_ats.ko.
ats_setup()
{
	cat >/run/partitions.conf <<-'CONF'
		Default=0x7fff, ipoib : ALL=full;
		other=0x1, ipoib : ALL=full;
		limited=0x2, ipoib, defmember=full : ALL, 0x021bfa0100000001=limited;
	CONF
	fabric_start hcas=3
	ats_sm_start
	"$1"
	shift
	ats_load "$@"
	hosts_make 2
	dev0=$(dev_of h0)
}

# ats_sm_start [ARGUMENT...]: starts OpenSM without the state of an earlier one.
ats_sm_start()
{
	rm -rf /var/cache/opensm/*
	opensm -g "$(ibstat -p ibfab2 | head -n 1)" -f /var/log/opensm.log \
		-P /run/partitions.conf "$@" >/var/log/opensm.out 2>&1 &
	# shellcheck disable=SC2034  # opensm_kill's
	opensm_pid=$!
	wait_for 60 fabric_ports_active
}

h1_records='53 101 0xFFFF 10.0.0.2
54 101 0xFFFF fd000000000000000000000000000002'

ats_addresses()
{
	step "Interfaces' addresses: the first IPv4 one is the primary"
	wait_for 10 sr_are '53 1 0xFFFF 10.0.0.1' \
		'54 1 0xFFFF fd000000000000000000000000000001' "$h1_records"

	step "Further addresses take the next Service IDs, and those that are free again"
	for _n in 11 12 13; do
		ip0 address add "10.0.0.$_n/24" dev "$dev0"
		wait_for 10 sr_count 1 $((_n - 8))
	done
	ip0 address delete 10.0.0.12/24 dev "$dev0"
	wait_for 10 sr_of 1 '53 1 0xFFFF 10.0.0.1' \
		'54 1 0xFFFF fd000000000000000000000000000001' \
		'55 1 0xFFFF 10.0.0.11' '57 1 0xFFFF 10.0.0.13'
	ip0 address add 10.0.0.14/24 dev "$dev0"
	wait_for 10 sr_of 1 '53 1 0xFFFF 10.0.0.1' \
		'54 1 0xFFFF fd000000000000000000000000000001' \
		'55 1 0xFFFF 10.0.0.11' '56 1 0xFFFF 10.0.0.14' '57 1 0xFFFF 10.0.0.13'

	step "The primary address is removed: the next one becomes primary"
	on h0 sh -c 'echo 1 >/proc/sys/net/ipv4/conf/all/promote_secondaries'
	ip0 address delete 10.0.0.1/24 dev "$dev0"
	wait_for 10 sr_of 1 '53 1 0xFFFF 10.0.0.11' \
		'54 1 0xFFFF fd000000000000000000000000000001' \
		'56 1 0xFFFF 10.0.0.14' '57 1 0xFFFF 10.0.0.13'
	for _n in 11 13 14; do
		ip0 address delete "10.0.0.$_n/24" dev "$dev0"
	done
	wait_for 10 sr_of 1 '53 1 0xFFFF fd000000000000000000000000000001'

	step "An IPv4 address is the primary again as soon as there is one"
	ip0 address add 10.0.0.1/24 dev "$dev0"
	wait_for 10 sr_of 1 '53 1 0xFFFF 10.0.0.1' \
		'54 1 0xFFFF fd000000000000000000000000000001'
}

tentative_seen()
{
	ip0 -6 -o address show dev "$dev0" tentative | grep -q "$1"
}

ats_kinds()
{
	step "Link-local, host and deprecated addresses are not registered; IPv6 addresses wait for DAD"
	ip0 address add 169.254.7.1/16 dev "$dev0"
	ip0 address add 10.9.9.9/32 scope host dev "$dev0"
	ip0 address add 10.9.9.8/32 scope link dev "$dev0"
	ip0 address add fd00::dead/64 dev "$dev0" nodad preferred_lft 0
	ip0 address add ::10.9.9.7/128 dev "$dev0" nodad
	# DAD is slow enough to be observed
	on h0 sysctl -q -w "net.ipv6.conf.$dev0.dad_transmits=100" \
		"net.ipv6.neigh.$dev0.retrans_time_ms=4000"
	ip0 address add fd00::9/64 dev "$dev0"
	# Time to register addresses that must be registered at once
	sleep 2
	assert sr_read
	assert tentative_seen fd00::9
	refute file_says fd000000000000000000000000000009 /run/sr
	ip0 address delete fd00::9/64 dev "$dev0"
	on h0 sysctl -q -w "net.ipv6.conf.$dev0.dad_transmits=1" \
		"net.ipv6.neigh.$dev0.retrans_time_ms=1000"
	ip0 address add fd00::9/64 dev "$dev0"
	wait_for 20 sr_of 1 '53 1 0xFFFF 10.0.0.1' \
		'54 1 0xFFFF fd000000000000000000000000000001' \
		'55 1 0xFFFF fd000000000000000000000000000009'
	ip0 address change fd00::9/64 dev "$dev0" preferred_lft 0
	wait_for 20 sr_of 1 '53 1 0xFFFF 10.0.0.1' \
		'54 1 0xFFFF fd000000000000000000000000000001'
	for _addr in 169.254.7.1/16 10.9.9.9/32 10.9.9.8/32 fd00::dead/64 ::10.9.9.7/128 \
		fd00::9/64; do
		ip0 address delete "$_addr" dev "$dev0"
	done
}

ats_partitions()
{
	step "A partition has records of its own"
	ip0 link add link "$dev0" name ib0.8001 type ipoib pkey 0x8001
	ip0 address add 10.1.0.1/24 dev ib0.8001
	ip0 address add 10.0.0.1/32 dev ib0.8001
	ip0 link set ib0.8001 up
	wait_for 20 sr_of 1 '53 1 0x8001 10.1.0.1' '54 1 0x8001 10.0.0.1' \
		'53 1 0xFFFF 10.0.0.1' '54 1 0xFFFF fd000000000000000000000000000001'
	ip0 link delete ib0.8001
	wait_for 10 sr_of 1 '53 1 0xFFFF 10.0.0.1' \
		'54 1 0xFFFF fd000000000000000000000000000001'
}

limited_member()
{
	grep -qx 0x0002 /sys/class/infiniband/ibfab0/ports/1/pkeys/*
}

ats_limited()
{
	step "A limited member of a partition registers as others do, with the full-member bit"
	assert limited_member
	ip0 link add link "$dev0" name ib0.8002 type ipoib pkey 0x8002
	ip0 address add 10.2.0.1/24 dev ib0.8002
	ip0 link set ib0.8002 up
	wait_for 20 sr_has '53 1 0x8002 10.2.0.1'
	ip0 link delete ib0.8002
	wait_for 10 sr_of 1 '53 1 0xFFFF 10.0.0.1' \
		'54 1 0xFFFF fd000000000000000000000000000001'
}

# reregister NUMBER: sets ClientReregister in the PortInfo of the HCA with this number, as an
# SM does.
reregister()
{
	smp_send ibfab2 0xffff 1 0x15 1 "path=0,1,$(($1 + 1))"
	# All fields keep their values, except that states are 0 (no change), and for octet
	# 51, which has ClientReregister
	_octet=$(printf '%02x' $((0x$(hex_at "$answer" 115 1) | 0x80)))
	smp_send ibfab2 0xffff 2 0x15 1 "path=0,1,$(($1 + 1))" \
		"data=$(hex_at "$answer" 64 32)0000$(hex_at "$answer" 98 17)$_octet$(hex_at "$answer" 116 12)"
}

mads_reach()
{
	[ "$(mads_counted "$1")" -ge "$2" ]
}

ats_reregister()
{
	step "Client re-registration alone: all records are registered again, also one that was lost"
	module_insert /modules/ibrawmad.ko
	sa_delete 53 ibfab0
	refute sr_has '53 1 0xFFFF 10.0.0.1'
	mads_count ibfab0 0x02
	reregister 0
	wait_for 10 sr_of 1 '53 1 0xFFFF 10.0.0.1' \
		'54 1 0xFFFF fd000000000000000000000000000001'
	wait_for 10 mads_reach ibfab0 2
	rules_clear ibfab0
	rmmod ibrawmad
}

ats_shared()
{
	step "Two interfaces of one GID and P_Key: an address of both is registered once"
	ip0 link set "$dev0" down
	wait_for 10 sr_none 1
	# A bond that refuses the interface has its hardware type for a moment
	ip0 link add bond1 type bond
	must_fail ip -n h0 link set "$dev0" master bond1
	ip0 link delete bond1
	ip0 link add bond0 type bond mode active-backup fail_over_mac active
	ip0 link set "$dev0" master bond0
	ip0 link set bond0 up
	ip0 address add 10.0.0.1/24 dev bond0
	ip0 address add 10.0.0.51/24 dev bond0
	wait_for 20 sr_of 1 '53 1 0xFFFF 10.0.0.1' '54 1 0xFFFF 10.0.0.51'
	mads_count ibfab0 0x15
	ip0 address delete 10.0.0.1/24 dev bond0
	sleep 1
	wait_for 10 sr_of 1 '53 1 0xFFFF 10.0.0.1' '54 1 0xFFFF 10.0.0.51'

	step "An address that moves from one to the other is never without its record"
	_linger=/sys/module/ib_ats/parameters/linger_ms
	_usual=$(cat $_linger)
	echo 60000 >$_linger
	ip0 address delete 10.0.0.51/24 dev bond0
	ip0 address add 10.0.0.51/24 dev "$dev0"
	echo "$_usual" >$_linger
	sleep 1
	wait_for 10 sr_of 1 '53 1 0xFFFF 10.0.0.1' '54 1 0xFFFF 10.0.0.51'
	assert_eq "deletions" "$(mads_counted ibfab0)" 0
	rules_clear ibfab0
	ip0 link delete bond0
	ip0 address flush dev "$dev0" scope global
	wait_for 10 sr_none 1
	ip0 link set "$dev0" up
	ip0 address add 10.0.0.1/24 dev "$dev0"
	wait_for 20 sr_of 1 '53 1 0xFFFF 10.0.0.1'
}

# ats_fill: adds 255 addresses to 10.0.0.1.
ats_fill()
{
	seq 1 255 | sed "s,.*,address add 10.2.0.&/32 dev $dev0," >/run/batch
	ip0 -batch /run/batch
}

ats_limit()
{
	step "256 addresses and one more"
	ats_fill
	wait_for 60 sr_count 1 256
	assert_eq "Service IDs" "$(grep ' 1 0xFFFF' /run/sr | cut -c 1-2 | uniq | wc -l)" 256
	grep -qx '53 1 0xFFFF 10.0.0.1' /run/sr
	grep -qx '54 1 0xFFFF 10.2.0.1' /run/sr
	grep -qx '00 1 0xFFFF 10.2.0.173' /run/sr
	grep -qx '52 1 0xFFFF 10.2.0.255' /run/sr
	ip0 address add 10.3.0.1/32 dev "$dev0"
	wait_for 10 told_full
	ip0 address add 10.3.0.2/32 dev "$dev0"
	ip0 address delete 10.2.0.77/32 dev "$dev0"
	wait_for 10 sr_has '[0-9a-f]* 1 0xFFFF 10.3.0.1'
	assert sr_count 1 256
	refute grep -q '10.3.0.2' /run/sr
	assert_eq "messages" "$(dmesg | grep -c 'more than 256 IP addresses')" 1
	ip0 address delete 10.3.0.2/32 dev "$dev0"

	step "The primary address of a full set is removed"
	ip0 address delete 10.0.0.1/24 dev "$dev0"
	wait_for 10 sr_has '53 1 0xFFFF 10.2.0.1'
	ip0 address flush dev "$dev0" scope global
	wait_for 60 sr_none 1
	ip0 address add 10.0.0.1/24 dev "$dev0"
	wait_for 10 sr_of 1 '53 1 0xFFFF 10.0.0.1'
}

told_full()
{
	dmesg | grep -q 'more than 256 IP addresses'
}

# sr_has REGEX: the SA has a record whose line matches.
sr_has()
{
	sr_read && grep -qx "$1" /run/sr
}

ats_down()
{
	step "Down, and up again"
	ip0 link set "$dev0" down
	wait_for 10 sr_are "$h1_records"
	ip0 link set "$dev0" up
	wait_for 10 sr_are '53 1 0xFFFF 10.0.0.1' "$h1_records"
}

ats_sm_restart()
{
	step "An OpenSM without state: everything is registered again, including changes meanwhile"
	opensm_kill
	ip0 address add 10.0.0.21/24 dev "$dev0"
	ip0 address add 10.0.0.22/24 dev "$dev0"
	ip0 address delete 10.0.0.21/24 dev "$dev0"
	ats_sm_start
	wait_for 20 sr_are '53 1 0xFFFF 10.0.0.1' '55 1 0xFFFF 10.0.0.22' "$h1_records"
	ip0 address delete 10.0.0.22/24 dev "$dev0"
	wait_for 10 sr_are '53 1 0xFFFF 10.0.0.1' "$h1_records"
}

ats_lossy()
{
	step "Every second answer of the SA is lost, or says that it is busy"
	rule ibfab0 what=sa_answer attr=0x31 do=drop every=2 count=6
	for _n in 31 32 33 34; do
		ip0 address add "10.0.0.$_n/24" dev "$dev0"
	done
	wait_for 30 sr_of 1 '53 1 0xFFFF 10.0.0.1' '54 1 0xFFFF 10.0.0.31' \
		'55 1 0xFFFF 10.0.0.32' '56 1 0xFFFF 10.0.0.33' '57 1 0xFFFF 10.0.0.34'
	assert test "$(rule_figure ibfab0 hits)" -gt 0
	rules_clear ibfab0
	rule ibfab0 what=sa_answer attr=0x31 do=status value=0x0001 every=2 count=3
	for _n in 31 32 33 34; do
		ip0 address delete "10.0.0.$_n/24" dev "$dev0"
	done
	wait_for 30 sr_of 1 '53 1 0xFFFF 10.0.0.1'
	assert test "$(rule_figure ibfab0 hits)" -gt 0
	rules_clear ibfab0
}

ats_netns_exit()
{
	step "A namespace is deleted: its interface moves to another one, and is down"
	ip netns delete h1
	wait_for 20 sr_are '53 1 0xFFFF 10.0.0.1'
	ip netns add h1
	host_give h1 ibfab1 2
	wait_for 20 sr_are '53 1 0xFFFF 10.0.0.1' "$h1_records"
}

ats_hotplug()
{
	step "An HCA is unplugged: its records stay; when it is back, they belong to it again"
	unplug ibfab1
	assert sr_are '53 1 0xFFFF 10.0.0.1' "$h1_records"
	plug ibfab1
	wait_for 20 fabric_ports_active
	wait_for 20 netdev_of ibfab1
	host_give h1 ibfab1 3
	wait_for 30 sr_are '53 1 0xFFFF 10.0.0.1' '53 101 0xFFFF 10.0.0.3' \
		'54 101 0xFFFF fd000000000000000000000000000003'
}

ats_unload()
{
	step "The module is unloaded, and the records are deleted; it is loaded, and they are back"
	rmmod ib_ats
	assert sr_are ''
	ats_load
	wait_for 10 sr_are '53 1 0xFFFF 10.0.0.1' '53 101 0xFFFF 10.0.0.3' \
		'54 101 0xFFFF fd000000000000000000000000000003'

	step "It can be unloaded although no SA answers"
	opensm_stop
	rmmod ib_ats
}

# ats_matrix DRIVER_LOAD: runs all steps over that driver's netdevices.
ats_matrix()
{
	ats_setup "$1"
	ats_addresses
	ats_kinds
	ats_partitions
	ats_limited
	ats_reregister
	ats_shared
	on_debug_kernel || ats_limit
	ats_down
	ats_sm_restart
	ats_lossy
	ats_netns_exit
	ats_hotplug
	ats_unload
}

# ---- Questions, through ibatsask ----

ask=/sys/kernel/debug/ibatsask

# ask WORDS: sends a query; fails like the query.
ask()
{
	echo "$*" >/run/ask
	# Not echo, as the shell would repeat a write that has failed
	dd if=/run/ask of="$ask/ask" bs=4k status=none 2>/run/ask.log
}

# ask_figure NAME: prints a figure of the last query, see ibatsask.c.
ask_figure()
{
	awk -v name="$1" 'NR == 1 { for (i = 1; i < NF; i++) if ($i == name) print $(i + 1) }' \
		"$ask/answer"
}

# answered LINE...: these were the answers, in this order; the ports do not matter.
answered()
{
	sed '1d; s, [^ ]*/[0-9]*,,' "$ask/answer" | uniq >/run/answers
	printf '%s\n' "$@" | diff - /run/answers || fail "answers"
}
