#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Copies the sources to a new folder, because building packages writes beside the sources.
# Usage: copy.sh FOLDER

set -euo pipefail

mkdir -p "$1"
tar -C "$(dirname "$0")/.." --exclude-vcs --exclude=./build -c . | tar -C "$1" -x
