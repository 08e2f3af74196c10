#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
#
# Ports: an exact one beats a range, a range beats any; a backend without a
# port is asked on the port that the client asked (C-080).
#
#   cl ─── lb ─── sw ─── b1, b2, b3, b4
#
#   service      ports        backend
#   exact        8005         b1
#   moved        8010         b4, port 9000
#   range        8000-8020    b2
#   any          *            b3
#
# Every backend listens on all these ports, b4 on 9000 only.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"

topology()
{
	local proto ports=''

	chs_topo_t1 4 || return
	for proto in tcp udp; do
		for port in 22 8000 8005 8010 8020 8021 53; do
			ports+=,$proto:$port
		done
	done
	chs_serve "${ports#,}" b1 b2 b3 || return
	chs_serve tcp:9000,udp:9000 b4 || return
	chs_serve tcp:22,udp:22 lb || return
	chs_conns_start c cl
}

services()
{
	local proto=$1 f=$2 vip

	vip=$(chs_vip "$f")
	chs_cmd_ok chs_batch <<- EOF
		service add --force any.$proto$f $proto $(chs_ep "$vip" "*") $CHS_SMALL
		service add range.$proto$f $proto $(chs_ep "$vip" 8000-8020) $CHS_SMALL
		service add exact.$proto$f $proto $(chs_ep "$vip" 8005) $CHS_SMALL
		service add moved.$proto$f $proto $(chs_ep "$vip" 8010) $CHS_SMALL
		backend add any.$proto$f $(chs_be "$f" 3)
		backend add range.$proto$f $(chs_be "$f" 2)
		backend add exact.$proto$f $(chs_be "$f" 1)
		backend add moved.$proto$f $(chs_ep "$(chs_be "$f" 4)" 9000)
	EOF
}

# expect PROTO FAMILY PORT SERVICE BACKEND [PORT]: by traffic, by lookup and by
# the service's count.
expect()
{
	local proto=$1 f=$2 port=$3 name=$4.$1$2 be=$5 before

	before=$(chs_stat "$name" new-flows)
	chs_conns c open "$proto" "$(chs_vip "$f")" "$port" 3
	chs_answers "port $port" answered=3 "$be=3"
	chs_conns c close
	chs_expect "new flows of $name" "$(chs_stat "$name" new-flows)" \
		$((before + 3))
	chs_cmd_ok chs_ctl lookup "$proto" "$(chs_ep "$(chs_cl "$f")" 99)" \
		"$(chs_ep "$(chs_vip "$f")" "$port")"
	[[ $CHS_OUT == "$name $(chs_ep "$(chs_be "$f" "${be#b}")" "${6:-$port}") "* ]] ||
		chs_fail "lookup of port $port says $CHS_OUT"
}

precedence()
{
	local proto=$1 f=$2

	expect "$proto" "$f" 8005 exact b1
	expect "$proto" "$f" 8010 moved b4 9000
	expect "$proto" "$f" 8000 range b2
	expect "$proto" "$f" 8020 range b2
	expect "$proto" "$f" 8021 any b3
	expect "$proto" "$f" 53 any b3
	expect "$proto" "$f" 22 any b3
}

# What is more exact goes: then its ports are the next service's.
fallback()
{
	local proto=$1 f=$2

	chs_conns c open "$proto" "$(chs_vip "$f")" 8000 3
	chs_answers "range" b2=3
	chs_cmd_ok chs_ctl service del "exact.$proto$f"
	expect "$proto" "$f" 8005 range b2
	chs_cmd_ok chs_ctl service del "moved.$proto$f"
	chs_cmd_ok chs_ctl service del "any.$proto$f"
	chs_cmd_fail ENOENT "" chs_ctl lookup "$proto" \
		"$(chs_ep "$(chs_cl "$f")" 99)" "$(chs_ep "$(chs_vip "$f")" 22)"
	chs_conns c open "$proto" "$(chs_vip "$f")" 22 3
	chs_answers "port 22 of the host" lb=3
	chs_conns c close lb
	chs_conns c open "$proto" "$(chs_vip "$f")" 8021 3
	chs_answers "beyond the range" refused=3
	chs_conns c forget
}

# A flow that a wider service took stays with it when a more exact one comes.
narrowed()
{
	local proto=$1 f=$2

	chs_conns c close
	chs_conns c open "$proto" "$(chs_vip "$f")" 8005 3
	chs_answers "range" b2=3
	chs_cmd_ok chs_batch <<- EOF
		service add exact.$proto$f $proto $(chs_ep "$(chs_vip "$f")" 8005) $CHS_SMALL
		backend add exact.$proto$f $(chs_be "$f" 1)
	EOF
	chs_conns c exchange
	chs_answers "range, established" answered=3 moved=0 b2=3
	chs_conns c close
	expect "$proto" "$f" 8005 exact b1
}

refusals()
{
	local f=$1 vip

	vip=$(chs_vip "$f")
	chs_cmd chs_ctl service add zero tcp "$(chs_ep "$vip" 0)" &&
		chs_fail "port 0 is taken"
	chs_cmd_fail EEXIST "range.tcp$f" \
		chs_ctl service add other tcp "$(chs_ep "$vip" 8020-8030)"
	chs_cmd_fail EEXIST "range.tcp$f" \
		chs_ctl service add other tcp "$(chs_ep "$vip" 8000-8020)"
	chs_cmd chs_ctl service add other tcp "$(chs_ep "$vip" '*')" &&
		chs_fail "any port of a local address is taken without --force"
	chs_cmd chs_ctl service add other tcp "$(chs_ep "$vip" 20-30)" &&
		chs_fail "port 22 of a local address is taken without --force"
	chs_ctl service show | grep -q other && chs_fail "half added"
	return 0
}

chs_setup
chs_run "topology" topology
for f in 4 6; do
	for proto in tcp udp; do
		chs_run "$proto, IPv$f: services" services $proto $f
		chs_run "$proto, IPv$f: exact, range, any" precedence $proto $f
		chs_run "$proto, IPv$f: what is left takes over" fallback $proto $f
		chs_run "$proto, IPv$f: flows of a wider service" narrowed $proto $f
	done
	chs_run "IPv$f: what is refused" refusals $f
done
chs_done
