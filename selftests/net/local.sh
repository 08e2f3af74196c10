#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the host itself sends to a service, what it keeps of a service address
# for itself (C-033), that steering never comes back to a sender as an error
# (C-027), and that conntrack is switched on and off with the services that
# need it (C-032).
#
#   cl ─── lb ─── sw ─── b1, b2
#
# 203.0.113.80 and 2001:db8:f::80 are on lo of lb; 203.0.113.81 and
# 2001:db8:f::81 are not, lb only has a route for them. No packet filter has a
# rule anywhere.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"

away()
{
	[[ $1 == 4 ]] && echo 203.0.113.81 || echo 2001:db8:f::81
}

topology()
{
	chs_topo_t1 2 || return
	chs_ip lb -b - <<- EOF || return
		route add $(away 4) via 198.51.100.99
		route add $(away 6) via 2001:db8:b::99
	EOF
	chs_serve tcp:22,tcp:80,udp:53 b1 b2 lb || return
	chs_conns_start cl cl
	chs_conns_start lb lb
}

# entries FAMILY: how many lb has in its table
entries()
{
	chs_in lb conntrack -L -f "ipv$1" 2> /dev/null | wc -l
}

# straight FAMILY: a flow that no service is concerned with
straight()
{
	chs_conns cl open udp "$(chs_be "$1" 1)" 53 1
	chs_answers "straight to b1" b1=1
	chs_conns cl close
}

# Tracking begins with the first service in this mode of a family, ends with
# the last, and the other family is no concern of it.
hooks()
{
	local f=$1 other=$((10 - $1))

	straight 4
	straight 6
	chs_expect "entries without services" "$(entries 4) $(entries 6)" "0 0"
	chs_cmd_ok chs_batch <<- EOF
		service add one udp $(chs_ep "$(chs_vip "$f")" 54)
		service add two udp $(chs_ep "$(chs_vip "$f")" 55)
	EOF
	straight 4
	straight 6
	(($(entries "$f") > 0)) || chs_fail "nothing is tracked"
	chs_expect "entries of the other family" "$(entries "$other")" 0

	chs_cmd_ok chs_ctl service del one
	chs_in lb conntrack -F 2> /dev/null
	straight "$f"
	(($(entries "$f") > 0)) || chs_fail "ends before the last service"
	chs_cmd_ok chs_ctl service del two
	chs_in lb conntrack -F 2> /dev/null
	straight "$f"
	chs_expect "entries after the last service" "$(entries "$f")" 0
	chs_expect "entries in b1" \
		"$(chs_in b1 conntrack -L -f "ipv$f" 2> /dev/null | wc -l)" 0
}

services()
{
	local f where address

	for f in 4 6; do
		for where in here away; do
			address=$(chs_vip "$f")
			[[ $where == away ]] && address=$(away "$f")
			for proto in "tcp 80" "udp 53"; do
				echo "service add ${proto% *}$where$f ${proto% *}" \
					"$(chs_ep "$address" "${proto#* }")"
				echo "backend add ${proto% *}$where$f" \
					"$(chs_be "$f" 1) $(chs_be "$f" 2)"
			done
		done
	done | chs_batch
}

# Flows of lb's own are spread like any, are where lookup says, and none is
# served by lb, whose server listens on the very address.
own()
{
	local proto=$1 port=$2 where=$3 f=$4 count=20 name=$1$3$4 address
	local src sport backend

	address=$(chs_vip "$f")
	[[ $where == away ]] && address=$(away "$f")
	chs_conns lb open "$proto" "$address" "$port" "$count"
	chs_answers "from lb" answered="$count" broken=0 lost=0 lb=0
	(($(chs_conns_get b1) && $(chs_conns_get b2))) || chs_fail "not spread"
	chs_expect "new flows" "$(chs_stat "$name" new-flows)" "$count"

	chs_conns lb table "$CHS_TMP/table"
	while read -r _ src sport _ _ backend _; do
		echo "lookup $proto $(chs_ep "$src" "$sport")" \
			"$(chs_ep "$address" "$port")"
		echo "$name $(chs_ep "$(chs_be "$f" "${backend#b}")" "$port")" \
			"reason conntrack" >&3
	done < "$CHS_TMP/table" > "$CHS_TMP/asked" 3> "$CHS_TMP/reached"
	chs_batch < "$CHS_TMP/asked" | sed 's/ arc .*//' |
		diff - "$CHS_TMP/reached" || chs_fail "lookup disagrees"
	chs_conns lb exchange
	chs_answers "once more" answered="$count" moved=0
	chs_conns lb reset
}

# Two flows that would look alike after translation. Whichever is second gets
# another source port; neither gets an error. On the wire the answers of the
# translated flow are the other socket's, but each must get its own.
clash()
{
	local proto=$1 port=$2 f=$3 source direct order

	chs_cmd_ok chs_ctl backend drain "${proto}away$f" "$(chs_be "$f" 2)"
	source=198.51.100.1 direct=$(chs_be "$f" 1)
	[[ $f == 6 ]] && source=2001:db8:b::1
	for order in 5000 5001; do
		set -- "$(away "$f")" "$direct"
		((order == 5001)) && set -- "$direct" "$(away "$f")"
		chs_cmd_ok chs_in lb /usr/bin/python3 -EsS - "$proto" "$port" \
			"$source" "$order" "$@" <<- 'EOF'
			import socket, sys
			proto, port, local, sport, *peers = sys.argv[1:]
			kind = socket.SOCK_DGRAM if proto == "udp" else socket.SOCK_STREAM
			socks = []
			for peer in peers:
			    family = socket.AF_INET6 if ":" in peer else socket.AF_INET
			    sock = socket.socket(family, kind)
			    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
			    sock.settimeout(10)
			    sock.bind((local, int(sport)))
			    socks.append(sock)
			for turn in range(2):
			    for sock, peer in zip(socks, peers):
			        if turn == 0:
			            sock.connect((peer, int(port)))
			        sock.send(b"x\n")
			        print(sock.recv(100).split()[0].decode(), end=" ")
			EOF
		chs_expect "answers, order $order" "$CHS_OUT" "b1 b1 b1 b1 "
	done
	chs_cmd_ok chs_ctl backend set "${proto}away$f" "$(chs_be "$f" 2)" state up
	chs_expect "translations that failed" \
		"$(chs_stat "${proto}away$f" nat-failed)" 0
}

# The rest of the address is the host's.
rest()
{
	local f=$1

	chs_conns cl open tcp "$(chs_vip "$f")" 22 5
	chs_answers "port 22" answered=5 lb=5
	chs_conns cl open tcp "$(chs_vip "$f")" 443 5
	chs_answers "port 443" refused=5
	chs_conns cl open udp "$(chs_vip "$f")" 80 1
	chs_answers "UDP port 80" refused=1
	chs_conns cl reset
	chs_conns cl open tcp "$(chs_vip "$f")" 80 5
	chs_answers "port 80" answered=5 lb=0
	chs_conns cl reset
}

chs_require_cmd conntrack
chs_setup
chs_run "topology" topology
for f in 4 6; do
	chs_run "IPv$f: conntrack is on while it is needed" hooks $f
done
chs_run "services" services
for f in 4 6; do
	for where in here away; do
		chs_run "IPv$f: own TCP flows, address $where" own tcp 80 $where $f
		chs_run "IPv$f: own UDP flows, address $where" own udp 53 $where $f
	done
	chs_run "IPv$f: TCP flows that look alike" clash tcp 80 $f
	chs_run "IPv$f: UDP flows that look alike" clash udp 53 $f
	chs_run "IPv$f: other ports are the host's" rest $f
done
chs_done
