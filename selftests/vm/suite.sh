#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In a VM: runs test scripts one after the other, each in its own time limit,
# and looks at the kernel after each. Results carry the script's name. A line
# "# done SCRIPT" follows each, by which the host knows what a VM that died had
# not come to.
#
# usage: suite.sh SCRIPT...	paths relative to selftests/

set -u

tests=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=kmsg.sh
. "$tests/vm/kmsg.sh"
# shellcheck source=../module.sh
. "$tests/module.sh"

# Seconds, unless the script says "# chs-timeout: N" near its top.
limit_default=600

# Names each result, counts them, and passes on the rest as diagnostics.
relay()
{
	local script=$1 line count=0 failed=0 plan=none

	while IFS= read -r line; do
		case $line in
		"ok "*|"not ok "*)
			count=$((count + 1))
			[[ $line == not* ]] && failed=$((failed + 1))
			[[ $line =~ ^(not\ )?ok\ [0-9]*\ *(-\ )?(.*)$ ]]
			echo "${BASH_REMATCH[1]}ok - $script: ${BASH_REMATCH[3]}"
			;;
		1..*)	plan=${line#1..} plan=${plan%% *} ;;
		"KTAP version"*|"TAP version"*) ;;
		"#"*)	echo "$line" ;;
		*)	echo "# $line" ;;
		esac
	done
	echo "$count $failed $plan" > "$state"
}

one()
{
	local script=$1 limit status count failed plan out relay group

	limit=$(sed -n '1,40s/^# chs-timeout: \([0-9]*\)$/\1/p' "$tests/$script")
	exec {out}> >(relay "$script")
	relay=$!
	timeout -k 20 "${limit:-$limit_default}" "$tests/$script" < /dev/null \
		>&"$out" 2>&1 {out}>&- &
	group=$!
	exec {out}>&-
	wait "$group"
	status=$?
	# Whatever the script forgot must not disturb the next one.
	kill -KILL -- "-$group" 2> /dev/null
	wait "$relay"
	read -r count failed plan < "$state"

	if ((status == 124 || status == 137)); then
		echo "not ok - $script: ends within ${limit:-$limit_default} s"
	elif ((status != 0 && status != 4 && failed == 0)); then
		echo "not ok - $script: exit status $status"
	elif [[ $plan != "$count" ]]; then
		echo "not ok - $script: $count results for a plan of $plan"
	elif ((count == 0)); then
		echo "not ok - $script: no results"
	fi
	if chs_loaded; then
		echo "not ok - $script: leaves no module behind"
		rmmod chsteer
	fi
	kmsg_check || echo "not ok - $script: kernel log and taint are clean afterwards"
	echo "# done $script"
}

state=$(mktemp)
for script in "$@"; do
	one "$script"
done
rm -f "$state"
exit 0
