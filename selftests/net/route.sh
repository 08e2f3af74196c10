#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: debug
# chs-timeout: 1200
#
# Mode route: a new next hop and nothing else. What leaves is compared with what
# came; neighbours are found and followed; what would loop, or come from nowhere,
# is dropped and counted. Cases C-035 to C-040.
#
#   cl ─── sw (bridge) ─┬─ lb
#                       ├─ b1, b2, b3, b4
#                       └─ lb2, later
#
# Services web4, web6 (TCP 80) and dns4, dns6 (UDP 53) on b1, b2, b3. A server
# runs on lb, too, and must never answer.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"
# shellcheck source=direct.sh
. "$CHS_LIB/net/direct.sh"

services()
{
	local f

	for f in 4 6; do
		echo "service add web$f tcp $(chs_ep "$(chs_vip "$f")" 80) mode route $CHS_SMALL"
		echo "service add dns$f udp $(chs_ep "$(chs_vip "$f")" 53) mode route affinity transition $CHS_SMALL"
		echo "backend add web$f $(chs_be "$f" 1) $(chs_be "$f" 2) $(chs_be "$f" 3)"
		echo "backend add dns$f $(chs_be "$f" 1) $(chs_be "$f" 2) $(chs_be "$f" 3)"
	done
}

topology()
{
	chs_topo_t2 4 || return
	chs_cmd_ok chs_batch < <(services)
	[[ -z $CHS_ERR ]] || chs_fail "warned: $CHS_ERR"
	chs_serve tcp:80,udp:53 b1 b2 b3 b4 lb || return
	chs_conns_start c cl
	chs_conns_start l lb
}

# Connections go where lookup says, and nobody tracks them.
connect()
{
	local f=$1 id=$2 proto=$3 port=$4 src=$5 i n=40

	chs_conns "$id" open "$proto" "$(chs_vip "$f")" "$port" "$n" src="$src"
	chs_answers "$proto" answered="$n" broken=0 lost=0 lb=0
	for i in 1 2 3; do
		(($(chs_conns_get "b$i") > 0)) || chs_fail "$proto: none at b$i"
	done
	chs_conns "$id" exchange size=1000
	chs_answers "$proto" answered="$n" moved=0 broken=0 lost=0
	chs_conns "$id" table "$CHS_TMP/table"
	chs_asked "$CHS_TMP/table" > "$CHS_TMP/asked"
	chs_on lb -j -b "$CHS_TMP/asked" | jq -r .address |
		diff - "$CHS_TMP/reached" || chs_fail "lookup disagrees"
	chs_conns "$id" reset
}

clients()
{
	connect "$1" c tcp 80 "$(chs_cl "$1")"
	connect "$1" c udp 53 "$(chs_cl "$1")"
	chs_expect "tracked connections" "$(tracked)" 0
}

tracked()
{
	local file=net.netfilter.nf_conntrack_count

	chs_in lb sysctl -n "$file" 2> /dev/null || echo 0
}

# Where nothing is steered, the address is local here: a source is chosen for the
# sender that the backend has itself. So it says from where.
local_sender()
{
	local f=$1 src

	src=198.51.100.1
	[[ $f == 6 ]] && src=2001:db8:b::1
	chs_in lb sysctl -qw net.ipv4.conf.{all,l0}.accept_local=1
	connect "$f" l tcp 80 "$src"
	connect "$f" l udp 53 "$src"
}

retransmitted()
{
	chs_in cl nstat -asz TcpExtTCPSynRetrans |
		awk '$1 == "TcpExtTCPSynRetrans" { print $2 }'
}

# No first packet is lost while a neighbour is asked for (C-035).
unresolved()
{
	local f=$1 i before

	before=$(retransmitted)
	for ((i = 0; i < 10; i++)); do
		chs_ip lb neigh flush all
		chs_conns c open tcp "$(chs_vip "$f")" 80 10
		chs_answers "after flush $i" answered=10 lb=0
	done
	chs_conns c reset
	chs_expect "SYN sent again" $(($(retransmitted) - before)) 0
}

