# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# All modules and KUnit suites build without a warning for 6.1, 6.12 and the newest kernel,
# and what the probes of compat.mk find on each of them is what it should be. A probe whose
# expression matches too much, and a kernel that has no such name, are errors.
# runs: host
# timeout: 600

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$1

# fails_with TEXT COMMAND...: fails, and says so.
fails_with()
{
	local text=$1

	shift
	if "$@" >"$work/said" 2>&1; then
		echo "passes: $*"
		exit 1
	fi
	cat "$work/said"
	grep -qF "$text" "$work/said"
}

"$top/tests/qemu/compile-all.sh" >"$work/kernels"
cat "$work/kernels"
[ "$(grep -c ': builds without a warning' "$work/kernels")" -eq 3 ]
fails_with "no such kind of kernel" "$top/tests/qemu/kernel.sh" kind 4.19

# The name of a kind is known before its packages are installed, and a wrong one ends the check
mkdir "$work/no-packages"
[ "$(DPKG_ADMINDIR=$work/no-packages "$top/tests/qemu/kernel.sh" kind debug)" = debug ]
fails_with "no such kind of kernel" timeout 60 "$top/tests/qemu/check.sh" --kernel 4.19
[ "$(grep -c "no such kind of kernel" "$work/said")" -eq 1 ]

# In a copy: nothing is built there, because the list of probes is read first
git clone -q --shared "$top" "$work/copy"
cp -r "$top"/{compat.mk,Makefile,tests} "$work/copy/"
echo 'GONE	no	no	no' >>"$work/copy/tests/compat/expected"
fails_with "does not list the probes" "$work/copy/tests/qemu/compile-all.sh"
