#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
# chs-timeout: 1200
#
# Affinity of the direct modes: which flows are remembered, until when, what
# becomes of them with their backend, and that lookup and the lists tell it.
# Cases C-010, C-014, C-015, C-018 to C-020, C-022, C-023.
#
#   cl ─── sw (bridge) ─┬─ lb
#                       └─ b1, b2, b3, b4
#
# Each case makes its services anew; web is TCP port 80, alt TCP port 81, dns UDP
# port 53. Mode route, for all modes share what is tested here.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"
# shellcheck source=direct.sh
. "$CHS_LIB/net/direct.sh"

F=4	# family of the running case

# in_family FAMILY CASE [ARGUMENT]...
in_family()
{
	local status

	F=$1
	"${@:2}"
	status=$?
	F=4
	return "$status"
}

vip() { chs_vip "$F"; }
be() { chs_be "$F" "$1"; }

topology()
{
	chs_topo_t2 4 || return
	chs_in lb sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0
	# A port of a connection that the client closed may be used after 1 s.
	chs_in cl sysctl -qw net.ipv4.tcp_tw_reuse=1
	chs_serve tcp:80,tcp:81,udp:53 b1 b2 b3 b4 || return
	chs_conns_start old cl
	chs_conns_start new cl
}

# service NAME BACKENDS [OPTION VALUE]...: with the first so many backends
service()
{
	local name=$1 n=$2 i proto=tcp port=80 text

	[[ $name == dns ]] && proto=udp port=53
	[[ $name == alt ]] && port=81
	text="service add $name $proto $(chs_ep "$(vip)" "$port") mode route"
	text+=" $CHS_SMALL ${*:3}"
	# At once, so that no arc changes its owner.
	text+=$'\n'"backend add $name"
	for ((i = 1; i <= n; i++)); do
		text+=" $(be "$i")"
	done
	chs_batch <<< "$text" || chs_fail "refused"
}

# get SERVICE KEY: out of the list of services; backend_get SERVICE I KEY
get()
{
	chs_ctl -j service show "$1" | jq ".[0].$2"
}

backend_get()
{
	chs_ctl -j backend show "$1" |
		jq ".[] | select(.address == \"$(be "$2")\") | .$3"
}

# hold ID SERVICE COUNT [SPORT]: connections, or sockets
hold()
{
	local id=$1 proto=tcp port=80

	[[ $2 == dns ]] && proto=udp port=53
	[[ $2 == alt ]] && port=81
	chs_conns "$id" open "$proto" "$(vip)" "$port" "$3" \
		${4:+"sport=$4" "src=$(chs_cl "$F")"}
	chs_answers "to $2" answered="$3" broken=0 lost=0
}

steady()
{
	local total

	chs_conns "$1" exchange
	total=$(chs_conns_get total)
	((total > 0)) || chs_fail "$1 has no connections"
	chs_answers "$2" answered="$total" moved=0 broken=0 lost=0
}

over()
{
	chs_conns old reset
	chs_conns new reset
	chs_cmd_ok chs_ctl flush
}

# told ID WORD...: what lookup says of each flow of ID, as JSON, a line each, is
# left in $CHS_TMP/told, beside the addresses where they are in $CHS_TMP/reached.
told()
{
	chs_conns "$1" table "$CHS_TMP/table"
	chs_asked "$CHS_TMP/table" "${@:2}" > "$CHS_TMP/asked"
	chs_on lb -j -b "$CHS_TMP/asked" | jq -c . > "$CHS_TMP/told"
}

# agree ID WHAT: packets of running flows go where lookup says.
agree()
{
	told "$1" established
	jq -r .address "$CHS_TMP/told" | diff - "$CHS_TMP/reached" ||
		chs_fail "$2: lookup disagrees"
}

# said FIRST COUNT: for a new flow to web from each port
said()
{
	chs_said lb tcp "$F" 80 "$1" "$2"
}

