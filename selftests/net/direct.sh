# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests of the direct modes share: backends that hold the service
# addresses themselves, take packets out of tunnels and answer past the
# director; topologies with one director, with two, and with a router before the
# backends. Sourced, after traffic.sh.
#
# Directors do not forward: what the module does not steer gets nowhere.

# What decapsulates on the backends.
chs_direct_require()
{
	chs_require_module ipip sit ip6_tunnel fou
}

CHS_GUE_PORT=6080

# chs_direct_ns NAME...: namespaces without duplicate address detection, which
# would hold up the first packets, and without reverse-path checks.
chs_direct_ns()
{
	local name

	chs_setup_ns "$@" || return
	for name in "$@"; do
		chs_in "$name" sysctl -qw net.ipv4.conf.{all,default}.rp_filter=0 \
			net.ipv6.conf.{all,default}.accept_dad=0 || return
	done
}

# chs_direct_backend I GATEWAY4 GATEWAY6 [COMMAND...]: addresses of a backend that
# has its link e0: its own, those of the services on lo, for which it stays
# silent, and a device for each pair of inner and outer family:
#
#   t44 (4 in 4)   t64 (6 in 4)   t6 (both in 6)
#
# Packets in UDP come to the same devices. More commands of ip(8) may follow.
chs_direct_backend()
{
	local i=$1 b4 b6

	b4=$(chs_b4 "$i") b6=$(chs_b6 "$i")
	chs_in "b$i" sysctl -qw net.ipv4.conf.{all,default}.arp_ignore=1 \
		net.ipv4.conf.{all,default}.arp_announce=2 || return
	{
		cat <<- EOT
			addr add $b4/24 dev e0
			addr add $b6/64 dev e0 nodad
			addr add $CHS_VIP4/32 dev lo
			addr add $CHS_VIP6/128 dev lo nodad
			route add default via $2
			route add default via $3
			link add t44 type ipip local $b4 remote any
			link add t64 type sit local $b4 remote any
			link add t6 type ip6tnl mode any local $b6 remote any
			link set t44 up
			link set t64 up
			link set t6 up
			fou add port $CHS_GUE_PORT gue
			fou add port $CHS_GUE_PORT gue -6
		EOT
		((${#@} > 3)) && printf '%s\n' "${@:4}"
	} | chs_ip "b$i" -b -
}

# chs_direct_director NAME GATEWAY4 GATEWAY6 [COMMAND...]: the service addresses,
# and the way to the clients. Its own addresses come by more commands.
chs_direct_director()
{
	{
		printf '%s\n' "${@:4}"
		cat <<- EOT
			addr add $CHS_VIP4/32 dev lo
			addr add $CHS_VIP6/128 dev lo nodad
		EOT
		[[ $2 == - ]] || echo "route add default via $2"
		[[ $3 == - ]] || echo "route add default via $3"
	} | chs_ip "$1" -b -
}

# chs_direct_switch PORT...: makes namespace sw a bridge of these devices.
chs_direct_switch()
{
	{
		echo "link add br0 type bridge"
		echo "link set br0 up"
		printf 'link set %s master br0\n' "$@"
	} | chs_ip sw -b -
}

# chs_topo_t2 N: all on one segment.
#
#   cl ─── sw (bridge) ─┬─ lb
#     c0   pc        pl ├─ b1
#                       └─ bN
#
#   cl 192.0.2.10, lb 192.0.2.1 and 198.51.100.1, bI 198.51.100.(10+I)
#   cl 2001:db8:a::10, lb 2001:db8:a::1 and 2001:db8:b::1, bI 2001:db8:b::(10+I)
#
# Backends have the client on link and answer it themselves.
chs_topo_t2()
{
	local n=$1 i names=() links=() ports=()

	for ((i = 1; i <= n; i++)); do
		names+=("b$i")
		links+=("b$i" e0 sw "p$i")
		ports+=("p$i")
	done
	chs_direct_ns cl lb sw "${names[@]}" || return
	chs_link cl c0 sw pc lb l0 sw pl "${links[@]}" || return
	chs_direct_switch pc pl "${ports[@]}" || return
	chs_ip cl -b - <<- EOF || return
		addr add $CHS_CL4/24 dev c0
		addr add $CHS_CL6/64 dev c0 nodad
		route add 198.51.100.0/24 dev c0
		route add 2001:db8:b::/64 dev c0
		route add $CHS_VIP4 via 192.0.2.1
		route add $CHS_VIP6 via 2001:db8:a::1
	EOF
	chs_direct_director lb - - "addr add 192.0.2.1/24 dev l0" \
		"addr add 2001:db8:a::1/64 dev l0 nodad" \
		"addr add 198.51.100.1/24 dev l0" \
		"addr add 2001:db8:b::1/64 dev l0 nodad" || return
	for ((i = 1; i <= n; i++)); do
		chs_direct_backend "$i" 198.51.100.1 2001:db8:b::1 \
			"route add 192.0.2.0/24 dev e0" \
			"route add 2001:db8:a::/64 dev e0" || return
	done
}

# chs_topo_t3 N: a router between director and backends.
#
#         l0    l1    r0
#   cl ───── lb ───────── r ─┬─ b1
#    │ c0                 │  └─ bN
#    └────────────────────┘
#      c1               r1
#
#   cl 192.0.2.10, lb 192.0.2.1 and 10.0.3.2, r 10.0.3.1, 10.0.9.1 and
#   198.51.100.1 on its bridge br0, with ports p1 ... pN; in IPv6 likewise with
#   2001:db8:a::, 2001:db8:3::, 2001:db8:9::, 2001:db8:b::
#
# Answers come over the lower line. The client has no way to the addresses
# behind lb.
chs_topo_t3()
{
	local n=$1 i names=() links=()

	for ((i = 1; i <= n; i++)); do
		names+=("b$i")
		links+=("b$i" e0 r "p$i")
	done
	chs_direct_ns cl lb r "${names[@]}" || return
	chs_link cl c0 lb l0 lb l1 r r0 cl c1 r r1 "${links[@]}" || return
	chs_in r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 ||
		return
	{
		cat <<- EOT
			link add br0 type bridge
			link set br0 up
			addr add 10.0.3.1/24 dev r0
			addr add 2001:db8:3::1/64 dev r0 nodad
			addr add 10.0.9.1/24 dev r1
			addr add 2001:db8:9::1/64 dev r1 nodad
			addr add 198.51.100.1/24 dev br0
			addr add 2001:db8:b::1/64 dev br0 nodad
			route add 192.0.2.0/24 via 10.0.9.10
			route add 2001:db8:a::/64 via 2001:db8:9::10
		EOT
		for ((i = 1; i <= n; i++)); do
			echo "link set p$i master br0"
		done
	} | chs_ip r -b - || return
	chs_ip cl -b - <<- EOF || return
		addr add $CHS_CL4/24 dev c0
		addr add $CHS_CL6/64 dev c0 nodad
		addr add 10.0.9.10/24 dev c1
		addr add 2001:db8:9::10/64 dev c1 nodad
		route add $CHS_VIP4 via 192.0.2.1 src $CHS_CL4
		route add $CHS_VIP6 via 2001:db8:a::1 src $CHS_CL6
	EOF
	chs_direct_director lb - - "addr add 192.0.2.1/24 dev l0" \
		"addr add 2001:db8:a::1/64 dev l0 nodad" \
		"addr add 10.0.3.2/24 dev l1" \
		"addr add 2001:db8:3::2/64 dev l1 nodad" \
		"route add 198.51.100.0/24 via 10.0.3.1" \
		"route add 2001:db8:b::/64 via 2001:db8:3::1" || return
	for ((i = 1; i <= n; i++)); do
		chs_direct_backend "$i" 198.51.100.1 2001:db8:b::1 || return
	done
}

# chs_topo_t4 N: two directors behind a router.
#
#              r1 ┌── lb ──┐ l1
#   cl ──────── er┤  l0    ├─ sw (bridge) ─┬─ b1
#     c0     r0   └── lb2 ─┘           p0  ├─ bN
#              r2    l0      l1            └─ er
#                                             r3
#
#   cl 192.0.2.10, er 192.0.2.1, 10.0.1.1, 10.0.2.1, 198.51.100.254, lb 10.0.1.2
#   and 198.51.100.1, lb2 10.0.2.2 and 198.51.100.2; in IPv6 likewise with
#   2001:db8:a::, 2001:db8:1::, 2001:db8:2::, 2001:db8:b::
#
# Backends answer by er. Which director gets what is for the service addresses
# says chs_to.
chs_topo_t4()
{
	local n=$1 i names=() links=() ports=()

	for ((i = 1; i <= n; i++)); do
		names+=("b$i")
		links+=("b$i" e0 sw "p$i")
		ports+=("p$i")
	done
	chs_direct_ns cl er lb lb2 sw "${names[@]}" || return
	chs_link cl c0 er r0 er r1 lb l0 er r2 lb2 l0 er r3 sw p0 \
		lb l1 sw q1 lb2 l1 sw q2 "${links[@]}" || return
	chs_direct_switch p0 q1 q2 "${ports[@]}" || return
	# By ports too, and not into a cable without anybody at its other end.
	chs_in er sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 \
		net.ipv4.fib_multipath_hash_policy=1 \
		net.ipv6.fib_multipath_hash_policy=1 \
		net.ipv4.conf.{all,default,r1,r2}.ignore_routes_with_linkdown=1 \
		net.ipv6.conf.{all,default,r1,r2}.ignore_routes_with_linkdown=1 ||
		return
	chs_ip er -b - <<- EOF || return
		addr add 192.0.2.1/24 dev r0
		addr add 2001:db8:a::1/64 dev r0 nodad
		addr add 10.0.1.1/24 dev r1
		addr add 2001:db8:1::1/64 dev r1 nodad
		addr add 10.0.2.1/24 dev r2
		addr add 2001:db8:2::1/64 dev r2 nodad
		addr add 198.51.100.254/24 dev r3
		addr add 2001:db8:b::fe/64 dev r3 nodad
	EOF
	chs_ip cl -b - <<- EOF || return
		addr add $CHS_CL4/24 dev c0
		addr add $CHS_CL6/64 dev c0 nodad
		route add default via 192.0.2.1
		route add default via 2001:db8:a::1
	EOF
	chs_direct_director lb 10.0.1.1 2001:db8:1::1 "addr add 10.0.1.2/24 dev l0" \
		"addr add 2001:db8:1::2/64 dev l0 nodad" \
		"addr add 198.51.100.1/24 dev l1" \
		"addr add 2001:db8:b::1/64 dev l1 nodad" || return
	chs_direct_director lb2 10.0.2.1 2001:db8:2::1 "addr add 10.0.2.2/24 dev l0" \
		"addr add 2001:db8:2::2/64 dev l0 nodad" \
		"addr add 198.51.100.2/24 dev l1" \
		"addr add 2001:db8:b::2/64 dev l1 nodad" || return
	for ((i = 1; i <= n; i++)); do
		chs_direct_backend "$i" 198.51.100.254 2001:db8:b::fe || return
	done
	chs_to lb
}

# chs_to lb|lb2|both: the router's way to the service addresses. Both: each flow
# to either, by a hash of its addresses and ports.
chs_to()
{
	local lb="via 10.0.1.2" lb2="via 10.0.2.2"
	local lb_6="via 2001:db8:1::2" lb2_6="via 2001:db8:2::2"

	case $1 in
	lb)	echo "route replace $CHS_VIP4 $lb"
		echo "route replace $CHS_VIP6 $lb_6" ;;
	lb2)	echo "route replace $CHS_VIP4 $lb2"
		echo "route replace $CHS_VIP6 $lb2_6" ;;
	both)	echo "route replace $CHS_VIP4 nexthop $lb nexthop $lb2"
		echo "route replace $CHS_VIP6 nexthop $lb_6 nexthop $lb2_6" ;;
	esac | chs_ip er -b -
}

