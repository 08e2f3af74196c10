#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
#
# A service that no backend can serve refuses, drops or passes, as it was told
# (C-017, C-020), whoever asks.
#
#   cl ─── lb ─── sw ─── b1, b2
#
# In lb a server listens on the service addresses. It must never be asked but
# with "pass".

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"

COUNT=5

port_of()
{
	[[ $1 == tcp ]] && echo 80 || echo 53
}

topology()
{
	local f proto

	chs_topo_t1 2 || return
	# Every refusal is to be seen, not six a second.
	chs_in lb sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0
	for f in 4 6; do
		for proto in tcp udp; do
			echo "service add $proto$f $proto" \
				"$(chs_ep "$(chs_vip "$f")" "$(port_of "$proto")")"
		done
	done | chs_batch || return
	chs_serve tcp:80,udp:53 b1 b2 lb || return
	chs_conns_start cl cl
	chs_conns_start lb lb
}

# try FROM PROTO FAMILY [TIMEOUT]: COUNT flows, of which the answer tells.
try()
{
	chs_conns "$1" open "$2" "$(chs_vip "$3")" "$(port_of "$2")" "$COUNT" \
		"timeout=${4:-10000}"
}

end()
{
	local answer=$CHS_OUT

	chs_conns "$1" reset
	CHS_OUT=$answer
}

refused()
{
	local from=$1 proto=$2 f=$3 before

	before=$(chs_stat "$proto$f" no-backend)
	try "$from" "$proto" "$f"
	end "$from"
	chs_answers "refused to $from" refused="$COUNT" answered=0
	chs_expect "counted" "$(chs_stat "$proto$f" no-backend)" \
		$((before + COUNT))
}

dropped()
{
	local from=$1 proto=$2 f=$3 before

	before=$(chs_stat "$proto$f" no-backend)
	try "$from" "$proto" "$f" 700
	end "$from"
	# An error, like EPERM, would count as refused or unreachable.
	chs_answers "dropped for $from" answered=0 refused=0 unreachable=0 reset=0
	# A SYN may have been sent again by now.
	chs_expect_range "counted" "$(chs_stat "$proto$f" no-backend)" \
		$((before + COUNT)) $((before + 3 * COUNT))
}

passed()
{
	local from=$1 proto=$2 f=$3 drops before

	before=$(chs_stat "$proto$f" passed) drops=$(chs_stat "$proto$f" no-backend)
	try "$from" "$proto" "$f"
	end "$from"
	chs_answers "passed for $from" answered="$COUNT" lb="$COUNT"
	(($(chs_stat "$proto$f" passed) >= before + COUNT)) ||
		chs_fail "not counted as passed"
	chs_expect "drops" "$(chs_stat "$proto$f" no-backend)" "$drops"
}

# policy PROTO FAMILY
policy()
{
	local name=$1$2 from

	for from in cl lb; do
		refused "$from" "$@"
	done
	chs_cmd_ok chs_ctl service set "$name" on-empty drop
	for from in cl lb; do
		dropped "$from" "$@"
	done
	chs_cmd_ok chs_ctl service set "$name" on-empty pass
	for from in cl lb; do
		passed "$from" "$@"
	done
	# The server in lb must not be missed for another reason below.
	chs_cmd_ok chs_ctl service set "$name" on-empty reject
	refused cl "$@"
	chs_expect "new flows" "$(chs_stat "$name" new-flows)" 0
}

# Backends that take no new flows are as good as none. What was refused is
# served the moment there is one that does, also from the same socket.
again()
{
	local proto=$1 f=$2 name=$1$2 from b1 b2

	b1=$(chs_be "$f" 1) b2=$(chs_be "$f" 2)
	chs_cmd_ok chs_ctl backend add "$name" "$b1" "$b2" weight 0
	for from in cl lb; do
		refused "$from" "$proto" "$f"
	done
	chs_cmd_ok chs_ctl backend replace "$name" "$b1" "$b2" weight 100 state drain
	refused cl "$proto" "$f"
	chs_cmd_ok chs_ctl backend set "$name" "$b1" "$b2" state down
	refused cl "$proto" "$f"

	for from in cl lb; do
		try "$from" "$proto" "$f"
		chs_answers "still down" refused="$COUNT"
	done
	chs_cmd_ok chs_ctl backend set "$name" "$b2" state up
	for from in cl lb; do
		if [[ $proto == udp ]]; then
			chs_conns "$from" exchange
		else
			chs_conns "$from" reset
			try "$from" "$proto" "$f"
		fi
		chs_answers "with a backend" answered="$COUNT" b2="$COUNT"
		chs_conns "$from" reset
	done
}

# A sender that never pauses: of the backend that is gone, nothing reaches it
# any more, and the sender hears of it; the next backend gets it at once.
scaled_to_zero()
{
	local f=$1 before b1 b2

	b1=$(chs_be "$f" 1) b2=$(chs_be "$f" 2)
	chs_cmd_ok chs_ctl backend set "udp$f" "$b1" state up
	chs_cmd_ok chs_ctl backend del "udp$f" "$b2"
	try cl udp "$f"
	chs_answers served b1="$COUNT"
	chs_conns cl run gap=5
	chs_cmd_ok chs_ctl backend del "udp$f" "$b1"
	before=$(received b1 "$f")
	chs_busywait 20000 chs_grows "udp$f" no-backend \
		$(($(chs_stat "udp$f" no-backend) + 3 * COUNT)) ||
		chs_fail "the sender is not refused"
	chs_conns cl stop
	(($(chs_conns_get refused) >= 3 * COUNT)) ||
		chs_fail "the sender does not hear of it"
	chs_expect "datagrams to b1" "$(received b1 "$f")" "$before"
	chs_cmd_ok chs_ctl backend add "udp$f" "$b2"
	chs_conns cl exchange
	chs_answers "next backend" answered="$COUNT" b2="$COUNT"
	chs_conns cl close
}

# received NAME FAMILY: datagrams that a namespace was sent, by its own count
received()
{
	local key=UdpInDatagrams

	[[ $2 == 6 ]] && key=Udp6InDatagrams
	chs_in "$1" nstat -asz "$key" | awk -v key="$key" '$1 == key { print $2 }'
}

chs_require_cmd nstat
chs_setup
chs_run "topology" topology
for f in 4 6; do
	for proto in tcp udp; do
		chs_run "$proto, IPv$f: reject, drop, pass" policy $proto $f
		chs_run "$proto, IPv$f: idle backends are none" again $proto $f
	done
	chs_run "IPv$f: the last backend of a busy sender goes" scaled_to_zero $f
done
chs_done
