#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
# chs-timeout: 1200
# cpus: 2
#
# The acceptance of direct return: established connections through everything
# that operators do to a pool, and through the other director's taking over, at
# rest and in the middle of changes; none may be moved or broken.
#
#   cl ─── er ─┬─ lb  ─┐
#              ├─ lb2 ─┼─ b1 ... b6
#              └───────┘
#
# All modes at once: services route4, route6 (port 80), ipip4, ipip6 (81), gue4
# and gue6 (82) share the backends; each mode has 60 connections of IPv4 and 20
# of IPv6. Both directors get the same changes. Who answers says the server
# itself, over each connection.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"
# shellcheck source=direct.sh
. "$CHS_LIB/net/direct.sh"

MODES=(route ipip gue)
declare -A PORT=([route]=80 [ipip]=81 [gue]=82)
N4=$(chs_amount 60 150 30) N6=$(chs_amount 20 50 10)
FLAPS=$(chs_amount 4 30 3)

services()
{
	local mode f

	for mode in "${MODES[@]}"; do
		for f in 4 6; do
			echo "service add $mode$f tcp $(chs_ep "$(chs_vip "$f")" "${PORT[$mode]}") mode $mode $CHS_SMALL"
			echo "backend add $mode$f $(chs_be "$f" 1) $(chs_be "$f" 2) $(chs_be "$f" 3) $(chs_be "$f" 4)"
		done
	done
}

topology()
{
	local mode

	chs_topo_t4 6 || return
	chs_serve tcp:80,tcp:81,tcp:82 b1 b2 b3 b4 b5 b6 || return
	for mode in "${MODES[@]}" new; do
		chs_conns_start "$mode" cl || return
	done
	services | chs_on_both || return
	chs_expect digests "$(chs_on lb ring digest)" "$(chs_on lb2 ring digest)"
}

# all COMMAND...: to the clients of all modes at once, with the mode's port for
# "PORT"; their answers are in SAID[mode] then.
declare -A SAID=()
all()
{
	local mode

	for mode in "${MODES[@]}"; do
		chs_conns_tell "$mode" "${@/#PORT/${PORT[$mode]}}"
	done
	for mode in "${MODES[@]}"; do
		chs_conns_answer "$mode"
		SAID[$mode]=$CHS_OUT
	done
}

# undisturbed WHAT: each connection is used, and ends where it did at first.
undisturbed()
{
	local mode

	all exchange
	for mode in "${MODES[@]}"; do
		CHS_OUT=${SAID[$mode]}
		chs_answers "$mode, $1" answered=$((N4 + N6)) moved=0 broken=0
	done
}

# began, ended WHAT: connections are used all the time in between.
began()
{
	all run gap=200
}

ended()
{
	local mode rounds

	all stop
	for mode in "${MODES[@]}"; do
		CHS_OUT=${SAID[$mode]}
		rounds=$(chs_conns_get rounds)
		((rounds >= 1)) || chs_fail "$mode, $1: no traffic"
		chs_answers "$mode, $1" answered=$((rounds * (N4 + N6))) \
			moved=0 broken=0
	done
}

# by NAME: which director has packets now, and the other has none
by()
{
	local name packets
	local -A before=()

	for name in lb lb2; do
		before[$name]=$(chs_packets "$name")
	done
	undisturbed "by $1"
	for name in lb lb2; do
		packets=$(($(chs_packets "$name") - before[$name]))
		if [[ $name == "$1" || $1 == both ]]; then
			((packets > 0)) || chs_fail "none by $name"
		else
			chs_expect "packets by $name" "$packets" 0
		fi
	done
}

