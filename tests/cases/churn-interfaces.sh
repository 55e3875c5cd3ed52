# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-churn.sh
# Under traffic four processes make and delete children at once, and namespaces are deleted
# with interfaces in them, many times.
# kernel: debug
# timeout: 150
# when: soak
# soak: 300

. /cases/lib-churn.sh

churn_start
churn_children "$(full_or 60 500)"
churn_namespaces "$(full_or 6 50)"
