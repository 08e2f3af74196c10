#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
#
# The tool against the kernel: statuses, streams and sentences. Cases C-070,
# C-073 to C-080.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# Everything failed says nothing on stdout that could be taken for success.
fails()
{
	local code=$1 text=$2

	shift 2
	chs_cmd_fail "Error: $code: " "$text" chctl "$@"
	chs_expect "stdout of $*" "$CHS_OUT" ""
	chs_expect "lines on stderr of $*" "$(wc -l <<< "$CHS_ERR")" 1
}

usage()
{
	chs_cmd_usage "$1" chctl "${@:2}"
	chs_expect "stdout of ${*:2}" "$CHS_OUT" ""
}

services()
{
	cat > "$CHS_TMP/services" <<- EOF
		service add web tcp $CHS_VIP4:80 slots 256
		backend add web 10.0.0.1 10.0.0.2:8080
		service add any tcp 203.0.113.81:* slots 256
		backend add any 10.0.0.1 10.0.0.2:8080
		service add six udp [$CHS_VIP6]:53 slots 256
		backend add six 2001:db8:b::1
	EOF
	chs_cmd_ok chctl flush
	chs_cmd_ok chctl -b "$CHS_TMP/services"
}

# C-070, C-074, C-076: who is not there, who is there already, each by its name.
not_there()
{
	local before what

	services
	before=$(chctl save)
	for what in "service show" "backend show" "ring show" "ring dump" "stats" \
		    "service del" "ring digest"; do
		# shellcheck disable=SC2086 # words
		fails ENOENT "no service 'nope'" $what nope
	done
	fails ENOENT "no service 'nope'" service set nope on-empty drop
	fails ENOENT "no service 'nope'" backend add nope 10.0.0.1:80
	fails ENOENT "no service 'nope'" backend del nope 10.0.0.1:80
	fails ENOENT "service 'web' has no backend 10.0.0.9:80" backend del web 10.0.0.9
	fails ENOENT "service 'web' has no backend 10.0.0.1:81" backend del web 10.0.0.1:81
	fails ENOENT "service 'web' has no backend 10.0.0.9:80" backend del web 10.0.0.1 10.0.0.9
	fails ENOENT "service 'web' has no backend 10.0.0.9:80" backend drain web 10.0.0.9
	fails ENOENT "no service has backend 10.0.0.9" backend set '*' 10.0.0.9 weight 1
	fails ENOENT "no service takes udp to $CHS_VIP4:80" lookup udp 192.0.2.1:9 "$CHS_VIP4:80"
	fails EEXIST "service 'web' is there already" service add web tcp 203.0.113.9:80
	fails EEXIST "tcp $CHS_VIP4:80 is held by service 'web'" service add x tcp "$CHS_VIP4:80"
	fails EEXIST "backend 10.0.0.1:80 of service 'web' is there already" backend add web 10.0.0.1 weight 5
	fails EEXIST "backend 10.0.0.3:80 of service 'web' is named twice" backend add web 10.0.0.3 10.0.0.3:80
	chs_expect "state" "$(chctl save)" "$before"
	chs_cmd_ok chctl service del --if-exists nope
	chs_cmd_ok chctl backend del --if-exists web 10.0.0.9
	chs_cmd_ok chctl backend del --if-exists '*' 10.0.0.9
	chs_expect "state" "$(chctl save)" "$before"
	# Twice in a row.
	chs_cmd_ok chctl backend del web 10.0.0.1
	fails ENOENT "service 'web' has no backend 10.0.0.1:80" backend del web 10.0.0.1
	chs_cmd_ok chctl service del web
	fails ENOENT "no service 'web'" service del web
	# In any language; and as an object, where the name of the code is a key.
	chs_cmd_fail "Error: ENOENT: no service 'web'" "" env LANG=de_DE.UTF-8 LC_ALL=C.UTF-8 chctl service del web
	chs_cmd_fail "" "" chctl -j service del web
	chs_expect "as JSON" "$(jq -c '[.code, .error]' <<< "$CHS_ERR")" \
		"[\"ENOENT\",\"no service 'web'\"]"
}

# "*" and an endpoint without a port, as one transaction.
everywhere()
{
	services
	chs_cmd_ok chctl backend drain '*' 10.0.0.1
	chs_expect states "$(chctl -j backend show | jq -r '[.[] | select(.state == "drain") | .service] | join(" ")')" \
		"any web"
	chs_cmd_ok chctl backend set '*' 10.0.0.2:8080 10.0.0.1 state up weight 7
	chs_expect weights "$(chctl -j backend show | jq -c '[.[].weight]')" "[7,7,100,7,7]"
	chs_expect generations "$(chctl -j service show | jq -c '[.[].generation]')" "[4,2,4]"
	# Without a port: the service's, or the one whose port is the packet's.
	fails ENOENT "service 'web' has no backend 10.0.0.2:80" backend set web 10.0.0.2 weight 1
	chs_cmd_ok chctl backend add any 10.0.0.1:80
	chs_cmd_ok chctl backend set any 10.0.0.1 weight 1
	chs_expect weights "$(chctl -j backend show any | jq -c '[.[] | [.port, .weight]]')" \
		"[[0,1],[80,100],[8080,7]]"
	# With "*", every port there.
	chs_cmd_ok chctl backend del '*' 10.0.0.1
	chs_expect left "$(chctl -j backend show | jq -r '[.[].address] | join(" ")')" \
		"10.0.0.2 2001:db8:b::1 10.0.0.2"
	fails ENOENT "no service has backend 10.0.0.7" backend del '*' 10.0.0.2 10.0.0.7
	chs_expect left "$(chctl -j backend show | jq length)" 3
}

