#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
#
# A full conntrack table (C-029): new flows are refused, counted by a name that
# says why, and established ones do not notice; with room again all is well.
#
#   cl ─── lb ─── sw ─── b1, b2

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"

HELD=100

topology()
{
	local f

	chs_topo_t1 2 || return
	for f in 4 6; do
		echo "service add tcp$f tcp $(chs_ep "$(chs_vip "$f")" 80) $CHS_SMALL"
		echo "service add udp$f udp $(chs_ep "$(chs_vip "$f")" 53) $CHS_SMALL"
		echo "backend add tcp$f $(chs_be "$f" 1) $(chs_be "$f" 2)"
		echo "backend add udp$f $(chs_be "$f" 1) $(chs_be "$f" 2)"
	done | chs_batch || return
	chs_serve tcp:80,udp:53 b1 b2 || return
	chs_conns_start held cl
	chs_conns_start cl cl
	chs_conns_start lb lb
}

# The limit is one for all namespaces, and is set from the first.
limit()
{
	sysctl -qw net.netfilter.nf_conntrack_max="$1"
}

# refused FROM PROTO FAMILY PORT: silently, but counted
refused()
{
	local from=$1 proto=$2 f=$3 before

	before=$(chs_stat "$proto$f" conntrack-full)
	chs_conns "$from" open "$proto" "$(chs_vip "$f")" "$4" 5 timeout=700
	# From lb an error would be the EPERM that nobody should see.
	chs_answers "$proto from $from" answered=0 unreachable=0 refused=0 reset=0
	chs_conns "$from" reset
	chs_expect_range "$proto counted" \
		$(($(chs_stat "$proto$f" conntrack-full) - before)) 5 15
}

full()
{
	local f=$1 proto from before

	# Nothing but the connections held is to fill the table.
	chs_in lb conntrack -F 2> /dev/null
	chs_conns held open tcp "$(chs_vip "$f")" 80 "$HELD"
	chs_answers held answered="$HELD"
	chs_conns held exchange
	before=$(chs_stat "tcp$f" new-flows)

	limit "$(chs_in lb sysctl -n net.netfilter.nf_conntrack_count)"
	for from in cl lb; do
		refused "$from" tcp "$f" 80
		refused "$from" udp "$f" 53
	done
	chs_conns held exchange
	chs_answers "established" answered="$HELD" moved=0 broken=0
	chs_expect "new flows" "$(chs_stat "tcp$f" new-flows)" "$before"

	limit "$MAX"
	for proto in "tcp 80" "udp 53"; do
		chs_conns cl open "${proto% *}" "$(chs_vip "$f")" "${proto#* }" 10
		chs_answers "with room again" answered=10
		chs_conns cl reset
	done
	chs_conns held exchange
	chs_answers "established" answered="$HELD" moved=0 broken=0
	chs_conns held reset
	chs_expect "translations that failed" "$(chs_stat "tcp$f" nat-failed)" 0
}

# zone_rules RULE: how packets get their zone, before conntrack sees them
zone_rules()
{
	chs_in lb nft -f - <<- EOF
		table inet zones
		delete table inet zones
		table inet zones {
			chain pre {
				type filter hook prerouting priority raw
				$1
			}
		}
	EOF
}

# Connections may be in a zone of conntrack, both ways or from the client only:
# the table is as full for them, and lookup finds them.
zoned()
{
	local f=$1 rule=$2 count=12 ask

	zone_rules "$rule"
	chs_in lb conntrack -F 2> /dev/null
	chs_conns held open tcp "$(chs_vip "$f")" 80 "$count" "src=$(chs_cl "$f")" \
		sport=22000
	chs_answers held answered="$count"
	chs_expect "in the zone" "$(chs_in lb conntrack -L -f "ipv$f" 2> /dev/null |
		grep -cE " dport=80 .*zone(-orig)?=7 ")" "$count"

	ask="lookup tcp $(chs_ep "$(chs_cl "$f")" 22000) $(chs_ep "$(chs_vip "$f")" 80)"
	chs_expect "reasons: new, running, of the zone, of another" \
		"$(printf "$ask%s\n" "" " established" " zone 7" " zone 0" |
			chs_ctl -j -b - | jq -r .reason | xargs)" \
		"conntrack conntrack conntrack ring"

	limit "$(chs_in lb sysctl -n net.netfilter.nf_conntrack_count)"
	chs_conns held exchange
	chs_answers "established" answered="$count" moved=0 broken=0
	refused cl tcp "$f" 80
	chs_conns held exchange
	chs_answers "established" answered="$count" moved=0 broken=0
	limit "$MAX"
	chs_conns held reset
	zone_rules ""
}

# Entries that nobody would miss make room, as conntrack has it: then there is
# no refusal to count.
makes_room()
{
	local f=$1 before

	before=$(chs_stat "udp$f" conntrack-full)
	# One datagram and no answer: not assured.
	chs_in lb conntrack -F 2> /dev/null
	chs_conns cl open udp "$(chs_be "$f" 1)" 54 200 timeout=2000
	limit "$(chs_in lb sysctl -n net.netfilter.nf_conntrack_count)"
	chs_conns held open udp "$(chs_vip "$f")" 53 1
	echo "refused: $(($(chs_stat "udp$f" conntrack-full) - before))"
	if (($(chs_conns_get answered) == 1)); then
		chs_expect "counted as refused" \
			"$(chs_stat "udp$f" conntrack-full)" "$before"
	else
		chs_expect "counted as refused" \
			"$(chs_stat "udp$f" conntrack-full)" $((before + 1))
	fi
	limit "$MAX"
	chs_conns cl reset
	chs_conns held reset
}

chs_require_cmd conntrack
chs_setup
MAX=$(sysctl -n net.netfilter.nf_conntrack_max)
chs_run "topology" topology
for f in 4 6; do
	chs_run "IPv$f: full, then not" full $f
	chs_run "IPv$f: what may go makes room" makes_room $f
done
chs_run "IPv4: full, in a zone" zoned 4 "ct zone set 7"
chs_run "IPv6: full, in a zone of one direction" zoned 6 \
	"iifname l0 ct original zone set 7"
limit "$MAX"
chs_done
