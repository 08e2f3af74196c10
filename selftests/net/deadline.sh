#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
#
# Drain deadlines: what passes, what cancels one, what leaves one alone.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# "*" is every service.
set -f

# get ADDRESS KEY
get()
{
	chctl -j backend show s | jq -r ".[] | select(.address == \"$1\") | .$2"
}

is()
{
	[[ $(get "$1" "$2") == "$3" ]]
}

gone()
{
	[[ -z $(get "$1" state) ]]
}

fresh()
{
	chctl flush
	chs_cmd_ok chctl service add s tcp "$CHS_VIP4:80" slots 1024
	chs_cmd_ok chctl backend add s 10.0.0.1 10.0.0.2 10.0.0.3 weight 70
}

expiry()
{
	local start digest whole limit=$((2 * CHS_SLOW))

	fresh
	whole=$(chctl ring digest s)
	start=$(chs_ms)
	chs_cmd_ok chctl backend drain s 10.0.0.1 deadline "$limit"
	digest=$(chctl ring digest s)
	[[ $digest != "$whole" ]] || chs_fail "a drained backend keeps its arcs"
	chs_expect state "$(get 10.0.0.1 state)" drain
	chs_expect_range deadline_left "$(get 10.0.0.1 deadline_left)" 1 "$limit"
	chs_busywait 15000 is 10.0.0.1 deadline_left 0 || chs_fail "it does not pass"
	chs_expect_range "ms until it passed" $(($(chs_ms) - start)) 1000 $((9000 * CHS_SLOW))
	# It stays listed, with its weight, and its flows are gone.
	chs_expect state "$(get 10.0.0.1 state)" drain
	chs_expect weight "$(get 10.0.0.1 weight)" 70
	chs_expect slots "$(get 10.0.0.1 slots)" 0
	chs_expect "ring after it" "$(chctl ring digest s)" "$digest"
	chs_expect saved "$(chctl save | grep 10.0.0.1)" \
		"backend add s 10.0.0.1:80 weight 70 state drain deadline $limit"

	# The file in force does not revive it, nor start it anew.
	chctl save > "$CHS_TMP/file"
	chs_cmd_ok chctl apply "$CHS_TMP/file"
	chs_expect "what apply changes" "$CHS_OUT" ""
	chs_expect deadline_left "$(get 10.0.0.1 deadline_left)" 0

	chs_cmd_ok chctl backend set s 10.0.0.1 state up
	chs_expect "ring once up again" "$(chctl ring digest s)" "$whole"
	chs_expect deadline_left "$(get 10.0.0.1 deadline_left)" null
	chs_expect saved "$(chctl save | grep 10.0.0.1)" \
		"backend add s 10.0.0.1:80 weight 70"
}

deleted()
{
	fresh
	chs_cmd_ok chctl backend add s 10.0.0.9 state drain deadline 600000
	chs_cmd_ok chctl backend drain s 10.0.0.1 10.0.0.2 deadline 1 delete
	chs_busywait 15000 gone 10.0.0.1 || chs_fail "10.0.0.1 stays"
	chs_busywait 5000 gone 10.0.0.2 || chs_fail "10.0.0.2 stays"
	chs_expect backends "$(chctl -j service show s | jq '.[0].backends')" 2
	chs_cmd_fail ENOENT "service 's' has no backend 10.0.0.1:80" \
		chctl backend set s 10.0.0.1 state up
	chs_cmd_ok chctl backend add s 10.0.0.1
	chs_expect "deadline of the new one" "$(get 10.0.0.1 deadline_left)" null
	chs_expect_range "the other's deadline" "$(get 10.0.0.9 deadline_left)" 599000 600000
}

# Whatever sets a state without a deadline cancels; what sets none does not.
cancelled()
{
	local how

	fresh
	while read -r how; do
		chs_cmd_ok chctl backend drain s 10.0.0.1 deadline 2 delete
		# shellcheck disable=SC2086 # several words
		chs_cmd_ok chctl backend $how
		chs_expect "deadline_left after $how" "$(get 10.0.0.1 deadline_left)" null
	done <<- EOF
		set s 10.0.0.1 state up
		set s 10.0.0.1 state down
		set s 10.0.0.1 state drain
		drain s 10.0.0.1
		drain * 10.0.0.1
		replace s 10.0.0.1 weight 70
	EOF
	# The last one left, to be there after the time of all before it. A
	# deadline on another one tells when that is.
	chs_cmd_ok chctl backend drain s 10.0.0.1
	chs_cmd_ok chctl backend drain s 10.0.0.3 deadline 3 delete
	chs_cmd_ok chctl backend drain s 10.0.0.2 deadline 2
	chs_cmd_ok chctl backend set s 10.0.0.2 weight 5 zone z
	chs_expect_range "deadline_left" "$(get 10.0.0.2 deadline_left)" 0 2
	chs_busywait 15000 gone 10.0.0.3 || chs_fail "10.0.0.3 stays"
	chs_expect state "$(get 10.0.0.1 state)" drain
	chs_expect "beside a new weight" "$(get 10.0.0.2 deadline_left)" 0
	chs_expect weight "$(get 10.0.0.2 weight)" 5
}

