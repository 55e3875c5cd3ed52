# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2016
# `make docs` builds the documents and manuals of a clean tree without a word, and finds one fault
# of each kind in a faulty one.
# runs: host
# timeout: 120

work=$1
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tree=$work/tree
documents=$tree/Documentation

# built: prints what is wrong with the documents of the tree, and the exit status.
built()
{
	local status=0

	"$top/tests/docs.sh" "$work/docs" "$tree" 2>&1 || status=$?
	echo "status $status"
}

# wanted TEXT REGEX
wanted()
{
	if ! grep -qE "$2" <<<"$1"; then
		printf 'wanted: %s\ngot:\n%s\n' "$2" "$1"
		exit 1
	fi
}

# changed FILE SCRIPT: changes a file of the tree by sed, which must have an effect.
changed()
{
	cp "$tree/$1" "$work/before"
	sed -i "$2" "$tree/$1"
	if cmp -s "$work/before" "$tree/$1"; then
		echo "$1: nothing to change by $2"
		exit 1
	fi
}

"$top/packaging/copy.sh" "$tree"
clean=$(built)
if [ "$clean" != "status 0" ]; then
	echo "a clean tree: $clean"
	exit 1
fi
for file in html/{index,faq}.html html/man/{ib_ipoib.4,ibats.8}.html \
	man/{ib_ipoib.4,ibfab.4,ibats.8,ib-ipoib-admin-guide.7}; do
	[ -s "$work/docs/$file" ]
done

cat >>"$documents/faq.rst" <<-'E'

	:ref:`ipoib:No such section`, :doc:`no_document`, :manpage:`nobody(4)`

	==== =====
	too wide a cell
	==== =====

	====== =====
	a cell one
	of two
	====== =====
E
printf '.. nothing\n\nAlone\n=====\n' >"$documents/alone.rst"
echo '[nowhere](Documentation/nowhere.rst)' >>"$tree/README.md"
changed man/ib_ipoib.4 's/^\.It Cm roce_sl$/.It Cm roce_level/
	/^\.It Pa .*no_carrier_reason/d'
changed Documentation/reference.rst 's/^``sendonly_idle``/sendonly_idle    /
	s/^``tx_path_limit``/tx_path_limit    /
	s/^``delete_child``/delete_child    /
	s/^``ipoib_flush``/``ipoib_gone`` /
	s/``no path to GID/``no way to GID/'
changed README.md 's/| \*\*0.84\*\* |/| **0.83** |/'
changed tools/ipoib_reason.c 's/"vf-down",/"vf-gone",/'
changed man/ibfab.4 '/^\.It Cm max_sge$/d'
changed Documentation/ibfab.rst 's/^``vfs=N``$/``vfs``/'
changed Documentation/ats.rst 's/^``lease``/``leases``/'

faulty=$(built)
wanted "$faulty" "faq.rst:[0-9]*: WARNING: .*ipoib:no such section"
wanted "$faulty" "faq.rst:[0-9]*: WARNING: unknown document: 'no_document'"
wanted "$faulty" 'faq.rst:[0-9]*: .*Malformed table'
wanted "$faulty" '^faq.rst:[0-9]+: text in the first column only$'
wanted "$faulty" "alone.rst: WARNING: document isn't included in any toctree"
wanted "$faulty" '^faq.rst: there is no nobody\(4\)$'
wanted "$faulty" '^README.md: Documentation/nowhere.rst: no such file$'
wanted "$faulty" '^man/ib_ipoib.4 lacks the parameter roce_sl$'
wanted "$faulty" '^man/ib_ipoib.4 has roce_level, which is no parameter$'
wanted "$faulty" '^man/ibfab.4 lacks the parameter max_sge$'
wanted "$faulty" '^Documentation/reference.rst lacks the parameter sendonly_idle$'
wanted "$faulty" '^Documentation/ibfab.rst lacks the parameter vfs$'
wanted "$faulty" '^Documentation/ats.rst has leases, which is no parameter$'
wanted "$faulty" '^Documentation/reference.rst lacks the counter tx_path_limit$'
wanted "$faulty" '^Documentation/reference.rst lacks the sysfs file delete_child$'
wanted "$faulty" '^man/ib_ipoib.4 lacks the sysfs file no_carrier_reason$'
wanted "$faulty" '^README.md: instructions for UDP of 64 octets: 0.83, measured 0.84$'
wanted "$faulty" '^tools/ipoib_reason.c lacks the reason vf-down$'
wanted "$faulty" '^Documentation/reference.rst lacks the tracepoint ipoib_flush$'
wanted "$faulty" '^Documentation/reference.rst has ipoib_gone, which is no tracepoint$'
wanted "$faulty" '^Documentation/reference.rst lacks the message: no path to %pI6'
wanted "$faulty" '^status 1$'
