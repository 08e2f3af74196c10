#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
# chs-timeout: 1200
#
# SYNs from made-up sources (C-026). While the ring is settled they cost nothing
# that lasts; inside a window there is room for so many flows, half of it for new
# ones, and those that are established are the last to lose it. With the ACKs that
# follow they fill it, but give way to connections that are running.
#
#   cl ─── sw (bridge) ─┬─ lb
#                       └─ b1, b2, b3
#
# Services of TCP: route4 and route6 on port 80, ipip4 on 81, gue6 on 82, and pairs4
# of mode route on 83, for connections that are open when its window begins. Backends
# count and drop what comes from made-up sources.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"
# shellcheck source=direct.sh
. "$CHS_LIB/net/direct.sh"

SERVICES=(route4 route6 ipip4 gue6)
EACH=$(chs_amount 25600)	# SYNs to each
declare -A PORT=([route4]=80 [route6]=80 [ipip4]=81 [gue6]=82)

topology()
{
	local name f i

	chs_topo_t2 3 || return
	for name in "${SERVICES[@]}"; do
		f=${name: -1}
		echo "service add $name tcp $(chs_ep "$(chs_vip "$f")" "${PORT[$name]}") mode ${name%?}"
		echo "backend add $name $(chs_be "$f" 1) $(chs_be "$f" 2)"
	done | chs_batch || return
	chs_batch <<- EOF || return
		service add pairs4 tcp $CHS_VIP4:83 mode route max-flows 100 window 600 timeout 900
		backend add pairs4 $(chs_be 4 1) $(chs_be 4 2)
	EOF
	for i in 1 2 3; do
		chs_in "b$i" nft -f - <<- EOF || return
			add table inet t
			add chain inet t in { type filter hook prerouting priority raw; }
			add rule inet t in ip saddr 198.18.0.0/15 counter drop
			add rule inet t in ip6 saddr 2001:db8:bad::/48 counter drop
		EOF
	done
	# What the client sends in one go waits here.
	sysctl -qw net.core.netdev_max_backlog=100000
	chs_serve tcp:80,tcp:81,tcp:82,tcp:83 b1 b2 b3 || return
	chs_conns_start old cl
	chs_conns_start new cl
	chs_conns_start pairs cl
}

# dropped: made-up packets that have got to the backends
dropped()
{
	local i

	for i in 1 2 3; do
		chs_in "b$i" nft -j list chain inet t in
	done | jq -s '[.. | .counter? | objects | .packets] | add'
}

got()
{
	(($(dropped) >= $1))
}