# An unchanged line of a file neither restarts nor cancels one that runs.
applied()
{
	local left

	fresh
	chs_cmd_ok chctl backend drain s 10.0.0.1 deadline 600
	chs_cmd_ok chctl backend drain s 10.0.0.2 deadline 300 delete
	chctl save > "$CHS_TMP/file"
	chs_busywait 10000 chs_not is 10.0.0.1 deadline_left 600
	left=$(get 10.0.0.1 deadline_left)
	chs_cmd_ok chctl apply "$CHS_TMP/file"
	chs_expect "what apply changes" "$CHS_OUT" ""
	chs_expect_range "deadline_left after apply" "$(get 10.0.0.1 deadline_left)" \
		1 "$left"
	# replace with the same words is such a line too
	chs_cmd_ok chctl backend replace s 10.0.0.1 weight 70 state drain deadline 600
	chs_expect_range "deadline_left after replace" "$(get 10.0.0.1 deadline_left)" \
		1 "$left"
	chs_expect delete "$(get 10.0.0.2 delete)" true
	# With another time it starts anew.
	sed -i 's/deadline 600/deadline 9000/' "$CHS_TMP/file"
	chs_cmd_ok chctl -j apply "$CHS_TMP/file"
	chs_expect changed "$(chs_json .changed)" 1
	chs_expect_range "deadline_left" "$(get 10.0.0.1 deadline_left)" 8900 9000
	# Also when only what becomes of it then differs.
	sed -i 's/ delete$//' "$CHS_TMP/file"
	chs_cmd_ok chctl -j apply "$CHS_TMP/file"
	chs_expect changed "$(chs_json .changed)" 1
	chs_expect delete "$(get 10.0.0.2 delete)" false
	chs_expect saved "$(chctl save)" "$(< "$CHS_TMP/file")"
}

# Many at once, in several services, and one under "*".
many()
{
	local i

	chctl flush
	for i in {1..20}; do
		echo "service add m$i tcp $CHS_VIP4:$((100 + i)) slots 256 points 8"
		echo "backend add m$i 10.0.0.1 10.0.0.2 10.0.0.3"
		echo "backend drain m$i 10.0.0.1 deadline $((i % 3 + 1)) delete"
	done > "$CHS_TMP/batch"
	chs_cmd_ok chctl -b "$CHS_TMP/batch"
	chs_cmd_ok chctl backend drain '*' 10.0.0.2 deadline 1
	chs_busywait 20000 left 0 10.0.0.1 || chs_fail "some stay"
	chs_busywait 10000 left 0 10.0.0.2 '| select(.deadline_left > 0)' ||
		chs_fail "some run on"
	left 20 10.0.0.2 || chs_fail "those without delete are gone"
	left 20 10.0.0.3 || chs_fail "others are gone"
}

left()
{
	[[ $(chctl -j backend show |
		jq "[.[] | select(.address == \"$2\") ${3:-}] | length") == "$1" ]]
}

# Unload and end of a namespace with deadlines that are yet to come.
pending()
{
	chs_setup_ns one
	chs_cmd_ok chctl -n "${CHS_NS[one]}" service add s tcp "$CHS_VIP4:80"
	chs_cmd_ok chctl -n "${CHS_NS[one]}" backend add s 10.0.0.1 state drain deadline 1
	chs_cmd_ok chctl -n "${CHS_NS[one]}" backend add s 10.0.0.2 state drain deadline 600
	chs_del_ns one
	chs_cmd_ok chctl backend drain '*' 10.0.0.3 deadline 1 delete
}

chs_setup
chs_run "a deadline passes; state up restores" expiry
chs_run "delete removes" deleted
chs_run "a later state cancels, a weight does not" cancelled
chs_run "apply leaves alone what it does not change" applied
chs_run "many at once" many
chs_run "a namespace goes with deadlines in it" pending
chs_done
