#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# chs-timeout: 1200
#
# Packets too big for their way: the client is told what would fit, exactly, from
# the address that it knows, in a proper packet; what may be fragmented is; and
# what the kernel has merged is judged by its segments. Cases C-041 to C-044,
# C-056, C-057, C-058.
#
#   cl ─── lb ─── r ─┬─ b1
#    └──────────────┘└─ b2
#
# A service for each pair has inner and outer family in its name and port, for
# TCP and for UDP: ipip46 is 8046, gue66 is 9066. Mode route reaches r only, which
# nobody answers: route44 is 7044.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"
# shellcheck source=direct.sh
. "$CHS_LIB/net/direct.sh"

PAIRS=(44 46 64 66)
declare -A BASE=([route]=7000 [ipip]=8000 [gue]=9000)
IPERF=5201

services()
{
	local mode pair port f

	for mode in ipip gue; do
		for pair in "${PAIRS[@]}"; do
			port=$((BASE[$mode] + pair))
			echo "service add t-$mode$pair tcp $(chs_ep "$(chs_vip "${pair%?}")" "$port") mode $mode $CHS_SMALL"
			echo "service add u-$mode$pair udp $(chs_ep "$(chs_vip "${pair%?}")" "$port") mode $mode affinity transition $CHS_SMALL"
			echo "backend add t-$mode$pair $(chs_be "${pair#?}" 1) $(chs_be "${pair#?}" 2)"
			echo "backend add u-$mode$pair $(chs_be "${pair#?}" 1) $(chs_be "${pair#?}" 2)"
		done
	done
	for f in 4 6; do
		echo "service add u-route$f$f udp $(chs_ep "$(chs_vip "$f")" $((7000 + f * 11))) mode route affinity transition $CHS_SMALL"
		echo "service add iperf$f tcp $(chs_ep "$(chs_vip "$f")" "$IPERF") mode gue $CHS_SMALL"
		echo "backend add iperf$f $(chs_be "$f" 1)"
	done
	echo "backend add u-route44 10.0.3.1"
	echo "backend add u-route66 2001:db8:3::1"
}

# known NAME DEV OTHER THEIRS ADDRESS: Linux forgets what it learnt of a path as soon
# as it collects garbage, unless it has heard its next hop say that it is a router.
known()
{
	local mac

	mac=$(chs_ip "$3" -j link show "$4" | jq -r '.[0].address') &&
		chs_ip "$1" neigh replace "$5" dev "$2" lladdr "$mac" router nud permanent
}

topology()
{
	local mode pair list=''

	chs_topo_t3 2 || return
	known cl c0 lb l0 2001:db8:a::1 || return
	known lb l1 r r0 2001:db8:3::1 || return
	for mode in ipip gue; do
		for pair in "${PAIRS[@]}"; do
			list+=",tcp:$((BASE[$mode] + pair)),udp:$((BASE[$mode] + pair))"
		done
	done
	# The client has no way to addresses behind lb, and wants none from there.
	chs_in cl sysctl -qw net.ipv4.conf.c0.rp_filter=1 net.ipv4.conf.c0.log_martians=1
	services | chs_batch || return
	chs_serve "${list#,}" b1 b2 || return
	chs_conns_start c cl
	chs_conns_start l lb
}

# What the client may send is told for each mode and pair, whatever the link takes.
told()
{
	local mode=$1 pair words=()

	for pair in "${PAIRS[@]}"; do
		[[ $mode == route && ${pair%?} != "${pair#?}" ]] && continue
		words+=("${pair%?}" "${pair#?}" $((BASE[$mode] + pair)))
	done
	chs_frames tunnel.py toobig "$mode" "$2" "${words[@]}"
}

# A smaller link, for all modes.
links()
{
	local mode

	chs_ip lb link set l1 mtu 1400
	chs_ip r link set r0 mtu 1400
	for mode in route ipip gue; do
		told "$mode" 1400
	done
	chs_ip lb link set l1 mtu 1500
	chs_ip r link set r0 mtu 1500
}

tagged()
{
	local name dev end

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
	chs_frames tunnel.py toobig ipip 1496 4 4 8044
	chs_frames tunnel.py toobig gue 1496 6 6 9066
	chs_frames tunnel.py fragmented 4 8044
	chs_ip lb -b - <<- EOF || return
		route replace 198.51.100.0/24 via 10.0.3.1
		route replace 2001:db8:b::/64 via 2001:db8:3::1
		link del v5
	EOF
	chs_ip r link del v5
	forget
}

jumbo()
{
	chs_ip cl link set c0 mtu 9000
	chs_ip lb link set l0 mtu 9000
	told gue 1500
	chs_ip cl link set c0 mtu 1500
	chs_ip lb link set l0 mtu 1500
}

# What has been learnt about paths, by those who learn it here.
forget()
{
	local name

	for name in cl lb; do
		chs_ip "$name" -4 route flush cache
		chs_ip "$name" -6 route flush cache
	done
}

# Where lb has no route to the client but by a rule (C-044).
by_rule()
{
	chs_ip lb -b - <<- EOF || return
		rule add iif lo lookup 77
		route add 192.0.2.0/24 dev l0 table 77
		route del 192.0.2.0/24 dev l0
	EOF
	chs_frames tunnel.py toobig ipip 1500 4 4 8044
	chs_ip lb -b - <<- EOF
		rule del iif lo lookup 77
		route add 192.0.2.0/24 dev l0 src 192.0.2.1
	EOF
}

# A router behind lb has less room than lb's own link.
learnt()
{
	local mode=$1 pair i=0

	# Another MTU each time, so that nothing old is taken for new.
	for pair in "${PAIRS[@]}"; do
		forget
		chs_ip r link set br0 mtu $((1400 - i))
		chs_frames tunnel.py learnt "$mode" "${pair%?}" "${pair#?}" \
			$((BASE[$mode] + pair)) $((1400 - i++))
	done
	chs_ip r link set br0 mtu 1500
	forget
}

# errors: that the client has been told
errors()
{
	chs_in cl nstat -asz IcmpInDestUnreachs Icmp6InPktTooBigs |
		awk '/^Icmp/ { n += $2 } END { print n + 0 }'
}

# bad: checksum errors of all kinds that anybody has counted
bad()
{
	local name

	for name in cl lb r b1 b2; do
		chs_in "$name" nstat -asz | grep InCsumErrors
	done | awk '{ n += $2 } END { print n + 0 }'
}

# route_mtu WORD...: how large the client's packets to the service addresses are
route_mtu()
{
	chs_ip cl -b - <<- EOF
		route replace $CHS_VIP4 via 192.0.2.1 src $CHS_CL4 $*
		route replace $CHS_VIP6 via 2001:db8:a::1 src $CHS_CL6 $*
	EOF
}

# offload SENDS MERGES [LIST]: on or off each: whether the client's device makes
# the segments, whether the director merges them, and as a list
offload()
{
	local sends=$1 merges=$2

	chs_in cl "$CHS_LIB/net/features.py" \
		"tx-tcp-segmentation=$sends,tx-tcp6-segmentation=$sends,tx-checksum-ip-generic=$sends" c0 &&
		chs_in lb "$CHS_LIB/net/features.py" "rx-gro=$merges,rx-gro-list=${3:-off}" l0
}

# Everything that was sent comes back as it was.
transfer()
{
	local mode=$1 pair size=$2

	for pair in "${PAIRS[@]}"; do
		chs_conns c open tcp "$(chs_vip "${pair%?}")" $((BASE[$mode] + pair)) 3
		chs_answers "$mode$pair, small" answered=3
	done
	chs_conns c exchange timeout=100000 size="$size"
	chs_answers "$mode, $size bytes" answered=12 moved=0 broken=0
	chs_conns c reset
}

# While segments fit, no error, however they are merged. Somebody listens in on
# either side, and so holds clones of what is changed.
fits()
{
	local before dump how=("$@") mode

	forget
	route_mtu mtu lock 1400
	offload "${how[@]}" || chs_fail "the offload cannot be set"
	chs_bg chs_in lb tcpdump -i any -s 100 -w /dev/null
	dump=$CHS_PID
	chs_busywait 20000 grep -q listening "$CHS_TMP/$dump.log" ||
		chs_fail "tcpdump does not start"
	before=$(errors)
	for mode in ipip gue; do
		transfer "$mode" "$(chs_amount 60000 150000 30000)"
	done
	chs_expect "errors" $(($(errors) - before)) 0
	chs_expect "checksum errors" "$(bad)" 0
	chs_kill "$dump"
	route_mtu
}

# Once told, a client knows: for all its connections, and at once.
converges()
{
	local mode=$1 before told pair size

	size=$(chs_amount 60000 100000 20000)
	forget
	offload "${@:2}" || chs_fail "the offload cannot be set"
	for pair in "${PAIRS[@]}"; do
		before=$(errors)
		chs_conns c open tcp "$(chs_vip "${pair%?}")" $((BASE[$mode] + pair)) 1
		chs_conns c exchange timeout=100000 size="$size"
		chs_answers "$mode$pair" answered=1 broken=0
		chs_in cl sysctl -qw net.ipv6.route.flush=1 # collects what is old
		told=$(($(errors) - before))
		# As many as the segments that were under way; a slow client sends
		# some of them again before it heeds the first error.
		chs_expect_range "$mode$pair: errors" "$told" 1 $((10 * CHS_SLOW))
		chs_conns c exchange timeout=100000 size="$size"
		chs_conns c open tcp "$(chs_vip "${pair%?}")" $((BASE[$mode] + pair)) 2
		chs_conns c exchange timeout=100000 size="$size"
		chs_answers "$mode$pair" answered=3 broken=0
		chs_expect "$mode$pair: errors later" $(($(errors) - before)) "$told"
		chs_conns c reset
		forget
	done
	chs_expect "checksum errors" "$(bad)" 0
}

# iperf FAMILY: some megabytes, one stream and four. What is still under way when
# the client stops is not counted: no more than the buffers hold.
iperf()
{
	local f=$1 streams size buffer=131072 least

	size=$(($(chs_amount 4 16 4) << 20))

	for streams in 1 4; do
		chs_cmd_ok chs_in cl iperf3 -J -c "$(chs_vip "$f")" -p "$IPERF" \
			-n "$size" -w "$buffer" -P "$streams" --connect-timeout 10000
		# The kernel doubles a buffer, and there is one at either end.
		least=$((size - streams * buffer * 4))
		(($(jq '.end.sum_received.bytes' <<< "$CHS_OUT") >= least)) ||
			chs_fail "fewer than $least bytes arrive"
	done
}

iperf_gue()
{
	local f before

	chs_bg chs_in b1 iperf3 -s -p "$IPERF"
	chs_wait_listen b1 tcp "$IPERF" || chs_fail "no iperf3"
	forget
	offload off on || chs_fail "the offload cannot be set"
	for f in 4 6; do
		before=$(errors)
		route_mtu mtu lock 1400
		iperf "$f"
		chs_expect "IPv$f: errors while segments fit" $(($(errors) - before)) 0
		route_mtu
		iperf "$f"
		# Two connections at first, then five.
		chs_expect_range "IPv$f: errors while they do not" \
			$(($(errors) - before)) 1 $((20 * CHS_SLOW))
		forget
	done
	chs_expect "checksum errors" "$(bad)" 0
}

# A sender on lb itself has no other to tell it.
local_sender()
{
	local f src pair mode

	chs_in lb sysctl -qw net.ipv4.conf.{all,l0,l1}.accept_local=1
	chs_ip r -b - <<- EOF
		route add 192.0.2.1 via 10.0.3.2
		route add 2001:db8:a::1 via 2001:db8:3::2
	EOF
	for mode in ipip gue; do
		for pair in 44 66; do
			f=${pair%?}
			src=10.0.3.2
			[[ $f == 6 ]] && src=2001:db8:3::2
			chs_conns l open tcp "$(chs_vip "$f")" $((BASE[$mode] + pair)) 2 src="$src"
			chs_answers "$mode$pair" answered=2
			chs_conns l exchange timeout=60000 size=60000
			chs_answers "$mode$pair" answered=2 broken=0
			chs_conns l reset
		done
	done
}

chs_require_cmd jq nstat tcpdump iperf3
chs_direct_require
chs_require_module 8021q
chs_setup
chs_run "topology" topology
((CHS_FAILED)) && chs_done
chs_run "ipip: what fits is told" told ipip 1500
chs_run "gue: what fits is told" told gue 1500
chs_run "a smaller link" links
chs_run "a VLAN" tagged
chs_run "a larger link before" jumbo
chs_run "the client is behind a rule" by_rule
chs_run "ipip: a smaller link further on" learnt ipip
chs_run "gue: a smaller link further on" learnt gue
chs_run "IPv4: told not too often" chs_frames tunnel.py rate 4 9044 u-gue44
chs_run "IPv6: told not too often" chs_frames tunnel.py rate 6 9066 u-gue66
for pair in "${PAIRS[@]}"; do
	chs_run "ipip, IPv${pair%?} in IPv${pair#?}: fragments" chs_frames tunnel.py \
		fragmented "${pair%?}" $((BASE[ipip] + pair))
	chs_run "gue, IPv${pair%?} in IPv${pair#?}: fragments" chs_frames tunnel.py \
		fragmented "${pair%?}" $((BASE[gue] + pair))
done
chs_run "merged by the sender" fits on off
chs_run "merged by the director" fits off on
chs_run "merged as a list" fits off on on
chs_run "ipip: converges" converges ipip on off
chs_run "gue: converges" converges gue off on
chs_run "iperf3 through gue" iperf_gue
chs_run "local senders" local_sender
chs_done
