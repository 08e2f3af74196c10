#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
#
# save and apply: what is said comes into force or is refused by name, what is
# as it should be is left alone. Cases C-013, C-071, C-085.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

file=$CHS_TMP/file

state()
{
	chctl save
	chctl -j service show
}

# refused CODE TEXT LINE [STATUS]: apply of $file fails, twice, and changes
# nothing
refused()
{
	local i before status

	before=$(state)
	for i in 1 2; do
		status=0
		chs_cmd chctl apply "$file" || status=$?
		chs_expect status "$status" "${4:-2}"
		chs_expect stdout "$CHS_OUT" ""
		[[ $CHS_ERR == *"Error: $1: $file${3:+:$3}: "*"$2"* ]] ||
			chs_fail "not $1 of line $3: $2"
		chs_expect state "$(state)" "$before"
	done
}

# Options, kinds of ports and families, all at once.
everything()
{
	cat <<- EOF
		service add a tcp $CHS_VIP4:80 hash src points 100 unit 50 slots 1024 balance off seed 000102030405060708090a0b0c0d0e0f on-empty drop masquerade on
		backend add a 10.0.0.2:80 weight 50
		backend add a 10.0.0.10:8080 weight 0 zone rack-1/a,b
		backend add a 10.0.0.10:9090 weight 10000 state drain
		service add b udp $CHS_VIP4:1000-2000 hash 5tuple points 512 unit 100 slots 16384 balance off on-empty pass
		backend add b 10.0.0.1 weight 100 state down
		backend add b 10.0.0.1:53 weight 100
		service add c sctp 203.0.113.81:* hash 5tuple points 512 unit 100 slots 16384 balance off
		backend add c 10.0.0.1 weight 100 state drain deadline 600000
		service add d.e_f-31characters-long-name-xy tcp [$CHS_VIP6]:443 hash 5tuple points 512 unit 100 slots 16384 balance off
		backend add d.e_f-31characters-long-name-xy [2001:db8:b::2]:443 weight 100 zone 31-characters-long-zone-abcdefg
		backend add d.e_f-31characters-long-name-xy [2001:db8:b::10]:443 weight 7
		service add e udp [$CHS_VIP6]:* hash 5tuple points 512 unit 100 slots 16384 balance off
		service add --force f tcp $CHS_VIP4:* hash 5tuple points 512 unit 100 slots 16384 balance off
		backend add f 10.0.0.3 weight 100
	EOF
}

round_trip()
{
	local saved=$CHS_TMP/saved digests

	everything > "$file"
	ip addr add "$CHS_VIP4/32" dev lo
	chs_cmd_fail EINVAL "needs --force" chctl apply - < <(sed 's/--force //' "$file")
	chs_cmd_ok chctl apply "$file"
	chs_expect saved "$(chctl save)" "$(< "$file")"
	digests=$(chctl ring digest)
	chs_cmd_ok chctl save "$saved"
	chs_expect "mode of a file with a seed" "$(stat -c %a "$saved")" 600
	chs_cmd_ok chctl flush
	chs_expect flushed "$(chctl save)" ""
	chs_cmd_ok chctl apply "$saved"
	chs_cmd_ok chctl save "$saved.2"
	cmp "$saved" "$saved.2" || chs_fail "save, flush, apply, save differ"
	chs_expect digests "$(chctl ring digest)" "$digests"
	# A batch of the same lines makes the same.
	chs_cmd_ok chctl flush
	chs_cmd_ok chctl -b "$saved"
	chs_expect "by a batch" "$(chctl save)" "$(< "$saved")"
	# Later scripts in the same machine have this address elsewhere.
	ip addr del "$CHS_VIP4/32" dev lo
}

# What the file says already is not touched: counters, generations, deadlines.
untouched()
{
	local before counters="[.[] | {service, address, packets, since}]"

	chs_setup_ns cl lb
	chs_link cl c0 lb l0
	chs_ip cl addr add 192.0.2.10/24 dev c0
	chs_ip cl route add default via 192.0.2.1
	chs_ip lb addr add 192.0.2.1/24 dev l0
	chs_ip lb route add unreachable "$CHS_VIP4"
	everything | grep -v ' f ' > "$file"
	chs_in lb sysctl -qw net.ipv4.ip_forward=1
	chs_cmd_ok chs_in lb chctl apply "$file"
	chs_in cl bash -c "for i in {1..5}; do echo > /dev/udp/$CHS_VIP4/1500; done" \
		2> /dev/null
	chs_cmd_ok chs_in lb chctl -j backend show
	chs_expect packets "$(chs_json '[.[].packets] | add')" 5
	before=$(chs_json "$counters")$(chs_in lb chctl -j service show)

	chs_cmd_ok chs_in lb chctl apply "$file"
	chs_expect output "$CHS_OUT" ""
	chs_cmd_ok chs_in lb chctl -j apply "$file"
	chs_expect outcome "$(chs_json '[.added, .changed, .removed, .unchanged, .moved] | join(" ")')" \
		"0 0 0 13 0"
	chs_cmd_ok chs_in lb chctl -j backend show
	chs_expect state "$(chs_json "$counters")$(chs_in lb chctl -j service show)" "$before"

	# One line differs: one service has one new ring, the others keep theirs.
	sed -i 's/10.0.0.2:80 weight 50/10.0.0.2:80 weight 51/' "$file"
	chs_cmd_ok chs_in lb chctl -j apply "$file"
	chs_expect changed "$(chs_json '[.added, .changed, .removed] | join(" ")')" "0 1 0"
	chs_cmd_ok chs_in lb chctl -j service show
	chs_expect generations "$(chs_json '[.[].generation] | join(" ")')" "2 1 1 1 1"
	chs_cmd_ok chs_in lb chctl -j backend show b
	chs_expect packets "$(chs_json '[.[].packets] | add')" 5
}

