#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The same service address in two VRFs and outside any: each has its own service
# and its own backends, each packet is steered once, and none leaves its VRF
# (C-063); it is the name of a VRF that a service follows.
#
#              c1      e1
#   cl1 ────────┐ red  ┌──────── b1
#              c2      e2
#   cl2 ────────┤ blue ├ lb ──── b2
#              c3      e3
#   cl3 ────────┘      └──────── b3
#
#   clI 192.0.2.10, lb 192.0.2.1 and 198.51.100.1, bI 198.51.100.(10+I) and .50;
#   in IPv6 likewise with 2001:db8:a::, 2001:db8:b::. So lb has each of its
#   addresses three times. Backends answer by a line of their own, 10.0.9.0/24.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"
# shellcheck source=direct.sh
. "$CHS_LIB/net/direct.sh"

MODES=(route ipip gue)
declare -A PORT=([route]=80 [ipip]=81 [gue]=82)
VRF=([1]=red [2]=blue [3]='')

topology()
{
	local i vrf

	chs_direct_ns cl1 cl2 cl3 lb b1 b2 b3 || return
	for i in 1 2 3; do
		chs_link "cl$i" c0 lb "c$i" "b$i" e0 lb "e$i" "cl$i" c1 "b$i" e1 || return
		vrf=${VRF[i]:-lo}
		{
			if [[ ${VRF[i]} ]]; then
				echo "link add $vrf type vrf table $((100 + i))"
				echo "link set $vrf up"
				echo "link set c$i master $vrf"
				echo "link set e$i master $vrf"
			fi
			cat <<- EOT
				addr add $CHS_VIP4/32 dev $vrf
				addr add $CHS_VIP6/128 dev $vrf nodad
				addr add 192.0.2.1/24 dev c$i
				addr add 2001:db8:a::1/64 dev c$i nodad
				addr add 198.51.100.1/24 dev e$i
				addr add 2001:db8:b::1/64 dev e$i nodad
			EOT
		} | chs_ip lb -b - || return
		chs_ip "cl$i" -b - <<- EOF || return
			addr add $CHS_CL4/24 dev c0
			addr add $CHS_CL6/64 dev c0 nodad
			addr add 10.0.9.10/24 dev c1
			addr add 2001:db8:9::10/64 dev c1 nodad
			route add $CHS_VIP4 via 192.0.2.1 src $CHS_CL4
			route add $CHS_VIP6 via 2001:db8:a::1 src $CHS_CL6
		EOF
		chs_direct_backend "$i" 198.51.100.1 2001:db8:b::1 \
			"addr add 10.0.9.11/24 dev e1" \
			"addr add 2001:db8:9::11/64 dev e1 nodad" \
			"addr add 198.51.100.50/24 dev e0" \
			"addr add 2001:db8:b::50/64 dev e0 nodad" \
			"route add 192.0.2.0/24 via 10.0.9.10" \
			"route add 2001:db8:a::/64 via 2001:db8:9::10" || return
		chs_conns_start "cl$i" "cl$i" || return
	done
	# Only outside the VRFs.
	chs_ip lb route add 10.66.0.0/24 dev e3
	chs_ip lb route add 2001:db8:66::/64 dev e3
	services | chs_batch || return
	chs_serve tcp:80,tcp:81,tcp:82,udp:53 b1 b2 b3
}

services()
{
	local i f mode name

	for i in 1 2 3; do
		for f in 4 6; do
			for mode in "${MODES[@]}"; do
				name=$mode$f-${VRF[i]:-none}
				echo "service add $name tcp $(chs_ep "$(chs_vip "$f")" "${PORT[$mode]}") mode $mode${VRF[i]:+ vrf ${VRF[i]}}"
				echo "backend add $name $(chs_be "$f" "$i")"
			done
			name=udp$f-${VRF[i]:-none}
			echo "service add $name udp $(chs_ep "$(chs_vip "$f")" 53) mode route${VRF[i]:+ vrf ${VRF[i]}}"
			# One address, three hosts.
			[[ $f == 4 ]] && echo "backend add $name 198.51.100.50"
			[[ $f == 6 ]] && echo "backend add $name 2001:db8:b::50"
		done
	done
	return 0
}

