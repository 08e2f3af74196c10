#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one debug
#
# Lists taken while they change, and long ones: all of it as it was at one
# moment, or an error. Cases C-064, C-065.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# Names and labels of full length, and IPv6, make the longest entries.
name=n$(printf '%029d' 0)
SERVICES=$(chs_amount 600)
MANY=$(chs_amount 3000)		# backends of one service
zone=$(printf 'z%.0s' {1..31})

# fill SERVICES BACKENDS: so many services, with so many backends each
fill()
{
	local s b

	for ((s = 0; s < $1; s++)); do
		printf 'service add %s%d tcp [2001:db8:1111:2222:3333:4444:5555:%x]:443 hash 5tuple points 1 unit 100 slots 256 balance off seed 000102030405060708090a0b0c0d0e0f on-empty drop masquerade on\n' \
			"${name:0:30 - ${#s}}" "$s" $((s + 4096))
		for ((b = 0; b < $2; b++)); do
			printf 'backend add %s%d [2001:db8:aaaa:bbbb:cccc:dddd:eeee:%x]:65535 weight 100 zone %s\n' \
				"${name:0:30 - ${#s}}" "$s" $((b + 4096)) "$zone"
		done
	done
}

raw()
{
	chs_cmd_ok "$CHS_LIB/net/nl_dump.py" "$1"
}

# counted SERVICES BACKENDS: what every list has of them
counted()
{
	chs_expect services "$(chctl -j service show | jq length)" "$1"
	chs_expect backends "$(chctl -j backend show | jq length)" "$2"
	chs_expect "stats" "$(chctl -j stats | jq length)" "$1"
	chs_expect "ring digest" "$(chctl ring digest | wc -l)" "$1"
	chs_expect "ring show" "$(chctl -j ring show | jq -c '[length, ([.[].backends | length] | add)]')" \
		"[$1,$2]"
}

many_services()
{
	fill "$SERVICES" 2 > "$CHS_TMP/file"
	chs_cmd_ok chctl apply "$CHS_TMP/file"
	counted "$SERVICES" $((SERVICES * 2))
	chctl save > "$CHS_TMP/saved"
	cmp "$CHS_TMP/file" "$CHS_TMP/saved" || chs_fail "saved otherwise"
}

many_backends()
{
	fill 3 "$MANY" > "$CHS_TMP/file"
	chs_cmd_ok chctl apply "$CHS_TMP/file"
	counted 3 $((MANY * 3))
	chctl save > "$CHS_TMP/saved"
	cmp "$CHS_TMP/file" "$CHS_TMP/saved" || chs_fail "saved otherwise"
}

# A reader with little room in its socket, which an ordinary user is.
little_room()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups \
		chctl -j backend show > "$CHS_TMP/shown" || chs_fail "status $?"
	chs_expect backends "$(jq length "$CHS_TMP/shown")" $((MANY * 3))
}

# Two states by turns: nothing but one of them may ever be seen.
mixed()
{
	local i status seen fewer a=0 b=0 busy=0 writer each

	each=$(chs_amount 60)
	for i in a b; do
		fill 12 "$each" | sed "s/zone z/zone $i/" > "$CHS_TMP/$i"
	done
	# In one of them five services have one backend less.
	sed -i '/0[13579] \[.*:1000\]/d' "$CHS_TMP/b"
	fewer=$(grep -c ^backend "$CHS_TMP/b")
	chs_expect "backends of the other state" "$fewer" $((each * 12 - 5))
	chs_cmd_ok chctl apply "$CHS_TMP/a"
	chs_bg bash -c "while chctl apply $CHS_TMP/b && chctl apply $CHS_TMP/a; do
		:; done"
	writer=$CHS_PID
	for ((i = 0; i < 16; i++)); do
		status=0
		chctl save > "$CHS_TMP/seen" 2> "$CHS_TMP/err" || status=$?
		if ((status)); then
			[[ ! -s $CHS_TMP/seen ]] || chs_fail "a list beside status $status"
			grep -q 'EBUSY: the list changed while it was read' "$CHS_TMP/err" ||
				chs_fail "$(< "$CHS_TMP/err")"
			busy=$((busy + 1))
		elif cmp -s "$CHS_TMP/seen" "$CHS_TMP/a"; then
			a=$((a + 1))
		elif cmp -s "$CHS_TMP/seen" "$CHS_TMP/b"; then
			b=$((b + 1))
		else
			chs_fail "neither of the two: $(diff "$CHS_TMP/seen" "$CHS_TMP/a" | head -5)"
		fi
		if seen=$(chctl -j backend show 2> /dev/null | jq length) && [[ $seen ]]; then
			[[ $seen == $((each * 12)) || $seen == "$fewer" ]] || chs_fail "$seen backends"
		fi
	done
	kill -0 "$writer" || { chs_fail "the writer stopped"; cat "$CHS_TMP/$writer.log"; }
	chs_kill "$writer"
	echo "one state $a, the other $b, busy $busy"
	((a && b)) || chs_fail "one of the states was never seen"
}

chs_setup
chs_run "a list that changed is marked" raw marked
chs_run "a list of what is gone meanwhile" raw one_service
chs_run "a list of one service" raw named
chs_run "$SERVICES services" many_services
chs_run "$((MANY * 3)) backends" many_backends
chs_run "a small receive buffer" little_room
chs_run "never half of one and half of another" mixed
chs_done
