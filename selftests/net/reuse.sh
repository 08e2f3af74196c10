#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
#
# A source port that is used again at once: no SYN is lost (C-022), and the new
# connection follows the ring of now, whatever its predecessor did (C-023).
#
#   cl ─── lb ─── sw ─── b1 ... b4

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../traffic.sh
. "$CHS_LIB/traffic.sh"

PORTS=$(chs_amount 40 200 20)	# of which each is used four times, in two ways

topology()
{
	local f

	chs_topo_t1 4 || return
	# A port of a connection that the client closed may be used after 1 s.
	chs_in cl sysctl -qw net.ipv4.tcp_tw_reuse=1
	for f in 4 6; do
		echo "service add web$f tcp $(chs_ep "$(chs_vip "$f")" 80) $CHS_SMALL"
		echo "backend add web$f $(chs_be "$f" 1) $(chs_be "$f" 2) $(chs_be "$f" 3)"
	done | chs_batch || return
	chs_serve tcp:80 b1 b2 b3 b4
}

reuse()
{
	chs_in cl "$CHS_LIB/net/reuse.py" "$(chs_vip "$1")" 80 "${@:2}"
}

syn_retrans()
{
	chs_in cl nstat -asz TcpExtTCPSynRetrans |
		awk '$1 == "TcpExtTCPSynRetrans" { print $2 }'
}

# said FAMILY FIRST COUNT: where lookup says that a new flow from each port goes
said()
{
	local i vip cl

	cl=$(chs_cl "$1") vip=$(chs_ep "$(chs_vip "$1")" 80)
	for ((i = 0; i < $3; i++)); do
		echo "lookup tcp $(chs_ep "$cl" $(($2 + i))) $vip"
	done | chctl -j -n "${CHS_NS[lb]}" -b - | jq -r .address
}

