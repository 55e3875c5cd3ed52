# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Invalid parameters are refused; a tree of switches whose HCAs have two ports; LMC; different
# capabilities of HCAs; tools and counters agree.
# timeout: 180

. /cases/lib.sh

# refused PARAMETERS... : the parameters are refused, with exactly one line in the kernel log,
# which matches the last word.
refused()
{
	for _pattern; do :; done
	dmesg -c >/run/dmesg.old
	# shellcheck disable=SC2086  # words
	must_fail insmod /modules/ibfab.ko $1
	dmesg >/run/dmesg
	assert_eq "lines in the log for $1" "$(wc -l </run/dmesg)" 1
	assert_match "the log for $1" "$(cat /run/dmesg)" "$_pattern"
}

# linkinfo_cables: like table_cables, but discovered by iblinkinfo.
linkinfo_cables()
{
	iblinkinfo -C ibfab0 -l | grep 'LinkUp' |
		sed -n 's/^0x[0-9a-f]* *" *\([^"]*\)" *[0-9]* *\([0-9]*\)\[.*==> *0x[0-9a-f]* *[0-9]* *\([0-9]*\)\[.*\] *" *\([^"]*\)".*/\1 \2 \4 \3/p' |
		sed 's/ibfab switch/switch/g' | sort
}

# switches_between LID LID: prints the names of the switches on the route.
switches_between()
{
	ibtracert -C ibfab0 "$1" "$2" | sed -n 's/.*"ibfab \(switch[0-9]*\)"$/\1/p' |
		uniq | tr '\n' ' '
}

step "Invalid parameters"
modprobe ib_core
insmod /modules/ibfab.ko
rmmod ibfab
refused "hcas=0" 'ibfab: hcas=0 is not between 1 and 256'
refused "pkeys=33" "ibfab: pkeys=33 is not a multiple of 32 up to 128"
refused "pkeys=160" "ibfab: pkeys=160 is not a multiple of 32 up to 128"
refused "hcas=257" 'ibfab: hcas=257 '
refused "hcas=256" 'ibfab: 1 switches with HCAs have too few ports for 256 '
refused "hcas=many" 'invalid for parameter .hcas'
refused "ports=3" 'ibfab: ports=3 is not between 1 and 2'
refused "switches=17" 'ibfab: switches=17 '
refused "shape=ring" 'ibfab: shape=ring is neither line nor tree'
refused "shape=tree" 'ibfab: shape=tree needs two switches'
refused "mtu=4096,1000" 'ibfab: mtu=1000 is not a power of two'
refused "mtu=128" 'ibfab: mtu=128 is not between 256 and 4096'
refused "max_sge=1" 'ibfab: max_sge=1 '
refused "max_inline=1025" 'ibfab: max_inline=1025 '
refused "srq=2" 'ibfab: srq=2 is not between 0 and 1'
refused "mcast_block=2" 'ibfab: mcast_block=2 '
refused "profile=small,tiny" 'ibfab: profile=tiny is not virtual'
note "15 refused, a line each"

# switch0 and switch1 are the upper level; ports 1, 2, ... of the HCAs are distributed over
# switch2, switch3 and switch4.
step "A tree of five switches, four HCAs of two ports, LMC 1"
fabric_start hcas=4 ports=2 switches=5 shape=tree mtu=4096,2048,256 mcast_block=1,0
module_insert /modules/ibraw.ko
opensm_start -l 1
table_cables >/run/table
note "$(wc -l </run/table) ends of cables"
assert_eq "cables between switches" \
	"$(grep -cE '^switch[01] [123] switch[234] [45]$' /run/table)" 6
found_cables >/run/found
assert diff /run/table /run/found
linkinfo_cables >/run/found
assert diff /run/table /run/found
assert links_are ACTIVE

step "LMC: each port has two LIDs, from an even one on"
for hca in ibfab0 ibfab1 ibfab2 ibfab3; do
	for port in 1 2; do
		assert_eq "LMC of $hca" "$(cat "$ib/$hca/ports/$port/lid_mask_count")" 1
		assert_eq "the LID's low bit" $(($(lid_of $hca $port) & 1)) 0
		printf '%s\n' "$(lid_of $hca $port)"
	done
