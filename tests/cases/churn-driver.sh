# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-churn.sh
# Under traffic the HCA is unplugged and plugged in, and the driver is unloaded and loaded,
# many times.
# kernel: debug
# timeout: 150
# when: soak
# soak: 1500

. /cases/lib-churn.sh

churn_start
churn_unplug "$(full_or 6 100)"
churn_load "$(full_or 4 50)"
churn_away
