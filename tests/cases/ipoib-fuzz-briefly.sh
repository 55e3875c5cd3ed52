# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-fuzz.sh
# What ipoib-fuzz does, for 12 seconds, or what comes to as much on the debug kernel.
# timeout: 240

. /cases/lib-fuzz.sh

fuzz_for "$((12 * slowness / 10))"