# C-013, C-085: what the file says comes into force, or is refused by name.
every_change()
{
	local from to option

	chctl flush
	everything > "$file"
	chs_cmd_ok chctl apply "$file"
	while read -r from to; do
		sed -i "s|$from|${to//_/ }|" "$file"
		chs_cmd_ok chctl apply "$file"
		chs_expect "saved after $from" "$(chctl save)" "$(< "$file")"
	done <<- EOF
		.on-empty.drop
		rack-1/a,b row2
		weight.0.zone weight_3_zone
		state.down state_drain_deadline_70
		deadline.600000 deadline_500000
		.state.drain.deadline.500000
		on-empty.pass on-empty_drop
		.masquerade.on
	EOF
	sed -i '/8080/d; / 10.0.0.3 /d; /^service add e /d' "$file"
	chs_cmd_ok chctl -j apply "$file"
	chs_expect removed "$(chs_json .removed)" 3
	chs_expect "what the file lacks" "$(chctl save)" "$(< "$file")"

	cp "$file" "$file.good"
	while read -r option from to; do
		sed "s|$from|$to|" "$file.good" > "$file"
		chs_cmd_fail EINVAL "$option of service 'a' differs and no live service can change it" \
			chctl apply "$file"
		chs_expect "state" "$(chctl save)" "$(< "$file.good")"
	done <<- EOF
		points points.100 points\ 101
		hash hash.src hash\ 5tuple
		unit unit.50 unit\ 51
		slots slots.1024 slots\ 2048
		seed 0e0f 0e10
		port :80.hash :81\ hash
		protocol a.tcp a\ udp
	EOF
	chs_cmd_ok chctl apply --replace "$file"
	chs_expect "after --replace" "$(chctl save)" "$(< "$file")"
}

# Names change hands within one file: the one that gives its key away is not in
# the file, or is somewhere else there.
renamed()
{
	local i

	chctl flush
	for i in 1 2 3; do
		echo "service add n$i tcp $CHS_VIP4:$((80 + i)) slots 256"
		echo "backend add n$i 10.0.0.$i 10.0.1.$i"
	done > "$file"
	chs_cmd_ok chctl apply "$file"
	sed -i 's/ n2 / m2 /' "$file"
	chs_cmd_ok chctl -j apply "$file"
	chs_expect outcome "$(jq -c '[.added, .changed, .removed, .unchanged]' <<< "$CHS_OUT")" \
		"[3,0,3,6]"
	chs_expect services "$(chctl -j service show | jq -c '[.[] | [.name, .port]]')" \
		'[["m2",82],["n1",81],["n3",83]]'
	# One range in the place of them all.
	printf 'service add r tcp %s:80-90\nbackend add r 10.0.0.1\n' "$CHS_VIP4" > "$file"
	chs_cmd_ok chctl apply "$file"
	chs_expect services "$(chctl -j service show | jq -c '[.[].name]')" '["r"]'
	printf 'service add q tcp %s:85-99\nservice add r tcp %s:80-84\n' \
		"$CHS_VIP4" "$CHS_VIP4" > "$file"
	refused EINVAL "port of service 'r' differs and no live service can change it" 2
	chs_cmd_ok chctl apply --replace "$file"
	chs_expect services "$(chctl -j service show | jq -c '[.[] | [.name, .port, .port_end]]')" \
		'[["q",85,99],["r",80,84]]'
	# Two lines of one file stand in each other's way as ever.
	printf 'service add q tcp %s:85-99\nservice add p tcp %s:99-100\n' \
		"$CHS_VIP4" "$CHS_VIP4" > "$file"
	refused EEXIST "tcp $CHS_VIP4:85-99 is held by service 'q'" 2
	# A service that is not in the file has no backends there.
	echo "backend add q 10.0.0.1" > "$file"
	refused ENOENT "no service 'q'" 1
}