# Each to its own.
each()
{
	local f=$1 mode i before name

	for i in 1 2 3; do
		for mode in "${MODES[@]}"; do
			chs_conns "cl$i" open tcp "$(chs_vip "$f")" "${PORT[$mode]}" 5
			chs_answers "cl$i, $mode" answered=5 "b$i=5"
		done
		chs_conns "cl$i" exchange size=1000
		chs_answers "cl$i" answered=15 broken=0 moved=0 "b$i=15"
		chs_conns "cl$i" reset
	done
	# One packet each, no more.
	for i in 1 2 3; do
		name=udp$f-${VRF[i]:-none}
		before=$(chs_packets lb)
		chs_conns "cl$i" open udp "$(chs_vip "$f")" 53 10
		chs_answers "cl$i, UDP" answered=10 lost=0 "b$i=10"
		chs_expect "packets of $name" "$(chs_packets lb "$name")" 10
		chs_expect "packets in all" "$(chs_packets lb)" $((before + 10))
		chs_conns "cl$i" close
	done
}

# lookup is asked about a VRF, or about none.
asked()
{
	local f=$1 i vip

	vip=$(chs_ep "$(chs_vip "$f")" 80)
	for i in 1 2 3; do
		# shellcheck disable=SC2086 # two words or none
		chs_cmd_ok chs_ctl -j lookup tcp "$(chs_ep "$(chs_cl "$f")" 4000)" "$vip" \
			${VRF[i]:+vrf ${VRF[i]}}
		chs_expect "service" "$(chs_json .service)" "route$f-${VRF[i]:-none}"
		chs_expect "backend" "$(chs_json .address)" "$(chs_be "$f" "$i")"
	done
	chs_cmd_ok chs_ctl -j service show "route$f-red"
	chs_expect vrf "$(chs_json '.[0].vrf')" red
	chs_cmd_ok chs_ctl -j service show "route$f-none"
	chs_expect vrf "$(chs_json '.[0].vrf')" null
}

# A service outside does not take what is inside, nor the other way round.
apart()
{
	local f=$1 vip

	vip=$(chs_ep "$(chs_vip "$f")" 90)
	chs_cmd_ok chs_batch <<- EOF
		service add out tcp $vip mode route
		service add in tcp $vip mode route vrf blue
		backend add out $(chs_be "$f" 3)
		backend add in $(chs_be "$f" 2)
	EOF
	# Nobody listens there: a reset, by a backend or by lb.
	chs_conns cl1 open tcp "$(chs_vip "$f")" 90 3
	chs_answers "red, no service" refused=3
	chs_expect "packets" "$(chs_packets lb out) $(chs_packets lb in)" "0 0"
	chs_conns cl2 open tcp "$(chs_vip "$f")" 90 3
	chs_conns cl3 open tcp "$(chs_vip "$f")" 90 3
	(($(chs_packets lb in) >= 3 && $(chs_packets lb out) >= 3)) ||
		chs_fail "not steered"
	chs_cmd_fail EEXIST in chs_ctl service add again tcp "$vip" mode route vrf blue
	chs_cmd_ok chs_batch <<- EOF
		service del out
		service del in
	EOF
	for i in 1 2 3; do
		chs_conns "cl$i" forget
	done
}

# A backend that only those outside could reach is not reached from inside.
leak()
{
	local f=$1 vip far=10.66.0.5 mode drops

	[[ $f == 6 ]] && far=2001:db8:66::5
	vip=$(chs_ep "$(chs_vip "$f")" 91)
	for mode in "${MODES[@]}"; do
		chs_batch <<- EOF || chs_fail "refused"
			service add leak udp $vip mode $mode vrf red
			backend add leak $far
		EOF
		chs_cmd_ok chs_ctl -j backend show leak
		chs_expect "$mode: reachable" "$(chs_json '.[0].reachable')" false
		chs_conns cl1 open udp "$(chs_vip "$f")" 91 3 timeout=500
		chs_answers "$mode" answered=0
		drops=$(chs_ctl -j stats leak | jq '.[0].drops | add')
		chs_expect "$mode: drops" "$drops" 3
		chs_conns cl1 close
		chs_cmd_ok chs_ctl service del leak
	done
	chs_expect "got out" "$(chs_in b3 nft -j list chain inet t in |
		jq '[.. | .counter? | objects | .packets] | add')" 0
}

watch_b3()
{
	# Neighbours are asked for, if at all, where the packet would leave.
	chs_in b3 nft -f - <<- EOF
		add table inet t
		add chain inet t in { type filter hook prerouting priority raw; }
		add rule inet t in ip daddr 10.66.0.0/24 counter
		add rule inet t in ip6 daddr 2001:db8:66::/64 counter
	EOF
	chs_ip lb neigh add 10.66.0.5 lladdr "$(lladdr b3)" dev e3
	chs_ip lb neigh add 2001:db8:66::5 lladdr "$(lladdr b3)" dev e3
}

