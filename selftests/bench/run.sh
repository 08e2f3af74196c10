#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Instructions a packet, of this module and of what else does its work, all in one
# VM in which an instruction takes a nanosecond. Table on stdout; as JSON, and the
# figures that it was made from, in selftests/bench/out/.
#
# usage: run.sh [--quick] [--kernel K] [PATTERN...]
#
#   --quick     one repetition of half as many packets
#   --kernel K  as of vm/run.sh
#   PATTERN     only cases that match one of these regular expressions, and those
#               that they are compared with: the generator and forwarding
#   --list      cases

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

usage()
{
	sed -n '/^# usage/,/^$/s/^# \{0,1\}//p' "$0"
}

die()
{
	echo "bench: $*" >&2
	exit 1
}

kernel=6.12 guest=(--packets 4000 --repeat 3) patterns=()
while (($#)); do
	case $1 in
	--quick)	guest=(--packets 2000 --repeat 1) ;;
	--kernel)	kernel=${2:?}; shift ;;
	--list)		grep -v '^#' "$here/cases" | awk NF; exit 0 ;;
	-h|--help)	usage; exit 0 ;;
	-*)		usage >&2; exit 1 ;;
	*)		patterns+=("$1") ;;
	esac
	shift
done

# wanted NAME: is it asked for?
wanted()
{
	local pattern

	((${#patterns[@]})) || return 0
	for pattern in "${patterns[@]}"; do
		[[ ! $1 =~ $pattern ]] || return 0
	done
	return 1
}

# What is needed to make sense of the others comes along.
cases=() families=
while read -r name contender family rest; do
	[[ $name && $name != \#* ]] || continue
	wanted "$name" || continue
	cases+=("$name $contender $family $rest")
	families+=$family
done < "$here/cases"
((${#cases[@]})) || die "no case matches"
for family in 6 4; do
	[[ $families == *$family* ]] || continue
	for base in "forward-v$family" "none-v$family"; do
		wanted "$base" || cases=("$(grep -E "^${base}[[:blank:]]" "$here/cases" |
			tr -s '\t' ' ')" "${cases[@]}")
	done
done

out=$here/out
mkdir -p "$out"
make -s -C "$top/userspace" > "$out/tool.log" 2>&1 || { cat "$out/tool.log"; die "no tool"; }

status=0
"$top/selftests/vm/run.sh" --kernel "$kernel" --icount --timeout 7200 -- \
	"$here/guest.sh" "${guest[@]}" "${cases[@]}" | tee "$out/raw" |
	grep --line-buffered -v '^result ' >&2 || :
status=${PIPESTATUS[0]}
"$here/report.py" --json "$out/bench.json" "$here/cases" "$out/raw" || status=1
exit "$status"