done | sort | uniq -c >/run/lids
assert_eq "different LIDs" "$(wc -l </run/lids)" 8
assert_match "smpquery" "$(smpquery -C ibfab0 portinfo "$(($(lid_of ibfab1) + 1))" 1)" \
	"^LMC:\.+1\$"

# ibfab0's first port is on switch2, ibfab1's first one on switch4
step "The two LIDs have different routes: by switch0 and by switch1"
from=$(lid_of ibfab0)
to=$(lid_of ibfab1)
first=$(switches_between "$from" "$to")
second=$(switches_between "$from" "$((to + 1))")
note "LID $to: $first, LID $((to + 1)): $second"
for way in "$first" "$second"; do
	assert_match "the way" "$way" '^switch2 switch[01] switch4 $'
done
refute [ "$first" = "$second" ]

step "Path bits: the sender's in the source LID, the receiver's in the completion"
raw_listen ibfab1 "qkey=0x1bfa posted=1024"
for bits in 0 1; do
	for own in 0 1; do
		echo "dlid=$((to + bits)) qpn=$qpn qkey=0x1bfa path_bits=$own" >"$raw/ibfab0/send"
		wait_for 5 raw_is ibfab1 last.slid "$((from + own))"
		wait_for 5 raw_is ibfab1 last.path_bits "$bits"
	done
done
assert raw_is ibfab1 packets 4

step "perfquery agrees with what was sent, on each way's middle switch"
for bits in 0 1; do
	[ "$bits" = 0 ] && way=$first || way=$second
	middle=$(echo "$way" | cut -d ' ' -f 2)
	mlid=$(smpquery -C ibfab0 -D portinfo "0,1,$((4 + ${middle#switch}))" 0 |
		sed -n 's/^Lid:\.*//p')
	data=$(pma "$mlid" 3 PortXmitData)
	echo "dlid=$((to + bits)) qpn=$qpn qkey=0x1bfa length=200 count=500" >"$raw/ibfab0/send"
	# LRH 8, BTH 12, DETH 8, payload 200, ICRC 4: 58 words
	grown=$(($(pma "$mlid" 3 PortXmitData) - data))
	note "$middle to switch4: $grown words"
	assert_between "words over $middle" "$grown" $((500 * 58)) $((500 * 58 + 1000))
done
wait_for 5 raw_is ibfab1 packets 1004

step "The second port of an HCA"
second=$(lid_of ibfab2 2)
assert_match "ibstat" "$(ibstat ibfab2 2)" "Base lid: $second\$"
raw_listen ibfab2 "port=2 qkey=0x1bfa"
echo "dlid=$second qpn=$qpn qkey=0x1bfa" >"$raw/ibfab0/send"
wait_for 5 raw_is ibfab2 packets 1
echo "dlid=$(lid_of ibfab2 1) qpn=$qpn qkey=0x1bfa" >"$raw/ibfab0/send"
assert_eq "drops at the first port" "$(fabric_counter ibfab2 port1.drop.rx_no_qp)" 1
echo "port=2 dlid=$second qpn=$qpn qkey=0x1bfa" >"$raw/ibfab3/send"
wait_for 5 raw_is ibfab2 last.slid "$(lid_of ibfab3 2)"

step "Capabilities: MTUs of 4096, 2048 and 256, for all further HCAs too"
for want in "ibfab0 4096" "ibfab1 2048" "ibfab2 256" "ibfab3 256"; do
	hca=${want% *}
	mtu=${want#* }
	assert_match "MtuCap of $hca" "$(smpquery -C ibfab0 portinfo "$(lid_of "$hca")" 1)" \
		"^MtuCap:\.+$mtu\$"
	echo "dlid=$to qpn=1 qkey=0x1bfa length=$mtu" >"$raw/$hca/send"
	must_fail sh -c "echo 'dlid=$to qpn=1 qkey=0x1bfa length=$((mtu + 1))' >$raw/$hca/send"
done

step "Blocking one's own multicasts: ibfab0 can, the others refuse"
echo "qkey=0x1bfa block_loopback=1" >"$raw/ibfab0/listen"
for hca in ibfab1 ibfab2; do
	must_fail sh -c "echo 'qkey=0x1bfa block_loopback=1' >$raw/$hca/listen"
done