# went ID: where the flows of ID are, in the order of their making
went()
{
	chs_conns "$1" table "$CHS_TMP/table" > "$CHS_TMP/null"
	chs_asked "$CHS_TMP/table" > "$CHS_TMP/null"
	cat "$CHS_TMP/reached"
}

settled()
{
	chs_expect "open" "$(get "$1" open)" 0
	chs_expect "settles_in" "$(get "$1" settles_in)" 0
	chs_expect "remembered" "$(chs_tracked lb "$1")" 0
	chs_cmd_ok chs_ctl ring wait "$1" 0
}

# At rest nothing; after a change what is in moved arcs, and exactly that.
remembered()
{
	local moved slots flows share

	service web 3
	settled web
	hold old web 60
	steady old "at rest"
	settled web
	[[ $(chs_ctl -j flow show web) == "[]" ]] || chs_fail "flows at rest"
	agree old "at rest"
	chs_expect "reasons at rest" "$(jq -r .reason "$CHS_TMP/told" | sort -u)" ring

	chs_ctl ring dump web > "$CHS_TMP/arcs"
	said 20000 60 > "$CHS_TMP/before"
	chs_cmd_ok chs_ctl backend add web "$(be 4)"
	chs_ctl ring dump web | diff "$CHS_TMP/arcs" - | grep -c '^>' > "$CHS_TMP/moved"
	read -r moved < "$CHS_TMP/moved"
	slots=$(wc -l < "$CHS_TMP/arcs")
	share=$(get web open)
	jq -ne "($share - $moved / $slots) | fabs < 0.0001" > "$CHS_TMP/null" ||
		chs_fail "open is $share, but $moved of $slots arcs have moved"
	chs_expect_range "settles_in" "$(get web settles_in)" 1 900
	chs_cmd ring_wait web 1
	chs_expect "status of ring wait" $? 2
	chs_cmd_ok chs_ctl -j ring show web
	chs_expect "open in ring show" "$(chs_json .open)" "$share"

	# Nobody has sent yet: all is by former owners.
	chs_expect "remembered" "$(chs_tracked lb web)" 0
	told old established
	jq -r .address "$CHS_TMP/told" | diff - "$CHS_TMP/reached" ||
		chs_fail "lookup disagrees"
	chs_expect "reasons" "$(jq -r .reason "$CHS_TMP/told" | sort -u | tr '\n' ' ')" \
		"former-owner ring "
	steady old "after a change"
	agree old "after a change"
	flows=$(grep -c '"reason":"flow"' "$CHS_TMP/told")
	((flows > 0)) || chs_fail "no flow is in a moved arc"
	chs_expect "reasons" "$(jq -r .reason "$CHS_TMP/told" | sort -u | tr '\n' ' ')" \
		"flow ring "
	chs_expect "remembered" "$(chs_tracked lb web)" "$flows"
	chs_expect "by backends" "$(chs_ctl -j backend show web |
		jq 'map(.tracked_flows) | add')" "$flows"
	chs_expect "of b4" "$(backend_get web 4 tracked_flows)" 0

	# The list is of these flows and no others.
	chs_cmd_ok chs_ctl -j flow show web
	chs_json '.[] | "\(.service) \(.proto) \(.src) \(.sport) \(.dst) \(.dport) \(.address) \(.port)"' |
		sort > "$CHS_TMP/listed"
	paste -d ' ' "$CHS_TMP/told" "$CHS_TMP/table" | grep '"reason":"flow"' |
		sed 's/^{.*} //' | awk -v net="$(be 0)" '{
			address = net
			sub(/10$/, 10 + substr($6, 2), address)
			print "web", $1, $2, $3, $4, $5, address, $5
		}' | sort | diff "$CHS_TMP/listed" - || chs_fail "flow show is wrong"
	chs_json 'map(select(.idle < 0 or .idle > 600 or .reason == null)) | length' |
		grep -qx 0 || chs_fail "idle or reason"
	chs_cmd_ok chs_ctl flow show
	chs_expect "lines" "$(wc -l <<< "$CHS_OUT")" "$flows"

	# New ones follow the ring, and are remembered where it has moved.
	said 20000 60 > "$CHS_TMP/said"
	((moved = $(paste "$CHS_TMP/before" "$CHS_TMP/said" | awk '$1 != $2' | wc -l)))
	((moved > 0)) || chs_fail "no new flow is in a moved arc"
	hold new web 60 20000
	went new | diff "$CHS_TMP/said" - || chs_fail "new flows do not follow the ring"
	steady new "new ones"
	agree new "new ones"
	chs_expect "remembered" "$(chs_tracked lb web)" $((flows + moved))
	# A few arcs have moved between the others, which "balance" does.
	chs_expect "of b4" "$(backend_get web 4 tracked_flows)" \
		"$(grep -cxF "$(be 4)" "$CHS_TMP/said")"
	chs_expect_range "idle of b4" "$(backend_get web 4 idle)" 0 600
	over
}

