#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# With masquerade replies come back through the director whatever the layout:
# client and backends on one segment (C-030), a backend that calls its own
# service (C-031). Without it the layouts that need it do not work, which the
# manual says.
#
#        lb, br0: 198.51.100.1, 2001:db8:b::1
#   ┌────┴──────┬──────┐
#   cl          b1     b2      one segment; cl is .10 and ::10
#
# The service addresses are on lo of lb; everybody's route to them is lb.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"

lb_address()
{
	[[ $1 == 4 ]] && echo 198.51.100.1 || echo 2001:db8:b::1
}

cl_address()
{
	[[ $1 == 4 ]] && echo 198.51.100.10 || echo 2001:db8:b::10
}

# port NAME INDEX: a port of the bridge with a host behind it
port()
{
	chs_link lb "p$2" "$1" e0 || return
	chs_ip lb link set "p$2" master br0
	chs_ip "$1" -b - <<- EOF
		addr add $(chs_b4 "$2")/24 dev e0
		addr add $(chs_b6 "$2")/64 dev e0 nodad
		route add default via 198.51.100.1
		route add default via 2001:db8:b::1
	EOF
}

topology()
{
	local f

	chs_setup_ns cl lb b1 b2 || return
	chs_in lb sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 \
		net.ipv4.conf.all.send_redirects=0 \
		net.ipv4.conf.default.send_redirects=0
	chs_ip lb -b - <<- EOF || return
		link add br0 type bridge
		addr add 198.51.100.1/24 dev br0
		addr add 2001:db8:b::1/64 dev br0 nodad
		addr add $CHS_VIP4/32 dev lo
		addr add $CHS_VIP6/128 dev lo nodad
		link set br0 up
	EOF
	port cl 0 && port b1 1 && port b2 2 || return
	for f in 4 6; do
		cat <<- EOF
			service add tcp$f tcp $(chs_ep "$(chs_vip "$f")" 80) $CHS_SMALL
			service add udp$f udp $(chs_ep "$(chs_vip "$f")" 53) $CHS_SMALL
			backend add tcp$f $(chs_be "$f" 1) $(chs_be "$f" 2)
			backend add udp$f $(chs_be "$f" 1) $(chs_be "$f" 2)
		EOF
	done | chs_batch || return
	chs_serve tcp:80,udp:53 b1 b2 || return
	chs_conns_start cl cl
	chs_conns_start b1 b1
}

bridge_calls()
{
	chs_in lb sysctl -qw net.bridge.bridge-nf-call-iptables="$1" \
		net.bridge.bridge-nf-call-ip6tables="$1"
}

masquerade()
{
	chs_cmd_ok chs_batch <<- EOF
		service set tcp$1 masquerade $2
		service set udp$1 masquerade $2
	EOF
}

# seen_as ID ADDRESS: every backend saw the connections come from there
seen_as()
{
	chs_conns "$1" table "$CHS_TMP/table"
	chs_expect "peers that backends saw" \
		"$(cut -d ' ' -f 9 "$CHS_TMP/table" | sort -u)" "$2"
}

# What was never answered is remembered for minutes as it was translated first, and
# the next flow may have its port.
forget_unanswered()
{
	chs_in lb conntrack -F
}

# Replies are bridged past the director, with the backend's address.
without()
{
	local f=$1

	bridge_calls 0
	masquerade "$f" off
	chs_conns cl open tcp "$(chs_vip "$f")" 80 3 timeout=1500
	chs_answers "TCP without masquerade" answered=0
	chs_conns cl reset
	chs_conns cl open udp "$(chs_vip "$f")" 53 3 timeout=1500
	chs_answers "UDP without masquerade" answered=0
	chs_conns cl reset
	forget_unanswered
}

with()
{
	local f=$1 proto

	bridge_calls "$2"
	masquerade "$f" on
	for proto in "tcp 80" "udp 53"; do
		chs_conns cl open "${proto% *}" "$(chs_vip "$f")" "${proto#* }" 20
		chs_answers "$proto" answered=20 broken=0 lost=0
		(($(chs_conns_get b1) && $(chs_conns_get b2))) ||
			chs_fail "not spread"
		chs_conns cl exchange
		chs_answers "$proto" answered=20 moved=0
		seen_as cl "$(lb_address "$f")"
		chs_conns cl reset
	done
}

