#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: debug
#
# Walks over remembered flows see every one of them, whatever else runs and comes.
#
#   cl ─── lb ─── d0 (dummy)
#
# Datagrams to service "w", from made-up sources; nobody answers.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=direct.sh
. "$CHS_LIB/net/direct.sh"

COUNT=20480

topology()
{
	chs_direct_ns cl lb || return
	chs_link cl c0 lb l0 || return
	chs_ip lb -b - <<- EOF || return
		link add d0 type dummy
		link set d0 up
		addr add 192.0.2.1/24 dev l0
		addr add 198.51.100.1/24 dev d0
		route add blackhole $CHS_VIP4
		neigh add $(chs_b4 1) lladdr 02:00:00:00:00:01 dev d0
		neigh add $(chs_b4 2) lladdr 02:00:00:00:00:02 dev d0
	EOF
	# What the client sends in one go waits here.
	sysctl -qw net.core.netdev_max_backlog=100000
	chs_on lb -b - <<- EOF
		service add w udp $CHS_VIP4:53 mode route affinity flow slots 1024
		backend add w $(chs_b4 1) $(chs_b4 2)
	EOF
}

remembers()
{
	(($(chs_tracked lb) == $1))
}

# fill SEED: COUNT flows
fill()
{
	local before

	before=$(chs_tracked lb)
	chs_frames flood.py udp 4 53 "$COUNT" "$1"
	chs_busywait 20000 remembers $((before + COUNT)) ||
		chs_fail "$(chs_tracked lb) flows of $((before + COUNT))"
}

# tracked_at I: flows that are on a backend
tracked_at()
{
	chs_on lb -j backend show w |
		jq ".[] | select(.address == \"$(chs_b4 "$1")\") | .tracked_flows"
}

none_at()
{
	(($(tracked_at "$1") == 0))
}

# A process that is always let run at once, so that whoever offers the CPU loses it.
wakes_often()
{
	chs_bg chrt -f 50 python3 -c '
import time
while True:
    time.sleep(0.0001)'
}

# Of all flows, half go, which is too few for the table to shrink: a table that
# shrinks is walked once more. What was passed over would go with the next walk,
# half a minute later.
sweep()
{
	local kept waker

	fill 0
	kept=$(tracked_at 2)
	wakes_often
	waker=$CHS_PID
	chs_cmd_ok chs_on lb backend set w "$(chs_b4 1)" state down
	chs_busywait 10000 none_at 1 || chs_fail "$(tracked_at 1) were passed over"
	chs_kill "$waker"
	chs_expect "those of the other" "$(tracked_at 2)" "$kept"
}

flush()
{
	local waker

	wakes_often
	waker=$CHS_PID
	chs_cmd_ok chs_on lb flow flush all
	chs_kill "$waker"
	chs_expect "left" "$(chs_tracked lb)" 0
}

# A list of flows, begun while there were few of them; see walk.py.
list()
{
	chs_cmd_ok chs_on lb backend set w "$(chs_b4 1)" state up
	chs_frames walk.py grows "$COUNT"
}

chs_require_cmd jq chrt
chs_setup
chs_run "topology" topology
((CHS_FAILED)) && chs_done
chs_run "a sweep sees every flow, beside a process that wakes often" sweep
chs_run "so does a flush" flush
chs_run "so does a list, though the table grows meanwhile" list
chs_done
