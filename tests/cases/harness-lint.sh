# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# `make lint` passes a clean tree and finds one fault of each kind in a faulty one.
# runs: host
# timeout: 300

work=$1
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tree=$work/tree
licence='SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause'

# module FILE: writes a module that does nothing.
module()
{
	cat >"$1" <<-E
		// $licence
		/* A module that does nothing. */
		#include <linux/module.h>

		MODULE_DESCRIPTION("Nothing");
		MODULE_LICENSE("Dual BSD/GPL");
	E
}

# linted: prints the output of lint for the tree, and its exit status.
linted()
{
	local status=0

	env -u KDIR make -C "$tree" lint 2>&1 || status=$?
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

mkdir -p "$tree"/tests/{fabric,probes,mutants,kunit/{driver,ats,eth}}
cp "$top/Makefile" "$top/.gitignore" "$top/.shellcheckrc" "$tree/"
cp -r "$top"/tests/{qemu,lint.sh,lint_new.sh,netlink_spec.py,call_graph.py} "$tree/tests/"
mkdir "$tree/tests/cases"
cp "$top"/tests/cases/lib*.sh "$tree/tests/cases/"
cp -r "$top"/{debian,dkms.conf,packaging,version.h} "$tree/"
printf '# %s\nobj-m := ib_ipoib.o\n' "$licence" >"$tree/Kbuild"
printf '# %s\nobj-m := ibfab.o\n' "$licence" >"$tree/tests/fabric/Kbuild"
printf '# %s\nobj-m := kunit_rx.o\n' "$licence" >"$tree/tests/kunit/driver/Kbuild"
module "$tree/tests/kunit/driver/kunit_rx.c"
module "$tree/ib_ipoib.c"
for module in ib_ipoib tests/kunit/driver/kunit_rx; do
	cat >>"$tree/$module.c" <<-'E'

		struct layout {
			long first;
		};

		static struct layout layout __used;
	E
done
printf '# %s\nlayout first 0\n' "$licence" >"$tree/tests/cache_lines"
printf '# %s\n(->|\\.)first\\>\tipoib_layout.c\n' "$licence" >"$tree/tests/parts"
module "$tree/tests/fabric/ibfab.c"
mkdir "$tree/ats" "$tree/eth_ipoib" "$tree/include"
for module in ats/ib_ats eth_ipoib/eth_ipoib tests/probes/ibatsask tests/kunit/ats/ib_ats_kunit \
	tests/kunit/eth/eth_ipoib_kunit; do
	printf '# %s\nobj-m := %s.o\n' "$licence" "${module##*/}" >"$tree/${module%/*}/Kbuild"
	module "$tree/$module.c"
done
printf '/* %s */\n' "$licence" >"$tree/include/ib_ats.h"
cp "$tree/include/ib_ats.h" "$tree/tests/probes/ibtool.h"
mkdir "$tree/tools" "$tree/uapi"
cp "$top/uapi/ib_ats_netlink.h" "$tree/uapi/"
specs=Documentation/netlink/specs
mkdir -p "$tree/$specs"
cp "$top/$specs/ib_ats.yaml" "$tree/$specs/"
printf '// %s\nint main(void)\n{\n\treturn 0;\n}\n' "$licence" >"$tree/tools/ibats.c"
mkdir "$tree/tests/tools"
# Only the first file of each tool; names with an underscore are further files of the same tool.
for tool in "$top"/tests/tools/*.c; do
	tool=${tool##*/}
	[[ $tool == *_* ]] || cp "$tree/tools/ibats.c" "$tree/tests/tools/$tool"
done
cat >"$tree/tools/ibats.8" <<-E
	.\\" $licence
	.Dd November 21, 2026
	.Dt IBATS 8
	.Os
	.Sh NAME
	.Nm ibats
	.Nd nothing
	.Sh DESCRIPTION
	It does nothing.
E
printf '.. %s\n\n::\n\n    [Match]\n' "$licence" >"$tree/Documentation/conventions.rst"
printf "# %s\n# shellcheck shell=dash\ncat <<'CONF'\n[Match]\nCONF\n" "$licence" \
	>"$tree/tests/cases/daemons-any.sh"
# harness-docs tests that script
printf '#!/bin/bash\n# %s\n[ ! -e bad.rst ] || echo "no such section"\n' "$licence" >"$tree/tests/docs.sh"
chmod 755 "$tree/tests/docs.sh"
git -C "$tree" init -q

clean=$(linted)
wanted "$clean" '^status 0$'

# Faults for W=1, sparse's endian check, checkpatch, and the check for conditional compilation.
cat >>"$tree/ib_ipoib.c" <<-'E'

	#if 1
	int no_declaration(void)
	{
		return 0;
	}
	#endif
	static int unused_function( void ) { return 0; }
	static int mixedCase;

	static long another_part(void)
	{
		return layout.first;
	}
