# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The SA's records follow the addresses of this driver's netdevices, whatever happens to either.
# kernel: both
# soak-kernel: debug
# timeout: 600
# soak: 600

. /cases/lib.sh
. /cases/lib-ats.sh

ats_matrix ipoib_load
