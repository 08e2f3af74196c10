#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# cpus: 2
#
# UDP, where no packet says that a flow begins or ends: senders that never
# pause (C-019), entries from before the service (C-021, there with TCP as
# well), and two first packets at once (C-028).
#
#   cl ─── lb ─── sw ─── b1 ... b4
#                  └──── (no host: 198.51.100.99, 2001:db8:b::99)
#
# 203.0.113.81 and 2001:db8:f::81 are routed to the host that is not there, so
# that what is sent to them before there is a service leaves an entry behind.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"

OLD4=203.0.113.81
OLD6=2001:db8:f::81

old()
{
	[[ $1 == 4 ]] && echo "$OLD4" || echo "$OLD6"
}

topology()
{
	local f

	chs_topo_t1 4 || return
	chs_ip lb -b - <<- EOF || return
		neigh add 198.51.100.99 lladdr 02:00:00:00:00:99 dev l1
		neigh add 2001:db8:b::99 lladdr 02:00:00:00:00:99 dev l1
		route add $OLD4 via 198.51.100.99
		route add $OLD6 via 2001:db8:b::99
	EOF
	for f in 4 6; do
		echo "service add dns$f udp $(chs_ep "$(chs_vip "$f")" 53) $CHS_SMALL"
		echo "backend add dns$f $(chs_be "$f" 1) $(chs_be "$f" 2) $(chs_be "$f" 3)"
	done | chs_batch || return
	chs_serve tcp:80,udp:53 b1 b2 b3 b4 || return
	chs_conns_start c cl
}

# Flows of a sender that never pauses stay on a draining backend until it is
# deleted, and are on living ones with the next datagram.
chatty()
{
	local f=$1 count=30 mine b1

	b1=$(chs_be "$f" 1)
	chs_conns c open udp "$(chs_vip "$f")" 53 "$count"
	mine=$(chs_conns_get b1)
	((mine > 0)) || chs_fail "none on b1"
	chs_answers opened answered="$count"

	chs_cmd_ok chs_ctl backend drain "dns$f" "$b1"
	chs_conns c exchange
	chs_answers "in drain" answered="$count" moved=0 b1="$mine"
	chs_conns c run gap=20
	chs_cmd_ok chs_ctl backend del "dns$f" "$b1"
	chs_conns c stop
	# An answer may have met its entry deleted, but not two in a row.
	chs_expect_range "lost in the change" "$(chs_conns_get lost)" 0 "$mine"
	chs_conns c exchange
	chs_answers "after del" answered="$count" lost=0 moved="$mine" b1=0

	chs_cmd_ok chs_ctl backend add "dns$f" "$b1"
	chs_conns c exchange
	chs_answers "when it is back" answered="$count" lost=0 b1=0
	chs_conns c close
}

# After its deadline a draining backend is as one that is down.
deadline()
{
	local f=$1 count=30 mine b2

	b2=$(chs_be "$f" 2)
	chs_conns c open udp "$(chs_vip "$f")" 53 "$count"
	mine=$(chs_conns_get b2)
	((mine > 0)) || chs_fail "none on b2"
	chs_cmd_ok chs_ctl backend drain "dns$f" "$b2" deadline $((2 * CHS_SLOW))
	chs_conns c exchange
	chs_answers "before the deadline" answered="$count" moved=0 b2="$mine"
	chs_busywait 10000 at_rest "dns$f" "$(chs_ep "$b2" 53)" ||
		chs_fail "the deadline does not come"
	# What is due is done by a worker.
	chs_busywait 3000 left_by c b2 || chs_fail "b2 keeps flows"
	chs_conns c exchange
	chs_answers "after it" answered="$count" lost=0 b2=0
	chs_cmd_ok chs_ctl backend set "dns$f" "$b2" state up
	chs_conns c close
	chs_conns c open udp "$(chs_vip "$f")" 53 "$count"
	(($(chs_conns_get b2) > 0)) || chs_fail "b2 does not come back"
	chs_conns c close
}

at_rest()
{
	[[ $(chs_be_stat "$1" "$2" deadline-left) == 0 ]]
}

left_by()
{
	chs_conns "$1" exchange && (($(chs_conns_get "$2") == 0))
}

# entries PROTO ADDRESS COUNT: whether conntrack has that many, unanswered
entries()
{
	(($(chs_in lb conntrack -L -p "$1" --orig-dst "$2" 2> /dev/null |
		grep -c UNREPLIED) >= $3))
}

# Traffic from before there was a service: it reaches a backend in no more time
# than the tool and a second sweep take, without help.
earlier_udp()
{
	local f=$1 count=20 start

	chs_conns c open udp "$(old "$f")" 53 "$count" timeout=300
	chs_answers "without a service" answered=0
	entries udp "$(old "$f")" "$count" || chs_fail "no entries to be in the way"
	chs_conns c run gap=10 timeout=300
	start=$(chs_ms)
	chs_cmd_ok chs_batch <<- EOF
		service add old$f udp $(chs_ep "$(old "$f")" 53)
		backend add old$f $(chs_be "$f" 1) $(chs_be "$f" 2)
	EOF
	chs_busywait 5000 chs_grows "old$f" new-flows $((count - 1)) ||
		chs_fail "old entries stay in the way"
	echo "took $(($(chs_ms) - start)) ms"
	chs_conns c stop
	chs_conns c exchange
	chs_answers "with a service" answered="$count" b3=0
	chs_conns c close
}

# A SYN that is being sent again and again; its first one is long past.
earlier_tcp()
{
	local f=$1 count=10

	chs_conns c churn tcp "$(old "$f")" 80 at="$count" timeout=30000
	chs_busywait 10000 entries tcp "$(old "$f")" "$count" ||
		chs_fail "no entries to be in the way"
	chs_cmd_ok chs_batch <<- EOF
		service add syn$f tcp $(chs_ep "$(old "$f")" 80) on-empty drop
		backend add syn$f $(chs_be "$f" 1) $(chs_be "$f" 2)
	EOF
	chs_conns c stop
	chs_expect "not answered" "$(chs_conns_get broken)" 0
	(($(chs_conns_get answered) >= count)) || chs_fail "not answered"
}

# Both datagrams of a socket arrive, at one backend: whichever finds the other
# already there must be sent on, and the choice not depend on who is first.
pairs()
{
	local f=$1 count failed

	count=$(chs_amount 1000)
	failed=$(insert_failed)
	chs_cmd_ok chs_in cl "$CHS_LIB/net/pairs.py" "$(chs_vip "$f")" 53 "$count"
	chs_expect "of each socket" "$CHS_OUT" \
		"sockets=$count answered=$((2 * count)) split=0"
	echo "insert_failed: $failed before, $(insert_failed) after"
	chs_in lb conntrack -S
}

insert_failed()
{
	chs_in lb conntrack -S | grep -o 'insert_failed=[0-9]*' |
		awk -F= '{ n += $2 } END { print n + 0 }'
}

chs_require_cmd conntrack
chs_setup
chs_run "topology" topology
for f in 4 6; do
	chs_run "IPv$f: a sender that never pauses leaves a deleted backend" \
		chatty $f
	chs_run "IPv$f: and a draining one at its deadline" deadline $f
	chs_run "IPv$f: UDP from before the service" earlier_udp $f
	chs_run "IPv$f: a SYN from before the service" earlier_tcp $f
	chs_run "IPv$f: two first datagrams at once" pairs $f
done
chs_done
