#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Copies the sources to a new folder, because building packages writes beside the sources. In a clone
# of the repository, these are its files, and nothing else that lies there.
# Usage: copy.sh FOLDER

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
if [ -e "$top/.git" ]; then
	git -c safe.directory='*' -C "$top" ls-files -z | tar -C "$top" --null --files-from - -c
else
	tar -C "$top" --exclude=./build -c .
fi | tar -C "$1" -x
