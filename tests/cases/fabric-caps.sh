# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# An HCA has the SGEs, the inline data, the SRQs and the MTU that it was given: all of them
# work, and more is refused.
# timeout: 180

. /cases/lib.sh

# whole FROM TO WORDS: all messages arrive.
whole()
{
	_from=$1 _to=$2
	shift 2
	rc_run "from=$_from" "to=$_to" count=40 "$@" || fail "$*"
	rc_whole
}

# refused FROM TO STAGE ERROR WORDS: the run fails in this stage, with this error.
refused()
{
	_from=$1 _to=$2 _stage=$3 _error=$4
	shift 4
	refute rc_run "from=$_from" "to=$_to" "$@"
	assert_eq "stage of $*" "$(rc_word stage)" "$_stage"
	assert_match "error of $*" "$(cat /run/rc.log)" "$_error"
}

fabric_start hcas=3 max_sge=2,7,32 max_inline=0,100,1024 srq=1,0,1 \
	mtu=4096,1024,2048
module_insert /modules/ibrc.ko
opensm_start

step "As many SGEs as each has, and one more"
whole ibfab0 ibfab2 sge=2 size=5000
whole ibfab1 ibfab2 sge=7 size=5000
whole ibfab2 ibfab2 sge=32 size=5000
refused ibfab0 ibfab2 create_qp Invalid sge=3
refused ibfab1 ibfab2 create_qp Invalid sge=8
refused ibfab2 ibfab2 create_qp Invalid sge=33

step "As much inline data as each has, and one octet more"
whole ibfab0 ibfab2 inline=0 size=random max=100
whole ibfab1 ibfab2 inline=100 size=random max=200 sge=7
whole ibfab1 ibfab2 inline=100 size=100
whole ibfab2 ibfab2 inline=1024 size=1024 sge=5
refused ibfab0 ibfab2 create_qp Invalid inline=1
refused ibfab1 ibfab2 create_qp Invalid inline=101
refused ibfab2 ibfab2 create_qp Invalid inline=1025

step "SRQs, where there are any"
whole ibfab0 ibfab2 srq=1 size=random max=20000 sge=2
refused ibfab0 ibfab1 create_srq 'not supported' srq=1
for n in 0 1 2; do
	rc_run "from=ibfab$n" "to=ibfab$n" do=create || fail "ibfab$n: create"
done

step "Path MTUs up to the smaller of both ends'"
for pair in '0 1 1024' '1 0 1024' '0 2 2048' '2 1 1024'; do
	# shellcheck disable=SC2086  # three words
	set -- $pair
	for cm in 0 1; do
		whole "ibfab$1" "ibfab$2" "cm=$cm" size=random max=20000
	done
	before=$(fabric_counter "ibfab$1" port1.xmit_packets)
	whole "ibfab$1" "ibfab$2" size=$((8 * $3))
	sent=$(($(fabric_counter "ibfab$1" port1.xmit_packets) - before))
	assert_between "packets of ibfab$1" "$sent" 320 420
done
refused ibfab1 ibfab0 rtr Invalid mtu=2048
rmmod ibrc
opensm_stop
fabric_stop

step "Profiles: what each kind has, and no more"
fabric_start hcas=4 profile=virtual,connectx3,connectx5,small dma=0
module_insert /modules/ibrc.ko
opensm_start
for hca_sges in '0 32' '1 32' '2 30' '3 1'; do
	# shellcheck disable=SC2086  # two words
	set -- $hca_sges
	whole "ibfab$1" "ibfab$1" "sge=$2" size=5000
	refused "ibfab$1" "ibfab$1" create_qp Invalid "sge=$(($2 + 1))"
done
refused ibfab1 ibfab1 create_qp Invalid inline=1
whole ibfab2 ibfab2 inline=400 size=400
refused ibfab2 ibfab2 create_qp Invalid inline=401
refused ibfab3 ibfab3 create_srq 'not supported' srq=1
refused ibfab3 ibfab3 create_qp Invalid depth=513
whole ibfab3 ibfab3 depth=500 size=100
# WRs take 8 blocks each, and nearly all blocks are used
whole ibfab2 ibfab2 depth=4000 sge=30 size=100
rmmod ibrc
