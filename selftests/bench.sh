#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# All measurements; tables on stdout.
#
# usage: bench.sh [ARGUMENT...]	with arguments only the packet path: see bench/run.sh

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)

if ! (($#)); then
	echo "== the ring: build and look-up, in userspace"
	make --no-print-directory -C "$here/unit" bench
	echo
	echo "== the packet path, in a VM"
fi
"$here/bench/run.sh" "$@"
