#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Packets that a process had a look at (nfnetlink_queue) go on from that process:
# hooks are entered with bottom halves on, at PRE_ROUTING as well. They are
# steered as any others. A debug kernel complains if counters or what else is per
# CPU is then touched with bottom halves on.
#
#   cl ─── lb ─── sw ─── b1 ... b3
#
# Services: web is TCP port 80 in mode nat, www TCP port 81 in mode route, dns UDP
# port 53 in mode route, whose flows are remembered.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"
# shellcheck source=direct.sh
. "$CHS_LIB/net/direct.sh"

PREROUTING=0 OUTPUT=3	# as the kernel numbers its hooks

# An address that lb only has a route for, or it would send from it.
vip()
{
	[[ $1 == 4 ]] && echo 203.0.113.81 || echo 2001:db8:f::81
}

topology()
{
	local f i name

	chs_topo_t1 3 || return
	chs_ip lb -b - <<- EOF || return
		route add $(vip 4) via 198.51.100.99
		route add $(vip 6) via 2001:db8:b::99
	EOF
	for i in 1 2 3; do
		chs_ip "b$i" -b - <<- EOF || return
			addr add $(vip 4)/32 dev lo
			addr add $(vip 6)/128 dev lo nodad
		EOF
	done
	chs_serve tcp:80,tcp:81,udp:53 b1 b2 b3 || return
	chs_conns_start cl cl
	chs_conns_start lb lb
	for f in 4 6; do
		cat <<- EOF
			service add web$f tcp $(chs_ep "$(vip "$f")" 80) $CHS_SMALL
			service add www$f tcp $(chs_ep "$(vip "$f")" 81) mode route $CHS_SMALL
			service add dns$f udp $(chs_ep "$(vip "$f")" 53) mode route $CHS_SMALL
		EOF
		for name in web www dns; do
			echo "backend add $name$f $(chs_be "$f" 1) $(chs_be "$f" 2) $(chs_be "$f" 3)"
		done
	done | chs_batch || return

	chs_bg chs_in lb "$CHS_LIB/net/queue.py" 7
	QUEUED=$CHS_TMP/$CHS_PID.log
	chs_busywait 20000 grep -qx bound "$QUEUED" || return
	chs_in lb nft -f - <<- EOF
		table inet early {
			chain pre {
				type filter hook prerouting priority -500
				ip daddr $(vip 4) queue num 7
				ip6 daddr $(vip 6) queue num 7
			}
			chain out {
				type filter hook output priority -500
				ip daddr $(vip 4) queue num 7
				ip6 daddr $(vip 6) queue num 7
			}
		}
	EOF
}

# queued HOOK: packets that came from there so far
queued()
{
	grep -cx "$1" "$QUEUED"
}

# steered FAMILY FROM HOOK: flows of every service, each where lookup says
steered()
{
	local f=$1 from=$2 hook=$3 port proto before

	for port in 80 81 53; do
		proto=tcp
		((port == 53)) && proto=udp
		before=$(queued "$hook")
		chs_conns "$from" open "$proto" "$(vip "$f")" "$port" 30
		chs_answers "port $port" answered=30 broken=0 lost=0
		chs_conns "$from" exchange
		chs_answers "port $port" answered=30 moved=0 broken=0 lost=0
		(($(queued "$hook") >= before + 60)) ||
			chs_fail "port $port: no packet was in the queue"
		chs_conns "$from" table "$CHS_TMP/table"
		chs_asked "$CHS_TMP/table" established > "$CHS_TMP/asked"
		chs_ctl -j -b "$CHS_TMP/asked" | jq -r .address |
			diff - "$CHS_TMP/reached" || chs_fail "port $port: lookup disagrees"
		chs_conns "$from" reset
	done
}

chs_require_cmd jq nft
chs_require_module nfnetlink_queue nft_queue
chs_setup
chs_run "topology" topology
((CHS_FAILED)) && chs_done
for f in 4 6; do
	chs_run "IPv$f: forwarded" steered $f cl $PREROUTING
	chs_run "IPv$f: from this host" steered $f lb $OUTPUT
done
chs_done