# A backend that is not there is seen to be so, and does not hurt the others.
dead()
{
	local f=$1 ghost

	ghost=198.51.100.99
	[[ $f == 6 ]] && ghost=2001:db8:b::99
	chs_cmd_ok chs_batch <<- EOF
		service add ghost$f tcp $(chs_ep "$(chs_vip "$f")" 89) mode route
		backend add ghost$f $ghost
	EOF
	chs_conns c open tcp "$(chs_vip "$f")" 89 3 timeout=500
	chs_answers dead answered=0
	chs_busywait 20000 unreachable "ghost$f" ||
		chs_fail "not shown: $(chs_ctl -j backend show "ghost$f")"
	chs_conns c reset
	chs_conns c open tcp "$(chs_vip "$f")" 80 20
	chs_answers others answered=20
	chs_conns c reset
	chs_cmd_ok chs_ctl -j backend show "web$f"
	chs_expect "reachable" "$(chs_json 'map(select(.reachable)) | length')" 3
	chs_cmd_ok chs_ctl service del "ghost$f"
}

unreachable()
{
	chs_ctl -j backend show "$1" | jq -e '.[0] | .reachable == false and .why != null'
}

# Others are not disturbed either when one changes its address on the link.
mac_change()
{
	local f=$1 n=1

	chs_in lb sysctl -qw net.ipv4.neigh.l0.locktime=0
	chs_in b1 sysctl -qw net.ipv4.conf.e0.arp_notify=1 net.ipv6.conf.e0.ndisc_notify=1
	chs_conns c open tcp "$(chs_vip "$f")" 80 30
	chs_answers before answered=30
	for n in 1 2; do
		chs_ip b1 link set e0 address "02:00:00:00:0$f:0$n"
		chs_busywait 10000 neighbour "$(chs_be "$f" 1)" "02:00:00:00:0$f:0$n" ||
			chs_fail "lb does not learn it"
		chs_conns c exchange
		chs_answers after answered=30 moved=0 broken=0
	done
	chs_conns c reset
}

neighbour()
{
	[[ $(chs_ip lb neigh show "$1") == *"lladdr $2"* ]]
}

# warned SERVICE BACKEND: added, with a warning, and shown as what it is
warned()
{
	chs_cmd_ok chs_ctl backend add "$1" "$2"
	[[ $CHS_ERR == *Warning:* ]] || chs_fail "no warning about $2"
	unreachable "$1" || chs_fail "not shown: $(chs_ctl -j backend show "$1")"
}

# A backend behind a router (C-039).
off_link()
{
	local f=$1 far

	far=10.66.0.9
	[[ $f == 6 ]] && far=2001:db8:66::9
	chs_ip lb route add "$far" via "$(chs_be "$f" 1)"
	chs_cmd_ok chs_batch <<- EOF
		service add off$f tcp $(chs_ep "$(chs_vip "$f")" 81) mode route
		service add offu$f udp $(chs_ep "$(chs_vip "$f")" 81) mode route
	EOF
	warned "off$f" "$far"
	warned "offu$f" "$far"
	chs_frames route.py nowhere "$f" 81
	chs_frames route.py send "$f" 81
	# Once it is on link, all is well.
	chs_ip lb route replace "$far" dev l0
	chs_ctl -j backend show "off$f" | jq -e '.[0].reachable' ||
		chs_fail "not shown as reachable"
	chs_ip lb route del "$far"
}

# excepted ADDRESS WORDS: lb's own route to it is now by an exception of these
excepted()
{
	[[ $(chs_ip lb route get "$1") =~ $2 ]]
}

on_link()
{
	chs_ctl -j backend show "$1" | jq -e --arg a "$2" \
		'any(.[]; .address == $a and .reachable == '"${3:-true}"')' ||
		chs_fail "$2: $(chs_ctl -j backend show "$1")"
}

