# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# An HCA reaches memory by what the DMA API gave, and by nothing else; what no packet brought is garbage; static rates are seen.
# kernel: both
# timeout: 60

. /cases/lib.sh

parameters=/sys/module/ibfab/parameters
stale_grh=60000000ffff1bfffe80000000000000deadbeefdeadbeefff12401bffff000000000000ffffffff
success=0
local_protection_error=4

# bounced: so many slots of the bounce buffers are in use, by HCAs alone.
bounced()
{
	cat /sys/kernel/debug/swiotlb/io_tlb_used
}

nothing_bounced()
{
	[ "$(bounced)" = 0 ]
}

# arrives WAY OCTET: what is sent so, as an octet in hexadecimal.
arrives()
{
	dma_do ibfab0 "$1"
	assert_eq "status of the send, $1" "$(dma_result send_status)" $success
	assert_eq "status of the receive, $1" "$(dma_result recv_status)" $success
	assert_eq "arrived, $1" "$(dma_result synced)" "$2"
}

# fails WAY: neither sent, nor received.
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

step "What arrives is seen when it is synced, and not before"
arrives good 11
assert_eq "seen before" "$(dma_result unsynced)" 33

step "What changes once it is mapped is sent if it is synced, and only then"
arrives changed 11
arrives synced 22

step "An address that nobody mapped, and the kernel's own, are errors"
fails address
fails kernel
arrives good 11

step "What is unmapped before it is sent is garbage"
arrives early a5
arrives good 11

step "Garbage where no GRH came, and behind the payload; none on request"
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

step "Senders keep to it on request: 101 packets of 4 KiB at 625 kbit/s take 5.2 s, at the port's own rate less"
# paced WORDS: sets $took, in milliseconds.
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

step "With the HCAs all that was mapped goes"
rmmod ibraw
opensm_stop
hcas_unplug
wait_for 5 nothing_bounced
rmmod ibdma
fabric_stop

step "dma=0: the kernel's addresses are the HCA's, and nothing bounces"
fabric_start hcas=2 dma=0
module_insert /modules/ibdma.ko
opensm_start
assert_eq "bounce buffers in use" "$(bounced)" 0
arrives kernel 11
assert_eq "seen before" "$(dma_result unsynced)" 11
arrives changed 22