lladdr()
{
	chs_ip "$1" -j link show e0 | jq -r '.[0].address'
}

# A service follows the name: a device that is renamed is another VRF, one that has
# only the index of a former one too, and one that gets the name is the service's.
names()
{
	local index before

	chs_cmd_ok chs_ip lb -b - <<- EOF
		link set red down
		link set red name crimson
		link set crimson up
		addr replace $CHS_VIP6/128 dev crimson nodad
	EOF
	before=$(chs_packets lb route4-red)
	chs_conns cl1 open tcp "$CHS_VIP4" 80 3
	chs_answers "renamed" refused=3
	chs_conns cl1 forget
	chs_expect "packets" "$(chs_packets lb route4-red)" "$before"
	chs_cmd_ok chs_ctl -j service show route4-red
	chs_expect "present" "$(chs_json '.[0].vrf_present')" false
	chs_cmd_ok chs_batch <<- EOF
		service add crimson tcp $CHS_VIP4:80 mode route vrf crimson
		backend add crimson $(chs_be 4 1)
	EOF
	chs_conns cl1 open tcp "$CHS_VIP4" 80 3
	chs_answers "the new name's" answered=3 b1=3
	chs_conns cl1 reset
	index=$(chs_ip lb -j link show crimson | jq '.[0].ifindex')
	chs_cmd_ok chs_ip lb -b - <<- EOF
		link del crimson
		link add green index $index type vrf table 120
		link set green up
		link set c1 master green
		link set e1 master green
		addr add $CHS_VIP4/32 dev green
	EOF
	chs_conns cl1 open tcp "$CHS_VIP4" 80 3
	chs_answers "another with its index" refused=3
	chs_conns cl1 forget
	chs_expect "packets" "$(chs_packets lb route4-red)" "$before"
	# The ways to its backends lead through the new table.
	chs_cmd_ok chs_ip lb -b - <<- EOF
		link set green down
		link set green name red
		link set red up
	EOF
	chs_conns cl1 open tcp "$CHS_VIP4" 80 3
	chs_answers "back" answered=3 b1=3
	chs_conns cl1 reset
	(($(chs_packets lb route4-red) > before)) || chs_fail "not steered"
	chs_cmd_ok chs_ctl service del crimson
}

# The answer to what no backend can take leaves by the VRF that it came in by, not
# by the main table's default route.
rejects()
{
	local f=$1

	chs_ip lb route replace default dev e3
	chs_ip lb -6 route replace default dev e3
	chs_cmd_ok chs_batch <<- EOF
		service add rst tcp $(chs_ep "$(chs_vip "$f")" 93) mode route vrf red
		service add icmp udp $(chs_ep "$(chs_vip "$f")" 93) mode route vrf red
		service add out tcp $(chs_ep "$(chs_vip "$f")" 93) mode route
	EOF
	chs_conns cl1 open tcp "$(chs_vip "$f")" 93 3 timeout=5000
	chs_answers "TCP" refused=3
	chs_conns cl1 forget
	chs_conns cl1 open udp "$(chs_vip "$f")" 93 1 timeout=5000
	chs_answers "UDP" refused=1
	chs_conns cl1 close
	chs_conns cl3 open tcp "$(chs_vip "$f")" 93 3 timeout=5000
	chs_answers "outside" refused=3
	chs_conns cl3 forget
	chs_cmd_ok chs_batch <<- EOF
		service del rst
		service del icmp
		service del out
	EOF
}

# The device goes, its services stay, and nobody else notices.
gone()
{
	chs_ip lb link del red
	chs_conns cl2 open tcp "$CHS_VIP4" 80 5
	chs_answers blue answered=5
	chs_conns cl3 open tcp "$CHS_VIP6" 82 5
	chs_answers "no VRF" answered=5
	chs_cmd_ok chs_ctl service show
	chs_cmd_ok chs_ctl service del route4-red
	chs_cmd_ok chs_ctl flush
}

chs_require_cmd jq nft
chs_direct_require
chs_require_module vrf
chs_setup
chs_run "topology" topology
((CHS_FAILED)) && chs_done
chs_run "others are watched" watch_b3
for f in 4 6; do
	chs_run "IPv$f: each client has its own backend, each packet is one" each $f
	chs_run "IPv$f: lookup" asked $f
	chs_run "IPv$f: services are apart" apart $f
	chs_run "IPv$f: nothing leaks out" leak $f
	chs_run "IPv$f: refusals are answered in the VRF" rejects $f
done
chs_run "a VRF's device is renamed, and its index used again" names
chs_run "a VRF goes" gone
chs_done
