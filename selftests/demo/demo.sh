#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The demonstration: a client, a balancer and web servers in namespaces, and what
# becomes of running downloads while the set of servers changes. "make demo" runs
# it in a VM. What it claims it has measured; it fails if a promise is broken.

set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../module.sh
. "$here/../module.sh"
# shellcheck source=failover.sh
. "$here/failover.sh"

# This script itself is the balancer: commands need not be sent there.
if [[ ${1:-} != balancer ]]; then
	exec unshare --net "$0" balancer
fi

VIP=203.0.113.80
VIP6=2001:db8:f::80
CLIENT=192.0.2.10
CLIENT6=2001:db8:a::10
DOWNLOADS=50 FIRST_DOWNLOAD=20001
PROBES=400 FIRST_PROBE=10001
FILE_MB=2

began=$SECONDS
broken=0
work=$(mktemp -d)
names=(be1 be2 be3 be4 be5)
netns=()
declare -A pid_of=()

# Saying ------------------------------------------------------------------------

bold='' dim='' good='' bad='' plain=''
if [[ -t 1 || ${CHS_TEST_COLOR:-} ]] && [[ -z ${NO_COLOR:-} ]]; then
	bold=$'\e[1m' dim=$'\e[36m' good=$'\e[32m' bad=$'\e[1;31m' plain=$'\e[0m'
fi

say()
{
	printf '%s\n' "$@"
}

