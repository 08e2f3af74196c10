#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
#
# The ring is a function of the set of backends and the service's options, and
# of nothing else: not of the order of commands, nor of what was there before.
# Cases C-001 to C-006, C-008, C-009.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

model=$CHS_LIB/net/ring_agree.py

digest()
{
	chctl ${1:+-n "${CHS_NS[$1]}"} ring digest "$2" | cut -d' ' -f2
}

# dump NAME SERVICE
dump()
{
	chctl ${1:+-n "${CHS_NS[$1]}"} ring dump "$2"
}

# The same backends in N orders: by one command each, with detours.
shuffled()
{
	local lines=$CHS_TMP/lines i n order=() service words

	for ((i = 1; i <= 16; i++)); do
		order+=("$(chs_b4 "$i"):80 weight $((i * 37 % 100 + 1))")
	done
	service="service add s tcp $CHS_VIP4:80 slots 1024 points 64"
	{
		echo "$service"
		printf 'backend add s %s\n' "${order[@]}"
	} > "$lines"
	chs_cmd_ok chctl -n "${CHS_NS[h1]}" -b "$lines"
	dump h1 s > "$CHS_TMP/want"

	for ((i = 0; i < 6; i++)); do
		{
			echo flush
			echo "$service"
			printf '%s\n' "${order[@]}" | shuf --random-source=<(yes "$i") |
				while read -r words; do
				echo "backend add s $words"
				((RANDOM % 3)) || echo "backend set s ${words%% *} state drain"
				((RANDOM % 3)) || echo "backend set s ${words%% *} weight 9"
				((RANDOM % 3)) || echo "backend del s ${words%% *}"
				echo "backend replace s $words"
			done
		} > "$lines"
		chs_cmd_ok chctl -n "${CHS_NS[h2]}" -b "$lines"
		dump h2 s > "$CHS_TMP/got"
		cmp "$CHS_TMP/want" "$CHS_TMP/got" || chs_fail "order $i"
	done
	chs_expect digest "$(digest h2 s)" "$(digest h1 s)"

	# Flows, asked of the packet path in both.
	n=$(chs_amount 200)
	for ((i = 0; i < n; i++)); do
		echo "lookup tcp 192.0.2.$((i % 7 + 1)):$((i * 131 + 1024)) $CHS_VIP4:80"
	done > "$lines"
	chctl -n "${CHS_NS[h1]}" -b "$lines" > "$CHS_TMP/want"
	chctl -n "${CHS_NS[h2]}" -b "$lines" > "$CHS_TMP/got"
	chs_expect flows "$(wc -l < "$CHS_TMP/want")" "$n"
	cmp "$CHS_TMP/want" "$CHS_TMP/got" || chs_fail "lookups differ"
}

# What the independent model says: arcs, digest, lookups.
modelled()
{
	chs_cmd_ok "$model" "$@"
}

# Backends differ by value, not as text, also where they are shown.
numeric()
{
	local i shown

	chctl flush
	chs_cmd_ok chctl service add n tcp "$CHS_VIP4:80"
	for i in 10 2 100 1 11 20 9; do
		echo "backend add n 10.0.0.$i:8080 10.0.0.$i:9 10.0.0.$i:10"
	done > "$CHS_TMP/batch"
	chs_cmd_ok chctl -b "$CHS_TMP/batch"
	shown=$(printf '%s\n' 10.0.0.{1,2,9,10,11,20,100}:{9,10,8080})
	chs_expect order "$(chctl -j backend show n |
		jq -r '.[] | "\(.address):\(.port)"')" "$shown"
	chs_expect "text order" "$shown" \
		"$(chctl backend show n | grep -o '10\.0\.0\.[0-9]*:[0-9]*')"
}

