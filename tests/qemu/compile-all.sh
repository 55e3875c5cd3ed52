#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Builds all modules and the KUnit suites for each of Debian's kernels, with warnings as
# errors, and compares the findings of the probes in compat.mk with tests/compat/expected.
# Prints a line for each kernel. Usage: compile-all.sh

. "$(dirname "$0")/common.sh"

read -ra kinds < <(sed -n 's/^# kind of kernel://p' "$top/tests/compat/expected")

# found KIND: prints the names of the features that the kernel has, one per line.
found()
{
	"$qemu_dir/kernel.sh" enter "$1" make -s -C "$top" \
		KDIR="$("$qemu_dir/kernel.sh" kdir "$1")" compat
}

# expected COLUMN: prints what found() should.
expected()
{
	awk -v column="$1" '!/^#/ && $column == "yes" { print $1 }' "$top/tests/compat/expected"
}

# probe_names: prints the names of all probes.
probe_names()
{
	# shellcheck disable=SC2016  # words of make
	sed -n '/^#/!s/.*$(call [a-z]*,\([A-Z_]*\),.*/\1/p' "$top/compat.mk" | sort
}

diff <(awk '!/^#/ { print $1 }' "$top/tests/compat/expected") <(probe_names) ||
	die "tests/compat/expected does not list the probes of compat.mk"
trap progress_stop EXIT
trap 'exit 1' INT TERM
progress_start 1
progress_event steps $((1 + 2 * ${#kinds[@]}))
progress_event step "Debian packages"
"$qemu_dir/deps.sh" build "${kinds[@]}"
for index in "${!kinds[@]}"; do
	kind=${kinds[index]}
	progress_event step "modules for kernel $kind"
	"$qemu_dir/build.sh" "$kind" >/dev/null
	progress_event step "features of kernel $kind"
	list=$(found "$kind")
	diff <(expected $((index + 2))) - <<<"$list" || die "probes are wrong on $kind"
	progress_aside echo "$("$qemu_dir/kernel.sh" release "$kind"): builds without a warning;" \
		"features: $(grep -c . <<<"$list") of $(probe_names | wc -l)"
done
