#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the tests and prints one TAP stream, the last line of which is
# "N passed, N failed".
#
# Groups: unit (pure code, sanitizers), cli (the tool, no kernel), and for each
# kernel the scripts net/*.sh, in VMs. The kernel "debug" is not among them unless
# it is asked for; it is built if need be.
#
# usage: run.sh [--kernel K]... [--jobs N] [--long] [--check] [--record] [PATTERN...]
#
#   --jobs N    so many CPUs to keep busy; default: those that there are
#   --long      everything as often as it takes, and the scripts marked "# long"
#   --check     also the linters and static checkers
#   --record    write how long each took to selftests/durations
#
# A pattern is part of "unit", "cli" or a script's name; without one all run.
#
# All is one queue of runs: a group of the host, or some scripts of a kernel in a VM
# of their own. The scripts are divided into VMs of about equal length, by what they
# took when last recorded, and what takes longest begins first. Results of a run
# appear when it is over.
#
# Lines near the top of a script say what its VM must have: "# cpus: N", if CPUs are
# to race, "# cmdline: WORDS" for the kernel. With "# kernels: one" its subject is the
# same on each: it runs on one of those there are, unless --long or a pattern asks for
# all. Beside others the kernel "debug" has the scripts with "# kernels: debug".

set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/.." && pwd)
# shellcheck source=kernels.sh
. "$here/kernels.sh"

kernels=() patterns=() jobs=${CHS_JOBS:-$(nproc)} long='' check='' record=''
while (($#)); do
	case $1 in
	--kernel)	kernels+=("${2:?}"); shift ;;
	--jobs)		jobs=${2:?}; shift ;;
	--long)		long=y ;;
	--check)	check=y ;;
	--record)	record=y ;;
	-h|--help)	sed -n '3,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
	-*)		echo "run.sh: unknown option $1" >&2; exit 1 ;;
	*)		patterns+=("$1") ;;
	esac
	shift
