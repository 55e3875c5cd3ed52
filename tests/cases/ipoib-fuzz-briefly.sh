# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-fuzz.sh
# What ipoib-fuzz does, for 12 seconds, and on the stock kernel for time.
# timeout: 240

. /cases/lib-fuzz.sh

fuzz_for 12
