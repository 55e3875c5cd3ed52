#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Builds the tools into build/tools, the cases' own tools into build/test-tools, and all
# modules for a kind of kernel, and prints the modules' folder, with the subfolders driver/,
# ats/, fabric/, probes/ and, for the debug kernel, kunit/, kunit-ats/ and kunit-eth/. A
# warning is an error. The compiler's output goes to build/build.log. Usage: build.sh [KIND
# [coverage]]. For the debug kernel modules are built with UBSAN and, for "coverage", with gcov,
# whose counters are in /sys/kernel/debug/gcov. For 6.12, sparse checks the modules. make lint
# checks kernel-doc.
#
# What was built from the same sources before, by another checkout, is taken from the cache. Without
# it, make does not look at modules again if neither they nor their sources have changed since, as
# that takes seconds.

. "$(dirname "$0")/common.sh"

kind=$("$qemu_dir/kernel.sh" kind "${1:-stock}")
# For the stock kernel: the others' keys have the versions of theirs.
compiler=$(gcc -dumpfullversion)
# The target of each folder
declare -A parts=([driver]=driver [ats]=ats [eth]=eth [fabric]=fabric [probes]=probes)
case $kind in
stock) options=() ;;
debug)
	parts+=([kunit]=kunit-driver [kunit-ats]=kunit-ats [kunit-eth]=kunit-eth)
	options=(UBSAN_SANITIZE=y)
	[ "${2:-}" != coverage ] || options+=(GCOV_PROFILE=y)
	;;
6.12 | newest)
	parts+=([kunit]=kunit-driver-objects [kunit-ats]=kunit-ats-objects
		[kunit-eth]=kunit-eth-objects)
	options=()
	# The headers of the newest kernel lack the script by which makefiles look for sparse
	[ "$kind" = newest ] || options=(C=1 CF="-D__CHECK_ENDIAN__ -Wsparse-error")
	;;
esac

made()
{
	"$qemu_dir/kernel.sh" enter "$kind" make -k -s -C "$top" KDIR="$kdir" \
		JOBS="$(nproc)" STRICT=1 "${options[@]}" "$@"
}

# key_of PART: prints a hash of all that its modules depend on. Some probes use symbols of ats.
key_of()
{
	local folder folders=("$1")

	[ "$1" != probes ] || folders+=(ats)
	{
		echo "$kernel $compiler ${options[*]} ${parts[$1]} ${KCFLAGS:-}"
		cat "$top/Makefile" "$qemu_dir/build.sh"
		cd "$modules" || exit
		for folder in "${folders[@]}"; do
			find -L "$folder" -maxdepth 1 \( -name '*.[ch]' ! -name '*.mod.c' -o \
				-name Kbuild -o -name '*.mk' \) -print0
		done | sort -z | xargs -0 sha256sum
	} | hash_of -
}

# stored PART: prints the folder in the cache for it.
stored()
{
	echo "$cache/modules/$kind-$1-$(key_of "$1")"
}

# is_cached KIND [coverage]: MODULES_UNCACHED is set for trees that nobody else builds.
is_cached()
{
	[ "${2:-}" != coverage ] && [ -z "${MODULES_UNCACHED:-}" ]
}

# files_of PART: prints its modules, and when they were made.
files_of()
{
	find "$modules/$1" -maxdepth 1 -name '*.ko' -printf '%f %s %T@\n' | sort
}

# find_changed: sets $missing to the parts whose sources or modules have changed since the last time,
# and $wanted to a hash of each part's sources.
find_changed()
{
	local part

	missing=()
	for part in "${!parts[@]}"; do
		wanted[$part]=$(key_of "$part")
		[ "$(cat "$modules/$part/.made" 2>/dev/null)" = "${wanted[$part]} $(files_of "$part")" ] ||
			missing+=("$part")
	done
}

# note_made: notes what the missing parts were made from, for the next time.
note_made()
{
	local part

	for part in "${missing[@]}"; do
		echo "${wanted[$part]} $(files_of "$part")" >"$modules/$part/.made" || return
	done
}

# restore FROM TO: copies modules, which a guest may be about to use, if they differ. Then make has
# to compile what they were made of here before, as it would take them for newer.
restore()
{
	local file name

	for file in "$1"/*; do
		name=${file##*/}
		[ -e "$file" ] || continue
		! cmp -s "$file" "$2/$name" || continue
		cp "$file" "$2/.new.$name" && mv "$2/.new.$name" "$2/$name" || return
		rm -f "$2"/.*.cmd
	done
}

# Takes what is there from the cache, and sets $missing to the other parts. $wanted gets the names
# of these parts' folders in the cache.
fetch()
{
	local part from

	missing=()
	for part in "${!parts[@]}"; do
		from=$(stored "$part")
		if [ -d "$from" ]; then
			touch -c "$from"
			restore "$from" "$modules/$part" || return
		else
			missing+=("$part")
			wanted[$part]=$from
		fi
	done
}

# Puts the modules of the missing parts into the cache, where a part's last five are kept. Those
# whose sources have changed while they were compiled are left out.
store()
{
	local part work

	mkdir -p "$cache/modules"
	for part in "${missing[@]}"; do
		[ "$(stored "$part")" = "${wanted[$part]}" ] || continue
		work=$(mktemp -d "$cache/tmp.XXXXXX")
		find "$modules/$part" -maxdepth 1 \( -name '*.ko' -o -name Module.symvers \) \
			-exec cp -t "$work" {} + || { rm -rf "$work" && return 1; }
		mv -T "$work" "${wanted[$part]}" 2>/dev/null || rm -rf "$work"
		find "$cache/modules" -maxdepth 1 -name "$kind-$part-????????????????" \
			-printf '%T@ %p\n' | sort -rn | sed '1,5d; s/^[^ ]* //' | xargs -r rm -rf
	done
}

make_missing()
{
	local part targets=()
	local -A wanted=()

	make -s -C "$top" tools test-tools || return
	made sources || return
	if is_cached "$@"; then
		{ flock 8 && fetch; } 8>"$cache/modules.lock" || return
	else
		find_changed
	fi
	for part in "${missing[@]}"; do
		targets+=("${parts[$part]}")
	done
	[ ${#targets[@]} -gt 0 ] || return 0
	made "${targets[@]}" || return
	[ ! -s "$log" ] || return 0
	if is_cached "$@"; then
		with_lock modules store
	else
		note_made
	fi
}

# Called with the lock held, so that each build writes its own log. The next make would not
# repeat a tool's warning, nor one about a whole module, so what these are about is removed.
build()
{
	make_missing "$@" >"$log" 2>&1 && [ ! -s "$log" ] && return
	cat "$log" >&2
	rm -rf "$top"/build/{tools,tools.obj,test-tools}
	rm -f "$modules"/*/{Module.symvers,modules.order,.made}
	return 1
}

release=$("$qemu_dir/kernel.sh" release "$kind")
kdir=$("$qemu_dir/kernel.sh" kdir "$kind")
kernel=$("$qemu_dir/kernel.sh" dir "$kind")
modules=$top/build/$release log=$top/build/build.log
mkdir -p "$top/build"
[ "$kind" != debug ] || [ -e "$kdir" ] || "$qemu_dir/kernel.sh" prepare debug
# The output of this preparation is not the compiler's
"$qemu_dir/kernel.sh" enter "$kind" true
with_lock "$(build_lock)" build "$@" || die "the modules do not build without a warning"
echo "$modules"
