# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-fuzz.sh
# ipoib-fuzz for 12 seconds, or a comparable amount on the debug kernel.
# timeout: 240
# smp: 2

. /cases/lib-fuzz.sh

fuzz_for "$((12 * slowness / 10))"
