#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Programs of the kernel's network selftests, for the guests of apps-* cases: compiled from
# Debian's kernel source into the cache, where they stay until the source or this file
# changes. Prints their folder.

. "$(dirname "$0")/common.sh"

source_package=linux-source-6.1
tests=tools/testing/selftests/net
# Programs whose addresses or interface can be chosen
programs=(
	cmsg_sender io_uring_zerocopy_tx msg_zerocopy so_txtime tcp_mmap txtimestamp udpgso_bench_rx
	udpgso_bench_tx
)
scripts=(netdevice.sh)

# fit FOLDER: adapts them to an emulated machine. tcp_mmap sends 32 GiB, and so_txtime
# requires packets to arrive within 4 ms of their time; neither has an option for this.
fit()
{
	sed -i 's/^#define FILE_SZ (1ULL << 35)$/#define FILE_SZ (1ULL << 24)/' "$1/tcp_mmap.c"
	sed -i 's/\(cfg_variance_us[ \t]*= \)4000;/\125000;/' "$1/so_txtime.c"
	grep -qF '1ULL << 24' "$1/tcp_mmap.c" || die "tcp_mmap.c has another size"
	grep -qF '= 25000;' "$1/so_txtime.c" || die "so_txtime.c has another tolerance"
}

compile()
{
	local folder=$1 out=$2 program

	for program in "${programs[@]}"; do
		gcc -O2 -w -I"$folder/.." -I"$folder/../../../include" \
			-idirafter "$folder/../../../../include/uapi" \
			-o "$out/$program" "$folder/$program.c" -lpthread ||
			die "$program does not compile"
	done
	install -t "$out" "${scripts[@]/#/$folder/}"
}

build()
{
	local source

	say "compiling the kernel's network selftests"
	work=$(mktemp -d "$cache/tmp.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	source=$work/$source_package
	tar -xJf "/usr/src/$source_package.tar.xz" -C "$work" \
		"$source_package"/{tools/testing/selftests,tools/include,include/uapi}
	mkdir "$work/out"
	fit "$source/$tests"
	compile "$source/$tests" "$work/out"
	mv "$work/out" "$folder"
}

prepare()
{
	[ -e "$folder" ] || build
}

version=$(dpkg-query -W -f '${Version}' "$source_package") ||
	die "$source_package is not installed"
folder=$cache/selftests-$version-gcc-$(gcc -dumpfullversion)-$(hash_of "$0")
with_lock selftests prepare
echo "$folder"
