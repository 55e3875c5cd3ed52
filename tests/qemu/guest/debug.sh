# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=../../cases/lib.sh
# Checks on the debug kernel after the script has ended: for leaks, for memory that is mapped
# for an HCA that is gone, and that lockdep is still active.

. /cases/lib.sh

kmemleak=/sys/kernel/debug/kmemleak
dma_api=/sys/kernel/debug/dma-api

old_enough()
{
	uptime_s
	[ "$uptime_s" -gt "$ended" ]
}

# An object is a leak if it is 5 seconds old, no pointer to it was found, and its contents are
# the same as in the scan before. While a list changes, a scan may miss an entry, so a leak
# must be found by the next scan as well.
leaks_print()
{
	uptime_s
	ended=$((uptime_s + 5))
	echo scan >"$kmemleak"
	wait_for 10 old_enough
	echo scan >"$kmemleak"
	grep -q unreferenced "$kmemleak" || return 0
	echo scan >"$kmemleak"
	cat "$kmemleak"
}

# Writes to the kernel log, which the judge reads.
log()
{
	while IFS= read -r _line; do
		printf '%s\n' "$_line" >/dev/kmsg
	done
}

# mapped_print: prints the DMA mappings that still exist for HCAs, one per line.
mapped_print()
{
	[ "$(cat "$dma_api/disabled")" = N ] || echo "DMA-API: debugging disabled"
	awk '$1 ~ /^ibfab/ { print "DMA-API: leaked: " $0 }' "$dma_api/dump"
}

step "The debug kernel: no leaks, nothing mapped for an HCA that is gone, and lockdep is on"
echo on >/proc/sys/kernel/printk_devkmsg
hcas_unplug
mapped_print >/run/mapped
cat /run/mapped
log </run/mapped
leaks_print >/run/leaks
cat /run/leaks
log </run/leaks
assert grep -qE '^ *debug_locks: *1$' /proc/lockdep_stats
note "lockdep: $(sed -n 's/^ *\(max locking depth\|lock-classes\|dependency chains\): */\1 /p' \
	/proc/lockdep_stats | tr '\n' ' ')"