# C-004: another life of the module, another namespace: the same ring.
reloaded()
{
	local before lines=$CHS_TMP/saved

	chctl flush
	cat > "$lines" <<- EOF
		service add a tcp $CHS_VIP4:80
		backend add a 10.0.0.1 10.0.0.2 10.0.0.3 weight 7
		service add b udp [$CHS_VIP6]:53 seed 000102030405060708090a0b0c0d0e0f
		backend add b 2001:db8:b::1 2001:db8:b::2 weight 100
	EOF
	chs_cmd_ok chctl -b "$lines"
	before=$(chctl ring digest)
	chctl save > "$lines"
	if ! chs_unload || ! chs_load; then
		chs_fail "unload and load"
	fi
	chs_cmd_ok chctl apply "$lines"
	chs_expect digests "$(chctl ring digest)" "$before"
	# A service of the same set under another key is another ring.
	chs_cmd_ok chctl service add c tcp "$CHS_VIP4:81" seed 000102030405060708090a0b0c0d0e0f
	chs_cmd_ok chctl backend add c 10.0.0.1:80 10.0.0.2:80 10.0.0.3:80 weight 7
	[[ $(digest '' c) != "$(digest '' a)" ]] || chs_fail "the seed changes nothing"
}

# C-005, C-006: shares follow weights of any size, added in any way.
weights()
{
	local set w n sum arcs at=1 due batch=$CHS_TMP/batch

	for set in "1 10" "1 2 3" "10 100" "3 6 4" "10000 1"; do
		n=0 sum=0 at=$((at + 1))
		for w in $set; do sum=$((sum + w)); done
		echo "service add s$at tcp $CHS_VIP4:$((100 + at)) balance off unit $((sum > 500 ? 100 : sum))"
		for w in $set; do
			n=$((n + 1))
			echo "backend add s$at 10.0.0.$n weight $w"
		done
	done > "$batch"
	# 3, 6, then 4: as if all three had come at once.
	cat >> "$batch" <<- EOF
		service add x tcp $CHS_VIP4:200 balance off unit 13
		backend add x 10.0.0.1:105 weight 3
		backend add x 10.0.0.2:105 weight 6
		backend add x 10.0.0.7:105 weight 5
		backend add x 10.0.0.3:105 weight 9
		backend set x 10.0.0.3:105 weight 4
		backend del x 10.0.0.7:105
	EOF
	chctl flush
	chs_cmd_ok chctl -b "$batch"
	chs_expect "3, 6, then 4" "$(digest '' x)" "$(digest '' s5)"

	chs_cmd_ok chctl -j ring show
	at=1
	for set in "1 10" "1 2 3" "10 100" "3 6 4" "10000 1"; do
		n=0 sum=0 at=$((at + 1))
		for w in $set; do sum=$((sum + w)); done
		for w in $set; do
			n=$((n + 1)) due=$((65536 * w / sum))
			arcs=$(chs_json ".[] | select(.service == \"s$at\")
				.backends[$n - 1].slots")
			# a quarter of the target, and what a point more makes
			chs_expect_range "weights $set: arcs of $w" "$arcs" \
				$((due * 3 / 4 - 64)) $((due * 5 / 4 + 640))
		done
	done
}

# moved A B FROM TO: arcs that differ; all of them from FROM or to TO, if given
moved()
{
	paste -d' ' "$1" "$2" | awk -v from="$3" -v to="$4" '
		$2 == $4 { next }
		{ n++ }
		from != "" && $2 != from || to != "" && $4 != to { bad++ }
		END { print n + 0, bad + 0 }'
}

# C-009: a weight moves arcs of that backend and of no other, where no balance
# passes some of them on.
weight_moves()
{
	local n bad one

	chctl flush
	chs_cmd_ok chctl service add w tcp "$CHS_VIP4:80" points 512 slots 16384 balance off
	chs_cmd_ok chctl backend add w 10.0.0.{1..10}
	one=10.0.0.4:80
	dump '' w > "$CHS_TMP/base"
	chs_cmd_ok chctl backend set w 10.0.0.4 weight 200
	dump '' w > "$CHS_TMP/more"
	read -r n bad < <(moved "$CHS_TMP/base" "$CHS_TMP/more" '' "$one")
	chs_expect "arcs that moved elsewhere, raised" "$bad" 0
	# from 1/10 to 2/11: 1,340 of 16,384
	chs_expect_range "arcs moved, raised" "$n" 900 1800
	chs_cmd_ok chctl backend set w 10.0.0.4 weight 100
	dump '' w > "$CHS_TMP/back"
	cmp "$CHS_TMP/base" "$CHS_TMP/back" || chs_fail "going back is another ring"
	chs_cmd_ok chctl backend set w 10.0.0.4 weight 50
	dump '' w > "$CHS_TMP/less"
	read -r n bad < <(moved "$CHS_TMP/base" "$CHS_TMP/less" "$one" '')
	chs_expect "arcs that moved from elsewhere, lowered" "$bad" 0
	# from 1/10 to 1/19: 776
	chs_expect_range "arcs moved, lowered" "$n" 450 1200
	chs_cmd_ok chctl backend set w 10.0.0.4 state drain
	dump '' w > "$CHS_TMP/drained"
	chs_expect "arcs of a drained one" "$(grep -c " $one\$" "$CHS_TMP/drained")" 0
	read -r n bad < <(moved "$CHS_TMP/less" "$CHS_TMP/drained" "$one" '')
	chs_expect "arcs that moved from elsewhere, drained" "$bad" 0
}

# C-008: to the last backend that fits, and one more.
full()
{
	local i j before batch=$CHS_TMP/batch

	chctl flush
	{
		echo "service add full tcp $CHS_VIP4:80 points 8 slots 4096"
		# one by one, then by the dozen
		for ((i = 0; i < 64; i++)); do
			echo "backend add full 10.1.0.$i"
		done
		for ((; i < 4096; i += 64)); do
			printf 'backend add full'
			for ((j = i; j < i + 64; j++)); do
				printf ' 10.1.%d.%d' $((j >> 8)) $((j & 255))
			done
			echo
		done
	} > "$batch"
	chs_cmd_ok chctl -b "$batch"
	chs_expect backends "$(chctl -j service show full | jq '.[0].backends')" 4096
	before=$(chctl save | md5sum; chctl ring digest; chctl -j service show full)
	chs_cmd_fail ENOSPC "backend 10.2.0.0:80 would be one more than the 4096 that service 'full' may have" \
		chctl backend add full 10.2.0.0
	chs_cmd_fail ENOSPC 4096 chctl backend add full 10.2.0.1 10.2.0.2 weight 1
	chs_expect "state" "$(chctl save | md5sum; chctl ring digest; chctl -j service show full)" \
		"$before"
	chs_cmd_ok chctl backend del full 10.1.7.7
	chs_cmd_ok chctl backend add full 10.2.0.0
	for i in 1 2; do
		chs_cmd_ok chctl backend del full 10.2.0.0
		chs_cmd_ok chctl backend add full 10.1.7.7
		chs_expect "the first ring" "$(digest '' full)" \
			"$(sed -n 's/^full //p' <<< "$before")"
		chs_cmd_ok chctl backend del full 10.1.7.7
		chs_cmd_ok chctl backend add full 10.2.0.0
	done
}

chs_setup
chs_setup_ns h1 h2
chs_run "two hosts, six orders, one ring" shuffled
chs_run "arc for arc the model's ring: one octet apart" modelled octets
chs_run "arc for arc the model's ring: ports" modelled ports
chs_run "arc for arc the model's ring: IPv6, weights" modelled six
chs_run "arc for arc the model's ring: hash src, seed" modelled client
chs_run "arc for arc the model's ring: rounding" modelled rounded
chs_run "arc for arc the model's ring: balance" modelled bounded
chs_run "arc for arc the model's ring: balance with hardly an arc each" modelled scarce
chs_run "shown in the order of numbers" numeric
chs_run "the same after unload and load" reloaded
chs_run "shares follow weights" weights
chs_run "a weight moves only its own arcs" weight_moves
chs_run "4,096 backends and not one more" full
chs_done
