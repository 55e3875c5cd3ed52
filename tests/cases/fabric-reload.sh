# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The fabric is loaded and unloaded many times while it is used, and leaks no memory.
# timeout: 300
# smp: 2
# append: slub_debug=F

. /cases/lib.sh

# round: loads it, sends some traffic, and unloads it while receives are posted.
round()
{
	fabric_start hcas=4 switches=2
	opensm_start
	raw_listen ibfab3 "qkey=0x1bfa posted=1000"
	_lid=$(lid_of ibfab3)
	echo "dlid=$_lid qpn=$qpn qkey=0x1bfa length=2000 count=500" \
		>"$raw/ibfab0/send"
	wait_for 5 raw_is ibfab3 packets 500
	opensm_stop
	fabric_stop
}

modprobe ib_core
step "Refused parameters leave nothing"
must_fail insmod /modules/ibfab.ko hcas=0
must_fail insmod /modules/ibfab.ko hcas=257
must_fail insmod /modules/ibfab.ko hcas=256 switches=1
must_fail insmod /modules/ibfab.ko switches=17

step "Two rounds to fill the caches"
module_insert /modules/ibraw.ko
repeat 2 round
slabs /run/before

step "Twenty rounds"
repeat 20 round
slabs_settle /run/before 15

# It then spins on errors of its device file
step "Removed under a running OpenSM"
fabric_start hcas=2
opensm_start
fabric_stop
opensm_kill
round
