#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Prints a directory with those parts of the kernel's source that generate and
# check code and are in no other package; unpacks them first, once a version.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=kernels.sh
. "$here/kernels.sh"

archive=/usr/src/linux-source-6.12.tar.xz
if [[ ! -e $archive ]]; then
	echo "ksrc.sh: $archive is not there; try make deps" >&2
	exit 1
fi
version=$(dpkg-query -W -f '${Version}' linux-source-6.12)
dir=$CHS_CACHE/ksrc-$version
if [[ ! -e $dir/.complete ]]; then
	rm -rf "$dir"
	mkdir -p "$dir"
	tar -xJf "$archive" -C "$dir" --strip-components=1 \
		linux-source-6.12/tools/net/ynl \
		linux-source-6.12/Documentation/netlink \
		linux-source-6.12/scripts/checkpatch.pl \
		linux-source-6.12/scripts/spelling.txt \
		linux-source-6.12/scripts/const_structs.checkpatch \
		linux-source-6.12/scripts/kernel-doc
	touch "$dir/.complete"
fi
echo "$dir"