ring_wait()
{
	chs_ctl ring wait "$@"
}

# What is flushed is remembered anew by the former owner.
flush()
{
	service web 2
	hold old web 40
	chs_cmd_ok chs_ctl backend add web "$(be 3)" "$(be 4)"
	steady old changed
	(($(chs_tracked lb) > 0)) || chs_fail "none is remembered"
	chs_cmd_ok chs_ctl flow flush web
	chs_expect "remembered" "$(chs_tracked lb)" 0
	steady old flushed
	(($(chs_tracked lb) > 0)) || chs_fail "none is remembered again"
	chs_cmd_ok chs_ctl flow flush all
	chs_expect "remembered" "$(chs_tracked lb)" 0
	chs_cmd_fail ENOENT none chs_ctl flow flush none
	chs_cmd_fail ENOENT none chs_ctl flow show none
	over
}

# moved_arc_former: what lookup knows about former owners, for old flows
formers()
{
	told old established
	jq -r '.former // empty' "$CHS_TMP/told" | wc -l
}

no_formers()
{
	(($(formers) == 0))
}

# An arc settles when its window is over and its flows have ended, and those that
# go on sending stay for ever.
settles()
{
	# Longer than a client that has a busy machine under it is silent.
	local window=$((5 * CHS_SLOW))

	service web 2 window "$window" timeout "$window"
	hold old web 30
	chs_cmd_ok chs_ctl backend add web "$(be 3)"
	chs_conns old run gap=100
	chs_busywait 60000 window_over || chs_fail "the window does not end"
	chs_conns old stop
	chs_answers "beyond the window" moved=0 broken=0
	# What is in use keeps its arc from settling.
	chs_conns old run gap=100
	chs_cmd ring_wait web $((window + 2))
	chs_expect "status of ring wait" $? 2
	chs_conns old stop
	chs_answers "beyond the window" moved=0 broken=0
	steady old "beyond the window"
	chs_conns old reset
	chs_cmd_ok chs_ctl ring wait web 60
	settled web
	hold new web 40
	chs_expect "remembered" "$(chs_tracked lb web)" 0
	agree new settled
	# A change of the window is one for arcs that are open.
	chs_cmd_ok chs_ctl service set web window 600 timeout 600
	chs_cmd_ok chs_ctl backend del web "$(be 3)"
	chs_conns new reset
	hold old web 20
	chs_cmd_ok chs_ctl backend add web "$(be 3)"
	chs_expect_range settles_in "$(get web settles_in)" 500 600
	chs_conns old reset
	chs_cmd_ok chs_ctl service set web window 1 timeout 1
	chs_cmd_ok chs_ctl ring wait web 60
	settled web
	over
}

window_over()
{
	[[ $(chs_ctl -j lookup tcp "$(probe)" "$(chs_ep "$(vip)" 80)" established |
		jq .former) == null ]]
}