# chs_cut lb|lb2, chs_mend lb|lb2: the cable between router and director. The
# router notices as it does when a director loses power.
chs_cut()
{
	chs_in "$1" sysctl -qw net.ipv6.conf.l0.keep_addr_on_down=1
	chs_ip "$1" link set l0 down
}

chs_mend()
{
	local n=1

	[[ $1 == lb2 ]] && n=2
	chs_ip "$1" -b - <<- EOF
		link set l0 up
		route replace default via 10.0.$n.1
		route replace default via 2001:db8:$n::1
	EOF
}

# chs_on NAME ARGUMENT...: the tool, at work on a director
chs_on()
{
	chctl -n "${CHS_NS[$1]}" "${@:2}"
}

# chs_on_both: commands of the tool, from stdin, on both directors
chs_on_both()
{
	local file=$CHS_TMP/both

	cat > "$file"
	chs_on lb -b "$file" && chs_on lb2 -b "$file"
}

# chs_tracked NAME [SERVICE]: flows that a director remembers
chs_tracked()
{
	chs_on "$1" -j stats ${2:+"$2"} | jq 'map(.tracked_flows) | add'
}

# chs_packets NAME [SERVICE]: packets that a director has steered
chs_packets()
{
	chs_on "$1" -j stats ${2:+"$2"} | jq 'map(.packets) | add'
}