E
# Not in the same file, as sparse checks only what can be compiled
cat >>"$tree/tests/fabric/ibfab.c" <<-'E'

	int restricted(__be16 wire);

	int restricted(__be16 wire)
	{
		return wire;
	}
E
printf '\nint undeclared_suite;\n' >>"$tree/tests/kunit/driver/kunit_rx.c"
printf '\nstatic int unused_in_tool;\n' >>"$tree/tools/ibats.c"
# Files that call each other
calls()
{
	printf '// %s\nint %s(void);\nint %s(void);\n\nint %s(void)\n{\n\treturn %s();\n}\n' \
		"$licence" "$1" "$2" "$1" "$2" >"$tree/tools/$1.c"
}
calls ibats_first ibats_second
calls ibats_second ibats_first
# A mutant of a file that does not exist
printf '# %s\ndiff --git a/gone.c b/gone.c\n--- a/gone.c\n+++ b/gone.c\n@@ -1 +1 @@\n-a\n+b\n' \
	"$licence" >"$tree/tests/mutants/gone.patch"
echo '.Xy' >>"$tree/tools/ibats.8"
sed -i 's/IB_ATS_KIND_GID,/IB_ATS_KIND_NODE,/; s/"records"/"record"/' "$tree/uapi/ib_ats_netlink.h"
sed -i 's/mcgrp: records/mcgrp: nobody/' "$tree/$specs/ib_ats.yaml"
echo 'layout first 1' >>"$tree/tests/cache_lines"
printf '.. %s\n' "$licence" >"$tree/bad.rst"
sed -i 's/Match/Link/' "$tree/tests/cases/daemons-any.sh"
sed -i 's/^PACKAGE_VERSION=.*/PACKAGE_VERSION="0.1"/' "$tree/dkms.conf"
# Faults for shellcheck, the licence lines, and the length.
# shellcheck disable=SC2016  # the fault itself
printf '#!/bin/sh\nrm $1\n' >"$tree/tests/bad.sh"
{ echo "/* $licence */" && seq -f '/* %g */' 900; } >"$tree/long.h"

faulty=$(linted)
wanted "$faulty" '^FAIL  compiler .W=1'
wanted "$faulty" "no previous prototype for .*no_declaration"
wanted "$faulty" 'unused_function'
wanted "$faulty" 'unused_in_tool'
wanted "$faulty" 'restricted __be16'
wanted "$faulty" '^FAIL  compiler and sparse of the KUnit suites'
wanted "$faulty" 'undeclared_suite'
wanted "$faulty" '^FAIL  no circles of calls'
wanted "$faulty" '^circle: ibats_first -> ibats_second: ibats_second'
wanted "$faulty" '^FAIL  mutants apply'
wanted "$faulty" '^tests/mutants/gone.patch: status 1'
wanted "$faulty" '^FAIL  versions'
wanted "$faulty" "^dkms.conf states version '0.1'"
wanted "$faulty" '^FAIL  parts and their owners'
wanted "$faulty" '^ib_ipoib.c:[0-9]*:.*layout.first;   .only for ipoib_layout.c.$'
wanted "$faulty" '^FAIL  checkpatch'
wanted "$faulty" '^CHECK:CAMELCASE: Avoid CamelCase: <mixedCase>'
# What checkpatch leaves is not among the files that the next run reads
wanted "$(git -C "$tree" status --short --ignored)" '^!! .checkpatch-camelcase[.]'
wanted "$faulty" '^FAIL  shellcheck'
wanted "$faulty" 'SC2086'
wanted "$faulty" '^FAIL  manuals'
wanted "$faulty" 'ibats.8:10:.*unknown macro'
wanted "$faulty" '^FAIL  documents'
wanted "$faulty" '^no such section$'
wanted "$faulty" '^FAIL  quoted files'
wanted "$faulty" '^tests/cases/daemons-any.sh:3: differs from Documentation/conventions.rst'
wanted "$faulty" '^FAIL  netlink specifications'
wanted "$faulty" 'IB_ATS_KIND_GID: 1 in the specification, not in the header'
wanted "$faulty" 'IB_ATS_KIND_NODE: not in the specification, 1 in the header'
wanted "$faulty" 'IB_ATS_GENL_RECORDS: "records" in the specification, "record" in'
wanted "$faulty" '^nobody: referred to'
wanted "$faulty" '^FAIL  licence lines'
wanted "$faulty" '^tests/bad.sh: no SPDX'
wanted "$faulty" '^FAIL  at most 900 lines'
wanted "$faulty" '^long.h: 901 lines'
wanted "$faulty" '^FAIL  no conditional compilation'
wanted "$faulty" '^ib_ipoib.c:[0-9]*:#if 1'
wanted "$faulty" '^FAIL  cache lines'
wanted "$faulty" '^layout.first is at .*, and belongs into cache line 1$'
wanted "$faulty" '^status 2$'
