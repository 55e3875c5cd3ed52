# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# An HCA accesses memory only at mapped DMA addresses; memory that no packet has written is
# garbage; static rates are observed.
# kernel: stock
# soak-kernel: both
# timeout: 60
# soak: 60

. /cases/lib.sh

parameters=/sys/module/ibfab/parameters
stale_grh=60000000ffff1bfffe80000000000000deadbeefdeadbeefff12401bffff000000000000ffffffff
success=0
local_protection_error=4

# bounced: prints the number of slots of bounce buffers in use; only HCAs use them.
bounced()
{
	cat /sys/kernel/debug/swiotlb/io_tlb_used
}

nothing_bounced()
{
	[ "$(bounced)" = 0 ]
}

# arrives WAY OCTET: the datagram sent this way arrives with this octet (hexadecimal).
arrives()
{
	dma_do ibfab0 "$1"
	assert_eq "status of the send, $1" "$(dma_result send_status)" $success
	assert_eq "status of the receive, $1" "$(dma_result recv_status)" $success
	assert_eq "arrived, $1" "$(dma_result synced)" "$2"
}

# fails WAY: neither the send nor the receive succeeds.
fails()
{
	dma_do ibfab0 "$1"
	assert_eq "status of the send, $1" "$(dma_result send_status)" $local_protection_error
	assert_eq "status of the receive, $1" "$(dma_result recv_status)" -1
}

rate_counted()
{
	fabric_counter ibfab0 "port1.static_rate.$1"
}

assert_eq "bounce buffers in use before" "$(bounced)" 0
fabric_start hcas=2
module_insert /modules/ibdma.ko
module_insert /modules/ibraw.ko
opensm_start
assert test "$(bounced)" -gt 0

step "Received data are visible when they are synced, and not before"
arrives good 11
assert_eq "seen before" "$(dma_result unsynced)" 33

step "A change after mapping is sent only if it is synced"
arrives changed 11
arrives synced 22

step "Addresses that are not mapped, and kernel virtual addresses, are errors"
fails address
fails kernel
arrives good 11

step "Memory that is unmapped before it is sent is garbage"
arrives early a5
arrives good 11

step "Garbage in place of a missing GRH and behind the payload, unless it is off"
assert_eq GRH "$(dma_result grh)" $stale_grh
assert_eq "behind the payload" "$(dma_result behind)" a5
echo N >"$parameters/garbage"
arrives good 11
assert_eq GRH "$(dma_result grh)" "$(printf '33%.0s' $(seq 40))"
assert_eq "behind the payload" "$(dma_result behind)" 33
arrives early 11
echo Y >"$parameters/garbage"

step "Each packet's static rate is counted"
counted=$(rate_counted none)
dma_do ibfab0 good
assert test "$(rate_counted none)" -gt "$counted"
for code_rate in 2:2500 3:10000 16:103125 22:637500 63:unknown; do
	rate=${code_rate#*:}
	counted=$(rate_counted "$rate")
	dma_do ibfab0 good "rate=${code_rate%:*}"
	assert_eq "packets at $rate" "$(rate_counted "$rate")" $((counted + 1))
done

step "With pace= senders observe it: 101 packets of 4 KiB at 625 kbit/s take 5.2 s, at the port's own rate less"
# paced WORDS: sets $took to the milliseconds that a send takes.
paced()
{
	now_ms
	_from=$now_ms
	echo "dlid=$(lid_of ibfab1) qpn=$qpn qkey=0x1bfa length=4096 count=101 $*" >"$raw/ibfab0/send"
	now_ms
	took=$((now_ms - _from))
	note "$*: $took ms"
}
raw_listen ibfab1 "qkey=0x1bfa posted=1024"
echo 4000 >"$parameters/pace"
paced rate=2
assert test "$took" -ge 5200
paced rate=0
assert test "$took" -lt 5200
echo 0 >"$parameters/pace"
paced rate=2
assert test "$took" -lt 5200
wait_for 5 raw_is ibfab1 packets 303

step "When the HCAs are removed no mapping is left"
rmmod ibraw
opensm_stop
hcas_unplug
wait_for 5 nothing_bounced
rmmod ibdma
fabric_stop

step "dma=0: DMA addresses are kernel virtual addresses, without bounce buffers"
fabric_start hcas=2 dma=0
module_insert /modules/ibdma.ko
opensm_start
assert_eq "bounce buffers in use" "$(bounced)" 0
arrives kernel 11
assert_eq "seen before" "$(dma_result unsynced)" 11
arrives changed 22