# The host's own traffic to a backend is told of a smaller MTU, which does not
# concern a packet of a client.
exceptions()
{
	local f=$1 be key=ip_forward_use_pmtu

	be=$(chs_be "$f" 1)
	# Below the least that IPv4 believes, it is locked.
	chs_frames route.py frag_needed "$f" "$be" $((f == 4 ? 300 : 1300))
	chs_busywait 10000 excepted "$be" "mtu (lock )?(552|1300)" ||
		chs_fail "no exception: $(chs_ip lb route get "$be")"
	on_link "web$f" "$be"
	chs_frames route.py full "$f" 1
	if ((f == 4)); then
		# It concerns no link, whatever is said of forwarding.
		chs_in lb sysctl -qw "net.ipv4.$key=1"
		chs_frames route.py full "$f" 1
		chs_in lb sysctl -qw "net.ipv4.$key=0"
	fi
	chs_ip lb "-$f" route flush cache
}

# One behind a gateway stays so when a redirect has the host go straight to it.
redirected()
{
	local far=10.66.0.9 gateway=198.51.100.11 mac=02:00:00:00:00:99

	chs_ip lb -b - <<- EOF || return
		route add $far via $gateway
		neigh add $far lladdr $mac dev l0 nud permanent
	EOF
	chs_cmd_ok chs_ctl service add red tcp "$CHS_VIP4:85" mode route
	warned red "$far"
	chs_frames route.py redirect "$far" "$gateway" "$far"
	chs_busywait 10000 excepted "$far" "via $far" ||
		chs_fail "no redirect: $(chs_ip lb route get "$far")"
	on_link red "$far" false
	chs_frames route.py nowhere 4 85
	chs_cmd_ok chs_ctl service del red
	chs_ip lb -b - <<- EOF
		neigh del $far dev l0
		route del $far
	EOF
	chs_ip lb -4 route flush cache
}

# From a link-local address, to a backend that is not on that link.
scope()
{
	chs_cmd_ok chs_batch <<- EOF
		service add scope6 udp [$CHS_VIP6]:86 mode ipip
		backend add scope6 2001:db8:b::11
	EOF
	chs_frames route.py scope
	chs_cmd_ok chs_ctl service del scope6
}

# The director itself, and two that have each other (C-040).
own()
{
	local f=$1 own

	own=198.51.100.1
	[[ $f == 6 ]] && own=2001:db8:b::1
	chs_cmd_ok chs_ctl service add "own$f" tcp "$(chs_ep "$(chs_vip "$f")" 82)" mode route
	warned "own$f" "$own"
	chs_frames route.py nowhere "$f" 82
}

second_director()
{
	chs_direct_ns lb2 || return
	chs_link lb2 l0 sw pl2 || return
	chs_ip sw link set pl2 master br0 || return
	chs_direct_director lb2 - - "addr add 192.0.2.2/24 dev l0" \
		"addr add 2001:db8:a::2/64 dev l0 nodad" \
		"addr add 198.51.100.2/24 dev l0" \
		"addr add 2001:db8:b::2/64 dev l0 nodad"
}

each_other()
{
	local f=$1 base=198.51.100.

	[[ $f == 6 ]] && base=2001:db8:b::
	second_director || return
	services | chs_on lb2 -b - || chs_fail "no services on lb2"
	chs_on_both <<- EOF || chs_fail "refused"
		service add loop$f tcp $(chs_ep "$(chs_vip "$f")" 83) mode route
	EOF
	chs_cmd_ok chs_on lb backend add "loop$f" "${base}2"
	chs_cmd_ok chs_on lb2 backend add "loop$f" "${base}1"
	# They know each other, for what waits for a neighbour has not yet met him.
	chs_cmd_ok chs_in lb2 ping -q -c 1 -W 10 "${base}1"
	chs_frames route.py between "$f" 83
	chs_ip sw link del pl2
	chs_del_ns lb2
}