# C-073, C-077: what is printed is read back as the same; guesses are refused.
endpoints()
{
	local ep want

	chctl flush
	while read -r ep want; do
		chs_cmd_ok chctl service add e tcp "$ep"
		chs_expect "shown for $ep" "$(chctl save | cut -d' ' -f5)" "$want"
		chctl service del e
		chs_cmd_ok chctl service add e tcp "$want"
		chctl service del e
	done <<- EOF
		[2001:DB8::1]:80 [2001:db8::1]:80
		[2001:0db8:0000:0000:0000:0000:0000:0001]:80 [2001:db8::1]:80
		[2001:db8::1:100b]:80 [2001:db8::1:100b]:80
		[2001:db8::1]:* [2001:db8::1]:*
		[2001:db8::1]:80-90 [2001:db8::1]:80-90
		203.0.113.9:65535 203.0.113.9:65535
		203.0.113.9:1-65535 203.0.113.9:1-65535
		203.0.113.9:* 203.0.113.9:*
		203.0.113.9:7-7 203.0.113.9:7
	EOF
	for ep in 2001:db8::1:80 2001:db8::1 "[2001:db8::1]" "[2001:db8::1]80" \
		  "[2001:db8::1:80" "[203.0.113.9]:80" 203.0.113.9 203.0.113.9: \
		  203.0.113.9:http 203.0.113.9:080 203.0.113.9:65536 203.0.113.9:-1 \
		  203.0.113.9:80x 203.0.113.009:80 203.0.113:80 host:80 \
		  "[fe80::1%lo]:80" 203.0.113.9:1-2-3 203.0.113.9:-9 "::"; do
		usage "" service add e tcp "$ep"
		[[ $CHS_ERR == *"$ep"* ]] || chs_fail "$ep is not named"
	done
	fails EINVAL "service port 0 is none" service add e tcp 203.0.113.9:0
	fails EINVAL "ends before it begins" service add e tcp 203.0.113.9:9-8
	fails EINVAL "v4-mapped" service add e tcp "[::ffff:192.0.2.1]:80"
	fails EINVAL "link-local" service add e tcp "[fe80::1]:80"
	fails EINVAL "multicast" service add e tcp 224.1.2.3:80
	fails EINVAL "masquerade is not for mode route" service add e sctp 203.0.113.9:80 mode route masquerade on
	fails EINVAL "points 0 is not between 1 and 4096" service add e tcp 203.0.113.9:80 points 0
	fails EINVAL "slots 1000 is not a power of two" service add e tcp 203.0.113.9:80 slots 1000
	usage "icmp" service add e icmp 203.0.113.9:80
	chs_cmd_ok chctl service add e tcp 203.0.113.9:80
	usage "-1" backend add e 10.0.0.1 weight -1
	usage "010" backend add e 10.0.0.1 weight 010
	usage "198.51.100.011" backend add e 198.51.100.011
	fails EINVAL "loopback" backend add e 127.0.0.1
	fails EINVAL "unspecified" backend add e 0.0.0.0
	fails EINVAL "port 0" backend add e 10.0.0.1:0
	fails EINVAL "not IPv4 like service 'e'" backend add e 2001:db8::1
	fails EINVAL "more than 31" service add "$(printf 'n%.0s' {1..32})" tcp 203.0.113.8:80
	chs_expect backends "$(chctl -j backend show | jq -c .)" "[]"
}

