#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Mode nat beside a flowtable of nftables, which takes established connections
# past the stack and so past this module: who has which backend, and when that
# ends, is as without one.
#
#   cl ─── lb ─── sw ─── b1 ... b4
#
# Services web4, web6 (TCP) and dns4, dns6 (UDP). The flowtable is the one that
# chctl(8) shows. Of a connection that it has, conntrack says OFFLOAD.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"

COUNT=30			# connections of each service
ALL="tcp4 udp4 tcp6 udp6"	# who holds them
declare -A MINE=()		# of each, how many b1 has
for i in 1 2 3 4; do
	B4[i]=$(chs_b4 "$i") B6[i]=$(chs_b6 "$i")
done

services()
{
	local f

	for f in 4 6; do
		echo "service add web$f tcp $(chs_ep "$(chs_vip "$f")" 80) $CHS_SMALL"
		echo "service add dns$f udp $(chs_ep "$(chs_vip "$f")" 53) $CHS_SMALL"
	done
	each add 1 2 3
}

# each COMMAND BACKEND... [-- OPTION...]: lines, for those backends of every service
each()
{
	local command=$1 f of4=() of6=()

	shift
	while (($#)) && [[ $1 != -- ]]; do
		of4+=("${B4[$1]}") of6+=("${B6[$1]}")
		shift
	done
	for f in web dns; do
		echo "backend $command ${f}4 ${of4[*]} ${*:2}"
		echo "backend $command ${f}6 ${of6[*]} ${*:2}"
	done
}

# change COMMAND BACKEND... [-- OPTION...]: and have it done
change()
{
	each "$@" | chs_batch || chs_fail "refused: $*"
}

topology()
{
	local id

	chs_topo_t1 4 || return
	chs_in lb sysctl -qw net.netfilter.nf_conntrack_acct=1 \
		net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0
	flowtable || return
	services | chs_batch || return
	chs_serve tcp:80,udp:53 b1 b2 b3 b4 || return
	for id in $ALL new; do
		chs_conns_start "$id" cl || return
	done
}

flowtable()
{
	chs_in lb nft -f - <<- EOF
		table inet fast {
			flowtable f {
				hook ingress priority 0
				devices = { l0, l1 }
				counter
			}
			chain forward {
				type filter hook forward priority 0
				ct state established flow add @f
			}
		}
	EOF
}

family() { echo "${1: -1}"; }
service_of() { [[ $1 == tcp* ]] && echo "web$(family "$1")" || echo "dns$(family "$1")"; }

# entries ID: what conntrack has of its protocol
entries()
{
	chs_in lb conntrack -L -f "ipv$(family "$1")" -p "${1%?}" 2> /dev/null
}

offloaded()
{
	entries "$1" | grep -c OFFLOAD
}

# accounted ID: packets from clients, as conntrack counts them
accounted()
{
	entries "$1" | awk '
		match($0, /packets=[0-9]+/) { n += substr($0, RSTART + 8, RLENGTH - 8) }
		END { print n + 0 }'
}

# open ID: as many connections as ever
open()
{
	chs_conns "$1" forget
	chs_conns "$1" reset
	if [[ $1 == tcp* ]]; then
		chs_conns "$1" open tcp "$(chs_vip "$(family "$1")")" 80 "$COUNT"
	else
		chs_conns "$1" open udp "$(chs_vip "$(family "$1")")" 53 "$COUNT"
	fi
	chs_answers "$1 opened" answered="$COUNT" lost=0 broken=0
}

# same ID: they are where they were
same()
{
	chs_conns "$1" exchange
	chs_answers "$1" answered="$COUNT" moved=0 lost=0 broken=0
}

# asks ID: from the table of its connections what lookup is asked, and in file
# "reached" what was reached
asks()
{
	awk -v f="$1" -v reached="$CHS_TMP/reached" -v b4="${B4[1]%1}" -v b6="${B6[1]%1}" '
		function ep(a, p) { return a ~ /:/ ? "[" a "]:" p : a ":" p }
		{
			print "lookup", $1, ep($2, $3), ep($4, $5)
			print ep((f ~ /6$/ ? b6 : b4) substr($6, 2), $5) > reached
		}' "$CHS_TMP/table"
}

ring_says()
{
	chs_batch | sed 's/.* owner \([^ ]*\).*/\1/'
}

# owners ID: its connections are where the ring says.
owners()
{
	chs_conns "$1" table "$CHS_TMP/table"
	asks "$1" | ring_says > "$CHS_TMP/said"
	chs_expect "owners" "$(wc -l < "$CHS_TMP/said")" "$COUNT"
	diff "$CHS_TMP/said" "$CHS_TMP/reached" || chs_fail "$1: not where the ring says"
}

# hold: connections that are to last.
hold()
{
	local id

	for id in $ALL; do
		open "$id"
		owners "$id"
		chs_expect "$id: offloaded" "$(offloaded "$id")" "$COUNT"
		chs_expect "$id: new-flows" "$(chs_stat "$(service_of "$id")" new-flows)" \
			"$COUNT"
	done
}

# Conntrack alone counts what is offloaded.
counted()
{
	local id packets ct i

	for id in $ALL; do
		packets=$(chs_stat "$(service_of "$id")" packets)
		ct=$(accounted "$id")
		for i in 1 2 3; do
			same "$id"
		done
		ct=$(($(accounted "$id") - ct))
		packets=$(($(chs_stat "$(service_of "$id")" packets) - packets))
		echo "$id: $packets packets counted of $ct"
		((ct >= 3 * COUNT)) || chs_fail "$id: conntrack counts $ct packets"
		# When routes change, an entry is made anew by a packet of the stack.
		chs_expect_range "$id: packets counted" "$packets" 0 "$COUNT"
		chs_expect "$id: new-flows" "$(chs_stat "$(service_of "$id")" new-flows)" \
			"$COUNT"
	done
}

# fresh BACKEND: new connections, none of which goes to that one
fresh()
{
	local f

	for f in 4 6; do
		chs_conns new open tcp "$(chs_vip "$f")" 80 10
		chs_answers "new TCP, IPv$f" answered=10 broken=0
		chs_no_answer "new TCP, IPv$f" "$1"
		chs_conns new open udp "$(chs_vip "$f")" 53 10
		chs_answers "new UDP, IPv$f" answered=10 lost=0
		chs_no_answer "new UDP, IPv$f" "$1"
	done
	chs_conns new reset
}

# Others come and go, weights change, a backend drains: established connections
# stay where they are, and offloaded.
others()
{
	local id rounds

	for id in $ALL; do
		chs_conns "$id" run gap=20
	done
	change add 4
	change set 1 -- weight 10
	change set 1 -- weight 0
	change set 1 -- weight 100
	change drain 2
	fresh b2
	change set 2 -- state up
	change del 4
	for id in $ALL; do
		chs_conns "$id" stop
		rounds=$(chs_conns_get rounds)
		((rounds >= 1)) || chs_fail "$id: no traffic meanwhile"
		chs_answers "$id, during the changes" answered=$((rounds * COUNT)) \
			moved=0 lost=0 broken=0
		(($(offloaded "$id") >= COUNT)) || chs_fail "$id: not offloaded any more"
	done
}

# received FAMILY: datagrams that b1 was sent, by its own count
received()
{
	local key=UdpInDatagrams

	[[ $1 == 6 ]] && key=Udp6InDatagrams
	chs_in b1 nstat -asz "$key" | awk -v key="$key" '$1 == key { print $2 }'
}

# What the flowtable has is counted by conntrack even when it lists it no more.
none_held()
{
	(($(chs_in lb sysctl -n net.netfilter.nf_conntrack_count) <=
		$(for id in $ALL; do entries "$id"; done | wc -l)))
}

# have_b1: all are where they were; in MINE how many connections b1 has to lose
have_b1()
{
	local id

	for id in $ALL; do
		same "$id"
		MINE[$id]=$(chs_conns_get b1)
		((MINE[$id])) || chs_fail "$id: b1 has nothing to lose"
	done
}

# lost_b1: it has lost them, and nobody else any
lost_b1()
{
	local id n

	for id in $ALL; do
		chs_conns "$id" exchange
		n=${MINE[$id]}
		if [[ $id == tcp* ]]; then
			chs_answers "$id afterwards" answered=$((COUNT - n)) moved=0 \
				broken="$n" reset="$n"
		else
			chs_answers "$id afterwards" answered="$COUNT" moved="$n" lost=0
		fi
		chs_no_answer "$id afterwards" b1
	done
}

# gone COMMAND BACKEND [-- OPTION...]: with their backend connections end, even
# if their senders never pause: not one datagram more gets there.
gone()
{
	local id f start
	local -A before=()

	have_b1
	for f in 4 6; do
		chs_conns "udp$f" run gap=2 timeout=$((3000 * CHS_SLOW))
	done
	change "$@"
	start=$(chs_ms)
	for f in 4 6; do
		before[$f]=$(received "$f")
	done
	chs_busywait 10000 none_held || chs_fail "the flowtable keeps what is dead"
	echo "it kept them for $(($(chs_ms) - start)) ms"
	for f in 4 6; do
		chs_conns "udp$f" stop
		chs_expect "datagrams to b1, IPv$f" "$(received "$f")" "${before[$f]}"
	done
	lost_b1
	change replace 1 -- state up
	for id in $ALL; do
		open "$id"
	done
}

# left: whether conntrack has nothing of b1 any more
left()
{
	! for id in $ALL; do entries "$id"; done |
		grep -qE "dst=($CHS_VIP4|$CHS_VIP6) .* src=(${B4[1]}|${B6[1]}) "
}

# A drain ends when its time is up, for those that do not.
deadline()
{
	change drain 1
	have_b1
	change drain 1 -- deadline 1
	chs_busywait 10000 left || chs_fail "conntrack keeps what is over"
	lost_b1
	change set 1 -- state up
}

# Entries of the same connection, dead and living, are side by side for a second
# in the flowtable: nothing ever goes by a dead one.
flaps()
{
	local f i

	for f in 4 6; do
		open "udp$f"
	done
	for i in 1 2 3 1; do
		change set "$i" -- state down
		for f in 4 6; do
			chs_conns "udp$f" exchange
			chs_answers "b$i is down" answered="$COUNT" lost=0
			chs_no_answer "down" "b$i"
		done
		change set "$i" -- state up
	done
}

# reuse FAMILY: a connection from each of PORTS ports, which ends in one of four ways
reuse()
{
	chs_cmd_ok chs_in cl "$CHS_LIB/net/reuse.py" "$(chs_vip "$1")" 80 42000 \
		"$PORTS" "$PORTS" server,reset,aborted,late
}

# However the flowtable heard of the end of a connection, its port is free for the
# next one, which follows the ring.
ports()
{
	local f cl vip

	PORTS=16
	change drain 2 3
	for f in 4 6; do
		reuse "$f"
		chs_expect "IPv$f: on b1 at first" "$(grep -c ' b1$' <<< "$CHS_OUT")" "$PORTS"
	done
	change set 2 3 -- state up
	for f in 4 6; do
		cl=$(chs_cl "$f") vip=$(chs_vip "$f")
		reuse "$f"
		awk -v cl="$cl" -v vip="$vip" '
			{ print "tcp", cl, $1, vip, 80, $2 }' <<< "$CHS_OUT" > "$CHS_TMP/table"
		asks "tcp$f" | ring_says > "$CHS_TMP/said"
		[[ $(sort -u "$CHS_TMP/said" | wc -l) == 3 ]] ||
			chs_fail "the ring has not changed"
		diff "$CHS_TMP/said" "$CHS_TMP/reached" ||
			chs_fail "IPv$f: not where the ring says"
	done
}

# Replies of backends that have no route to the client.
masquerade()
{
	local f

	for f in 4 6; do
		chs_cmd_ok chs_ctl service set "web$f" masquerade on
		open "tcp$f"
		same "tcp$f"
		chs_conns "tcp$f" table "$CHS_TMP/table"
		chs_expect "clients that backends see" \
			"$(cut -d ' ' -f 9 "$CHS_TMP/table" | sort -u)" "$(lb_at "$f")"
		(($(offloaded "tcp$f") >= COUNT)) || chs_fail "not offloaded"
		chs_cmd_ok chs_ctl service set "web$f" masquerade off
	done
}

lb_at() { [[ $1 == 4 ]] && echo 198.51.100.1 || echo 2001:db8:b::1; }

# What is offloaded does not miss the module, and the next one knows it.
reload()
{
	local id

	for id in $ALL; do
		open "$id"
	done
	chs_cmd_ok chs_ctl save "$CHS_TMP/saved"
	chs_unload || chs_fail "the module does not go"
	for id in $ALL; do
		same "$id"
	done
	chs_load || chs_fail "the module does not come back"
	chs_cmd_ok chs_ctl apply "$CHS_TMP/saved"
	have_b1
	change set 1 -- state down
	lost_b1
	change set 1 -- state up
}

# Without the flowtable they are the stack's again.
removed()
{
	local id packets

	for id in $ALL; do
		open "$id"
	done
	chs_in lb nft delete table inet fast
	for id in $ALL; do
		packets=$(chs_stat "$(service_of "$id")" packets)
		same "$id"
		(($(chs_stat "$(service_of "$id")" packets) >= packets + COUNT)) ||
			chs_fail "$id: still past the module"
	done
	flowtable
	for id in $ALL; do
		same "$id"
	done
}

# over ID: the end of a service is that of its connections
over()
{
	chs_conns "$1" exchange
	if [[ $1 == tcp* ]]; then
		chs_answers "$1" answered=0 broken="$COUNT" reset="$COUNT"
	else
		chs_answers "$1" answered=0 refused="$COUNT"
	fi
}

deleted()
{
	local id

	chs_cmd_ok chs_ctl service del web4
	chs_cmd_ok chs_ctl service del dns4
	over tcp4
	over udp4
	same tcp6
	same udp6
	chs_cmd_ok chs_ctl flush
	over tcp6
	over udp6
	for id in $ALL; do
		chs_expect "$id: offloaded" "$(offloaded "$id")" 0
	done
	chs_busywait 10000 none_held || chs_fail "the flowtable keeps what is dead"
}

chs_require_cmd conntrack nft nstat
chs_setup
chs_run "topology" topology
chs_run "connections follow the ring, and are offloaded" hold
chs_run "conntrack counts them, stats only what the stack sees" counted
chs_run "changes of others disturb nobody" others
chs_run "del ends just its own, at once" gone del 1
chs_run "down ends just its own, at once" gone set 1 -- state down
chs_run "a drain's deadline ends just its own" deadline
chs_run "flaps: nothing goes to who is down" flaps
chs_run "a port used again follows the ring" ports
chs_run "the source is translated too" masquerade
chs_run "a reload keeps them" reload
chs_run "without the flowtable they go on" removed
chs_run "service del and flush end them, at once" deleted
chs_done