# heavy COUNT: commands that make services whose rings take long to build
heavy()
{
	local i at backends=

	for ((at = 0; at < 1000; at++)); do
		backends+=" 10.77.$((at / 250)).$((at % 250 + 1))"
	done
	for ((i = 1; i <= $1; i++)); do
		echo "service add heavy$i tcp 10.78.0.$i:80 mode route affinity ring"
		echo "backend add heavy$i$backends"
	done
}

# A window begins when its change is in force, however long the transaction took,
# and whatever became due meanwhile.
long_change()
{
	local count=1 start took=0 left

	# Settling is seldom more than two seconds away; this is to be longer.
	until ((took > 4000)); do
		((count *= 2))
		start=$(chs_ms)
		heavy "$count" | chs_ctl apply - || { chs_fail "refused"; return; }
		took=$(($(chs_ms) - start))
		chs_cmd_ok chs_ctl flush
	done

	service web 2
	service alt 2
	service dns 2 affinity transition window 1
	# Makes something due while the next one is being built.
	chs_cmd_ok chs_ctl backend add dns "$(be 3)"
	chs_ctl save > "$CHS_TMP/saved"
	{
		grep -v ' web ' "$CHS_TMP/saved"
		echo "backend add dns $(be 4)"
		echo "backend add alt $(be 3)"
		heavy "$count"
		grep ' web ' "$CHS_TMP/saved"
		echo "backend add web $(be 3)"
	} | chs_ctl apply - || chs_fail "refused"
	left=$(chs_ctl -j service show |
		jq -c 'map(select(.name == "web" or .name == "alt").settles_in)')
	jq -ne "$left | .[0] - .[1] | fabs <= 1" > "$CHS_TMP/null" ||
		chs_fail "windows of one change end at different times: $left"

	chs_cmd_ok chs_ctl ring wait dns 60
	jq -ne "$(get alt open) > 0 and $(get web open) > 0" > "$CHS_TMP/null" ||
		chs_fail "a window is over with the first"
	over
}

# probe: a client's endpoint whose flow is in an arc that b3 has got
probe()
{
	[[ -e $CHS_TMP/probe.$F ]] || {
		said 27000 100 > "$CHS_TMP/owners"
		chs_ep "$(chs_cl "$F")" $((27000 - 1 +
			$(grep -nxF "$(be 3)" "$CHS_TMP/owners" | head -n 1 | cut -d : -f 1)))
	} > "$CHS_TMP/probe.$F"
	cat "$CHS_TMP/probe.$F"
}

# Drain keeps what there is, without limit, and takes nothing new; so does weight
# 0. The clock stands still as long.
drain()
{
	local how

	# Only the arcs of b1 are to move.
	for how in "backend drain web B" "backend set web B weight 0"; do
		service web 3 balance off
		hold old web 40
		(($(chs_conns_get b1) > 0)) || chs_fail "none on b1"
		# shellcheck disable=SC2086 # several words
		chs_cmd_ok chs_ctl ${how/ B/ $(be 1)}
		hold new web 40 20000
		chs_no_answer "$how" b1
		steady old "$how"
		steady new "$how"
		agree old "$how"
		agree new "$how"
		told old established
		jq -se 'any(.former != null and .open_for == null)' "$CHS_TMP/told" > "$CHS_TMP/null" ||
			chs_fail "$how: lookup names no former owner"
		chs_expect "$how: settles_in" "$(get web settles_in)" null
		chs_conns new reset

		# Others are not kept so long.
		chs_cmd_ok chs_ctl service set web window 1 timeout 1
		chs_cmd ring_wait web 3
		chs_expect "$how: status of ring wait" $? 2
		steady old "$how, long after"
		agree old "$how, long after"
		chs_expect "$how: settles_in" "$(get web settles_in)" null
		chs_cmd_ok chs_ctl service set web window 600 timeout 600
		chs_cmd_ok chs_ctl backend set web "$(be 1)" state up weight 100
		chs_expect_range "settles_in" "$(get web settles_in)" 500 600
		steady old "back again"
		over
	done
}

