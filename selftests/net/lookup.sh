#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
#
# The backend that "lookup" names is the one that packets reach.
#
#   cl ─── lb ─── sw ─── b1 ... b4
#
# A thousand flows of each protocol and family, from four addresses. Which
# backend they reached the servers say themselves.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"

SOURCES=4		# client addresses
EACH=$(chs_amount 60 500 25)	# flows from each
FIRST=20000		# their source ports

# Backend 3 has a port of its own, backend 4 half the weight.
services()
{
	local f proto port

	for f in 4 6; do
		for proto in tcp udp; do
			port=$([[ $proto == tcp ]] && echo 80 || echo 53)
			cat <<- END
				service add $proto$f $proto $(chs_ep "$(chs_vip "$f")" "$port") slots 8192
				backend add $proto$f $(chs_be "$f" 1) $(chs_be "$f" 2)
				backend add $proto$f $(chs_ep "$(chs_be "$f" 3)" 5353)
				backend add $proto$f $(chs_be "$f" 4) weight 50
			END
		done
	done
}

source_address()
{
	[[ $1 == 4 ]] && echo "192.0.2.$((10 + $2))" || echo "2001:db8:a::1$2"
}

topology()
{
	local f i

	# A descriptor each, at both ends.
	ulimit -n 65536
	chs_topo_t1 4 || return
	for ((i = 1; i < SOURCES; i++)); do
		echo "addr add $(source_address 4 "$i")/24 dev c0"
		echo "addr add $(source_address 6 "$i")/64 dev c0 nodad"
	done | chs_ip cl -b - || return
	chs_cmd_ok chs_batch < <(services)
	chs_serve tcp:80,udp:53,tcp:5353,udp:5353 b1 b2 b3 b4 || return
	chs_conns_start c cl
}

# flows PROTO FAMILY PORT: lines "PROTO SRC:PORT DST:PORT"
flows()
{
	local i j src dst

	dst=$(chs_ep "$(chs_vip "$2")" "$3")
	for ((i = 0; i < SOURCES; i++)); do
		src=$(chs_ep "$(source_address "$2" "$i")" '')
		for ((j = 0; j < EACH; j++)); do
			echo "$1 $src$((FIRST + j)) $dst"
		done
	done
}

# ask PROTO FAMILY PORT: asks for all; "ADDRESS PORT REASON" a line.
ask()
{
	flows "$@" | sed 's/^/lookup /' |
		chctl -j -n "${CHS_NS[lb]}" -b - |
		jq -r '"\(.address) \(.port) \(.reason)"'
}

# same PROTO FAMILY PORT
same()
{
	local proto=$1 f=$2 port=$3 total=$((SOURCES * EACH)) i dir=$CHS_TMP

	ask "$@" > "$dir/said"
	chs_expect "said of new flows" "$(grep -c ' ring$' "$dir/said")" "$total"

	for ((i = 0; i < SOURCES; i++)); do
		chs_conns c open "$proto" "$(chs_vip "$f")" "$port" "$EACH" \
			"src=$(source_address "$f" "$i")" sport="$FIRST" timeout=60000
		chs_answers "from address $i" answered="$EACH" broken=0 lost=0
	done
	chs_conns c table "$dir/table"
	for i in 1 2 3 4; do
		echo "b$i $(chs_be "$f" "$i") $([[ $i == 3 ]] && echo 5353 || echo "$port")"
	done > "$dir/names"
	awk 'NR == FNR { at[$1] = $2 " " $3; next } { print at[$6] }' \
		"$dir/names" "$dir/table" > "$dir/reached"
	chs_expect "flows reached" "$(wc -l < "$dir/reached")" "$total"
	sed 's/ ring$//' "$dir/said" | diff - "$dir/reached" > "$dir/diff" ||
		chs_fail "differences: $(grep -c '^<' "$dir/diff")"
	# Four share it, so that agreement is not an accident.
	for i in 1 2 3 4; do
		chs_expect_range "flows of b$i" \
			"$(grep -c " b$i b$i " "$dir/table")" \
			$((total * 6 / 100)) $((total * 4 / 10))
	done

	ask "$@" > "$dir/again"
	chs_expect "known to conntrack" "$(grep -c ' conntrack$' "$dir/again")" \
		"$total"
	sed 's/ conntrack$//' "$dir/again" | diff -q - "$dir/reached" ||
		chs_fail "an established flow is said to be elsewhere"
}

# A flow stays where it is, and lookup knows, when the ring sends new ones on.
pinned()
{
	local f=$1 b2

	b2=$(chs_be "$f" 2)
	chs_cmd_ok chs_ctl backend drain "tcp$f" "$b2"
	ask tcp "$f" 80 > "$CHS_TMP/pinned"
	sed 's/ conntrack$//' "$CHS_TMP/pinned" | diff -q - "$CHS_TMP/reached" ||
		chs_fail "a drain is said to move flows"
	chs_cmd_ok chs_ctl -j lookup tcp "$(chs_ep "$(chs_cl "$f")" 19999)" \
		"$(chs_ep "$(chs_vip "$f")" 80)"
	chs_expect "reason for a new flow" "$(chs_json .reason)" ring
	chs_cmd_ok chs_ctl backend set "tcp$f" "$b2" state up
}

done_with()
{
	chs_conns c reset
}

absent()
{
	local f

	for f in 4 6; do
		chs_cmd_fail ENOENT "$(chs_ep "$(chs_vip "$f")" 82)" chs_ctl \
			lookup tcp "$(chs_ep "$(chs_cl "$f")" 1)" \
			"$(chs_ep "$(chs_vip "$f")" 82)"
		chs_cmd_fail ENOENT sctp chs_ctl \
			lookup sctp "$(chs_ep "$(chs_cl "$f")" 1)" \
			"$(chs_ep "$(chs_vip "$f")" 80)"
	done
	chs_cmd_fail EINVAL "source address" chs_ctl lookup tcp "$(chs_ep "$CHS_CL4" 1)" \
		"$(chs_ep "$CHS_VIP6" 80)"
}

chs_setup
chs_run "topology" topology
for f in 4 6; do
	chs_run "UDP, IPv$f: lookup is right for $((SOURCES * EACH)) flows" same udp $f 53
	chs_run "UDP, IPv$f: flows end" done_with
	chs_run "TCP, IPv$f: lookup is right for $((SOURCES * EACH)) flows" same tcp $f 80
	chs_run "TCP, IPv$f: lookup knows where flows are pinned" pinned $f
	chs_run "TCP, IPv$f: flows end" done_with
done
chs_run "what is for no service is said so" absent
chs_done
