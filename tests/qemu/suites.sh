# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154  # what common.sh sets
# Packages of other suites of the Debian mirror that this machine uses, without
# any effect on what is installed here. Sourced, never run.

# mirror: prints the address of the mirror that this machine has its packages from.
mirror()
{
	local codename

	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	# shellcheck disable=SC2016  # words of apt's own
	apt-get indextargets --format '$(SITE) $(CODENAME) $(COMPONENT)' \
		'Created-By: Packages' |
		awk -v codename="$codename" '$2 == codename && $3 == "main" { print $1; exit }'
}

# suites_open FOLDER SUITE...: an apt configuration of its own in FOLDER, in which no package is
# installed. Sets $suites_dir. Kernels are taken from the last suite, whatever its priority.
suites_open()
{
	local suite site

	suites_dir=$1
	shift
	[ ! -e "$suites_dir/complete" ] || return 0
	mkdir -p "$suites_dir"/{lists/partial,archives/partial,none}
	site=$(mirror)
	[ -n "$site" ] || die "no Debian mirror is configured for apt"
	for suite; do
		echo "deb $site $suite main"
	done >"$suites_dir/sources.list"
	printf 'Package: linux-*\nPin: release n=%s\nPin-Priority: 900\n' "$suite" \
		>"$suites_dir/preferences"
	: >"$suites_dir/status"
	suites_apt_get update || die "cannot fetch the package lists of $*"
	touch "$suites_dir/complete"
}

# suites_apt COMMAND...: apt-get or apt-cache with this configuration.
suites_apt()
{
	local command=$1

	shift
	"$command" -q \
		-o Dir::State::lists="$suites_dir/lists" \
		-o Dir::State::status="$suites_dir/status" \
		-o Dir::Cache::archives="$suites_dir/archives" \
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
		-o Dir::Etc::sourcelist="$suites_dir/sources.list" -o Dir::Etc::sourceparts="$suites_dir/none" \
		-o Dir::Etc::preferences="$suites_dir/preferences" -o Dir::Etc::preferencesparts="$suites_dir/none" \
		-o APT::Sandbox::User=root -o Debug::NoLocking=1 -o Acquire::Retries=3 "$@"
}

suites_apt_get()
{
	suites_apt apt-get -y --no-install-recommends "$@" >"$suites_dir/apt.log" 2>&1 || {
		cat "$suites_dir/apt.log" >&2
		return 1
	}
}

# suites_fetch FOLDER PACKAGE...: these, and all that they need, as .deb files.
suites_fetch()
{
	local folder=$1

	shift
	mkdir -p "$folder/partial"
	suites_apt_get -o Dir::Cache::archives="$folder" install --download-only "$@"
}

# suites_download FOLDER PACKAGE...: these alone.
suites_download()
{
	local folder=$1

	shift
	mkdir -p "$folder"
	(cd "$folder" && suites_apt_get download "$@")
}