done
((${#kernels[@]})) || mapfile -t kernels < <(chs_kernels_here)
[[ ! $long ]] || export CHS_TEST_LONG=1

wanted()
{
	local pattern

	((${#patterns[@]})) || return 0
	for pattern in "${patterns[@]}"; do
		[[ $1 == *$pattern* ]] && return 0
	done
	return 1
}

# Results ----------------------------------------------------------------------

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

# collect GROUP: reads the output of a run; those of its scripts that came to their
# end are in done_scripts then.
collect()
{
	local line plan='' count=0 script seconds

	while IFS= read -r line; do
		line=${line%$'\r'}
		case $line in
		"ok"|"ok "*|"not ok"|"not ok "*)
			count=$((count + 1))
			result "$line" "$1" ;;
		1..*)	plan=${line#1..} plan=${plan%% *} ;;
		"TAP version"*|"KTAP version"*) ;;
		"# done "*)
			read -r script seconds _ <<< "${line#\# done }"
			done_scripts+=" $script "
			took["$1 $script"]=${seconds:-1} ;;
		"#"*)	echo "$line" ;;
		*)	echo "# $line" ;;
		esac
	done
	if [[ $plan && $plan != "$count" ]]; then
		result "not ok - $count results for a plan of $plan" "$1"
	fi
}

# Durations --------------------------------------------------------------------

# "KERNEL SCRIPT" or "host GROUP" -> seconds, as recorded and in this run
declare -A recorded=() took=()
durations=$here/durations

durations_read()
{
	local kernel name seconds

	while read -r kernel name seconds; do
		[[ $kernel == "#"* ]] || recorded["$kernel $name"]=$seconds
	done < "$durations"
}

# duration KERNEL NAME: of what is not in the list, that of the same on another
# kernel, or of any.
duration()
{
	local kernel seconds=${recorded["$1 $2"]:-}

	for kernel in "${CHS_KERNELS[@]}"; do
		seconds=${seconds:-${recorded["$kernel $2"]:-}}
	done
	echo "${seconds:-20}"
}

# What was not run, but is still there, keeps its figure.
durations_write()
{
	local key

	for key in "${!recorded[@]}"; do
		[[ $key == host* || -x $here/${key#* } ]] || unset "recorded[$key]"
	done
	for key in "${!took[@]}"; do
		recorded["$key"]=${took["$key"]}
	done
	{
		echo "# SPDX-License-Identifier: GPL-2.0-only"
		echo "# What takes how many seconds; run.sh --record writes it."
		for key in "${!recorded[@]}"; do
			echo "$key ${recorded["$key"]}"
		done | LC_ALL=C sort -V
	} > "$durations.new" && mv "$durations.new" "$durations"
}

# The queue --------------------------------------------------------------------

# Runs, by number: what to call and how long that may take, what it is to be called,
# its kernel ("host" for none), CPUs, words for the kernel, scripts, and how often it
# was begun.
run_cost=() run_kernel=() run_name=() run_cpus=() run_words=() run_scripts=() run_tries=()
run_began=() waiting=()
declare -A run_of=()	# process -> run

# add COST KERNEL NAME [CPUS WORDS SCRIPTS]
add()
{
	local run=${#run_cost[@]}

	run_cost+=("$1") run_kernel+=("$2") run_name+=("$3")
	run_cpus+=("${4:-1}") run_words+=("${5:-}") run_scripts+=("${6:-}")
	run_tries+=(0)
	waiting+=("$run")
}

# says SCRIPT KEY: what follows "# KEY: " near the top
says()
{
	sed -n "1,40s/^# $2: //p" "$here/$1"
}

# The length of a VM's scripts: its start takes some ten seconds, and at the end of
# all one CPU may have nothing to do for half of it.
vm_length=300

# on_kernel SCRIPT KERNEL: those of one kernel take turns, in the order of their names.
on_kernel()
{
	local words

	[[ ! $long ]] && ((!${#patterns[@]} && ${#kernels[@]} > 1)) || return 0
	words=" $(says "$1" kernels) "
	if [[ $2 == debug ]]; then
		[[ $words == *" debug "* ]]
	elif [[ $words == *" one "* ]]; then
		[[ ${turns[$1]} == "$2" ]]
	fi
}

# divide KERNEL: its runs. Each script, longest first, goes where least is yet. On
# the kernel "debug" all have one CPU: it preempts anywhere.
divide()
{
	local kernel=$1 kind script cost parts best i
	local -A kinds=() total=()

	for script in "${scripts[@]}"; do
		on_kernel "$script" "$kernel" || continue
		kind=$(says "$script" cpus)
		[[ $kind && $kernel != debug ]] || kind=1
		kind+=" $(says "$script" cmdline)"
		cost=$(duration "$kernel" "$script")
		kinds[$kind]+="$cost $script"$'\n'
		total[$kind]=$((${total[$kind]:-0} + cost))
	done
	for kind in "${!kinds[@]}"; do
		parts=$(((total[$kind] + vm_length - 1) / vm_length))
		local costs=() names=()
		while read -r cost script; do
			best=0
			for ((i = 1; i < parts; i++)); do
				((${costs[i]:-0} >= ${costs[best]:-0})) || best=$i
			done
			costs[best]=$((${costs[best]:-0} + cost))
			names[best]+=" $script"
		done < <(sort -rn <<< "${kinds[$kind]%$'\n'}")
		for i in "${!costs[@]}"; do
			add "${costs[i]}" "$kernel" "$kernel" "${kind%% *}" "${kind#* }" \
				"${names[i]}"
		done
	done
}

work=$(mktemp -d)
ending()
{
	local pid

	for pid in "${!run_of[@]}"; do
		kill "$pid" 2> /dev/null
	done
	rm -rf "$work"
}
trap ending EXIT
trap 'echo "Bail out! ended by a signal"; exit 130' INT TERM HUP

# begin RUN
begin()
{
	local run=$1 kernel=${run_kernel[$1]} limit=${CHS_VM_TIMEOUT:-3000} command

	if [[ $kernel == host ]]; then
		case ${run_name[run]} in
		check)	command=("$here/check.sh" --tap) ;;
		debug)	command=(env CHS_JOBS="${run_cpus[run]}" "$here/vm/debug.sh") ;;
		*)	command=(make --no-print-directory -C "$here/${run_name[run]}"
				"-j${CHS_JOBS:-2}" check) ;;
		esac
	else
		[[ $kernel != debug ]] || limit=$((limit * CHS_DEBUG_SLOW))
		echo "# $kernel:${run_scripts[run]}"
		# shellcheck disable=SC2206 # several words
		command=("$here/vm/run.sh" --kernel "$kernel" --cpus "${run_cpus[run]}"
			${run_words[run]:+--append "${run_words[run]}"} --timeout "$limit"
			-- "$here/vm/suite.sh" ${run_scripts[run]})
	fi
	run_tries[run]=$((run_tries[run] + 1))
	run_began[run]=$SECONDS
	"${command[@]}" < /dev/null > "$work/$run" 2>&1 &
	run_of[$!]=$run
	free=$((free - run_cpus[run]))
}

# Whether a run need not wait for the kernel "debug".
ready()
{
	[[ ${run_kernel[$1]} != debug || ! $building ]]
}

# begin_some: while a CPU is free. A run that wants two may begin on one: so none
# waits for another to end.
begin_some()
{
	local run left=()

	for run in "${waiting[@]}"; do
		if ((free > 0)) && ready "$run"; then
			begin "$run"
		else
			left+=("$run")
		fi
	done
	waiting=("${left[@]}")
}

# over_host RUN STATUS
over_host()
{
	local run=$1 status=$2 name=${run_name[$1]} first=$number before=$failed

	if [[ $name == debug ]]; then
		building=
		sed 's/^/# /' "$work/$run"
		((status == 0)) || result "not ok - the kernel is built" debug
	else
		collect "$name" < "$work/$run"
		# What a group counted as failed is known; a group that stopped is not.
		if ((number == first)); then
			result "not ok - no results" "$name"
		elif ((status && failed == before)); then
			result "not ok - exit status $status" "$name"
		fi
	fi
	took["host $name"]=$((SECONDS - run_began[run]))
}

# over_vm RUN STATUS: what a VM did not come to because the emulator failed, another
# one does.
over_vm()
{
	local run=$1 status=$2 kernel=${run_kernel[$1]} before=$failed
	local script rest='' done_scripts=''

	collect "$kernel" < "$work/$run"
	for script in ${run_scripts[run]}; do
		[[ $done_scripts == *" $script "* ]] || rest+=" $script"
	done
	if [[ $rest ]] && ((status == CHS_VM_NO_CPU && run_tries[run] < 3)); then
		echo "# $kernel: in another VM:$rest"
		run_scripts[run]=$rest
		waiting=("$run" "${waiting[@]}")
		return
	fi
	for script in $rest; do
		result "not ok - $script: the VM did not finish it" "$kernel"
	done
	if ((status && failed == before)); then
		result "not ok - exit status $status of the VM" "$kernel"
	fi
}

# All runs, longest first, until they are over.
work_off()
{
	local pid run status

	mapfile -t waiting < <(for run in "${waiting[@]}"; do
		echo "${run_cost[run]} $run"
	done | sort -k 1,1rn -k 2,2n | sed 's/.* //')
	free=$jobs
	begin_some
	while ((${#run_of[@]})); do
		status=0
		wait -n -p pid "${!run_of[@]}" || status=$?
		run=${run_of[$pid]}
		unset "run_of[$pid]"
		free=$((free + run_cpus[run]))
		if [[ ${run_kernel[run]} == host ]]; then
			over_host "$run" "$status"
		else
			over_vm "$run" "$status"
		fi
		begin_some
	done
}

# ------------------------------------------------------------------------------

echo "TAP version 14"
[[ " ${kernels[*]} " != *" newest "* ]] || chs_kernel_moved | sed 's/^/# /'
durations_read
building=

for group in unit cli; do
	! wanted "$group" || add "$(duration host "$group")" host "$group"
done
[[ ! $check ]] || add "$(duration host check)" host check

declare -A turns=()	# script -> its only kernel
take_turns()
{
	local script kernel ordinary=()

	for kernel in "${kernels[@]}"; do
		[[ $kernel == debug ]] || ordinary+=("$kernel")
	done
	((${#ordinary[@]})) || return 0
	for script in "${scripts[@]}"; do
		[[ " $(says "$script" kernels) " != *" one "* ]] ||
			turns[$script]=${ordinary[${#turns[@]} % ${#ordinary[@]}]:-}
	done
}

# added: beyond what runs without --long
added()
{
	local script every=() marked=()

	for script in "${scripts[@]}"; do
		[[ ! ${turns[$script]:-} ]] || every+=("${script#net/}")
		! is_long "$script" || marked+=("${script#net/}")
	done
	echo "--long adds: both families where one of them is enough, more rounds and flows"
	((!${#every[@]})) || echo "on every kernel: ${every[*]}"
	((!${#marked[@]})) || echo "scripts: ${marked[*]}"
}

is_long()
{
	[[ $(sed -n '1,40{/^# long$/p}' "$here/$1") ]]
}

scripts=()
for script in "$here"/net/*.sh; do
	script=net/${script##*/}
	if ! [[ -x $here/$script ]] || ! wanted "$script" ||
	   { [[ ! $long ]] && is_long "$script"; }; then
		continue
	fi
	scripts+=("$script")
done
if ((${#scripts[@]})); then
	# What waits for it is as urgent as it is itself.
	if [[ " ${kernels[*]} " == *" debug "* ]] && ! chs_kernel_find debug; then
		building=y
		add 9999 host debug $((${#kernels[@]} > 1 ? 1 : jobs))
	fi
	if make --no-print-directory -C "$top/userspace" > "$work/tool" 2>&1; then
		take_turns
		[[ ! $long ]] || added | fold -s -w 84 | sed 's/^/# /'
		for kernel in "${kernels[@]}"; do
			divide "$kernel"
		done
	else
		sed 's/^/# /' "$work/tool"
		result "not ok - the tool builds" tool
	fi
fi
work_off
[[ ! $record ]] || durations_write

echo "1..$number"
echo "# took $SECONDS s"
((skipped)) && echo "# $skipped skipped"
if ((number == 0)); then
	echo "# nothing matches"
	failed=1
fi
echo "$passed passed, $failed failed"
((failed == 0))
