# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-churn.sh
# Under traffic the P_Key table is rewritten, and the SM is killed and restarted, many times.
# kernel: debug
# timeout: 150
# when: soak
# soak: 900

. /cases/lib-churn.sh

churn_start
churn_pkeys "$(full_or 60 500)"
churn_sm "$(full_or 3 20)"