# A backend to which the ring sends what it asks itself. When the bridge calls
# netfilter, it forwards what has been translated without routing it, and back
# out of the port that it came from only if that port is told to.
self()
{
	local f=$1 proto b2

	b2=$(chs_be "$f" 2)
	bridge_calls "$2"
	(($2)) && chs_ip lb link set p1 type bridge_slave hairpin on
	masquerade "$f" on
	chs_cmd_ok chs_ctl backend drain '*' "$b2"
	for proto in "tcp 80" "udp 53"; do
		chs_conns b1 open "${proto% *}" "$(chs_vip "$f")" "${proto#* }" 5
		chs_answers "$proto" answered=5 b1=5
		seen_as b1 "$(lb_address "$f")"
		chs_conns b1 reset
	done
	masquerade "$f" off
	chs_conns b1 open tcp "$(chs_vip "$f")" 80 2 timeout=1000
	chs_answers "TCP without masquerade" answered=0
	chs_conns b1 reset
	forget_unanswered
	chs_cmd_ok chs_ctl backend set '*' "$b2" state up
	chs_ip lb link set p1 type bridge_slave hairpin off
}

# "set" is about new flows; those there are stay as they are.
change()
{
	local f=$1 name

	bridge_calls 0
	masquerade "$f" on
	chs_conns cl open tcp "$(chs_vip "$f")" 80 10
	chs_answers opened answered=10
	masquerade "$f" off
	chs_conns cl exchange
	chs_answers "after it is off" answered=10 moved=0 broken=0
	chs_conns cl reset

	# Routed instead of bridged, it works without, and the client is seen.
	for name in b1 b2; do
		chs_ip "$name" neigh replace "$(cl_address "$f")" dev e0 \
			lladdr "$(mac_of_lb)"
	done
	chs_conns cl open tcp "$(chs_vip "$f")" 80 10
	chs_answers "routed back" answered=10
	seen_as cl "$(cl_address "$f")"
	masquerade "$f" on
	chs_conns cl exchange
	chs_answers "after it is on" answered=10 moved=0 broken=0
	seen_as cl "$(cl_address "$f")"
	chs_conns cl reset
}

# Frames that the director merely bridges are none of its business, though its
# netfilter sees them: b1, to whose address they are sent, has the service address.
bridged()
{
	local f=$1 vip proto packets

	vip=$(chs_vip "$f")
	masquerade "$f" off
	chs_ip b1 addr add "$vip" dev lo
	chs_ip cl route add "$vip" via "$(chs_be "$f" 1)"
	chs_cmd_ok chs_ctl backend drain '*' "$(chs_be "$f" 1)"
	bridge_calls 1
	for proto in "tcp 80" "udp 53"; do
		packets=$(chs_stat "${proto% *}$f" packets)
		chs_conns cl open "${proto% *}" "$vip" "${proto#* }" 5
		chs_answers "$proto" answered=5 b1=5
		chs_expect "$proto: packets steered" \
			"$(chs_stat "${proto% *}$f" packets)" "$packets"
		chs_conns cl reset
	done
	bridge_calls 0
	chs_cmd_ok chs_ctl backend set '*' "$(chs_be "$f" 1)" state up
	chs_ip cl route del "$vip"
	chs_ip b1 addr flush dev lo to "$vip"
}

mac_of_lb()
{
	local link

	link=$(chs_ip lb link show br0)
	[[ $link =~ link/ether\ ([0-9a-f:]+) ]] && echo "${BASH_REMATCH[1]}"
}

modprobe -q br_netfilter || chs_skip_all "the kernel has no br_netfilter"
chs_require_cmd conntrack
chs_setup
chs_run "topology" topology
for f in 4 6; do
	chs_run "IPv$f: one segment, masquerade off" without $f
	for calls in 0 1; do
		chs_run "IPv$f: one segment, masquerade on, bridge calls $calls" \
			with $f $calls
		chs_run "IPv$f: a backend calls itself, bridge calls $calls" \
			self $f $calls
	done
	chs_run "IPv$f: frames that are merely bridged" bridged $f
	chs_run "IPv$f: a change is for new flows" change $f
done
# Other tests have bridges, too.
modprobe -rq br_netfilter
chs_done
