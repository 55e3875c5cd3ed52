# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash source=lib.sh
# Runs of a command line tool whose name is $program: its exit status, its output and its errors.

: "${program:?has the name of the tool}"

# ends STATUS CMD...: CMD, which runs the tool, ends with that status; its output is in /run/out and
# /run/err. JSON output is a single array, whatever the status.
ends()
{
	_wanted=$1 _status=0
	shift
	"$@" >/run/out 2>/run/err || _status=$?
	[ "$_status" = "$_wanted" ] ||
		fail "$*: status $_status, wanted $_wanted: $(head -n 20 /run/out /run/err)"
	case " $* " in
	*' -j'* | *' --json '*)
		jq -es 'length == 1 and (.[0] | type == "array")' /run/out >/run/is_array ||
			fail "$*: not one array: $(head -n 20 /run/out)"
		;;
	esac
}

# tool STATUS [ARGUMENT...]: the tool in h0.
tool()
{
	_status_wanted=$1
	shift
	ends "$_status_wanted" on h0 "$program" "$@"
}

# nobody STATUS [ARGUMENT...]: the tool in h0 without any capability.
nobody()
{
	_status_wanted=$1
	shift
	# shellcheck disable=SC2016  # for the inner shell to expand
	ends "$_status_wanted" on h0 sh -c '. /cases/lib.sh; as_user "$@"' sh "$program" "$@"
}

# err_matches EXTENDED-REGEX: the last run has said that on standard error.
err_matches()
{
	assert_match "what it says" "$(cat /run/err)" "$1"
}
