#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the tests and prints one TAP stream, the last line of which is
# "N passed, N failed".
#
# Groups: unit (pure code, sanitizers), cli (the tool, no kernel), and for each
# kernel the scripts net/*.sh, in a VM. The kernel "debug" is not among them unless
# it is asked for; it is built if need be.
#
# usage: run.sh [--kernel K]... [--jobs N] [PATTERN...]
#
# A pattern is part of "unit", "cli" or a script's name; without one all run.

set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/.." && pwd)
# shellcheck source=kernels.sh
. "$here/kernels.sh"

kernels=() patterns=() jobs=${CHS_JOBS:-3}
while (($#)); do
	case $1 in
	--kernel)	kernels+=("${2:?}"); shift ;;
	--jobs)		jobs=${2:?}; shift ;;
	-h|--help)	sed -n '3,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
	-*)		echo "run.sh: unknown option $1" >&2; exit 1 ;;
	*)		patterns+=("$1") ;;
	esac
	shift
done
((${#kernels[@]})) || kernels=("${CHS_KERNELS[@]}")

wanted()
{
	local pattern

	((${#patterns[@]})) || return 0
	for pattern in "${patterns[@]}"; do
		[[ $1 == *$pattern* ]] && return 0
	done
	return 1
}

passed=0 failed=0 skipped=0 number=0

# result LINE GROUP: one result of a group, counted and numbered anew.
result()
{
	[[ $1 =~ ^(not\ )?ok(\ [0-9]+)?(\ -)?\ ?(.*)$ ]]
	local bad=${BASH_REMATCH[1]} text=${BASH_REMATCH[4]}

	number=$((number + 1))
	if [[ $text =~ \#\ *[Ss][Kk][Ii][Pp] ]]; then
		if [[ ${CHS_EXPECT_ALL:-0} == 1 ]]; then
			bad='not ' text=${text/\# SKIP/(skipped)}
		elif [[ -z $bad ]]; then
			skipped=$((skipped + 1))
			echo "ok $number - $2: $text"
			return
		fi
	fi
	if [[ $bad ]]; then
		failed=$((failed + 1))
	else
		passed=$((passed + 1))
	fi
	echo "${bad}ok $number - $2: $text"
}

# collect GROUP: reads the output of a group.
collect()
{
	local line plan='' count=0

	while IFS= read -r line; do
		line=${line%$'\r'}
		case $line in
		"ok"|"ok "*|"not ok"|"not ok "*)
			count=$((count + 1))
			result "$line" "$1" ;;
		1..*)	plan=${line#1..} plan=${plan%% *} ;;
		"TAP version"*|"KTAP version"*) ;;
		"# done "*) done_scripts+=" ${line#\# done } " ;;
		"#"*)	echo "$line" ;;
		*)	echo "# $line" ;;
		esac
	done
	if [[ $plan && $plan != "$count" ]]; then
		result "not ok - $count results for a plan of $plan" "$1"
	fi
}

work=$(mktemp -d)
vms=() building=
ending()
{
	local pid

	for pid in "${vms[@]}" $building; do
		kill "$pid" 2> /dev/null
	done
	rm -rf "$work"
}
trap ending EXIT
trap 'echo "Bail out! ended by a signal"; exit 130' INT TERM HUP

# host GROUP COMMAND...: a group that runs here.
host()
{
	local group=$1 first=$number status

	shift
	collect "$group" < <("$@" 2>&1; echo $? > "$work/status")
	# What a group counted as failed is known; a group that stopped is not.
	read -r status < "$work/status"
	if ((number == first)); then
		result "not ok - no results" "$group"
	elif ((status)) && ((failed == before)); then
		result "not ok - exit status $status" "$group"
	fi
	before=$failed
}

# vm RUN: to files, for several may be under way. A run is a kernel, one of the
# parts into which its scripts are divided, and the number of CPUs.
vm()
{
	local run=$1 kernel=${1%%:*} cpus=${1##*:} limit=${CHS_VM_TIMEOUT:-3000}

	if [[ $kernel == debug || $kernel == *-debug ]]; then
		limit=$((limit * CHS_DEBUG_SLOW))
		if [[ $building ]]; then
			wait "$building"
			building=
			sed 's/^/# /' "$work/debug"
		fi
	fi
	# shellcheck disable=SC2086 # several words
	"$here/vm/run.sh" --kernel "$kernel" --cpus "$cpus" --timeout "$limit" -- \
		"$here/vm/suite.sh" ${scripts_of[$run]} < /dev/null > "$work/vm-$run" 2>&1 &
	vms+=($!)
	pid_of[$run]=$!
}

vm_collect()
{
	local run=$1 kernel=${1%%:*} attempt status script left done_scripts=''

	for attempt in 1 2 3; do
		# Follows the file until its writer is gone, so that one can watch.
		collect "$kernel" < <(tail -n +1 -s 0.2 -f --pid="${pid_of[$run]}" \
			"$work/vm-$run")
		wait "${pid_of[$run]}"
		status=$?
		left=
		for script in ${scripts_of[$run]}; do
			[[ $done_scripts == *" $script "* ]] || left+=" $script"
		done
		if ((status != CHS_VM_NO_CPU || attempt == 3)) || [[ ! $left ]]; then
			break
		fi
		echo "# $kernel: in another VM:$left"
		scripts_of[$run]=$left
		vm "$run"
	done
	for script in $left; do
		result "not ok - $script: the VM did not finish it" "$kernel"
	done
	if ((status)) && ((failed == before)); then
		result "not ok - exit status $status of the VM" "$kernel"
	fi
	before=$failed
}

# cpus_of SCRIPT: one, unless it says "# cpus: N" near its top: such a script lets
# CPUs race.
cpus_of()
{
	local n

	n=$(sed -n '1,40s/^# cpus: \([0-9]*\)$/\1/p' "$here/$1")
	echo "${n:-1}"
}

# divide KERNEL: its runs. The slow kernel has several, of VMs with one CPU each, for
# it preempts anywhere.
divide()
{
	local kernel=$1 parts=1 i cpus

	[[ $kernel != debug ]] || parts=3
	for ((i = 0; i < ${#scripts[@]}; i++)); do
		cpus=1
		[[ $kernel == debug ]] || cpus=$(cpus_of "${scripts[i]}")
		run=$kernel:$((i % parts)):$cpus
		[[ ${scripts_of[$run]:-} ]] || runs+=("$run")
		scripts_of[$run]+=" ${scripts[i]}"
	done
}

echo "TAP version 14"
before=0
began=$SECONDS

scripts=()
for script in "$here"/net/*.sh; do
	[[ -x $script ]] && wanted "net/${script##*/}" && scripts+=("net/${script##*/}")
done
# The kernel "debug" may take its time while there is something else to do.
if ((${#scripts[@]})) && [[ " ${kernels[*]} " == *" debug "* ]]; then
	nice -n 19 "$here/vm/debug.sh" > "$work/debug" 2>&1 &
	building=$!
fi

for group in unit cli; do
	if wanted "$group"; then
		host "$group" make --no-print-directory -C "$here/$group" check
	fi
done

if ((${#scripts[@]})); then
	if make --no-print-directory -C "$top/userspace" > "$work/tool" 2>&1; then
		declare -A pid_of=() scripts_of=()
		runs=()
		for kernel in "${kernels[@]}"; do
			divide "$kernel"
		done
		for ((i = 0; i < ${#runs[@]}; i++)); do
			for ((j = i; j < ${#runs[@]} && j < i + jobs; j++)); do
				[[ ! ${scripts_of[${runs[j]}]:-} || ${pid_of[${runs[j]}]:-} ]] ||
					vm "${runs[j]}"
			done
			[[ ! ${pid_of[${runs[i]}]:-} ]] || vm_collect "${runs[i]}"
		done
	else
		sed 's/^/# /' "$work/tool"
		result "not ok - the tool builds" tool
	fi
fi

echo "1..$number"
echo "# took $((SECONDS - began)) s"
((skipped)) && echo "# $skipped skipped"
if ((number == 0)); then
	echo "# nothing matches"
	failed=1
fi
echo "$passed passed, $failed failed"
((failed == 0))
