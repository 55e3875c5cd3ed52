# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# OpenSM brings up 2, 64 and the maximum number of HCAs, with 1 and 5 switches; time and
# memory are printed.
# timeout: 900
# when: soak
# soak: 900

. /cases/lib.sh

# used_kib: sets $used_kib to the used memory.
used_kib()
{
	used_kib=$(awk '$1 == "MemTotal:" { total = $2 }
		$1 == "MemAvailable:" { print total - $2 }' /proc/meminfo)
}

# come_up HCAS SWITCHES SHAPE
come_up()
{
	step "$1 HCAs, $2 switches, $3"
	used_kib
	_used=$used_kib
	now_ms
	_start=$now_ms
	fabric_plain "hcas=$1" "switches=$2" "shape=$3"
	now_ms
	_loaded=$now_ms
	used_kib
	opensm_start
	now_ms
	note "devices there after $((_loaded - _start)) ms and" \
		"$(((used_kib - _used) / 1024)) MiB," \
		"ports ACTIVE $((now_ms - _loaded)) ms after OpenSM's start"

	assert_eq "ACTIVE links" "$(awk '$8 == "ACTIVE" && $9 ~ /^ibfab/' \
		/sys/kernel/debug/ibfab/topology | wc -l)" "$1"
	_found=$(ibnetdiscover -C ibfab0 -l)
	assert_eq "HCAs that ibnetdiscover finds" \
		"$(echo "$_found" | grep -c '^Ca')" "$1"
	assert_eq "switches that ibnetdiscover finds" \
		"$(echo "$_found" | grep -c '^Switch')" "$2"
	assert_eq "LIDs" \
		"$(cat "$ib"/ibfab*/ports/1/lid | sort -u | wc -l)" "$1"
	_last=$(printf '%d' "$(cat "$ib/ibfab$(($1 - 1))/ports/1/lid")")
	# User space's libibumad supports only the first 64 ports; all others have only the
	# agents of the kernel
	assert_eq "the last HCA's name, by LID" \
		"$(smpquery -C ibfab0 nodedesc "$_last" | sed 's/.*\.\.//')" \
		"ibfab$(($1 - 1))"
	assert_match "the last HCA's counters" \
		"$(perfquery -C ibfab0 -x "$_last" 1)" '^PortRcvPkts:\.+[1-9]'
	opensm_stop
	fabric_stop
}

come_up 2 1 line
come_up 2 5 line
come_up 64 1 line
come_up 64 5 line
# A switch has 254 ports at most (14.2.5.4), two of them for other switches
come_up 252 1 line
must_fail insmod /modules/ibfab.ko hcas=253 switches=1
come_up 256 5 tree
