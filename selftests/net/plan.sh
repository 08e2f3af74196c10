#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one
# chs-timeout: 1500
#
# What plan says is what the kernel does, to the last arc, and what it refuses is
# what the kernel refuses; itself it changes nothing. The guard, and pictures.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
file=$CHS_TMP/file

state()
{
	chctl save
	chctl -j service show
	chctl -j backend show
}

# The ring is the same code in every kernel: one has them all.
random()
{
	local changes=40

	[[ ${CHS_VM:-6.12} != 6.12* ]] || changes=200
	chs_cmd_ok "$CHS_LIB/net/plan.py" "$(chs_amount "$changes" 2000)"
}

web()
{
	chctl flush
	chs_cmd_ok chctl service add web tcp "$CHS_VIP4:80" slots 1024 points 64
	chs_cmd_ok chctl backend add web 10.0.0.{1..10}
}

# Also of many plans by one socket nothing stays: there may be 64 transactions.
traceless()
{
	local before i

	web
	before=$(state)
	for ((i = 0; i < 80; i++)); do
		echo "plan backend del web 10.0.0.$((i % 10 + 1))"
		echo "plan service add x$i tcp 203.0.113.9:$((i + 1))"
	done > "$file"
	chs_cmd_ok chctl -b "$file" > "$CHS_TMP/plans"
	chs_expect plans "$(grep -c '^web moved' "$CHS_TMP/plans")" 80
	chs_expect "new ones" "$(grep -c '^x[0-9]* *moved.* new$' "$CHS_TMP/plans")" 80
	chs_expect state "$(state)" "$before"

	for ((i = 0; i < 70; i++)); do
		chctl plan backend del web 10.0.0.99 2> "$CHS_TMP/said" && chs_fail "granted"
	done
	chs_expect state "$(state)" "$before"
}

# A service that is only planned has no hooks, and no packet meets it.
unseen()
{
	chctl flush
	chs_cmd_ok chctl plan service add web tcp "$CHS_VIP4:80"
	chs_cmd_fail ENOENT service chctl lookup tcp 192.0.2.10:40000 "$CHS_VIP4:80"
	chs_expect services "$(chctl -j service show)" "[]"
	chs_cmd_ok chctl -j plan flush
	chs_expect "nothing to flush" "$CHS_OUT" "[]"
}

guard()
{
	local before status

	web
	before=$(state)
	chs_cmd_fail EMOVED "service web: " chctl plan --max-move 2% backend del web 10.0.0.3
	[[ $CHS_OUT == "web moved "* ]] || chs_fail "the plan itself is not printed"
	chs_cmd_ok chctl plan --max-move 25 backend del web 10.0.0.3
	chs_cmd_ok chctl plan --max-move 0 backend set web 10.0.0.3 zone a
	chs_cmd_ok chctl plan --max-move 1% backend set web 10.0.0.3 weight 99
	chs_cmd chctl -j plan --max-move 2% backend del web 10.0.0.3 && chs_fail granted
	chs_expect code "$(jq -r .code <<< "$CHS_ERR")" EMOVED
	# A file that forgets all but one backend is what a guard is for.
	chctl save | head -2 > "$file"
	chs_cmd_fail EMOVED "service web: " chctl plan --max-move 50% apply "$file"
	echo "service add other tcp $CHS_VIP4:81" > "$file"
	chs_cmd_fail EMOVED "service web: 100%" chctl plan --max-move 99.9% apply "$file"
	chs_expect state "$(state)" "$before"

	# The worst is the one that moves the largest part, not the most arcs.
	chs_cmd_ok chctl service add coarse tcp "$CHS_VIP4:81" slots 256 points 64
	chs_cmd_ok chctl backend add coarse 10.0.0.{3..5}
	chs_cmd_fail EMOVED "service coarse: " chctl plan --max-move 20% backend del '*' 10.0.0.3
	chs_cmd_ok chctl service del coarse

	# As in a script.
	chctl plan --max-move 1% backend set web 10.0.0.3 weight 99 > /dev/null &&
		chs_cmd_ok chctl backend set web 10.0.0.3 weight 99
	chs_expect weight "$(chctl -j backend show web | jq '.[2].weight')" 99
}

# refused WORD...: the command and its plan are refused in the same words, and
# nothing changes
refused()
{
	local before said

	before=$(state)
	chs_cmd chctl "$@" && chs_fail "granted: $*"
	said=$CHS_ERR
	chs_cmd chctl plan "$@" && chs_fail "granted: plan $*"
	chs_expect "refusal of $*" "$CHS_ERR" "$said"
	chs_expect stdout "$CHS_OUT" ""
	chs_expect state "$(state)" "$before"
}

