#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# chs-timeout: 1200
#
# Fragments follow their datagram in the direct modes: in any order, of any size,
# of both families. Cases C-059, C-060.
#
#   cl ─── sw (bridge) ─┬─ lb
#                       └─ b1, b2, b3
#
# UDP on ports 53 (mode route), 54 (ipip), 55 (gue), TCP on 80, 81, 82.

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
			echo "service add $mode-u$f udp $(chs_ep "$(chs_vip "$f")" "${UDP[$mode]}") mode $mode $CHS_SMALL"
			echo "service add $mode-t$f tcp $(chs_ep "$(chs_vip "$f")" "${TCP[$mode]}") mode $mode $CHS_SMALL"
			echo "backend add $mode-u$f $be"
			echo "backend add $mode-t$f $be"
		done
	done
}

topology()
{
	chs_topo_t2 3 || return
	chs_ip cl addr add 192.0.2.11/24 dev c0
	chs_ip cl addr add 2001:db8:a::11/64 dev c0 nodad
	services | chs_batch || return
	chs_serve udp:53,udp:54,udp:55 b1 b2 b3
}

# count KEY: of the director
count()
{
	chs_in lb nstat -asz "$1" | awk -v key="$1" '$1 == key { print $2 }'
}

grew()
{
	(($(count "$1") > $2))
}

# Pieces that wait in vain are given up, and that is counted.
gaps()
{
	local f=$1 key before

	key=$([[ $f == 4 ]] && echo IpReasmFails || echo Ip6ReasmFails)
	chs_in lb sysctl -qw net.ipv4.ipfrag_time=1 net.netfilter.nf_conntrack_frag6_timeout=1
	before=$(count "$key")
	chs_frames fragments.py datagrams "$f" "$2" gaps
	chs_busywait 20000 grew "$key" "$before" || chs_fail "$key stays"
}

# Those of others are not put together here.
foreign()
{
	local before

	before=$(count IpReasmReqds)
	chs_in lb sysctl -qw net.ipv4.ip_forward=1
	chs_ip cl route add 198.51.100.12 via 192.0.2.1
	chs_cmd_ok chs_in cl ping -q -c 1 -W 10 -s 4000 198.51.100.12
	chs_expect "fragments put together" "$(count IpReasmReqds)" "$before"
	chs_in lb sysctl -qw net.ipv4.ip_forward=0
}

chs_require_cmd jq nstat ping
chs_direct_require
chs_setup
chs_run "topology" topology
((CHS_FAILED)) && chs_done
for f in 4 6; do
	for mode in "${MODES[@]}"; do
		chs_run "IPv$f, $mode: datagrams in pieces" \
			chs_frames fragments.py datagrams $f "${UDP[$mode]}"
		chs_run "IPv$f, $mode: SYNs in pieces" \
			chs_frames fragments.py syn $f "${TCP[$mode]}"
		((f == 4)) || chs_run "IPv$f, $mode: extension headers" \
			chs_frames fragments.py headers $f "${UDP[$mode]}"
	done
	chs_run "IPv$f: incomplete datagrams" gaps $f 53
done
chs_run "others' fragments are left alone" foreign
chs_done
