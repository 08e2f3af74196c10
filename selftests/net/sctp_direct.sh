#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
#
# SCTP in the direct modes: spread by the whole tuple, for peers have one port
# between them; a new association is known by its INIT, an ended one by ABORT or
# SHUTDOWN. Cases C-024, C-025.
#
#   cl ─── sw (bridge) ─┬─ lb
#                       └─ b1, b2, b3, b4

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"
# shellcheck source=direct.sh
. "$CHS_LIB/net/direct.sh"

PORT=3868

topology()
{
	chs_topo_t2 4 || return
	# An association knows all addresses of its peer. It is to use the one that
	# it was made for.
	chs_ip cl route del 198.51.100.0/24
	chs_ip cl route del 2001:db8:b::/64
	chs_serve sctp:"$PORT" b1 b2 b3 b4 || return
	chs_conns_start c cl
	chs_conns_start n cl
}

# service FAMILY MODE COUNT [OPTION VALUE]...
service()
{
	local f=$1 i

	{
		echo "flush"
		echo "service add dia sctp $(chs_ep "$(chs_vip "$f")" "$PORT") mode $2 ${*:4}"
		# All in one change, for a second one would open arcs.
		printf 'backend add dia'
		for ((i = 1; i <= $3; i++)); do
			printf ' %s' "$(chs_be "$f" "$i")"
		done
		echo
	} | chs_batch || chs_fail "refused"
}

spread()
{
	service "$1" "$2" 4
	chs_frames sctp_direct.py inits "$1" "$PORT" dia
	chs_expect "remembered" "$(chs_tracked lb)" 0
}

# hold ID FAMILY COUNT SPORT
hold()
{
	chs_conns "$1" open sctp "$(chs_vip "$2")" "$PORT" "$3" \
		src="$(chs_cl "$2")" sport="$4"
	chs_answers associations answered="$3" broken=0
}

said()
{
	chs_said lb sctp "$1" "$PORT" "$2" "$3"
}

# went ID: where its associations are
went()
{
	chs_conns "$1" table "$CHS_TMP/table" > "$CHS_TMP/null"
	chs_asked "$CHS_TMP/table" > "$CHS_TMP/null"
	cat "$CHS_TMP/reached"
}

# Running associations stay while others change, new ones follow the ring.
steady()
{
	local f=$1 count=20

	service "$f" "$2" 3
	said "$f" 21000 "$count" > "$CHS_TMP/said"
	hold c "$f" "$count" 21000
	went c | diff "$CHS_TMP/said" - || chs_fail "not where lookup said"
	chs_cmd_ok chs_batch <<- EOF
		backend add dia $(chs_be "$f" 4)
		backend drain dia $(chs_be "$f" 1)
	EOF
	chs_conns c exchange
	chs_answers "added and drained" answered="$count" moved=0 broken=0
	(($(chs_tracked lb) > 0)) || chs_fail "none is remembered"
	said "$f" 22000 "$count" > "$CHS_TMP/said"
	hold n "$f" "$count" 22000
	went n | diff "$CHS_TMP/said" - || chs_fail "new ones do not follow the ring"
	chs_conns n exchange
	chs_answers "new ones" answered="$count" moved=0 broken=0
	chs_conns n reset
	chs_conns c close
}

# What has ended holds nobody from the ring of now.
ends()
{
	local f=$1 how=$2 count=20 sport=23000 i

	service "$f" route 1
	[[ $how == reset ]] && sport=24000
	hold c "$f" "$count" "$sport"
	for i in 2 3 4; do
		chs_cmd_ok chs_ctl backend add dia "$(chs_be "$f" "$i")"
		chs_conns c exchange
		chs_answers "before $how" answered="$count" moved=0 broken=0
		chs_conns c "$how"
		# The last word is the client's; until it is said there is a socket.
		chs_busywait 20000 no_sockets || chs_fail "associations do not end"
		said "$f" "$sport" "$count" > "$CHS_TMP/said"
		hold c "$f" "$count" "$sport"
		went c | diff "$CHS_TMP/said" - ||
			chs_fail "after $how: new ones do not follow the ring"
	done
	chs_conns c "$how"
}

no_sockets()
{
	[[ -z $(chs_in cl ss -HanS "dport = :$PORT") ]]
}

# Hundreds of short ones leave nothing behind (C-025).
short()
{
	local f=$1 i how

	service "$f" route 2 window 2 timeout 2
	chs_cmd_ok chs_ctl backend add dia "$(chs_be "$f" 3)" "$(chs_be "$f" 4)"
	for how in close reset; do
		for i in 1 2; do
			hold c "$f" 100 $((25000 + i * 100))
			chs_conns c "$how"
		done
	done
	chs_cmd_ok chs_ctl ring wait dia 60
	chs_expect "remembered" "$(chs_tracked lb)" 0
}

modprobe -q sctp || chs_skip_all "the kernel has no sctp"
chs_require_cmd jq
chs_direct_require
chs_setup
chs_run "topology" topology
((CHS_FAILED)) && chs_done
for f in 4 6; do
	chs_run "IPv$f: one port, many addresses" spread $f route
	for mode in route ipip gue; do
		chs_run "IPv$f, $mode: associations stay" steady $f $mode
	done
	chs_run "IPv$f: ended by SHUTDOWN" ends $f close
	chs_run "IPv$f: ended by ABORT" ends $f reset
done
chs_run "short ones leave nothing behind" short 4
chs_done
