#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The results of unit, then one each of the specification's second implementation
# and of a short run of every fuzzer; TAP.
#
# usage: check.sh OUT

set -uo pipefail

cd "$(dirname "$0")" || exit 1
out=${1:?}
number=0 failed=0 status=0

# result STATUS NAME LOG
result()
{
	number=$((number + 1))
	if (($1)); then
		failed=$((failed + 1))
		sed 's/^/# /' "$3"
		echo "not ok $number - $2"
	else
		echo "ok $number - $2"
	fi
}

log=$(mktemp)
trap 'rm -rf "$log" "$log.d"' EXIT

echo "TAP version 13"
# The plan is known at the end.
while IFS= read -r line; do
	case $line in
	"TAP version"*|1..*)	continue ;;
	"ok "*)			number=$((number + 1)) ;;
	"not ok "*)		number=$((number + 1)) failed=$((failed + 1)) ;;
	esac
	printf '%s\n' "$line"
done < <("$out/unit")
# What failed it says itself, but not that it died.
wait $! || status=$?
if ((number == 0 || (status && !failed))); then
	echo "exit status $status" > "$log"
	result 1 "unit: runs to its end" "$log"
fi

${PYTHON:-/usr/bin/python3} ring_model.py --check > "$log" 2>&1
result $? "model: the manual page's text gives every vector" "$log"

# The same inputs each time: what is found here has not been there before.
declare -A runs=([ring]=1000 [packet]=20000)
for target in ring packet; do
	name="fuzz: $target, a short run"
	if [[ ! -x $out/fuzz_$target ]]; then
		number=$((number + 1))
		echo "ok $number - $name # SKIP no clang with libFuzzer"
		continue
	fi
	rm -rf "$log.d"
	mkdir "$log.d"
	"$out/fuzz_$target" -seed=1 -runs="${runs[$target]}" -max_len=512 \
		-artifact_prefix="$out/" "$log.d" "corpus/$target" > "$log" 2>&1
	result $? "$name" "$log"
done

echo "1..$number"
((failed == 0))