# Every port again and again, whoever ends the connection, also while backends
# come and go.
many()
{
	local f=$1 how before failed ports drops count=$((PORTS * 4))

	before=$(syn_retrans)
	for how in server reset; do
		reuse "$f" 40000 "$PORTS" "$count" "$how" > "$CHS_TMP/out.$how" &
		if [[ $how == server ]]; then
			chs_busywait 20000 chs_grows "web$f" new-flows $((PORTS * 13 / 10))
			chs_cmd_ok chs_ctl backend del "web$f" "$(chs_be "$f" 3)"
			chs_busywait 20000 chs_grows "web$f" new-flows $((PORTS * 26 / 10))
			chs_cmd_ok chs_ctl backend add "web$f" "$(chs_be "$f" 3)"
		fi
		wait $!
		chs_expect "connections" "$(wc -l < "$CHS_TMP/out.$how")" "$count"
	done
	chs_expect "SYN sent again" $(($(syn_retrans) - before)) 0

	# One that was open when its backend went is rightly reset. If it was being
	# closed, its client has nobody to close it with: such a FIN is invalid to
	# conntrack, and the port is not to be had until the client gives up.
	failed=$(sed -n '/ b[123]$/!p' "$CHS_TMP"/out.{server,reset})
	ports=$(cut -d ' ' -f 1 <<< "$failed" | sort -u | grep -c .)
	[[ ! $failed ]] || echo "# failed: ${failed//$'\n'/, }"
	chs_expect_range "ports that failed" "$ports" 0 1
	drops=$(chs_ctl -j stats "web$f" | jq -c --argjson failed "$ports" '.[0].drops |
		if $failed > 0 then del(.invalid) else . end | map_values(select(. > 0))')
	chs_expect drops "$drops" "{}"
}

# ends FAMILY HOW FIRST: connections that ended so leave nothing that holds the next
# ones from the same ports to the old backend.
ends()
{
	local f=$1 how=$2 first=$3 ports=20 be

	chs_cmd_ok chs_batch <<- EOF
		backend drain web$f $(chs_be "$f" 2) $(chs_be "$f" 3)
	EOF
	chs_cmd_ok reuse "$f" "$first" "$ports" "$ports" "$how"
	chs_expect "first time, all on b1" \
		"$(grep -c ' b1$' <<< "$CHS_OUT")" "$ports"
	chs_cmd_ok chs_ctl backend set "web$f" "$(chs_be "$f" 2)" \
		"$(chs_be "$f" 3)" state up

	said "$f" "$first" "$ports" > "$CHS_TMP/said"
	[[ $(sort -u "$CHS_TMP/said" | wc -l) == 3 ]] ||
		chs_fail "lookup knows of no change"
	# With TIME_WAIT the client's own kernel wants a second to have passed.
	[[ $how == client ]] && chs_pause 1.2
	chs_cmd_ok reuse "$f" "$first" "$ports" "$ports" "$how"
	while read -r _ be; do
		chs_be "$f" "${be#b}"
	done <<< "$CHS_OUT" | diff "$CHS_TMP/said" - ||
		chs_fail "not where lookup says"
}

# As long as it has not ended, though half closed, it stays where it is.
half_closed()
{
	# The other family's socket at b1 is in TIME_WAIT for a minute.
	local f=$1 port=4500$1 pid

	chs_cmd_ok chs_ctl backend drain "web$f" "$(chs_be "$f" 2)" "$(chs_be "$f" 3)"
	chs_bg reuse "$f" "$port" 1 1 "half=$CHS_TMP/go"
	pid=$CHS_PID
	chs_busywait 20000 grep -qx "$port b1" "$CHS_TMP/$pid.log" ||
		chs_fail "does not close: $(< "$CHS_TMP/$pid.log")"
	chs_expect "half closed at b1" "$(sockets_of b1 fin-wait-2 "$port")" 1
	chs_cmd_ok chs_ctl backend add "web$f" "$(chs_be "$f" 4)"
	chs_cmd_ok chs_ctl backend set "web$f" "$(chs_be "$f" 2)" \
		"$(chs_be "$f" 3)" state up
	chs_cmd_ok chs_ctl backend drain "web$f" "$(chs_be "$f" 1)"
	echo >&"$GO"
	wait "$pid"
	chs_busywait 10000 at_end "$port" ||
		chs_fail "the last FIN does not reach b1"
	chs_cmd_ok chs_ctl backend set "web$f" "$(chs_be "$f" 1)" state up
	chs_cmd_ok chs_ctl backend del "web$f" "$(chs_be "$f" 4)"
}

sockets_of()
{
	chs_in "$1" ss -Htn state "$2" "dport = :$3" | wc -l
}

at_end()
{
	(($(sockets_of b1 fin-wait-2 "$1") == 0 &&
		$(sockets_of b1 time-wait "$1") == 1))
}

# When conntrack has forgotten a flow, lookup and packets agree as well.
forgotten()
{
	local f=$1 ports=20 first=43000 be
	local timeouts=net.netfilter.nf_conntrack_tcp_timeout

	chs_in lb sysctl -qw "${timeouts}"_time_wait=1 "${timeouts}"_close=1
	chs_cmd_ok chs_ctl backend drain "web$f" "$(chs_be "$f" 2)" "$(chs_be "$f" 3)"
	chs_cmd_ok reuse "$f" "$first" "$ports" "$ports" server
	chs_cmd_ok chs_ctl backend set "web$f" "$(chs_be "$f" 2)" \
		"$(chs_be "$f" 3)" state up
	chs_busywait 20000 no_entries "$first" || chs_fail "entries do not end"
	said "$f" "$first" "$ports" > "$CHS_TMP/said"
	chs_cmd_ok reuse "$f" "$first" "$ports" "$ports" server
	while read -r _ be; do
		chs_be "$f" "${be#b}"
	done <<< "$CHS_OUT" | diff "$CHS_TMP/said" - ||
		chs_fail "not where lookup says"
	chs_in lb sysctl -qw "${timeouts}"_time_wait=120 "${timeouts}"_close=10
}

no_entries()
{
	! chs_in lb conntrack -L -p tcp --orig-port-src "$1" 2> /dev/null |
		grep -q "sport=$1"
}

chs_require_cmd conntrack jq nstat
chs_setup
# Held open, so that writing to it never waits for a reader.
mkfifo "$CHS_TMP/go"
exec {GO}<> "$CHS_TMP/go"
chs_run "topology" topology
for f in 4 6; do
	chs_run "IPv$f: $((PORTS * 8)) connections from $PORTS ports lose no SYN" many $f
done
chs_alternate "ended by the server, the next one follows the ring" ends F server 42000
chs_alternate "ended by the client, the next one follows the ring" ends F client 42100
chs_alternate "ended by a reset, the next one follows the ring" ends F reset 42200
chs_alternate "a late packet after the reset, the next one follows the ring" \
	ends F late 42300
chs_alternate "forgotten, the next one follows the ring" forgotten F
chs_alternate "half closed, it stays" half_closed F
chs_done