# What a mode cannot do is refused by its name (C-036).
ports()
{
	local mode f

	for mode in route ipip gue; do
		for f in 4 6; do
			chs_cmd_ok chs_ctl service add x tcp "$(chs_ep "$(chs_vip "$f")" 8000)" mode "$mode"
			chs_cmd_fail EINVAL "mode $mode cannot change ports" chs_ctl backend add x \
				"$(chs_ep "$(chs_be "$f" 1)" 8080)"
			chs_cmd_fail EINVAL "mode $mode cannot change ports" chs_ctl backend replace x \
				"$(chs_be "$f" 1)" "$(chs_ep "$(chs_be "$f" 2)" 8080)"
			chs_expect "backends" "$(chs_ctl -j backend show x | jq length)" 0
			chs_cmd_ok chs_ctl backend add x "$(chs_ep "$(chs_be "$f" 1)" 8000)"
			chs_cmd_ok chs_ctl service del x
		done
	done
	chs_cmd_ok chs_batch <<- EOF
		service add y tcp $CHS_VIP4:8000 mode nat
		backend add y 198.51.100.11:8080
	EOF
	chs_cmd chs_ctl service set y mode route && chs_fail "the mode was set"
	chs_ctl save > "$CHS_TMP/saved"
	sed "s/^\(service add y.*\)mode nat/\1mode route/; t; s/^\(service add y .*\)/\1 mode route/" \
		"$CHS_TMP/saved" > "$CHS_TMP/changed"
	chs_cmd_fail EINVAL mode chs_ctl apply "$CHS_TMP/changed"
	chs_cmd_fail EINVAL "mode route cannot change ports" chs_ctl apply --replace "$CHS_TMP/changed"
	chs_ctl save | diff "$CHS_TMP/saved" - || chs_fail "half of it was changed"
	chs_cmd_ok chs_ctl service del y
	# Nor another family than the service's.
	chs_cmd_fail EINVAL "" chs_ctl backend add web4 2001:db8:b::12
	chs_cmd_fail EINVAL "" chs_ctl backend add web6 198.51.100.12
}

# A backend that does not hold the address (C-037).
no_vip()
{
	local f=$1 vip

	vip=$(chs_vip "$f")
	chs_ip b1 addr del "$vip/$((f == 4 ? 32 : 128))" dev lo
	chs_frames route.py arrives "$f" 1
	chs_ip b1 addr add "$vip/$((f == 4 ? 32 : 128))" dev lo
}

# With and without a tag on either side.
vlan()
{
	local f=$1

	if ((f == 4)); then
		chs_ip lb -b - <<- EOF || return
			link add link l0 name l0.7 type vlan id 7
			link add link l0 name l0.8 type vlan id 8
			addr add 10.0.7.1/24 dev l0.7
			addr add 10.0.8.1/24 dev l0.8
			addr add 2001:db8:7::1/64 dev l0.7 nodad
			addr add 2001:db8:8::1/64 dev l0.8 nodad
			link set l0.7 up
			link set l0.8 up
		EOF
		chs_ip b4 -b - <<- EOF || return
			link add link e0 name e0.7 type vlan id 7
			addr add 10.0.7.14/24 dev e0.7
			addr add 2001:db8:7::14/64 dev e0.7 nodad
			link set e0.7 up
		EOF
		chs_ip cl -b - <<- EOF || return
			link add link c0 name c0.8 type vlan id 8
			addr add 10.0.8.10/24 dev c0.8
			addr add 2001:db8:8::10/64 dev c0.8 nodad
			link set c0.8 up
		EOF
		chs_batch <<- EOF || return
			service add tag4 tcp $CHS_VIP4:84 mode route
			service add tag6 tcp [$CHS_VIP6]:84 mode route
			backend add tag4 10.0.7.14
			backend add tag6 2001:db8:7::14
		EOF
		chs_serve tcp:84 b4 || return
	fi
	chs_conns c open tcp "$(chs_vip "$f")" 84 10
	chs_answers "to a tag" answered=10 b4=10
	chs_conns c exchange size=100000
	chs_answers "to a tag" answered=10 moved=0 broken=0
	chs_conns c reset
	if ((f == 4)); then
		chs_ip cl route replace "$CHS_VIP4" via 10.0.8.1 src "$CHS_CL4"
	else
		chs_ip cl route replace "$CHS_VIP6" via 2001:db8:8::1 src "$CHS_CL6"
	fi
	chs_conns c open tcp "$(chs_vip "$f")" 84 10
	chs_answers "from tag to tag" answered=10 b4=10
	chs_conns c reset
	chs_conns c open tcp "$(chs_vip "$f")" 80 20
	chs_answers "from a tag" answered=20 b4=0 lb=0
	chs_conns c exchange size=100000
	chs_answers "from a tag" answered=20 moved=0 broken=0
	chs_conns c reset
	if ((f == 4)); then
		chs_ip cl route replace "$CHS_VIP4" via 192.0.2.1
	else
		chs_ip cl route replace "$CHS_VIP6" via 2001:db8:a::1
	fi
}

