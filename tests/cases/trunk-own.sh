# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-matrix.sh
# This driver in both guests, which reach each other: IPv4, IPv6, multicast, children, both
# MTUs, the SM on either side, restarts of either side, TCP for a minute.
# guests: 2
# timeout: 1500
# soak: 1500
# when: soak

. /cases/lib-matrix.sh

matrix ipoib ipoib "$(full_or 20 60)"
