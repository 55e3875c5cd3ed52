# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The SA's records follow the addresses of the kernel's own driver's netdevices, whatever happens to either.
# mem: 2048
# timeout: 600

. /cases/lib.sh
. /cases/lib-ats.sh

ats_matrix intree_load
