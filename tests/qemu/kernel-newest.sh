# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154  # what kernel-backports.sh reads
# Debian 13's backport of the newest kernel, for kernel.sh.
base=trixie
# shellcheck source=kernel-backports.sh
. "$qemu_dir/kernel-backports.sh"
