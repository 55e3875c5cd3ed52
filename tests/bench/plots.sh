#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Draws the results of bench.sh. Usage: plots.sh [TABLE SVG_FOLDER PNG_FOLDER]. By default, draws
# the file "results" into Documentation/ and build/plots.

. "$(dirname "$0")/common.sh"

"$qemu_dir/deps.sh" plots
[ $# -gt 0 ] || set -- "$bench_dir/results" "$top/Documentation" "$top/build/plots"
mkdir -p "$2" "$3"
"$bench_dir/plots.py" "$@"