refusals()
{
	web
	refused backend add web 10.0.0.1
	refused backend add web 224.0.0.1
	refused backend add web 10.0.0.99 2001:db8::1
	refused backend add web 10.0.0.99 weight 10001
	refused backend del web 10.0.0.99
	refused backend set '*' 10.0.0.99 state down
	refused backend drain none 10.0.0.1
	refused service set web balance 3.00
	refused service set web points 5
	refused service set none on-empty drop
	refused service add web tcp "$CHS_VIP4:81"
	refused service add web2 tcp "$CHS_VIP4:80"
	# What shows only when all is together.
	chs_cmd_ok chctl service add dense tcp "$CHS_VIP4:81" unit 1 points 4096
	refused backend add dense 10.0.0.1 weight 10000
	[[ $CHS_ERR == *ENOSPC*"would have 40960000 points"* ]] || chs_fail "not the limit"
	{
		chctl save
		echo "backend add web 10.0.0.1"
	} > "$file"
	refused apply "$file"
	[[ $CHS_ERR == *"$file:"*"is named twice"* ]] || chs_fail "no line"
}

warnings()
{
	local said

	web
	chs_cmd_ok chctl service set web balance off
	chctl backend add web 10.0.1.1 weight 10000 2> "$CHS_TMP/warned"
	said=$(< "$CHS_TMP/warned")
	chs_cmd_ok chctl backend del web 10.0.1.1
	chs_cmd_ok chctl plan backend add web 10.0.1.1 weight 10000
	chs_expect warnings "$CHS_ERR" "$said"
	[[ $said == *Warning:* ]] || chs_fail "nothing to be warned of"
}

# Whoever may not change may not have the kernel try it either.
rights()
{
	web
	chs_cmd_fail EPERM CAP_NET_ADMIN "${nobody[@]}" chctl plan backend del web 10.0.0.1
	chs_cmd_ok "${nobody[@]}" chctl ring plot web
	chs_cmd_ok chctl service add secret tcp "$CHS_VIP4:82" seed 000102030405060708090a0b0c0d0e0f
	chs_cmd_ok chctl ring plot secret
	chs_cmd_fail EPERM "its seed" "${nobody[@]}" chctl ring plot secret
}

# pictures_good FILE...: each is proper XML
pictures_good()
{
	chs_cmd_ok python3 -EsS -c 'import sys, xml.parsers.expat as expat
for name in sys.argv[1:]:
    with open(name, "rb") as file:
        try:
            expat.ParserCreate().ParseFile(file)
        except expat.ExpatError as e:
            sys.exit(f"{name}: {e}")' "$@"
}

pictures()
{
	local i

	chctl flush
	{
		echo "service add few tcp $CHS_VIP4:80 balance 1.10"
		echo "backend add few 10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.5"
		echo "service add many tcp $CHS_VIP4:81 slots 65536"
		printf 'backend add many'
		printf ' 10.0.1.%u' {1..200}
		echo
		echo "service add more tcp [$CHS_VIP6]:81"
		printf 'backend add more'
		printf ' 2001:db8:b::%x' {1..500}
		echo
	} > "$file"
	chs_cmd_ok chctl -b "$file"
	for i in few many more; do
		chctl ring plot "$i" > "$CHS_TMP/$i" || chs_fail "plot $i"
	done
	chs_expect bars "$(grep -o '>10\.0\.1\.[0-9]*:81<' "$CHS_TMP/many" | sort -u | wc -l)" 200
	grep -q '>301 more: ' "$CHS_TMP/more" || chs_fail "those left out are not told"
	chs_cmd_ok chctl plan --plot "$CHS_TMP/plan" backend set '*' 10.0.0.1 10.0.1.7 state down
	pictures_good "$CHS_TMP"/{few,many,more,plan}
	chs_expect services "$(grep -c 'font-size="20"' "$CHS_TMP/plan")" 2
}

# Bars are for eyes; what is piped stays what it was.
terminal()
{
	web
	chctl ring show web > "$CHS_TMP/piped"
	chs_not grep -q '#' "$CHS_TMP/piped"
	script -qec "stty cols 140; chctl ring show web" /dev/null < /dev/null |
		tr -d '\r' > "$CHS_TMP/shown"
	chs_expect bars "$(grep -c '#\{20\}' "$CHS_TMP/shown")" 10
	sed 's/ [#| ]*$//' "$CHS_TMP/shown" | cmp - "$CHS_TMP/piped" ||
		chs_fail "a terminal has other lines, bars apart"
}

chs_setup
chs_run "random changes: what is planned is what happens" random
chs_run "nothing changes, nothing stays" traceless
chs_run "a planned service is not there" unseen
chs_run "the guard" guard
chs_run "refused in the same words" refusals
chs_run "warned of in the same words" warnings
chs_run "who may plan" rights
chs_run "pictures" pictures
chs_run "bars on a terminal" terminal
chs_done