# chs_conns_tell ID COMMAND..., chs_conns_answer ID: the two halves of chs_conns,
# so that several can be at work at once.
chs_conns_tell()
{
	echo "$1> ${*:2}"
	echo "${*:2}" >&"${CHS_CONNS_IN[$1]}"
}

chs_conns_answer()
{
	CHS_OUT=
	if ! read -r -t $((120 * CHS_SLOW)) -u "${CHS_CONNS_OUT[$1]}" CHS_OUT; then
		cat "$CHS_TMP/conns.$1.err"
		chs_fail "no answer from $1"
		return
	fi
	echo "$1: $CHS_OUT"
	[[ $CHS_OUT != error* ]] || chs_fail "$1: $CHS_OUT"
}

# chs_frames PROGRAM ARGUMENT...: a script of this directory that makes frames in
# the namespaces of the test (see frames.py); prints what it found wrong, and
# fails then.
chs_frames()
{
	local name words=

	for name in "${!CHS_NS[@]}"; do
		words+="$name=${CHS_NS[$name]} "
	done
	echo "\$ $*"
	CHS_NETNS=$words "$CHS_LIB/net/$1" "${@:2}" || chs_fail "$*"
}

# chs_asked TABLE [WORD...]: a "lookup" command for each flow in a table of
# conns.py; the addresses of the backends that these are at are in
# $CHS_TMP/reached then. One program, for there are hundreds of flows.
chs_asked()
{
	awk -v words="${*:2}" -v reached="$CHS_TMP/reached" '
		function endpoint(address, port)
		{
			return (address ~ /:/ ? "[" address "]" : address) ":" port
		}
		{
			print "lookup", $1, endpoint($2, $3), endpoint($4, $5), words
			print ($4 ~ /:/ ? "2001:db8:b::" : "198.51.100.") \
				(10 + substr($6, 2)) > reached
		}' "$1"
}

# chs_said NAME PROTO FAMILY PORT FIRST COUNT: the backend to which a director
# would send a new flow from each of the client's ports, a line each
chs_said()
{
	seq "$5" $(($5 + $6 - 1)) |
		sed "s#.*#lookup $2 $(chs_ep "$(chs_cl "$3")" "&") $(chs_ep "$(chs_vip "$3")" "$4")#" |
		chs_on "$1" -j -b - | jq -r .address
}
