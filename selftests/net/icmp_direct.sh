#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# chs-timeout: 1200
#
# In the direct modes an ICMP error gets to the backend of the flow that it
# quotes, also by a director that never saw the flow, and it makes, moves and
# confirms none. Cases C-051, C-052, C-053.
#
#   cl ─── er ─┬─ lb  ─┐
#              ├─ lb2 ─┼─ b1 ... b4
#              └───────┘
#
# UDP on ports 53 (mode route), 54 (ipip), 55 (gue), TCP on 80, 81, 82. Flows are
# by lb, errors by lb2.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"
# shellcheck source=direct.sh
. "$CHS_LIB/net/direct.sh"

MODES=(route ipip gue)
declare -A UDP=([route]=53 [ipip]=54 [gue]=55) TCP=([route]=80 [ipip]=81 [gue]=82)

services()
{
	local mode f be

	for mode in "${MODES[@]}"; do
		for f in 4 6; do
			be="$(chs_be "$f" 1) $(chs_be "$f" 2) $(chs_be "$f" 3)"
			echo "service add $mode-u$f udp $(chs_ep "$(chs_vip "$f")" "${UDP[$mode]}") mode $mode affinity transition $CHS_SMALL"
			echo "service add $mode-t$f tcp $(chs_ep "$(chs_vip "$f")" "${TCP[$mode]}") mode $mode $CHS_SMALL"
			echo "backend add $mode-u$f $be"
			echo "backend add $mode-t$f $be"
		done
	done
}

topology()
{
	local i

	chs_topo_t4 4 || return
	for i in 1 2 3 4; do
		# Errors about one path are not to hide the next ones.
		chs_in "b$i" sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0
	done
	services | chs_on_both || return
	chs_serve udp:53,udp:54,udp:55,tcp:80,tcp:81,tcp:82 b1 b2 b3 b4 || return
	chs_conns_start c cl
}

flows()
{
	local mode f

	chs_to lb
	for mode in "${MODES[@]}"; do
		for f in 4 6; do
			chs_conns c open udp "$(chs_vip "$f")" "${UDP[$mode]}" 6
			chs_answers "$mode" answered=6 lost=0
			chs_conns c open tcp "$(chs_vip "$f")" "${TCP[$mode]}" 4
			chs_answers "$mode" answered=4 broken=0
		done
	done
	chs_conns c table "$CHS_TMP/table"
}

# The backend itself takes them for errors of its own connections.
known()
{
	local f=$1 address

	address=$(chs_cl "$f")
	for i in 1 2 3; do
		chs_expect "MTU at b$i before" "$(mtu "$i" "$address")" ""
	done
	chs_to lb2
	chs_frames icmp_direct.py known "$f" "$CHS_TMP/table"
	for i in 1 2 3; do
		chs_busywait 5000 learnt "$i" "$address" ||
			chs_fail "b$i does not learn the MTU"
		chs_ip "b$i" "-$f" route flush cache
	done
	chs_expect "by lb2, remembered" "$(chs_tracked lb2)" 0
	chs_conns c exchange
	chs_answers "flows afterwards" broken=0 moved=0 lost=0
}

mtu()
{
	[[ " $(chs_ip "b$1" route get "$2") " =~ " mtu "([0-9]+) ]] && echo "${BASH_REMATCH[1]}"
}

learnt()
{
	[[ $(mtu "$@") == 1400 ]]
}

