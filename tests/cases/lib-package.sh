# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# For cases that install packages in a Debian 12 system. A case calls outside(), which builds the
# packages, and then runs a second time, as root, in namespaces where $system is the root file system
# of that system, for its steps: see package_case(). There is no network, and all changes to the
# system are in memory and vanish with the case. Modules cannot be loaded, so the cases check which
# module modprobe would load.

work=$1 base=${2:-}
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
version=$(sed -n 's/^#define IB_IPOIB_VERSION "\(.*\)"/\1/p' "$top/version.h")
# shellcheck disable=SC2034  # for the cases
newer=$version.1
qemu=$(cd "$(dirname "${BASH_SOURCE[0]}")/../qemu" && pwd)

step()
{
	echo "==> $* ($SECONDS s)"
}

fail()
{
	echo "FAILED: $*"
	exit 1
}

# same WHAT GOT WANTED
same()
{
	[ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"
}

# package_case STEP...: the case itself. In the system, a step is the function check_STEP.
package_case()
{
	local name

	[ -n "$base" ] || {
		outside
		system_enter
		return
	}
	system_start
	for name; do
		step "$name"
		"check_$name"
	done
	step "done"
}

# system_enter: runs the case again, with the folder of the system as its second argument.
system_enter()
{
	local become=()

	base=$("$qemu/debian.sh")
	[ "$(id -u)" -eq 0 ] || become=(sudo --)
	"${become[@]}" env "SOAK=${SOAK:-}" unshare --mount --net --pid --fork --kill-child \
		bash -eu -o pipefail "$0" "$work" "$base"
}

# system_start: sets $system and the $release of its kernel. What was compiled before is kept beside
# $base.
system_start()
{
	local changes=$work/changes

	system=$work/system
	mkdir "$changes" "$system"
	mount -t tmpfs tmpfs "$changes"
	mkdir "$changes/files" "$changes/work"
	mount -t overlay -o "lowerdir=$base,upperdir=$changes/files,workdir=$changes/work" \
		overlay "$system"
	mount -t proc proc "$system/proc"
	mount --rbind /dev "$system/dev"
	mkdir -p "${base%/*}/ccache" "$system/var/cache/ccache"
	mount --bind "${base%/*}/ccache" "$system/var/cache/ccache"
	trap build_logs EXIT
	release=$(ls "$system/lib/modules")
	kernel_runs "$release"
	mkdir "$system/packages"
}

# build_logs: prints the ends of the logs of failed DKMS builds.
build_logs()
{
	find "$system/var/lib/dkms" -path '*/build/make.log' -exec tail -n 30 {} +
}

# kernel_runs RELEASE: makes `uname -r` in the system print RELEASE instead of the host's.
kernel_runs()
{
	[ -e "$system/bin/uname.real" ] || mv "$system/bin/uname" "$system/bin/uname.real"
	printf '#!/bin/sh\n[ "$*" != -r ] || exec echo %s\nexec uname.real "$@"\n' "$1" \
		>"$system/bin/uname"
	chmod 755 "$system/bin/uname"
}

# DKMS removes the information for debuggers from modules, which takes a sixth of the time to make,
# and what has been compiled before is not compiled again, except in the long form
options=(KCFLAGS=-g0 DEBIAN_KERNEL_USE_CCACHE=yes CCACHE_DIR=/var/cache/ccache CCACHE_MAXSIZE=200M)
[ -z "${SOAK:-}" ] || options=()

# inside CMD...: runs it in the system.
inside()
{
	env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin "${options[@]}" chroot "$system" "$@" \
		</dev/null
}

# loads WHEN RELEASE MODULE FILE: modprobe would load FILE, a path below the kernel's modules. It
# is empty if there must be no such module.
loads()
{
	local got

	got=$({ inside modprobe -S "$2" --show-depends "$3" 2>&1 || :; } |
		awk -v root="/lib/modules/$2/" -v name="$3" '
			$1 == "insmod" && index($2, root) == 1 {
				file = substr($2, length(root) + 1)
				sub(/\.xz$/, "", file)
				n = split(file, words, "/")
				if (words[n] == name ".ko")
					print file
			}')
	same "$1: what modprobe loads of $2" "$got" "$4"
}

# loads_own RELEASE MODULE VERSION: modprobe would load a module that DKMS built and signed.
loads_own()
{
	loads "with DKMS" "$1" "$2" "updates/dkms/$2.ko"
	same "the version of $2 for $1" "$(inside modinfo -k "$1" -F version "$2")" "$3"
	same "who signed $2 for $1" "$(inside modinfo -k "$1" -F signer "$2")" \
		"DKMS module signing key"
	same "the key by which $2 for $1 is signed" \
		"$(inside modinfo -k "$1" -F sig_key "$2" | tr -d :)" "$(dkms_key)"
}

# dkms_key: prints the number of the certificate that is to be enrolled.
dkms_key()
{
	inside openssl x509 -inform der -in /var/lib/dkms/mok.pub -noout -serial | sed 's/^serial=//'
}

# loads_in_tree WHEN RELEASE: modprobe would load the in-tree driver, and finds none of our modules.
loads_in_tree()
{
	loads "$1" "$2" ib_ipoib kernel/drivers/infiniband/ulp/ipoib/ib_ipoib.ko
	loads "$1" "$2" ib_ats ''
	loads "$1" "$2" eth_ipoib ''
	loads "$1" "$2" ibfab ''
}

# dkms_has LINE...: `dkms status` prints these lines and no others.
dkms_has()
{
	same "dkms status" "$(inside dkms status | sort)" "$(printf '%s\n' "$@" | sed '/^$/d' | sort)"
}

# nothing_left: there are no packages, sources, builds or modules of ours.
nothing_left()
{
	local left

	left=$(inside dpkg --get-selections)
	left=$(grep -E '^(ib-ipoib|ibfab)' <<<"$left" || :)
	same "what is left of packages" "$left" ""

	left=$(cd "$system" &&
		find usr/src var/lib/dkms -maxdepth 1 '(' -name 'ib-ipoib*' -o -name 'ibfab*' ')' &&
		find lib/modules/ -path '*/updates/*' -name '*.ko*')
	same "what is left" "$left" ""
}
