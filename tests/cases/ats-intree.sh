# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# The SA's records follow the addresses of the in-tree driver's netdevices, whatever happens
# to either.
# mem: 2048
# timeout: 600
# allow: debugfs: File 'ib[0-9]*_(mcg|path)' in directory 'ipoib' already present

. /cases/lib.sh
. /cases/lib-ats.sh

ats_matrix intree_load
