#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# chs-timeout: 1200
#
# Modes ipip and gue, with inner and outer packets of both families: what is on
# the line, where it comes from, and that backends take it. Cases C-046 to C-050,
# C-054.
#
#   cl ─── lb ─── r ─┬─ b1
#    └──────────────┘└─ b2
#
# A service for each pair has inner and outer family in its name and port, for
# TCP and for UDP: ipip46 is 8046, gue66 is 9066.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"
# shellcheck source=direct.sh
. "$CHS_LIB/net/direct.sh"

PAIRS=(44 46 64 66)
declare -A BASE=([ipip]=8000 [gue]=9000)

services()
{
	local mode pair port

	for mode in ipip gue; do
		for pair in "${PAIRS[@]}"; do
			port=$((BASE[$mode] + pair))
			echo "service add t-$mode$pair tcp $(chs_ep "$(chs_vip "${pair%?}")" "$port") mode $mode $CHS_SMALL"
			echo "service add u-$mode$pair udp $(chs_ep "$(chs_vip "${pair%?}")" "$port") mode $mode affinity transition $CHS_SMALL"
			echo "backend add t-$mode$pair $(chs_be "${pair#?}" 1) $(chs_be "${pair#?}" 2)"
			echo "backend add u-$mode$pair $(chs_be "${pair#?}" 1) $(chs_be "${pair#?}" 2)"
		done
	done
}

topology()
{
	local mode pair list=''

	chs_topo_t3 2 || return
	# Whoever checks sources must find nothing wrong.
	chs_in r sysctl -qw net.ipv4.conf.r0.rp_filter=1
	chs_in b1 sysctl -qw net.ipv4.conf.e0.rp_filter=1
	chs_in b2 sysctl -qw net.ipv4.conf.e0.rp_filter=1
	# On the line are whole packets then, with all their checksums.
	chs_in lb "$CHS_LIB/net/features.py" tx-checksum-ip-generic=off l1 || return
	for mode in ipip gue; do
		for pair in "${PAIRS[@]}"; do
			list+=",tcp:$((BASE[$mode] + pair)),udp:$((BASE[$mode] + pair))"
		done
	done
	chs_cmd_ok chs_batch < <(services)
	[[ -z $CHS_ERR ]] || chs_fail "warned: $CHS_ERR"
	chs_serve "${list#,}" b1 b2 || return
	chs_conns_start c cl
}

# bad: checksum errors of all kinds that anybody has counted
bad()
{
	local name

	for name in cl lb r b1 b2; do
		chs_in "$name" nstat -asz | grep InCsumErrors
	done | awk '{ n += $2 } END { print n + 0 }'
}

traffic()
{
	local mode=$1 pair vip port

	for pair in "${PAIRS[@]}"; do
		vip=$(chs_vip "${pair%?}") port=$((BASE[$mode] + pair))
		chs_conns c open tcp "$vip" "$port" 12
		chs_answers "$mode$pair, TCP" answered=12
		(($(chs_conns_get b1) > 0 && $(chs_conns_get b2) > 0)) ||
			chs_fail "$mode$pair: all at one backend"
		chs_conns c open udp "$vip" "$port" 6
		chs_answers "$mode$pair, UDP" answered=6
		chs_conns c exchange size=1000
		chs_answers "$mode$pair" answered=18 moved=0 broken=0 lost=0
		chs_conns c reset
	done
	chs_expect "checksum errors" "$(bad)" 0
}

# What family goes into which is kept through every command (C-047).
kept()
{
	local text mode pair

	text=$(chs_ctl save)
	chs_cmd_ok chs_ctl flush
	chs_cmd_ok chs_ctl apply - <<< "$text"
	chs_expect "saved again" "$(chs_ctl save)" "$text"
	for mode in ipip gue; do
		for pair in "${PAIRS[@]}"; do
			chs_cmd_ok chs_ctl -j backend show "t-$mode$pair"
			chs_expect "backends of $mode$pair" "$(chs_json '[.[].address] | join(" ")')" \
				"$(chs_be "${pair#?}" 1) $(chs_be "${pair#?}" 2)"
		done
	done
}

big()
{
	local pair

	for pair in 44 66; do
		chs_frames tunnel.py big "$1" "${pair%?}" "${pair#?}" $((BASE[$1] + pair))
	done
}

unusable()
{
	chs_ctl -j backend show "$1" |
		jq -e 'all(.reachable == false and .why != null)'
}

# An address that is not here is warned of, judged packet by packet, and used as
# soon as it is here (C-046).
source_option()
{
	local o=$1 mode address=10.0.3.77/32 nodad=''

	[[ $o == 6 ]] && address=2001:db8:3::77/128 nodad=nodad
	for mode in ipip gue; do
		chs_cmd_ok chs_ctl service set "u-$mode${o}$o" source "${address%/*}"
		[[ $CHS_ERR == *Warning:*"${address%/*}"* ]] || chs_fail "no warning"
		chs_frames tunnel.py source "$o" $((BASE[$mode] + o * 11)) "u-$mode${o}$o" none
		unusable "u-$mode${o}$o" || chs_fail "not shown"
	done
	chs_ip lb addr add "$address" dev l1 ${nodad:+"$nodad"}
	for mode in ipip gue; do
		chs_frames tunnel.py source "$o" $((BASE[$mode] + o * 11)) "u-$mode${o}$o" "${address%/*}"
		unusable "u-$mode${o}$o" && chs_fail "still shown"
	done
	chs_ip lb addr del "$address" dev l1
	for mode in ipip gue; do
		chs_frames tunnel.py source "$o" $((BASE[$mode] + o * 11)) "u-$mode${o}$o" none
		# A source of the wrong family, and one that is nobody's.
		chs_cmd_fail EINVAL "" chs_ctl service set "u-$mode${o}$o" source 127.0.0.1
		chs_cmd_fail EINVAL "" chs_ctl service set "u-$mode${o}$o" source ff02::1
	done
	# The others have not noticed.
	chs_frames tunnel.py source $((10 - o)) $((8000 + (10 - o) * 10 + o)) "u-ipip$((10 - o))$o" \
		"$([[ $o == 4 ]] && echo 10.0.3.2 || echo 2001:db8:3::2)"
}

# Without the option it is the route's, which may change.
source_by_route()
{
	local o=$1 old=10.0.3.2/24 new=10.0.3.3/24 mode nodad=''

	[[ $o == 6 ]] && old=2001:db8:3::2/64 new=2001:db8:3::3/64 nodad=nodad
	chs_ip lb -b - <<- EOF || return
		addr del $old dev l1
		addr add $new dev l1 $nodad
		route replace 198.51.100.0/24 via 10.0.3.1
		route replace 2001:db8:b::/64 via 2001:db8:3::1
	EOF
	for mode in ipip gue; do
		chs_frames tunnel.py source 4 $((BASE[$mode] + 40 + o)) "u-${mode}4$o" "${new%/*}"
	done
	chs_ip lb -b - <<- EOF || return
		addr del $new dev l1
		addr add $old dev l1 $nodad
		route replace 198.51.100.0/24 via 10.0.3.1
		route replace 2001:db8:b::/64 via 2001:db8:3::1
	EOF
	chs_frames tunnel.py source 4 $((8040 + o)) "u-ipip4$o" "${old%/*}"
}

# Through a VLAN with less room, and through yet another tunnel (C-048).
behind()
{
	local mode pair port

	for mode in ipip gue; do
		for pair in "${PAIRS[@]}"; do
			port=$((BASE[$mode] + pair))
			chs_conns c open tcp "$(chs_vip "${pair%?}")" "$port" 4
			chs_answers "$mode$pair, small" answered=4
			chs_conns c exchange timeout=60000 size=60000
			chs_answers "$mode$pair, large" answered=4 moved=0 broken=0
			chs_conns c reset
		done
	done
	chs_expect "checksum errors" "$(bad)" 0
}

vlan()
{
	local name end

	for name in lb:l1:2 r:r0:1; do
		IFS=: read -r name dev end <<< "$name"
		chs_ip "$name" -b - <<- EOF || return
			link add link $dev name v5 mtu 1496 type vlan id 5
			addr add 10.0.5.$end/24 dev v5
			addr add 2001:db8:5::$end/64 dev v5 nodad
			link set v5 up
		EOF
	done
	chs_ip lb -b - <<- EOF || return
		route replace 198.51.100.0/24 via 10.0.5.1
		route replace 2001:db8:b::/64 via 2001:db8:5::1
	EOF
	behind
}

nested()
{
	chs_ip lb -b - <<- EOF || return
		link add x0 type ip6tnl mode any local 2001:db8:3::2 remote 2001:db8:3::1 encaplimit none
		addr add 10.0.4.2/24 dev x0
		addr add 2001:db8:4::2/64 dev x0 nodad
		link set x0 up
		route replace 198.51.100.0/24 dev x0
		route replace 2001:db8:b::/64 dev x0
	EOF
	chs_ip r -b - <<- EOF || return
		link add x0 type ip6tnl mode any local 2001:db8:3::1 remote 2001:db8:3::2 encaplimit none
		addr add 10.0.4.1/24 dev x0
		addr add 2001:db8:4::1/64 dev x0 nodad
		link set x0 up
	EOF
	behind
}

chs_require_cmd jq nstat
chs_direct_require
chs_require_module 8021q
chs_setup
chs_run "topology" topology
((CHS_FAILED)) && chs_done
for mode in ipip gue; do
	for pair in "${PAIRS[@]}"; do
		chs_run "$mode, IPv${pair%?} in IPv${pair#?}: headers, and the last hop" \
			chs_frames tunnel.py headers+ttl $mode "${pair%?}" "${pair#?}" \
			$((BASE[$mode] + pair))
	done
	# One of each family: the code is shared.
	chs_run "$mode: lengths that 16 bits do not hold" big $mode
	chs_run "$mode: backends take it" traffic $mode
done
chs_run "families are kept by save and apply" kept
for o in 4 6; do
	chs_run "IPv$o outside: source by route" source_by_route $o
	chs_run "IPv$o outside: option source" source_option $o
done
chs_run "services again" chs_batch < <(echo flush; services)
chs_run "behind a VLAN" vlan
chs_run "behind another tunnel" nested
chs_done
