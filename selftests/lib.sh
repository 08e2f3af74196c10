# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the network tests share. A test sources this file, loads the module with
# chs_setup, runs each of its cases with chs_run and ends with chs_done; what it
# made is taken down on every way out. Output is KTAP.
#
# Exit status: 0 passed, 1 failed, 4 skipped.

set -u

# Times as long as usual that things may take, which vm/guest.sh knows of this kernel
# on this machine; and whether fewer flows and rounds must do on this kernel.
CHS_SLOW=${CHS_SLOW:-1}
CHS_FEW=${CHS_FEW:-}
CHS_LIB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=module.sh
. "$CHS_LIB/module.sh"
# shellcheck source=vm/kmsg.sh
. "$CHS_LIB/vm/kmsg.sh"

# Results -------------------------------------------------------------------

CHS_COUNT=0		# results so far
CHS_FAILED=0		# ... of which failed
CHS_SKIPPED=0		# ... of which skipped
CHS_RET=0		# has the running case failed?
CHS_WHY=		# ... or why is it skipped
CHS_ENDED=		# did the script get to chs_done?
CHS_OUT=		# stdout and
CHS_ERR=		# stderr of the last chs_cmd_*
CHS_TMP=$(mktemp -d "${TMPDIR:-/tmp}/chs.XXXXXX")

# An end of its own to wait on; nothing ever arrives.
mkfifo "$CHS_TMP/never"
exec {CHS_NEVER}<> "$CHS_TMP/never"

chs_ms()
{
	# Locale decides between point and comma.
	local us=${EPOCHREALTIME/[.,]/}

	echo $((us / 1000))
}

# The one place where a test waits for time to pass rather than for a thing to
# happen; meant for poll loops and for periods that are themselves under test.
chs_pause()
{
	read -r -t "$1" -u "$CHS_NEVER"
	return 0
}

# chs_amount N [LONG [LEAST]]: so many flows or rounds, of which fewer do: LONG in the
# long test, a tenth on a slow kernel, but no fewer than LEAST.
chs_amount()
{
	local n=$1 least=${3:-1}

	[[ ! ${CHS_TEST_LONG:-} ]] || n=${2:-$1}
	[[ ! $CHS_FEW ]] || ((n = (n + 9) / 10))
	echo $((n > least ? n : least))
}


# chs_fail TEXT...: the running case has failed; it goes on until it returns.
chs_fail()
{
	echo "FAIL ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $*"
	CHS_RET=1
	return 1
}

# chs_skip WHY...: the running case cannot be tried here.
chs_skip()
{
	CHS_WHY=$*
	return 0
}

chs_result()
{
	local word=ok tail=''

	CHS_COUNT=$((CHS_COUNT + 1))
	if [[ $CHS_WHY && ${CHS_EXPECT_ALL:-0} == 1 && $CHS_RET == 0 ]]; then
		echo "# skip is not allowed here: $CHS_WHY"
		CHS_RET=1
	fi
	if ((CHS_RET)); then
		word='not ok'
		CHS_FAILED=$((CHS_FAILED + 1))
	elif [[ $CHS_WHY ]]; then
		tail=" # SKIP $CHS_WHY"
		CHS_SKIPPED=$((CHS_SKIPPED + 1))
	fi
	echo "$word $CHS_COUNT - $1${tail:-${2:+ # time=$2ms}}"
}

# chs_run TITLE FUNCTION [ARGUMENT...]: one case. It runs in this very shell.
# It fails by chs_fail or by returning non-zero.
chs_run()
{
	local title=$1 log=$CHS_TMP/log start

	shift
	CHS_RET=0 CHS_WHY=
	start=$(chs_ms)
	"$@" > "$log" 2>&1 || CHS_RET=1
	if ((CHS_RET)) || [[ ${V:-0} == 1 ]]; then
		sed 's/^/# /' "$log"
	fi
	if [[ -s $CHS_TMP/waits ]]; then
		cat "$CHS_TMP/waits"
		: > "$CHS_TMP/waits"
	fi
	chs_result "$title" $(($(chs_ms) - start))
}

