#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In a VM: runs test scripts one after the other, each in its own time limit,
# and looks at the kernel after each. Results carry the script's name. A line
# "# done SCRIPT SECONDS s" follows each, by which the host knows what a VM that died
# had not come to, and how long each takes.
#
# usage: suite.sh SCRIPT...	paths relative to selftests/

set -u

tests=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=kmsg.sh
. "$tests/vm/kmsg.sh"
# shellcheck source=../module.sh
. "$tests/module.sh"

# Seconds, unless the script says "# chs-timeout: N" near its top; CHS_SLOW times
# as long.
limit_default=600

# Leaks, where the kernel looks for them --------------------------------------
#
# What one scan finds for the first time the next one reports, if it is older than
# five seconds by then. So there is one scan after each script, and what it
# reports is of the scripts before; leaks.py tells which by the times.

kmemleak=/sys/kernel/debug/kmemleak
lockdep=/proc/lockdep_stats

leaks_begin()
{
	[[ -e $kmemleak ]] || kmemleak=
	[[ $kmemleak ]] || return
	marks=$(mktemp)
	CHS_LOADS=$(mktemp)
	export CHS_LOADS
}

# leaks_mark SCRIPT: it begins.
leaks_mark()
{
	[[ $kmemleak ]] || return
	echo "$(sed -n '/^ *jiffies:/{s/.*: *//p;q}' /proc/timer_list) $1" >> "$marks"
}

leaks_scan()
{
	[[ $kmemleak ]] || return
	dmesg -C
	if ! echo scan > "$kmemleak"; then
		echo "not ok - ${1:+$1: }kmemleak is at work"
		kmemleak=
	elif dmesg | grep -q 'kmemleak: .* new suspected'; then
		"$tests/vm/leaks.py" "$marks" "$CHS_LOADS" "$CHS_KO" < "$kmemleak" 2>&1 ||
			echo "not ok - ${1:+$1: }leaks can be read"
		echo clear > "$kmemleak"
		dmesg -C
	fi
}

# The last script's may be too young yet.
leaks_end()
{
	[[ $kmemleak ]] || return
	read -r -t 6 <> <(:)
	leaks_scan
	rm -f "$marks" "$CHS_LOADS"
}

# After its first report lockdep is off, and so it is when it runs out of space.
lockdep_end()
{
	if [[ -e $lockdep ]] && ! grep -q '^ *debug_locks: *1$' "$lockdep"; then
		echo "not ok - locks are watched to the end"
	fi
}

# Scripts ----------------------------------------------------------------------

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
	local script=$1 began=$SECONDS limit status count failed plan out relay group

	limit=$(sed -n '1,40s/^# chs-timeout: \([0-9]*\)$/\1/p' "$tests/$script")
	limit=$((${limit:-$limit_default} * ${CHS_SLOW:-1}))
	leaks_mark "$script"
	exec {out}> >(relay "$script")
	relay=$!
	timeout -k 20 "$limit" "$tests/$script" < /dev/null \
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
		echo "not ok - $script: ends within $limit s"
	elif ((status != 0 && status != 4 && failed == 0)); then
		echo "not ok - $script: exit status $status"
	elif [[ $plan != "$count" ]]; then
		echo "not ok - $script: $count results for a plan of $plan"
	elif ((count == 0)); then
		echo "not ok - $script: no results"
	fi
	if chs_loaded; then
		echo "not ok - $script: leaves no module behind"
		chs_unload
	fi
	kmsg_check || echo "not ok - $script: kernel log and taint are clean afterwards"
	leaks_scan "$script"
	echo "# done $script $((SECONDS - began)) s"
}

state=$(mktemp)
# What one script did to the kernel is not held against the next.
export KMSG_TAINT_SEEN=0
leaks_begin
for script in "$@"; do
	one "$script"
done
leaks_end
lockdep_end
rm -f "$state"
exit 0