step=0
title()
{
	local line

	step=$((step + 1))
	printf -v line '%*s' $((73 - ${#1})) ''
	say '' "$bold── $step. $1 ${line// /─}$plain" ''
}

# promise TEXT CONDITION...: the text is true if all conditions are
promise()
{
	local text=$1 condition

	for condition in "${@:2}"; do
		if ! ((condition)); then
			say "  ${bad}✘ $text$plain" "    BROKEN PROMISE: $condition"
			broken=$((broken + 1))
			return
		fi
	done
	say "  ${good}✔${plain} $text"
}

die()
{
	say "${bad}demo: $*$plain"
	exit 1
}

# Breaks long lines between words and sets in what follows.
wrap()
{
	local line part

	while IFS= read -r line; do
		while ((${#line} > 78)); do
			part=${line:0:79}
			part=${part% *}
			say "  $part"
			line="      ${line:${#part} + 1}"
		done
		say "  $line"
	done
}

# For awk: percentages, and bars with a stroke at the target. A column is two
# percent.
# shellcheck disable=SC2016 # not for the shell
BARS='
function percent(part)
{
	return sprintf("%.1f %%", part * 100)
}
function bar(part, target,   i, n, mark, line)
{
	n = int(part * 50 + 0.5)
	mark = target == "" ? -1 : int(target * 50 + 0.5)
	for (i = 0; i < n || i <= mark; i++)
		line = line (i == mark ? "│" : i < n ? "█" : " ")
	return line
}
'

# Doing -------------------------------------------------------------------------

# run COMMAND...: shows the command and what it says
run()
{
	local status=0 line

	line=$(wrap <<< "\$ $*")
	say "$dim$line$plain"
	"$@" > "$work/out" 2>&1 || status=$?
	wrap < "$work/out"
	((status == 0)) || die "status $status from: $*"
}

# ask COMMAND...: of the client; the words of its answer are in A[...]
declare -A A=()
ask()
{
	local answer word

	say "$*" >&"$to_client"
	if ! read -r -t 300 answer <&"$from_client"; then
		cat "$work/client.log"
		die "no answer to: $*"
	fi
	[[ $answer != error* ]] || die "$answer"
	A=()
	for word in $answer; do
		A[${word%%=*}]=${word#*=}
	done
}

# predict FIRST COUNT FILE: what the packet path says of connections from those
# ports of the client
predict()
{
	printf "lookup tcp $CLIENT:%s $VIP:80\n" \
		$(seq "$1" $(($1 + $2 - 1))) > "$work/batch"
	chctl --batch "$work/batch" > "$3" || die "status $? from chctl lookup"
}

# backend_said: name of the backend that the last run of "chctl lookup" told
backend_said()
{
	local address

	read -r _ address _ < "$work/out"
	address=${address%]}
	address=${address%:80}
	address=${address%]}
	echo "be$((${address##*[.:]} - 10))"
}

# measure: where new connections go: target, share of the ring, counted
measure()
{
	predict $FIRST_PROBE $PROBES "$work/said"
	[[ ! -e $work/went ]] || mv "$work/went" "$work/went.before"
	ask probe $PROBES $FIRST_PROBE $VIP "$work/went"

	say '' "            weight  state   target     ring   measured"
	chctl -j ring show web | jq -r '.backends[] |
		[.address, .weight, .state, .target, .share] | @tsv' |
	awk -v probes=$PROBES "$BARS"'
		NR == FNR { count[$2]++; next }
		{
			sub(/.*\./, "", $1)
			name = "be" $1 - 10
			part = count[name] / probes
			printf "    %s %9d  %-5s  %7s  %7s  %9s  %s\n", name, $2, $3,
				percent($4), percent($5), percent(part), bar(part, $4)
		}' "$work/went" -

	# Lines of both are in the order of ports.
	same=$(awk 'NR == FNR { went[FNR] = $2; next }
		{ sub(/:.*/, "", $2); sub(/.*\./, "", $2) }
		went[FNR] == "be" $2 - 10 { n++ }
		END { print n + 0 }' "$work/went" "$work/said")
	say ''
	promise "$same of $PROBES new connections went where chctl lookup had said" \
		"same == PROBES"
}

dump()
{
	[[ ! -e $work/arcs ]] || mv "$work/arcs" "$work/arcs.before"
	chctl ring dump web > "$work/arcs" || die "status $? from chctl ring dump"
}

# moves BEFORE AFTER WORD: of lines with a key and an owner, how many there are,
# how many changed owner, and how many of these WORD neither gave nor got
moves()
{
	awk -v word="$3" 'NR == FNR { before[FNR] = $2; next }
		before[FNR] != $2 {
			moved++
			if (before[FNR] != word && $2 != word)
				others++
		}
		END { print FNR, moved + 0, others + 0 }' "$1" "$2"
}

# moved NAME TARGET: how much of the hash space a change of NAME moved, and how
# much it would be if every share were its target, in tenths of a percent
moved()
{
	local arcs moved others part text

	read -r arcs moved others < <(moves "$work/arcs.before" "$work/arcs" \
		198.51.100.$((10 + ${1#be})):80)
	part=$((moved * 1000 / arcs))
	printf -v text '%d.%d %% of the hash space moved (ideal: %d.%d %%), ' \
		$((part / 10)) $((part % 10)) $(($2 / 10)) $(($2 % 10))
	if ((others)); then
		text+="$others arcs among others"
	else
		text+="all to or from $1"
	fi
	# Shares are as even as the ring makes them.
	promise "$text" "part * 10 <= $2 * 13" "others * 50 <= arcs"
}

# downloads BREAKS [BACKEND]: how they are; those from BACKEND hang
downloads()
{
	local name line='' stuck=0

	ask status "${@:2}"
	[[ ${2:-} ]] && stuck=${A[$2]:-0}
	for name in "${names[@]}"; do
		[[ ${A[$name]:-} ]] && line+="  $name: ${A[$name]}"
	done
	promise "${A[moving]} of $DOWNLOADS downloads go on, ${A[broken]} broke so far; ${A[percent]} % is read" \
		"${A[moving]} == DOWNLOADS - $stuck" "${A[broken]} == $1"
	say "    served by $line"
}

# Setting up --------------------------------------------------------------------

topology()
{
	local i

	ip netns attach balancer $$ || return
	netns=(balancer client "${names[@]}")
	printf 'netns add %s\n' "${netns[@]:1}" | ip -b - || return
	echo 1 > /proc/sys/net/ipv4/ip_forward
	echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
	{
		cat <<- EOT
			link set lo up
			route add blackhole $VIP
			route add blackhole $VIP6
			link add l0 type veth peer name c0 netns client
			addr add 192.0.2.1/24 dev l0
			addr add 2001:db8:a::1/64 dev l0 nodad
			link set l0 up
			link add br0 type bridge
			addr add 198.51.100.1/24 dev br0
			addr add 2001:db8:b::1/64 dev br0 nodad
			link set br0 up
		EOT
		for i in 1 2 3 4 5; do
			say "link add p$i type veth peer name e0 netns be$i" \
				"link set p$i master br0 up"
		done
	} | ip -b - || return
	ip -n client -b - <<- EOT || return
		link set lo up
		addr add $CLIENT/24 dev c0
		addr add $CLIENT6/64 dev c0 nodad
		link set c0 up
		route add default via 192.0.2.1
		route add default via 2001:db8:a::1
	EOT
	for i in 1 2 3 4 5; do
		ip -n "be$i" -b - <<- EOT || return
			link set lo up
			addr add 198.51.100.$((10 + i))/24 dev e0
			addr add 2001:db8:b::$((10 + i))/64 dev e0 nodad
			link set e0 up
			route add default via 198.51.100.1
			route add default via 2001:db8:b::1
		EOT
	done
}

# start NAME NETNS COMMAND...: in the background until the end
start()
{
	nsenter --net="/run/netns/$2" -- "${@:3}" >> "$work/$1.log" 2>&1 &
	pid_of[$1]=$!
}

# serve NAME: an nginx there
serve()
{
	local name=$1 dir=$work/$1

	mkdir "$dir"
	cat > "$dir/nginx.conf" <<- EOT
		daemon off;
		master_process off;
		pid $dir/pid;
		error_log $dir/error.log;
		events { worker_connections 1024; multi_accept on; }
		http {
			access_log off;
			client_body_temp_path $dir/body;
			proxy_temp_path $dir/proxy;
			fastcgi_temp_path $dir/fastcgi;
			uwsgi_temp_path $dir/uwsgi;
			scgi_temp_path $dir/scgi;
			send_timeout 600s;
			server {
				listen 80 backlog=1024 sndbuf=32k;
				listen [::]:80 ipv6only=on backlog=1024 sndbuf=32k;
				root $work/www;
				add_header X-Backend $name;
				location = /whoami { return 200 "$name\n"; }
			}
		}
	EOT
	start "$name" "$name" nginx -e "$dir/error.log" -p "$dir" -c "$dir/nginx.conf"
}

ending()
{
	local status=$? pid name

	trap - EXIT INT TERM HUP
	for pid in "${pid_of[@]}"; do
		kill "$pid" 2> /dev/null
		wait "$pid" 2> /dev/null
	done
	for name in "${netns[@]}"; do
		ip netns del "$name"
	done
	if chs_loaded && ! chs_unload; then
		say "demo: the module does not unload"
		((status)) || status=1
	fi
	rm -rf "$work"
	exit "$status"
}

trap ending EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

cat << EOF
${bold}chsteer: consistent-hash connection steering$plain

                                                  ┌── be1  198.51.100.11
                                                  ├── be2  198.51.100.12
      client ──────────── balancer ───────────────┼── be3  198.51.100.13
  192.0.2.10       .1  203.0.113.80  .1           ├── be4  198.51.100.14
  2001:db8:a::10       2001:db8:f::80             └── be5  198.51.100.15
                                                           2001:db8:b::11 ...

Seven network namespaces on Linux $(uname -r).
The client knows one address, 203.0.113.80. The balancer translates it to that
of a server. Each server is an nginx and has the same file of $FILE_MB MB.
EOF

# shellcheck disable=SC2119 # no parameters
chs_load || die "the module does not load"
topology || die "no topology"
mkdir "$work/www"
head -c ${FILE_MB}M /dev/urandom > "$work/www/file"
for name in "${names[@]}"; do
	serve "$name"
done
mkfifo "$work/to" "$work/from"
exec {to_client}<> "$work/to" {from_client}<> "$work/from"
start client client "$here/client.py" "$work/to" "$work/from"
read -r sum _ < <(sha256sum "$work/www/file")
ask ready 198.51.100.{11,12,13,14,15}
((A[waiting] == 0)) || die "not every nginx answers"

# The story ---------------------------------------------------------------------

title "Four servers"
run chctl service add web tcp $VIP:80
run chctl backend add web 198.51.100.{11,12,13,14}:80
run chctl
cat << EOF

The packet path is asked where connections from $PROBES ports of the client would
go; then the client makes them. Bar: what was measured; stroke: the target.
EOF
measure

title "$DOWNLOADS downloads begin"
say "Each has a connection of its own and is read slowly, to last until the end." ''
run chctl lookup tcp $CLIENT:$FIRST_DOWNLOAD $VIP:80
said=$(backend_said)
ask start $DOWNLOADS $FIRST_DOWNLOAD $VIP
ask who $FIRST_DOWNLOAD
say ''
promise "the download from port $FIRST_DOWNLOAD, said to go to $said, is served by ${A[who]}" \
	"${said#be} == ${A[who]#be}"
downloads 0

title "A fifth server is added"
dump
run chctl backend add web 198.51.100.15:80
dump
measure
say '' "  Arcs of the hash space that changed owner:" ''
read -r arcs arcs_moved _ < <(moves "$work/arcs.before" "$work/arcs" 198.51.100.15:80)
awk -v arcs="$arcs" -v moved="$arcs_moved" "$BARS"'
	function row(name, n)
	{
		printf "    %-9s %5d of %d  %7s  %s\n", name, n, arcs,
			percent(n / arcs), bar(n / arcs, "")
	}
	BEGIN {
		for (i = 0; i < arcs; i++)
			modulo += i % 4 != i % 5
		row("here", moved)
		row("ideal", arcs / 5)
		row("hash % n", modulo)
	}'
say ''
moved be5 200
read -r _ elsewhere others < <(moves "$work/went.before" "$work/went" be5)
promise "of the same $PROBES connections $elsewhere go elsewhere now, $((elsewhere - others)) of them to be5" \
	"others * 50 <= PROBES"
downloads 0
predict $FIRST_DOWNLOAD $DOWNLOADS "$work/running"
read -r stay line < <(awk '$2 != $8 { n++; if (!line) line = NR }
	END { print n + 0, line + 0 }' "$work/running")
if ((stay)); then
	say '' "$stay of the downloads lie in arcs that be5 owns now, and stay where they are:" ''
	run chctl lookup tcp "$CLIENT:$((FIRST_DOWNLOAD + line - 1))" $VIP:80
fi

title "be1 gets half the weight"
run chctl backend set web 198.51.100.11:80 weight 50
dump
measure
# From 100 of 500 to 50 of 450.
moved be1 89
downloads 0

title "be2 is drained"
say "It gets no new connections; those that it has end in their own time." ''
before=${A[be2]:-0}
run chctl backend drain web 198.51.100.12:80
dump
measure
promise "none of them went to be2" "${A[be2]:-0} == 0"
# 100 of 450.
moved be2 222
downloads 0
promise "be2 still serves the $before downloads that it served" "${A[be2]:-0} == before"

title "be3 dies"
say "Its cable is pulled and its nginx killed: nobody says goodbye." ''
run ip link set p3 down
run kill -9 "${pid_of[be3]}"
wait "${pid_of[be3]}" 2> /dev/null
unset 'pid_of[be3]'
ask quiet be3
hung=${A[be3]:-0}
say ''
downloads 0 be3
say '' "Those from be3 hang. To find out is the work of a health checker, which says:" ''
since=${EPOCHREALTIME/[.,]/}
run chctl backend set web 198.51.100.13:80 state down
ask recover be3
took=$(((${EPOCHREALTIME/[.,]/} - since) / 100000))
cat << EOF

The next packet of each of these goes to another server, which knows nothing of
the connection and resets it: the client learns at once, and asks for the rest
of its file over a new connection.

EOF
promise "after $((took / 10)).$((took % 10)) s all $hung read on elsewhere" \
	"${A[moving]} == DOWNLOADS" "${A[be3]:-0} == 0"
downloads "$hung"
measure
promise "none of them went to be3" "${A[be3]:-0} == 0"

title "The same for IPv6"
run chctl service add web6 tcp "[$VIP6]:80"
run chctl backend add web6 "[2001:db8:b::11]:80" "[2001:db8:b::14]:80" "[2001:db8:b::15]:80"
run chctl lookup tcp "[$CLIENT6]:$FIRST_DOWNLOAD" "[$VIP6]:80"
said=$(backend_said)
ask fetch $FIRST_DOWNLOAD $VIP6
[[ ${A[sha256]} == "$sum" ]] && right=1 || right=0
say ''
promise "a download, said to go to $said, was served by ${A[backend]}; its checksum is right" \
	"${said#be} == ${A[backend]#be}" "right == 1"

title "All downloads end"
say "The client reads the rest at full speed and sums up what it has." ''
ask finish "$work/sums"
read -r right whole once < <(awk -v sum="$sum" '
	$4 == sum { right++ }
	$2 == 0 { whole++ }
	$2 == 1 { once++ }
	END { print right + 0, whole + 0, once + 0 }' "$work/sums")
promise "${A[done]} of $DOWNLOADS downloads are complete" "${A[done]} == DOWNLOADS"
promise "$right of $DOWNLOADS have the checksum ${sum:0:16}..." "right == DOWNLOADS"
promise "$whole of them never broke, $once broke once: the $hung that be3 had when it died" \
	"once == hung" "whole == DOWNLOADS - hung"
say ''
run chctl stats web

title "One director takes over from another"
failover

say ''
if ((broken)); then
	say "${bad}demo: promises broken: $broken ($((SECONDS - began)) s)$plain"
	exit 1
fi
say "${good}demo: every promise was kept ($((SECONDS - began)) s)$plain"
