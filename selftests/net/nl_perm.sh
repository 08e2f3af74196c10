#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
#
# C-067: who may what. Changes need CAP_NET_ADMIN over the namespace; reads
# nothing, but for what gives a seed away.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# "*" is every service.
set -f

perm=$CHS_LIB/net/nl_perm.py
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
seed=000102030405060708090a0b0c0d0e0f

state()
{
	chctl save
	chctl ring digest
}

services()
{
	cat > "$CHS_TMP/services" <<- EOF
		service add open tcp 203.0.113.1:80 slots 256
		backend add open 198.51.100.11 198.51.100.12
		service add secret tcp 203.0.113.2:80 slots 256 seed $seed
		backend add secret 198.51.100.11 198.51.100.12
	EOF
	chs_cmd_ok chctl -b "$CHS_TMP/services"
}

# as WHAT-THEY-MAY COMMAND...: every request, raw; nothing has changed after it
as()
{
	local before

	before=$(state)
	# shellcheck disable=SC2086 # two words
	chs_cmd_ok "${@:2}" "$perm" $1
	chs_expect state "$(state)" "$before"
}

# The tool says what it is about, and leaves nothing half done.
tool()
{
	local line

	while read -r line; do
		# shellcheck disable=SC2086 # words
		chs_cmd_ok "${nobody[@]}" chctl $line
	done <<- EOF
		service show
		-j backend show
		ring show
		ring digest
		ring dump open
		stats
		lookup tcp 192.0.2.10:4000 203.0.113.1:80
		-V
	EOF
	while read -r line; do
		# shellcheck disable=SC2086 # words
		chs_cmd_fail EPERM CAP_NET_ADMIN "${nobody[@]}" chctl $line
		chs_expect stdout "$CHS_OUT" ""
	done <<- EOF
		ring dump secret
		lookup tcp 192.0.2.10:4000 203.0.113.2:80
		save
		flush
		service del open
		service del --if-exists none
		service add open tcp 203.0.113.1:80
		service set open on-empty drop
		backend add open 198.51.100.13
		backend del * 198.51.100.11
	EOF
	chs_cmd_fail EPERM CAP_NET_ADMIN "${nobody[@]}" chctl apply - < "$CHS_TMP/services"
	chs_cmd_fail EPERM "" "${nobody[@]}" chctl -j flush
	chs_expect code "$(jq -r .code <<< "$CHS_ERR")" EPERM
	chs_expect services "$(chctl -j service show | jq length)" 2

	# With the one that has a secret gone, everybody may save.
	chs_cmd_ok chctl service del secret
	chs_cmd_ok "${nobody[@]}" chctl save
	chs_expect saved "$CHS_OUT" "$(chctl save)"
}

# answers COMMAND...: of lookups for running connections, those of a new one beside
answers()
{
	local i

	for ((i = 0; i < 16; i++)); do
		echo "lookup tcp 192.0.2.1:$((4000 + i)) 203.0.113.9:81 established"
	done | cat - <(echo "lookup tcp 192.0.2.1:$sport 203.0.113.9:80 established"
		echo "lookup tcp 192.0.2.1:$sport 203.0.113.9:80") |
		"$@" chctl -j -b - > "$CHS_TMP/answers"
}

# Who is connected, and where to, is for the administrator: others are told what
# the ring says, whose answer anybody can compute.
connected()
{
	local sport=5000 owner other=10.0.0.1

	chs_cmd_ok chctl -b - <<- EOF
		service add nat tcp 203.0.113.9:80
		backend add nat 10.0.0.1:80 10.0.0.2:80
		service add dsr tcp 203.0.113.9:81 mode route
		backend add dsr 10.0.0.1
		backend add dsr 10.0.0.2
	EOF
	owner=$(chctl -j lookup tcp "192.0.2.1:$sport" 203.0.113.9:80 | jq -r .address)
	[[ $owner != "$other" ]] || other=10.0.0.2
	chs_cmd_ok conntrack -I -p tcp -s 192.0.2.1 --sport "$sport" -d 203.0.113.9 --dport 80 \
		--dst-nat "$other" --state ESTABLISHED -t 600

	answers
	chs_expect "reasons that root is told" "$(jq -r .reason "$CHS_TMP/answers" | sort -u |
		xargs)" "conntrack former-owner ring"
	chs_expect "connections" "$(jq -r 'select(.reason == "conntrack") | .address' \
		"$CHS_TMP/answers" | grep -vc "^$owner$")" 2
	answers "${nobody[@]}"
	chs_expect "answers that tell others more than the ring" "$(jq -c 'select(
		.reason != "ring" or .former or .open_for or
		"\(.address):\(.port)" != .owner)' "$CHS_TMP/answers")" ""
	chs_expect "answers" "$(jq -c . "$CHS_TMP/answers" | wc -l)" 18
	chctl -b - <<< "service del nat"$'\n'"service del dsr"
}

# A user's own namespace is the user's.
own_netns()
{
	local before

	before=$(state)
	chs_cmd_ok "${nobody[@]}" unshare -r -n bash -c "
		set -e
		[[ \$(chctl -j service) == '[]' ]]
		chctl service add mine tcp 203.0.113.1:80 seed $seed
		chctl backend add mine 10.0.0.1 10.0.0.2
		chctl ring dump mine > /dev/null
		chctl save | grep -q $seed
		chctl flush"
	chs_expect state "$(state)" "$before"
}

chs_require_cmd conntrack jq
chs_setup
chs_run "services" services
chs_run "root may all" as "yes yes"
chs_run "an ordinary user may read" as "no no" "${nobody[@]}"
chs_run "root without CAP_NET_ADMIN is an ordinary user" as "no no" \
	setpriv --bounding-set=-net_admin --inh-caps=-net_admin
chs_run "root of a user namespace has nothing here" as "no no" unshare -U -r
chs_run "a user who is root of a user namespace neither" as "no no" \
	"${nobody[@]}" unshare -U -r
chs_run "CAP_NET_ADMIN alone may all" as "yes yes" "${nobody[@]}" \
	--inh-caps=+net_admin --ambient-caps=+net_admin
chs_run "who is connected" connected
chs_run "a user's own namespace" own_netns
chs_run "the tool, as an ordinary user" tool
chs_done