# until its deadline
deadline()
{
	local mine limit=$((3 * CHS_SLOW))

	service web 3
	hold old web 40
	mine=$(chs_conns_get b1)
	chs_conns old run gap=50
	chs_cmd_ok chs_ctl backend drain web "$(be 1)" deadline "$limit"
	chs_expect_range "deadline_left" "$(backend_get web 1 deadline_left)" 1 "$limit"
	chs_conns old stop
	chs_answers "before the deadline" moved=0
	chs_busywait 20000 deadline_over || chs_fail "no end"
	chs_conns old exchange
	chs_answers "after the deadline" answered=$((40 - mine)) moved=0 \
		broken="$mine" reset="$mine"
	chs_expect "state" "$(backend_get web 1 state)" '"drain"'
	chs_conns old forget
	chs_cmd_ok chs_ctl backend set web "$(be 1)" state up
	steady old "others"
	hold new web 40
	(($(chs_conns_get b1) > 0)) || chs_fail "b1 does not come back"
	over
}

deadline_over()
{
	[[ $(backend_get web 1 deadline_left) == 0 ]]
}

# del and down: the next packet of each of its flows goes to the ring's owner,
# which resets it; other flows and other services are not concerned.
ends()
{
	local how what mine

	for how in "backend del web B" "backend set web B state down"; do
		what=${how% B*}
		service web 3
		service alt 3
		hold new alt 20
		hold old web 40
		# Remembered or not.
		chs_cmd_ok chs_ctl backend add web "$(be 4)"
		steady old added
		mine=$(chs_conns_get b1)
		((mine > 0)) || chs_fail "none on b1"
		# shellcheck disable=SC2086 # several words
		chs_cmd_ok chs_ctl ${how/ B/ $(be 1)}
		chs_conns old exchange
		chs_answers "$what" answered=$((40 - mine)) moved=0 \
			broken="$mine" reset="$mine" b1=0
		steady new "other service"
		chs_conns old forget
		steady old "those left"
		agree old "$what"
		over
	done
}

# Datagrams, of which none says that it is the first: remembered by default.
datagrams()
{
	local mine

	service dns 3
	chs_expect affinity "$(get dns affinity)" '"flow"'
	hold old dns 40
	mine=$(chs_conns_get b1)
	((mine > 0)) || chs_fail "none on b1"
	chs_expect "remembered" "$(chs_tracked lb dns)" 40
	agree old "at rest"
	chs_conns old run gap=20
	chs_cmd_ok chs_ctl backend add dns "$(be 4)"
	chs_cmd_ok chs_ctl backend drain dns "$(be 1)"
	chs_conns old stop
	chs_answers "added and drained" moved=0 lost=0
	steady old "added and drained"
	chs_conns old exchange
	chs_answers drained b1="$mine"
	agree old "added and drained"
	hold new dns 30
	chs_no_answer drained b1
	# The next datagram after it is gone is at a living one.
	chs_cmd_ok chs_ctl backend del dns "$(be 1)"
	chs_conns old exchange
	chs_answers deleted answered=40 lost=0 moved="$mine" b1=0
	chs_cmd_ok chs_ctl backend set dns "$(be 2)" state down
	chs_conns old exchange
	chs_answers down answered=40 lost=0 b1=0 b2=0
	agree old down
	over
}

# The last backend goes; the next one has all at once (C-020).
emptied()
{
	service dns 1
	hold old dns 10
	chs_cmd_ok chs_ctl backend del dns "$(be 1)"
	chs_conns old exchange timeout=1000
	chs_answers "none left" answered=0 lost=10 refused=10
	(($(chs_ctl -j stats dns | jq '.[0].drops | add') >= 10)) || chs_fail "not counted"
	chs_cmd_ok chs_ctl backend add dns "$(be 2)"
	chs_conns old exchange
	chs_answers "another" answered=10 lost=0 b2=10
	over
}

reuse()
{
	chs_in cl "$CHS_LIB/net/reuse.py" "$(vip)" 80 "$@"
}

