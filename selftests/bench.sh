#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# All measurements; tables on stdout.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)

echo "== the ring: build and look-up, in userspace"
make --no-print-directory -C "$here/unit" bench