# As many backends as there may be, in the place of as many others.
exchanged()
{
	local i

	for i in 1 2; do
		echo "service add x tcp $CHS_VIP4:80 points 1 slots 256"
		printf "backend add x 10.$i.%s\n" {0..15}.{0..255}
	done > "$CHS_TMP/both"
	head -n 4097 "$CHS_TMP/both" > "$file"
	chs_cmd_ok chctl -j apply "$file"
	tail -n 4097 "$CHS_TMP/both" > "$file"
	chs_cmd_ok chctl -j apply "$file"
	chs_expect outcome "$(jq -c '[.added, .changed, .removed, .unchanged]' <<< "$CHS_OUT")" \
		"[4096,0,4096,1]"
	# One more than that is one too many, and its line is told.
	echo "backend add x 10.3.0.0" >> "$file"
	refused ENOSPC "backend 10.3.0.0:80 would be one more than the 4096 that service 'x' may have" 4098
	chs_cmd_ok chctl flush
}

# moved_as_planned ALL [FLAG...]: apply of $file moves what plan of it says, and
# that is ALL of the hash space or not; a limit below it refuses the file.
moved_as_planned()
{
	local all=$1 planned

	shift
	chs_cmd_ok chctl -j plan apply "$@" "$file"
	planned=$(chs_json '[.[] | select(.moved != null)] |
		{moved: (map(.moved * .slots) | add), of: (map(.slots) | add)} |
		.moved / .of')
	chs_expect "all of it" "$(jq -n "$planned == 1")" "$all"
	chs_cmd_fail EMOVED "of its hash space would move" \
		chctl apply --max-move 0 "$@" "$file"
	chs_cmd_ok chctl -j apply --max-move 100 "$@" "$file"
	chs_expect "moved in all" "$(chs_json "(.moved - $planned) * 1000000 | round")" 0
}

# One count for plan and apply: gone, hashed anew, or cut otherwise.
moved()
{
	local conf="mode nat slots 1024" s i

	chctl flush
	for s in a b c; do
		echo "service add $s tcp $CHS_VIP4:$((7000 + 0x$s)) $conf"
		for i in 1 2 3 4; do
			echo "backend add $s 10.0.0.$i"
		done
	done > "$file"
	chs_cmd_ok chctl apply "$file"
	sed -i '/^service add a/,$!d; / b /d; / c /d' "$file"
	moved_as_planned true
	sed -i '/^service/s/$/ hash src/' "$file"
	moved_as_planned true --replace
	sed -i '/^service/s/$/ seed 000102030405060708090a0b0c0d0e0f/' "$file"
	moved_as_planned true --replace
	sed -i 's/slots 1024/slots 4096/' "$file"
	moved_as_planned false --replace
	sed -i 's/:[0-9]* mode/:7999 mode/' "$file"
	moved_as_planned true --replace
	sed -i '$d' "$file"
	moved_as_planned false
	chs_cmd_ok chctl flush
}

# Large ones, each applied as one change; C-071.
large()
{
	local s i

	for ((s = 0; s < 5; s++)); do
		echo "service add l$s tcp $CHS_VIP4:$((9000 + s)) hash 5tuple points 4 unit 100 slots 4096 balance off"
		for ((i = 0; i < 2000; i++)); do
			echo "backend add l$s 10.$s.$((i >> 8)).$((i & 255)):80 weight 100"
		done
	done > "$file"
	chs_cmd_ok chctl -j apply "$file"
	chs_expect added "$(chs_json .added)" 10005
	chctl save > "$file.saved"
	cmp "$file" "$file.saved" || chs_fail "10,000 backends are saved otherwise"
	chs_expect generations "$(chctl -j service show | jq -c '[.[].generation]')" \
		"[1,1,1,1,1]"
	chs_cmd_ok chctl apply "$file"
	chs_expect "applied again" "$CHS_OUT" ""
	chs_cmd_ok chctl flush
}

# A clock that is set changes what time it was then, by as much.
clock_set()
{
	local before after

	chctl flush
	chs_cmd_ok chctl service add web tcp "$CHS_VIP4:80"
	chs_cmd_ok chctl backend add web 10.0.0.1
	before=$(chctl -j backend show web | jq -r '.[0].since | fromdate')
	date -s '-1 hour' > /dev/null
	after=$(chctl -j backend show web | jq -r '.[0].since | fromdate')
	date -s '+1 hour' > /dev/null
	# "date" takes a moment, and seconds are whole.
	((before - after >= 3598 && before - after <= 3602)) ||
		chs_fail "since $before is $after, an hour earlier by the clock"
	chs_cmd_ok chctl flush
}

chs_setup
chs_run "save, flush, apply, save" round_trip
chs_run "what is as it should be is left alone" untouched
chs_run "each change of a file takes effect or is refused" every_change
chs_run "apply moves what plan says, or is refused" moved
chs_run "names and keys that change hands" renamed
chs_run "4,096 backends for 4,096 others" exchanged
chs_run "10,000 backends" large
chs_run "since, after the clock was set" clock_set
chs_done