retransmitted()
{
	chs_in cl nstat -asz TcpExtTCPSynRetrans |
		awk '$1 == "TcpExtTCPSynRetrans" { print $2 }'
}

# A port that is used again follows the ring of now, however its last connection
# ended, and whether or not that was remembered; and no SYN is lost (C-022, C-023).
AGAIN=23000	# ports from here on have not been used
again()
{
	local how first count=20 i before

	before=$(retransmitted)
	for how in "$@"; do
		first=$AGAIN AGAIN=$((AGAIN + count))
		service web 1
		chs_cmd_ok reuse "$first" "$count" "$count" "$how"
		chs_expect "$how: all on b1" "$(grep -c ' b1$' <<< "$CHS_OUT")" "$count"
		for i in 2 3; do
			said "$first" "$count" > "$CHS_TMP/before"
			chs_cmd_ok chs_ctl backend add web "$(be "$i")"
			said "$first" "$count" > "$CHS_TMP/said"
			cmp -s "$CHS_TMP/before" "$CHS_TMP/said" &&
				chs_fail "$how: lookup knows of no change"
			# With TIME_WAIT the client's own kernel wants a second to have passed.
			[[ $how == client ]] && chs_pause 1.2
			chs_cmd_ok reuse "$first" "$count" "$count" "$how"
			while read -r _ be; do
				be "${be#b}"
			done <<< "$CHS_OUT" | diff "$CHS_TMP/said" - ||
				chs_fail "$how: not where lookup says"
		done
		over
	done
	chs_expect "SYN sent again" $(($(retransmitted) - before)) 0
}

# As long as it has not ended, though half closed, it stays where it is.
half_closed()
{
	local port=25000 pid

	service web 1
	chs_cmd_ok chs_ctl backend add web "$(be 2)"
	chs_cmd_ok chs_ctl backend drain web "$(be 2)"
	chs_bg reuse "$port" 1 1 "half=$CHS_TMP/go"
	pid=$CHS_PID
	chs_busywait 20000 grep -qx "$port b1" "$CHS_TMP/$pid.log" ||
		chs_fail "does not close: $(< "$CHS_TMP/$pid.log")"
	chs_cmd_ok chs_ctl backend set web "$(be 2)" state up
	chs_cmd_ok chs_ctl backend add web "$(be 3)" "$(be 4)"
	chs_cmd_ok chs_ctl backend drain web "$(be 1)"
	echo >&"$GO"
	wait "$pid"
	chs_busywait 10000 at_end "$port" || chs_fail "the last FIN does not reach b1"
	over
}

at_end()
{
	[[ -z $(chs_in b1 ss -Htn state fin-wait-2 "dport = :$1") &&
		$(chs_in b1 ss -Htn state time-wait "dport = :$1") ]]
}

# A SYN into a running connection goes where that is, and moves nobody, nor do
# other packets that somebody forges.
forged()
{
	local flows

	service web 2
	hold old web 20 26000
	chs_cmd_ok chs_ctl backend add web "$(be 3)" "$(be 4)"
	steady old changed
	told old established
	flows=$(paste -d ' ' "$CHS_TMP/told" "$CHS_TMP/table" | grep '"reason":"flow"' |
		sed 's/^{.*} //' | cut -d ' ' -f 3,6 | tr ' ' :)
	[[ $flows ]] || chs_fail "none is remembered"
	# shellcheck disable=SC2086 # several words
	chs_frames pins.py forged "$F" $flows
	steady old "after forged ones"
	agree old "after forged ones"
	over
}

# Without room nothing is remembered, nobody is moved, and that is counted.
no_room()
{
	service web 2 max-flows 0
	hold old web 40
	chs_cmd_ok chs_ctl backend add web "$(be 3)"
	steady old "no room"
	hold new web 40 20000
	steady new "no room"
	steady old "no room"
	agree old "no room"
	agree new "no room"
	chs_expect "remembered" "$(chs_tracked lb)" 0
	(($(chs_ctl -j stats web | jq '.[0].not_remembered') > 0)) ||
		chs_fail "not counted"
	over
}