# fresh I: new connections of every service, some of which backend I gets; !I: none
fresh()
{
	local mode f i=${1#!} answer

	for mode in "${MODES[@]}"; do
		for f in 4 6; do
			chs_conns new open tcp "$(chs_vip "$f")" "${PORT[$mode]}" 30 sport=20000
			answer=$CHS_OUT
			chs_conns new reset
			CHS_OUT=$answer
			chs_answers "new to $mode$f" answered=30 broken=0
			if [[ $1 == !* ]]; then
				chs_no_answer "$mode$f" "b$i"
			else
				(($(chs_conns_get "b$i") > 0)) ||
					chs_fail "b$i gets nothing of $mode$f"
			fi
		done
	done
}

# every COMMAND...: for each service, with "SERVICE" and "B1", "B2", ... for it and
# its backends
every()
{
	local mode f line i

	for f in 4 6; do
		line=$*
		for i in 1 2 3 4 5 6; do
			[[ $line != *B$i* ]] || line=${line//B$i/$(chs_be "$f" "$i")}
		done
		for mode in "${MODES[@]}"; do
			echo "${line//SERVICE/$mode$f}"
		done
	done
}

# change COMMAND...: the same, done by both directors
change()
{
	every "$@" | chs_on_both || chs_fail "refused: $*"
}

# While nothing changes, nothing is remembered.
open_all()
{
	local mode f i

	all open tcp "$CHS_VIP4" PORT "$N4"
	all open tcp "$CHS_VIP6" PORT "$N6"
	undisturbed opened
	for mode in "${MODES[@]}"; do
		CHS_OUT=${SAID[$mode]}
		for i in 1 2 3 4; do
			(($(chs_conns_get "b$i") > 0)) || chs_fail "$mode: none on b$i"
		done
	done
	at_rest
}

at_rest()
{
	local name

	for name in lb lb2; do
		chs_expect "tracked by $name" "$(chs_tracked "$name")" 0
		chs_expect "open on $name" \
			"$(chs_on "$name" -j service show | jq 'map(.open) | add')" 0
	done
}

# lookup knows where each is, and so does whoever takes over.
told()
{
	local name=$1 mode

	for mode in "${MODES[@]}"; do
		chs_conns "$mode" table "$CHS_TMP/table"
		chs_asked "$CHS_TMP/table" established > "$CHS_TMP/asked"
		chs_on "$name" -j -b "$CHS_TMP/asked" | jq -r .address |
			diff - "$CHS_TMP/reached" || chs_fail "$name, $mode: lookup disagrees"
	done
}

settled_failover()
{
	began
	chs_to lb2 || chs_fail "no route"
	ended "fail-over when settled"
	by lb2
	at_rest
	told lb
}

settled_cut()
{
	chs_to both || chs_fail "no route"
	by both
	began
	chs_cut lb
	ended "a link is cut"
	by lb2
	chs_mend lb
	at_rest
}

add()
{
	chs_to lb2
	began
	change backend add SERVICE B5
	ended add
	undisturbed add
	fresh 5
	(($(chs_tracked lb2) > 0)) || chs_fail "nothing is remembered"
	told lb2
}

weight()
{
	began
	change backend set SERVICE B1 weight 40
	ended "weight 100 to 40"
	undisturbed "weight 100 to 40"
	told lb2
}

# In one transaction: the file is what is, but for two lines a service.
add_and_drain()
{
	local name mode f digest text line

	began
	text=$(chs_on lb2 save)
	for mode in "${MODES[@]}"; do
		for f in 4 6; do
			line="backend add $mode$f $(chs_ep "$(chs_be "$f" 2)" "${PORT[$mode]}") weight 100"
			text=${text/"$line"/"$line state drain"}
			text+=$'\n'"backend add $mode$f $(chs_be "$f" 6) weight 200"
		done
	done
	for name in lb lb2; do
		chs_on "$name" apply - <<< "$text" || chs_fail "$name refuses"
	done
	ended "add and drain"
	undisturbed "add and drain"
	digest=$(chs_on lb ring digest)
	chs_expect digests "$(chs_on lb2 ring digest)" "$digest"
	for name in lb lb2; do
		chs_expect "draining on $name" "$(chs_on "$name" -j backend show |
			jq 'map(select(.state == "drain")) | length')" 6
	done
	fresh 6
	fresh !2
	told lb2
}

# A director that has seen the same changes, but none of the packets.
window_failover()
{
	local mode f

	for mode in "${MODES[@]}"; do
		for f in 4 6; do
			chs_on lb -j service show "$mode$f" |
				jq -e '.[0] | .open > 0 and .settles_in == null' ||
				chs_fail "$mode$f is not open while b2 drains"
		done
	done
	began
	chs_to lb || chs_fail "no route"
	ended "fail-over inside the window"
	by lb
	told lb
}

window_cut()
{
	chs_to both || chs_fail "no route"
	by both
	began
	chs_cut lb2
	ended "a link is cut inside the window"
	by lb
	chs_mend lb2
	by both
}

# Backends come and go, and so do the ways to the directors.
flaps()
{
	local i to name

	every backend drain SERVICE B3 > "$CHS_TMP/drain"
	for i in 0 1 2; do
		every backend set SERVICE B3 state up weight $((i * 50)) > "$CHS_TMP/up.$i"
	done
	began
	for ((i = 0; i < FLAPS; i++)); do
		((i % 2)) && to=lb || to=lb2
		for name in lb lb2; do
			chs_on "$name" -b "$CHS_TMP/drain" || chs_fail "refused"
		done
		chs_to "$to" || chs_fail "no route"
		for name in lb lb2; do
			chs_on "$name" -b "$CHS_TMP/up.$((i % 3))" || chs_fail "refused"
		done
	done
	ended flaps
	change backend set SERVICE B3 weight 100
	chs_to both
	by both
	told lb
	told lb2
}

chs_require_cmd jq
chs_direct_require
chs_setup
chs_run "topology" topology
((CHS_FAILED)) && chs_done
chs_run "$((N4 + N6)) connections a mode at rest, none remembered" open_all
chs_run "fail-over when settled" settled_failover
chs_run "settled, the link of one of two directors is cut" settled_cut
chs_run "a backend is added" add
chs_run "a weight goes from 100 to 40" weight
chs_run "one of weight 200 is added and one drained, at once" add_and_drain
chs_run "fail-over inside the window" window_failover
chs_run "inside the window, the link of one of two directors is cut" window_cut
chs_run "$FLAPS flaps of a backend and of the route" flaps
chs_done
