#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# SCTP, as far as nf_nat goes: an association is one flow, translated and held
# by its first address and port on either side. Addresses that its ends add
# later, inside its chunks, are not translated; and an association that
# conntrack meets in its middle is invalid to it, and so lost.
#
#   cl ─── lb ─── sw ─── b1, b2, b3

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"

PORT=3868
COUNT=12

topology()
{
	local f

	chs_topo_t1 3 || return
	for f in 4 6; do
		echo "service add dia$f sctp $(chs_ep "$(chs_vip "$f")" "$PORT") $CHS_SMALL"
		echo "backend add dia$f $(chs_be "$f" 1) $(chs_be "$f" 2) $(chs_be "$f" 3)"
	done | chs_batch || return
	# So that one that has ended is remembered until its port is used again.
	chs_in lb sysctl -qw net.netfilter.nf_conntrack_sctp_timeout_closed=600
	chs_serve sctp:"$PORT" b1 b2 b3 || return
	chs_conns_start c cl
	chs_conns_start n cl
}

associate()
{
	local f=$1 src sport be

	chs_conns c open sctp "$(chs_vip "$f")" "$PORT" "$COUNT" "src=$(chs_cl "$f")" \
		sport=20000
	chs_answers "associations" answered="$COUNT" broken=0
	(($(chs_conns_get b1) < COUNT && $(chs_conns_get b2) < COUNT &&
		$(chs_conns_get b3) < COUNT)) || chs_fail "not spread"
	chs_conns c table "$CHS_TMP/table"
	while read -r _ src sport _ _ be _; do
		echo "lookup sctp $(chs_ep "$src" "$sport") $(chs_ep "$(chs_vip "$f")" "$PORT")"
		echo "dia$f $(chs_ep "$(chs_be "$f" "${be#b}")" "$PORT") reason conntrack" >&3
	done < "$CHS_TMP/table" > "$CHS_TMP/asked" 3> "$CHS_TMP/reached"
	chs_batch < "$CHS_TMP/asked" | sed 's/ arc .*//' |
		diff - "$CHS_TMP/reached" || chs_fail "lookup disagrees"
}

steady()
{
	local f=$1 b2

	b2=$(chs_be "$f" 2)
	chs_cmd_ok chs_ctl backend drain "dia$f" "$b2"
	chs_conns c exchange
	chs_answers "others drain" answered="$COUNT" moved=0 broken=0
	chs_conns n open sctp "$(chs_vip "$f")" "$PORT" "$COUNT"
	chs_answers "new ones" answered="$COUNT" b2=0
	chs_conns n close
	chs_cmd_ok chs_ctl backend set "dia$f" "$b2" state up
	chs_conns c close
}

# tracked FAMILY STATE: associations from the ports of reused() that are in it
tracked()
{
	chs_in lb conntrack -L -f "ipv$1" -p sctp 2> /dev/null |
		grep -c " $2 .*sport=21[0-9]* dport=$PORT .*sport=$PORT "
}

tracked_all()
{
	(($(tracked "$1" "$2") == COUNT))
}

# A port whose association has ended is free for a new one, which follows the ring;
# how it ended does not matter.
reused()
{
	local f=$1 b1 others i be

	b1=$(chs_be "$f" 1) others="$(chs_be "$f" 2) $(chs_be "$f" 3)"
	chs_cmd_ok chs_batch <<< "backend drain dia$f $others"
	chs_conns n open sctp "$(chs_vip "$f")" "$PORT" "$COUNT" "src=$(chs_cl "$f")" \
		sport=21000
	chs_answers "first" b1="$COUNT"
	chs_conns n "$2"
	chs_busywait 10000 tracked_all "$f" CLOSED || chs_fail "they do not end"
	chs_cmd_ok chs_batch <<- EOF
		backend set dia$f $others state up
		backend drain dia$f $b1
	EOF
	for ((i = 0; i < COUNT; i++)); do
		echo "lookup sctp $(chs_ep "$(chs_cl "$f")" $((21000 + i)))" \
			"$(chs_ep "$(chs_vip "$f")" "$PORT")"
	done | chs_ctl -j -b - | jq -r .address > "$CHS_TMP/said"
	grep -qx "$b1" "$CHS_TMP/said" && chs_fail "lookup says b1"
	chs_conns n open sctp "$(chs_vip "$f")" "$PORT" "$COUNT" "src=$(chs_cl "$f")" \
		sport=21000
	chs_answers "again" answered="$COUNT" b1=0
	chs_conns n table "$CHS_TMP/table"
	while read -r _ _ _ _ _ be _; do
		chs_be "$f" "${be#b}"
	done < "$CHS_TMP/table" | diff "$CHS_TMP/said" - || chs_fail "lookup disagrees"
	# One that lives is where it is, whatever its client sends.
	chs_ctl -j lookup sctp "$(chs_ep "$(chs_cl "$f")" 21000)" \
		"$(chs_ep "$(chs_vip "$f")" "$PORT")" > "$CHS_TMP/live"
	chs_expect "one that lives" "$(jq -r .reason "$CHS_TMP/live")" conntrack
	chs_conns n close
	chs_cmd_ok chs_ctl backend set "dia$f" "$b1" state up
}

empty()
{
	local f=$1 all

	all="$(chs_be "$f" 1) $(chs_be "$f" 2) $(chs_be "$f" 3)"
	chs_cmd_ok chs_batch <<< "backend set dia$f $all state down"
	chs_conns n open sctp "$(chs_vip "$f")" "$PORT" 2 timeout=3000
	chs_answers "no backend" answered=0
	(($(chs_stat "dia$f" no-backend) >= 2)) || chs_fail "not counted"
	chs_conns n close
	chs_cmd_ok chs_batch <<< "backend set dia$f $all state up"
	chs_conns n open sctp "$(chs_vip "$f")" "$PORT" "$COUNT"
	chs_answers "backends again" answered="$COUNT"
	chs_conns n close
}

chs_require_cmd conntrack
modprobe -q sctp || chs_skip_all "the kernel has no sctp"
chs_setup
chs_run "topology" topology
for f in 4 6; do
	chs_run "IPv$f: associations are where lookup says" associate $f
	chs_run "IPv$f: and stay there" steady $f
	chs_run "IPv$f: no backend" empty $f
done
chs_run "IPv4: ports of associations that were closed" reused 4 close
chs_run "IPv6: ports of associations that were aborted" reused 6 reset
chs_done