# C-075: what cannot be written is an error.
broken_streams()
{
	local status

	services
	for what in "service show" "-j backend show" "ring dump web" "save" "stats" \
		    "ring digest" "-j -p ring show" "help" "-V" ""; do
		# shellcheck disable=SC2086 # words
		chctl $what > /dev/full 2> "$CHS_TMP/err"
		status=$?
		chs_expect "status of $what > /dev/full" "$status" 2
		grep -q ENOSPC "$CHS_TMP/err" || chs_fail "$what: $(< "$CHS_TMP/err")"
	done
	# The dump of a ring does not fit a pipe, whose reader is gone.
	chs_cmd_ok chctl service add large tcp 203.0.113.90:80
	chctl ring dump large 2> "$CHS_TMP/err" | head -n 1 > "$CHS_TMP/head"
	status=${PIPESTATUS[0]}
	chs_expect "status with the reader gone" "$status" 2
	grep -q EPIPE "$CHS_TMP/err" || chs_fail "$(< "$CHS_TMP/err")"
	chs_cmd_fail "" "" chctl save /nonexistent/file
	chs_cmd_fail ENOSPC "" chctl save /dev/full
	chctl service show >&- 2> "$CHS_TMP/err"
	status=$?
	chs_expect "status with stdout closed" "$status" 2
	chs_expect "JSON" "$(chctl -j service show > /dev/full 2>&1; chctl -j service show 2>&1 > /dev/full | jq -r .code)" ENOSPC
}

batches()
{
	local file=$CHS_TMP/batch

	chctl flush
	cat > "$file" <<- EOF
		# three that do, one that does not, one that is not come to

		service add a tcp $CHS_VIP4:80
		backend add a 10.0.0.1 zone "r\"1"
		service add b tcp $CHS_VIP4:80
		service add c tcp $CHS_VIP4:82
	EOF
	chs_cmd_fail "Error: EEXIST: $file:5: " "held by service 'a'" chctl -b "$file"
	chs_expect services "$(chctl -j service show | jq -c '[.[].name]')" '["a"]'
	chs_cmd_fail "" "" chctl -j -b - < "$file"
	chs_expect "as JSON" "$(jq -c '[.code, .file, .line]' <<< "$CHS_ERR")" '["EEXIST","stdin",3]'
	printf 'service show\nservcie show\n' > "$file"
	chs_cmd_usage "$file:2: " chctl -b "$file"
	[[ $CHS_OUT == "a tcp "* ]] || chs_fail "the first line has done nothing"
	chs_cmd_ok chctl -b /dev/null
	chs_cmd_fail ENOENT "$file.none" chctl -b "$file.none"
}

rest()
{
	local word object

	chs_setup_ns other
	services
	chs_expect "in another namespace" "$(chctl -n "${CHS_NS[other]}" -j service show | jq -c .)" "[]"
	chs_cmd_ok chctl -n "${CHS_NS[other]}" service add o tcp "$CHS_VIP4:80"
	chs_expect services "$(chctl -j service show | jq length)" 3
	chs_cmd_fail ENOENT "no such network namespace" chctl -n none-such service show
	chs_cmd_usage "netns" chctl -n ../x service show
	chs_cmd_ok chctl -V
	[[ $CHS_OUT == *"$(modinfo -F version "$CHS_KO")"* ]] || chs_fail "-V: $CHS_OUT"
	chs_cmd_ok chctl -j -V
	chs_json . > /dev/null || chs_fail "-V is no JSON"
	for word in help -h --help; do
		chs_cmd_ok chctl "$word"
		[[ $CHS_OUT == Usage:* && -z $CHS_ERR ]] || chs_fail "$word"
		for object in service backend ring "service add" save apply; do
			# shellcheck disable=SC2086 # words
			chs_cmd_ok chctl $object $word
			[[ $CHS_OUT == *chctl* ]] || chs_fail "$object $word"
		done
	done
	usage "serv" serv show
	usage "sho" service sho
	usage "missing" service add x
	usage "too many" service show a b
	usage "--nope" service del --nope x
	chs_cmd_ok chctl
	[[ $CHS_OUT == *web* && $CHS_OUT == *10.0.0.2:8080* ]] || chs_fail "without words"
	chs_cmd_ok chctl flush
	chs_cmd_ok chctl flush
	for word in "service show" "backend show" "ring show" "ring digest" stats; do
		# shellcheck disable=SC2086 # words
		chs_expect "$word of nothing" "$(chctl -j $word | jq -c .)" "[]"
	done
}

# Last: without the module nothing is "[]".
no_module()
{
	local what

	chs_unload || chs_fail "not unloaded"
	for what in "service show" "-j service show" "flush" "save" "-j ring digest" \
		    "service del --if-exists x" "apply $CHS_TMP/services" \
		    "-b $CHS_TMP/services" "lookup tcp 192.0.2.1:9 203.0.113.1:80" "-j stats"; do
		# shellcheck disable=SC2086 # words
		chs_cmd_fail ENOMODULE "modprobe chsteer" chctl $what
		chs_expect "stdout of $what" "$CHS_OUT" ""
	done
	# What is wrong in itself stays so; help and version need no module.
	chs_cmd_usage "sho" chctl service sho
	chs_cmd_ok chctl help
	chs_load || chs_fail "not loaded"
}

chs_setup
chs_run "who is not there, and who is already" not_there
chs_run "every service, every port" everywhere
chs_run "addresses and ports in and out" endpoints
chs_run "streams that cannot be written" broken_streams
chs_run "batches" batches
chs_run "namespace, version, help, nothing" rest
chs_run "no module" no_module
chs_done
