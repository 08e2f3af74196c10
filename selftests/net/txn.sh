#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kernels: one debug
# cpus: 2
#
# Transactions: in force whole, at their commit, or not at all; files with errors;
# several writers. Cases C-072, C-083.

# shellcheck disable=SC2317,SC2119 # cases are called by name
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

file=$CHS_TMP/file

raw()
{
	chs_cmd_ok "$CHS_LIB/net/txn.py" "$1"
}

state()
{
	chctl save
	chctl -j service show
}

# 1,000 lines: ten services with 99 backends each.
make_file()
{
	local s b

	for ((s = 0; s < 10; s++)); do
		echo "service add s$s tcp $CHS_VIP4:$((8000 + s)) points 16 slots 256"
		for ((b = 1; b < 100; b++)); do
			echo "backend add s$s 10.0.$s.$b weight $b"
		done
	done
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

all_or_nothing()
{
	local good=$CHS_TMP/good

	make_file > "$good"
	cp "$good" "$file"
	chs_cmd_ok chctl apply "$file"
	sed '500s/weight .*/weight 10001/' "$good" > "$file"
	refused EINVAL "weight 10001 is not between 0 and 10000" 500
	sed '1000s/10\.0\.9\.99/10.0.9.98/' "$good" > "$file"
	refused EEXIST "backend 10.0.9.98:8009 of service 's9' is named twice" 1000
	sed '1s/tcp .*/tcp 224.0.0.1:80/' "$good" > "$file"
	refused EINVAL "service address 224.0.0.1 is a multicast address" 1
	sed '702s/add s7/add s77/' "$good" > "$file"
	refused ENOENT "no service 's77'" 702
}

# What is wrong in the words alone is found before anything is sent.
malformed()
{
	local good=$CHS_TMP/good

	head -c -14 "$good" > "$file"
	refused EINVAL "10.0" 1000 1
	sed '500s/add/del/' "$good" > "$file"
	refused EINVAL "only service add and backend add may be in this file" 500 1
	sed '500s/.*/flush/' "$good" > "$file"
	refused EINVAL "only service add and backend add" 500 1
	sed '500s/^/"/' "$good" > "$file"
	refused EINVAL "quotes" 500 1
	sed '500s/weight/wieght/' "$good" > "$file"
	refused EINVAL "wieght" 500 1
	: > "$file"
	refused EINVAL "--allow-empty" ""
	printf '# nothing\n\n   \n' > "$file"
	refused EINVAL "--allow-empty" ""
	rm "$file"
	refused ENOENT "no such file" ""
	mkdir "$file"
	refused EISDIR "cannot read" ""
	rmdir "$file"
	# Ends of lines are no part of it.
	sed 's/$/\r/' "$good" > "$file"
	chs_cmd_ok chctl apply "$file"
	chs_expect "what a file with CRLF changes" "$CHS_OUT" ""
	chs_cmd_ok chctl -j apply --allow-empty /dev/null
	chs_expect removed "$(chs_json .removed)" 1000
	chs_expect left "$(chctl save)" ""
}

# C-072: whoever writes, each status is true and the outcome is in some order.
writers()
{
	local i pids=() lines=$CHS_TMP/w digest

	chctl flush
	chs_cmd_ok chctl service add w tcp "$CHS_VIP4:80" slots 256 points 16
	for i in 1 2 3 4; do
		for ((j = 0; j < 60; j++)); do
			echo "backend replace w 10.0.0.$((j % 5)):80 weight $((i * 100 + j))"
			echo "backend add w 10.0.$i.$j:80"
			((j % 3)) || echo "backend del --if-exists w 10.0.0.$((j % 5)):80"
			((j % 2)) || echo "backend del w 10.0.$i.$j:80"
		done > "$lines.$i"
		chs_bg chctl -b "$lines.$i"
		pids+=("$CHS_PID")
	done
	for i in "${pids[@]}"; do
		wait "$i" || { chs_fail "a writer failed"; cat "$CHS_TMP/$i.log"; }
	done
	chs_expect "backends of one writer each" \
		"$(chctl -j backend show w | jq '[.[] | select(.address | startswith("10.0.0.") | not)] | length')" 120
	digest=$(chctl ring digest w)
	chctl save > "$file"
	chs_cmd_ok chctl flush
	chs_cmd_ok chctl apply "$file"
	chs_expect "digest from scratch" "$(chctl ring digest w)" "$digest"

	# Whole files against each other: one of them in the end, never a mixture.
	for i in 1 2; do
		{
			echo "service add w tcp $CHS_VIP4:80 slots 256 points 16"
			printf "backend add w 10.$i.0.%s\n" {1..50}
		} > "$lines.$i"
		chs_bg bash -c "for j in {1..10}; do chctl apply $lines.$i > /dev/null || exit; done"
		pids[i]=$CHS_PID
	done
	for i in 1 2; do
		wait "${pids[i]}" || { chs_fail "an apply failed"; cat "$CHS_TMP/${pids[i]}.log"; }
	done
	chs_expect "files in force" "$(chctl -j backend show | jq -c '[length, ([.[].address[:4]] | unique | length)]')" "[50,1]"
}

chs_setup
chs_run "a transaction is in force whole at its commit" raw whole
chs_run "an aborted transaction does nothing" raw aborted
chs_run "a refused transaction does nothing" raw refused
chs_run "EBUSY once anything has changed" raw moved
chs_run "a transaction goes with its socket" raw bound
chs_run "a socket closes while rings are built" raw closes
chs_run "a dry run tells what would be, and does nothing" raw tried
chs_run "a file with an error does nothing" all_or_nothing
chs_run "a file with malformed lines, or none" malformed
chs_run "several writers" writers
chs_done
