#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# ICMP errors follow the flow that they quote, in both directions (C-051,
# C-053), and make none.
#
#   cl ─── lb ─── sw ─── b1
#
# On b1 nothing listens on UDP port 9, and TCP port 9 is refused by an error of
# the packet filter's.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"

topology()
{
	local f name

	chs_topo_t1 1 || return
	for name in cl lb b1; do
		chs_in "$name" sysctl -qw net.ipv4.icmp_ratelimit=0 \
			net.ipv6.icmp.ratelimit=0
	done
	for f in 4 6; do
		cat <<- EOF
			service add dns$f udp $(chs_ep "$(chs_vip "$f")" 53)
			service add deaf$f udp $(chs_ep "$(chs_vip "$f")" 99)
			service add shut$f tcp $(chs_ep "$(chs_vip "$f")" 9)
			service add web$f tcp $(chs_ep "$(chs_vip "$f")" 80)
			backend add dns$f $(chs_be "$f" 1)
			backend add deaf$f $(chs_ep "$(chs_be "$f" 1)" 9)
			backend add shut$f $(chs_be "$f" 1)
			backend add web$f $(chs_be "$f" 1)
		EOF
	done | chs_batch || return
	chs_in b1 nft -f - <<- EOF || return
		add table inet t
		add chain inet t in { type filter hook input priority 0; }
		add rule inet t in ip protocol tcp tcp dport 9 reject with icmp type host-prohibited
		add rule inet t in tcp dport 9 reject with icmpv6 type admin-prohibited
	EOF
	chs_serve tcp:80,udp:53 b1 || return
	chs_conns_start c cl
}

# What the client is told is about the addresses and ports that it used.
from_backend()
{
	local f=$1 vip sport

	vip=$(chs_vip "$f")
	chs_cmd_ok chs_in cl "$CHS_LIB/net/icmp.py" probe "$vip" 99
	sport=$(chs_conns_get sport)
	chs_answers "port unreachable" error=ECONNREFUSED \
		type=$((f == 4 ? 3 : 1)) code=$((f == 4 ? 3 : 4)) \
		from="$vip" qsrc="$(chs_cl "$f")" qdst="$vip" \
		qsport="$sport" qdport=99 sums=good
	# As long as the error's quote can be, and longer.
	chs_cmd_ok chs_in cl "$CHS_LIB/net/icmp.py" probe "$vip" 99 1400
	chs_answers "with much to quote" error=ECONNREFUSED from="$vip" \
		qdst="$vip" qdport=99 sums=good

	chs_conns c open tcp "$vip" 9 3 timeout=20000
	chs_answers "TCP, prohibited" unreachable=3
	chs_conns c close
	chs_conns c forget
}

# count NAME KEY: what a namespace has counted of its own
count()
{
	chs_in "$1" nstat -asz "$2" | awk -v key="$2" '$1 == key { print $2 }'
}

counted()
{
	(($(count "$1" "$2") > $3))
}

# error FAMILY PORT SPORT PROTO TYPE4 CODE4 TYPE6 CODE6 [INFO [LENGTH]]
error()
{
	local f=$1 port=$2 sport=$3 proto=$4 type=$5 code=$6

	[[ $f == 6 ]] && type=$7 code=$8
	chs_in cl "$CHS_LIB/net/icmp.py" send "$type" "$code" \
		"$(chs_vip "$f")" "$port" "$sport" "$proto" "${9:-0}" "${10:-8}"
}

# mtu FAMILY: of the path from b1 to the client, as b1 has learnt it
mtu()
{
	local route

	route=$(chs_ip b1 route get "$(chs_cl "$1")")
	[[ $route == *" mtu $2"* ]]
}

# An error from the client's side reaches the backend of the flow, which takes
# it for its own: it learns a path MTU from it.
to_backend()
{
	local f=$1 key port before flows other words

	chs_conns c open udp "$(chs_vip "$f")" 53 1
	chs_answers flow b1=1
	chs_conns c table "$CHS_TMP/table"
	read -r _ _ port _ < "$CHS_TMP/table"
	flows=$(chs_stat "dns$f" new-flows)
	other=$(chs_stat "dns$f" icmp-unmatched)

	chs_cmd_ok error "$f" 53 "$port" udp 3 4 2 0 1300
	chs_busywait 5000 mtu "$f" 1300 || chs_fail "b1 does not learn the MTU"
	for key in "TimeExcds 11 0 3 0" "DestUnreachs 3 1 1 3"; do
		read -r -a words <<< "$key"
		set -- "${words[@]}"
		key=$([[ $f == 4 ]] && echo "IcmpIn$1" || echo "Icmp6In$1")
		before=$(count b1 "$key")
		chs_cmd_ok error "$f" 53 "$port" udp "${@:2}"
		chs_busywait 5000 counted b1 "$key" "$before" ||
			chs_fail "no $key at b1"
	done
	chs_expect "new flows" "$(chs_stat "dns$f" new-flows)" "$flows"
	chs_expect "unmatched" "$(chs_stat "dns$f" icmp-unmatched)" "$other"
	chs_conns c exchange
	chs_answers "flow afterwards" answered=1 b1=1
	chs_conns c close
}

# One about a flow that nobody knows is the host's, is counted, and makes none.
unknown()
{
	local f=$1 proto=$2 name=$3 port=$4 key before flows packets host theirs

	before=$(chs_stat "$name$f" icmp-unmatched)
	flows=$(chs_stat "$name$f" new-flows)
	packets=$(chs_stat "$name$f" packets)
	key=$([[ $f == 4 ]] && echo IcmpInDestUnreachs || echo Icmp6InDestUnreachs)
	host=$(count lb "$key") theirs=$(count b1 "$key")
	chs_cmd_ok error "$f" "$port" 7777 "$proto" 3 1 1 3
	chs_cmd_ok error "$f" "$port" 7777 "$proto" 3 1 1 3 0 20
	chs_busywait 5000 counted lb "$key" $((host + 1)) ||
		chs_fail "the host is not given it"
	chs_expect "unmatched" "$(chs_stat "$name$f" icmp-unmatched)" $((before + 2))
	chs_expect "new flows" "$(chs_stat "$name$f" new-flows)" "$flows"
	chs_expect "packets" "$(chs_stat "$name$f" packets)" "$packets"
	chs_expect "errors at b1" "$(count b1 "$key")" "$theirs"
}

# Echo is between the client and the host.
echo_request()
{
	local f=$1 key before

	key=$([[ $f == 4 ]] && echo IcmpInEchos || echo Icmp6InEchos)
	before=$(count lb "$key")
	chs_cmd_ok chs_in cl ping -q -c 2 -i 0.2 -W 10 "$(chs_vip "$f")"
	chs_expect "echo at lb" "$(count lb "$key")" $((before + 2))
	chs_expect "echo at b1" "$(count b1 "$key")" 0
}

chs_require_cmd nft nstat ping
chs_setup
chs_run "topology" topology
for f in 4 6; do
	chs_run "IPv$f: errors from a backend come as from the service" \
		from_backend $f
	chs_run "IPv$f: errors from outside reach the flow's backend" to_backend $f
	chs_run "IPv$f: errors about unknown UDP flows are the host's" \
		unknown $f udp dns 53
	chs_run "IPv$f: errors about unknown TCP flows are the host's" \
		unknown $f tcp web 80
	chs_run "IPv$f: echo is the host's" echo_request $f
done
chs_done