# While arcs are open, errors follow flows that have not followed the ring, and
# by whichever director.
window()
{
	local mode f t

	for mode in "${MODES[@]}"; do
		for f in 4 6; do
			for t in u t; do
				echo "backend add $mode-$t$f $(chs_be "$f" 4)"
				echo "backend drain $mode-$t$f $(chs_be "$f" 1)"
			done
		done
	done | chs_on_both || chs_fail "refused"
	chs_to lb
	chs_conns c exchange
	chs_answers "added and drained" broken=0 moved=0 lost=0
	(($(chs_tracked lb) > 0)) || chs_fail "none is remembered"
	for f in 4 6; do
		chs_to lb
		chs_frames icmp_direct.py known "$f" "$CHS_TMP/table"
		chs_to lb2
		chs_frames icmp_direct.py known "$f" "$CHS_TMP/table"
		chs_ip cl "-$f" route flush cache
		for i in 1 2 3 4; do
			chs_ip "b$i" "-$f" route flush cache
		done
	done
	chs_expect "by lb2, remembered" "$(chs_tracked lb2)" 0
	chs_conns c exchange
	chs_answers "flows afterwards" broken=0 moved=0 lost=0
	for mode in "${MODES[@]}"; do
		chs_frames icmp_direct.py unknown 4 lb "$mode-u4" "${UDP[$mode]}"
	done
}

unknown()
{
	local f=$1 mode

	chs_to lb
	for mode in "${MODES[@]}"; do
		chs_frames icmp_direct.py unknown "$f" lb "$mode-u$f" "${UDP[$mode]}"
	done
}

# count NAME KEY: what a namespace has counted of its own
count()
{
	chs_in "$1" nstat -asz "$2" | awk -v key="$2" '$1 == key { print $2 }'
}

echoed()
{
	local f=$1 key i

	key=$([[ $f == 4 ]] && echo IcmpInEchos || echo Icmp6InEchos)
	chs_to lb
	chs_cmd_ok chs_in cl ping -q -c 2 -i 0.2 -W 10 "$(chs_vip "$f")"
	chs_expect "echo at lb" "$(count lb "$key")" 2
	for i in 1 2 3 4; do
		chs_expect "echo at b$i" "$(count "b$i" "$key")" 0
	done
}

# A backend's own errors come from the address that the client asked, and quote
# what it sent.
from_backend()
{
	local f=$1 mode vip

	vip=$(chs_vip "$f")
	for mode in "${MODES[@]}"; do
		chs_batch <<- EOF || chs_fail "refused"
			service add deaf udp $(chs_ep "$vip" 99) mode $mode
			backend add deaf $(chs_be "$f" 2)
		EOF
		chs_cmd_ok chs_in cl "$CHS_LIB/net/icmp.py" probe "$vip" 99
		chs_answers "$mode" error=ECONNREFUSED type=$((f == 4 ? 3 : 1)) \
			code=$((f == 4 ? 3 : 4)) from="$vip" qsrc="$(chs_cl "$f")" \
			qdst="$vip" qdport=99 sums=good
		chs_cmd_ok chs_ctl service del deaf
	done
}

# Errors about outer packets are obeyed if this host may have caused them, and only
# then, also if it has devices that would obey all of them.
outer()
{
	local f=$1 mode name

	chs_to lb
	chs_ip lb -b - <<- EOF
		link add t44 type ipip local 198.51.100.1
		link add t64 type sit local 198.51.100.1
		link add t6 type ip6tnl mode any local 2001:db8:b::1
		link set t44 up
		link set t64 up
		link set t6 up
	EOF
	for mode in ipip gue; do
		chs_frames icmp_direct.py outer "$f" "$mode" "$mode-u$f" "${UDP[$mode]}"
		for name in lb cl; do
			chs_ip "$name" "-$f" route flush cache
		done
	done
	for name in t44 t64 t6; do
		chs_ip lb link del "$name"
	done
}

chs_require_cmd jq nstat ping
chs_direct_require
chs_setup
chs_run "topology" topology
((CHS_FAILED)) && chs_done
chs_run "flows by the first director" flows
for f in 4 6; do
	chs_run "IPv$f: errors by the other one get to the flow's backend" known $f
	chs_run "IPv$f: errors about unknown flows follow the ring, and make none" \
		unknown $f
	chs_run "IPv$f: errors that tell of no flow are the host's" \
		chs_frames icmp_direct.py host $f lb "route-u$f"
	chs_run "IPv$f: errors about outer packets" outer $f
	chs_run "IPv$f: echo is the host's" echoed $f
	chs_run "IPv$f: errors of backends" from_backend $f
done
chs_run "inside a window" window
chs_done
