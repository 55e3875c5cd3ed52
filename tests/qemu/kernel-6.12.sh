# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154  # what kernel-backports.sh reads
# Debian 12's backport of a newer kernel, for kernel.sh.
base=bookworm
# shellcheck source=kernel-backports.sh
. "$qemu_dir/kernel-backports.sh"
