#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Installs the missing Debian packages for a group of tasks. Usage: deps.sh
# build|lint|guest|stock|debug|6.12|newest|perf|bench|plots|capture|coverage|selftests|ynl|docs...

. "$(dirname "$0")/common.sh"

packages_of()
{
	case $1 in
	build) echo linux-headers-amd64 kmod gcc libc6-dev libmnl-dev libjson-c-dev ;;
	guest) echo qemu-system-x86 kmod cpio xz-utils gcc libc6-dev ;;
	stock) echo kmod cpio xz-utils ;;
	6.12 | newest) echo kmod cpio xz-utils zstd ;;
	debug)
		echo bc bison flex gcc libc6-dev libelf-dev xz-utils linux-source-6.1 \
			kmod cpio
		;;
	selftests) echo gcc libc6-dev xz-utils linux-source-6.1 ;;
	docs) echo mandoc python3-sphinx ;;
	deb) echo build-essential debhelper dh-dkms libjson-c-dev libmnl-dev ;;
	rpm) echo gcc libc6-dev libjson-c-dev libmnl-dev make rpm ;;
	package) echo kmod lintian mmdebstrap rpmlint ;;
	perf) echo linux-perf ;;
	bench) echo gcc libc6-dev jq ;;
	plots) echo python3-matplotlib ;;
	capture) echo tshark ;;
	coverage) echo lcov ;;
	ynl)
		echo gcc libc6-dev libmnl-dev linux-source-6.12 python3-jsonschema \
			python3-yaml xz-utils
		;;
	lint)
		echo codespell mandoc pahole python3-yaml sparse shellcheck \
			perl xz-utils yamllint linux-source-6.1
		;;
	*) die "no such group of packages: $1" ;;
	esac
}

wanted=$(for group; do packages_of "$group"; done | tr ' ' '\n' | sort -u)
# Packages that dpkg-query does not know, or says nothing of, are lacking
declare -A status_of
# shellcheck disable=SC2086  # words
while read -r package status; do
	status_of[$package]=$status
done < <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted 2>/dev/null)
lacking=()
for package in $wanted; do
	[ "${status_of[$package]:-}" = installed ] || lacking+=("$package")
done
[ ${#lacking[@]} -gt 0 ] || exit 0
say "installing: ${lacking[*]}"
with_lock apt apt_install "${lacking[@]}"
