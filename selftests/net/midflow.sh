#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Flows that conntrack meets in their middle, and packets that it cannot or
# may not track: never lost in silence, never at the host's own server.
#
#   cl ─── lb ─── sw ─── b1, b2, b3
#
# A server in lb listens on the service addresses.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"

COUNT=20

topology()
{
	local f

	chs_topo_t1 3 || return
	for f in 4 6; do
		echo "service add tcp$f tcp $(chs_ep "$(chs_vip "$f")" 80) $CHS_SMALL"
		echo "service add udp$f udp $(chs_ep "$(chs_vip "$f")" 53) $CHS_SMALL"
		echo "backend add tcp$f $(chs_be "$f" 1) $(chs_be "$f" 2) $(chs_be "$f" 3)"
		echo "backend add udp$f $(chs_be "$f" 1) $(chs_be "$f" 2) $(chs_be "$f" 3)"
	done | chs_batch || return
	chs_serve tcp:80,udp:53 b1 b2 b3 lb || return
	chs_conns_start tcp cl
	chs_conns_start udp cl
}

forget()
{
	chs_in lb conntrack -F 2> /dev/null
}

# As after a takeover: nobody knows the flows, the ring has not changed.
unknown()
{
	local f=$1 kind

	chs_conns tcp open tcp "$(chs_vip "$f")" 80 "$COUNT"
	chs_conns udp open udp "$(chs_vip "$f")" 53 "$COUNT"
	forget
	for kind in tcp udp; do
		chs_conns "$kind" exchange
		chs_answers "$kind, forgotten" answered="$COUNT" moved=0 broken=0 lost=0
		chs_conns "$kind" exchange
		chs_answers "$kind, later" answered="$COUNT" moved=0 broken=0 lost=0
		chs_expect "$kind: new flows" "$(chs_stat "$kind$f" new-flows)" \
			$((2 * COUNT))
	done
}

# Where conntrack may not pick up TCP, its packets are invalid, and counted.
strict()
{
	local f=$1 before flows

	before=$(chs_stat "tcp$f" invalid) flows=$(chs_stat "tcp$f" new-flows)
	chs_in lb sysctl -qw net.netfilter.nf_conntrack_tcp_loose=0
	forget
	chs_conns udp exchange
	chs_answers "UDP, forgotten" answered="$COUNT" moved=0 lost=0
	chs_conns tcp exchange timeout=1000
	chs_answers "TCP, forgotten" answered=0 timeout="$COUNT"
	chs_expect_range "invalid" $(($(chs_stat "tcp$f" invalid) - before)) \
		"$COUNT" $((20 * COUNT))
	chs_expect "new flows" "$(chs_stat "tcp$f" new-flows)" "$flows"
	chs_conns tcp forget
	chs_conns tcp open tcp "$(chs_vip "$f")" 80 "$COUNT"
	chs_answers "new ones" answered="$COUNT"
	chs_in lb sysctl -qw net.netfilter.nf_conntrack_tcp_loose=1
}

# What a packet filter says is not to be tracked cannot be translated.
untracked()
{
	local f=$1 kind port

	for kind in tcp udp; do
		port=$([[ $kind == tcp ]] && echo 80 || echo 53)
		chs_in lb nft -f - <<- EOF
			add table inet t
			add chain inet t raw { type filter hook prerouting priority raw; }
			add rule inet t raw $kind dport $port notrack
		EOF
		chs_conns "$kind" exchange timeout=700
		chs_answers "$kind, not tracked" answered=0 lb=0 reset=0 refused=0
		chs_expect_range "$kind untracked" \
			"$(chs_stat "$kind$f" untracked)" "$COUNT" $((20 * COUNT))
		chs_in lb nft delete table inet t
		chs_conns "$kind" reset
		chs_conns "$kind" open "$kind" "$(chs_vip "$f")" "$port" "$COUNT"
		chs_answers "$kind, tracked again" answered="$COUNT" lb=0
	done
}

# Flows that were the host's own server's by on-empty pass stay there when it
# comes to have backends; they are the service's when pass ends.
untranslated()
{
	local f=$1 all before

	all="$(chs_be "$f" 1) $(chs_be "$f" 2) $(chs_be "$f" 3)"
	chs_conns udp reset
	chs_cmd_ok chs_batch <<- EOF
		service set udp$f on-empty pass
		backend set udp$f $all state down
	EOF
	chs_conns udp open udp "$(chs_vip "$f")" 53 "$COUNT"
	chs_answers "passed" lb="$COUNT"
	chs_cmd_ok chs_ctl backend set "udp$f" "$(chs_be "$f" 1)" state up
	chs_conns udp exchange
	chs_answers "passed, with a backend" lb="$COUNT"

	before=$(chs_stat "udp$f" untranslated)
	chs_cmd_ok chs_ctl service set "udp$f" on-empty reject
	chs_conns udp exchange timeout=2500
	chs_answers "passed no longer" lb=0
	echo "untranslated: $(($(chs_stat "udp$f" untranslated) - before))"
	chs_conns udp exchange
	chs_answers "steered now" answered="$COUNT" b1="$COUNT"
	chs_conns udp reset
	chs_conns tcp reset
}

chs_require_cmd conntrack nft
chs_setup
chs_run "topology" topology
for f in 4 6; do
	chs_run "IPv$f: forgotten flows go on" unknown $f
	chs_run "IPv$f: invalid packets are dropped and counted" strict $f
	chs_run "IPv$f: untracked packets are dropped and counted" untracked $f
	chs_run "IPv$f: flows of the host's server" untranslated $f
done
chs_done
