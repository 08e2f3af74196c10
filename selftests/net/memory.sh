#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: debug
#
# Memory cgroups: what a service and its flows take is charged to the cgroup of the
# process that added it, whoever allocates it.
#
#   cl ─── lb ─── d0 (dummy)

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=direct.sh
. "$CHS_LIB/net/direct.sh"

CGROUPS=$CHS_TMP/cgroups
MIB=$((1 << 20))
SLOTS=$((1 << 20))	# two bytes each
COUNT=61440		# flows, of some 90 bytes

topology()
{
	mkdir "$CGROUPS" && mount -t cgroup2 none "$CGROUPS" || return
	echo +memory > "$CGROUPS/cgroup.subtree_control" || return
	chs_direct_ns cl lb || return
	chs_link cl c0 lb l0 || return
	# What the client sends in one go waits here.
	sysctl -qw net.core.netdev_max_backlog=100000
	chs_ip lb -b - <<- EOT
		link add d0 type dummy
		link set d0 up
		addr add 192.0.2.1/24 dev l0
		addr add 198.51.100.1/24 dev d0
		route add blackhole $CHS_VIP4
		neigh add $(chs_b4 1) lladdr 02:00:00:00:00:01 dev d0
	EOT
}

# cgroup NAME: one of a case's own, for what another has left is freed later
cgroup()
{
	CGROUP=$CGROUPS/$1
	mkdir "$CGROUP"
}

# charged: bytes that the cgroup has
charged()
{
	cat "$CGROUP/memory.current"
}

# as_guest: commands of the tool, from stdin, as a process of the cgroup
as_guest()
{
	(
		echo "$BASHPID" > "$CGROUP/cgroup.procs"
		chs_on lb -b -
	)
}

# kernel_charged: those of them that are the kernel's
kernel_charged()
{
	awk '$1 == "kernel" { print $2 }' "$CGROUP/memory.stat"
}

# below WHAT BYTES
below()
{
	(($($1) < $2))
}

listed()
{
	(($(chs_on lb -j backend show | jq "map(select(.address == \"$1\")) | length") == $2))
}

# A worker builds the rings anew when the deadline passes.
worker()
{
	local n=8 before i

	cgroup worker || return
	before=$(charged)
	for ((i = 1; i <= n; i++)); do
		echo "service add s$i tcp 203.0.113.$i:80 slots $SLOTS"
		echo "backend add s$i $(chs_b4 1) $(chs_b4 2)"
	done | as_guest || return
	(($(charged) - before >= n * SLOTS * 2)) ||
		chs_fail "added: $(($(charged) - before)) bytes for $((n * SLOTS * 2)) of arcs"
	echo "backend drain * $(chs_b4 2) deadline 1 delete" | chs_on lb -b - || return
	chs_busywait 60000 listed "$(chs_b4 2)" 0 || chs_fail "still listed"
	(($(charged) - before >= n * SLOTS * 2)) ||
		chs_fail "$(($(charged) - before)) bytes for $((n * SLOTS * 2)) of arcs"
	chs_cmd_ok chs_on lb flush
	chs_busywait 20000 below charged $((before + n * SLOTS)) ||
		chs_fail "$(charged) bytes after the flush, $before before"
}

flooded()
{
	(($(chs_packets lb) >= COUNT))
}

# Packets have flows remembered until the cgroup has no more.
flows()
{
	local max tracked before got

	cgroup flows || return
	as_guest <<- EOT || return
		service add w udp $CHS_VIP4:53 mode route affinity flow slots 256
		backend add w $(chs_b4 1)
	EOT
	# What could make room later.
	echo 64M > "$CGROUP/memory.reclaim" 2> /dev/null
	max=$(($(charged) + 2 * MIB))
	echo "$max" > "$CGROUP/memory.max"
	before=$(chs_kernel_memory)
	chs_frames flood.py udp 4 53 "$COUNT"
	chs_busywait 20000 flooded || chs_fail "only $(chs_packets lb) packets"
	got=$(($(chs_kernel_memory) - before))
	tracked=$(chs_tracked lb)
	((tracked > 0 && tracked < COUNT)) || chs_fail "$tracked of $COUNT are remembered"
	echo "$tracked of $COUNT are remembered, $(charged) bytes of $max, $got KiB"
	chs_expect "not remembered" "$(chs_on lb -j stats w | jq '.[].not_remembered')" \
		$((COUNT - tracked))
	(($(charged) <= max)) || chs_fail "$(charged) bytes of $max"
	# Buckets are charged to nobody: up to 27 bytes a flow. All flows are 5 MiB.
	((got <= 2048 + tracked * 27 / 1024 + 1024)) || chs_fail "$got KiB more in use"
	chs_cmd_ok chs_on lb flow flush all
	chs_expect "after the flush" "$(chs_tracked lb)" 0
	chs_frames flood.py udp 4 53 1024
	chs_expect "remembered again" "$(chs_tracked lb)" 1024
	chs_cmd_ok chs_on lb flush
	echo max > "$CGROUP/memory.max"
}

# Open transactions have copies of the index, and so may cost a good deal.
transactions()
{
	local n=300 i before machine got

	for ((i = 0; i < n; i++)); do
		echo "service add t$i tcp $CHS_VIP4:$((1000 + i)) slots 256 points 1"
	done | chs_on lb -b - || return
	cgroup transactions || return
	before=$(kernel_charged)
	machine=$(chs_kernel_memory)
	# shellcheck disable=SC2016 # for that shell
	coproc OPEN { chs_in lb bash -c 'echo $$ > "$1" && exec "$2" hang' - \
		"$CGROUP/cgroup.procs" "$CHS_LIB/net/txn.py"; }
	read -r -t 60 -u "${OPEN[0]}" || chs_fail "no transactions"
	got=$((($(kernel_charged) - before) / 1024))
	machine=$(($(chs_kernel_memory) - machine))
	echo "$machine KiB more in use, $got KiB of them charged"
	((machine > 1024)) || chs_fail "too little to tell: $machine KiB"
	((got * 2 > machine)) || chs_fail "$got of $machine KiB are charged"
	echo 1 > "$CGROUP/cgroup.kill"
	chs_busywait 20000 below kernel_charged $((before + got * 512)) ||
		chs_fail "$(kernel_charged) bytes after they ended, $before before"
	chs_cmd_ok chs_on lb flush
}

chs_require_cmd jq
chs_setup
chs_run "topology" topology
((CHS_FAILED)) && chs_done
chs_run "flows, which are limited by that" flows
chs_run "rings that a worker builds" worker
chs_run "open transactions" transactions
umount "$CGROUPS"
chs_done