CHS_TURN=0		# of chs_alternate

# chs_alternate TITLE FUNCTION [ARGUMENT...]: a case that runs the same code for both
# families, of which it is told by its argument "F": in one of them, by turns within
# a script, and from kernel to kernel (by their minor numbers; the debug kernel has
# what the one that it is made of has not). In the long test it runs in both.
chs_alternate()
{
	local title=$1 release minor family word words families=(4 6)

	shift
	CHS_TURN=$((CHS_TURN + 1))
	read -r release < /proc/sys/kernel/osrelease
	minor=${release#*.}
	minor=${minor%%[!0-9]*}
	if [[ ! ${CHS_TEST_LONG:-} ]]; then
		families=("${families[(CHS_TURN + minor + ${#CHS_FEW}) & 1]}")
	fi
	for family in "${families[@]}"; do
		words=()
		for word in "$@"; do
			[[ $word == F ]] && word=$family
			words+=("$word")
		done
		chs_run "IPv$family: $title" "${words[@]}"
	done
}

# Commands ------------------------------------------------------------------

chs_cmd()
{
	local status=0

	echo "\$ $*"
	"$@" > "$CHS_TMP/out" 2> "$CHS_TMP/err" || status=$?
	CHS_OUT=$(< "$CHS_TMP/out")
	CHS_ERR=$(< "$CHS_TMP/err")
	[[ $CHS_OUT ]] && echo "$CHS_OUT"
	[[ $CHS_ERR ]] && echo "$CHS_ERR"
	return $status
}

# chs_cmd_ok COMMAND...: must succeed. Leaves its output in CHS_OUT, CHS_ERR.
chs_cmd_ok()
{
	local status=0

	chs_cmd "$@" || status=$?
	((status == 0)) || chs_fail "status $status from: $*"
}

# chs_cmd_fail CODE TEXT COMMAND...: must be refused with status 2, and say on
# stderr the error code (EEXIST, ...) and TEXT.
chs_cmd_fail()
{
	local code=$1 text=$2 status=0

	shift 2
	chs_cmd "$@" || status=$?
	((status == 2)) || { chs_fail "status $status, expected 2, from: $*"; return; }
	[[ $CHS_ERR == *"$code"* ]] || { chs_fail "no $code from: $*"; return; }
	[[ $CHS_ERR == *"$text"* ]] || chs_fail "\"$text\" is not said by: $*"
}

# chs_cmd_usage TEXT COMMAND...: must be refused by the tool itself, status 1.
chs_cmd_usage()
{
	local text=$1 status=0

	shift
	chs_cmd "$@" || status=$?
	((status == 1)) || { chs_fail "status $status, expected 1, from: $*"; return; }
	[[ $CHS_ERR == *"$text"* ]] || chs_fail "\"$text\" is not said by: $*"
}

# chs_expect WHAT ACTUAL EXPECTED
chs_expect()
{
	[[ $2 == "$3" ]] || chs_fail "$1: got \"$2\", expected \"$3\""
}

# chs_expect_range WHAT ACTUAL LOW HIGH: integers
chs_expect_range()
{
	if [[ ! $2 =~ ^-?[0-9]+$ ]] || (($2 < $3 || $2 > $4)); then
		chs_fail "$1: got \"$2\", expected $3 to $4"
	fi
}

# Each start of jq 1.6 compiles its whole library, which takes an emulated machine as
# long as twenty starts of chctl; gojq speaks the same language and starts at once.
if command -v gojq > /dev/null; then
	jq()
	{
		gojq "$@"
	}
fi

# chs_json FILTER [JQ-OPTION...]: from the output of the last chs_cmd_*
chs_json()
{
	jq -r "${@:2}" "$1" <<< "$CHS_OUT"
}

# chs_busywait TIMEOUT_MS COMMAND...: until it succeeds; its last output, or
# failure when time is up, which is CHS_SLOW times as long. If that fails, or takes
# half of its time, it is said.
chs_busywait()
{
	local start limit=$(($1 * CHS_SLOW)) out wait=50 seconds status

	start=$(chs_ms)
	shift
	while :; do
		status=0
		out=$("$@" 2>&1) || status=1
		((status && $(chs_ms) - start < limit)) || break
		# Less and less often: it is programs that are started.
		printf -v seconds '0.%03d' "$wait"
		chs_pause "$seconds"
		((wait < 400)) && ((wait += wait / 2))
	done
	[[ -z $out ]] || echo "$out"
	chs_waited $(($(chs_ms) - start)) "$limit" $status "$*"
	return $status
}

# chs_waited MS LIMIT STATUS FOR: noted if it was long or in vain; chs_run prints it.
chs_waited()
{
	(($1 * 2 >= $2 || $3)) || return 0
	echo "# waited $1 ms of $2 ms$( (($3)) && echo ' in vain') for: $4" >> "$CHS_TMP/waits"
}

# Memory that only the kernel gives back, in KiB. What is free says less: it comes
# and goes by megabytes with caches and lists of pages a CPU.
chs_kernel_memory()
{
	awk '/^(SUnreclaim|VmallocUsed|Percpu):/ { n += $2 } END { print n }' /proc/meminfo
}

# chs_memory_back BEFORE KIB: no more than KIB more is in use than BEFORE. A kernel
# that keeps what is freed for a while, to see who still uses it, looks for leaks by
# itself.
chs_memory_back()
{
	local end=$(($1 + $2))

	[[ -e /sys/kernel/debug/kmemleak ]] || chs_busywait 20000 chs_memory_below "$end" ||
		chs_fail "$1 KiB in use before, $(chs_kernel_memory) after"
}

chs_memory_below()
{
	(($(chs_kernel_memory) < $1))
}

chs_not()
{
	! "$@"
}

# chs_require_cmd PROGRAM...: without them the whole script is skipped.
chs_require_cmd()
{
	local program

	for program in "$@"; do
		command -v "$program" > /dev/null ||
			chs_skip_all "$program is not installed"
	done
}

# chs_require_module NAME...: likewise for modules of the kernel.
chs_require_module()
{
	local name

	for name in "$@"; do
		modprobe -q "$name" || chs_skip_all "the kernel has no $name"
	done
}

chs_skip_all()
{
	CHS_RET=0
	chs_skip "$*"
	chs_result "${0##*/}"
	chs_done
}

# Processes -----------------------------------------------------------------

CHS_PIDS=()

# chs_bg COMMAND...: in the background; CHS_PID is its process id. Its output is
# in $CHS_TMP/PID.log. It is ended with the script.
chs_bg()
{
	local log fd

	# Of a function it would be a shell's process that is known and ended.
	[[ $1 != chs_in ]] ||
		set -- nsenter --net="/run/netns/${CHS_NS[$2]}" -- "${@:3}"
	# Opened here: opened by the process it could be after the move.
	log=$(mktemp "$CHS_TMP/bg.XXXXXX")
	exec {fd}> "$log"
	"$@" < /dev/null >&"$fd" 2>&1 {fd}>&- &
	CHS_PID=$!
	exec {fd}>&-
	mv "$log" "$CHS_TMP/$CHS_PID.log"
	CHS_PIDS+=("$CHS_PID")
}

# chs_kill PID [SIGNAL]: and waits for it.
chs_kill()
{
	kill "-${2:-TERM}" "$1" 2> /dev/null
	wait "$1" 2> /dev/null
	return 0
}

# Namespaces ----------------------------------------------------------------

declare -A CHS_NS=()	# name in the test -> name of the namespace

# Each program that is started costs an emulated machine dearly: what can be one
# batch of ip(8) is one.

# chs_setup_ns NAME...: a namespace each, empty but for lo, which is up.
chs_setup_ns()
{
	local name suffix=$$-$RANDOM

	for name in "$@"; do
		CHS_NS[$name]=$name-$suffix
	done
	for name in "$@"; do
		echo "netns add ${CHS_NS[$name]}"
	done | ip -b - || return
	for name in "$@"; do
		ip -n "${CHS_NS[$name]}" link set lo up || return
	done
}

# chs_del_ns NAME...
chs_del_ns()
{
	local name

	for name in "$@"; do
		ip netns del "${CHS_NS[$name]}"
		unset "CHS_NS[$name]"
	done
}

# chs_in NAME COMMAND...: runs it in that namespace. Much cheaper than ip-netns,
# but /sys stays the one of the caller.
chs_in()
{
	local name=$1

	shift
	nsenter --net="/run/netns/${CHS_NS[$name]}" -- "$@"
}

# chs_ip NAME ARGUMENT...: ip(8) there
chs_ip()
{
	local name=$1

	shift
	ip -n "${CHS_NS[$name]}" "$@"
}

# chs_link A DEVA B DEVB [A DEVA B DEVB]...: veth pairs between namespaces, both
# ends up.
chs_link()
{
	local name
	local -A up=()

	while (($#)); do
		echo "link add $2 netns ${CHS_NS[$1]} type veth peer name $4 netns ${CHS_NS[$3]}"
		up[$1]+="link set $2 up"$'\n'
		up[$3]+="link set $4 up"$'\n'
		shift 4
	done > "$CHS_TMP/links"
	ip -b "$CHS_TMP/links" || return
	for name in "${!up[@]}"; do
		chs_ip "$name" -b - <<< "${up[$name]}" || return
	done
}

# The addresses of every topology; backend I has .$((10 + I)) and ::$((10 + I)).
# shellcheck disable=SC2034 # for the tests
CHS_VIP4=203.0.113.80
# shellcheck disable=SC2034
CHS_VIP6=2001:db8:f::80
# shellcheck disable=SC2034
CHS_CL4=192.0.2.10
# shellcheck disable=SC2034
CHS_CL6=2001:db8:a::10

chs_b4() { echo "198.51.100.$((10 + $1))"; }
chs_b6() { echo "2001:db8:b::$((10 + $1))"; }

# chs_topo_t1 N: for address translation, IPv4 and IPv6 at once.
#
#   cl ───────── lb ───────── sw (bridge) ─┬─ b1
#      c0     l0    l1     p0              ├─ ...
#   192.0.2.10 .1  198.51.100.1            └─ bN   198.51.100.(10+N)
#   2001:db8:a::   2001:db8:b::                    2001:db8:b::(10+N)
#
# lb forwards, and holds the service addresses on lo, so that what no service
# takes ends there; everybody's default route is lb.
chs_topo_t1()
{
	local n=$1 i names=() links=() bridged=()

	for ((i = 1; i <= n; i++)); do
		names+=("b$i")
		links+=("b$i" e0 sw "p$i")
		bridged+=("p$i")
	done
	chs_setup_ns cl lb sw "${names[@]}" || return
	chs_ip sw link add br0 type bridge || return
	chs_link cl c0 lb l0 lb l1 sw p0 "${links[@]}" || return
	{
		echo "link set br0 up"
		printf 'link set %s master br0\n' p0 "${bridged[@]}"
	} | chs_ip sw -b - || return

	chs_in lb sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	chs_ip cl -b - <<- EOF || return
		addr add $CHS_CL4/24 dev c0
		addr add $CHS_CL6/64 dev c0 nodad
		route add default via 192.0.2.1
		route add $CHS_VIP4 via 192.0.2.1
		route add default via 2001:db8:a::1
		route add $CHS_VIP6 via 2001:db8:a::1
	EOF
	chs_ip lb -b - <<- EOF || return
		addr add 192.0.2.1/24 dev l0
		addr add 2001:db8:a::1/64 dev l0 nodad
		addr add 198.51.100.1/24 dev l1
		addr add 2001:db8:b::1/64 dev l1 nodad
		addr add $CHS_VIP4/32 dev lo
		addr add $CHS_VIP6/128 dev lo nodad
	EOF
	for ((i = 1; i <= n; i++)); do
		chs_topo_t1_addresses "$i" || return
	done
}

# chs_topo_t1_add I: one more backend.
chs_topo_t1_add()
{
	chs_setup_ns "b$1" || return
	chs_link "b$1" e0 sw "p$1" || return
	chs_ip sw link set "p$1" master br0 || return
	chs_topo_t1_addresses "$1"
}

chs_topo_t1_addresses()
{
	chs_ip "b$1" -b - <<- EOF
		addr add $(chs_b4 "$1")/24 dev e0
		addr add $(chs_b6 "$1")/64 dev e0 nodad
		route add default via 198.51.100.1
		route add default via 2001:db8:b::1
	EOF
}

# chs_hold_hooks: for tests under whose traffic the module comes and goes. With
# the first hook of a kind and with the last one the kernel patches itself, and
# emulated CPUs may run into a half of that ("int3: 0000"). Hooks that stay, in a
# namespace of their own, keep it from doing so.
chs_hold_hooks()
{
	local hook

	chs_setup_ns hold || return
	for hook in prerouting input forward output postrouting; do
		echo "add chain inet hold $hook { type filter hook $hook priority 0; }"
	done | { echo "add table inet hold"; cat; } | chs_in hold nft -f -
}

# Options of services whose ring is not what is tested: by default it has 64 times the
# arcs, and is built anew with each change.
# shellcheck disable=SC2034 # for the tests
CHS_SMALL="points 64 slots 1024"

# Traffic -------------------------------------------------------------------

# chs_wait_listen NAME PROTO PORT: until somebody listens there.
chs_wait_listen()
{
	local flag=-t

	[[ $2 == udp ]] && flag=-u
	[[ $2 == sctp ]] && flag=-S
	chs_busywait 10000 chs_listens "$1" "$flag" "$3"
}

chs_listens()
{
	[[ $(chs_in "$1" ss -Hln "$2" "sport = :$3") ]]
}

# chs_serve PROTO:PORT[,PROTO:PORT...] NAME...: servers in those namespaces that
# say who they are (net/whoami.py), all in one process, CHS_PID. Returns once
# all of them listen.
chs_serve()
{
	local ports=$1 name args=()

	shift
	for name in "$@"; do
		args+=("$name=/run/netns/${CHS_NS[$name]}")
	done
	chs_bg "$CHS_LIB/net/whoami.py" "$ports" "${args[@]}"
	chs_busywait 60000 chs_says_ready "$CHS_PID" || {
		cat "$CHS_TMP/$CHS_PID.log"
		return 1
	}
}

chs_says_ready()
{
	[[ $(< "$CHS_TMP/$1.log") == ready* ]]
}

declare -A CHS_CONNS_IN=() CHS_CONNS_OUT=() CHS_CONNS_PID=()

# chs_conns_start ID NAME: in namespace NAME a process that holds connections
# (net/conns.py) and does what chs_conns tells it.
chs_conns_start()
{
	local id=$1 in out pipe=$CHS_TMP/conns.$1

	mkfifo "$pipe.in" "$pipe.out" || return
	exec {in}<> "$pipe.in" {out}<> "$pipe.out"
	nsenter --net="/run/netns/${CHS_NS[$2]}" -- "$CHS_LIB/net/conns.py" \
		< "$pipe.in" > "$pipe.out" 2> "$pipe.err" &
	CHS_PID=$!
	CHS_PIDS+=("$CHS_PID")
	CHS_CONNS_IN[$id]=$in CHS_CONNS_OUT[$id]=$out CHS_CONNS_PID[$id]=$CHS_PID
}

# chs_conns ID COMMAND...: leaves the one-line answer in CHS_OUT; fails if there
# is none within two minutes or it begins with "error".
chs_conns()
{
	local id=$1

	shift
	echo "$id> $*"
	echo "$*" >&"${CHS_CONNS_IN[$id]}"
	CHS_OUT=
	if ! read -r -t $((120 * CHS_SLOW)) -u "${CHS_CONNS_OUT[$id]}" CHS_OUT; then
		cat "$CHS_TMP/conns.$id.err"
		chs_fail "no answer from $id to: $*"
		return
	fi
	echo "$CHS_OUT"
	[[ $CHS_OUT != error* ]]
}

# chs_conns_get KEY: a number out of the last answer, 0 if it is not there.
chs_conns_get()
{
	[[ " $CHS_OUT " =~ " $1="([^ ]+)" " ]] && echo "${BASH_REMATCH[1]}" || echo 0
}

chs_conns_stop()
{
	local in=${CHS_CONNS_IN[$1]} out=${CHS_CONNS_OUT[$1]}

	chs_kill "${CHS_CONNS_PID[$1]}"
	exec {in}>&- {out}>&-
	rm -f "$CHS_TMP/conns.$1".*
	unset "CHS_CONNS_PID[$1]" "CHS_CONNS_IN[$1]" "CHS_CONNS_OUT[$1]"
}

# Beginning and end ---------------------------------------------------------

# chs_setup [PARAMETER...]: first thing in a script: loads the module.
chs_setup()
{
	if chs_loaded; then
		echo "# the module is loaded already"
		CHS_RET=1
		chs_result "module loads"
		chs_done
	fi
	if ! chs_load "$@"; then
		CHS_RET=1
		chs_result "module loads"
		chs_done
	fi
}

# Names of kernel workers tell what they are at: '+' for at work.
chs_netns_idle()
{
	! grep -qs '^kworker/.*+netns' /proc/[0-9]*/comm
}

chs_unload_case()
{
	chs_unload || chs_fail "the module does not go"
}

chs_gone_case()
{
	local name

	chs_busywait 20000 chs_netns_idle ||
		chs_fail "the teardown of a namespace hangs"
	for name in "${!CHS_NS[@]}"; do
		[[ ! -e /run/netns/${CHS_NS[$name]} ]] ||
			chs_fail "namespace ${CHS_NS[$name]} is still there"
	done
}

chs_exit()
{
	local status=$? pid ns

	trap - EXIT INT TERM HUP
	if [[ -z $CHS_ENDED ]]; then
		echo "# ended early with status $status"
		CHS_RET=1 CHS_WHY=
		chs_result "${0##*/} runs to its end"
	fi
	for pid in "${CHS_PIDS[@]}"; do
		chs_kill "$pid" KILL
	done
	# Services are still there: the teardown of a namespace that has some is
	# part of every test.
	for ns in "${CHS_NS[@]}"; do
		ip netns del "$ns" 2> /dev/null
	done
	chs_loaded && chs_run "module unloads" chs_unload_case
	((${#CHS_NS[@]})) && chs_run "namespaces go" chs_gone_case
	chs_run "kernel log and taint are clean" kmsg_check
	rm -rf "$CHS_TMP"
	echo "1..$CHS_COUNT"
	if ((CHS_FAILED)); then
		exit 1
	elif ((CHS_SKIPPED && CHS_SKIPPED >= CHS_COUNT - 1)); then
		exit 4
	fi
	exit 0
}

# Last thing in a script. A script that ends without it has failed.
chs_done()
{
	CHS_ENDED=y
	exit 0
}

trap chs_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
echo "KTAP version 1"
dmesg -C
