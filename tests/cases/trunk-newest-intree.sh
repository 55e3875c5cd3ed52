# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-matrix.sh
# This driver on 6.1 and the newest kernel's own driver reach each other: IPv4, IPv6, multicast, children, a restart of each, TCP.
# guests: 2
# timeout: 600
# mem: 1536
# peer: newest

. /cases/lib-matrix.sh

kernels_differ
matrix_short ipoib intree
