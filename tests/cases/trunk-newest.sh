# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-matrix.sh
# The driver of 6.1 and this driver on the newest kernel reach each other: IPv4, IPv6, multicast, children, a restart of each, TCP.
# guests: 2
# timeout: 600
# mem: 1536
# peer: newest
# when: soak
# soak: 900

. /cases/lib-matrix.sh

kernels_differ
matrix_short intree ipoib
