#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Builds the documents and manual pages of TREE into FOLDER/html and FOLDER/man. Whatever is wrong
# with them is printed: warnings of Sphinx, references and links that lead nowhere, and differences
# from the sources. The exit status is then 1.
# Usage: docs.sh [FOLDER [TREE]]; default: build/docs, and the tree of this script

. "$(dirname "$0")/qemu/common.sh"

out=${1:-$top/build/docs}
tree=${2:-$top}
status=0

# sphinx BUILDER: a reference that leads nowhere is a warning (-n), and a warning an error (-W).
sphinx()
{
	sphinx-build -q -W -n --keep-going -d "$out/doctrees" -b "$1" "$tree/Documentation" "$out/$1"
}

# pages: prints the names of the manual pages' sources.
pages()
{
	find "$tree/man" "$tree/tools" -name '*.[48]' | sort
}

# manual_page FILE: as HTML, for the links in the documents, and as it is installed.
manual_page()
{
	mandoc -T html -O man=%N.%S.html "$1" >"$out/html/man/$(basename "$1").html" &&
		cp "$1" "$out/man/"
}

"$qemu_dir/deps.sh" docs
rm -rf "$out"
{ sphinx html && sphinx man; } 2>&1 || status=1
mkdir -p "$out/html/man" "$out/man"
[ "$(pages | wc -l)" -ge 4 ] || { echo "no manual pages in $tree" && status=1; }
while read -r page; do
	manual_page "$page" || status=1
done < <(pages)
"$top/tests/documented.py" "$tree" || status=1
exit "$status"
