#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Instructions a packet, of this module and of what else does its work, all in one
# VM in which an instruction takes a nanosecond. Table on stdout; as JSON, and the
# figures that it was made from, in selftests/bench/out/.
#
# usage: run.sh [--quick] [--profile [--lines] [--stores]] [--kernel K] [PATTERN...]
#        run.sh --cpus [--kernel K] [PATTERN...]
#        run.sh --list
#
#   --quick     one repetition of half as many packets
#   --profile   which functions of the kernel the instructions are in
#   --lines     ... and which lines of this module
#   --stores    ... and which memory they write: the task's and its stack, the CPU's
#               own, the packet's, and all other, which CPUs may share, line by line;
#               first in a second in which its flows had no packet, then in the same
#   --cpus      what 1, 2 and 4 CPUs at once do, by the clock of a machine that
#               should have as many: ratios
#   --kernel K  as of vm/run.sh
#   PATTERN     only cases that match one of these regular expressions, and those
#               that they are compared with: the generator and forwarding

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

kernel=6.12 guest=(--packets 4000 --repeat 3) patterns=() profile='' lines='' stores='' cpus=''
while (($#)); do
	case $1 in
	--quick)	guest=(--packets 2000 --repeat 1) ;;
	--profile)	profile=y ;;
	--lines)	lines=y ;;
	--stores)	stores=y ;;
	--cpus)		cpus=y ;;
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

# Those of which something is shared by CPUs, or is said not to be.
if [[ $cpus ]] && ! ((${#patterns[@]})); then
	patterns=('^(none|forward|(ipvs-dr|nft|nat|route-flow)-standing|route-(ring|transition))-v4$')
fi

# What is needed to make sense of the others comes along.
cases=() families='' gro=''
while read -r name contender family rest; do
	[[ $name && $name != \#* ]] || continue
	wanted "$name" || continue
	cases+=("$name $contender $family $rest")
	[[ $rest == control* ]] || families+=$family
	[[ $rest != gro* ]] || gro=y
done < "$here/cases"
((${#cases[@]})) || die "no case matches"
for family in 6 4; do
	[[ $families == *$family* ]] || continue
	for base in {forward,none}{,-gro}"-v$family"; do
		[[ $base != *-gro-* || $gro ]] || continue
		wanted "$base" || cases=("$(grep -E "^${base}[[:blank:]]" "$here/cases" |
			tr -s '\t' ' ')" "${cases[@]}")
	done
done

out=$here/out
mkdir -p "$out"
make -s -C "$top/userspace" > "$out/tool.log" 2>&1 || { cat "$out/tool.log"; die "no tool"; }

for name in mark push spent; do
	gcc -O2 -Wall -o "$out/$name" "$here/$name.c"
done

vm=(--kernel "$kernel" --timeout 7200)
if [[ $cpus ]]; then
	# The best of many short ones: a host has other things to do, too.
	guest+=(--packets 5000 --repeat 10 --threads "1 2 4")
	vm+=(--cpus 4)
else
	vm+=(--icount)
fi
[[ ! $profile || ! $cpus ]] || die "either --profile or --cpus"
if [[ $profile ]]; then
	# Once is enough: it is the same each time.
	guest+=(--repeat 1 --marks)
	[[ ! $stores ]] || guest+=(--repeat 2 --stores)
	vm+=(--plugin "$out/profile.so,out=$out/counts${stores:+,stores=on}")
	gcc -O2 -Wall -shared -fPIC -fvisibility=hidden -o "$out/profile.so" "$here/profile.c"
fi

status=0
# Waits are by the clock of the VM, where work takes what it takes.
"$top/selftests/vm/run.sh" "${vm[@]}" -- "$here/guest.sh" "${guest[@]}" "${cases[@]}" |
	tee "$out/raw" | grep --line-buffered -vE \
		'^(result|scale|control|counted|symbol|section|percpu|data) ' >&2 ||
	status=${PIPESTATUS[0]}
if [[ $profile ]]; then
	ko=$("$top/selftests/vm/build.sh" "$kernel")
	"$here/profile.py" ${lines:+--lines "$ko"} ${stores:+--stores} \
		"$out/raw" "$out/counts" || status=1
else
	json=$out/bench${cpus:+-cpus}.json
	"$here/report.py" --json "$json" "$here/cases" "$out/raw" || status=1
fi
exit "$status"
