# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Ten mutants of the driver, which differ from day to day, are detected.
# runs: host
# kernel: debug
# timeout: 120
# when: soak
# soak: 3600

tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$tests/mutants/mutants.sh" --jobs 2 --sample 10
