#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Generates the code that kmod/chsteer.yaml describes. With --check nothing is
# written; fails if what is in the tree differs from what would be generated.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/.." && pwd)
src=$("$here/ksrc.sh")

# The generator takes the names that it writes into the files from where the
# specification lies in a kernel tree, the root of which it knows by MAINTAINERS,
# and searches for that for ever.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/Documentation/netlink/specs"
touch "$tree/MAINTAINERS"
cp "$src"/Documentation/netlink/*.yaml "$tree/Documentation/netlink/"
cp "$top/kmod/chsteer.yaml" "$tree/Documentation/netlink/specs/"

generate()
{
	# The name of the output gets into it, too.
	local out=$tree/${3##*/}

	timeout 120 python3 "$src/tools/net/ynl/ynl-gen-c.py" --mode "$1" "--$2" \
		--spec "$tree/Documentation/netlink/specs/chsteer.yaml" -o "$out"
	if [[ $check ]]; then
		diff -u "$top/$3" "$out" || status=1
	elif ! cmp -s "$top/$3" "$out"; then
		# Only what changed: a new time stamp rebuilds the module.
		cp "$out" "$top/$3"
		echo "  YNL     $3"
	fi
}

check=
[[ ${1:-} == --check ]] && check=y
status=0
generate kernel source kmod/netlink_gen.c
generate kernel header kmod/netlink_gen.h
generate uapi header kmod/uapi/linux/chsteer.h
exit $status
