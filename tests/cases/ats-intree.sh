# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The SA's records follow the addresses of the kernel's own driver's netdevices, whatever happens to either.
# timeout: 600

. /cases/lib.sh
. /cases/lib-ats.sh

ats_setup intree_load
ats_addresses
ats_kinds
ats_partitions
ats_shared
on_debug_kernel || ats_limit
ats_down
ats_sm_restart
ats_lossy
ats_netns_exit
ats_hotplug
ats_unload