# The rule that chctl(8) has for sources that take a routing decision to tell, in the
# words that are there.
fib()
{
	local f=$1 ip=ip

	[[ $f == 4 ]] || ip=ip6
	sed -n '/^table inet sources/,/^}/p' \
		"$CHS_LIB/../userspace/man/chctl.8" |
		sed "s/ip daddr 192.0.2.10/$ip daddr $(chs_vip "$f")/" > "$CHS_TMP/rule"
	chs_cmd_ok chs_in lb nft -f "$CHS_TMP/rule"
	chs_frames route.py fib "$f"
	chs_in lb nft delete table inet sources
}

# The director is the host of the bridge, and sees frames between its ports.
bridge()
{
	local loaded=''

	[[ -d /sys/module/br_netfilter ]] && loaded=y
	modprobe -q br_netfilter || { chs_skip "the kernel has no br_netfilter"; return; }
	chs_in sw sysctl -qw net.bridge.bridge-nf-call-iptables=1 \
		net.bridge.bridge-nf-call-ip6tables=1 net.ipv4.conf.all.arp_ignore=1
	chs_direct_director sw - - "addr add 192.0.2.5/24 dev br0" \
		"addr add 2001:db8:a::5/64 dev br0 nodad" \
		"addr add 198.51.100.5/24 dev br0" \
		"addr add 2001:db8:b::5/64 dev br0 nodad" || return
	services | chs_on sw -b - || chs_fail "no services"
	chs_frames route.py bridge 4
	chs_frames route.py bridge 6
	chs_on sw flush
	[[ $loaded ]] || modprobe -r br_netfilter
}

chs_require_cmd jq nft nstat ping
chs_direct_require
chs_setup
chs_run "topology" topology
((CHS_FAILED)) && chs_done
# What the families do apart is tried in both.
for f in 4 6; do
	chs_run "IPv$f: flows go where lookup says, untracked" clients $f
	chs_run "IPv$f: nothing but the TTL is changed" chs_frames route.py untouched $f
	chs_run "IPv$f: neighbours that are not yet known" unresolved $f
	chs_run "IPv$f: impossible sources, last hops, frames for others, loops" \
		chs_frames route.py martian+ttl+cast+back+looped $f
	chs_run "IPv$f: sources that only a rule drops" fib $f
	chs_run "IPv$f: policies of IPsec" chs_frames route.py policy $f
	chs_run "IPv$f: nobody new answers for the service address" \
		chs_frames route.py answers $f
	chs_run "IPv$f: exceptions to the host's own routes" exceptions $f
	chs_run "IPv$f: VLANs" vlan $f
done
chs_run "a gateway that a redirect takes away" redirected
chs_run "IPv6: link-local sources" scope
chs_alternate "local senders" local_sender F
chs_alternate "a backend that is not there" dead F
chs_alternate "a backend's new address on the link" mac_change F
chs_alternate "a backend that is off link" off_link F
chs_alternate "the director as its own backend" own F
chs_alternate "two directors as each other's backend" each_other F
chs_alternate "a backend without the service address" no_vip F
chs_run "IPv4 options" chs_frames route.py options
chs_run "IPv6 routing headers" chs_frames route.py routed
chs_run "ports and families that a mode cannot change" ports
chs_run "frames that are merely bridged" bridge
chs_done