# From affinity to affinity.
affinities()
{
	service web 3 affinity flow
	hold old web 40
	# Resets of the case before may come late, and are remembered as well.
	chs_expect "remembered at rest" "$(chs_ctl -j flow show web |
		jq '[.[] | select(.ended | not)] | length')" 40
	agree old flow
	chs_expect "reasons" "$(jq -r .reason "$CHS_TMP/told" | sort -u)" flow
	chs_cmd_ok chs_ctl backend add web "$(be 4)"
	steady old "flow, added"
	chs_cmd_ok chs_ctl service set web affinity transition
	steady old "flow to transition"
	agree old transition
	chs_cmd_ok chs_ctl service set web affinity flow
	steady old "transition to flow"
	chs_cmd_ok chs_ctl service set web affinity ring
	chs_expect "remembered by ring" "$(chs_tracked lb web)" 0
	chs_expect "open by ring" "$(get web open)" 0
	hold new web 40
	agree new ring
	# Flows are where the ring says, and nowhere else.
	told old established
	chs_expect "reasons" "$(jq -r .reason "$CHS_TMP/told" | sort -u)" ring
	jq -r .address "$CHS_TMP/told" | paste -d ' ' - "$CHS_TMP/reached" |
		awk '$1 != $2 { n++ } END { print n + 0 }' > "$CHS_TMP/n"
	chs_conns old exchange
	chs_answers ring broken="$(< "$CHS_TMP/n")"
	over
}

# By the client's address alone (C-010).
by_source()
{
	service web 4 hash src
	hold old web 30
	chs_expect "backends of one client" "$(went old | sort -u | wc -l)" 1
	agree old src
	chs_cmd_ok chs_ctl backend drain web "$(went old | head -n 1)"
	steady old "drained"
	hold new web 30
	chs_expect "backends of one client" "$(went new | sort -u | wc -l)" 1
	[[ $(went new | head -n 1) != "$(went old | head -n 1)" ]] ||
		chs_fail "new ones go to a drained backend"
	steady old "drained"
	over
}

# Rounds of coming and going (C-018).
flaps()
{
	local i rounds=$1

	service web 3
	hold old web 60
	chs_conns old run gap=10
	for ((i = 0; i < rounds; i++)); do
		cat <<- EOF
			backend drain web $(be 2)
			backend set web $(be 2) state up
			backend set web $(be 3) weight 0
			backend set web $(be 3) weight $((i % 2 ? 100 : 30))
		EOF
	done | chs_batch || chs_fail "refused"
	chs_conns old stop
	chs_answers "$rounds flaps" moved=0 broken=0
	steady old "$rounds flaps"
	agree old "$rounds flaps"
	over
}

chs_require_cmd jq nstat
chs_direct_require
chs_setup
mkfifo "$CHS_TMP/go"
exec {GO}<> "$CHS_TMP/go"
chs_run "topology" topology
((CHS_FAILED)) && chs_done
chs_alternate "what is remembered, and told" in_family F remembered
chs_run "flow flush" flush
chs_alternate "arcs settle" in_family F settles
chs_run "windows begin when a long change is in force" long_change
chs_run "drain and weight 0 keep flows without limit" drain
chs_run "a deadline ends them" deadline
chs_alternate "del and down end just the backend's own flows" in_family F ends
chs_alternate "datagrams" in_family F datagrams
chs_run "the last backend goes" emptied
for how in server client reset; do
	chs_alternate "a port used again follows the ring, ended by $how" in_family F again $how
done
chs_run "half closed, a connection stays" half_closed
chs_alternate "forged packets move nobody" in_family F forged
chs_run "no room" no_room
chs_run "affinity is changed" affinities
chs_run "hash src" by_source
flaps=$(chs_amount 15 100 5)
chs_run "$flaps flaps disturb nobody" flaps "$flaps"
chs_done