# flood COUNT SERVICE...: so many SYNs to each
flood()
{
	local count=$1 name before

	shift
	before=$(dropped)
	for name in "$@"; do
		chs_frames flood.py syn "${name: -1}" "${PORT[$name]}" "$count" 0
	done
	# Somebody may have been in a hurry.
	chs_busywait 60000 got $((before + $# * count * 95 / 100)) ||
		chs_fail "backends got $(($(dropped) - before)) of $(($# * count))"
}

# hold COUNT: connections of every service that are to last
hold()
{
	local name

	for name in "${SERVICES[@]}"; do
		chs_conns old open tcp "$(chs_vip "${name: -1}")" "${PORT[$name]}" "$1"
		chs_answers "$name" answered="$1"
	done
}

# real COUNT: that many more of every service can be had
real()
{
	local name

	for name in "${SERVICES[@]}"; do
		chs_conns new open tcp "$(chs_vip "${name: -1}")" "${PORT[$name]}" "$1"
		chs_answers "$name" answered="$1" broken=0
		chs_conns new exchange
		chs_answers "$name" answered="$1" broken=0 moved=0
		chs_conns new reset
	done
}

settled()
{
	local before name

	hold 25
	chs_expect "remembered before" "$(chs_tracked lb)" 0
	# A round first, for what the machine itself takes once.
	flood 1024 "${SERVICES[@]}"
	before=$(chs_kernel_memory)
	flood "$EACH" "${SERVICES[@]}"
	chs_expect "remembered after" "$(chs_tracked lb)" 0
	# 102,400 entries of a cache line each would be 6,400 KiB.
	chs_memory_back "$before" 2048
	for name in "${SERVICES[@]}"; do
		(($(chs_packets lb "$name") >= EACH)) || chs_fail "$name: not steered"
	done
	chs_conns old exchange
	chs_answers established answered=100 moved=0 broken=0
	real "$(chs_amount 250)"
	chs_expect "remembered at last" "$(chs_tracked lb)" 0
}

# lost SERVICE: what was not remembered, or forgotten, for lack of room
lost()
{
	chs_on lb -j stats "$1" | jq '.[0] | .not_remembered + (.evicted | add)'
}

# kept SERVICE: none of those is a flow that was established.
kept()
{
	chs_expect "$1: established ones forgotten" \
		"$(chs_on lb -j stats "$1" | jq '.[0].evicted.established')" 0
}

window()
{
	local name tracked

	for name in "${SERVICES[@]}"; do
		echo "service set $name max-flows 3000"
		echo "backend add $name $(chs_be "${name: -1}" 3)"
	done | chs_batch || chs_fail "refused"
	chs_conns old exchange
	chs_answers established answered=100 moved=0 broken=0
	tracked=$(chs_tracked lb)
	((tracked > 0)) || chs_fail "none is remembered"
	hold 10
	# A third of these is in arcs that are open; half of the room is for them.
	flood 10240 "${SERVICES[@]}"
	for name in "${SERVICES[@]}"; do
		chs_expect_range "$name: remembered" "$(chs_tracked lb "$name")" 1000 1600
		(($(lost "$name") > 0)) || chs_fail "$name: nothing is counted"
		kept "$name"
	done
	chs_conns old exchange
	chs_answers established answered=140 moved=0 broken=0
	real 50
	chs_conns old exchange
	chs_answers "established still" answered=140 moved=0 broken=0
}

filled()
{
	(($(chs_tracked lb pairs4) == 100))
}

# silent: what is remembered has been silent for long enough to give way.
silent()
{
	chs_on lb -j flow show pairs4 | jq -e 'all(.idle >= 3)'
}

# closed: the window of every arc is over.
closed()
{
	local port

	for ((port = 1; port <= 64; port++)); do
		echo "lookup tcp $CHS_CL4:$port $CHS_VIP4:83"
	done | chs_on lb -j -b - | jq -se 'all(.former == null)'
}

# Connections that are silent until the made-up ones have taken all the room.
pairs()
{
	local kind

	chs_conns pairs open tcp "$CHS_VIP4" 83 60
	chs_answers "before" answered=60
	chs_cmd_ok chs_batch <<< "backend add pairs4 $(chs_be 4 3)"
	for kind in syn ack; do
		chs_frames flood.py "$kind" 4 83 1024 0
	done
	chs_busywait 20000 filled ||
		chs_fail "made-up flows remembered: $(chs_tracked lb pairs4)"
	chs_busywait 30000 silent > "$CHS_TMP/silent" || chs_fail "never silent"

	chs_conns pairs exchange
	chs_answers "in the window" answered=60 moved=0 broken=0
	chs_on lb -j flow show pairs4 |
		jq -e --arg cl "$CHS_CL4" 'any(.src == $cl)' > "$CHS_TMP/mine" ||
		chs_fail "none of the connections is in an arc that moved"
	chs_expect "room" "$(chs_tracked lb pairs4)" 100
	(($(chs_on lb -j stats pairs4 | jq '.[0].evicted.established') > 0)) ||
		chs_fail "what gave way is not counted"

	chs_cmd_ok chs_batch <<< "service set pairs4 window 1"
	chs_busywait 30000 closed > "$CHS_TMP/closed" || chs_fail "arcs are open still"
	chs_conns pairs exchange
	chs_answers "after the window" answered=60 moved=0 broken=0
	chs_conns pairs reset
	chs_cmd_ok chs_batch <<< "service del pairs4"
}

chs_require_cmd jq nft
chs_direct_require
chs_setup
chs_run "topology" topology
((CHS_FAILED)) && chs_done
chs_run "settled: $((EACH * 4)) SYNs leave nothing behind" settled
chs_run "SYNs with ACKs give way to running connections" pairs
chs_run "inside a window: they have no more room than was given" window
chs_done
