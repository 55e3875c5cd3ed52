# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-matrix.sh
# This driver in one guest and the in-tree driver in the other reach each other: IPv4, IPv6,
# multicast, children, both MTUs, the SM on either side, restarts of either side, TCP; in the
# long form for a minute.
# guests: 2
# timeout: 1500
# soak: 1500
# mem: 1536

. /cases/lib-matrix.sh

matrix ipoib intree "$(full_or 6 60)"
