# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib-fuzz.sh
# Random frames and spoilt answers of the SA: the interface survives, and each frame that
# arrived is counted. SEED= and SECONDS= repeat or extend it.
# kernel: debug
# timeout: 150
# when: soak
# soak: 420

. /cases/lib-fuzz.sh

# shellcheck disable=SC3028  # not the shell's: of the kernel's command line
fuzz_for "${SECONDS:-$(full_or 120 600)}"
