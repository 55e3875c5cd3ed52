# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-churn.sh
# All actions of the churn-* cases, a few times each, on the stock kernel, which is faster.
# timeout: 240
# smp: 2

. /cases/lib-churn.sh

churn_start
churn_children 16
churn_namespaces 1
churn_pkeys 10
churn_sm 1
churn_unplug 2
churn_load 2
churn_away
